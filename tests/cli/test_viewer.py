"""A session is shown wherever Python is: without extensions, the modules of Unix and the libraries for Linux."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from report.sessions import records, written
from sizeup.discovery.machine import discover
from sizeup.errors import RefusedError

_BLOCK = """
import asyncio, importlib.abc, os, runpy, sys
ABSENT = {"_cffi_backend", "cffi", "cpuinfo", "fcntl", "grp", "psutil", "pty", "pwd", "pyudev", "resource", "termios",
          "tty"}
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT or name.endswith("._native"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
for name in ABSENT:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
"""
_COMMAND = _BLOCK + "from sizeup.cli import run\nsys.exit(run(sys.argv[1:]))\n"
_CONSOLE = (
    _BLOCK
    + """
from sizeup.tui.console import ConsoleApp
from sizeup.tui.options import Options
from sizeup.tui.runs import Runs
async def main():
    runs = Runs(sys.argv[1])
    runs.follow()
    app = ConsoleApp(runs, runs.session.machine, Options(), measures=False)
    async with app.run_test(size=(120, 40)) as pilot:
        for key in "12345":
            await pilot.press(key)
            await pilot.pause()
            assert app.screen_text.strip(), key
        print(app.screen_text)
asyncio.run(main())
"""
)


def _run(code: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "XDG_STATE_HOME": str(home), "PYTHONUTF8": "1"}
    environment["TEXTUAL_DRIVER"] = "textual.drivers.headless_driver:HeadlessDriver"  # Windows has one of its own
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def session(tmp_path: Path) -> str:
    return written(tmp_path / "run.sizeup.jsonl", *records())


@pytest.mark.ci
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["show", "SESSION"], "db01"),
        (["compare", "SESSION", "--baseline", "SESSION"], "run.sizeup.jsonl"),
        (["export", "SESSION", "--html", "-o", "-"], "</html>"),
        (["size", "--session", "SESSION"], "VERDICT"),
        (["note", "SESSION", "seen"], ""),
        (["sessions"], ""),
        (["probes"], "memory.latency"),
        (["--version"], "sizeup "),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_commands_that_show_need_no_linux(session: str, arguments: list[str], expected: str, tmp_path: Path) -> None:
    done = _run(_COMMAND, *(session if each == "SESSION" else each for each in arguments), home=tmp_path)

    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert expected in done.stdout


@pytest.mark.ci
@pytest.mark.parametrize("arguments", [["--batch", "--plan", "quick"], ["experiment", "--a", "true", "--b", "true"]])
def test_a_command_that_needs_linux_says_so(arguments: list[str], tmp_path: Path) -> None:
    done = _run(_COMMAND, *arguments, home=tmp_path)

    assert done.returncode == 3
    assert done.stderr.startswith("sizeup: this needs Linux: Python has no module fcntl here.")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.ci
def test_the_console_opens_a_session_without_linux(session: str, tmp_path: Path) -> None:
    done = _run(_CONSOLE, session, home=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "run.sizeup.jsonl" in done.stdout or "db01" in done.stdout


def test_another_system_is_not_described_as_one_without_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    with pytest.raises(RefusedError, match="this needs Linux: this system is darwin"):
        discover("/")
