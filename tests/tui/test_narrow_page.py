"""What the page of a probe leaves out where it has few columns or rows."""

from array import array

import pytest
from msgspec.structs import replace

from consoles import Console, MakeConsole, machine, records, settled, until
from report import sessions
from sizeup.charts.drawing import Glyphs
from sizeup.charts.share_bar import ScreenLook
from sizeup.model.advice import Card
from sizeup.model.plan import Better, Declaration, Series, Step
from sizeup.model.sample import Estimate, Outcome, Progress, Status
from sizeup.probing.registry import load_registry
from sizeup.session.records import EndRecord, EstimateRecord, OutcomeRecord, StepStartRecord
from sizeup.session.value import Point, StepRun, point_key
from sizeup.tui.runs import Runs
from sizeup.tui.screens.measure import ProbeList
from sizeup.tui.screens.probe_page import draw_tiles
from sizeup.tui.screens.probe_text import entry, fact_rows, progress_rows, share_rows, validity_rows
from sizeup.tui.widgets.chart import ChartView
from sizeup.views.run.live_figures import live_tiles

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


@pytest.mark.parametrize(("width", "rows", "figures"), [(50, 2, 5), (84, 5, 5), (160, 5, 5), (20, 2, 2)])
def test_tiles_of_a_run_are_no_wider_than_the_page(width: int, rows: int, figures: int) -> None:
    drawing = draw_tiles(live_tiles(a_ramp()), width, rows, Glyphs.BRAILLE)

    names = "".join(drawing.rows[0]).split()
    assert names == ["IOPS", "p50", "p99", "CPU", "QD"][:figures]
    assert all(len(row) == width for row in drawing.rows)
    assert ("┏" in drawing.text()) == (rows > 2)


def test_a_tile_holds_a_figure_against_the_others_and_shows_how_it_went() -> None:
    run = a_ramp()
    run.points[point_key("iops", {"queue_depth": 1})] = Point(
        "iops", {"queue_depth": 1}, array("q", [1]), array("d", [3e5])
    )

    text = draw_tiles(live_tiles(run), 120, 5, Glyphs.ASCII).text()

    assert "50 % of the best" in text
    assert "▄█" in text


@pytest.mark.parametrize("width", [50, 84])
def test_the_time_left_is_told_on_a_narrow_page(width: int) -> None:
    row = progress_rows(a_ramp(), "", Runs(""), width)[0]

    assert "15 s left" in "".join(text for text, _ in row)[: width - 3]


@pytest.mark.parametrize(("aim", "words"), [(0.03, "target ±3 %"), (None, "at most 2 s")])
def test_samples_are_counted_towards_a_precision_or_a_time(aim: float | None, words: str) -> None:
    run = a_ramp()
    run.declaration = Declaration("storage", "target")
    run.step = replace(run.step, settings={} if aim is None else {"target": aim})

    assert progress_rows(run, "", Runs(""), 84)[1][0][0] == f"10 samples; {words}"


def test_a_value_in_the_list_gives_way_to_the_name() -> None:
    probe, found = load_registry().get("clock.cost"), machine()
    lines = [
        entry(probe, 12.5, None, found, width, pending="", refused=False, going_on=False).plain for width in (26, 18)
    ]

    assert lines == ["· Clock read cost   12.5 s", "· Clock read cost"]


def test_bars_have_no_column_of_figures_without_names_beside_them() -> None:
    series = Series("step", "Smallest step", "ns", Better.LOWER, "method")
    run = StepRun(Step("s", "p", "Step", {}, 1.0, 2.0), "sizeup", {"step": series}, "bars", SECOND)
    run.outcome = Outcome(Status.OK)
    for method, value in (("rdtsc", 16.0), ("coarse", 12e6)):
        at = {"method": method}
        run.points[point_key("step", at)] = Point("step", at, estimate=Estimate("step", at, value))

    assert [text for row in fact_rows(run, []) for text, _ in row][:1] == ["Validity"]


