"""The charts and courses of the first page: those of the steps that lead the cards."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts import text_alternative
from sizeup.charts.chart import Chart, LineChart, Scale
from sizeup.session.value import Session
from sizeup.text import capitalized
from sizeup.views.cards.cards import CardView
from sizeup.views.cards.panels import panels
from sizeup.views.run.finished import finished_charts
from sizeup.views.run.run_status import RunGrade, validity_grade

_MOST_CHARTS = 2
"""What the first page has room for; the chapters hold all of them."""
_LEAST_POINTS = 3
"""Of a course: fewer are figures."""
_LARGEST = 1e150
"""Differences between larger values leave the range of a float."""


class ShownChart(Struct, frozen=True):
    """One of the charts of the first page."""

    chart: Chart
    figures: str
    """What it shows, in a line."""
    grade: RunGrade
    """``PASS``, ``WARN`` where some of its figures are not valid, or ``FAIL`` where none is."""
    invalid: str
    """Why figures of it are not valid; empty where all are."""


def trends(session: Session, cards: Sequence[CardView]) -> dict[str, tuple[float, ...]]:
    """Return the values of the longest line of each card's leading chart, where it has enough points for a course."""
    courses = {}
    for card in cards:
        for step in card.found.steps[:1] if card.found.valid else ():
            chart = _leading_chart(session, step)
            if isinstance(chart, LineChart) and _is_curve(chart):
                points = max((line.points for line in chart.lines), key=len)
                logarithmic = chart.y.scale is not Scale.LINEAR and all(point.y > 0 for point in points)
                course = tuple(math.log10(point.y) if logarithmic else point.y for point in points)
                if max(map(abs, course)) < _LARGEST:
                    courses[card.resource] = course
    return courses


def leading_charts(session: Session, cards: Sequence[CardView]) -> tuple[ShownChart, ...]:
    """Return the charts that the first screen of the console has, storage and memory first; other steps last."""
    found = [(panel.step, replace(panel.chart, title=panel.title)) for panel in panels(session, session.machine, cards)]
    leading = {step for step, _ in found}
    rest = [step for step, run in session.steps.items() if step not in leading and run.points]
    found += [(step, chart) for step in rest if (chart := _leading_chart(session, step)) is not None]
    shown = []
    for step, chart in found[:_MOST_CHARTS]:
        grade, invalid = validity_grade(session.steps[step])
        shown.append(ShownChart(chart, text_alternative.value_range(chart), grade, capitalized(invalid)))
    return tuple(shown)


def _leading_chart(session: Session, step: str) -> Chart | None:
    """The first curve of a step, else its first chart with values; None where it has none."""
    charts = [
        chart for chart in finished_charts(session.steps[step], session.machine) if text_alternative.value_range(chart)
    ]
    return next((chart for chart in charts if _is_curve(chart)), next(iter(charts), None))


def _is_curve(chart: Chart) -> bool:
    return isinstance(chart, LineChart) and any(len(line.points) >= _LEAST_POINTS for line in chart.lines)
