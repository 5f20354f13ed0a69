"""The pictures of a step: what belongs together in one, and what lies behind a point."""

from array import array
from typing import Any

from msgspec.structs import replace

from sizeup.charts.chart import BarChart, HeatMap, LineChart
from sizeup.model.machine import Machine
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.plan import Better, Series, SeriesQuantity, Step
from sizeup.model.sample import Disturbance, Estimate, Outcome, Status
from sizeup.model.topology import Cache, CacheKind
from sizeup.session.value import Point, StepRun, point_key
from sizeup.views.run.chart_list import chart_list, underlying_charts
from sizeup.views.run.finished import finished_charts
from sizeup.views.run.latency_throughput import latency_throughput
from sizeup.views.run.samples import cumulative_of, distribution, distribution_of, over_time, underlying_points
from sizeup.views.run.step import step_chart

SECOND = 10**9


def series(name: str, title: str, unit: str, better: Better = Better.LOWER, statistic: str = "") -> Series:
    family = "latency" if statistic else ""
    return Series(name, title, unit, better, "queue_depth", "1", "Queue depth", family=family, statistic=statistic)


RAMP = (
    series("iops", "IOPS", "1/s", Better.HIGHER),
    series("latency-mean", "Latency, mean", "ns", statistic="mean"),
    series("latency-p50", "Latency, p50", "ns", statistic="p50"),
    series("latency-p99", "Latency, p99", "ns", statistic="p99"),
    series("in-flight", "Queue depth, sampled", "1", Better.NEITHER),
    series("cpu", "Host CPU utilization", "share"),
    series("cpu-per-io", "CPU time per I/O", "ns"),
    Series("knee", "Queue depth at the knee", "1", Better.NEITHER, quantities=(SeriesQuantity("load.knee"),)),
)


def run(*measured: Series, chart: str = "curve", probe: str = "p", **changes: Any) -> StepRun:
    step = Step("s", probe, "Step", {}, 10.0, 60.0, **changes)
    return StepRun(step, "sizeup", {item.name: item for item in measured}, chart, SECOND)


def put(to: StepRun, name: str, at: dict[str, Any], value: float, **more: Any) -> Point:
    point = to.points.setdefault(point_key(name, at), Point(name, at))
    point.estimate = Estimate(name, at, value, **more)
    return point


def ramp(directions: tuple[str, ...] = ("read",)) -> StepRun:
    """Throughput that doubles up to queue depth 4 and hardly grows beyond; latency then doubles."""
    made = run(*RAMP, axis_ranges={"queue_depth": (1, 64)})
    for out, iops in ((1, 10e3), (2, 20e3), (4, 40e3), (8, 42e3)):
        put(made, "iops", {"workload": "w", "queue_depth": out}, iops)
        put(made, "in-flight", {"workload": "w", "queue_depth": out}, out)
        put(made, "cpu", {"workload": "w", "queue_depth": out}, out / 10)
        put(made, "cpu-per-io", {"workload": "w", "queue_depth": out}, 5e3)
        for direction in directions:
            for number, name in enumerate(("latency-mean", "latency-p50", "latency-p99"), start=1):
                at = {"workload": "w", "queue_depth": out, "direction": direction}
                put(made, name, at, number * out / iops * SECOND)
    return made


def test_what_differs_in_meaning_has_a_picture_of_its_own() -> None:
    shown = [(chart.title, chart.y.title) for chart in finished_charts(ramp(), None) if isinstance(chart, LineChart)]

    assert [title.removeprefix("Step: ") for title, _ in shown] == [
        "IOPS",
        "latency against throughput, by queue depth",
        "Latency, read, w",
        "Queue depth, sampled",
        "Host CPU utilization",
        "CPU time per I/O",
    ]
    assert "Value" not in {axis for _, axis in shown}


def test_the_percentiles_of_one_latency_share_a_picture_and_those_of_writes_have_another() -> None:
    latencies = [chart for chart in finished_charts(ramp(("read", "write", "log")), None) if "Latency" in chart.title]

    assert [chart.title for chart in latencies] == [
        "Step: Latency, read, w",
        "Step: Latency, write, w",
        "Step: Latency, log, w",
    ]
    for chart in latencies:
        assert isinstance(chart, LineChart)
        assert [line.label for line in chart.lines] == ["mean", "p50", "p99"]


