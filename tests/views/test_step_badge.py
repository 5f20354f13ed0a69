"""How a step stands in one word, and its figure in the field's words."""

from typing import Any

import pytest

from consoles import machine
from sizeup.charts.chart import LineChart
from sizeup.model.plan import Better, Declaration, Series, SeriesQuantity, Step
from sizeup.model.sample import Estimate, Outcome, Progress, Status
from sizeup.session.value import Point, StepRun, point_key
from sizeup.tui.screens.probe_text import fact_rows
from sizeup.views.band import NextStep
from sizeup.views.run.chart_list import TABLE, VALIDITY, chart_list, tabs
from sizeup.views.run.live_figures import live_tiles, time_left
from sizeup.views.run.point_rows import point_rows
from sizeup.views.run.step import curve
from sizeup.views.run.step_badge import BadgeLook, headline_text, step_badge, step_band, value_text

SECOND = 10**9
LEVELS = Series("level", "Latency by level", "ns", Better.LOWER, headline={"level": "DRAM"})
CHECKS = Series(
    "validity", "Validity", "verdict", Better.HIGHER, remedies={"steady": "again while the machine is idle"}
)


def ramp_series(name: str, title: str, unit: str, statistic: str = "") -> Series:
    better = Better.HIGHER if unit == "1/s" else Better.LOWER
    family = "latency" if statistic else ""
    return Series(name, title, unit, better, "queue_depth", "1", "Queue depth", family=family, statistic=statistic)


RAMP = (
    ramp_series("iops", "IOPS", "1/s"),
    ramp_series("p50", "Latency, p50", "ns", "p50"),
    ramp_series("p99", "Latency, p99", "ns", "p99"),
    ramp_series("cpu", "Host CPU utilization", "share"),
    Series("knee", "Queue depth at the knee", "1", Better.NEITHER, quantities=(SeriesQuantity("load.knee"),)),
    CHECKS,
)


def a_run(*series: Series, status: Status | None = Status.OK, reason: str = "") -> StepRun:
    step = Step("s", "p", "Step", {"target": 0.05}, 10.0, 60.0)
    made = StepRun(step, "sizeup", {one.name: one for one in series}, "curve", SECOND)
    made.declaration = Declaration("storage", "target")
    made.outcome = None if status is None else Outcome(status, reason)
    return made


def put(run: StepRun, name: str, at: dict[str, Any], value: float, **more: Any) -> Point:
    point = run.points.setdefault(point_key(name, at), Point(name, at))
    point.estimate = Estimate(name, at, value, **more)
    return point


def ramp(status: Status | None = Status.OK, **end: str) -> StepRun:
    """Throughput with its knee at queue depth 32."""
    run = a_run(*RAMP, status=status, **end)
    for depth, iops in ((1, 9_000.0), (32, 91_000.0), (64, 92_000.0)):
        put(run, "iops", {"queue_depth": depth}, iops, low=iops * 0.98, high=iops * 1.02)
        for name, value in (("p50", 0.2e6), ("p99", 0.9e6)):
            put(run, name, {"queue_depth": depth, "direction": "read"}, value)
        put(run, "cpu", {"queue_depth": depth}, 0.1)
    put(run, "knee", {}, 32.0, extra={"throughput": 91_000.0})
    return run


@pytest.mark.parametrize(("title", "text"), [("IOPS", "316k IOPS"), ("Commits", "316k commits/s")])
def test_a_rate_is_one_of_a_second_in_the_words_of_its_series(title: str, text: str) -> None:
    assert value_text(316e3, Series("rate", title, "1/s", Better.HIGHER)) == text


def test_a_ramp_that_counts_passes_with_its_knee_latency_and_interval() -> None:
    badge = step_badge(ramp())

    assert (badge.word, badge.look) == ("VALID", BadgeLook.PASS)
    assert badge.text == "91k IOPS at QD 32, p99 900 us (95 % CI ±2.0 %)"


