"""Rows that keys scroll, on the screen as cells of which only those that changed are sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual import events
from textual.binding import Binding, BindingType

from sizeup.tui.actions import bindings
from sizeup.tui.widgets.cells import CellView

_Row = TypeVar("_Row")


class ScrolledRows(CellView, can_focus=True):
    """What stands above and below the rows is each view's own and stays where it is."""

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
        self._top = self._last = 0
        """The first row in sight, and the furthest that this can be."""
        self._visible_rows = 1

    def _redraw(self) -> None:
        raise NotImplementedError

    def _visible(self, rows: Sequence[_Row], height: int) -> Sequence[_Row]:
        """Return the rows that fit, scrolled to the last one at most."""
        self._visible_rows = max(height, 1)
        self._last = max(len(rows) - self._visible_rows, 0)
        self._top = min(max(self._top, 0), self._last)
        return rows[self._top : self._top + self._visible_rows]

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

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        del event
        self._redraw()
