"""Any chart in character cells: for the screen and for text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizeup.charts.bar_cells import draw_bars
from sizeup.charts.chart import Chart, HeatMap, LineChart
from sizeup.charts.drawing import Drawing, Glyphs

if TYPE_CHECKING:
    from sizeup.session.value import PointKey


def draw(
    chart: Chart, width: int, height: int, glyphs: Glyphs, cursor: int | None = None, line: int = 0, spare: int = 0
) -> Drawing:
    """Any chart, in ``width`` x ``height`` cells; ``cursor`` counts the places that the readout can stand on.

    Of several lines that have a point there, the readout begins with that of ``line``; it leaves ``spare`` columns.
    """
    if isinstance(chart, LineChart):
        from sizeup.charts.line_cells import draw_lines

        return draw_lines(chart, width, height, glyphs, cursor, line, spare)
    if isinstance(chart, HeatMap):
        from sizeup.charts.heat_cells import draw_heat

        return draw_heat(chart, width, height, cursor)
    return draw_bars(chart, width, height, glyphs, cursor)


def cursor_positions(chart: Chart) -> int:
    """How many places the readout can stand on: distinct x values, cells or bars."""
    if isinstance(chart, LineChart):
        from sizeup.charts.line_cells import positions

        return len(positions(chart))
    if isinstance(chart, HeatMap):
        return len(chart.rows) * len(chart.columns)
    return len(chart.bars)


def key_at(chart: Chart, cursor: int, line: int = 0) -> PointKey | None:
    """The point of the step that stands at the cursor; None where the picture shows something else."""
    if isinstance(chart, LineChart):
        from sizeup.charts.line_cells import chosen_point

        return chosen_point(chart, cursor, line)[1].key
    if isinstance(chart, HeatMap):
        row, column = divmod(cursor, len(chart.columns))
        return chart.keys[row][column] if chart.keys else None
    return chart.bars[cursor].key
