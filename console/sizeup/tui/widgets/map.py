"""The map of a machine, redrawn where load or memory changed."""

from __future__ import annotations

from sizeup.charts.drawing import HEAT_LEVELS, Drawing
from sizeup.tui.widgets.scrolled import ScrolledRows
from sizeup.views.map import LOADS, Map

_ROLES = {
    "name": "title", "device": "title", "offline": "disturbed", "barred": "disturbed", "trouble": "disturbed",
    "used": "series-1", "free": "axis", "core": "series-0", "cache": "text",
    "added": "series-2", "removed": "series-3", "changed": "series-1",
}  # fmt: skip
"""What a map's roles look like; loads are heat, and their digits say the same."""


_FIXED_ROWS = 2
"""The heading and the legend."""


class MapView(ScrolledRows):
    """Nodes, cores, memory and devices in bands; scrolls by rows where they do not fit."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._map: Map | None = None

    def show(self, shown: Map) -> None:
        """Show a map in place of the last."""
        self._map = shown
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if self._map is None or not width or not height:
            return
        drawing = Drawing(width, height)
        shown = self._in_sight(self._map.rows, height - _FIXED_ROWS)
        for y, row in enumerate((self._map.heading, *shown)):
            x = 0
            for cell in row:
                role = cell.role
                if role.startswith("load-"):
                    role = f"heat-{int(role[5:]) * HEAT_LEVELS // LOADS}"
                drawing.put(x, y, cell.text, _ROLES.get(role, role))
                x += len(cell.text)
        below = len(self._map.rows) - self._top - len(shown)
        hidden = " and ".join(f"{rows} {where}" for rows, where in ((self._top, "above"), (below, "below")) if rows)
        subtitle = f"more rows: {hidden}" if hidden else ""
        if subtitle != self.border_subtitle:  # to set it repaints the whole map, the same words as well
            self.border_subtitle = subtitle
        drawing.put(0, height - 1, self._map.legend, "axis")
        self.present(drawing)
