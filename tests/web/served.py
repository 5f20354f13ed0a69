"""A server of the console on the loopback address, and what a visitor's browser shows and types."""

import contextlib
import json
import time
from collections.abc import Awaitable, Callable

import pyte
from aiohttp import ClientWebSocketResponse, WSMsgType

SHELL = ["/bin/sh", "-c"]

# Where the terminal goes between two commands, "read" fails before the trap has run: the loop then goes on.
ECHO = [
    *SHELL,
    "trap 'echo hung up >> $0; exit' HUP; stty size; while :; do read line && echo got $line || sleep 0.1; done",
]


class Served:
    """An application on a free port of the loopback address."""

    def __init__(self, address: str, end: Callable[[], Awaitable[None]]) -> None:
        self.address = address
        self.origin = address
        self.end = end


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