@pytest.mark.parametrize(("part", "words"), [("", "not converged"), ("all", "not valid")])
def test_a_figure_that_does_not_count_has_the_same_words_in_the_badge_and_in_the_table(part: str, words: str) -> None:
    run = ramp()
    put(run, "iops", {"queue_depth": 32}, 91_000.0, low=50_000.0, high=132_000.0, converged=False)
    if part:
        put(run, "validity", {"part": part}, 0.0)
    reasons = point_rows(run).notes

    assert headline_text(run).endswith(f", {words}")
    assert any("did not converge" in reason for reason in reasons)
    assert not any("not valid: it did not converge" in reason for reason in reasons)


def test_an_interval_wider_than_the_value_is_said_to_be_and_a_rate_is_never_below_nothing() -> None:
    run = ramp()
    put(run, "iops", {"queue_depth": 32}, 91_000.0, low=-300_000.0, high=489_000.0)
    chart = curve(run, None)

    assert step_badge(run).text == "91k IOPS at QD 32, p99 900 us (95 % CI ±>100 %)"
    assert [row[4].text for row in point_rows(run).rows] == ["2.0 %", ">100 %", "2.0 %"]
    assert isinstance(chart, LineChart)
    assert chart.lines[0].points[1].low == 0.0


def test_levels_stand_side_by_side_and_name_those_that_did_not_converge() -> None:
    run = a_run(LEVELS)
    for name, value in (("L1", 0.9), ("L2", 3.3), ("L3", 15.0), ("DRAM", 92.0)):
        put(run, "level", {"level": name}, value, low=value * 0.99, high=value * 1.01)
    whole = headline_text(run)
    put(run, "level", {"level": "L3"}, 15.0, low=10.0, high=20.0, converged=False)

    assert whole == "L1 0.9 · L2 3.3 · L3 15 · DRAM 92 ns"
    assert headline_text(run) == f"{whole} (L3 did not converge)"
    assert step_badge(run).word == "WARN"


@pytest.mark.parametrize(
    ("wide", "mark"),
    [
        ((), ""),
        (("64 MiB", "L2"), " (64 MiB, L2 did not converge)"),
        (("64 MiB", "L1", "L2"), " (none of these converged)"),
    ],
)
def test_the_largest_working_set_leads_where_no_level_is_memory(wide: tuple[str, ...], mark: str) -> None:
    curve_ = Series("random", "Latency", "ns", Better.LOWER, "working_set_bytes", "bytes", "Working set")
    run = a_run(LEVELS, curve_)
    for name, value in (("L1", 1.1), ("L2", 4.62)):
        put(run, "level", {"level": name}, value, converged=name not in wide)
    for size, value in ((64, 154.0), (4, 1.2)):
        put(run, "random", {"working_set_bytes": size << 20}, value, converged=f"{size} MiB" not in wide)

    assert headline_text(run) == f"154 ns at 64 MiB · L1 1.1 · L2 4.62 ns{mark}"


def test_a_run_that_is_not_valid_says_which_check_failed_and_what_to_do() -> None:
    run = ramp()
    reasons = "direct: all is well; steady: throughput fell 18 % during the run; steady: another"
    put(run, "validity", {"part": "all"}, 0.0, extra={"reasons": reasons})
    put(run, "validity", {"part": "steady"}, 0.0)
    band = step_band(run, "", "", NextStep(key="c"))

    assert (band.word, band.status, band.sentence) == ("NOT VALID", "bad", "Throughput was not steady.")
    assert band.basis.startswith("91k IOPS at QD 32")
    assert band.steps == (NextStep("Run p again while the machine is idle.", "r"),)


@pytest.mark.parametrize(
    ("status", "reason", "word", "text"),
    [
        (Status.FAILED, "input/output error", "FAIL", "the step failed: input/output error"),
        (Status.CRASHED, "", "FAIL", "the step crashed"),
        (Status.TIMED_OUT, "", "FAIL", "the step reached its time limit"),
        (Status.REFUSED, "no room", "REFUSED", "no room"),
        (Status.CANCELED, "", "CANCELED", "13 figures kept"),
    ],
)
def test_a_step_that_measured_nothing_whole_says_why(status: Status, reason: str, word: str, text: str) -> None:
    badge = step_badge(ramp(status, reason=reason))

    assert (badge.word, badge.text) == (word, text)


