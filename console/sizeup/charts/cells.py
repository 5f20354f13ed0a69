"""Any chart in character cells: for the screen and for text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.axes import Ruler, bar_axis_values, fit
from sizeup.charts.chart import CAVEATS, Bar, BarChart, HeatMap, LineChart, Scale
from sizeup.charts.drawing import ALPHABETS, Alphabet, Drawing, Glyphs, cut, dot_at, heat_role, shortened
from sizeup.charts.latency_cells import Histogram, Picture, Timeline, draw_histogram, draw_timeline
from sizeup.charts.line_cells import chosen_point, draw_lines, positions
from sizeup.charts.text_alternative import with_interval
from sizeup.units import format_value, number_and_unit

if TYPE_CHECKING:
    from sizeup.session.value import PointKey
_TOP = 3
"""Rows above the cells: the title, the directions and the names of the columns."""
_HIGH = (5, 3)
"""Rows of large cells: an odd number has a middle for the value. More are no easier to read."""
_ASPECT = 4
"""Columns of a large cell for each of its rows, at most."""
_VERDICT_ROLES = {"pass": "status-pass", "warn": "status-warn", "fail": "status-fail"}


def draw(
    chart: Picture, width: int, height: int, glyphs: Glyphs, cursor: int | None = None, line: int = 0, spare: int = 0
) -> Drawing:
    """Any chart, in ``width`` x ``height`` cells; ``cursor`` counts the places that the readout can stand on.

    Of several lines that have a point there, the readout begins with that of ``line``; it leaves ``spare`` columns.
    """
    if isinstance(chart, LineChart):
        return draw_lines(chart, width, height, glyphs, cursor, line, spare)
    if isinstance(chart, HeatMap):
        return draw_heat(chart, width, height, cursor)
    if isinstance(chart, Timeline):
        return draw_timeline(chart, width, height, glyphs)
    if isinstance(chart, Histogram):
        return draw_histogram(chart, width, height, glyphs)
    return draw_bars(chart, width, height, glyphs, cursor)


def cursor_positions(chart: Picture) -> int:
    """How many places the readout can stand on: distinct x values, cells or bars."""
    if isinstance(chart, LineChart):
        return len(positions(chart))
    if isinstance(chart, HeatMap):
        return len(chart.rows) * len(chart.columns)
    return len(chart.bars) if isinstance(chart, BarChart) else 0


def key_at(chart: Picture, cursor: int, line: int = 0) -> PointKey | None:
    """The point of the step that stands at the cursor; None where the picture shows something else."""
    if isinstance(chart, LineChart):
        return chosen_point(chart, cursor, line)[1].key
    if isinstance(chart, HeatMap):
        row, column = divmod(cursor, len(chart.columns))
        return chart.keys[row][column] if chart.keys else None
    return chart.bars[cursor].key if isinstance(chart, BarChart) else None


def bar_readout(chart: BarChart, cursor: int) -> str:
    """A bar in words, with its interval."""
    bar = chart.bars[cursor]
    return f"{bar.label} {with_interval(bar, chart.axis.unit)} {bar.note}".rstrip()


def draw_bars(chart: BarChart, width: int, height: int, glyphs: Glyphs, cursor: int | None) -> Drawing:
    """A bar chart; ``cursor`` counts its bars."""
    drawing = Drawing(width, height)
    top = 0  # of a chart in a frame that has its title
    for top, line in enumerate(wrap(_heading(chart, width), width)[:3], start=1):
        drawing.put(0, top - 1, line, "title")
    if not chart.bars:
        for y, line in enumerate(wrap(chart.caption or "no samples yet", width), start=top):
            drawing.put(0, y, line, "text")
        return drawing
    rows = height - top
    # The last row shows how many bars are not shown, the bar under the cursor, or a legend.
    has_note = cursor is not None or len(chart.bars) > rows or any(bar.note in CAVEATS for bar in chart.bars)
    rows = max(rows - has_note, 1)
    first = 0 if cursor is None else max(min(cursor - rows // 2, len(chart.bars) - rows), 0)
    shown = chart.bars[first : first + rows]
    unit = chart.axis.unit
    values = [_span_text(bar, unit) if chart.spans else bar.text(unit) for bar in shown]
    least = width // 6  # of the bars, where the names would like more
    labels = min(max(len(bar.label) for bar in shown), max(width // 2, width - least - max(map(len, values)) - 3))
    texts = values if chart.spans else [f"{bar.text(unit)} {bar.note}".rstrip() for bar in shown]
    # A note that would be cut is shown as a sign.
    signs = not chart.spans and max(map(len, texts)) > width - labels - 3 - width // 4
    if signs:
        texts = [f"{bar.text(unit)} {'!' if bar.note in CAVEATS else ' '}" for bar in shown]
    lines = wrap(chart.caption, width)
    apart = min(max((rows - len(lines)) // len(shown), 1), chart.apart)
    above = apart > 2 and any(len(bar.label) > labels for bar in shown)  # whole names, each above its bar
    left = 0 if above else labels + 1
    # Of a tornado the figures go before the length of its bars.
    bar_width = max(width - left - (1 if chart.spans else 2) - max(map(len, texts)), 6 if chart.spans else least)
    frame = _BarFrame(left, bar_width, _bar_ruler(chart, shown, bar_width), ALPHABETS[glyphs])
    for index, bar in enumerate(shown):
        y = index * apart + top
        label = _cut_inside(bar.label, width if above else labels)
        drawing.put(0, y, label, "cursor" if cursor == first + index else "text")
        if chart.spans:  # from its low to its high end with a mark at its value, and the text in a column of its own
            start, end = (frame.dot(bar.value if end is None else end) for end in (bar.low, bar.high))
            drawing.put(frame.left + start, y, frame.alphabet.bar * max(end - start, 1), bar.role)
            drawing.put(frame.left + frame.dot(bar.value), y, frame.alphabet.vertical, "title")
            column = frame.left + frame.width + 1
            drawing.put(column, y, cut(texts[index], width - column), "text")
        else:
            _draw_bar(drawing, frame, y + above, bar, texts[index])
    if cursor is not None:
        drawing.put(0, height - 1, cut(bar_readout(chart, min(cursor, len(chart.bars) - 1)), width), "cursor")
        return drawing
    below = len(chart.bars) - first - len(shown)
    notes = [f"{below} more below"] if below else []
    if signs and any(bar.note in CAVEATS for bar in shown):
        notes.append(f"! {' or '.join(sorted({bar.note for bar in shown if bar.note in CAVEATS}))}")
    if notes:
        drawing.put(0, height - 1, cut("; ".join(notes), width), "text")
        return drawing
    if len(lines) <= height - top - len(shown) * apart:
        for y, line in enumerate(lines, start=top + len(shown) * apart):
            drawing.put(0, y, line, "axis")
    return drawing


class _BarFrame(Struct, frozen=True):
    """Where the bars of a chart are drawn."""

    left: int
    """Column of the low end of the axis."""
    width: int
    """Columns of the axis."""
    ruler: Ruler
    alphabet: Alphabet

    def dot(self, value: float) -> int:
        """Return the columns from the low end of the axis to a value."""
        return dot_at(self.ruler, value, self.width + 1)


def _heading(chart: BarChart, width: int) -> str:
    """Return the title with what the axis adds to it: each bar shows its unit, so the axis may go without."""
    axis = chart.axis_title
    for title in (axis, chart.axis.title):
        if title and title.lower() in chart.title.lower():
            heading = f"{chart.title}{axis.removeprefix(title)}"
            # Charts beside each other differ in what follows the last colon.
            return shortened(heading, width)
    return f"{chart.title}: {axis}" if chart.title else axis


def _draw_bar(drawing: Drawing, frame: _BarFrame, y: int, bar: Bar, text: str) -> None:
    """Draw a bar from zero with its interval on its track, and the text at the end of the row."""
    length = max(frame.dot(bar.value), 1 if bar.value > 0 else 0)
    drawing.put(frame.left, y, frame.alphabet.grid * frame.width, "line")
    drawing.put(frame.left, y, frame.alphabet.bar * min(length, frame.width), bar.role)
    if bar.low is not None and bar.high is not None:
        low, high = (min(max(frame.dot(bound), 0), frame.width) for bound in (bar.low, bar.high))
        if high - low >= 2:
            ends = frame.alphabet.range_
            last = frame.alphabet.beyond if frame.ruler.leaves(bar.high) > 0 else ends[2]
            drawing.put(frame.left + low, y, ends[0] + ends[1] * (high - low - 1) + last, "axis")
    drawing.put(max(drawing.width - len(text), 0), y, cut(text, drawing.width), "text")


def _bar_ruler(chart: BarChart, bars: Sequence[Bar], bar_width: int) -> Ruler:
    """An axis from zero, or where it is logarithmic from half of the smallest bar, so that each has a length.

    That of a tornado reaches from the lowest to the highest end: what it shows is the difference.
    """
    if chart.spans:
        ends = [end for bar in bars for end in (bar.low, bar.value, bar.high) if end is not None]
        return fit(replace(chart.axis, low=min(ends), high=max(ends)), ends, 2)
    axis, values = chart.axis, bar_axis_values(chart, bars)
    smallest = min((value for value in values if value > 0), default=1.0)
    low = 0.0 if axis.scale is Scale.LINEAR else axis.low or smallest / 2
    high = axis.high if axis.high is not None else max(values, default=0.0) or 1.0
    return fit(replace(axis, low=low, high=high), values, max(bar_width // 10, 2))


def _span_text(bar: Bar, unit: str) -> str:
    """Both ends, in the bar's own words where it has some."""
    low, high = (format_value(bar.value if end is None else end, unit) for end in (bar.low, bar.high))
    return bar.note or f"{low} to {high}"


