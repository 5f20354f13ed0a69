"""Heat maps as SVG: shaded cells, with their values where there is room to print them."""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.charts.axes import format_labels
from sizeup.charts.chart import HeatMap
from sizeup.charts.markup import Markup, element, joined
from sizeup.charts.svg_elements import fitted, text_element, text_width
from sizeup.units import format_value

_MOST_CELLS = 32
"""Rows or columns up to which a heat map has room to print its values."""


def heat_map(chart: HeatMap, top: float) -> tuple[Markup, float, float]:
    """Return the body of the picture, its width and its height."""
    known = [value for row in chart.values for value in row if value is not None]
    printed = len(chart.rows) <= _MOST_CELLS and len(chart.columns) <= _MOST_CELLS
    formatted, unit = format_labels(known, chart.unit)
    labels = iter(formatted)
    texts = [["–" if value is None else next(labels) for value in row] for row in chart.values]
    widest = max([*(text_width(text) for row in texts for text in row), *map(text_width, chart.columns)], default=1.0)
    row_labels = [fitted(name, 240) for name in chart.rows]
    left = 10 + max([text_width(name) for name in row_labels], default=0)
    wide = max(44.0, widest + 14) if printed else 11.0
    high = 28.0 if printed else 11.0
    top += 40
    low_end, reach = min(known, default=0.0), (max(known, default=0.0) - min(known, default=0.0)) or 1.0

    directions = f"Rows: {chart.row_title}. Columns: {chart.column_title}.{f' Values in {unit}.' if unit else ''}"
    parts = [text_element(0, top - 26, directions, class_="quiet")]
    step = 1 if printed else 8
    for column, name in enumerate(chart.columns):
        if column % step == 0:
            middle = left + wide * (column + 0.5)
            parts.append(text_element(middle, top - 4, name, text_anchor="middle" if printed else "start"))
    for row, cells in enumerate(chart.values):
        y = top + high * row
        if row % step == 0:
            parts.append(text_element(left - 8, y + high / 2 + 4, row_labels[row], text_anchor="end"))
        for column, value in enumerate(cells):
            x = left + wide * column
            # Even the strongest cell stays pale enough for the ink that prints its value.
            kind = (
                {"class_": "unknown"}
                if value is None
                else {"class_": "cell", "fill_opacity": f"{0.08 + 0.42 * (value - low_end) / reach:.2f}"}
            )
            named = f"{chart.row_title} {chart.rows[row]}, {chart.column_title} {chart.columns[column]}"
            said = element("title", f"{named}: {'not measured' if value is None else format_value(value, chart.unit)}")
            parts.append(element("rect", said, x=x, y=y, width=wide, height=high, **kind))
            if printed:
                parts.append(text_element(x + wide / 2, y + high / 2 + 4, texts[row][column], text_anchor="middle"))
    bottom = top + high * len(chart.rows)
    key = _heat_key(chart, known)
    parts.append(text_element(0, bottom + 20, key, class_="quiet"))
    width = max(
        left + wide * len(chart.columns) + 8,
        text_width(key),
        text_width(directions),
        text_width(chart.title) / 0.85,
        240,
    )
    return joined(*parts), width, bottom + 30


def _heat_key(chart: HeatMap, known: Sequence[float]) -> str:
    if not known:
        return "Nothing was measured."
    low, high = format_value(min(known), chart.unit), format_value(max(known), chart.unit)
    parts = [f"Faint is {low}, strong is {high}" if low != high else f"All are {low}"]
    if any(value is None for row in chart.values for value in row):
        parts.append("– was not measured")
    return "; ".join(parts) + "."
