"""Two runs of the same step in one picture."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from sizeup.charts.chart import BarChart, Chart, LineChart
from sizeup.compare.digest import WORKLOAD
from sizeup.session.value import Session, StepRun
from sizeup.views.cards.panels import of_quantities
from sizeup.views.run.step import step_chart


def compared_charts(first: Session, base: Session, labels: tuple[str, str]) -> tuple[Chart, ...]:
    """A picture for each step that both sessions ran, the last one first, each line or bar named by its side.

    A matrix has no place for another one, nor has an axis for another unit, and other workloads are not compared: those
    steps have none.
    """
    return tuple(_overlays(first, base, labels))


def _overlays(first: Session, base: Session, labels: tuple[str, str]) -> Iterator[Chart]:
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
            case (LineChart() as left, LineChart() as right) if _units(left) == _units(right):
                # What a single line is, the axis says.
                alone = len(left.lines) == len(right.lines) == 1 and left.lines[0].label == right.lines[0].label
                lines = tuple(
                    replace(line, label=label if alone else f"{label}: {line.label}")
                    for label, chart in zip(labels, (left, right), strict=True)
                    for line in chart.lines
                )
                shared = tuple(boundary for boundary in left.boundaries if boundary in right.boundaries)
                yield replace(left, lines=lines, boundaries=shared)
            case (BarChart() as left, BarChart() as right) if left.axis.unit == right.axis.unit:
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
