"""Two runs of the same step in one picture."""

from __future__ import annotations

from msgspec.structs import replace

from sizeup.session.value import Session
from sizeup.views.chart import BarChart, Chart, LineChart
from sizeup.views.step import step_chart


def overlay(first: Session, base: Session, labels: tuple[str, str]) -> Chart | None:
    """The last step that both sessions ran, each line or bar named by its side; None where they share none."""
    theirs = {run.base_id: run for run in base.steps.values() if run.points}
    for ours in reversed(first.steps.values()):
        other = theirs.get(ours.base_id)
        if other is None or not ours.points:
            continue
        pictures = (step_chart(ours, first.machine), step_chart(other, base.machine))
        match pictures:
            case (LineChart() as left, LineChart() as right) if (left.x.unit, left.y.unit) == (
                right.x.unit,
                right.y.unit,
            ):
                lines = tuple(
                    replace(line, label=f"{label}: {line.label}")
                    for label, chart in zip(labels, (left, right), strict=True)
                    for line in chart.lines
                )
                return replace(left, lines=lines, boundaries=left.boundaries)
            case (BarChart() as left, BarChart() as right) if left.axis.unit == right.axis.unit:
                known = {bar.label: bar for bar in right.bars}
                bars = tuple(
                    replace(bar, label=f"{label}: {bar.label}")
                    for mine in left.bars
                    for label, bar in ((labels[0], mine), (labels[1], known.get(mine.label)))
                    if bar is not None
                )
                return replace(left, bars=bars)
            case _:
                continue
    return None


def _units(chart: LineChart) -> tuple[str, str]:
    return chart.x.unit, chart.y.unit
