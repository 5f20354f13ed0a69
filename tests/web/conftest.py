"""A server of the console, and a client that stands for a browser."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar

from web.served import ECHO, Served, serving


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving([*ECHO, str(tmp_path / "ended")], lambda: "<p>the report</p>") as server:
        yield server


@pytest.fixture
async def client() -> AsyncIterator[ClientSession]:
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
        yield session
