"""A server of the console, and a client that stands for a browser."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar, web

from sizeup.web.auth_gate import AuthGate
from sizeup.web.server import make_application
from web.served import ECHO, Served


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    command = [*ECHO, str(tmp_path / "ended")]
    runner = web.AppRunner(make_application(command, AuthGate("secret"), report=lambda: "<p>the report</p>"))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield Served(f"http://127.0.0.1:{runner.addresses[0][1]}", runner.cleanup)
    await runner.cleanup()


@pytest.fixture
async def client() -> AsyncIterator[ClientSession]:
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
        yield session
