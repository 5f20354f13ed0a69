"""A few rows of text that change often: only the characters that differ are sent."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual import events

from sizeup.charts.drawing import Drawing
from sizeup.tui.widgets.cells import CellView


class TextRows(CellView):
    """Rows of text, each with the role that gives it its look.

    While they change often they stay one line each, and what is too long is cut with dots; else they are folded.
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._rows: tuple[tuple[str, str], ...] = ()
        self._folds = False

    def show(self, rows: Sequence[tuple[str, str]], *, fold: bool = False) -> None:
        """Text and role of each row; ``fold`` gives each as many lines as it needs."""
        self._rows, self._folds = tuple(rows), fold
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        rows = self._rows
        if self._folds and width > 0:
            rows = tuple((line, role) for text, role in rows for line in textwrap.wrap(text, width))
        if rows and height != len(rows):
            self.styles.height = len(rows)
        drawing = Drawing(width, height)
        for y, (text, role) in enumerate(rows):
            drawing.put(0, y, text if len(text) <= width else f"{text[: max(width - 3, 0)]}...", role)
        self.present(drawing)

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        del event
        self._redraw()
