"""Rows of text in several styles that change often: only the characters that differ are sent."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from sizeup.charts.drawing import Drawing, cut
from sizeup.tui.widgets.cells import CellView

SegmentRow = Sequence[tuple[str, str]]
"""Text and role of each segment of one row."""


class SegmentRows(CellView):
    """Rows of text segments; the widget is as high as it has rows.

    While they change often, each is one line and ends in an ellipsis if it is too long; else the last segment of a
    row is wrapped under itself.
    """

    DEFAULT_CSS = """
    SegmentRows { height: 0; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.rows: tuple[SegmentRow, ...] = ()
        """What is shown, uncut."""
        self._folds = False

    def show(self, rows: Sequence[SegmentRow], *, fold: bool = False) -> None:
        """Show rows in place of the last; ``fold`` wraps each to as many lines as it needs."""
        self.rows, self._folds = tuple(rows), fold
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        folds = self._folds and width
        rows = [line for row in self.rows for line in (_folded(row, width) if folds else [row])]
        wanted = self.styles.height
        if wanted is None or wanted.value != len(rows):
            self.styles.height = len(rows)
        drawing = Drawing(width, height)
        for y, row in enumerate(rows):
            x = 0
            for text, role in row:
                drawing.put(x, y, cut(text, width - x), role)
                x += len(text)
        self.present(drawing)


def _folded(row: SegmentRow, width: int) -> list[SegmentRow]:
    """Return a row with its last segment wrapped under itself."""
    if not row:
        return [row]
    *first, (text, role) = row
    if text != text.lstrip():  # blanks before the words are the gap to what stands before them
        first = [*first, (text[: len(text) - len(text.lstrip())], "")]
    indent = min(sum(len(part) for part, _ in first), width // 2)
    lines = textwrap.wrap(text.lstrip(), max(width - indent, 12), break_on_hyphens=False) or [""]
    return [[*first, (lines[0], role)], *([(" " * indent, ""), (line, role)] for line in lines[1:])]
