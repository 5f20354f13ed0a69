"""Rows that keys scroll, on the screen as cells of which only those that changed are sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual.binding import BindingType

from sizeup.tui.actions import CURSOR_KEYS, bindings
from sizeup.tui.widgets.cells import CellView

_Row = TypeVar("_Row")


class ScrolledRows(CellView, can_focus=True):
    """What stands above and below the rows is each view's own and stays where it is."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list"), *CURSOR_KEYS]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._top = self._last = 0
        """The first row in sight, and the furthest that this can be."""
        self._visible_rows = 1

    def _visible(self, rows: Sequence[_Row], height: int) -> Sequence[_Row]:
        """Return the rows that fit, scrolled to the last one at most; the border says how many others there are."""
        self._visible_rows = max(height, 1)
        self._last = max(len(rows) - self._visible_rows, 0)
        self._top = min(max(self._top, 0), self._last)
        shown = rows[self._top : self._top + self._visible_rows]
        below = len(rows) - self._top - len(shown)
        hidden = " and ".join(f"{count} {where}" for count, where in ((self._top, "above"), (below, "below")) if count)
        subtitle = f"more rows: {hidden}" if hidden else ""
        if subtitle != self.border_subtitle:  # to set it repaints the whole widget, the same words as well
            self.border_subtitle = subtitle
        return shown

    def _move_to(self, row: int) -> None:
        self._top = row
        self._redraw()

    def action_cursor_down(self) -> None:
        """One row on."""
        self._move_to(self._top + 1)

    def action_cursor_up(self) -> None:
        """One row back."""
        self._move_to(self._top - 1)

    def action_page_down(self) -> None:
        """One screen on."""
        self._move_to(self._top + self._visible_rows)

    def action_page_up(self) -> None:
        """One screen back."""
        self._move_to(self._top - self._visible_rows)

    def action_first(self) -> None:
        """To the top."""
        self._move_to(0)

    def action_last(self) -> None:
        """To the end."""
        self._move_to(self._last)
