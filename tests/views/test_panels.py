"""The charts of the first screen: which there are, what their titles say, and which lines they have."""

from msgspec.structs import replace

from declared import declaration_of, series_of
from sizeup.charts.chart import LineChart, Scale
from sizeup.model.advice import AdviceSet
from sizeup.model.plan import Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.views.cards.cards import card_views
from sizeup.views.cards.panels import Panel, panels

CLOCKS = ("rdtsc", "gettimeofday", "clock_gettime-realtime", "clock_gettime-monotonic")


def step(probe: str, chart: str, *estimates: Estimate) -> StepRun:
    run = StepRun(Step(probe, probe, f"Step of {probe}", {}, 1.0, 2.0), "sizeup", series_of(probe), chart, 0)
    run.outcome = Outcome(Status.OK)
    run.declaration = declaration_of(probe)
    for one in estimates:
        run.points[point_key(one.series, one.at)] = Point(one.series, one.at, estimate=one)
    return run


def load(workload: str, depth: int, **more: str) -> Coordinates:
    return {"workload": workload, "queue_depth": depth, **more}


def storage(*others: Estimate) -> StepRun:
    small = [Estimate("iops", load("oltp-read", depth), 1e4 * depth, low=0.0, high=9e5) for depth in (1, 4, 8)]
    large = [Estimate("iops", load("dss-rand", depth, pages="huge"), 2e3) for depth in (1, 4, 8)]
    rate = [Estimate("rate", load("oltp-read", depth), 8e7 * depth) for depth in (1, 4, 8)]
    wide = [Estimate("rate", load("dss-rand", depth, pages="huge"), 4e9) for depth in (1, 4, 8)]
    return step("io.direct", "curve", *small, *large, *rate, *wide, *others)


def found(*runs: StepRun) -> tuple[Panel, ...]:
    header = SessionRecord(format=1, id="1", tool="sizeup", host="db01", started="2026-01-31T09:30:00Z")
    session = Session(header, steps={run.step.id: run for run in runs})
    return tuple(panels(session, None, card_views(AdviceSet(), None, session)))


def clock() -> StepRun:
    return step("clock.cost", "bars", *(Estimate("cost", {"method": name}, 10.0) for name in CLOCKS))


def memory() -> StepRun:
    sizes = (16384, 1 << 20, 1 << 30)
    return step("memory.latency", "curve", *(Estimate("dram-thp", {"working_set_bytes": size}, 5.0) for size in sizes))


def test_each_card_has_one_chart_storage_and_memory_first() -> None:
    assert [panel.title for panel in found(clock(), memory(), storage())] == [
        "Storage: IOPS by queue depth",
        "Memory: latency by working set",
        "Clock: cost per call",
    ]


def test_a_panel_names_its_lines_in_words_and_shows_what_its_card_is_about() -> None:
    first, _ = (panel.chart for panel in found(storage(), memory()))

    assert isinstance(first, LineChart)
    assert [line.label for line in first.lines] == ["IOPS random read 8 KiB"]
    assert (first.title, first.y.low) == ("", None)
    assert first.y.scale is Scale.LINEAR  # not logarithmic because of lines that are not shown


def test_an_interval_wider_than_half_of_its_value_is_not_drawn() -> None:
    chart = found(storage())[0].chart

    assert isinstance(chart, LineChart)
    assert all(point.low is None and point.high is None for point in chart.lines[0].points)


def test_a_run_that_is_not_valid_says_so_in_its_title_and_why_below() -> None:
    verdicts = [
        Estimate("validity", {"part": part}, 0.0, extra={"reasons": "steady: it fell"}) for part in ("steady", "all")
    ]
    first = found(storage(*verdicts))[0]

    assert first.title == "Not valid: Storage: IOPS by queue depth"
    assert first.note == "throughput was not steady"


def test_the_chart_is_of_the_run_whose_figure_the_table_has() -> None:
    """Of two runs of which neither converged, the table has the last."""
    runs = []
    for name, dram in (("memory.latency", 211.0), ("memory.latency~2", 259.0)):
        points = [("dram-thp", {"working_set_bytes": 1 << 30}), ("dram-thp-level", {"level": "DRAM"})]
        open_ = [Estimate(series, at, dram, dram / 2, dram * 2, converged=False) for series, at in points]
        one = step("memory.latency", "curve", *open_)
        runs.append(replace(one, step=replace(one.step, id=name)))
    header = SessionRecord(format=1, id="1", tool="sizeup", host="db01", started="2026-01-31T09:30:00Z")
    session = Session(header, steps={run.step.id: run for run in runs})
    cards = card_views(AdviceSet(), None, session)
    (panel,) = panels(session, None, cards)

    assert next(card.found.texts for card in cards if card.resource == "memory") == ("259 ns, not converged",)
    assert panel.step == "memory.latency~2"
