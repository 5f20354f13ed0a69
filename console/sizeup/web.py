"""The console in a browser: a page, a token and a pseudo-terminal for each visitor.

The terminal that the page draws is textual-serve's; behind it runs the same console as over SSH, on a
pseudo-terminal. So a closed tab is a lost terminal like any other: what was measured is saved.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hmac
import importlib.util
import ipaddress
import json
import os
import re
import secrets
import signal
import struct
import termios
from collections.abc import AsyncIterator, Callable, Sequence
from html import escape
from pathlib import Path

from aiohttp import WSMsgType, web
from aiohttp.typedefs import Handler, Middleware

from sizeup.child_process import environment
from sizeup.errors import UsageError

COOKIE = "sizeup-visitor"

_VISITORS_LIMIT = 8
"""Consoles at once: each is a process of some 40 MB."""

_CHUNK_BYTES = 1 << 16
_MESSAGE_BYTES = 4 << 20
"""Longest message taken; a paste arrives as one."""

_CELLS_LIMIT = 1000
_LEAVE_SECONDS = 2.0

_HEADERS = {
    # The browser itself refuses whatever a page might fetch from elsewhere. xterm.js sets styles of its own.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<link rel="stylesheet" href="/static/css/xterm.css">
<link rel="icon" href="data:,">
<style>
html, body {{ margin: 0; height: 100%; background: #121212; color: #e0e0e0; overflow: hidden; }}
#terminal {{ height: 100%; }}
#closed {{ display: none; position: absolute; inset: 0; padding: 3em; background: #121212; font: 16px monospace; }}
body.-closed #closed {{ display: block; }}
</style>
<script src="/static/js/textual.js"></script>
<script src="/focus.js"></script>
<body>
<div id="terminal" class="textual-terminal" data-session-websocket-url="{websocket}" data-font-size="14"></div>
<div id="closed">The console has ended. Reload this page for another.</div>
</body>
</html>
"""


_FOCUS = """// Keys go to the console without a click first; textual.js makes the terminal when the page has loaded.
window.addEventListener("load", () => setTimeout(() => document.querySelector("textarea").focus(), 0));
"""


def assets() -> Path:
    """textual-serve's files for the browser; the module itself is never imported."""
    spec = importlib.util.find_spec("textual_serve")
    folders = spec.submodule_search_locations if spec is not None else None
    folder = Path(folders[0], "static") if folders else None
    if folder is None or not (folder / "js/textual.js").is_file():
        raise UsageError("textual-serve is installed without the files it serves; install it again")
    return folder


class AuthGate:
    """Who may come in: whoever brings the printed token first, and then the same browser again."""

    def __init__(self, token: str) -> None:
        self._token: str | None = token
        self._visitor = secrets.token_urlsafe(32)

    def exchange(self, token: str) -> str | None:
        """The visitor's cookie for the token, once; None for anything else."""
        if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        self._token = None
        return self._visitor

    def knows(self, cookie: str) -> bool:
        """Whether this is the visitor who brought the token."""
        return self._token is None and hmac.compare_digest(cookie.encode(), self._visitor.encode())

    def guard(self) -> Middleware:
        """Middleware before every request, static files and the WebSocket included."""

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            token = request.query.get("token")
            if token is not None and request.path == "/" and _opens_the_page(request):
                cookie = self.exchange(token)
                if cookie is not None:
                    # Away from the address with the token, so that no history or screenshot holds it.
                    answer = web.Response(status=303, headers={"Location": "/", **_HEADERS})
                    answer.set_cookie(COOKIE, cookie, httponly=True, samesite="Strict", path="/")
                    return answer
            if not self.knows(request.cookies.get(COOKIE, "")):
                return web.Response(
                    status=403,
                    text="This console opens for one browser, with the address that sizeup serve printed, once.\n"
                    "Start sizeup serve again for a new one.\n",
                    headers=_HEADERS,
                )
            return await handler(request)

        return guarded


