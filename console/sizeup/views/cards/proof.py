"""The measured curve that a verdict on the storage rests on, with the demand and what is missing or spare."""

from __future__ import annotations

from msgspec.structs import replace

from sizeup.charts.chart import Callout, DemandLine, Line, LineChart
from sizeup.model.advice import Card
from sizeup.session.value import Session
from sizeup.sizing.verdict import demand_text
from sizeup.units import base_unit, format_count, format_value
from sizeup.views.cards.cards import CardView
from sizeup.views.run.latency_throughput import latency_throughput

_STATISTICS = ("p99", "p50", "mean")
_STATUSES = {"fail": "fail", "pass": "pass"}


def proof_chart(session: Session, view: CardView | None) -> tuple[str, LineChart] | None:
    """Return the step of a ramp and its latency over throughput with the demand on it; None where none was measured."""
    if view is None:
        return None
    for step in (*view.found.steps, *session.steps):
        run = session.steps.get(step)
        chart = None if run is None or run.declaration.card != "storage" else latency_throughput(run, _STATISTICS)
        if chart is not None:
            line = max(chart.lines, key=lambda line: len(line.points))
            return step, replace(
                chart,
                title="",
                x=replace(chart.x, low=0.0),
                lines=(line,),
                boundaries=(),
                demand=_demand(view.judged, chart),
                callouts=_limit(chart, line),
                labels="",
            )
    return None


def _limit(chart: LineChart, line: Line) -> tuple[Callout, ...]:
    """Return the end of the curve in words: where the path has its limit."""
    most = max(line.points, key=lambda point: point.x)
    return (Callout(most.x, most.y, ("Limit of the path", f"{format_value(most.x, chart.x.unit)}, {line.label}")),)


def _demand(card: Card, chart: LineChart) -> DemandLine | None:
    """Return the demand of a card on the axis of a chart; None where it is in another unit."""
    facts = card.facts
    if facts is None or base_unit(facts.unit)[0] != chart.x.unit or not facts.demand.value:
        return None
    limit = facts.capacity.value
    missing = facts.demand.value - limit
    words = format_count(abs(missing), "") if chart.x.unit == "1/s" else format_value(abs(missing), chart.x.unit)
    return DemandLine(
        facts.demand.value,
        _STATUSES.get(card.status, "warn"),
        ("Demand", demand_text(facts)),
        limit,
        (words, "short" if missing > 0 else "spare"),
    )
