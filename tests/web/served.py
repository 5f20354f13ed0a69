"""A server of the console on the loopback address, and what a visitor's browser shows and types."""

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import pyte
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, web

from sizeup.web.auth_gate import AuthGate
from sizeup.web.server import make_application

SHELL = ["/bin/sh", "-c"]

# Where the terminal goes between two commands, "read" fails before the trap has run: the loop then goes on.
ECHO = [
    *SHELL,
    "trap 'echo hung up >> $0; exit' HUP; stty size; while :; do read line && echo got $line || sleep 0.1; done",
]


class Served:
    """An application on a free port of the loopback address, with the token ``secret``."""

    def __init__(self, address: str, end: Callable[[], Awaitable[None]]) -> None:
        self.address = address
        self.end = end


@contextlib.asynccontextmanager
async def serving(command: Sequence[str], report: Callable[[], str] | None = None) -> AsyncIterator[Served]:
    """Serve an application in this process."""
    runner = web.AppRunner(make_application(command, AuthGate("secret"), report=report))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield Served(f"http://127.0.0.1:{runner.addresses[0][1]}", runner.cleanup)
    finally:
        await runner.cleanup()


async def start_server(
    *options: str, environment: Mapping[str, str], directory: Path | None = None
) -> tuple[asyncio.subprocess.Process, str]:
    """Start ``sizeup serve`` with options of the interpreter; return it with the address that it prints."""
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, *options, "-m", "sizeup", "serve"),
        stdout=subprocess.PIPE,
        cwd=directory,
        env=environment,
    )
    assert server.stdout is not None
    while b"http://" not in (line := await server.stdout.readline()):
        assert line
    return server, line.decode().strip()


@contextlib.asynccontextmanager
async def visit(
    client: ClientSession, address: str, query: str = "?width=100&height=30"
) -> AsyncIterator[ClientWebSocketResponse]:
    """Open the page at an address with its token, and its WebSocket."""
    origin = address.partition("/?")[0]
    async with client.get(address):
        pass
    async with client.ws_connect(f"{origin}/ws{query}", origin=origin) as socket:
        yield socket


class Page:
    """What a visitor's browser shows, and types."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._screen = pyte.Screen(100, 30)
        self._stream = pyte.ByteStream(self._screen)

    async def shows(self, words: str, *, still: bool = True) -> None:
        """Wait until the words are there, or no more."""
        deadline = time.monotonic() + 20
        while (words in (text := "\n".join(self._screen.display))) is not still:
            left = deadline - time.monotonic()
            assert left > 0, text
            with contextlib.suppress(TimeoutError):
                message = await self._socket.receive(left)
                assert message.type is WSMsgType.BINARY, message
                self._stream.feed(message.data)

    async def type(self, *keys: str) -> None:
        for key in keys:
            await self._socket.send_str(json.dumps(["stdin", key]))
