"""A session as plain text within the width of a terminal, charts drawn with characters."""

from __future__ import annotations

from collections.abc import Iterable

from sizeup.report.table import cell_len, padded, table_lines, wrapped
from sizeup.text import one_line
from sizeup.units import format_value
from sizeup.views import alternative
from sizeup.views.chart import BarChart, Chart, HeatMap, LineChart, Scale
from sizeup.views.document import Block, Document, Facts, Heading, Items, Paragraph, Working
from sizeup.views.table import Table
from sizeup.views.ticks import fit

__all__ = ["WIDTH", "chart_lines", "plain", "table_lines", "text"]

WIDTH = 80
_MARKS = "ox+*#@"
"""A mark for each line, told apart on any console font."""
_PLOT_ROWS = 14

# What a terminal without UTF-8 shows instead; one character each, so that columns stay in line.
_PLAIN = str.maketrans("│└─┬├█▏…×–—→µ±≥≤≈°·", "|+-++#|.x-->u~>< o.")


def text(document: Document, *, width: int = WIDTH, ascii_only: bool = False) -> str:
    """The whole text; ``ascii_only`` for terminals and mails that know no more."""
    lines = [*_heading(document.title, "="), *_facts(document.about, width), ""]
    for answer in document.answers:
        lines += [answer.question, *_items(answer.statements, width), ""]
    for part in document.parts:
        lines += _heading(part.title, "-")
        for block in part.blocks:
            lines += [*_block(block, width), ""]
    finished = "\n".join(lines).rstrip("\n") + "\n"
    return plain(finished) if ascii_only else finished


def plain(shown: str) -> str:
    """The text in ASCII: line drawing and signs by their likenesses, the rest by question marks."""
    return shown.translate(_PLAIN).encode("ascii", "replace").decode("ascii")


def _heading(title: str, rule: str) -> list[str]:
    title = one_line(title, WIDTH)
    return [title, rule * cell_len(title), ""]


def _block(block: Block, width: int) -> list[str]:
    match block:
        case Heading(title):
            return [one_line(title, width)]
        case Paragraph(words):
            return [row for line in words.splitlines() for row in wrapped(line, width, "  ", "  ")]
        case Items(lines):
            return _items(lines, width)
        case Working(lines):
            return [row for line in lines for row in wrapped(line, width, "    ", "      ")]
        case Facts():
            return _facts(block, width)
        case Table():
            return table_lines(block, width)
        case LineChart() | BarChart() | HeatMap():
            return [*chart_lines(block, width), "", *table_lines(alternative.table(block), width)]


def _items(lines: Iterable[str], width: int) -> list[str]:
    return [row for line in lines for row in wrapped(line, width, "  - ", "    ")]


def _facts(facts: Facts, width: int) -> list[str]:
    label = min(max((cell_len(name) for name, _ in facts.pairs), default=0), 20) + 2
    return [
        row for name, value in facts.pairs for row in wrapped(value, width, f"  {name:<{label}}", " " * (label + 2))
    ]


def chart_lines(chart: Chart, width: int) -> list[str]:
    """The chart as characters; a heat map is its table, so there is nothing to draw."""
    match chart:
        case LineChart():
            return _line_chart(chart, width)
        case BarChart():
            return _bar_chart(chart, width)
        case HeatMap():
            return wrapped(alternative.sentence(chart), width, "  ", "  ")


def _line_chart(chart: LineChart, width: int) -> list[str]:
    points = [point for line in chart.lines for point in line.points]
    if not points:
        return ["  No data."]
    y = fit(chart.y, [point.y for point in points], 5)
    x = fit(chart.x, [point.x for point in points], max((width - 16) // 12, 2))
    left = max(cell_len(tick.label) for tick in y.ticks) + 2
    columns = width - left - 4
    grid = [[" "] * columns for _ in range(_PLOT_ROWS)]
    marked = chart.boundaries[: len(_MARKS)]
    for boundary in marked:
        if (at := _cell(x.position(boundary.x), columns)) is not None:
            for row in grid:
                row[at] = "·"
    for number, line in enumerate(chart.lines):
        for point in line.points:
            column, level = _cell(x.position(point.x), columns), _cell(y.position(point.y), _PLOT_ROWS)
            if column is not None and level is not None:
                grid[_PLOT_ROWS - 1 - level][column] = _MARKS[number % len(_MARKS)]
    labels = {
        _PLOT_ROWS - 1 - level: tick.label
        for tick in y.ticks
        if (level := _cell(y.position(tick.value), _PLOT_ROWS)) is not None
    }
    lines = [f"  {one_line(y.title, width - 2)}"]
    lines += [f"{labels.get(row, ''):>{left}} │{''.join(cells).rstrip()}" for row, cells in enumerate(grid)]
    base, names = ["─"] * columns, [" "] * (columns + 8)
    for tick in x.ticks:
        at = _cell(x.position(tick.value), columns)
        if at is not None:
            start = max(min(at - len(tick.label) // 2, len(names) - len(tick.label)), 0)
            if all(cell == " " for cell in names[max(start - 1, 0) : start + len(tick.label) + 1]):
                base[at] = "┬"
                names[start : start + len(tick.label)] = tick.label
    lines += [f"{'':>{left}} └{''.join(base)}", f"{'':>{left}}  {''.join(names).rstrip()}"]
    lines.append(f"{one_line(x.title, columns):^{columns + left}}".rstrip())
    if len(chart.lines) > 1:
        lines += [
            f"  {_MARKS[number % len(_MARKS)]} {one_line(line.label, width - 4)}"
            for number, line in enumerate(chart.lines)
        ]
    if marked:
        lines += wrapped("Dotted: " + ", ".join(boundary.label for boundary in marked), width, "  ", "  ")
    return lines


def _cell(position: float | None, cells: int) -> int | None:
    if position is None or not -1e-6 <= position <= 1 + 1e-6:
        return None
    return min(max(round(position * (cells - 1)), 0), cells - 1)


def _bar_chart(chart: BarChart, width: int) -> list[str]:
    if not chart.bars:
        return ["  No data."]
    values = [format_value(bar.value, chart.axis.unit) for bar in chart.bars]
    names = [one_line(bar.label, 30) for bar in chart.bars]
    left, right = max(map(cell_len, names)), max(map(cell_len, values))
    room = max(width - left - right - 7, 8)
    ruler = fit(
        chart.axis, [*(bar.value for bar in chart.bars), *([0.0] if chart.axis.scale is Scale.LINEAR else [])], 5
    )
    zero = _cell(ruler.position(0.0), room) or 0
    lines = []
    for name, bar, value in zip(names, chart.bars, values, strict=True):
        end = _cell(ruler.position(bar.value), room) or 0
        drawn = " " * min(zero, end) + "█" * max(abs(end - zero), 1)
        lines.append(f"  {padded(name, left, right=True)} │{drawn} {value}".rstrip())
    return lines