def test_latency_over_throughput_names_the_load_of_each_point_and_the_knee() -> None:
    made = ramp()
    put(made, "knee", {"workload": "w"}, 4.0, extra={"throughput": 40e3})
    chart = latency_throughput(made)

    assert [line.label for line in chart.lines] == ["p50", "p99"]
    assert [(point.x, point.label) for point in chart.lines[0].points] == [
        (10e3, "1"),
        (20e3, "2"),
        (40e3, "4"),
        (42e3, "8"),
    ]
    assert [(boundary.x, boundary.label) for boundary in chart.boundaries] == [(40e3, "knee at 4")]
    assert (chart.x.unit, chart.y.unit) == ("1/s", "ns")


def test_a_step_without_a_ramp_has_no_such_picture() -> None:
    assert latency_throughput(run(RAMP[0])) is None
    assert latency_throughput(run(RAMP[2])) is None


def test_a_live_axis_is_as_long_as_the_plan_says_and_a_finished_one_as_what_was_measured() -> None:
    live = ramp()
    chart = step_chart(live, None)
    assert isinstance(chart, LineChart)
    assert (chart.x.low, chart.x.high) == (1, 64)

    live.outcome = Outcome(Status.OK)
    chart = step_chart(live, None)
    assert isinstance(chart, LineChart)
    assert (chart.x.low, chart.x.high) == (None, None)


def test_verdicts_are_words_in_one_table() -> None:
    made = run(Series("validity", "Validity", "verdict", Better.HIGHER))
    put(made, "validity", {"part": "direct"}, 1.0)
    put(made, "validity", {"part": "steady"}, 0.5)
    chart = step_chart(made, None)

    assert isinstance(chart, HeatMap)
    assert (chart.rows, chart.columns, chart.values) == (("the whole step",), ("direct", "steady"), ((1.0, 0.5),))


def test_verdicts_that_all_pass_are_one_line() -> None:
    made = run(Series("validity", "Validity", "verdict", Better.HIGHER))
    for out in range(5):
        put(made, "validity", {"part": "direct", "queue_depth": out}, 1.0)
    chart = step_chart(made, None)

    assert isinstance(chart, HeatMap)
    assert chart.rows == ("all 5 places",)


def test_a_latency_curve_marks_caches_huge_pages_node_and_the_reach_of_the_tlb() -> None:
    machine = Machine(
        caches=(Cache(1, CacheKind.DATA, 32 << 10, 64, (0,)), Cache(1, CacheKind.INSTRUCTION, 64 << 10, 64, (0,))),
        nodes=(NumaNode(0, (0,), memory_bytes=1 << 30, huge_pages=(HugePages(2 << 20, 0, 0),)),),
    )
    made = run(
        Series("x", "Latency", "ns", Better.LOWER, "working_set_bytes", "bytes", "Working set", boundaries="memory")
    )
    put(made, "x", {"working_set_bytes": 1 << 16}, 3.0, extra={"tlb_reach_bytes": 8 << 20})
    chart = step_chart(made, machine)

    assert isinstance(chart, LineChart)
    assert [boundary.label for boundary in chart.boundaries] == [
        "L1 32 KiB",
        "huge page 2 MiB",
        "TLB 8 MiB",
        "node 1 GiB",
        "DRAM",
    ]


def sampled(flags: int = 0) -> StepRun:
    """Ten samples a second apart, the first a warm-up, the fifth disturbed as ``flags`` say."""
    made = run(Series("dram", "Latency", "ns", Better.LOWER, "working_set_bytes", "bytes", "Working set"))
    at = {"working_set_bytes": 4096}
    point = made.points[point_key("dram", at)] = Point("dram", at)
    point.t_ns = array("q", [SECOND * (1 + second) for second in range(10)])
    point.values = array("d", [1000.0, *range(1, 10)])
    point.flags = array("B", [Disturbance.WARMUP, 0, 0, 0, flags, 0, 0, 0, 0, 0])
    return made