def _opens_the_page(request: web.Request) -> bool:
    """Whether somebody wants to see it: a HEAD only asks whether it is there, and a prefetch may never be shown."""
    purposes = " ".join(request.headers.get(name, "") for name in ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"))
    return request.method == "GET" and not re.search("prefetch|prerender|preview", purposes, re.IGNORECASE)


def _for_this_machine(host: str) -> Middleware:
    """Middleware that refuses pages of other names: a stranger's name may be made to lead to the loopback address."""
    names = {"localhost", "127.0.0.1", "::1", host}

    @web.middleware
    async def checked(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.url.host not in names:
            return web.Response(status=421, text="This console is opened as localhost.\n", headers=_HEADERS)
        return await handler(request)

    return checked


def make_application(
    command: Sequence[str], door: AuthGate, title: str = "sizeup", host: str = "127.0.0.1"
) -> web.Application:
    """The page, its files and the WebSocket behind it; ``command`` is what each visitor sees."""
    visitors: set[web.WebSocketResponse] = set()

    async def page(request: web.Request) -> web.Response:
        # The host as the browser knows it: through a tunnel the port is another one than ours.
        websocket = f"ws://{request.host}/ws"
        text = _PAGE.format(title=escape(title), websocket=escape(websocket))
        return web.Response(text=text, content_type="text/html", headers=_HEADERS)

    async def focus(request: web.Request) -> web.Response:
        del request
        return web.Response(text=_FOCUS, content_type="text/javascript", headers=_HEADERS)

    async def visit(request: web.Request) -> web.StreamResponse:
        # A page of another origin may open a WebSocket to us, and the browser would send our cookie along.
        if request.headers.get("Origin") != f"http://{request.host}":
            return web.Response(status=403, text="This WebSocket is for the page of this server.\n")
        if len(visitors) >= _VISITORS_LIMIT:
            return web.Response(status=503, text=f"There are {_VISITORS_LIMIT} consoles open already.\n")
        socket = web.WebSocketResponse(heartbeat=15, max_msg_size=_MESSAGE_BYTES, timeout=_LEAVE_SECONDS)
        visitors.add(socket)
        try:
            await socket.prepare(request)
            size = _cells(request.query.get("width")), _cells(request.query.get("height"))
            async with _console(command, *size) as master:
                sender = asyncio.create_task(_send_output(master, socket))
                try:
                    await _take_input(socket, master)
                finally:
                    sender.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await sender
        finally:
            visitors.discard(socket)
        return socket

    async def see_off(application: web.Application) -> None:
        del application
        # Otherwise the server would wait for every page to be closed, a minute long.
        await asyncio.gather(*(socket.close() for socket in tuple(visitors)), return_exceptions=True)

    local = [_for_this_machine(host)] if ipaddress.ip_address(host).is_loopback else []
    application = web.Application(middlewares=[*local, door.guard()])
    application.on_shutdown.append(see_off)
    application.router.add_get("/", page)
    application.router.add_get("/focus.js", focus)
    application.router.add_get("/ws", visit)
    application.router.add_static("/static", assets(), show_index=False)
    return application


def serve(command: Sequence[str], host: str, port: int, title: str, announce: Callable[[str], None]) -> None:
    """Serve until interrupted; ``announce`` is given the address with its token as soon as it can be opened."""
    asyncio.run(_serve(command, host, port, title, announce))


async def _serve(command: Sequence[str], host: str, port: int, title: str, announce: Callable[[str], None]) -> None:
    token = secrets.token_urlsafe(24)
    runner = web.AppRunner(make_application(command, AuthGate(token), title, host), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise UsageError(f"cannot listen on {host} port {port}: {error.strerror}; choose with --port") from error
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_IGN:
                continue  # as nohup has it
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        bound = runner.addresses[0][1]
        shown = f"[{host}]" if ":" in host else host
        announce(f"http://{shown}:{bound}/?token={token}")
        await ended.wait()
    finally:
        await runner.cleanup()


def _cells(text: object) -> int:
    """Columns or rows as a browser says them, within reason."""
    return min(max(int(text), 1), _CELLS_LIMIT) if isinstance(text, (int, str)) and str(text).isdecimal() else 80


@contextlib.asynccontextmanager
async def _console(command: Sequence[str], columns: int, rows: int) -> AsyncIterator[int]:
    """The command on a terminal of its own; leaving hangs up, as closing a window does."""
    master, slave = os.openpty()
    try:
        _resize(master, columns, rows)
        os.set_blocking(master, False)
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment({"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}),
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
    except BaseException:
        os.close(master)
        raise
    finally:
        os.close(slave)
    try:
        yield master
    finally:
        os.close(master)
        try:
            await asyncio.wait_for(process.wait(), _LEAVE_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()


def _take_terminal() -> None:
    """In the new process: this is its terminal, and losing it ends it, also where ``nohup`` keeps the server."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _resize(master: int, columns: int, rows: int) -> None:
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


async def _send_output(master: int, socket: web.WebSocketResponse) -> None:
    """From the console to the browser; a slow browser is waited for, and then the console sees a slow terminal."""
    while not socket.closed:
        await _ready(master, writing=False)
        try:
            chunk = os.read(master, _CHUNK_BYTES)
        except BlockingIOError:
            continue
        except OSError:  # EIO: the console has ended
            break
        try:
            await socket.send_bytes(chunk)
        except ConnectionError:
            return
    await socket.close()


async def _take_input(socket: web.WebSocketResponse, master: int) -> None:
    """From the browser to the console, until the browser goes; what is no message of the page is passed over."""
    async for message in socket:
        if message.type is not WSMsgType.TEXT:
            continue
        try:
            kind, *rest = json.loads(message.data)
        except (ValueError, TypeError, RecursionError):
            continue
        if kind == "stdin" and rest and isinstance(rest[0], str):
            if not await _write(master, rest[0].encode("utf-8", "replace")):
                return
        elif kind == "resize" and rest and isinstance(rest[0], dict):
            _resize(master, _cells(rest[0].get("width")), _cells(rest[0].get("height")))
        elif kind == "ping" and rest:
            await socket.send_json(["pong", rest[0]])


async def _write(master: int, data: bytes) -> bool:
    """All of it, however long the console takes; False when it has ended."""
    while data:
        await _ready(master, writing=True)
        try:
            data = data[os.write(master, data) :]
        except BlockingIOError:
            continue
        except OSError:
            return False
    return True


async def _ready(descriptor: int, *, writing: bool) -> None:
    """Wait until the descriptor can be read or written."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    (loop.add_writer if writing else loop.add_reader)(descriptor, wake)
    try:
        await ready
    finally:
        (loop.remove_writer if writing else loop.remove_reader)(descriptor)
