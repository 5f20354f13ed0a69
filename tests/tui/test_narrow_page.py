"""What the page of a probe leaves out where it has few columns or rows."""

import pytest

from consoles import Console
from sizeup.model.plan import Better, Series, Step
from sizeup.model.sample import Outcome, Progress, Status
from sizeup.session.records import EndRecord, OutcomeRecord
from sizeup.session.value import Point, StepRun, point_key
from sizeup.tui.screens.probe_text import badge_rows, live_rows
from sizeup.tui.widgets.chart import ChartView

SECOND = 1_000_000_000
RAMP = tuple(
    Series(
        name,
        title,
        unit,
        Better.NEITHER if unit == "share" else better,
        "queue_depth",
        "1",
        "Queue depth",
        family="latency" if statistic else "",
        statistic=statistic,
    )
    for name, title, unit, better, statistic in (
        ("iops", "IOPS", "1/s", Better.HIGHER, ""),
        ("rate", "Throughput", "bytes/s", Better.HIGHER, ""),
        ("p50", "Latency, p50", "ns", Better.LOWER, "p50"),
        ("p99", "Latency, p99", "ns", Better.LOWER, "p99"),
        ("cpu", "CPU", "share", Better.NEITHER, ""),
    )
)


def a_ramp() -> StepRun:
    run = StepRun(Step("s", "p", "Step", {}, 1.0, 2.0), "sizeup", {one.name: one for one in RAMP}, "curve", SECOND)
    for series in RAMP:
        at = {"queue_depth": 64}
        point = run.points.setdefault(point_key(series.name, at), Point(series.name, at))
        point.t_ns.extend([SECOND, 2 * SECOND])
        point.values.extend([1e5, 2e5])
        point.flags.extend([0, 0])
    run.progress = Progress(0.25, 15.0, "queue depth 64, ramp 1 of 3")
    return run


@pytest.mark.parametrize(("width", "figures"), [(50, 5), (84, 6), (160, 6)])
def test_rows_of_a_run_are_no_wider_than_the_page(width: int, figures: int) -> None:
    names, values, recent = live_rows(a_ramp(), 2 * SECOND, width)

    assert [sum(len(text) for text, _ in row) <= width for row in (names, values, recent)] == [True] * 3
    assert len(names) == len(values) == figures
    assert [text.strip() for text, _ in names][:5] == ["IOPS", "Throughput", "p50", "p99", "QD"]


@pytest.mark.parametrize("width", [50, 84])
def test_the_time_left_is_told_on_a_narrow_page(width: int) -> None:
    row = badge_rows(a_ramp(), "", "", width, going_on=True)[0]

    assert "15 s left" in "".join(text for text, _ in row)[: width - 3]


@pytest.mark.ci
async def test_a_long_reason_leaves_rows_for_the_chart_of_a_low_page(console: Console) -> None:
    reason = "the device was reset by its driver while it was measured " * 6
    async with console.shown(80, 24) as pilot:
        await console.measure(pilot)
        await console.end(pilot, [OutcomeRecord(200, "null", Outcome(Status.FAILED, reason)), EndRecord(201, "x")], 4)
        await pilot.pause(0.3)
        status = console.app.screen.query_one("#standing").size.height
        chart = console.app.screen.query_one(ChartView).size.height

    assert status <= 6
    assert chart >= 8
