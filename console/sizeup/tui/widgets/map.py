"""The map of a machine, redrawn where load or memory changed."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType

from sizeup.report.drawing import Drawing
from sizeup.tui.actions import bindings
from sizeup.tui.widgets.cells import CellView
from sizeup.views.map import Map

_ROLES = {
    "name": "title", "device": "title", "offline": "disturbed", "trouble": "disturbed", "used": "series-1",
    "free": "axis", "core": "series-0",
}  # fmt: skip
"""What a map's roles look like; loads are heat, and their digits say the same."""


_FIXED_ROWS = 2
"""The heading and the legend."""


class MapView(CellView, can_focus=True):
    """Nodes, cores, memory and devices in bands; scrolls by rows where they do not fit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("list"),
        ("down", "cursor_down"),
        ("up", "cursor_up"),
        ("pagedown", "page_down"),
        ("pageup", "page_up"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._map: Map | None = None
        self._top = 0

    def show(self, shown: Map) -> None:
        """Show a map in place of the last."""
        self._map = shown
        self._redraw()

    def action_cursor_down(self) -> None:
        """Scroll on."""
        self._scroll(1)

    def action_cursor_up(self) -> None:
        """Scroll back."""
        self._scroll(-1)

    def action_page_down(self) -> None:
        """Scroll on by a screen."""
        self._scroll(self.size.height - _FIXED_ROWS)

    def action_page_up(self) -> None:
        """Scroll back by a screen."""
        self._scroll(_FIXED_ROWS - self.size.height)

    def action_first(self) -> None:
        """Go to the top."""
        self._scroll(-self._top)

    def action_last(self) -> None:
        """Go to the bottom."""
        self._scroll(0 if self._map is None else len(self._map.rows))

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        del event
        self._redraw()

    def _scroll(self, rows: int) -> None:
        last = 0 if self._map is None else max(len(self._map.rows) - self.size.height + _FIXED_ROWS, 0)
        self._top = min(max(self._top + rows, 0), last)
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if self._map is None or not width or not height:
            return
        drawing = Drawing(width, height)
        room = max(height - _FIXED_ROWS, 1)
        self._top = min(self._top, max(len(self._map.rows) - room, 0))
        shown = self._map.rows[self._top : self._top + room]
        for y, row in enumerate((self._map.heading, *shown)):
            x = 0
            for cell in row:
                role = cell.role
                if role.startswith("load-"):
                    role = f"heat-{min(int(role[5:]), 7)}"
                drawing.put(x, y, cell.text, _ROLES.get(role, role))
                x += len(cell.text)
        below = len(self._map.rows) - self._top - len(shown)
        hidden = " and ".join(f"{rows} {where}" for rows, where in ((self._top, "above"), (below, "below")) if rows)
        subtitle = f"more rows: {hidden}" if hidden else ""
        if subtitle != self.border_subtitle:  # to set it repaints the whole map, the same words as well
            self.border_subtitle = subtitle
        drawing.put(0, height - 1, self._map.legend, "axis")
        self.present(drawing)
