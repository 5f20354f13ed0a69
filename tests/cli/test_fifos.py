"""A FIFO, a device or a folder where a file is expected: refused in one line, and never waited for."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sizeup import cli
from sizeup.input_file import read

pytestmark = pytest.mark.ci

REFUSED = (
    ("session", "import", "{}"),
    ("size", "--rules", "{}"),
    ("size", "--machine", "none", "--workload", "{}"),
    ("size", "--machine", "{}"),
    ("detect", "--against", "{}"),
    ("detect", "--since", "{}"),
    ("detect", "--sysroot", "{}"),
    ("detect", "--machine", "{}"),
    ("capture", "out.tar", "--sysroot", "{}"),
    ("{}",),
    ("session", "follow", "{}"),
    ("session", "show", "{}"),
    ("session", "note", "{}", "hello"),
    ("session", "rename", "{}", "title"),
    ("session", "delete", "{}", "--yes"),
    ("session", "compare", "{}", "--against", "{}"),
    ("session", "export", "{}", "--format", "text"),
    ("session", "export", "{}", "--format", "share", "-o", "out.gz"),
    ("--batch", "--resume", "{}"),
    ("--batch", "-p", "null", "--append", "{}"),
)


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    def give_up(number: int, frame: object) -> None:
        raise AssertionError("it waits for a writer")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def fifo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    os.mkfifo("fifo")
    return str(tmp_path / "fifo")


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_a_fifo_is_refused_and_named(arguments: tuple[str, ...], fifo: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = cli.run([part.format(fifo) for part in arguments])

    errors = capsys.readouterr().err
    assert status == 2, errors
    assert fifo in errors
    assert "found a pipe" in errors


@pytest.mark.parametrize(
    ("variable", "name", "command"),
    [
        ("SIZEUP_CONFIG", "fifo", "doctor"),
        ("XDG_CONFIG_HOME", "sizeup/config.toml", "doctor"),
        ("XDG_CONFIG_HOME", "sizeup/rules.toml", "size"),
    ],
)
def test_a_fifo_is_no_configuration(
    variable: str, name: str, command: str, fifo: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if variable == "XDG_CONFIG_HOME":
        (tmp_path / "sizeup").mkdir()
        os.mkfifo(tmp_path / name)
    monkeypatch.setenv(variable, str(tmp_path / "fifo" if variable == "SIZEUP_CONFIG" else tmp_path))

    assert cli.run([command]) == 2
    assert f"{tmp_path / name}: expected" in capsys.readouterr().err


def test_a_fifo_in_place_of_the_key_costs_only_that_pseudonyms_agree(
    fifo: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["--batch", "-q", "-p", "null", "--set", "null.samples=1", "-o", "run"]) == 0
    (tmp_path / "state/sizeup").mkdir(parents=True)
    os.mkfifo(tmp_path / "state/sizeup/masking.key")

    assert cli.run(["session", "export", "run", "--format", "share", "-o", "shared.gz"]) == 0
    assert "the pseudonyms of this file match no other file" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["/dev/zero", "/"])
def test_a_device_and_a_folder_are_refused(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["session", "import", path]) == 2
    assert f"{path}: expected results of another tool, found a" in capsys.readouterr().err


def test_the_null_device_is_an_empty_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIZEUP_CONFIG", "/dev/null")

    assert cli.run(["doctor", "--keys"]) == 0


def _sizeup(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", script, "sh", sys.executable, *arguments],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("script", "status", "words"),
    [
        ('cat "$2" | "$1" -m sizeup size --machine none --workload -', 0, ""),
        ('cat "$2" | "$1" -m sizeup size --machine none --workload /dev/stdin', 0, ""),
        ('cat "$2" | "$1" -m sizeup size --machine none --workload /dev/fd/4 4<&0', 0, ""),
        (
            'cat "$2" | "$1" -m sizeup session export /dev/fd/4 --format csv 4<&0',
            2,
            "/dev/fd/4: expected a session file, found a pipe",
        ),
        ('"$1" -m sizeup size --machine none --workload - <&-', 2, "-: expected a workload file, found a closed"),
        (
            '"$1" -m sizeup size --machine none --workload /dev/fd/77',
            2,
            "/dev/fd/77: expected a workload file, found a closed",
        ),
    ],
)
def test_a_pipe_that_was_handed_over_is_read_where_one_pass_is_enough(
    tmp_path: Path, script: str, status: int, words: str
) -> None:
    workload = tmp_path / "workload.toml"
    workload.write_text('schema = "sizeup.workload/1"\n[inputs]\n"workload.mb_s" = 120\n')

    done = _sizeup(script, str(workload))

    assert done.returncode == status, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_more_than_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 11)

    with pytest.raises(Exception, match="expected a note of at most 10 bytes, found more"):
        read(str(tmp_path / "long"), "a note", 10)
