"""A few rows of text that change often: only the characters that differ are sent."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events

from sizeup.report.cells import Drawing
from sizeup.tui.widgets.cells import CellView


class TextRows(CellView):
    """Rows of text, each with the role that gives it its look; what is too long is cut with dots."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._rows: tuple[tuple[str, str], ...] = ()

    def show(self, rows: Sequence[tuple[str, str]]) -> None:
        """Text and role of each row."""
        self._rows = tuple(rows)
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        drawing = Drawing(width, height)
        for y, (text, role) in enumerate(self._rows):
            drawing.put(0, y, text if len(text) <= width else f"{text[: max(width - 3, 0)]}...", role)
        self.present(drawing)

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        del event
        self._redraw()