def test_samples_over_time_start_with_the_step_leave_the_warm_up_out_and_mark_what_was_disturbed() -> None:
    chart = over_time(sampled(Disturbance.PREEMPTED))

    assert (chart.x.low, chart.x.high) == (0.0, 10.0 * SECOND)
    points = chart.lines[0].points
    assert [point.y for point in points] == list(range(1, 10))
    assert [point.disturbed for point in points].index(True) == 3
    assert [point.x // SECOND for point in points] == list(range(1, 10))


def test_a_distribution_counts_every_sample_once_and_says_where_it_was_taken() -> None:
    chart = distribution_of(sampled())

    assert sum(bar.value for bar in chart.bars) == 9
    assert chart.caption == "At 4 KiB: 9 samples, median 5 ns."
    assert all(bar.label.endswith(" ns") for bar in chart.bars)


def test_ranges_are_told_apart_however_near_the_samples_are() -> None:
    chart = distribution("t", "ns", [96.0004, 96.0001, 96.0007, 96.0009])

    labels = [bar.label for bar in chart.bars]
    assert len(set(labels)) == len(labels)
    assert sum(bar.value for bar in chart.bars) == 4


def test_the_share_at_or_below_ends_at_all_samples() -> None:
    chart = cumulative_of(sampled())

    assert [line.label for line in chart.lines] == ["4 KiB"]
    assert (chart.lines[0].points[0].x, chart.lines[0].points[-1]) == (1.0, chart.lines[0].points[-1])
    assert (chart.lines[0].points[-1].x, chart.lines[0].points[-1].y) == (9.0, 1.0)
    assert chart.y.unit == "share"


def test_pictures_of_samples_come_last_and_only_where_there_are_samples() -> None:
    assert [picture.name for picture in chart_list(sampled(), None)][1:] == ["Over time", "Distribution", "CDF"]
    without = chart_list(ramp(), None)
    assert "Over time" not in [picture.name for picture in without]
    assert all(
        isinstance(picture.draw(), LineChart | BarChart | HeatMap)
        for picture in (*without, *chart_list(sampled(), None))
    )


def test_a_chart_of_the_list_follows_the_samples() -> None:
    made = sampled()
    shown = chart_list(made, None)
    before = [picture.draw() for picture in shown]
    for point in made.points.values():
        point.t_ns.extend([SECOND * 20] * 99)
        point.values.extend([1000.0] * 99)
        point.flags.extend([0] * 99)
    after = [picture.draw() for picture in shown]

    assert len(before) == 4
    assert all(then is not None and then != now for then, now in zip(before, after, strict=True))


def test_before_the_first_sample_there_is_one_empty_picture() -> None:
    (only,) = chart_list(run(*RAMP), None)

    chart = only.draw()
    assert isinstance(chart, LineChart)
    assert (only.name, chart.title) == ("IOPS", "Step")


def test_mixes_that_lie_on_no_axis_are_a_matrix_for_each_figure_and_stream() -> None:
    mixes = run(*RAMP)
    for small, large in ((0, 1), (0, 2), (4, 0), (4, 1), (4, 2), (8, 0), (8, 1), (8, 2)):
        at = {"workload": "normal", "small": small, "large": large}
        put(mixes, "iops", at, 100.0 * small + large)
        for stream, count in (("small", small), ("large", large)):
            if count:
                put(mixes, "latency-p50", {**at, "stream": stream, "direction": "read"}, 1e5 * count)

    shown = finished_charts(mixes, None)

    assert all(isinstance(chart, HeatMap) for chart in shown)
    assert [chart.title.removeprefix("Step: ") for chart in shown] == [
        "IOPS, normal",
        "Latency, p50, read, large, normal",
        "Latency, p50, read, small, normal",
    ]
    assert isinstance(shown[0], HeatMap)
    assert (shown[0].row_title, shown[0].column_title) == ("small", "large")
    assert shown[0].values == ((None, 1.0, 2.0), (400.0, 401.0, 402.0), (800.0, 801.0, 802.0))


def test_figures_lie_along_the_number_in_which_their_points_differ() -> None:
    sizes = run(*(replace(one, boundaries="memory") for one in RAMP))
    for size in (4096, 8192):
        put(sizes, "latency-p50", {"workload": "w", "queue_depth": 16, "working_set_bytes": size}, 1e5)

    (chart,) = finished_charts(sizes, Machine(caches=(Cache(1, CacheKind.DATA, 32 << 10, 64, (0,)),)))

    assert isinstance(chart, LineChart)
    assert (chart.x.title, chart.x.unit) == ("Working set", "bytes")
    assert [point.x for line in chart.lines for point in line.points] == [4096.0, 8192.0]
    assert chart.boundaries == ()


def test_points_alone_on_their_lines_are_bars_that_say_where_they_differ() -> None:
    alone = run(*RAMP)
    put(alone, "iops", {"workload": "log", "queue_depth": 0}, 500.0)
    put(alone, "iops", {"workload": "both", "queue_depth": 16}, 600.0)

    (chart,) = finished_charts(alone, None)

    assert isinstance(chart, BarChart)
    assert [bar.label for bar in chart.bars] == ["log, queue depth 0", "both, queue depth 16"]


def crossed(name: str = "iops", **more: str) -> StepRun:
    """Throughput at 1, 2 and 4 small requests beside 1, 2 and 4 large ones, with samples of each."""
    made = run(
        *RAMP, Series("matrix-iops", "Small beside large", "1/s", Better.HIGHER, "small", "1", "Small", samples="iops")
    )
    for small in (1, 2, 4):
        for large in (1, 2, 4):
            at = {"workload": "w", "small": small, "large": large, **more}
            point = put(made, name, at, small / large)
            point.t_ns, point.values = array("q", [SECOND * 2, SECOND * 3]), array("d", [1.0, 2.0])
            point.flags = array("B", [0, 0])
            put(made, "matrix-iops", {"small": small, "large": large}, small * 1e3 + large)
    return made


def test_a_cell_of_a_matrix_leads_to_the_samples_at_its_place() -> None:
    made = crossed()
    matrix, conclusions = finished_charts(made, None)
    assert isinstance(matrix, HeatMap)
    assert matrix.keys[1][2] == ("iops", (("large", 4), ("small", 2), ("workload", "w")))
    assert isinstance(conclusions, LineChart)
    key = conclusions.lines[2].points[1].key

    assert key == ("matrix-iops", (("large", 4), ("small", 2)))
    (spread, *_) = underlying_charts(made, key)
    drawn = spread.draw()
    assert isinstance(drawn, BarChart)
    assert drawn.caption == "At w, small 2, large 4: 2 samples, median 1.5 /s."


def test_every_kind_of_picture_says_which_point_it_shows() -> None:
    curve = step_chart(ramp(), None)
    assert isinstance(curve, LineChart)
    assert curve.lines[0].points[1].key == ("iops", (("queue_depth", 2), ("workload", "w")))
    loads = latency_throughput(ramp())
    assert loads.lines[0].points[0].key == (
        "latency-p50",
        (("direction", "read"), ("queue_depth", 1), ("workload", "w")),
    )
    bars = step_chart(run_of_bars(), None)
    assert isinstance(bars, BarChart)
    assert bars.bars[0].key == ("cost", (("method", "rdtsc"),))


def run_of_bars() -> StepRun:
    made = run(Series("cost", "Cost", "ns", Better.LOWER), chart="bars")
    put(made, "cost", {"method": "rdtsc"}, 7.0)
    return made


def test_a_mean_without_samples_leads_to_the_percentiles_at_its_place() -> None:
    made = ramp()
    at = {"workload": "w", "queue_depth": 2, "direction": "read"}
    for name in ("latency-p50", "latency-p99"):
        point = made.points[point_key(name, at)]
        point.t_ns, point.values, point.flags = array("q", [SECOND * 2]), array("d", [5.0]), array("B", [0])

    assert [series.name for series, _ in underlying_points(made, point_key("latency-mean", at))] == [
        "latency-p50",
        "latency-p99",
    ]
    assert underlying_points(made, point_key("cpu-per-io", {"workload": "w", "queue_depth": 2})) == []
