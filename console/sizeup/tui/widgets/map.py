"""The map of a machine, redrawn where load or memory changed; a cursor selects the parts on it."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from sizeup.charts.drawing import Drawing
from sizeup.tui.widgets.scrolled import ScrolledRows
from sizeup.views.map.map import Cell, Map, Row

_ROLES = {
    "name": "title", "device": "title", "offline": "disturbed", "barred": "disturbed", "trouble": "disturbed",
    "used": "series-0", "free": "axis", "core": "series-0", "cpu": "series-0", "cache": "text", "value": "title",
    "added": "series-2", "removed": "series-3", "changed": "series-1",
}  # fmt: skip
"""What a map's roles look like; loads have one color, and their digits or bars say the rest."""


_BARS = frozenset({"used", "free"})
"""Roles that the cursor leaves as they are: reversed, what is used would look free."""


class MapView(ScrolledRows):
    """Sockets, nodes, cores, memory and devices; scrolls by rows where they do not fit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "go(-1, 0)", show=False),
        Binding("right,l", "go(1, 0)", show=False),
    ]

    class Selected(Message):
        """The cursor was moved to a part of the machine."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._map: Map | None = None
        self.chosen = ""
        """Key of the part under the cursor; empty where none is."""

    def show(self, shown: Map) -> None:
        """Show a map in place of the last."""
        self._map = shown
        self._redraw()

    def choose(self, *keys: str) -> None:
        """Put the cursor on the first of some parts that is on the map, and scroll to it."""
        places = self._places()
        chosen = next((key for key in keys if key in places), "")
        if chosen != self.chosen:
            self.chosen = chosen
            if chosen:
                y = places[chosen][0]
                if not self._top <= y < self._top + self._visible_rows:
                    self._top = max(y - self._visible_rows // 2, 0)
            self._redraw()

    def action_cursor_down(self) -> None:
        """Go to the part below."""
        self.action_go(0, 1)

    def action_cursor_up(self) -> None:
        """Go to the part above."""
        self.action_go(0, -1)

    def action_first(self) -> None:
        """Go to the first part."""
        self._select(next(iter(self._places()), ""), 0)

    def action_last(self) -> None:
        """Go to the last part."""
        self._select(next(reversed(self._places()), ""), len(self._map.rows) if self._map else 0)

    def on_click(self, event: events.Click) -> None:
        """Select the part under the mouse."""
        if self._map is None or event.y >= self.size.height - 1:
            return
        above = len(self._fixed())
        y = event.y - above
        row = self._fixed()[event.y] if y < 0 else (*self._map.rows[self._top :], *((),) * self.size.height)[y]
        x = 0
        for cell in row:
            x += len(cell.text)
            if event.x < x:
                self._select(cell.key, None)
                return

    def action_go(self, across: int, down: int) -> None:
        """Select the nearest part in a direction; where there is none, scroll."""
        places = self._places()
        if self.chosen not in places:
            self._select(next(iter(places), ""), 0)
            return
        y, x, end = places[self.chosen]
        found: list[tuple[int, int, str]] = []
        for key, (row, start, stop) in places.items():
            if down and (row - y) * down > 0:
                gap = max(start - end, x - stop, 0)
                found.append((abs(row - y) + 2 * gap, abs(start - x), key))
            elif across and row == y and (start - x) * across > 0:
                found.append((abs(start - x), 0, key))
        if found:
            self._select(min(found)[2], None)
        elif down:
            self._move_to(self._top + down)

    def _select(self, key: str, top: int | None) -> None:
        if top is not None:
            self._top = top
        if key:
            self.choose(key)
            self.post_message(self.Selected(key))
        self._redraw()

    def _places(self) -> dict[str, tuple[int, int, int]]:
        """Row, first and behind-last column of the first cells of each part."""
        places: dict[str, tuple[int, int, int]] = {}
        for y, row in enumerate(() if self._map is None else self._map.rows):
            x = 0
            for cell in row:
                end = x + len(cell.text)
                if cell.key:
                    before = places.setdefault(cell.key, (y, x, end))
                    if before[0] == y and before[2] == x:
                        places[cell.key] = (y, before[1], end)
                x = end
        return places

    def _fixed(self) -> list[Row]:
        """The rows above, which stay."""
        return [] if self._map is None else [row for row in (self._map.title, self._map.heading) if row]

    def _redraw(self) -> None:
        width, height = self.size
        if self._map is None or not width or not height:
            return
        drawing = Drawing(width, height)
        fixed = self._fixed()
        shown = self._visible(self._map.rows, height - len(fixed) - 1)
        for y, row in enumerate((*fixed, *shown)):
            x = 0
            for cell in row:
                drawing.put(x, y, cell.text, self._role(cell))
                x += len(cell.text)
        drawing.put(0, height - 1, self._map.legend, "axis")
        self.present(drawing)

    def _role(self, cell: Cell) -> str:
        if cell.key and cell.key == self.chosen and cell.role not in _BARS:
            return "cursor"
        return "series-0" if cell.role.startswith("load-") else _ROLES.get(cell.role, cell.role)
