"""The charts of the first screen and page: one for each quantity that a card rests on, under a title in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts import text_alternative
from sizeup.charts.chart import Axis, BarChart, Chart, Line, LineChart, Scale
from sizeup.model.machine import Machine
from sizeup.session.validity import StepValidity
from sizeup.session.value import PointKey, Session, StepRun
from sizeup.text import capitalized, uncapitalized
from sizeup.views.cards.cards import CardView
from sizeup.views.cards.proof import proof_chart
from sizeup.views.run.finished import chart_keys, finished_charts
from sizeup.views.run.points import RATES, value_scale
from sizeup.views.run.run_status import RunGrade, validity_grade

_ORDER = ("storage", "memory", "cpu", "network")
"""The cards whose charts come first; the clock is the last."""
_SMALL = "clock"
_MOST_BARS = 3
"""Of a small panel."""
_WORDS = {"ns": "latency", "bytes/s": "throughput"}
"""What the values of a unit are, where the title of a series says how they were measured."""
_FURTHER = ("ns", "bytes/s")
"""Units of a card's further charts: latency, and throughput."""
_WIDE_SHARE = 0.5
"""An interval wider than this to either side of its value says no more than that it is wide."""

_MOST_CHARTS = 2
"""What the first page has room for; the chapters hold all of them."""
_LEAST_POINTS = 3
"""Of a course: fewer are figures."""


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
    small: bool = False
    """It has a few bars, which need few rows."""


def panels(session: Session, machine: Machine | None, cards: Sequence[CardView]) -> tuple[Panel, ...]:
    """Return a panel for each card of which something was measured, then further charts of the same steps."""
    known = {card.resource: card for card in cards}
    names = [*_ORDER, *(name for name in known if name not in (*_ORDER, _SMALL)), _SMALL]
    found = [list(_of_card(session, machine, known[name])) for name in names if name in known]
    first = [some[0] for some in found if some]
    more = [panel for some in found for panel in some[1:] if not panel.small]
    return (*(panel for panel in first if not panel.small), *more, *(panel for panel in first if panel.small))


def _of_card(session: Session, machine: Machine | None, card: CardView) -> Iterator[Panel]:
    """Yield the charts of the step that leads a card, one for each kind of value; a curve leads."""
    run = session.steps.get(card.found.steps[0]) if card.found.steps else None
    if run is None or not run.points:
        return
    charts = [chart for chart in finished_charts(run, machine) if _is_filled(chart)]
    if card.resource == _SMALL:
        bars = next((chart for chart in charts if isinstance(chart, BarChart)), None)
        charts = [] if bars is None else [_fewest(bars, run)]
    shown: dict[str, Panel] = {}
    for chart in sorted(charts, key=lambda chart: not _is_curve(chart)):
        if not shown or (isinstance(chart, LineChart) and chart.y.unit in _FURTHER and chart.y.unit not in shown):
            lead = next(iter(shown.values()), None)
            narrowed = chart if lead is None else _beside(chart, lead.chart, run)
            if narrowed is not None:
                shown[_kind(chart)] = panel = _panel(narrowed, run, card)
                yield panel


def _beside(chart: Chart, lead: Chart, run: StepRun) -> Chart | None:
    """Return the lines of a further chart that add to the first one: latencies of the same load, or other loads."""
    if not isinstance(chart, LineChart):
        return chart
    loads = _texts(lead, run)
    if not loads:
        return chart
    lines = tuple(
        line
        for line in chart.lines
        if any(loads <= _text_of(point.key, run) for point in line.points) == (chart.y.unit == "ns")
    )
    return replace(chart, y=_axis_of(lines, chart), lines=lines) if lines else None


def _axis_of(lines: Sequence[Line], chart: LineChart) -> Axis:
    """Return the axis of some lines of a chart: without the others it need not be logarithmic."""
    scale = value_scale([point.y for line in lines for point in line.points])
    narrowed = lines and len(lines) < len(chart.lines) and scale is Scale.LINEAR
    return Axis(chart.y.title, chart.y.unit) if narrowed else chart.y


def _texts(chart: Chart, run: StepRun) -> frozenset[str]:
    """Return the coordinates in words that all points of a chart share."""
    found = [_text_of(key, run) for key in chart_keys(chart)]
    return frozenset.intersection(*found) if found else frozenset()


def _text_of(key: PointKey | None, run: StepRun) -> frozenset[str]:
    point = None if key is None else run.points.get(key)
    return frozenset() if point is None else frozenset(value for value in point.at.values() if isinstance(value, str))


