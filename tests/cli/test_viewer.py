"""A session is shown wherever Python is: without extensions, and without what only Unix or only Linux has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from report.sessions import records, written
from sizeup.discovery.machine import discover
from sizeup.errors import RefusedError
from tiers import one_in

_BLOCK = """
import asyncio, importlib.abc, os, platformdirs, sys
ABSENT = {"_cffi_backend", "cffi", "cpuinfo", "fcntl", "grp", "psutil", "pty", "pwd", "pyudev", "resource", "termios",
          "tty"}
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT or name.endswith("._native"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
for name in ABSENT:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
LINUX = ["O_DIRECT", "O_PATH", "O_TMPFILE", "pipe2", "posix_fadvise", "sched_getaffinity", "sched_setaffinity"]
UNIX = ["O_ACCMODE", "O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "fchmod", "geteuid",
        "getpgid", "getuid", "killpg", "major", "makedev", "minor", "pread", "preadv", "pwrite", "statvfs", "sysconf",
        "uname"]
def without_directories(call):
    def plain(*given, **named):
        for name in ("dir_fd", "src_dir_fd", "dst_dir_fd"):
            if named.pop(name, None) is not None:
                raise NotImplementedError(name)
        return call(*given, **named)
    return plain
for name in LINUX + (UNIX if os.environ["LACKS"] == "Unix" else []):
    delattr(os, name)
if os.environ["LACKS"] == "Unix":
    import signal
    del signal.SIGHUP, signal.SIGKILL
    for name in ("link", "lstat", "mkdir", "open", "readlink", "replace", "stat", "unlink"):
        setattr(os, name, without_directories(getattr(os, name)))
    os.supports_dir_fd.clear()
    os.supports_follow_symlinks.clear()
"""
"""Takes away what Windows lacks (Unix), or what macOS does (Linux), after asyncio has taken what it needs here."""
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


def _run(code: str, *arguments: str, home: Path, lacks: str = "Unix") -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "XDG_STATE_HOME": str(home), "PYTHONUTF8": "1", "LACKS": lacks}
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
        (["session", "show", "SESSION"], "db01"),
        (["session", "compare", "SESSION", "--against", "SESSION"], "run.sizeup.jsonl"),
        (["session", "export", "SESSION", "--format", "html", "-o", "-"], "</html>"),
        (["size", "--machine", "SESSION"], "VERDICT"),
        (["session", "note", "SESSION", "seen"], ""),
        (["session", "list"], ""),
        (["probe", "list"], "memory.latency"),
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
    assert re.match(r"sizeup: this needs Linux: Python has no (module fcntl|signal\.SIGHUP) here\.", done.stderr)
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.ci
@pytest.mark.parametrize("lacks", ["Linux", "Unix"])
def test_the_console_opens_a_session_without_linux(session: str, lacks: str, tmp_path: Path) -> None:
    done = _run(_CONSOLE, session, home=tmp_path, lacks=lacks)

    assert done.returncode == 0, done.stderr
    assert "run.sizeup.jsonl" in done.stdout or "db01" in done.stdout


_FILES = """
from sizeup import files
path = sys.argv[1]
def content(text):
    return lambda file: file.write(text)
def refused():
    raise OSError("no more")
files.make_directory(path + "/a/b")
name = path + "/a/b/file"
for text in (b"one\\n", b"two\\n"):
    files.write(name, content(text))
try:
    files.write(name, content(b"three"), replace=False)
except FileExistsError:
    files.write(name + "2", content(b"three"), replace=False)
try:
    files.write(name, lambda file: refused())
except OSError:
    pass
descriptor, new = files.create(name)
os.write(descriptor, b"more")
os.close(descriptor)
descriptor, also = files.create(name + "3")
os.close(descriptor)
print(new, also, open(name, "rb").read(), open(name + "2", "rb").read(), sorted(os.listdir(path + "/a/b")))
files.remove(name + "3")
print(os.path.exists(name + "3"))
"""


@pytest.mark.parametrize("lacks", one_in(2, ["Linux", "Unix"]))
def test_files_are_written_whole_where_directories_cannot_be_held_open(lacks: str, tmp_path: Path) -> None:
    done = _run(_BLOCK + _FILES, str(tmp_path), home=tmp_path, lacks=lacks)

    assert done.stderr == ""
    assert done.stdout == "False True b'two\\nmore' b'three' ['file', 'file2', 'file3']\nFalse\n"


def test_another_system_is_not_described_as_one_without_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    with pytest.raises(RefusedError, match="this needs Linux: this system is darwin"):
        discover("/")
