"""The line of a run on a terminal."""

import io

import pytest

from sizeup.batch.progress_lines import ProgressLines
from sizeup.model.plan import Gentle, Plan, Step
from sizeup.session.records import PlanRecord, ProgressRecord


class TerminalStream(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("done", "left", "line"),
    [
        (0.5, 7.0, "50 %, 7 s left, reading"),
        (0.98, 0.2, "98 %, reading"),
        (0.98, 0.0, "98 %, longer than estimated, reading"),
        (0.5, None, "50 %, reading"),
    ],
)
def test_the_line_never_says_that_nothing_is_left_of_a_step_that_goes_on(
    done: float, left: float | None, line: str
) -> None:
    stream = TerminalStream()
    ProgressLines(stream, quiet=False)(ProgressRecord(1, "null", done, left, "reading"))

    assert stream.getvalue().strip() == line


@pytest.mark.parametrize(
    ("gentle", "line"), [(None, "1 step, about 3 s"), (Gentle(), "1 step, about 3 s, more while others use the CPU")]
)
def test_the_estimate_of_a_gentle_run_says_what_makes_it_longer(gentle: Gentle | None, line: str) -> None:
    stream = io.StringIO()
    step = Step("null", "null", "Null", {}, 3.0, 60.0, gentle=gentle)
    ProgressLines(stream, quiet=False)(PlanRecord(1, Plan("quick", (step,))))

    assert stream.getvalue().strip() == line
