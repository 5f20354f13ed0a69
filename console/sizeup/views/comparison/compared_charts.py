"""The curves of two runs of the same step in one picture each."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from sizeup.charts.chart import Chart, LineChart, Scale
from sizeup.compare.comparison import Comparison
from sizeup.compare.digest import WORKLOAD
from sizeup.session.reader import read_session
from sizeup.session.value import Session, StepRun
from sizeup.views.cards.panels import of_quantities
from sizeup.views.comparison.answer import leading_card, side_names
from sizeup.views.run.points import RATES, value_scale
from sizeup.views.run.step import step_chart

_ABOVE = 1.05
"""Where the axis of a rate ends, as a multiple of the highest value."""


def compared_files(comparison: Comparison) -> LineChart | None:
    """Return the leading curve of the first session of each side; None where a side is a published case."""
    firsts = [side[0] for side in comparison.sides if side and not side[0].source]
    if len(firsts) < len(comparison.sides):
        return None
    new, baseline = (read_session(first.path) for first in firsts)
    return next(iter(compared_curves(new, baseline, side_names(comparison), leading_card(comparison))), None)


def compared_curves(first: Session, base: Session, names: tuple[str, str], card: str = "") -> tuple[LineChart, ...]:
    """Return each curve that both sessions measured, the longest first, the earlier one beside it.

    ``names`` are those of the baseline and of the new side. Curves of a ``card`` come before others.
    """
    pairs = [
        (run.declaration.card == card, chart, line, theirs)
        for run, chart, other in _pairs(first, base)
        for line in chart.lines
        for theirs in other.lines
        if line.label == theirs.label and min(len(line.points), len(theirs.points)) > 1
    ]
    pairs.sort(key=lambda pair: (pair[0], *sorted(len(line.points) for line in pair[2:])), reverse=True)
    found = []
    for _, chart, line, theirs in pairs:
        rate = chart.y.unit in RATES  # from zero, so that a share that is lost is seen as one
        values = [point.y for one in (line, theirs) for point in one.points]
        scale, high = (Scale.LINEAR, max(values) * _ABOVE) if rate else (value_scale(values), None)
        said = line.label == chart.y.title or bool(line.where and line.title in chart.title)
        subject = line.where if said else line.label
        both = replace(line, label=names[1], where=""), replace(theirs, label=names[0], where="", earlier=True)
        title = ": ".join(filter(None, (chart.title, subject)))
        y = replace(chart.y, scale=scale, low=None, high=high)
        found.append(replace(chart, title=title, y=y, lines=both, shows_change=True))
    return tuple(found)


def _pairs(first: Session, base: Session) -> Iterator[tuple[StepRun, LineChart, LineChart]]:
    """Yield each step that both sessions ran for the same workload with both charts, the last one first."""
    theirs = {run.base_id: run for run in base.steps.values() if run.points}
    seen: set[str] = set()
    for ours in reversed(first.steps.values()):
        other = theirs.get(ours.base_id)
        if other is None or not ours.points or ours.base_id in seen:
            continue
        seen.add(ours.base_id)
        if _workloads(ours) and _workloads(other) and not _workloads(ours) & _workloads(other):
            continue  # in one picture they would look like one measurement on two machines
        match _chart(ours, first), _chart(other, base):
            case (LineChart() as left, LineChart() as right) if (left.x.unit, left.y.unit) == (
                right.x.unit,
                right.y.unit,
            ):
                shared = tuple(boundary for boundary in left.boundaries if boundary in right.boundaries)
                yield ours, replace(left, boundaries=shared), right


def _workloads(run: StepRun) -> set[str]:
    return {str(point.at[WORKLOAD]) for point in run.points.values() if WORKLOAD in point.at}


def _chart(run: StepRun, session: Session) -> Chart:
    """Return the chart of a step, of a curve the lines of the quantities that people compare."""
    chart = step_chart(run, session.machine)
    return of_quantities(chart, run) if isinstance(chart, LineChart) else chart
