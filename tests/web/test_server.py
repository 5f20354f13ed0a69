"""The console in a browser: who may come in, and what goes through. A client on the loopback address stands for it."""

import asyncio
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError

from planted import names_that_ran, plant
from sizeup.cli import run
from sizeup.errors import UsageError
from sizeup.web.auth_gate import COOKIE
from web.served import ECHO, SHELL, Page, Served, serving, start_server, visit


async def heard(socket: object, text: bytes) -> bytes:
    got = b""
    async with asyncio.timeout(10):
        while text not in got:
            message = await socket.receive()
            assert message.type is WSMsgType.BINARY, message
            got += message.data
    return got


@pytest.mark.parametrize(
    "path", ["/", "/?token=guess", "/ws", "/ws?token=secret", "/static/js/textual.js", "/report", "/none"]
)
async def test_without_the_token_every_path_is_closed(served: Served, client: ClientSession, path: str) -> None:
    async with client.get(served.address + path) as answer:
        assert answer.status == 403
        assert COOKIE not in answer.cookies


async def test_the_token_opens_once_and_leaves_the_address(served: Served, client: ClientSession) -> None:
    async with client.get(f"{served.address}/?token=secret") as answer:
        assert answer.status == 200
        assert str(answer.url) == f"{served.address}/"
        assert answer.history[0].cookies[COOKIE]["httponly"]
        assert answer.history[0].cookies[COOKIE]["samesite"] == "Strict"
    async with ClientSession() as stranger, stranger.get(f"{served.address}/?token=secret") as answer:
        assert answer.status == 403


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        *((method, {}) for method in ("HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH", "PROPFIND")),
        ("GET", {"Sec-Purpose": "prefetch;prerender"}),
        ("GET", {"Purpose": "prefetch"}),
        ("GET", {"X-Purpose": "preview"}),
        ("GET", {"X-Moz": "prefetch"}),
    ],
)
async def test_only_who_opens_the_page_uses_the_token_up(
    served: Served, client: ClientSession, method: str, headers: dict[str, str]
) -> None:
    async with client.request(method, f"{served.address}/?token=secret", headers=headers) as answer:
        assert answer.status == 403
        assert COOKIE not in answer.cookies

    async with client.get(f"{served.address}/?token=secret") as answer:
        assert answer.status == 200


async def test_the_report_is_a_page_that_may_run_no_script(served: Served, client: ClientSession) -> None:
    async with client.get(f"{served.address}/?token=secret"):
        pass
    async with client.get(f"{served.address}/report") as answer:
        assert (answer.status, answer.content_type) == (200, "text/html")
        assert await answer.text() == "<p>the report</p>"
        policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "script-src" not in policy


async def test_without_a_session_the_report_says_what_to_do(client: ClientSession) -> None:
    def none() -> str:
        raise UsageError("No session is saved")

    async with serving(ECHO, none) as served:
        async with client.get(f"{served.address}/?token=secret"):
            pass
        async with client.get(f"{served.address}/report") as answer:
            assert (answer.status, await answer.text()) == (404, "No session is saved\n")


async def test_the_page_and_its_files_name_no_other_host(served: Served, client: ClientSession) -> None:
    async with client.get(f"{served.address}/?token=secret") as answer:
        page = await answer.text()
        assert page.index("<main>") < page.index('id="terminal"') < page.index("</main>")  # a landmark to jump to
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    host = served.address.removeprefix("http://")
    assert re.findall(r"\w+://[^\"' ]*", page) == [f"ws://{host}/ws"]
    for path in re.findall(r'(?:src|href)="(/[^"]*)"', page):
        async with client.get(served.address + path) as answer:
            assert answer.status == 200


