"""The charts of a step that will not change any more: all that it measured, as a report wants it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from sizeup.charts.chart import DISTURBED, Bar, BarChart, Chart, HeatMap, LineChart, Scale
from sizeup.model.machine import Machine
from sizeup.session.validity import StepValidity
from sizeup.session.value import Point, PointKey, StepRun
from sizeup.text import capitalized
from sizeup.units import format_value
from sizeup.views.run.latency_throughput import latency_throughput
from sizeup.views.run.points import MOST_LINES, beside_axis, family, laid_out, on_axis
from sizeup.views.run.step import step_chart

_LOGARITHMIC_FROM = 100.0
"""Bars that differ by more cannot be seen beside the longest."""


def finished_charts(run: StepRun, machine: Machine | None) -> tuple[Chart, ...]:
    """A chart for each unit and axis that the step has figures in; the probe's headline comes first."""
    return tuple(chart for make in chart_makers(run, machine) for chart in make())


def chart_makers(run: StepRun, machine: Machine | None) -> list[Callable[[], Sequence[Chart]]]:
    """What makes these charts, of one picture each: during a run, the one that is shown is made again."""
    measured = laid_out(run) if run.chart == "curve" else run
    groups = _groups(measured)

    def charts_of(part: StepRun) -> Sequence[Chart]:
        return tuple(_pieces(_titled(_chart(part, machine), measured, part, several=len(groups) > 1)))

    def crossed() -> Sequence[Chart]:
        chart = latency_throughput(run)
        return () if chart is None else tuple(_pieces(chart))

    makers: list[Callable[[], Sequence[Chart]]] = [partial(charts_of, part) for part in groups]
    makers.insert(1, crossed)
    return makers


def headline(run: StepRun, machine: Machine | None) -> Chart:
    """The first of these charts, which is what a summary has room for; its caption says what is not valid."""
    chart = next(iter(finished_charts(run, machine)), step_chart(run, machine))
    marked = StepValidity(run).summary() if run.outcome is not None else ""
    return replace(chart, caption=f"{chart.caption} {capitalized(marked)}.".lstrip()) if marked else chart


def chart_keys(chart: Chart) -> list[PointKey]:
    """Return the points of the step that a chart shows."""
    if isinstance(chart, LineChart):
        return [point.key for line in chart.lines for point in line.points if point.key is not None]
    if isinstance(chart, BarChart):
        return [bar.key for bar in chart.bars if bar.key is not None]
    return [key for row in chart.keys for key in row if key is not None]


def _groups(run: StepRun) -> list[StepRun]:
    """The step as if each group of series that fits one picture had been measured alone."""
    groups: dict[object, dict[PointKey, Point]] = {}
    for name in dict.fromkeys([*run.series, *(point.series for point in run.points.values())]):
        series = run.series.get(name)
        whole = name if series is None or run.chart == "matrix" else family(series)
        judged = series is not None and series.unit == "verdict"
        for key, point in run.points.items():
            # A verdict on one point stands with the caveats, and the chart is of the whole run.
            if point.series == name and not (judged and not point.at.keys() <= {"part"}):
                mixed = run.chart == "curve" and series is not None and bool(series.axis) and not on_axis(run, point)
                picture = (name, _kind(point)) if mixed else whole
                groups.setdefault(picture, {})[key] = point
    parts = []
    for group in groups.values():
        pieces: dict[object, dict[PointKey, Point]] = {}
        places = {key: beside_axis(point, run.series.get(point.series)) for key, point in group.items()}
        lines = {(point.series, places[key]) for key, point in group.items()}
        # Where the lines of several series are too many, a picture for each setting beside the axis.
        crowded = len({name for name, _ in lines}) > 1 and len(lines) > MOST_LINES
        for key, point in group.items():
            pieces.setdefault(places[key] if crowded else None, {})[key] = point
        for points in pieces.values():
            names = dict.fromkeys(point.series for point in points.values())
            parts.append(
                replace(run, points=points, series={name: run.series[name] for name in names if name in run.series})
            )
    return parts


