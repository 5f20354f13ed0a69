"""Every fault while a console shows a run: the screen stays, says what happened, and leaves the terminal as it was."""

import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from faults.scenes import FAULTS, OF_CONSOLE, Scene, sessions
from terminal import PATIENCE_SECONDS, Terminal
from typed import gone, measure_a_little, start_null

pytestmark = pytest.mark.ci
_SAMPLES = 10_000
"""More than 10 s of them, so that the fault comes before the end on a busy host too."""
_IN_GATE = {"SIGSEGV of the worker", "file system full"}
_WRITES_BEFORE = 9
"""Of the session, before a call fails: those before the first samples and some of these."""


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=() if fault in _IN_GATE else pytest.mark.long) for fault in OF_CONSOLE]
)
def test_a_console_outlives_the_fault_of_its_run(scene: Scene, fault: str) -> None:
    made = FAULTS[fault]
    rule = "" if made.action == "wait" else f"write|/sizeup/sessions/|{_WRITES_BEFORE}|{made.action}"
    command = scene.entered(sys.executable, "-m", "sizeup")
    with Terminal(command, columns=200, rows=40, environment=scene.environment(rule)) as terminal:
        start_null(terminal, _SAMPLES)
        if not rule:
            measure_a_little(terminal, scene.inside(scene.state))
            processes = terminal.processes()
            (worker,) = set(processes) - {parent(pid) for pid in processes}
            os.kill(worker, signal.SIGSTOP)  # so that the fault meets the measurement, however fast it is
            scene.process = terminal.process
            scene.held = worker if made.in_worker_only or made.kills_held else parent(worker)
            made.make(scene)
            with suppress(ProcessLookupError):  # the fault ended it, and the run has seen that already
                os.kill(worker, signal.SIGCONT)

        assert terminal.pump(PATIENCE_SECONDS, lambda: len(terminal.processes()) == 1), terminal.text
        assert terminal.pump(PATIENCE_SECONDS, lambda: "●" not in terminal.lines[0]), terminal.text
        terminal.wait_quiet()
        told = terminal.text
        print(told)
        for mode in "12453":
            terminal.press(mode)
            terminal.wait_quiet()
        terminal.press("q")

        assert terminal.wait() == 0, terminal.text
        assert terminal.attributes_now == terminal.attributes
        assert 1049 not in terminal.modes
        assert gone(terminal)
        assert b"Traceback" not in terminal.output
    if made.words:
        assert re.search(made.words, told, re.IGNORECASE), told
    assert scene.left() == []
    assert list(sessions(scene)) == [0]
