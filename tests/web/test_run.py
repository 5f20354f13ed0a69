"""What becomes of a run whose page is closed."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSMsgType

from sizeup.session.reader import read_session
from web.served import Page, start_server, visit

_LAST = (WSMsgType.CLOSE, WSMsgType.CLOSED)


def marked_processes(mark: str) -> list[int]:
    """The processes of this test but for us."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if mark.encode() in Path("/proc", name, "environ").read_bytes():
                found.append(int(name))
    return found


async def alone(mark: str, *pids: int) -> bool:
    """Whether of these processes nobody but those is left soon."""
    for _ in range(200):
        if marked_processes(mark) == list(pids):
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.fixture
def leaving() -> Iterator[contextlib.ExitStack]:
    """What is to be done in any case."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        ("the page", "canceled"),
        ("the server", "canceled"),
        ("the server, killed", "canceled"),
        ("the visit, and keeps it", "complete"),
    ],
)
async def test_a_run_ends_as_asked_when_its_page_is_closed(
    client: ClientSession, tmp_path: Path, leaving: contextlib.ExitStack, ends: str, status: str
) -> None:
    mark = f"WEB_TEST_MARK={tmp_path}"
    environment = {**os.environ, "WEB_TEST_MARK": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    leaving.callback(lambda: [os.kill(pid, signal.SIGKILL) for pid in marked_processes(mark)])
    server, address = await start_server(environment=environment)
    async with visit(client, address) as socket:
        page = Page(socket)
        await page.shows("Detected")
        await page.type("3")
        await page.shows("Touches")
        await page.type("G")
        await page.shows("Measures nothing")
        await page.type("s")
        await page.shows("Number of samples")
        await asyncio.sleep(0.3)  # the first field is ready a moment after it is drawn
        await page.type("3000" if status == "complete" else "100000", "\r")
        await page.shows("running null")
        await asyncio.sleep(1)
        (path,) = (tmp_path / "sizeup/sessions").iterdir()
        if ends == "the visit, and keeps it":
            await page.type("q")
            await page.shows("Quit and keep it running")
            await page.type("\x1b[B", "\r")
        elif ends == "the server":
            server.send_signal(signal.SIGTERM)
        elif ends == "the server, killed":
            server.kill()
        async with asyncio.timeout(5):
            while ends != "the page" and (await socket.receive()).type not in _LAST:
                pass
    if not ends.startswith("the server"):
        assert await alone(mark, server.pid)
        server.send_signal(signal.SIGTERM)
    async with asyncio.timeout(5):
        assert await server.wait() == (-signal.SIGKILL if ends == "the server, killed" else 0)
    assert await alone(mark)

    session = read_session(str(path))
    assert session.end is not None
    assert session.end.status == status
    assert sum(len(point.values) for point in session.steps["null"].points.values()) > 10
