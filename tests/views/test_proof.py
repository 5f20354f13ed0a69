"""The measured curve under a verdict: whose axis the demand may stand on."""

import pytest
from msgspec.structs import replace

from sizeup.charts.chart import DemandLine
from sizeup.model.advice import AdviceSet, Bounds, Card, ShareFacts
from sizeup.model.sample import Estimate
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.views.cards.cards import card_views
from sizeup.views.cards.proof import proof_chart
from views.test_panels import step

HEADER = SessionRecord(format=1, id="1", tool="sizeup", host="db01", started="2026-01-31T09:30:00Z")
JUDGED = Card(
    "storage",
    "pass",
    share=0.25,
    demand="20,000 IOPS",
    facts=ShareFacts(Bounds(20_000, 20_000, 20_000), Bounds(80_000, 80_000, 80_000), "IOPS"),
)


def reads() -> StepRun:
    at = [{"workload": "oltp-read", "queue_depth": depth} for depth in (1, 8, 64)]
    rates = [Estimate("iops", one, 1e4 * number) for number, one in enumerate(at, 1)]
    return step("io.direct", "curve", *rates, *(Estimate("latency-p99", one, 1e6) for one in at))


def mixed() -> StepRun:
    """Reads up to 140k IOPS in four steps, and a mix up to 80k in three."""
    reads, mix = (
        [{"workload": load, "queue_depth": depth} for depth in depths]
        for load, depths in (("oltp-read", (1, 8, 32, 64)), ("oltp-7030", (1, 8, 64)))
    )
    rates = [(one, 35e3 * number) for number, one in enumerate(reads, 1)]
    rates += [(one, most) for one, most in zip(mix, (1e4, 4e4, 8e4), strict=True)]
    latencies = [Estimate("latency-p99", one, 1e6) for one, _ in rates]
    return step("io.direct", "curve", *(Estimate("iops", one, rate) for one, rate in rates), *latencies)


def commits() -> StepRun:
    at = [{"method": "fdatasync", "committers": count} for count in (1, 8, 64)]
    rates = [Estimate("commits", one, 1e3 * number) for number, one in enumerate(at, 1)]
    return step("io.commit", "curve", *rates, *(Estimate("latency-p99", one, 1e6) for one in at))


def scans() -> StepRun:
    """Small reads up to 140k IOPS, and scans up to 3 GB/s."""
    run = mixed()
    at = [{"workload": "dss-seq", "queue_depth": depth} for depth in (1, 8)]
    rates = [Estimate("rate", one, 1.5e9 * number) for number, one in enumerate(at, 1)]
    for one in (*rates, *(Estimate("latency-p99", one, 2e6) for one in at)):
        run.points[point_key(one.series, one.at)] = Point(one.series, one.at, estimate=one)
    return run


def proof(*runs: StepRun) -> tuple[str, DemandLine | None] | None:
    session = Session(HEADER, steps={run.step.id: run for run in runs})
    view = next(one for one in card_views(AdviceSet(cards=(JUDGED,)), None, session) if one.resource == "storage")
    found = proof_chart(session, view)
    return None if found is None else (found[0], found[1].demand)


def test_a_demand_in_iops_does_not_stand_on_an_axis_of_commits() -> None:
    assert proof(commits()) == ("io.commit", None)


@pytest.mark.parametrize("runs", [(commits(), reads()), (reads(), commits())])
def test_the_ramp_of_what_is_judged_comes_first_with_the_demand(runs: tuple[StepRun, ...]) -> None:
    found = proof(*runs)

    assert found is not None
    assert found[0] == "io.direct"
    assert found[1] is not None
    assert found[1].x == 20_000


def test_of_several_loads_the_curve_is_that_of_the_capacity_so_that_it_ends_where_what_is_spare_does() -> None:
    run = mixed()
    session = Session(HEADER, steps={run.step.id: run})
    view = next(one for one in card_views(AdviceSet(cards=(JUDGED,)), None, session) if one.resource == "storage")
    found = proof_chart(session, view)

    assert found is not None
    chart = found[1]
    assert chart.demand is not None
    assert (chart.demand.limit, chart.demand.difference) == (80_000, ("60k", "spare"))
    assert max(point.x for line in chart.lines for point in line.points) == 80_000


def test_nothing_is_spare_while_the_verdict_is_not_certain() -> None:
    run, card = mixed(), replace(JUDGED, status="uncertain")
    session = Session(HEADER, steps={run.step.id: run})
    view = next(one for one in card_views(AdviceSet(cards=(card,)), None, session) if one.resource == "storage")
    found = proof_chart(session, view)

    assert found is not None
    assert found[1].demand is not None
    assert (found[1].demand.limit, found[1].demand.difference) == (None, ())


@pytest.mark.parametrize(("verdict", "words"), [(1.0, "Limit of the path"), (0.0, "Not valid")])
def test_the_end_of_a_curve_that_is_not_valid_is_no_limit_of_the_path(verdict: float, words: str) -> None:
    run = reads()
    for one in [Estimate("validity", {"part": part}, verdict) for part in ("direct", "all")]:
        run.points[point_key(one.series, one.at)] = Point(one.series, one.at, estimate=one)
    view = next(one for one in card_views(AdviceSet(cards=(JUDGED,)), None, None) if one.resource == "storage")
    found = proof_chart(Session(HEADER, steps={run.step.id: run}), view)

    assert found is not None
    assert found[1].callouts[0].words[0] == words


def test_a_load_of_one_point_has_the_curve_of_another_beside_it() -> None:
    run = mixed()
    for key, point in [*run.points.items()]:
        if point.at["workload"] == "oltp-7030" and point.at["queue_depth"] != 64:
            del run.points[key]
    view = next(one for one in card_views(AdviceSet(cards=(JUDGED,)), None, None) if one.resource == "storage")
    found = proof_chart(Session(HEADER, steps={run.step.id: run}), view)

    assert found is not None
    assert [(len(line.points), line.earlier) for line in found[1].lines] == [(1, False), (4, False)]


def test_a_demand_in_bytes_stands_on_an_axis_of_bytes_with_what_is_missing() -> None:
    facts = ShareFacts(Bounds(4e9, 4e9, 4e9), Bounds(3e9, 3e9, 3e9), "MB/s")
    card = replace(JUDGED, status="fail", share=4 / 3, demand="4,000 MB/s", facts=facts)
    run = scans()
    view = next(one for one in card_views(AdviceSet(cards=(card,)), None, None) if one.resource == "storage")
    found = proof_chart(Session(HEADER, steps={run.step.id: run}), view)

    assert found is not None
    assert found[1].x.unit == "bytes/s"
    assert max(point.x for point in found[1].lines[0].points) == 3e9
    assert found[1].demand is not None
    assert (found[1].demand.x, found[1].demand.words[1], found[1].demand.status) == (4e9, "4,000 MB/s", "fail")
