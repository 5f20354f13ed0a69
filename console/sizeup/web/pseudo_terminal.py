"""A command on a pseudo-terminal of its own, and what goes between it and a WebSocket.

The command is the same console as over SSH. So a closed tab is a lost terminal like any other: what was measured is
saved.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import struct
import termios
from collections.abc import AsyncIterator, Sequence

from aiohttp import WSMsgType, web

from sizeup.child_process import environment

LEAVE_SECONDS = 2.0

_CHUNK_BYTES = 1 << 16
_CELLS_LIMIT = 1000


def cells(text: object) -> int:
    """Return the columns or rows that a browser states, within limits."""
    return min(max(int(text), 1), _CELLS_LIMIT) if isinstance(text, (int, str)) and str(text).isdecimal() else 80


@contextlib.asynccontextmanager
async def console(command: Sequence[str], columns: int, rows: int) -> AsyncIterator[int]:
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
            await asyncio.wait_for(process.wait(), LEAVE_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()


def _take_terminal() -> None:
    """In the new process: this is its terminal, and losing it ends it, also where ``nohup`` keeps the server."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _resize(master: int, columns: int, rows: int) -> None:
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


async def send_output(master: int, socket: web.WebSocketResponse) -> None:
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


async def take_input(socket: web.WebSocketResponse, master: int) -> None:
    """From the browser to the console, until the browser leaves; other messages than the page's are ignored."""
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
            _resize(master, cells(rest[0].get("width")), cells(rest[0].get("height")))
        elif kind == "ping" and rest:
            await socket.send_json(["pong", rest[0]])


async def _write(master: int, data: bytes) -> bool:
    """Write all of it, however long the console takes; False when it has ended."""
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
