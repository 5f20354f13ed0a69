"""The points of a step in a table that a click on a heading, or a key, sorts."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.binding import BindingType
from textual.widgets import DataTable

from sizeup.tui.actions import bindings
from sizeup.views.run.point_rows import PointRows


class PointTable(DataTable[Text]):
    """One line for each measurement."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]
    DEFAULT_CSS = """
    PointTable { height: 1fr; background: $background; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id, cursor_type="row", zebra_stripes=False, cell_padding=1)
        self.shown = PointRows((), (), ())
        """What the table holds."""
        self._sorted_by: int | None = None
        """The column; None for the order of the measurements."""
        self._reversed = False

    def show(self, rows: PointRows) -> None:
        """Show measurements in place of the last; the order that was chosen stays."""
        if rows == self.shown and self.columns:
            return
        if rows.columns != self.shown.columns:
            self._sorted_by, self._reversed = None, False
        self.shown = rows
        self._fill()

    def action_sort(self) -> None:
        """Sort by the column the other way round, then by the next one."""
        if not self.shown.columns:
            return
        at = -1 if self._sorted_by is None else self._sorted_by
        if at >= 0 and not self._reversed:
            self._reversed = True
        else:
            self._sorted_by, self._reversed = (at + 1) % len(self.shown.columns), False
        self._fill()

    @on(DataTable.HeaderSelected)
    def _clicked(self, event: DataTable.HeaderSelected) -> None:
        event.stop()
        if event.column_index == self._sorted_by:
            self._reversed = not self._reversed
        else:
            self._sorted_by, self._reversed = event.column_index, False
        self._fill()

    def _fill(self) -> None:
        cursor, shown = self.cursor_row, self.shown
        self.clear(columns=True)
        for number, (title, numeric) in enumerate(zip(shown.columns, shown.numeric, strict=True)):
            mark = "" if number != self._sorted_by else " ▼" if self._reversed else " ▲"
            self.add_column(Text(f"{title}{mark}", justify="right" if numeric else "left"))
        rows, column = shown.rows, self._sorted_by
        if column is not None:
            rows = tuple(sorted(rows, key=lambda row: row[column].sort_key, reverse=self._reversed))
        for row in rows:
            cells = [
                Text(cell.text, justify="right" if numeric else "left")
                for cell, numeric in zip(row, shown.numeric, strict=True)
            ]
            self.add_row(*cells)
        if shown.rows:
            self.move_cursor(row=min(max(cursor, 0), len(shown.rows) - 1))

    def action_first(self) -> None:
        """First row."""
        self.action_scroll_top()

    def action_last(self) -> None:
        """Last row."""
        self.action_scroll_bottom()
