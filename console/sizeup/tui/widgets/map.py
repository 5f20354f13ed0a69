"""The map of a machine, redrawn where load or memory changed."""

from __future__ import annotations

from textual import events

from sizeup.report.cells import Drawing
from sizeup.tui.widgets.cells import CellView
from sizeup.views.map import Map

_ROLES = {"name": "title", "offline": "disturbed", "memory": "series-1", "free": "axis", "core": "series-0"}
"""What a map's roles look like; loads are heat, and their digits say the same."""


class MapView(CellView, can_focus=True):
    """Nodes, cores, memory and devices in bands; scrolls by rows where they do not fit."""

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
        self._scroll(self.size.height - 2)

    def action_page_up(self) -> None:
        """Scroll back by a screen."""
        self._scroll(2 - self.size.height)

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        del event
        self._redraw()

    def _scroll(self, rows: int) -> None:
        last = 0 if self._map is None else max(len(self._map.rows) - self.size.height + 2, 0)
        self._top = min(max(self._top + rows, 0), last)
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if self._map is None or not width or not height:
            return
        drawing = Drawing(width, height)
        shown = self._map.rows[self._top : self._top + height - 2]
        for y, row in enumerate(shown):
            x = 0
            for cell in row:
                role = cell.role
                if role.startswith("load-"):
                    role = f"heat-{min(int(role[5:]), 7)}"
                drawing.put(x, y, cell.text, _ROLES.get(role, role))
                x += len(cell.text)
        more = len(self._map.rows) - self._top - len(shown)
        if more > 0:
            drawing.put(0, height - 2, f"{more} more rows below", "axis")
        drawing.put(0, height - 1, self._map.legend, "axis")
        self.present(drawing)
