"""Two sessions in one picture: what both ran, whose each line is, and no boundary that only one of them has."""

from typing import Any

from msgspec.structs import replace

from consoles import machine
from sizeup.model.numa import HugePages
from sizeup.model.plan import Better, Series, Step
from sizeup.model.sample import Estimate
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.views.comparison.compared_charts import compared_curves

CURVE = Series("x", "Latency", "ns", Better.LOWER, "working_set_bytes", "bytes", "Working set", boundaries="memory")
CURVES = tuple(
    replace(CURVE, name=f"latency-{share}", title=f"Latency, {share}", family="latency") for share in ("p50", "p99")
)
BARS = Series("cost", "Cost", "ns", Better.LOWER)


def session(*runs: StepRun, **changes: Any) -> Session:
    made = Session(SessionRecord(1, "s", "sizeup 0", "db01", "2026-01-01T00:00:00Z"), machine=machine(**changes))
    made.steps.update({run.step.id: run for run in runs})
    return made


def curve(*series: Series, unit: str = "ns") -> StepRun:
    kinds = {one.name: replace(one, unit=unit) for one in series}
    run = StepRun(Step("memory.latency", "memory.latency", "Memory", {}, 1.0, 2.0), "sizeup 0", kinds, "curve", 0)
    for one in series:
        for size in (1 << 14, 1 << 26):
            at = {"working_set_bytes": size}
            run.points[point_key(one.name, at)] = Point(one.name, at, estimate=Estimate(one.name, at, 10.0))
    return run


def bars(*methods: str) -> StepRun:
    run = StepRun(Step("clock.cost", "clock.cost", "Clock", {}, 1.0, 2.0), "sizeup 0", {BARS.name: BARS}, "bars", 0)
    for method in methods:
        at = {"method": method}
        run.points[point_key(BARS.name, at)] = Point(BARS.name, at, estimate=Estimate(BARS.name, at, 10.0))
    return run


def test_each_curve_that_both_measured_has_a_picture_with_the_earlier_one_beside_it() -> None:
    both = session(curve(*CURVES), bars("tsc", "hpet")), session(bars("tsc"), curve(*CURVES))
    charts = compared_curves(*both, ("baseline", "new"))

    assert [[(line.label, line.earlier) for line in chart.lines] for chart in charts] == [
        [("new", False), ("baseline", True)]
    ] * 2
    assert ["p50" in charts[0].title, "p99" in charts[1].title] == [True, True]


def test_a_boundary_that_one_machine_alone_has_is_not_drawn() -> None:
    nodes = tuple(replace(node, huge_pages=(HugePages(1 << 24, 1, 1),)) for node in machine().nodes)
    (chart,) = compared_curves(
        session(curve(CURVE)), session(curve(CURVE), nodes=nodes, caches=()), ("baseline", "new")
    )
    (same,) = compared_curves(session(curve(CURVE)), session(curve(CURVE)), ("baseline", "new"))

    assert not [boundary for boundary in chart.boundaries if boundary.label.startswith("L")]
    assert [boundary.label for boundary in same.boundaries if boundary.label.startswith("L1")]


def test_what_shares_no_step_or_no_unit_has_no_picture() -> None:
    assert compared_curves(session(curve(CURVE)), session(bars("tsc")), ("baseline", "new")) == ()
    assert compared_curves(session(curve(CURVE)), session(curve(CURVE, unit="bytes/s")), ("baseline", "new")) == ()


def loaded(workload: str) -> StepRun:
    series = Series("iops", "IOPS", "1/s", Better.HIGHER, "queue_depth", "1", "Queue depth")
    step = Step("io.direct.custom", "io.direct", "IOPS, on /u01", {}, 1.0, 2.0)
    run = StepRun(step, "sizeup 0", {series.name: series}, "curve", 0)
    for depth in (1, 16):
        at = {"workload": workload, "queue_depth": depth}
        run.points[point_key(series.name, at)] = Point(series.name, at, estimate=Estimate(series.name, at, 10.0))
    return run


def test_different_workloads_are_not_drawn_as_one() -> None:
    small, large = session(loaded("random read 4 KiB")), session(loaded("random read 16 KiB"))

    assert [chart.title for chart in compared_curves(small, small, ("B", "A"))] == ["IOPS, on /u01: random read 4 KiB"]
    assert compared_curves(small, large, ("B", "A")) == ()
