"""Ends by force, and stalls, while the console measures a disk: nothing stays, and the session says what it was.

pytest -m lab tests/plugins/direct_io/test_killed_console.py; SIZEUP_KILLS is how often each (30)
"""

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from plugins.direct_io.small_runs import MANIFEST
from plugins.direct_io.staging import MakeMount, command
from sizeup.session.reader import read_session
from terminal import Terminal
from typed import fill_form

pytestmark = pytest.mark.lab
KILLS = int(os.environ.get("SIZEUP_KILLS", "30"))
TOPOLOGY, PROBES = "t Tree or map", "Space Pause"
"""Keys that one mode alone shows; the names of all five stand above each."""
SETTINGS = {"preset": "oltp-7030", "size": "64M", "seconds": "1", "warmup": "0.3"}


def start_direct_io(terminal: Terminal, target: Path, settings: Mapping[str, str] = SETTINGS) -> None:
    """By keys alone, as a user would."""
    terminal.wait_for("Detected")
    terminal.press("3")
    terminal.wait_for("Touches")
    for _ in range(30):
        if terminal.pump(1, lambda: "a temporary file in the" in terminal.text):
            break
        terminal.press("down")
    wanted = {"path": str(target), **settings}
    shown = f"Time per point {wanted['seconds']} "
    while shown not in terminal.text:
        terminal.press("escape")  # where a key was lost the time before
        terminal.wait_quiet(0.3)
        fill_form(terminal, MANIFEST, wanted)
        terminal.pump(5, lambda: shown in terminal.text)
    terminal.press("r")
    terminal.wait_for("It creates a temporary file.")
    terminal.press("down", "enter")
    terminal.wait_for("running io.direct")


def pid_of(terminal: Terminal, who: str) -> int | None:
    if who == "console":
        return terminal.process.pid
    word = {"run": b"--batch", "worker": b"probing.worker"}[who]
    for pid in terminal.processes():
        with suppress(OSError):
            if word in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
    return None


def gone(terminal: Terminal) -> bool:
    deadline = time.monotonic() + 10
    while terminal.processes() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not terminal.processes()


@pytest.mark.parametrize(
    ("who", "number"),
    [
        ("console", signal.SIGKILL),
        ("run", signal.SIGKILL),
        ("worker", signal.SIGKILL),
        ("console", signal.SIGTERM),
        ("console", signal.SIGINT),
        ("run", signal.SIGTERM),
        ("run", signal.SIGINT),
        ("worker", signal.SIGTERM),
    ],
)
def test_nothing_stays_and_the_session_says_so(place: Path, who: str, number: signal.Signals) -> None:
    said: Counter[str] = Counter()
    target = place / "target"
    target.mkdir()
    for trial in range(KILLS):
        state = place / str(trial)
        with Terminal(
            [sys.executable, "-m", "sizeup"], columns=160, rows=50,
            environment={"XDG_STATE_HOME": str(state), "XDG_CONFIG_HOME": str(state)},
        ) as terminal:  # fmt: skip
            start_direct_io(terminal, target)
            terminal.pump(random.uniform(0, 8))
            victim = pid_of(terminal, who)
            if victim is None:  # the run was over
                said["over before"] += 1
                continue
            os.kill(victim, number)
            if who == "console":
                terminal.wait()
            else:
                # The console goes on: it shows another mode at once, and leaves when told to.
                asked = time.monotonic()
                terminal.press("2")
                terminal.wait_for(TOPOLOGY, 10)
                assert time.monotonic() - asked < 5
                assert terminal.pump(20, lambda: "running io.direct" not in terminal.text)
                terminal.press("q")
                terminal.wait()
            assert gone(terminal), trial
        assert os.listdir(target) == []
        (path,) = (state / "sizeup/sessions").iterdir()
        session = read_session(str(path))
        (step,) = session.steps.values() or [None]
        assert session.damage.malformed == 0
        if step is None:
            said["no step yet"] += 1
        elif step.outcome is None:
            said["interrupted"] += 1
        else:
            said[f"{step.outcome.status.value} {step.outcome.signal or ''}".strip()] += 1
    print(f"{who} {number.name}: {dict(said)}")
    done = said["ok"] + said["not-converged"] + said["over before"]
    assert done <= KILLS // 2


@pytest.mark.skipif(os.geteuid() != 0, reason="loop devices need root")
def test_the_console_answers_while_the_file_system_is_frozen(place: Path, mounted: MakeMount) -> None:
    point = mounted("ext4")
    slowest = 0.0
    environment = {"XDG_STATE_HOME": str(place), "XDG_CONFIG_HOME": str(place)}
    with Terminal([sys.executable, "-m", "sizeup"], columns=160, rows=50, environment=environment) as terminal:
        start_direct_io(terminal, point, {**SETTINGS, "seconds": "30", "reserve": "1M"})
        session = next((place / "sizeup/sessions").iterdir())
        assert terminal.pump(120, lambda: session.read_text().count('"series":"iops"') > 5)
        command("fsfreeze", "--freeze", str(point))
        try:
            frozen = time.monotonic()
            while "stalled: no request completed" not in terminal.text and time.monotonic() - frozen < 30:
                for key, mode in (("2", TOPOLOGY), ("3", PROBES)):
                    asked = time.monotonic()
                    terminal.press(key)
                    terminal.wait_for(mode)
                    slowest = max(slowest, time.monotonic() - asked)
                terminal.pump(2, lambda: "stalled: no request completed" in terminal.text)
            seen = time.monotonic() - frozen
            terminal.wait_for("! failed")  # said once its process was left behind, or went
            over = time.monotonic() - frozen
            terminal.wait_for("the run ended with status 1")
            terminal.press("q")
            assert terminal.wait(10) == 0
        finally:
            command("fsfreeze", "--unfreeze", str(point))
        assert gone(terminal)
    print(f"modes answered after {slowest:.2f} s at most; shown after {seen:.2f} s, failed after {over:.2f} s of 5 s")
    assert slowest < 4  # one that waited for the file system would not answer before it is thawed
    assert 5 < seen < 7
