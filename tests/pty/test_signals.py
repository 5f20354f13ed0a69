"""Signals that a shell sends: interrupted, stopped and continued, idle and during a run."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sizeup.session.reader import read_session
from terminal import PATIENCE_SECONDS, Terminal
from typed import start_null, wait_ended


def stopped(terminal: Terminal) -> bool:
    return Path(f"/proc/{terminal.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.parametrize("how", ["the key", "a signal"])
def test_a_stopped_console_gives_the_terminal_back_and_comes_again(sizeup: Callable[..., Terminal], how: str) -> None:
    with sizeup() as terminal:
        terminal.wait_for("Detected")
        terminal.wait_quiet()
        if how == "the key":
            terminal.press("ctrl+z")
        else:
            terminal.process.send_signal(signal.SIGTSTP)
        assert terminal.pump(PATIENCE_SECONDS, lambda: stopped(terminal))
        assert terminal.pump(PATIENCE_SECONDS, lambda: terminal.modes == {7, 25}), terminal.modes
        assert terminal.attributes_now == terminal.attributes
        terminal.process.send_signal(signal.SIGCONT)
        assert terminal.pump(PATIENCE_SECONDS, lambda: 1049 in terminal.modes)
        terminal.wait_for("Detected")
        terminal.press("3")
        terminal.wait_for("Touches")
        terminal.press("q")

        assert terminal.wait() == 0


def test_a_stop_that_cannot_be_heard_costs_no_key(sizeup: Callable[..., Terminal]) -> None:
    with sizeup() as terminal:
        terminal.wait_for("Detected")
        terminal.wait_quiet()
        terminal.process.send_signal(signal.SIGSTOP)
        assert terminal.pump(PATIENCE_SECONDS, lambda: stopped(terminal))
        terminal.process.send_signal(signal.SIGCONT)
        for mode, words in (("3", "Touches"), ("2", "Socket 0"), ("4", "Share of capacity"), ("1", "Detected")) * 3:
            terminal.press(mode)
            terminal.wait_for(words)
        terminal.press("q")

        assert terminal.wait() == 0


def test_a_run_goes_on_while_the_console_is_stopped(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    with sizeup() as terminal:
        start_null(terminal, 3000)
        terminal.press("ctrl+z")
        assert terminal.pump(PATIENCE_SECONDS, lambda: stopped(terminal))
        (path,) = (tmp_path / "sizeup/sessions").iterdir()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while read_session(str(path)).end is None and time.monotonic() < deadline:
            time.sleep(0.1)
        assert read_session(str(path)).end is not None
        os.kill(terminal.process.pid, signal.SIGCONT)

        wait_ended(terminal, 3000)
        terminal.press("q")
        assert terminal.wait() == 0
