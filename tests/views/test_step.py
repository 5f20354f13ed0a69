"""One figure for a step: the newest while it runs, an honest one when it has ended."""

import pytest
from msgspec.structs import replace

from sizeup.model.plan import Better, Series, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.session.value import Point, StepRun, point_key
from sizeup.views.run.step import point_value


def run(series: Series, *figures: tuple[str, str | int, float]) -> StepRun:
    step = StepRun(Step("s", "p", "Step", {}, 1.0, 2.0), "sizeup", {series.name: series}, "curve", 0)
    for name, where, value in figures:
        at = {name: where}
        step.points[point_key(series.name, at)] = Point(series.name, at, estimate=Estimate(series.name, at, value))
    return step


CURVE = Series("dram", "Latency", "ns", Better.LOWER, axis="working_set_bytes", axis_unit="bytes")
BARS = Series("cost", "Cost", "ns", Better.LOWER)


def test_a_running_step_shows_its_newest_point_and_an_ended_one_the_farthest() -> None:
    running = run(CURVE, ("working_set_bytes", 1 << 28, 150.0), ("working_set_bytes", 1 << 14, 1.2))
    ended = replace(running, outcome=Outcome(Status.OK))

    assert [point_value(running), point_value(ended)] == ["1.2 ns at 16 KiB", "150 ns at 256 MiB"]


@pytest.mark.parametrize("axis", [None, "method"])  # methods have no order
def test_no_named_point_stands_for_the_others(axis: str | None) -> None:
    ended = replace(
        run(replace(BARS, axis=axis), ("method", "rdtsc", 7.0), ("method", "syscall", 120.0)),
        outcome=Outcome(Status.OK),
    )

    assert point_value(ended) == "7 ns to 120 ns over 2 points"


def test_the_point_that_a_series_names_stands_for_the_others_once_they_are_measured() -> None:
    named = Series("cost", "Cost", "ns", Better.LOWER, axis="method", headline={"method": "gettimeofday"})
    running = run(named, ("method", "gettimeofday", 15.0), ("method", "rdtsc", 7.0), ("method", "syscall", 120.0))
    ended = replace(running, outcome=Outcome(Status.OK))

    assert [point_value(running), point_value(ended)] == ["120 ns at syscall", "15 ns at gettimeofday"]
