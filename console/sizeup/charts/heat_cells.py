"""A matrix in character cells, its values printed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from sizeup.charts.chart import HeatMap
from sizeup.charts.drawing import HEAT_LEVELS, Drawing, cut, shortened
from sizeup.units import format_value

_TOP = 3
"""Rows above the cells: the title, the directions and the names of the columns."""
_HIGH = (5, 3)
"""Rows of large cells: an odd number has a middle for the value. More are no easier to read."""
_ASPECT = 4
"""Columns of a large cell for each of its rows, at most."""
_VERDICT_ROLES = {"pass": "status-pass", "warn": "status-warn", "fail": "status-fail"}


def heat_readout(chart: HeatMap, cursor: int) -> str:
    """A cell in words."""
    row, column = divmod(cursor, len(chart.columns))
    value = chart.values[row][column]
    text = "not measured" if value is None else format_value(value, chart.unit)
    return f"{chart.row_title} {chart.rows[row]}, {chart.column_title} {chart.columns[column]}: {text}"


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
            level = 0 if high <= low or value is None else math.floor((value - low) / (high - low) * HEAT_LEVELS)
            role = "text" if value is None else f"heat-{min(level, HEAT_LEVELS - 1)}"
            if named and value is not None:
                role = _VERDICT_ROLES.get(texts[row][column], "text")
            if cursor == row * len(chart.columns) + column:
                role = "cursor"
            x, y = grid.place(row, column)
            for line in range(grid.high):
                drawing.put(x, y + line, grid.middle(texts[row][column] if line == grid.high // 2 else ""), role)
    if cursor is not None and chart.rows and chart.columns:
        cells = len(chart.rows) * len(chart.columns)
        drawing.put(0, height - 1, cut(heat_readout(chart, min(cursor, cells - 1)), width), "cursor")
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
    number, _, prefixed = format_value(largest, unit).partition(" ")
    if not prefixed:
        return 1.0, _unit_word(unit)
    about = largest / float(number)  # a whole prefix but for the rounding of the three digits
    base = 1024.0 if "i" in prefixed else 1000.0
    return base ** round(math.log(about, base)), prefixed


def _unit_word(unit: str) -> str:
    return {"1/s": "per second", "1": "count", "bytes/s": "bytes per second"}.get(unit, unit)
