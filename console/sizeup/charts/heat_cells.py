"""A matrix in character cells, its values printed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sizeup.charts.chart import HeatMap
from sizeup.charts.drawing import HEAT_LEVELS, Drawing, cut, shortened
from sizeup.units import format_value

_VERDICT_ROLES = {"pass": "status-pass", "warn": "status-warn", "fail": "status-fail"}


def heat_readout(chart: HeatMap, cursor: int) -> str:
    """A cell in words."""
    row, column = divmod(cursor, len(chart.columns))
    value = chart.values[row][column]
    text = "not measured" if value is None else format_value(value, chart.unit)
    return f"{chart.row_title} {chart.rows[row]}, {chart.column_title} {chart.columns[column]}: {text}"


def draw_heat(chart: HeatMap, width: int, height: int, cursor: int | None) -> Drawing:
    """A matrix; ``cursor`` counts its cells row by row."""
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
    labels = max(map(len, chart.rows), default=0) + 1
    cell = max([len(text) for row in texts for text in row] + [len(name) for name in chart.columns] + [2]) + 1
    columns = max((width - labels) // cell, 1)
    first_column = 0
    if cursor is not None and chart.columns:
        at = cursor % len(chart.columns)
        first_column = max(min(at - columns // 2, len(chart.columns) - columns), 0)
    heading = f"{chart.row_title} down, {chart.column_title} across" + ("" if named else f", in {prefix}")
    drawing.put(0, 1, cut(heading, width), "text")
    for offset, name in enumerate(chart.columns[first_column : first_column + columns]):
        drawing.put(labels + offset * cell, 2, name.rjust(cell), "axis")
    low, high = min(known, default=0.0), max(known, default=1.0)
    rows = max(height - 4, 1)
    first_row = 0
    if cursor is not None and chart.columns:
        first_row = max(min(cursor // len(chart.columns) - rows // 2, len(chart.rows) - rows), 0)
    for line, row in enumerate(range(first_row, min(first_row + rows, len(chart.rows)))):
        drawing.put(0, 3 + line, chart.rows[row].rjust(labels - 1), "axis")
        for offset, column in enumerate(range(first_column, min(first_column + columns, len(chart.columns)))):
            value = chart.values[row][column]
            level = 0 if high <= low or value is None else math.floor((value - low) / (high - low) * HEAT_LEVELS)
            role = "text" if value is None else f"heat-{min(level, HEAT_LEVELS - 1)}"
            if named and value is not None:
                role = _VERDICT_ROLES.get(texts[row][column], "text")
            if cursor == row * len(chart.columns) + column:
                role = "cursor"
            drawing.put(labels + offset * cell, 3 + line, texts[row][column].rjust(cell), role)
    if cursor is not None and chart.rows and chart.columns:
        cells = len(chart.rows) * len(chart.columns)
        drawing.put(0, height - 1, cut(heat_readout(chart, min(cursor, cells - 1)), width), "cursor")
    elif not known:
        drawing.put(0, height - 1, "no samples yet", "text")
    elif rows < len(chart.rows) or columns < len(chart.columns):
        down, across = min(rows, len(chart.rows)), min(columns, len(chart.columns))
        hidden = f"{down} of {len(chart.rows)} rows, {across} of {len(chart.columns)} columns shown"
        drawing.put(0, height - 1, cut(hidden, width), "axis")
    return drawing


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
