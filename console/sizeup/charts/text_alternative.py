"""What a chart says without its picture: a sentence and a table."""

from __future__ import annotations

from sizeup.charts.chart import RANGE, Bar, BarChart, Chart, ChartPoint, HeatMap, Line, LineChart
from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.units import format_value, number_and_unit


def sentence(chart: Chart) -> str:
    """The caption where the chart has one, and the reach of its data."""
    range_text = value_range(chart)
    return " ".join(part for part in (chart.caption, f"{range_text}." if range_text else "No data.") if part)


def value_range(chart: Chart) -> str:
    """The lowest and highest value of each part of the data, and where they lie; empty where there is no data."""
    match chart:
        case LineChart():
            return "; ".join(_line_range(chart, line) for line in chart.lines if line.points)
        case BarChart() if len(chart.bars) <= _FEW:
            return "; ".join(f"{bar.label}: {with_interval(bar, chart.axis.unit)}" for bar in chart.bars)
        case BarChart():
            ends = (min(chart.bars, key=lambda bar: bar.value), max(chart.bars, key=lambda bar: bar.value))
            return " to ".join(f"{bar.text(chart.axis.unit)} ({bar.label})" for bar in ends)
        case HeatMap():
            return _heat_range(chart)


def _line_range(chart: LineChart, line: Line) -> str:
    lowest = min(line.points, key=lambda point: point.y)
    highest = max(line.points, key=lambda point: point.y)

    def at(point: ChartPoint) -> str:
        return f"{format_value(point.y, chart.y.unit)} at {where(chart, point)}"

    ends = at(lowest) if lowest is highest else f"{at(lowest)} to {at(highest)}"
    return f"{line.label}: {ends}" if line.label else ends


def where(chart: LineChart, point: ChartPoint) -> str:
    """Where a point lies on its axis, by name where the value has no unit: ``64 KiB``, ``queue depth 32``."""
    value = format_value(point.x, chart.x.unit)
    name = chart.x.title
    return f"{name[:1].lower()}{name[1:]} {value}" if chart.x.unit == "1" and name else value


_FEW = 4
"""Bars that are told one by one; of more, the ends."""


def _heat_range(chart: HeatMap) -> str:
    known = [
        (value, f"{format_value(value, chart.unit)} ({chart.row_title} {row}, {chart.column_title} {column})")
        for row, cells in zip(chart.rows, chart.values, strict=True)
        for column, value in zip(chart.columns, cells, strict=True)
        if value is not None
    ]
    if not known:
        return ""
    lowest, highest = min(known), max(known)
    return lowest[1] if lowest[0] == highest[0] else f"{lowest[1]} to {highest[1]}"


def with_interval(shown: Bar | ChartPoint, unit: str) -> str:
    """A value with its interval where it has one: ``96 ns (94 to 99)``."""
    if isinstance(shown, Bar) and shown.note == RANGE:
        return shown.text(unit)
    value = shown.value if isinstance(shown, Bar) else shown.y
    text = format_value(value, unit)
    if shown.low is None or shown.high is None:
        return text
    (low, low_unit), (high, high_unit) = (number_and_unit(end, unit) for end in (shown.low, shown.high))
    if low_unit == high_unit == number_and_unit(value, unit)[1]:
        return f"{text} ({low} to {high})"
    return f"{text} ({format_value(shown.low, unit)} to {format_value(shown.high, unit)})"


def table(chart: Chart) -> Table:
    """Every value that the picture shows, with its interval."""
    match chart:
        case LineChart():
            return _line_table(chart)
        case BarChart():
            noted = any(bar.note for bar in chart.bars)
            columns = (Column(""), Column(chart.axis_title, numeric=True), *((Column("Note"),) if noted else ()))
            rows = ((bar.label, with_interval(bar, chart.axis.unit), bar.note) for bar in chart.bars)
            return Table(chart.title, columns, tuple(row[: len(columns)] for row in rows))
        case HeatMap():
            return Table(
                chart.title,
                (
                    Column(f"{chart.row_title} \\ {chart.column_title}"),
                    *(Column(name, numeric=True) for name in chart.columns),
                ),
                tuple(
                    (row, *(UNKNOWN if value is None else format_value(value, chart.unit) for value in cells))
                    for row, cells in zip(chart.rows, chart.values, strict=True)
                ),
                note=_note(unknown=any(value is None for cells in chart.values for value in cells)),
            )


def _line_table(chart: LineChart) -> Table:
    by_line = [{point.x: point for point in line.points} for line in chart.lines]
    xs = sorted({x for points in by_line for x in points})

    def cell(points: dict[float, ChartPoint], x: float) -> str:
        if x not in points:
            return UNKNOWN
        return with_interval(points[x], chart.y.unit) + (" *" if points[x].disturbed else "")

    named = {point.x: f" ({point.label})" for line in chart.lines for point in line.points if point.label}
    return Table(
        chart.title,
        (
            Column(chart.x.title, numeric=True),
            *(Column(line.label or chart.y.title, numeric=True) for line in chart.lines),
        ),
        tuple((format_value(x, chart.x.unit) + named.get(x, ""), *(cell(points, x) for points in by_line)) for x in xs),
        note=_note(
            unknown=any(x not in points for x in xs for points in by_line),
            disturbed=any(point.disturbed for line in chart.lines for point in line.points),
        ),
    )


def _note(*, unknown: bool = False, disturbed: bool = False) -> str:
    parts = (f"{UNKNOWN} was not measured" if unknown else "", "* was disturbed meanwhile" if disturbed else "")
    return "; ".join(filter(None, parts))
