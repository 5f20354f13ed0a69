"""What was measured, in words."""

from sizeup.model.plan import Better, Series, Step
from sizeup.model.sample import Estimate
from sizeup.session.value import Point, StepRun, point_key
from sizeup.views.run.results import points_table, stated_once


def test_a_caveat_is_stated_once_and_those_that_differ_in_figures_are_counted() -> None:
    caveats = [
        "busy: 55 % before the run",
        "the second half ran +8%",
        "busy: 55 % before the run",
        "the second half ran -12%",
    ]

    assert stated_once(caveats) == [
        "busy: 55 % before the run",
        "the second half ran +8% (and 1 more with other figures)",
    ]


def test_a_table_of_points_tells_all_and_a_narrow_one_counts_the_caveats() -> None:
    axis = ("queue_depth", "1", "Queue depth")
    series = (
        Series("iops", "Requests", "1/s", Better.HIGHER, *axis),
        Series("p50", "Latency", "ns", Better.LOWER, *axis),
    )
    run = StepRun(Step("s", "p", "Step", {}, 1.0, 2.0), "sizeup", {one.name: one for one in series}, "curve", 0)
    at = {"queue_depth": 4}
    for name, low, caveats in (("iops", 900.0, ("steady", "busy")), ("p50", None, ())):
        estimate = Estimate(name, at, 1000.0, low, None if low is None else 1100.0, replicates=3, caveats=caveats)
        run.points[point_key(name, at)] = Point(name, at, estimate=estimate)

    assert points_table(run).rows == (
        ("Requests", "queue depth 4", "1 k/s", "900 /s to 1.1 k/s", "3", "steady; busy"),
        ("Latency", "queue depth 4", "1 us", "–", "3", ""),
    )
    assert points_table(run, narrow=True).rows == (
        ("Requests, queue depth 4", "1 k/s", "10.0%", "3", "2"),
        ("Latency, queue depth 4", "1 us", "–", "3", ""),
    )
