"""The line between the console and its terminal: slow, deaf, or with bytes on it that nobody expected."""

import signal
from collections.abc import Callable

from terminal import Terminal
from typed import gone, start_null


def test_a_key_is_seen_within_the_time_that_its_frame_takes_on_a_slow_line(sizeup: Callable[..., Terminal]) -> None:
    """Bytes until a key is seen during a run, over a line that gives them at 12 kB/s: fewer than it takes in 1.5 s."""
    with sizeup() as terminal:
        start_null(terminal, 100_000)
        terminal.wait_for("Over time")
        terminal.bytes_per_second = 12_000.0
        for key, shown in (("?", "Everywhere"), ("escape", "Over time"), ("4", "Workload"), ("3", "Over time")):
            terminal.pump(1.0)
            before = len(terminal.output)
            terminal.press(key)
            terminal.wait_for(shown)

            assert len(terminal.output) - before < 18_000, key


def test_bytes_that_are_no_utf_8_are_passed_over(sizeup: Callable[..., Terminal]) -> None:
    with sizeup() as terminal:
        terminal.wait_for("Detected")
        terminal.press(b"\xe9\xff", b"\xc3", b"\x80\x80", "3")
        terminal.wait_for("Touches")
        terminal.press("q")

        assert terminal.wait() == 0


def test_the_end_of_the_line_is_a_hang_up_also_without_a_signal(sizeup: Callable[..., Terminal]) -> None:
    with sizeup(controlling=False) as terminal:
        terminal.wait_for("Detected")
        terminal.hang_up()

        assert terminal.wait() == 128 + signal.SIGHUP
        assert gone(terminal)
