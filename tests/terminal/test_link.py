"""The line to the terminal, measured by its answers."""

import re
import sys

import pytest

from sizeup.terminal.link import Link, measure
from terminal import Terminal


class TimedTerminal:
    """A terminal behind a line of some speed, with a clock turned by hand."""

    def __init__(self, answer_ns: int, bytes_per_second: float, *, utf8: bool = True, answers: int = 100) -> None:
        self.now_ns = 0
        self._answer_ns, self._rate, self._utf8, self._answers = answer_ns, bytes_per_second, utf8, answers

    def ask(self, before: bytes) -> int | None:
        if not self._answers:
            self.now_ns += 1_000_000_000
            return None
        self._answers -= 1
        self.now_ns += self._answer_ns + round(len(before) * 1e9 / self._rate)
        shown = re.sub(rb"\x1b\[\w*|\r", b"", before)
        return 1 + len(shown.decode("utf-8" if self._utf8 else "latin-1"))


def test_a_slow_line_is_measured_with_a_small_burst() -> None:
    line = TimedTerminal(40_000_000, 20e3)

    link = measure(line.ask, lambda: line.now_ns)

    assert link == Link(answer_ns=40_000_000, bytes_per_second=20e3, utf8=True)
    assert line.now_ns < 600_000_000


def test_a_fast_line_gives_a_lower_bound() -> None:
    line = TimedTerminal(200_000, 1e12)

    assert measure(line.ask, lambda: line.now_ns) == Link(200_000, 65.536e6, utf8=True)


def test_a_terminal_that_draws_single_bytes_is_found_out() -> None:
    line = TimedTerminal(200_000, 1e9, utf8=False)

    link = measure(line.ask, lambda: line.now_ns)

    assert not link.utf8


def test_a_terminal_that_does_not_answer_or_stops_answering_is_no_error() -> None:
    for answers in (0, 5):
        line = TimedTerminal(200_000, 1e9, answers=answers)

        assert measure(line.ask, lambda line=line: line.now_ns) is None


def test_a_real_terminal_is_left_as_it_was() -> None:
    ask = "from sizeup.terminal.link import measure_terminal; print('before'); print(measure_terminal(0).utf8)"
    with Terminal([sys.executable, "-c", ask]) as terminal:
        assert terminal.wait() == 0

        assert terminal.lines[:3] == ["before", "True", ""]
        assert terminal.attributes_now == terminal.attributes


@pytest.mark.ci
def test_a_very_slow_line_is_waited_for_rather_than_left_to_answer_into_the_shell() -> None:
    ask = "from sizeup.terminal.link import measure_terminal; print(measure_terminal(0).bytes_per_second)"
    with Terminal([sys.executable, "-c", ask]) as terminal:
        terminal.bytes_per_second = 1500.0
        terminal.wait()

        assert 1000 < float(terminal.lines[-1] or terminal.text.split()[-1]) < 2500
