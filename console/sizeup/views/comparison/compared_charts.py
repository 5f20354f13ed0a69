"""Two runs of the same step in one picture."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from sizeup.charts.chart import BarChart, Chart, LineChart, Scale
from sizeup.compare.comparison import Comparison
from sizeup.compare.digest import WORKLOAD
from sizeup.session.reader import read_session
from sizeup.session.value import Session, StepRun
from sizeup.views.cards.panels import of_quantities
from sizeup.views.comparison.answer import leading_card, side_names
from sizeup.views.run.points import RATES, value_scale
from sizeup.views.run.step import step_chart


def compared_charts(first: Session, base: Session, labels: tuple[str, str]) -> tuple[Chart, ...]:
    """A picture for each step that both sessions ran, the last one first, each line or bar named by its side.

    A matrix has no place for another one, nor has an axis for another unit, and other workloads are not compared: those
    steps have none.
    """
    return tuple(_overlays(first, base, labels))


def compared_files(comparison: Comparison) -> LineChart | None:
    """Return the leading curve of the first session of each side; None where a side is a published case."""
    firsts = [side[0] for side in comparison.sides if side and not side[0].source]
    if len(firsts) < len(comparison.sides):
        return None
    new, baseline = (read_session(first.path) for first in firsts)
    return leading_overlay(new, baseline, side_names(comparison), leading_card(comparison))


def leading_overlay(first: Session, base: Session, names: tuple[str, str], card: str = "") -> LineChart | None:
    """Return the longest curve that both sessions measured, the earlier one beside it; None where there is none.

    ``names`` are those of the baseline and of the new side. Curves of a ``card`` come before others.
    """
    pairs = [
        (run.declaration.card == card, left, line, theirs)
        for run, left, right in _pairs(first, base)
        if isinstance(left, LineChart) and isinstance(right, LineChart)
        for line in left.lines
        for theirs in right.lines
        if line.label == theirs.label
    ]
    if not pairs:
        return None
    _, chart, *lines = max(pairs, key=lambda pair: (pair[0], *sorted(len(line.points) for line in pair[2:])))
    if min(len(line.points) for line in lines) < len(("one", "other")):
        return None
    rate = chart.y.unit in RATES  # from zero, so that a share that is lost is seen as one
    scale = Scale.LINEAR if rate else value_scale([point.y for line in lines for point in line.points])
    subject = "" if lines[0].label == chart.y.title else lines[0].label
    return replace(
        chart,
        title=": ".join(filter(None, (chart.title, subject))),
        y=replace(chart.y, scale=scale, low=None, high=None),
        lines=(
            replace(lines[0], label=names[1], where=""),
            replace(lines[1], label=names[0], where="", earlier=True),
        ),
    )


def _pairs(first: Session, base: Session) -> Iterator[tuple[StepRun, Chart, Chart]]:
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
        left, right = _chart(ours, first), _chart(other, base)
        if not isinstance(left, LineChart) or not isinstance(right, LineChart) or _units(left) == _units(right):
            yield ours, left, right


def _overlays(first: Session, base: Session, labels: tuple[str, str]) -> Iterator[Chart]:
    for _, *both in _pairs(first, base):
        match both:
            case LineChart() as left, LineChart() as right:
                # What a single line is, the axis says.
                alone = len(left.lines) == len(right.lines) == 1 and left.lines[0].label == right.lines[0].label
                lines = tuple(
                    replace(line, label=label if alone else f"{label}: {line.label}", earlier=chart is right)
                    for label, chart in zip(labels, (left, right), strict=True)
                    for line in chart.lines
                )
                shared = tuple(boundary for boundary in left.boundaries if boundary in right.boundaries)
                yield replace(left, lines=lines, boundaries=shared)
            case BarChart() as left, BarChart() as right if left.axis.unit == right.axis.unit:
                known = {bar.label: bar for bar in right.bars}
                bars = tuple(
                    replace(bar, label=f"{label}: {bar.label}")
                    for mine in left.bars
                    for label, bar in ((labels[0], mine), (labels[1], known.get(mine.label)))
                    if bar is not None
                )
                yield replace(left, bars=bars)


def _workloads(run: StepRun) -> set[str]:
    return {str(point.at[WORKLOAD]) for point in run.points.values() if WORKLOAD in point.at}


def _chart(run: StepRun, session: Session) -> Chart:
    """Return the chart of a step, of a curve the lines of the quantities that people compare."""
    chart = step_chart(run, session.machine)
    return of_quantities(chart, run) if isinstance(chart, LineChart) else chart


def _units(chart: LineChart) -> tuple[str, str]:
    return chart.x.unit, chart.y.unit
