"""Every command with standard output full or closed, and standard error closed: a documented status, one line, an end.

A command is a process here: what the interpreter does with a closed descriptor is part of it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from sizeup.cli import COMMANDS
from sizeup.errors import ExitStatus
from sizeup.session.records import ENCODER, ExperimentRecord

pytestmark = pytest.mark.ci

RUN = ("--batch", "-q", "-p", "null", "--set", "null.samples=3", "--set", "null.interval=0")
ARGUMENTS: dict[str, Sequence[str]] = {
    "run": (*RUN[1:], "-o", "{folder}/run"),
    "detect": (),
    "capture": ("{folder}/recording.tar",),
    "drift": ("{session}", "--allow-undecided"),
    "size": ("--machine", "redo-10db"),
    "size cases": (),
    "size compare": ("redo-10db", "blade-480c-x5355", "--set", "workload.iops=1000"),
    "size keys": (),
    "session list": (),
    "session show": ("{session}",),
    "session export": ("{session}", "--format", "csv"),
    "session compare": ("{session}", "--against", "{session}"),
    "session rank": ("{session}", "{catalog}", "--allow-undecided"),
    "session follow": ("{session}",),
    "session note": ("{session}", "hello"),
    "session rename": ("{session}", "title"),
    "session delete": ("{folder}/copy.sizeup.jsonl", "--yes"),
    "session prune": ("--keep", "3"),
    "session import": ("{lscpu}", "-o", "{folder}/imported"),
    "probe list": (),
    "probe check": ("{plugin}",),
    "probe new": ("python", "{folder}/plugin", "acme.rate"),
    "fleet": ("{session}",),
    "experiment": ("--show", "{experiment}"),
    "deploy": ("slurm", "{folder}/deployed"),
    "doctor": (),
    "help": ("load",),
}
"""One way to call each command; none needs a terminal."""

SILENT = frozenset({"capture", "session note", "session rename"})
"""Commands that write no results to standard output, called like this."""

EXTRA: dict[str, Sequence[str]] = {
    "--help": ("--help",),
    "--version": ("--version",),
    "session on standard output": (*RUN, "-o", "-"),
    "size --profile": ("size", "--machine", "redo-10db", "--profile", "etcd", "--allow-undecided"),
    "share": ("session", "export", "{session}", "--format", "share"),
    "help man": ("help", "man"),
    "help schema": ("help", "schema"),
    "help completion": ("help", "completion", "bash"),
}
CALLS = {
    **{name: (*name.split(), *rest) for name, rest in ARGUMENTS.items()},
    **{name: tuple(rest) for name, rest in EXTRA.items()},
}
FAST = ("size cases", "session note", "--help", "session export")
"""Enough of them for every run of the suite: a long result, none, argparse's own, and one that streams."""

STREAMS = {
    "stdout full": ">/dev/full",
    "stdout closed": ">&-",
    "stderr closed": ">{folder}/out 2>&-",
    "stderr full": ">{folder}/out 2>/dev/full",
    "both closed": ">&- 2>&-",
    "all closed": "<&- >&- 2>&-",
}


def _marks(number: int, call: str, streams: str) -> tuple[pytest.MarkDecorator, ...]:
    """Each command with a full output and with nothing open at all, and with one of the others in turn."""
    if streams not in ("stdout full", "all closed") and list(STREAMS).index(streams) != 1 + number % 4:
        return (pytest.mark.long,)
    return () if call in FAST else (pytest.mark.ci,)


