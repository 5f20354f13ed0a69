"""A chart on the screen, with a readout that keys move."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType

from sizeup.report.cells import cursor_places, draw
from sizeup.report.drawing import Glyphs
from sizeup.tui.actions import bindings
from sizeup.tui.widgets.cells import CellView
from sizeup.views.chart import Chart, HeatMap


class ChartView(CellView, can_focus=True):
    """Any chart value, with a readout that the arrow keys move."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("chart")]

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._glyphs = glyphs
        self._chart: Chart | None = None
        self._cursor: int | None = None

    @property
    def chart(self) -> Chart | None:
        """What is shown; None before the first."""
        return self._chart

    def show(self, chart: Chart) -> None:
        """Show a chart in place of the last; only cells that differ are sent."""
        if self._chart is not None and chart.title != self._chart.title:
            self._cursor = None
        self._chart = chart
        self._redraw()

    def action_cursor(self, step: int) -> None:
        """Move the readout along, starting from the end it moves away from."""
        self._move(step)

    def action_cursor_row(self, step: int) -> None:
        """Move the readout by a row of a heat map, by a place elsewhere."""
        self._move(step * len(self._chart.columns) if isinstance(self._chart, HeatMap) else step)

    def action_cursor_to(self, place: int) -> None:
        """Put the readout on the first place (0) or the last (-1)."""
        places = cursor_places(self._chart) if self._chart is not None else 0
        if places:
            self._cursor = place % places
            self._redraw()

    def _move(self, step: int) -> None:
        places = cursor_places(self._chart) if self._chart is not None else 0
        if not places:
            return
        if self._cursor is None:
            self._cursor = 0 if step > 0 else places - 1
        else:
            self._cursor = min(max(self._cursor + step, 0), places - 1)
        self._redraw()

    def _redraw(self) -> None:
        if self._chart is None or not self.size:
            return
        if self._cursor is not None and self._cursor >= cursor_places(self._chart):
            self._cursor = None
        self.present(draw(self._chart, self.size.width, self.size.height, self._glyphs, self._cursor))

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        del event
        self._redraw()
