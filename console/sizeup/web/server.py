"""The web server of ``sizeup serve``: the page, its files and the WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import secrets
import signal
from collections.abc import Callable, Sequence
from html import escape

from aiohttp import web

from sizeup.errors import SizeupError, UsageError
from sizeup.web.auth_gate import AuthGate, local_names_only
from sizeup.web.page import FOCUS_SCRIPT, HEADERS, PAGE, REPORT, REPORT_HEADERS, assets
from sizeup.web.pseudo_terminal import LEAVE_SECONDS, cells, console, send_output, take_input

_VISITORS_LIMIT = 8
"""Consoles at once: each is a process of some 40 MB."""
_MESSAGE_BYTES = 4 << 20
"""Longest message taken; a paste arrives as one."""


class _Consoles:
    """The consoles of all visitors: a process each, behind a WebSocket."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._sockets: set[web.WebSocketResponse] = set()

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Start a console and connect it to the page until one of them ends."""
        # A page of another origin may open a WebSocket to us, and the browser would send our cookie along.
        if request.headers.get("Origin") != f"http://{request.host}":
            return web.Response(status=403, text="This WebSocket is for the page of this server.\n")
        if len(self._sockets) >= _VISITORS_LIMIT:
            return web.Response(status=503, text=f"There are {_VISITORS_LIMIT} consoles open already.\n")
        socket = web.WebSocketResponse(heartbeat=15, max_msg_size=_MESSAGE_BYTES, timeout=LEAVE_SECONDS)
        self._sockets.add(socket)
        try:
            await socket.prepare(request)
            size = cells(request.query.get("width")), cells(request.query.get("height"))
            async with console(self._command, *size) as master:
                sender = asyncio.create_task(send_output(master, socket))
                try:
                    await take_input(socket, master)
                finally:
                    sender.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await sender
        finally:
            self._sockets.discard(socket)
        return socket

    async def close_all(self, application: web.Application) -> None:
        """Close all sockets: otherwise the server would wait for every page to be closed, a minute long."""
        del application
        await asyncio.gather(*(socket.close() for socket in tuple(self._sockets)), return_exceptions=True)


def make_application(
    command: Sequence[str],
    gate: AuthGate,
    title: str = "sizeup",
    host: str = "127.0.0.1",
    report: Callable[[], str] | None = None,
) -> web.Application:
    """Return the application: the page, its files and the WebSocket; ``command`` is run for each visitor.

    ``report`` returns the web page of the session, which raises ``SizeupError`` where there is none.
    """
    consoles = _Consoles(command)

    async def page(request: web.Request) -> web.Response:
        # The host as the browser knows it: through a tunnel the port is another one than ours.
        websocket = f"ws://{request.host}/ws"
        text = PAGE.format(title=escape(title), websocket=escape(websocket))
        return web.Response(text=text, content_type="text/html", headers=HEADERS)

    async def show_report(request: web.Request) -> web.Response:
        del request
        if report is None:
            raise web.HTTPNotFound
        try:
            text = await asyncio.to_thread(report)
        except SizeupError as error:
            return web.Response(status=404, text=f"{error}\n", headers=REPORT_HEADERS)
        return web.Response(text=text, content_type="text/html", headers=REPORT_HEADERS)

    async def focus(request: web.Request) -> web.Response:
        del request
        return web.Response(text=FOCUS_SCRIPT, content_type="text/javascript", headers=HEADERS)

    local = [local_names_only(host)] if ipaddress.ip_address(host).is_loopback else []
    application = web.Application(middlewares=[*local, gate.middleware()])
    application.on_shutdown.append(consoles.close_all)
    application.router.add_get("/", page)
    application.router.add_get(REPORT, show_report)
    application.router.add_get("/focus.js", focus)
    application.router.add_get("/ws", consoles.connect)
    application.router.add_static("/static", assets(), show_index=False)
    return application


def serve(
    command: Sequence[str],
    host: str,
    port: int,
    title: str,
    announce: Callable[[str], None],
    report: Callable[[], str] | None = None,
) -> None:
    """Serve until interrupted; ``announce`` is given the address with its token as soon as it can be opened."""
    token = secrets.token_urlsafe(24)
    application = make_application(command, AuthGate(token), title, host, report)
    asyncio.run(_serve(application, host, port, lambda address: announce(f"{address}/?token={token}")))


async def _serve(application: web.Application, host: str, port: int, announce: Callable[[str], None]) -> None:
    runner = web.AppRunner(application, access_log=None)
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
        announce(f"http://{shown}:{bound}")
        await ended.wait()
    finally:
        await runner.cleanup()
