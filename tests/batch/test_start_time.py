"""A run begins at the time agreed on, or not at all."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from batch.conftest import Run
from fakes import QuietControl
from sizeup.engine.control import BatchControl
from sizeup.engine.run import LATE_LIMIT_NS, SPIN_NS, Clock, parse_start, wait_until
from sizeup.errors import LateError, UsageError
from sizeup.session.reader import read_session
from terminal import PATIENCE_SECONDS

START_NS = 1_800_000_000_000_000_000


class HandClock(Clock):
    """Goes on by what is slept, and by a little each time it is read."""

    def __init__(self, now_ns: int, *, overshoot_ns: int = 0) -> None:
        self.now, self.overshoot = now_ns, overshoot_ns
        self.slept: list[float] = []

    def now_ns(self) -> int:
        self.now += 500
        return self.now

    def sleep(self, seconds: float, control: BatchControl) -> None:
        self.slept.append(seconds)
        self.now += round(seconds * 1e9) + self.overshoot


class Hurried(QuietControl):
    """Has a command at once, which cancels the run."""

    def read_commands(self) -> None:
        self.cancel_run = True


class Calm(QuietControl):
    """Has no command."""

    def read_commands(self) -> None:
        pass


def test_it_sleeps_in_seconds_and_spins_the_rest() -> None:
    clock = HandClock(START_NS - 2_500_000_000)

    late = wait_until(START_NS, Calm(), clock)

    assert 0 <= late < 1_000
    assert [round(seconds, 3) for seconds in clock.slept] == [1.0, 1.0, round(0.5 - SPIN_NS / 1e9, 3)]


def test_an_overshoot_is_told_and_a_long_one_is_a_missed_start() -> None:
    little = HandClock(START_NS - 500_000_000, overshoot_ns=5_000_000)
    much = HandClock(START_NS - 500_000_000, overshoot_ns=LATE_LIMIT_NS + 3_000_000)

    assert 3_000_000 <= wait_until(START_NS, Calm(), little) < 3_010_000
    with pytest.raises(LateError, match=r"the start was missed by 0\.101 s and nothing was measured"):
        wait_until(START_NS, Calm(), much)


def test_a_clock_that_is_set_back_while_waiting_makes_the_wait_longer() -> None:
    class SetBack(HandClock):
        def sleep(self, seconds: float, control: BatchControl) -> None:
            super().sleep(seconds, control)
            if len(self.slept) == 1:
                self.now -= 3_000_000_000

    clock = SetBack(START_NS - 2_000_000_000)

    assert 0 <= wait_until(START_NS, Calm(), clock) < 1_000
    assert sum(clock.slept) == pytest.approx(5.0, abs=0.01)


def test_a_canceled_wait_ends_at_once() -> None:
    clock = HandClock(START_NS - 60_000_000_000)

    assert wait_until(START_NS, Hurried(), clock) == 0
    assert len(clock.slept) == 1


@pytest.mark.parametrize("text", ["soon", "nan", "inf", "", str(START_NS // 1_000_000)])
def test_what_is_no_time_is_said(text: str) -> None:
    with pytest.raises(UsageError, match=r"--start-at: expected seconds since 1970, at most a week ahead, found"):
        parse_start(text, HandClock(START_NS))


def test_a_time_is_taken_with_its_fraction() -> None:
    assert parse_start("1800000000.25", HandClock(START_NS)) == START_NS + 250_000_000


def test_a_start_that_is_past_is_refused_with_status_4_and_nothing_is_written(sizeup: Run, tmp_path: Path) -> None:
    done = sizeup("--batch", "-p", "null", "--start-at", f"{time.time() - 5:.3f}", "-o", "run")

    assert done.returncode == 4
    assert done.stdout == ""
    assert re.search(r"the start was missed by \d+\.\d{3} s and nothing was measured", done.stderr)
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_start_that_passes_while_preparing_is_saved_as_missed(
    sizeup: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sizeup.engine.run.parse_start", lambda text: time.time_ns() - 1_000_000)

    done = sizeup("--batch", "-p", "null", "--start-at", "1", "-o", "run")

    session = read_session(str(tmp_path / "run"))
    assert done.returncode == 4
    assert session.end.status == "canceled"
    assert re.search(r"the start was missed by \d+\.\d{3} s and nothing was measured", session.end.reason)
    assert session.steps == {}


@pytest.mark.ci
def test_a_run_a_second_ahead_begins_then_and_says_how_late(
    sizeup: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sizeup.engine.run.LATE_LIMIT_NS", 600_000_000_000)
    for ahead in (1.5, 15.0, 150.0):  # on a busy host a run may need longer to be prepared
        start = time.time() + ahead
        done = sizeup("--batch", "-p", "null", "--set", "null.samples=5", "--start-at", f"{start:.3f}", "-o", "run")
        if done.returncode != 4:
            break

    assert done.returncode == 0, done.stderr
    ended = time.time()
    assert ended > start
    session = read_session(str(tmp_path / "run"))
    facts = session.environment[0].facts
    assert facts["start_at_seconds"] == pytest.approx(start, abs=0.001)
    assert facts["clock_synchronized"] in (True, False, None)
    assert facts["clock_synchronized_source"]
    lines = [json.loads(line) for line in (tmp_path / "run").read_bytes().splitlines()]
    (late_ns,) = (line.get("start_delay_ns", 0) for line in lines if line["kind"] == "step-start")
    assert 0 <= late_ns < (ended - start) * 1e9
    assert "waiting for 20" in done.stderr
    assert "us late" in done.stderr


@pytest.mark.ci
def test_an_interrupt_while_waiting_saves_and_exits_130(tmp_path: Path, environment: dict[str, str]) -> None:
    path = tmp_path / "run"
    command = [sys.executable, "-m", "sizeup", "--batch", "-p", "null", "-o", str(path)]
    start = f"{time.time() + 60:.0f}"
    with subprocess.Popen(
        [*command, "--start-at", start], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("waiting for"):
                break
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)

    session = read_session(str(path))
    assert process.returncode == 130
    assert session.plan is not None
    assert (session.end.status, session.steps) == ("canceled", {})
