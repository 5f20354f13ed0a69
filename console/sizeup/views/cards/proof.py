"""The measured curve that a verdict on the storage rests on, with the demand and what is missing or spare."""

from __future__ import annotations

from msgspec.structs import replace

from sizeup.charts.chart import Callout, DemandLine, Line, LineChart
from sizeup.model.advice import Card
from sizeup.session.validity import StepValidity
from sizeup.session.value import Session, StepRun
from sizeup.sizing.inputs.measured import IOPS, RATES
from sizeup.sizing.inputs.uncertainty import MIXED, WITHIN_P99
from sizeup.sizing.verdict import ShareStatus, demand_text
from sizeup.units import base_unit, format_count, format_value
from sizeup.views.cards.cards import CardView
from sizeup.views.run.latency_throughput import latency_throughput, throughput_series
from sizeup.views.run.points import points_of

_STATISTICS = ("p99", "p50", "mean")
_JUDGED = frozenset({IOPS, *MIXED, WITHIN_P99, *RATES})
"""What the demand of a workload is held against; commits and log writes are none of it."""
_STATUSES = {"fail": "fail", "pass": "pass"}


def proof_chart(session: Session, view: CardView | None) -> tuple[str, LineChart] | None:
    """Return the step of a ramp and its latency over throughput; None where none was measured.

    A ramp of what the storage is judged by comes first, with the demand on it; that of anything else has no demand.
    """
    if view is None:
        return None
    found, facts = [], view.judged.facts
    unit = "" if facts is None else base_unit(facts.unit)[0]
    for step in dict.fromkeys((*view.found.steps, *session.steps)):
        run = session.steps.get(step)
        chart = None if run is None or run.declaration.card != "storage" else latency_throughput(run, _STATISTICS, unit)
        if run is None or chart is None:
            continue
        judged_lines = [one for one in chart.lines if _is_judged(run, one, unit)]
        judged = bool(judged_lines)
        # Of several loads the one that the capacity is of: what is spare ends where the curve does.
        lines = judged_lines or list(chart.lines)
        limit = None if facts is None or unit != chart.x.unit else facts.capacity.value
        lines.sort(key=lambda one: -len(one.points))
        line = min(lines, key=lambda one: 0.0 if limit is None else abs(max(at.x for at in one.points) - limit))
        most = max(line.points, key=lambda point: point.x)
        valid = most.key not in run.points or StepValidity(run).of(run.points[most.key]) is None
        limit_name = "Limit of the path" if valid else "Not valid"
        rate = chart.x.unit == "1/s"
        end = f"{format_count(most.x, '')} {chart.x.title}" if rate else format_value(most.x, chart.x.unit)
        beside = [one for one in chart.lines if len(line.points) == 1 < len(one.points)][:1]
        shown = replace(
            chart,
            title="",
            x=replace(chart.x, low=0.0),
            y=chart.y if beside else replace(chart.y, title=line.label),  # no legend of a page says of what one line is
            lines=(line, *beside),  # a point alone is no curve
            boundaries=(),
            demand=_demand(view.judged, chart) if judged else None,
            callouts=(Callout(most.x, most.y, (limit_name, end)),),
            labels="",
        )
        found.append((not judged, step, shown))
    return min(found, key=lambda one: one[0])[1:] if found else None


def _is_judged(run: StepRun, line: Line, unit: str) -> bool:
    """Whether the throughput of a line is a quantity that a demand on the storage is held against."""
    throughput = throughput_series(run, unit)
    at = next(run.points[point.key].at for point in line.points if point.key in run.points)
    loads = () if throughput is None else points_of(run, throughput.name)
    declared = next((run.quantity(load) for load in loads if load.at.items() <= at.items()), None)
    return declared is not None and declared.name in _JUDGED


def _demand(card: Card, chart: LineChart) -> DemandLine | None:
    """Return the demand of a card on the axis of a chart; None where it is in another unit."""
    facts = card.facts
    if facts is None or base_unit(facts.unit)[0] != chart.x.unit or not facts.demand.value:
        return None
    limit, certain = facts.capacity.value, card.status != ShareStatus.UNCERTAIN.value
    missing = facts.demand.value - limit
    words = format_count(abs(missing), "") if chart.x.unit == "1/s" else format_value(abs(missing), chart.x.unit)
    return DemandLine(
        facts.demand.value,
        _STATUSES.get(card.status, "warn"),
        ("Demand", demand_text(facts)),
        limit if certain else None,
        (words, "short" if missing > 0 else "spare") if certain else (),
    )