def _cut_inside(text: str, width: int) -> str:
    """``text`` in ``width`` columns, cut in its middle: names that begin alike differ at their ends."""
    if len(text) <= width or width < 8:
        return cut(text, width)
    tail = (width - 3) // 2
    return f"{text[: width - 3 - tail]}...{text[-tail:]}"


class _Grid(Struct, frozen=True):
    """Where the cells of a matrix are drawn, and which of them."""

    left: int
    words: int
    """Columns of the longest text."""
    wide: int
    high: int
    columns: range
    rows: range

    def middle(self, text: str) -> str:
        """Return a text as it stands in a cell: digits below digits, in the middle of a wide one."""
        return text.rjust(self.words + (self.wide - self.words) // 2).ljust(self.wide)

    def place(self, row: int, column: int) -> tuple[int, int]:
        """Return where a cell begins."""
        return self.left + (column - self.columns.start) * self.wide, _TOP + (row - self.rows.start) * self.high


def draw_heat(chart: HeatMap, width: int, height: int, cursor: int | None) -> Drawing:
    """A matrix, its cells as large as there is room; ``cursor`` counts them row by row."""
    drawing = Drawing(width, height)
    drawing.put(0, 0, shortened(chart.title, width), "title")
    known = [value for row in chart.values for value in row if value is not None]
    factor, prefix = _common_prefix(known, chart.unit)
    # Decimals where one digit would hide differences; columns stay narrow where whole numbers tell.
    decimals = 0 if all(abs(value / factor) >= 10 for value in known) else 2
    named = chart.unit == "verdict"

    def cell_text(value: float) -> str:
        return format_value(value, chart.unit) if named else f"{value / factor:.{decimals}f}"

    texts = [["-" if value is None else cell_text(value) for value in row] for row in chart.values]
    grid = _grid(chart, texts, width, height, cursor)
    heading = f"{chart.row_title} down, {chart.column_title} across" + ("" if named else f", in {prefix}")
    drawing.put(0, 1, cut(heading, width), "text")
    for column in grid.columns:
        drawing.put(grid.place(0, column)[0], 2, grid.middle(chart.columns[column]), "axis")
    low, high = min(known, default=0.0), max(known, default=1.0)
    for row in grid.rows:
        drawing.put(0, grid.place(row, 0)[1] + grid.high // 2, chart.rows[row].rjust(grid.left - 1), "axis")
        for column in grid.columns:
            value = chart.values[row][column]
            role = "text" if value is None else heat_role((value - low) / ((high - low) or 1))
            if named and value is not None:
                role = _VERDICT_ROLES.get(texts[row][column], "text")
            if cursor == row * len(chart.columns) + column:
                role = "cursor"
            x, y = grid.place(row, column)
            for line in range(grid.high):
                drawing.put(x, y + line, grid.middle(texts[row][column] if line == grid.high // 2 else ""), role)
    if cursor is not None and chart.rows and chart.columns:
        cells = len(chart.rows) * len(chart.columns)
        row, column = divmod(min(cursor, cells - 1), len(chart.columns))
        value = chart.values[row][column]
        text = "not measured" if value is None else format_value(value, chart.unit)
        readout = f"{chart.row_title} {chart.rows[row]}, {chart.column_title} {chart.columns[column]}: {text}"
        drawing.put(0, height - 1, cut(readout, width), "cursor")
    elif not known:
        drawing.put(0, height - 1, "no samples yet", "text")
    elif len(grid.rows) < len(chart.rows) or len(grid.columns) < len(chart.columns):
        hidden = (
            f"{len(grid.rows)} of {len(chart.rows)} rows, {len(grid.columns)} of {len(chart.columns)} columns shown"
        )
        drawing.put(0, height - 1, cut(hidden, width), "axis")
    return drawing


def _grid(chart: HeatMap, texts: Sequence[Sequence[str]], width: int, height: int, cursor: int | None) -> _Grid:
    """Return the grid: around the cursor where not all cells fit, and with larger cells where there is room for all."""
    labels = max(map(len, chart.rows), default=0) + 1
    wide = max([len(text) for row in texts for text in row] + [len(name) for name in chart.columns] + [2]) + 1
    across, down = max((width - labels) // wide, 1), max(height - _TOP - 1, 1)
    if across >= len(chart.columns) > 1 and down >= len(chart.rows) > 1 and chart.unit != "verdict":
        for high in _HIGH:
            wider = min((width - labels) // len(chart.columns), _ASPECT * high)
            if down >= high * len(chart.rows) and wider >= max(wide + 2, 2 * high):
                return _Grid(labels, wide - 1, wider, high, range(len(chart.columns)), range(len(chart.rows)))
    first_row = first_column = 0
    if cursor is not None and chart.columns:
        first_column = max(min(cursor % len(chart.columns) - across // 2, len(chart.columns) - across), 0)
        first_row = max(min(cursor // len(chart.columns) - down // 2, len(chart.rows) - down), 0)
    columns = range(first_column, min(first_column + across, len(chart.columns)))
    return _Grid(labels, wide, wide, 1, columns, range(first_row, min(first_row + down, len(chart.rows))))


def _common_prefix(values: Sequence[float], unit: str) -> tuple[float, str]:
    """What to divide all values by so that they print short, and the unit that is left."""
    largest = max((abs(value) for value in values), default=0.0) or 1.0
    number, prefixed = number_and_unit(largest, unit)
    if not prefixed:
        return 1.0, {"1/s": "per second", "1": "count", "bytes/s": "bytes per second"}.get(unit, unit)
    about = largest / float(number)  # a whole prefix but for the rounding of the three digits
    base = 1024.0 if "i" in prefixed else 1000.0
    return base ** round(math.log(about, base)), prefixed
