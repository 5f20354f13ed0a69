"""A chart on the screen, with a readout that keys move."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.message import Message

from sizeup.charts.cells import cursor_positions, draw, key_at
from sizeup.charts.chart import HeatMap, LineChart
from sizeup.charts.drawing import Drawing, Glyphs
from sizeup.charts.latency_cells import Picture, Timeline
from sizeup.charts.line_cells import chosen_point, points_at
from sizeup.charts.share_bar import ScreenLook
from sizeup.tui.actions import bindings
from sizeup.tui.widgets.cells import CellView

if TYPE_CHECKING:
    from sizeup.session.value import PointKey


class ChartView(CellView, can_focus=True):
    """Any chart value, with a readout that the arrow keys move."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("chart")]

    class Moved(Message):
        """The readout stands elsewhere."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._glyphs = glyphs
        self.chart: Picture | None = None
        """What is shown; None before the first."""
        self._cursors: dict[str, tuple[int, int]] = {}
        """Where the readout stands in each picture: the position, and the line of several there."""
        self.hint: Callable[[PointKey], str] = lambda _: ""
        """What can be done at the point under the readout, shown beside it."""

    @property
    def chosen(self) -> PointKey | None:
        """The point of the step under the readout; None where there is none."""
        cursor = self._cursor
        return None if self.chart is None or cursor is None else key_at(self.chart, *cursor)

    @property
    def reads(self) -> bool:
        """Whether a readout stands on the picture."""
        return self._cursor is not None

    @property
    def _cursor(self) -> tuple[int, int] | None:
        cursor = None if self.chart is None else self._cursors.get(_title(self.chart))
        return cursor if cursor is not None and cursor[0] < self._positions else None

    @property
    def _positions(self) -> int:
        return cursor_positions(self.chart) if self.chart is not None else 0

    def show(self, chart: Picture) -> None:
        """Show a chart in place of the last; only cells that differ are sent."""
        if chart is not self.chart:
            self.chart = chart
            self._redraw()

    def action_cursor(self, step: int) -> None:
        """Move the readout along, starting from the end it moves away from."""
        if not self._positions:
            return
        cursor = self._cursor
        if cursor is None:
            self._put(0 if step > 0 else self._positions - 1, 0)
        else:
            self._put(min(max(cursor[0] + step, 0), self._positions - 1), cursor[1])

    def action_cursor_row(self, step: int) -> None:
        """Move the readout by a row of a matrix, to another line of a chart that has several, else by a position."""
        chart, cursor = self.chart, self._cursor
        if isinstance(chart, LineChart) and len(chart.lines) > 1 and cursor is not None:
            lines = [number for number, _ in points_at(chart, cursor[0])]
            at = lines.index(chosen_point(chart, *cursor)[0]) + step
            self._put(cursor[0], lines[min(max(at, 0), len(lines) - 1)])
            return
        self.action_cursor(step * len(chart.columns) if isinstance(chart, HeatMap) else step)

    def action_cursor_to(self, position: int) -> None:
        """Put the readout on the first position (0) or the last (-1)."""
        if self._positions:
            self._put(position % self._positions, self._cursor[1] if self._cursor else 0)

    def _put(self, position: int, line: int) -> None:
        if self.chart is not None:
            self._cursors[_title(self.chart)] = position, line
            self._redraw()
            self.post_message(self.Moved())

    def _redraw(self) -> None:
        if self.chart is None or not self.size:
            self.drawing = Drawing(0, 0)  # so that the last picture is not drawn where this one comes next
            return
        width, height = self.size
        position, line = self._cursor or (None, 0)
        key = self.chosen
        hint = "" if key is None else self.hint(key)
        plain = isinstance(self.chart, Timeline) and getattr(self.app, "look", None) is ScreenLook.PLAIN
        glyphs = Glyphs.BLOCK if plain and self._glyphs is Glyphs.BRAILLE else self._glyphs  # two colors to a cell
        drawing = draw(self.chart, width, height, glyphs, position, line, len(hint) + 2 if hint else 0)
        if hint and height and width > len(hint) + 2 and not "".join(drawing.rows[-1][-len(hint) - 2 :]).strip():
            drawing.put(width - len(hint), height - 1, hint, "axis")
        self.present(drawing)


def _title(picture: Picture) -> str:
    return getattr(picture, "title", "") or getattr(picture, "name", "")
