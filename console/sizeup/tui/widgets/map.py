"""The map of a machine, redrawn where load or memory changed; a cursor selects the parts on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from sizeup.charts.drawing import Drawing
from sizeup.charts.share_bar import ScreenLook
from sizeup.model.topology import Pu
from sizeup.tui.widgets.cells import ScrolledRows
from sizeup.views.map.cells import Cell, Row
from sizeup.views.map.cores import FULL, LOADS, legend
from sizeup.views.map.map import Map

_ROLES = {
    "name": "title", "device": "hi", "offline": "disturbed", "barred": "disturbed", "trouble": "status-warn",
    "used": "s1", "free": "track", "core": "s1", "cpu": "s1", "cache": "dim", "value": "hi",
    "added": "s3", "removed": "s4", "changed": "s2",
}  # fmt: skip
"""What a map's roles look like."""
_LOAD, _SELECTED = "load-", "selected-"
_CELLS, _BARS = frozenset({"core", "cpu"}), frozenset({"used", "free"})
"""Roles of cores without a load, and of bars, which the cursor leaves as they are."""
_RAMP_STEPS = 6
_DENSITY = {ScreenLook.SIXTEEN: "░▒▓█", ScreenLook.PLAIN: "░▒▓█", ScreenLook.ASCII: ".:+#"}
"""Loads where there are few colors."""


def _drawn(cell: Cell, look: ScreenLook) -> tuple[str, str]:
    """Return the text and the role of a cell: a load as a color of the ramp, or as a density where colors are few."""
    text = cell.text
    if cell.role == "free" and look in (ScreenLook.COLOR, ScreenLook.SIXTEEN):
        text = text.replace("·", "▄")
    if not cell.role.startswith(_LOAD):
        return text, _ROLES.get(cell.role, cell.role)
    step = int(cell.role.removeprefix(_LOAD))
    if look is ScreenLook.COLOR:
        return text, f"ramp-{step * _RAMP_STEPS // LOADS}"
    if set(text) <= {FULL, "█"}:
        text = _DENSITY[look][step * len(_DENSITY[look]) // LOADS] * len(text)
    return text, "s1"


def legend_text(pus: Sequence[Pu], width: int, look: ScreenLook) -> Content:
    """Return what the colors of the cores mean, and the signs that are there."""
    return Content.assemble(*((text, f"${role}") for text, role in (_drawn(cell, look) for cell in legend(pus, width))))


class MapView(ScrolledRows):
    """Sockets, nodes, cores, memory and devices; scrolls by rows where they do not fit."""

    look = ScreenLook.COLOR
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
        self._shown: Sequence[Row] = ()
        """The rows in sight."""
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
        x = 0
        for cell in self._shown[event.y] if event.y < len(self._shown) else ():
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

    def _redraw(self) -> None:
        width, height = self.size
        if self._map is None or not width or not height:
            return
        drawing = Drawing(width, height)
        below = self._map.below
        room = height - len(below)
        higher = len(self._map.rows) > room
        self._shown = self._visible(self._map.rows, room - higher)
        note: list[Row] = [(Cell(str(self.border_subtitle), "dim"),)] if higher else []
        for y, row in enumerate((*self._shown, *note, *below)):
            x = 0
            for cell in row:
                drawing.put(x, y, *self._cell(cell))
                x += len(cell.text)
        self.present(drawing)

    def _cell(self, cell: Cell) -> tuple[str, str]:
        text, role = _drawn(cell, self.look)
        if not cell.key or cell.key != self.chosen or cell.role in _BARS:
            return text, role
        if cell.role.startswith(_LOAD) or cell.role in _CELLS:
            return "◆" * len(text), "status-active"
        return text, f"{_SELECTED}{role}" if self.look in (ScreenLook.COLOR, ScreenLook.SIXTEEN) else "cursor"

    def style_of(self, role: str) -> str:
        """Return what a role looks like, with the ground of the part under the cursor."""
        style = super().style_of(role.removeprefix(_SELECTED))
        return f"{style} on $sel" if role.startswith(_SELECTED) else style
