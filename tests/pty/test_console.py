"""The console on strangers' terminals: what it shows there, and how it leaves."""

import signal
import sys
import time
from pathlib import Path

import pytest

from terminal import PATIENCE_SECONDS, Terminal
from typed import gone

_START = """
import sys
from sizeup.errors import SizeupError
from sizeup.tui.app import run_console
try:
    sys.exit(run_console())
except SizeupError as error:
    sys.exit(f"sizeup: {error}")
"""
CONSOLE = [sys.executable, "-c", _START]


def console(tmp_path: Path, **options: str) -> Terminal:
    """The console in 80 columns and 24 rows, its state in a folder of its own."""
    return Terminal(CONSOLE, environment={"XDG_STATE_HOME": str(tmp_path)}, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_gives_the_terminal_back_within_a_tenth_of_a_second(tmp_path: Path, number: signal.Signals) -> None:
    with console(tmp_path) as terminal:
        terminal.wait_for("Detected")
        terminal.wait_quiet()
        terminal.process.send_signal(number)

        assert terminal.wait() == 128 + number
        assert "Traceback" not in terminal.text
        assert terminal.modes == {7, 25}
        assert terminal.attributes_now == terminal.attributes


def test_a_dropped_line_ends_the_console_and_leaves_nobody_behind(tmp_path: Path) -> None:
    with console(tmp_path) as terminal:
        terminal.wait_for("Detected")
        terminal.hang_up()

        assert terminal.wait() == 128 + signal.SIGHUP
        assert gone(terminal)


def test_a_stalled_terminal_does_not_keep_a_signal_waiting(tmp_path: Path) -> None:
    with console(tmp_path) as terminal:
        terminal.wait_for("Detected")
        # Nobody reads from here on; every key repaints until the line is full and the writer waits.
        for _ in range(60):
            terminal.press("1", "2", "3", "4")
            time.sleep(0.01)
        terminal.process.send_signal(signal.SIGTERM)
        since = time.monotonic()
        while terminal.process.poll() is None and time.monotonic() - since < PATIENCE_SECONDS:
            time.sleep(0.01)

        assert terminal.process.returncode == 128 + signal.SIGTERM


def test_a_terminal_that_cannot_move_its_cursor_is_refused_in_words(tmp_path: Path) -> None:
    with console(tmp_path, term="dumb") as terminal:
        assert terminal.wait() == 1
        assert "use: sizeup --batch" in terminal.text.replace("\n", "")


def test_where_no_session_can_be_kept_the_machine_is_shown_all_the_same() -> None:
    with Terminal(CONSOLE, environment={"XDG_STATE_HOME": "/proc/nowhere"}) as terminal:
        terminal.wait_for("Detected")
        terminal.wait_for(" ! cannot measure, as no session can be saved (set XDG_STATE_HOME)")
        for mode, words in (("3", "Touches"), ("5", "Sessions"), ("1", "Detected")):
            terminal.press(mode)
            terminal.wait_for(words)
        terminal.press("r")
        terminal.wait_quiet()
        terminal.press("q")

        assert terminal.wait() == 0


def test_gnu_screen_is_not_asked_for_the_mouse_which_would_cost_the_escape_key(tmp_path: Path) -> None:
    with console(tmp_path, term="screen") as terminal:
        terminal.wait_for("Detected")

        assert b"\x1b[?1000h" not in terminal.output


def test_a_storm_of_sizes_and_a_paste_of_a_megabyte_are_weathered(tmp_path: Path) -> None:
    with console(tmp_path) as terminal:
        terminal.wait_for("Detected")
        assert b"\x1b[?1000h" in terminal.output  # the mouse is asked for
        for number in range(20):
            terminal.resize(20 + 9 * (number % 10), 5 + 4 * (number % 7))
            terminal.pump(0.05)
        terminal.resize(80, 24)
        terminal.press("3")
        terminal.wait_for("Touches")
        terminal.wait_quiet()
        terminal.press("s")
        terminal.wait_for("Further targets")
        terminal.wait_quiet()
        terminal.press("\x1b[200~")
        for _ in range(256):
            terminal.press("x" * 4096)
            terminal.pump(0.001)
        terminal.press("\x1b[201~")
        terminal.press("escape")
        # Escape and q together would be alt+q.
        assert terminal.pump(PATIENCE_SECONDS, lambda: "s Settings" in terminal.lines[-1]), terminal.text
        terminal.press("q")

        assert terminal.wait() == 0
