"""An experiment as its user meets it: shown and agreed to first, then measured, restored and reported."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from batch.conftest import Run
from sizeup import cli
from sizeup.engine import experiment
from sizeup.probing.registry import Registry, load_registry
from sizeup.session.reader import read_session
from terminal import PATIENCE_SECONDS

FAST = ("-p", "null", "--set", "null.samples=5", "--set", "null.interval=0.2ms", "--settle", "0")
_PROBE = """
import random
from pathlib import Path
from sizeup.model.plan import Step
from sizeup.model.sample import Estimate

class Reading:
    def plan(self, machine, settings):
        yield Step("null", "null", "a file", settings, 0.01, 600.0)

    def run(self, step, context):
        value = float(Path({path!r}).read_text()) * random.uniform(0.99, 1.01)
        yield Estimate("gap", {{}}, value)
"""


@pytest.fixture
def reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The probe ``null`` measures what a file holds, nearly."""
    path = tmp_path / "setting"
    (tmp_path / "reading_probe.py").write_text(_PROBE.format(path=str(path)))
    monkeypatch.syspath_prepend(tmp_path)
    registry = Registry({"null": replace(load_registry().get("null"), target="reading_probe:Reading")}, ())
    for module in ("sizeup.engine.run", "sizeup.engine.experiment"):
        monkeypatch.setattr(f"{module}.load_registry", lambda: registry)
    return path


def test_without_a_terminal_nothing_is_executed_unless_confirmed(sizeup: Run, tmp_path: Path) -> None:
    done = sizeup("experiment", "--a", "touch executed", "--b", "touch executed", *FAST, "-o", "run")

    assert done.returncode == 3
    assert done.stderr.endswith(
        "sizeup: nothing was executed: an experiment needs confirmation, and standard input is not a terminal; "
        "add --yes to confirm\n"
    )
    assert "  A, before each of its runs:  touch executed\n" in done.stderr
    assert (
        "  at the end, also after an error or Ctrl-C:  touch executed  (no --restore given, so A again)" in done.stderr
    )
    assert "12 runs, 6 under each setting, in the order ABBABAABBAAB; about " in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == []


def test_what_a_terminal_would_not_show_is_shown_escaped(sizeup: Run) -> None:
    done = sizeup("experiment", "--a", "true #\x1b[2Jhidden", "--b", "a\nb", *FAST)

    assert "  A, before each of its runs:  'true #\\x1b[2Jhidden'\n" in done.stderr
    assert "  B, before each of its runs:  'a\\nb'\n" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--a is missing; name the command of each setting"),
        (("--a", "true"), "--b is missing"),
        (("--a", "true", "--b", "true", "-o", "-"), "-o: expected a file, found -"),
        (("--a", "true", "--b", "true", "--minimum-effect", "100"), "--minimum-effect: expected a percentage"),
        (("--a", "true", "--b", "true", "-p", "nul"), "unknown probe 'nul' (did you mean null?)"),
        (("--show", "x", "--a", "true"), "--a cannot be combined with --show"),
        (("--show", "x", "--set", "null.samples=1"), "--set cannot be combined with --show"),
        (("--show", "/nowhere"), "/nowhere: expected a session file, but there is no such file"),
    ],
)
def test_bad_input_is_one_clear_line_and_status_2(sizeup: Run, arguments: tuple[str, ...], words: str) -> None:
    done = sizeup("experiment", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"sizeup: {words}")
    assert done.stderr.count("\n") == 1


@pytest.mark.ci
def test_two_settings_that_differ_are_told_apart_and_shown_again(sizeup: Run, tmp_path: Path, reading: Path) -> None:
    reading.write_text("70")
    commands = ("--a", "echo 100 > setting", "--b", "echo 112 > setting", "--restore", "echo 70 > setting")

    done = sizeup("experiment", *commands, "-p", "null", "--settle", "0", "--rounds", "4", "--yes", "-o", "run")

    assert done.returncode == 0, done.stderr
    assert reading.read_text() == "70\n"
    assert "null.gap: B is worse: +1" in done.stdout
    assert "  Restored: echo 70 > setting\n" in done.stdout
    assert "run 8 of 8: setting B, round 4" in done.stderr
    session = read_session(str(tmp_path / "run"))
    assert len(session.steps) == len(session.plans) == 8
    assert session.damage.sentences() == ()
    shown = sizeup("experiment", "--show", "run")
    assert done.stdout.startswith(shown.stdout)
    data = json.loads(sizeup("experiment", "--show", "run", "--json").stdout)
    assert (data["schema"], data["restored"], data["metrics"][0]["verdict"]) == ("sizeup.experiment/1", True, "worse")
    assert 1.08 < data["metrics"][0]["low"] < data["metrics"][0]["high"] < 1.16
    resumed = sizeup("--batch", "--resume", "run")
    assert resumed.returncode == 3
    assert "holds an experiment, whose settings are no longer in place" in resumed.stderr
    assert "unfinished" not in sizeup("session", "list").stdout


@pytest.mark.ci
def test_a_command_that_fails_is_named_with_its_status(sizeup: Run, tmp_path: Path) -> None:
    commands = ("--a", "true", "--b", "no-such-command-here", "--restore", "touch restored")

    done = sizeup("experiment", *commands, *FAST, "--rounds", "3", "--yes", "-o", "run")

    assert done.returncode == 7
    assert (tmp_path / "restored").exists()
    assert "sizeup: the command of setting B failed: no-such-command-here: it exited with status 127 (" in done.stderr
    assert "! The command of B in round 1 failed: it exited with status 127" in done.stdout
    assert "cannot decide: 0 valid rounds of 3" in done.stdout


@pytest.mark.ci
def test_an_interrupt_restores_and_keeps_what_was_measured(tmp_path: Path, environment: dict[str, str]) -> None:
    slow = ("-p", "null", "--set", "null.samples=100000", "--set", "null.interval=1ms", "--settle", "0")
    commands = ("--a", "echo a >> log", "--b", "echo b >> log", "--restore", "echo restored >> log")
    command = [sys.executable, "-m", "sizeup", "experiment", *commands, *slow, "--yes", "-o", "run"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (tmp_path / "run").exists() or b'"kind":"samples"' not in (tmp_path / "run").read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)

    assert process.returncode == 130, errors
    assert (tmp_path / "log").read_text().split() == ["a", "restored"]
    session = read_session(str(tmp_path / "run"))
    assert any(point.values for run in session.steps.values() for point in run.points.values())
    assert session.end.status == "canceled"


def test_agreement_is_asked_for_before_the_session_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the answer is, preparing writes nothing and executes nothing."""

    class RefusingTerminal:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return "no\n"

    def never(*arguments: object) -> None:
        raise AssertionError("executed without consent")

    monkeypatch.setattr(sys, "stdin", RefusingTerminal())
    monkeypatch.setattr(experiment, "execute", never)
    monkeypatch.setattr(experiment, "run_experiment", never)

    assert cli.run(["experiment", "--a", "true", "--b", "true", *FAST]) == 3
    assert not Path(os.environ["XDG_STATE_HOME"]).exists()
