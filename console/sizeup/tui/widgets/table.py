"""A table on the screen, scrolled by keys; like a chart it sends only the cells that changed."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from sizeup.report.drawing import Drawing
from sizeup.report.table import table_lines
from sizeup.tui.actions import bindings
from sizeup.tui.widgets.cells import CellView
from sizeup.views.table import Table

_HEADING_ROWS = 2


class TableView(CellView, can_focus=True):
    """Any table value; its heading stays when the rows scroll."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("list"),
        Binding("down", "cursor_down", show=False),
        Binding("up", "cursor_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("home", "first", show=False),
        Binding("end", "last", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._table = Table("", (), ())
        self._first = 0

    def show(self, table: Table) -> None:
        """Show a table in place of the last, scrolled as far."""
        self._table = table
        self._redraw()

    def action_cursor_down(self) -> None:
        """One line on."""
        self._scroll(1)

    def action_cursor_up(self) -> None:
        """One line back."""
        self._scroll(-1)

    def action_page_down(self) -> None:
        """One screen on."""
        self._scroll(self._room)

    def action_page_up(self) -> None:
        """One screen back."""
        self._scroll(-self._room)

    def action_first(self) -> None:
        """To the top."""
        self._first = 0
        self._redraw()

    def action_last(self) -> None:
        """To the end."""
        self._first = len(self._table.rows) * 100  # a row may take several lines; what is too far is cut below
        self._redraw()

    @property
    def _room(self) -> int:
        return max(self.size.height - _HEADING_ROWS - 1, 1)

    def _scroll(self, lines: int) -> None:
        self._first += lines
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if not width or not height:
            return
        drawing = Drawing(width, height)
        lines = [line.removeprefix("  ") for line in table_lines(self._table, width + 2)]
        behind_heading = next((number for number, line in enumerate(lines, start=1) if line.startswith("--")), 0)
        heading, rows = lines[:behind_heading], lines[behind_heading:]
        room = max(height - len(heading) - 1, 1)
        self._first = max(min(self._first, len(rows) - room), 0)
        for y, line in enumerate(heading):
            drawing.put(0, y, line, "title")
        for y, line in enumerate(rows[self._first : self._first + room], start=len(heading)):
            drawing.put(0, y, line, "text")
        if not rows:
            drawing.put(0, 0, "no samples yet", "text")
        elif len(rows) > room:
            last = min(self._first + room, len(rows))
            drawing.put(0, height - 1, f"lines {self._first + 1} to {last} of {len(rows)}", "axis")
        self.present(drawing)

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        del event
        self._redraw()