def test_a_step_without_an_end_was_interrupted() -> None:
    assert step_badge(ramp(None)).word == "INTERRUPTED"


def test_the_tabs_have_the_names_of_what_they_show() -> None:
    run = ramp()
    run.points[point_key("iops", {"queue_depth": 1})].values.append(1.0)
    run.points[point_key("iops", {"queue_depth": 1})].t_ns.append(2 * SECOND)

    assert tabs(chart_list(run, None)) == (
        "IOPS", "Latency", "Latency vs IOPS", "Over time", TABLE, VALIDITY, "Host CPU utilization", "Distribution",
        "CDF",
    )  # fmt: skip


def test_the_table_has_a_row_for_each_queue_depth_and_notes_once() -> None:
    run = ramp()
    for depth in (32, 64):
        put(run, "iops", {"queue_depth": depth}, 9e4, caveats=(f"{depth} of 100 requests were late",))
    rows = point_rows(run)

    assert rows.columns == ("QD", "IOPS", "p50 us", "p99 us", "±", "Flag", "Host CPU utilization %")
    assert rows.heads == {"p50 us": "p50", "p99 us": "p99 us"}
    assert "".join(text for text, _ in fact_rows(run, [])[0]).split() == ["QD", "IOPS", "p50", "p99", "us"]
    assert [cell.text for cell in rows.rows[0]] == ["1", "9,000", "200", "900", "2.0 %", "", "10.0"]
    assert [row[5].text for row in rows.rows] == ["", "! 1", "! 1"]
    assert rows.notes == ("1 32 of 100 requests were late (1 similar)",)
    assert rows.figures == (("Queue depth at the knee", "32"),)


def test_the_table_is_of_what_the_first_chart_shows_and_has_no_column_without_a_value() -> None:
    run = ramp()
    for point in run.points.values():
        if point.series == "iops":
            point.estimate = Estimate("iops", point.at, point.value or 0.0)
    for target in range(40):  # more measurements than the ramp has
        put(run, "iops", {"target": target}, 1e3)
    rows = point_rows(run)

    assert [row[0].text for row in rows.rows] == ["1", "32", "64"]
    assert "±" not in rows.columns
    assert "Flag" not in rows.columns
    assert not any("–" in cell.text for row in rows.rows for cell in row)
    assert ("Target 7", "IOPS 1 k/s") in rows.figures


def test_loads_in_the_table_have_their_words() -> None:
    run = ramp()
    run.points.clear()
    for workload in ("oltp-read", "cold-read"):
        put(run, "iops", {"workload": workload, "queue_depth": 64}, 1e5)

    assert {row[0].text for row in point_rows(run).rows} == {"random read 8 KiB", "random read of older data"}


@pytest.mark.parametrize(("status", "first"), [(Status.OK, 2), (None, 1)])
def test_a_single_load_stands_behind_the_curves_once_the_step_has_ended(status: Status | None, first: int) -> None:
    run = ramp(status)
    run.points.clear()
    for workload, depths in (("cold-read", (32,)), ("oltp-read", (1, 32))):
        for depth in depths:
            put(run, "iops", {"workload": workload, "queue_depth": depth}, 1e4)
    chart = curve(run, None)

    assert isinstance(chart, LineChart)
    assert len(chart.lines[0].points) == first


def test_rows_are_in_the_order_of_their_numbers_and_words_come_last() -> None:
    run = ramp()
    put(run, "iops", {"queue_depth": 8}, 3e4)

    assert [row[0].text for row in point_rows(run).rows] == ["1", "8", "32", "64"]