def _kind(point: Point) -> tuple[str, ...]:
    """What a point says of itself in words; its other coordinates are numbers."""
    return tuple(value for _, value in sorted(point.at.items()) if isinstance(value, str))


def _only_coordinates(run: StepRun) -> str:
    """The coordinates of all points beside their axis; empty where they differ, and where none has others."""
    groups = {beside_axis(point, run.series.get(point.series)) for point in run.points.values()}
    return ", ".join(groups.pop()) if len(groups) == 1 else ""


def _chart(run: StepRun, machine: Machine | None) -> Chart:
    chart = step_chart(run, machine)
    where = _only_coordinates(run)
    if isinstance(chart, LineChart) and where and len(chart.lines) > 1:
        lines = (replace(line, label=line.title, where="") for line in chart.lines)
        chart = replace(chart, lines=tuple(lines))
    if isinstance(chart, LineChart) and all(len(line.points) == 1 for line in chart.lines):
        chart = _as_bars(chart)  # a line needs two ends
    if isinstance(chart, BarChart) and chart.bars:
        low, high = min(bar.value for bar in chart.bars), max(bar.value for bar in chart.bars)
        if low > 0 and high / low >= _LOGARITHMIC_FROM:
            # A little less than the smallest value needs leaves every bar a length.
            least = 10.0 ** math.floor(math.log10(low) - 0.1)
            bars = tuple(sorted(chart.bars, key=lambda bar: bar.value))
            return replace(chart, axis=replace(chart.axis, scale=Scale.LOG10, low=least), bars=bars)
    return chart


def _as_bars(chart: LineChart) -> BarChart:
    """A bar for each line of one point; its coordinates are shown only where they differ."""
    apart = len({point.x for line in chart.lines for point in line.points}) > 1
    bars = tuple(
        Bar(
            f"{name}, {chart.x.title.lower()} {format_value(point.x, chart.x.unit)}".lstrip(", ") if apart else name,
            point.y,
            point.low,
            point.high,
            DISTURBED if point.disturbed else "",
            point.key,
        )
        for line in chart.lines
        for name in (line.beside(chart.y.title),)
        for point in line.points
    )
    return BarChart(chart.title, replace(chart.y, scale=Scale.LINEAR), bars, chart.caption, name=chart.name)


def _titled(chart: Chart, run: StepRun, part: StepRun, *, several: bool) -> Chart:
    """The chart with what it shows in its title, where the step has more than one."""
    if not several:
        return chart
    if isinstance(chart, HeatMap) and chart.unit == "verdict":
        return replace(chart, caption="")
    shown = list(part.series.values())
    what = ", ".join(series.title for series in shown[:2])
    detail = shown[0].title_parts[1] if shown else ""
    if isinstance(chart, HeatMap) and len(kinds := {_kind(point) for point in part.points.values()}) == 1:
        what = ", ".join((what, *kinds.pop()))
    if len(shown) > 1 and not isinstance(chart, HeatMap):
        detail = _only_coordinates(part)
        what = ", ".join(filter(None, (chart.y.title if isinstance(chart, LineChart) else chart.axis.title, detail)))
    return replace(chart, title=f"{run.step.title}: {what}", caption="", subject=what, detail=detail)


def _pieces(chart: Chart) -> Iterator[Chart]:
    """The chart, or where it has too many lines several with the same axes."""
    count = -(-len(chart.lines) // MOST_LINES) if isinstance(chart, LineChart) else 1
    if not isinstance(chart, LineChart) or count <= 1:
        yield chart
        return
    for index in range(count):
        lines = chart.lines[index * MOST_LINES : (index + 1) * MOST_LINES]
        piece = f" ({index + 1} of {count})"
        title, subject, detail = (text and text + piece for text in (chart.title, chart.subject, chart.detail))
        yield replace(chart, title=title, subject=subject, detail=detail, lines=lines)