CASES = [
    pytest.param(call, streams, id=f"{call}, {streams}", marks=_marks(number, call, streams))
    for number, call in enumerate(CALLS)
    for streams in STREAMS
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("streams")
    lscpu = folder / "lscpu.json"
    counts = ("CPU(s)", "Socket(s)", "Core(s) per socket", "Thread(s) per core")
    lscpu.write_text(json.dumps({"lscpu": [{"field": f"{name}:", "data": "1"} for name in counts]}))
    session = folder / "session.sizeup.jsonl"
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    command = [sys.executable, "-m", "sizeup", *RUN, "-o", str(session)]
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=folder)
    experiment = folder / "experiment.sizeup.jsonl"
    header, *_ = session.read_bytes().splitlines(keepends=True)
    begun = ExperimentRecord(1, "e1", "true", "true", "true", 3, "abbaba", 1.0, 60.0, "ann")
    experiment.write_bytes(header + ENCODER.encode(begun) + b"\n")
    (folder / "catalog").mkdir()
    shutil.copy(session, folder / "catalog")
    command = [sys.executable, "-m", "sizeup", "probe", "new", "python", str(folder / "plugin"), "acme.rate"]
    subprocess.run(command, check=True, capture_output=True)
    names = ("catalog", "plugin", "state")
    made = {"experiment": str(experiment), "session": str(session), "lscpu": str(lscpu)}
    return made | {name: str(folder / name) for name in names}


def test_every_command_is_in_the_table() -> None:
    assert set(ARGUMENTS) == set(COMMANDS) - {"net"}  # which needs another host, and prints as run does


@pytest.mark.parametrize(("call", "streams"), CASES)
def test_a_stream_that_takes_nothing_is_an_error_or_none(
    call: str, streams: str, made: dict[str, str], tmp_path: Path
) -> None:
    arguments = [part.format(folder=tmp_path, **made) for part in CALLS[call]]
    shutil.copy(made["session"], tmp_path / "copy.sizeup.jsonl")  # for the command that deletes one
    redirected = f'exec "$@" {STREAMS[streams].format(folder="$folder")}'

    done = subprocess.run(
        ["/bin/sh", "-c", redirected, "sh", sys.executable, "-m", "sizeup", *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300, check=False,
        cwd=tmp_path, env={**os.environ, "XDG_STATE_HOME": made["state"], "folder": str(tmp_path)},
    )  # fmt: skip

    takes_results = streams.startswith("stderr") or call in SILENT
    assert done.returncode == (0 if takes_results else 2), done.stderr
    errors = done.stderr.decode()
    assert "Traceback" not in errors
    if streams.startswith("stdout") and not takes_results:
        assert "standard output: cannot write" in errors.splitlines()[-1]
    if call == "run":
        lines = (tmp_path / "run").read_bytes().splitlines()
        assert lines[-1].startswith(b'{"kind":"end"'), "the run itself is whole"
        assert all(line.startswith(b'{"kind"') for line in lines), "nothing else is written into it"


@pytest.mark.parametrize("call", ["session show", "size cases", "size", "doctor", "probe list", "session list"])
def test_where_the_locale_is_not_utf8_text_is_ascii(call: str, made: dict[str, str], tmp_path: Path) -> None:
    arguments = [part.format(folder=tmp_path, **made) for part in CALLS[call]]
    locale = {"LC_ALL": "C", "XDG_STATE_HOME": made["state"]}

    done = subprocess.run(
        [sys.executable, "-m", "sizeup", *arguments], capture_output=True, check=True, env={**os.environ, **locale}
    )

    assert done.stdout.isascii()


def test_a_reader_that_has_gone_does_not_change_what_was_found(tmp_path: Path, made: dict[str, str]) -> None:
    """``detect --diff`` says 5 where two machines differ, also to ``| head``."""
    (tmp_path / "sys/devices/system/cpu").mkdir(parents=True)
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "sizeup", "detect", "--sysroot", str(tmp_path), "--against", made["session"]]

    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, timeout=300, check=False)
    os.close(write_end)

    assert (done.returncode, done.stderr) == (5, b"")


def test_an_argument_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sizeup.jsonl"
    command = [sys.executable, "-m", "sizeup"]
    subprocess.run([*command, "run", "-q", "-p", "null", "-o", str(path)], check=True, capture_output=True)

    told = subprocess.run([*command, "session", "note", str(path), b"\xff"], capture_output=True, text=True)

    assert told.returncode == ExitStatus.USAGE
    assert told.stderr == "sizeup: '\\udcff': expected text in UTF-8, found other bytes\n"
