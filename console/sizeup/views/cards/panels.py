"""The charts of the first screen and page: one for each card of which something was measured, titled in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts import text_alternative
from sizeup.charts.chart import Axis, BarChart, Chart, ChartPoint, LineChart, Scale
from sizeup.model.machine import Machine
from sizeup.session.validity import StepValidity
from sizeup.session.value import Session, StepRun
from sizeup.text import uncapitalized
from sizeup.views.cards.cards import CardView
from sizeup.views.cards.proof import proof_chart
from sizeup.views.run.finished import chart_keys, finished_charts
from sizeup.views.run.points import RATES, value_scale

_ORDER = ("storage", "memory", "cpu", "network", "clock")
"""The cards in the order of their charts; others follow."""
_MOST_BARS = 3
"""So many can be compared without a logarithm."""
_WORDS = {"ns": "latency", "bytes/s": "throughput"}
"""What the values of a unit are, where the title of a series says how they were measured."""
_WIDE_SHARE = 0.5
"""An interval wider than this to either side of its value says no more than that it is wide."""
_MOST_CHARTS = 2
"""What the first page has room for; the chapters hold all of them."""


class Panel(Struct, frozen=True):
    """A chart with the title that stands above it."""

    title: str
    """The card, and the quantity in words: ``Storage: IOPS by queue depth``."""
    chart: Chart
    """Without a title of its own."""
    step: str
    """The step that measured it."""
    note: str = ""
    """What a reader must know of its figures; empty where all of them are valid."""


def panels(session: Session, machine: Machine | None, cards: Sequence[CardView]) -> Iterator[Panel]:
    """Yield the leading chart of each card of which something was measured, storage and memory first."""
    known = {card.resource: card for card in cards}
    for name in dict.fromkeys((*_ORDER, *known)):
        card = known.get(name)
        run = session.steps.get(card.found.steps[0]) if card is not None and card.found.steps else None
        chart = None if run is None else _leading(run, machine)
        if card is not None and run is not None and chart is not None:
            bare = of_quantities(chart, run) if isinstance(chart, LineChart) else chart
            if isinstance(bare, BarChart):
                # The lengths of a few bars can be compared without a logarithm.
                axis = Axis("", bare.axis.unit) if len(bare.bars) <= _MOST_BARS else replace(bare.axis, title="")
                bare = replace(bare, axis=axis)
            yield _panel(f"{card.title}: {_title(chart)}", replace(bare, title="", caption=""), run)


def leading_charts(session: Session, cards: Sequence[CardView]) -> tuple[Panel, ...]:
    """Return the proof of the verdict on the storage, then the charts of cards, then those of other steps."""
    proof = proof_chart(session, next((card for card in cards if card.resource == "storage"), None))
    found = []
    if proof is not None:
        run = session.steps[proof[0]]
        found.append(_panel(run.step.title, proof[1], run))
    found += [one for one in panels(session, session.machine, cards) if proof is None or one.step != proof[0]]
    shown = {panel.step for panel in found}
    others = ((run, _leading(run, session.machine)) for step, run in session.steps.items() if step not in shown)
    found += [_panel(chart.title, chart, run) for run, chart in others if chart is not None]
    return tuple(found[:_MOST_CHARTS])


def _leading(run: StepRun, machine: Machine | None) -> Chart | None:
    """Return the first curve of a step, else its first chart with values; None where it has none."""
    charts = [chart for chart in finished_charts(run, machine) if text_alternative.value_range(chart)]
    curves = (
        chart for chart in charts if isinstance(chart, LineChart) and any(len(one.points) > 1 for one in chart.lines)
    )
    return next(curves, next(iter(charts), None))


def _panel(title: str, chart: Chart, run: StepRun) -> Panel:
    """Return a chart with what a reader must know of its figures."""
    validity = StepValidity(run)
    note = ""
    if validity.ended and validity.whole is not None:
        title, note = f"Not valid: {title}", validity.whole.cause
    elif validity.ended:
        drawn = [run.points[key] for key in chart_keys(chart) if key in run.points]
        invalid = [found for point in drawn if (found := validity.of(point)) is not None]
        what = "did not converge" if all(found.scatter for found in invalid) else "figures not valid"
        note = f"{len(invalid)} of these {len(drawn)} {what}" if invalid else ""
    return Panel(title, chart, run.step.id, note)


def _title(chart: Chart) -> str:
    """Return what a chart shows in words: ``latency by working set``."""
    if isinstance(chart, LineChart):
        named = _WORDS.get(chart.y.unit) or uncapitalized(chart.y.title)
        apart = chart.detail and len(chart.subject) > len(chart.y.title) and chart.x.unit not in RATES
        where = f", {chart.detail}" if apart else ""
        return f"{named} by {uncapitalized(chart.x.title)}{where}"
    if isinstance(chart, BarChart):
        return uncapitalized(chart.axis.title)
    return uncapitalized(chart.subject or chart.title)


def of_quantities(chart: LineChart, run: StepRun) -> LineChart:
    """Return the lines of declared quantities alone, where there are some, without intervals that are wide."""
    declared = {key for key, point in run.points.items() if run.quantity(point) is not None}
    lines = tuple(line for line in chart.lines if any(point.key in declared for point in line.points))
    linear = value_scale([point.y for line in lines for point in line.points]) is Scale.LINEAR
    # Without the others the axis need not be logarithmic.
    axis = Axis(chart.y.title, chart.y.unit) if lines and len(lines) < len(chart.lines) and linear else chart.y

    def narrow(point: ChartPoint) -> ChartPoint:
        low, high = point.low, point.high
        wide = low is not None and high is not None and (high - low) / 2 > _WIDE_SHARE * abs(point.y)
        return replace(point, low=None, high=None) if wide else point

    shown = tuple(replace(line, points=tuple(map(narrow, line.points))) for line in lines or chart.lines)
    if len(shown) == 1 and shown[0].label == axis.title and axis.unit in _WORDS:
        axis = replace(axis, title=_WORDS[axis.unit].capitalize())
    return replace(chart, y=axis, lines=shown)