def test_figures_stand_before_validity_in_a_line_each_and_other_loads_follow() -> None:
    series = Series("iops", "IOPS", "1/s", Better.HIGHER, "queue_depth", "Queue depth", "1")
    run = StepRun(Step("s", "p", "Step", {}, 1.0, 2.0), "sizeup", {"iops": series}, "curve", SECOND)
    run.outcome = Outcome(Status.OK)
    for load, depth, value in (("read", 1, 900.0), ("read", 8, 7000.0), ("mixed", 8, 6000.0)):
        at = {"workload": load, "queue_depth": depth}
        noisy = Estimate("iops", at, value, value * 0.8, value * 1.2, 5, converged=False)
        run.points[point_key("iops", at)] = Point("iops", at, estimate=noisy)

    words = ["".join(text for text, _ in row).strip() for row in fact_rows(run, [])]
    validity = words.index("Validity")

    assert words[validity + 1] == "▲ 3 figures too noisy or not valid"
    assert [any(figure in row for row in words[:validity]) for figure in ("900", "7,000", "6,000")] == [
        True,
        True,
        False,
    ]
    assert any("6,000" in row for row in words[validity:])
    assert any("did not converge" in text for row in validity_rows(run) for text, _ in row)


@pytest.mark.ci
async def test_a_long_reason_leaves_rows_for_the_chart_of_a_low_page(console: Console) -> None:
    reason = "the device was reset by its driver while it was measured " * 6
    async with console.shown(80, 24) as pilot:
        await console.measure(pilot)
        await console.end(pilot, [OutcomeRecord(200, "null", Outcome(Status.FAILED, reason)), EndRecord(201, "x")], 4)
        await pilot.pause(0.3)
        status = console.app.screen.query_one("#band").size.height
        chart = console.app.screen.query_one("#chart").size.height

    assert status <= 6
    assert chart >= 8


@pytest.mark.parametrize(("status", "words"), [("fail", "FAIL 131 %"), ("uncertain", "NOT CERTAIN 131 %")])
def test_the_share_of_a_workload_stands_beside_what_was_measured_with_its_status(status: str, words: str) -> None:
    card = Card("storage", status, demand="40,000 IOPS", share=1.31)
    rows = ["".join(text for text, _ in row) for row in share_rows(card, ScreenLook.COLOR)]

    assert rows[0] == "Your workload 40,000 IOPS"
    assert len(rows[1]) == 34
    assert rows[2].startswith(words)
    assert share_rows(replace(card, share=None), ScreenLook.COLOR) == []


@pytest.mark.parametrize(("rows", "drawn"), [(60, True), (24, False)])
async def test_the_other_main_chart_stands_below_the_figures_where_they_leave_room(
    make_console: MakeConsole, rows: int, *, drawn: bool
) -> None:
    console = make_console()
    console.save(sessions.records())
    async with console.shown(200, rows, keys="3") as pilot:
        await console.choose(pilot, "memory.latency")
        facts, other = (console.app.screen.query_one(name) for name in ("#facts", "#beside"))
        await until(pilot, lambda: bool(facts.region) and bool(other.region) is drawn)
        await settled(pilot)

        assert not drawn or other.region.y > facts.region.bottom - 1
        assert not drawn or str(other.border_title).strip() == "Over time"
        assert isinstance(other, ChartView)


@pytest.mark.parametrize(("rows", "below"), [(40, True), (24, False)])
async def test_bars_use_the_width_and_the_next_chart_stands_below_them(
    make_console: MakeConsole, rows: int, *, below: bool
) -> None:
    console = make_console()
    timing = Series("io-timing", "Share of a core spent on timing I/O", "share", Better.LOWER, "method")
    found = sessions.records()
    begun = next(number for number, one in enumerate(found) if isinstance(one, StepStartRecord) and one.chart == "bars")
    found[begun] = replace(found[begun], series=(*found[begun].series, timing))
    shares = (
        Estimate("io-timing", {"method": name}, share) for name, share in (("rdtsc", 0.005), ("gettimeofday", 0.04))
    )
    found[begun + 1 : begun + 1] = [EstimateRecord(3 * SECOND, "clock.cost", one) for one in shares]
    console.save(found)
    async with console.shown(120, rows, keys="3") as pilot:
        await console.choose(pilot, "clock.cost")
        side, other, chart = (console.app.screen.query_one(name) for name in ("#side", "#below", "#chart"))
        await until(pilot, lambda: bool(chart.region) and bool(other.region) is below)
        await settled(pilot)

        assert bool(side.region) is not below
        assert not below or str(other.border_title) == "Share of a core spent on timing I/O"
        assert not below or other.region.y >= chart.region.bottom


async def test_a_line_of_the_list_leaves_the_scroll_bar_its_column_while_it_is_written(console: Console) -> None:
    widths = []
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        for lines in ([], records()):
            await console.feed(pilot, lines) if lines else await settled(pilot, "r")
            listed = console.app.screen.query_one(ProbeList)
            widths.append(listed.scrollable_content_region.width)

    assert widths == [25, 25]
