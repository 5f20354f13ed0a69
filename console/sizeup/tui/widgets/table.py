"""A table on the screen, scrolled by keys; like a chart it sends only the cells that changed."""

from __future__ import annotations

from sizeup.charts.drawing import Drawing
from sizeup.charts.table import Table
from sizeup.report.table import table_lines
from sizeup.tui.widgets.scrolled import ScrolledRows


class TableView(ScrolledRows):
    """Any table value; its heading stays when the rows scroll."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._table = Table("", (), ())

    def show(self, table: Table) -> None:
        """Show a table in place of the last, scrolled as far."""
        self._table = table
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if not width or not height:
            return
        drawing = Drawing(width, height)
        lines = [line.removeprefix("  ") for line in table_lines(self._table, width + 2)]
        first_row = next((number for number, line in enumerate(lines, start=1) if line.startswith("--")), 0)
        heading, rows = lines[:first_row], lines[first_row:]
        shown = self._visible(rows, height - len(heading) - 1)
        for y, line in enumerate(heading):
            drawing.put(0, y, line, "title")
        for y, line in enumerate(shown, start=len(heading)):
            drawing.put(0, y, line, "text")
        if not rows:
            drawing.put(0, 0, "no samples yet", "text")
        elif len(shown) < len(rows):
            text = f"lines {self._top + 1} to {self._top + len(shown)} of {len(rows)}"
            drawing.put(0, height - 1, text, "axis")
        self.present(drawing)