def test_live_figures_are_those_of_the_point_that_was_sampled_last() -> None:
    run = ramp(None)
    for name, value in (("iops", 50e3), ("p50", 0.1e6), ("p99", 0.3e6)):
        at: dict[str, Any] = {"queue_depth": 8} if name == "iops" else {"queue_depth": 8, "direction": "read"}
        point = run.points.setdefault(point_key(name, at), Point(name, at))
        for number in range(20):
            point.t_ns.append(SECOND + number * SECOND // 10)
            point.values.append(value if number else 1e12)
    rate, *others = live_tiles(run)
    tiles = [(tile.name, tile.text) for tile in (rate, *others)]

    assert tiles == [("IOPS", "50k"), ("p50", "100 us"), ("p99", "300 us"), ("QD", "8")]
    assert (rate.newest, rate.note) == (True, "54 % of the best")
    assert len(rate.bars(20)) == 20
    assert rate.bars(40)[-1] == "▁"  # next to the outlier it began with
    assert not any(tile.newest for tile in others)


def test_a_live_figure_is_the_one_of_the_table() -> None:
    run = ramp(None)
    point = run.points.setdefault(point_key("iops", {"queue_depth": 8}), Point("iops", {"queue_depth": 8}))
    point.t_ns.extend(SECOND * (number + 1) for number in range(11))
    point.values.extend([10e3] * 6 + [30e3] * 5)

    assert live_tiles(run)[0].text == "10k"
    point.estimate = Estimate("iops", {"queue_depth": 8}, 19e3)
    assert live_tiles(run)[0].text == "19k"
    assert "19,000" in [cell.text for row in point_rows(run).rows for cell in row]
    for depth, p99 in ((1, 122e3), (8, 99e3), (32, 2.34e6)):
        put(run, "p99", {"queue_depth": depth}, p99)
    assert [tile.note for tile in live_tiles(run) if tile.name == "p99"] == ["worst 2,340"]  # us, as 99 us above it


def test_each_level_of_memory_has_a_tile_with_the_working_set_that_it_shows() -> None:
    sizes = Series("thp", "Pointer chase", "ns", Better.LOWER, "bytes", "bytes", "Working set", boundaries="memory")
    run = a_run(sizes, status=None)
    for number, (size, value) in enumerate(((16 << 10, 1.2), (30 << 10, 1.3), (512 << 10, 3.7), (16 << 20, 14.0))):
        point = put(run, "thp", {"bytes": size}, value, low=value * 0.99, high=value * 1.01)
        point.t_ns.append(SECOND * (number + 1))
        point.values.append(value)
    tiles = live_tiles(run, machine())

    assert [(tile.name, tile.text, tile.note) for tile in tiles] == [
        ("L1", "1.2 ns", "±1.0 % at 16 KiB"),
        ("L2", "3.7 ns", "±1.0 % at 512 KiB"),
        ("L3", "14 ns", "±1.0 % at 16 MiB"),
        ("DRAM", "", "not yet"),
    ]
    assert [tile.name for tile in tiles if tile.newest] == ["L3"]
    for size, value in ((48 << 20, 80.0), (128 << 20, 91.0)):
        put(run, "thp", {"bytes": size}, value)
    assert live_tiles(run, machine())[-1].text == "91 ns"  # of the largest working set


def test_a_step_of_which_a_part_is_noisy_says_what_to_do_and_how_much_of_it_is() -> None:
    run = a_run(LEVELS)
    run.declaration = Declaration("memory", "target", title="Memory latency")
    put(run, "level", {"level": "L1"}, 1.2, low=0.9, high=1.5, converged=False)
    put(run, "level", {"level": "DRAM"}, 92.0, low=91.0, high=93.0)
    band = step_band(run, "", "", NextStep(key="c"))

    assert band.steps == (NextStep("Run Memory latency again on an idle machine, with more time.", "r"),)
    assert "1 of 2 figures did not converge" in band.basis
    assert band.number is not None
    assert (band.number.text, band.number.unit, band.number.name) == ("92", "ns", "DRAM")


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress(0.5, 12.0), "12 s left"),
        (Progress(0.5), ""),
        (Progress(0.98, 0.3), ""),
        (Progress(0.9, 0.0), "longer than estimated"),
        (Progress(1.0, 0.0), ""),
    ],
)
def test_a_step_beyond_its_estimate_says_so(progress: Progress, text: str) -> None:
    assert time_left(progress) == text
