"""The latency of a step: what is drawn of it over time, as a histogram and as percentiles."""

import pytest
from msgspec.structs import replace

from sizeup.charts.chart import LineChart
from sizeup.model.plan import Better, Series, SeriesQuantity, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.views.run.chart_list import DISTRIBUTION, OVER_TIME, chart_list, leading, tabs
from sizeup.views.run.latency import has_one_load, histogram, percentiles, recorded_counts, timeline
from sizeup.views.run.step import step_chart
from sizeup.views.run.yardstick import Earlier, compared, earlier_steps, last_run, yardstick

SECOND = 10**9
STATISTICS = ("mean", "p50", "p90", "p99", "p999")
SERIES = (
    Series("iops", "IOPS", "1/s", Better.HIGHER, "queue_depth", "1", "Queue depth"),
    *(
        Series(
            f"latency-{name}",
            f"Latency, {name}",
            "ns",
            Better.LOWER,
            "queue_depth",
            "1",
            "Queue depth",
            family="latency",
            statistic=name,
        )
        for name in STATISTICS
    ),
)


def ramp(
    *loads: int, outcome: Outcome | None = None, settings: dict[str, str] | None = None, best: float = 4e4
) -> StepRun:
    """Two samples a second of each load for two seconds, the latency its depth in ms."""
    step = Step("io.direct", "io.direct", "Direct I/O", settings or {}, 20.0, 60.0)
    run = StepRun(step, "sizeup", {one.name: one for one in SERIES}, "curve", SECOND, outcome=outcome)
    for number, load in enumerate(loads):
        at = {"queue_depth": load, "direction": "read"}
        for series in SERIES:
            point = Point(series.name, {"queue_depth": load} if series.name == "iops" else at)
            run.points[point_key(point.series, point.at)] = point
            value = (
                best / 4 * load
                if series.name == "iops"
                else load * 1e6 * (1 + STATISTICS.index(series.statistic or "mean"))
            )
            point.estimate = Estimate(series.name, point.at, value)
            if series.statistic != "mean":
                point.t_ns.extend(3 * SECOND + (number * 4 + piece) * SECOND // 2 for piece in range(4))
                point.values.extend([value] * 4)
                point.flags.extend([0] * 4)
    return run


OK = Outcome(Status.OK)


def test_a_timeline_begins_with_the_first_sample_and_ends_with_the_plan_while_it_runs() -> None:
    running, ended = timeline(ramp(1, 2)), timeline(ramp(1, 2, outcome=OK))

    assert running is not None
    assert ended is not None
    assert running.slices[0].t_ns == 0
    assert running.slices[0].ns == (2e6, 3e6, 4e6, 5e6)
    assert running.end_ns == 18 * SECOND  # 20 s are planned, of which the first sample took 2
    assert ended.end_ns == 3.5 * SECOND
    assert running.marks == ((0, "1"), (2 * SECOND, "2"))
    assert [value for _, value in running.rates] == [1e4] * 4 + [2e4] * 4


def test_the_time_of_a_run_beyond_its_estimate_grows_in_steps() -> None:
    run = ramp(1, 2)
    run = replace(run, step=replace(run.step, estimated_seconds=4.0))
    found = timeline(run)

    assert found is not None
    assert found.end_ns > 3.5 * SECOND


def test_a_step_without_percentiles_has_no_timeline() -> None:
    run = ramp(1, 2)
    points = {key: point for key, point in run.points.items() if point.series == "iops"}

    assert timeline(replace(run, points=points)) is None


def test_what_answers_first_is_how_it_goes_then_the_spread_of_one_load_or_the_curve() -> None:
    for run, first in ((ramp(1, 2), OVER_TIME), (ramp(4, outcome=OK), DISTRIBUTION), (ramp(1, 2, outcome=OK), "IOPS")):
        assert tabs(chart_list(run, None), leading(run))[0] == first
    assert has_one_load(ramp(4))
    assert not has_one_load(ramp(4, 8))


def with_counts(text: str) -> StepRun:
    run = ramp(4, outcome=OK)
    point = run.points[point_key("latency-mean", {"queue_depth": 4, "direction": "read"})]
    point.estimate = Estimate("latency-mean", point.at, 2e6, extra={"histogram": text})
    return run


def test_a_histogram_is_of_every_request_and_of_nothing_where_none_was_recorded() -> None:
    found = histogram(with_counts("1000000:50 2000000:30 9000000:x :3 4000000:20"))

    assert found is not None
    assert found.counts == ((1e6, 50), (2e6, 30), (4e6, 20))
    assert dict(found.named) == {"p50": 8e6, "p99": 16e6, "p99.9": 20e6}
    assert found.axis.title.endswith(" at QD 4")  # as the p99 at the knee is another one
    assert percentiles(with_counts("1000000:50")).axis.title == "Latency at QD 4"
    assert histogram(ramp(4)) is None


def test_the_interval_of_a_percentile_is_that_of_its_ranks_and_unknown_in_a_short_tail() -> None:
    few, many = (
        {
            bar.label: bar.high - bar.low if bar.high and bar.low else None
            for bar in percentiles(with_counts(counts)).bars
        }
        for counts in (" ".join(f"{1e6 * 1.045**n:.0f}:{count}" for n in range(100)) for count in (1, 100))
    )

    middle = 1e6 * 1.045**50
    assert few["p50"] is not None
    assert many["p50"] is not None
    assert 0.7 < few["p50"] / middle < 1.1  # 1.96 times the root of 100/4: ten buckets to each side
    assert 0.06 < many["p50"] / middle < 0.12  # one bucket
    assert few["p99"] is None
    assert many["p99"] is not None


@pytest.mark.parametrize(("count", "labels"), [(59_000, 0), (61_000, 1)])
def test_a_percentile_beyond_which_too_few_requests_lie_is_not_shown(count: int, labels: int) -> None:
    run = with_counts(f"1000000:{count}")
    point = run.points[point_key("latency-p50", {"queue_depth": 4, "direction": "read"})]
    point.estimate = Estimate("latency-p50", point.at, 1e6, extra={"p99_99_ns": 5e6})

    assert [bar.label for bar in percentiles(run).bars].count("p99.99") == labels


def test_a_percentile_that_too_few_samples_show_says_so() -> None:
    notes = {bar.label: bar.note for bar in percentiles(with_counts("1000000:20 2000000:21")).bars}

    assert notes["p99"] == notes["p99.9"] == "too few of 41 to tell"
    assert notes["p50"].startswith("±")


def test_percentiles_are_listed_from_the_least_up() -> None:
    values = [bar.value for bar in percentiles(with_counts("1000000:50")).bars]

    assert values == sorted(values)
    assert len(values) == 4


def test_recorded_counts_of_a_stranger_are_read_without_an_error() -> None:
    for text in ("", "a:b", "5", "5:", "-1:3", "7:0"):
        assert recorded_counts(next(iter(with_counts(text).points.values()))) == ()


def stored(host: str, day: str, run: StepRun) -> Session:
    session = Session(SessionRecord(2, f"{host}{day}", "sizeup", host, f"{day}T10:00:00Z"))
    session.steps[run.step.id] = run
    return session


def test_a_yardstick_holds_the_last_run_with_the_same_settings_and_is_absent_without_one() -> None:
    run = ramp(1, 4, outcome=OK)
    other = stored("vm", "2026-11-21", ramp(1, 4, outcome=OK, settings={"depth": "1"}))
    last = stored("vm", "2026-11-20", ramp(1, 4, outcome=OK, best=8e4))
    ours = stored("vm", "2026-11-22", run)

    found = yardstick(run, "vm", None, earlier_steps([ours, other, last], ours))
    assert found is not None
    assert (found.axis.title, found.axis.unit) == ("IOPS, higher is better", "IOPS")
    assert [(bar.label, bar.value, bar.role) for bar in found.bars] == [
        ("this run", 4e4, "series-0"),
        ("11-20", 8e4, "s3"),
    ]
    assert yardstick(run, "vm", None, earlier_steps([ours, other], ours)) is None


def test_a_yardstick_compares_the_same_load_where_the_knee_was_another() -> None:
    run, last = ramp(1, 4, outcome=OK), ramp(1, 4, 8, outcome=OK, best=5e4)
    found = yardstick(run, "vm", None, [Earlier("vm", "2026-11-20", last, None)])

    assert found is not None
    assert [bar.value for bar in found.bars] == [4e4, 5e4]


def test_a_yardstick_compares_the_same_curve_though_another_was_faster_before() -> None:
    runs = []
    for best in (4e4, 1e4):
        made = ramp(1, 4, outcome=OK, best=best)
        made.points.clear()
        for name, iops in (("a", best), ("b", 2e4)):
            point = Point("iops", {"queue_depth": 4, "workload": name})
            point.estimate = Estimate(point.series, point.at, iops)
            made.points[point_key(point.series, point.at)] = point
        runs.append(made)
    found = yardstick(runs[0], "vm", None, [Earlier("vm", "2026-11-20", runs[1], None)])

    assert found is not None
    assert [bar.value for bar in found.bars] == [4e4, 1e4]


def test_a_curve_has_the_last_run_behind_it_and_its_best_point_named() -> None:
    run, last = ramp(1, 4, outcome=OK), ramp(1, 4, outcome=OK, best=8e4)
    chart = step_chart(run, None)
    assert isinstance(chart, LineChart)

    found = compared(chart, run, last_run(run, "vm", [Earlier("vm", "2026-11-20", last, None)]))
    assert [(line.label, line.earlier) for line in found.lines] == [("IOPS", False), ("2026-11-20", True)]
    assert [(one.x, one.y, one.words) for one in found.callouts] == [(4.0, 4e4, ("40k IOPS", "best"))]
    assert [line.earlier for line in compared(chart, run, None).lines] == [False]


def test_a_point_that_is_not_the_highest_of_its_chart_is_named_as_the_knee() -> None:
    run = ramp(1, 4, 8, outcome=OK)
    run.series["knee"] = Series("knee", "Knee", "1", Better.NEITHER, quantities=(SeriesQuantity("load.knee"),))
    knee = Point("knee", {}, estimate=Estimate("knee", {}, 4.0))
    run.points[point_key("knee", {})] = knee
    chart = step_chart(run, None)
    assert isinstance(chart, LineChart)

    assert [(one.x, one.words) for one in compared(chart, run, None).callouts] == [(4.0, ("40k IOPS", "knee"))]