def _panel(chart: Chart, run: StepRun, card: CardView) -> Panel:
    title = f"{card.title}: {_title(chart)}"
    bare = _bare(chart, run)
    validity = StepValidity(run)
    note = ""
    if validity.ended and validity.whole is not None:
        title, note = f"Not valid: {title}", validity.whole.cause
    elif validity.ended:
        drawn = [run.points[key] for key in chart_keys(bare) if key in run.points]
        invalid = [found for point in drawn if (found := validity.of(point)) is not None]
        what = "did not converge" if all(found.scatter for found in invalid) else "figures not valid"
        note = f"{len(invalid)} of these {len(drawn)} {what}" if invalid else ""
    return Panel(title, bare, run.step.id, note, small=card.resource == _SMALL)


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


def _bare(chart: Chart, run: StepRun) -> Chart:
    """Return a chart without its title, and of a curve the lines that the card is about."""
    if isinstance(chart, LineChart):
        return replace(of_quantities(chart, run), title="", caption="")
    if isinstance(chart, BarChart):
        # The lengths of a few bars can be compared without a logarithm.
        axis = Axis("", chart.axis.unit) if len(chart.bars) <= _MOST_BARS else replace(chart.axis, title="")
        return replace(chart, title="", axis=axis, caption="")
    return replace(chart, title="", caption="")


def of_quantities(chart: LineChart, run: StepRun) -> LineChart:
    """Return the lines of declared quantities alone, where there are some, without intervals that are wide."""
    lines = tuple(line for line in chart.lines if any(_is_declared(run, point.key) for point in line.points))
    axis = _axis_of(lines, chart)
    shown = tuple(
        replace(
            line,
            points=tuple(
                point
                if point.low is None or point.high is None or (point.high - point.low) / 2 <= _WIDE_SHARE * abs(point.y)
                else replace(point, low=None, high=None)
                for point in line.points
            ),
        )
        for line in lines or chart.lines
    )
    if len(shown) == 1 and shown[0].label == axis.title and axis.unit in _WORDS:
        axis = replace(axis, title=_WORDS[axis.unit].capitalize())
    return replace(chart, y=axis, lines=shown)


def _is_declared(run: StepRun, key: PointKey | None) -> bool:
    point = None if key is None else run.points.get(key)
    return point is not None and run.quantity(point) is not None


def _fewest(chart: BarChart, run: StepRun) -> BarChart:
    """Return the first bars, with the one that stands for the step."""
    leads = [
        bar
        for bar in chart.bars
        if bar.key is not None
        and (point := run.points.get(bar.key)) is not None
        and point.series in run.series
        and point.at == run.series[point.series].headline
    ]
    kept = [bar for bar in chart.bars if bar not in leads][: _MOST_BARS - len(leads[:1])]
    return replace(chart, bars=tuple(bar for bar in chart.bars if bar in (*leads[:1], *kept)))


def _kind(chart: Chart) -> str:
    return chart.y.unit if isinstance(chart, LineChart) else ""


def _is_filled(chart: Chart) -> bool:
    if isinstance(chart, LineChart):
        return any(line.points for line in chart.lines)
    return bool(chart.bars) if isinstance(chart, BarChart) else bool(chart.rows)


def _is_curve(chart: Chart) -> bool:
    return isinstance(chart, LineChart) and any(len(line.points) > 1 for line in chart.lines)


class ShownChart(Struct, frozen=True):
    """One of the charts of the first page."""

    chart: Chart
    grade: RunGrade
    """``PASS``, ``WARN`` where some of its figures are not valid, or ``FAIL`` where none is."""
    invalid: str
    """Why figures of it are not valid; empty where all are."""


def leading_charts(session: Session, cards: Sequence[CardView]) -> tuple[ShownChart, ...]:
    """Return the proof of the verdict on the storage, then the charts of cards, storage and memory first."""
    proof = proof_chart(session, next((card for card in cards if card.resource == "storage"), None))
    found: list[tuple[str, Chart]] = []
    if proof is not None:
        found.append((proof[0], replace(proof[1], title=f"Measured: {session.steps[proof[0]].step.title}")))
    proven = {step for step, _ in found}
    charts = [panel for panel in panels(session, session.machine, cards) if panel.step not in proven]
    found += [(panel.step, replace(panel.chart, title=panel.title)) for panel in charts]
    leading = {step for step, _ in found}
    rest = [step for step, run in session.steps.items() if step not in leading and run.points]
    found += [(step, chart) for step in rest if (chart := _leading_chart(session, step)) is not None]
    shown = []
    for step, chart in found[:_MOST_CHARTS]:
        grade, invalid = validity_grade(session.steps[step])
        shown.append(ShownChart(chart, grade, capitalized(invalid)))
    return tuple(shown)


def _leading_chart(session: Session, step: str) -> Chart | None:
    """The first curve of a step, else its first chart with values; None where it has none."""
    charts = [
        chart for chart in finished_charts(session.steps[step], session.machine) if text_alternative.value_range(chart)
    ]
    return next((chart for chart in charts if _has_course(chart)), next(iter(charts), None))


def _has_course(chart: Chart) -> bool:
    return isinstance(chart, LineChart) and any(len(line.points) >= _LEAST_POINTS for line in chart.lines)