async def test_a_visitor_types_and_sees_and_leaving_is_a_hang_up(
    served: Served, client: ClientSession, tmp_path: Path
) -> None:
    async with visit(client, f"{served.address}/?token=secret") as socket:
        await heard(socket, b"30 100")
        for rubbish in ("", "{", "[]", "7", '["resize", 3]', '["resize", {"width": "x"}]', '["stdin"]', '["stdin", 5]'):
            await socket.send_str(rubbish)
        await socket.send_str(json.dumps(["stdin", "h\u00e9llo\n"]))
        await heard(socket, "got h\u00e9llo".encode())
    for _ in range(100):
        if (tmp_path / "ended").exists():
            break
        await asyncio.sleep(0.02)

    assert (tmp_path / "ended").read_text() == "hung up\n"


async def test_leaving_is_a_hang_up_also_where_nohup_keeps_the_server(
    served: Served, client: ClientSession, tmp_path: Path
) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        await test_a_visitor_types_and_sees_and_leaving_is_a_hang_up(served, client, tmp_path)
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_a_page_of_another_origin_cannot_borrow_the_cookie(served: Served, client: ClientSession) -> None:
    async with client.get(f"{served.address}/?token=secret"):
        pass
    for origin in ("http://evil.example", None):
        with pytest.raises(WSServerHandshakeError) as refused:
            await client.ws_connect(f"{served.address}/ws", origin=origin)
        assert refused.value.status == 403


@pytest.mark.parametrize("name", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1"])
async def test_a_name_that_was_made_to_lead_here_is_refused(served: Served, client: ClientSession, name: str) -> None:
    async with client.get(f"{served.address}/?token=secret", headers={"Host": name}) as answer:
        assert answer.status == 421
        assert COOKIE not in answer.cookies
    async with client.get(f"{served.address}/?token=secret", headers={"Host": "localhost:1234"}) as answer:
        assert answer.history[0].status == 303


async def test_the_end_of_the_console_closes_the_line(client: ClientSession) -> None:
    async with (
        serving([*SHELL, "echo bye"]) as served,
        visit(client, f"{served.address}/?token=secret", query="") as socket,
    ):
        await heard(socket, b"bye")
        async with asyncio.timeout(10):
            assert (await socket.receive()).type is WSMsgType.CLOSE


async def test_a_paste_of_a_megabyte_goes_through(client: ClientSession) -> None:
    count = [*SHELL, "stty raw -echo; echo ready; head -c 1000000 | wc -c; cat"]
    async with serving(count) as served, visit(client, f"{served.address}/?token=secret") as socket:
        await heard(socket, b"ready")
        await socket.send_str(json.dumps(["stdin", "x" * 1_000_000]))
        await heard(socket, b"1000000")


async def test_the_end_of_the_server_waits_for_no_page_that_is_open(
    served: Served, client: ClientSession, tmp_path: Path
) -> None:
    async with visit(client, f"{served.address}/?token=secret") as socket:
        await heard(socket, b"\n")
        async with asyncio.timeout(10):
            ending = asyncio.create_task(served.end())
            while (await socket.receive()).type is not WSMsgType.CLOSE:
                pass
            await ending

    assert (tmp_path / "ended").read_text() == "hung up\n"


def test_the_command_prints_an_address_and_ends_on_a_signal() -> None:
    with subprocess.Popen([sys.executable, "-m", "sizeup", "serve"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = next(line.strip() for line in process.stdout if "http://" in line)
        process.send_signal(signal.SIGTERM)

        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", address)
        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "70000"], "--port: expected a number from 0 (any free port) to 65535, found 70000"),
        (["--host", "localhost"], "--host: expected an address such as 127.0.0.1 or ::1, found 'localhost'"),
        (["/nonexistent"], "/nonexistent"),
    ],
)
def test_what_cannot_be_served_is_said_before_anything_listens(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_without_the_extra_the_way_to_get_it_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    assert run(["serve"]) == 2
    assert "pip install 'sizeup[serve]'" in capsys.readouterr().err


async def test_the_served_console_takes_no_planted_module(client: ClientSession, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    ran = plant(shared)
    server, address = await start_server(
        "-P",  # as the installed script starts it
        environment={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        directory=shared,
    )
    async with visit(client, address) as socket:
        await Page(socket).shows("Detected")
    server.send_signal(signal.SIGTERM)

    assert (await server.wait(), names_that_ran(ran)) == (0, "")
