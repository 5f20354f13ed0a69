"""What a chart says without its picture: a sentence and a table."""

from __future__ import annotations

from sizeup.units import format_value
from sizeup.views.chart import Bar, BarChart, Chart, HeatMap, Line, LineChart, Point
from sizeup.views.table import Column, Table


def sentence(chart: Chart) -> str:
    """The caption where the chart has one, and the reach of its data."""
    match chart:
        case LineChart():
            reach = "; ".join(_line_reach(chart, line) for line in chart.lines if line.points)
        case BarChart():
            reach = "; ".join(f"{bar.label}: {_with_interval(bar, chart.axis.unit)}" for bar in chart.bars)
        case HeatMap():
            reach = _heat_reach(chart)
    return " ".join(part for part in (chart.caption, f"{reach}." if reach else "No data.") if part)


def _line_reach(chart: LineChart, line: Line) -> str:
    lowest = min(line.points, key=lambda point: point.y)
    highest = max(line.points, key=lambda point: point.y)

    def at(point: Point) -> str:
        return f"{format_value(point.y, chart.y.unit)} at {format_value(point.x, chart.x.unit)}"

    reach = at(lowest) if lowest is highest else f"{at(lowest)} to {at(highest)}"
    return f"{line.label}: {reach}" if line.label else reach


def _heat_reach(chart: HeatMap) -> str:
    known = [
        (value, f"{format_value(value, chart.unit)} at {chart.row_title} {row}, {chart.column_title} {column}")
        for row, cells in zip(chart.rows, chart.values, strict=True)
        for column, value in zip(chart.columns, cells, strict=True)
        if value is not None
    ]
    return f"{min(known)[1]} to {max(known)[1]}" if known else ""


def _with_interval(shown: Bar | Point, unit: str) -> str:
    value = shown.value if isinstance(shown, Bar) else shown.y
    text = format_value(value, unit)
    if shown.low is not None and shown.high is not None:
        text += f" ({format_value(shown.low, unit)} to {format_value(shown.high, unit)})"
    return text


NOT_MEASURED = "not measured"


def table(chart: Chart) -> Table:
    """Every value that the picture shows, with its interval."""
    match chart:
        case LineChart():
            return _line_table(chart)
        case BarChart():
            return Table(
                chart.title,
                (Column(""), Column(chart.axis.title, numeric=True), Column("Note")),
                tuple((bar.label, _with_interval(bar, chart.axis.unit), bar.note) for bar in chart.bars),
            )
        case HeatMap():
            return Table(
                chart.title,
                (
                    Column(f"{chart.row_title} \\ {chart.column_title}"),
                    *(Column(name, numeric=True) for name in chart.columns),
                ),
                tuple(
                    (row, *(NOT_MEASURED if value is None else format_value(value, chart.unit) for value in cells))
                    for row, cells in zip(chart.rows, chart.values, strict=True)
                ),
            )


def _line_table(chart: LineChart) -> Table:
    by_line = [{point.x: point for point in line.points} for line in chart.lines]
    disturbed = any(point.disturbed for line in chart.lines for point in line.points)

    def cell(points: dict[float, Point], x: float) -> str:
        if x not in points:
            return NOT_MEASURED
        return _with_interval(points[x], chart.y.unit) + (" *" if points[x].disturbed else "")

    return Table(
        chart.title,
        (
            Column(chart.x.title, numeric=True),
            *(Column(line.label or chart.y.title, numeric=True) for line in chart.lines),
        ),
        tuple(
            (format_value(x, chart.x.unit), *(cell(points, x) for points in by_line))
            for x in sorted({x for points in by_line for x in points})
        ),
        note="* disturbed while it was measured" if disturbed else "",
    )
