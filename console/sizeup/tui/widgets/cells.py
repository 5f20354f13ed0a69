"""Cells on the screen: draws a grid, a run of one style at a time, and only the rows that changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partialmethod
from typing import ClassVar, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style as VisualStyle
from textual.widget import Widget

from sizeup.charts.drawing import GROUND, Drawing, cut
from sizeup.charts.palette import SERIES
from sizeup.tui.actions import CURSOR_KEYS, bindings
from sizeup.tui.widgets.lists import hanging

_LOOKS = {
    "title": "bold $hi",
    "text": "$foreground",
    "axis": "$dim",
    "boundary": "$dim",
    "interval": "$dim",
    "frame": "$line",
    "cursor": "bold reverse",
    "disturbed": "bold $bad",
    "status-pass": "bold $ok",
    "status-warn": "bold $warn",
    "status-fail": "bold $bad",
    "status-active": "bold $acc",
    "badge-active": "bold $ink on $acc",
}
"""What each role looks like. Not as component classes: Textual works all of those out for every chart, drawn or not,
at the start and whenever the focus moves, and a chart draws a few of them. Any other role is a token of the palette."""

_GROUNDS = {"pass": "$ok-shade", "warn": "$warn-shade", "fail": "$bad-shade"}
"""Backgrounds that a drawing gives to cells of any role, where they are no tokens."""
_SERIES = "series-"
"""What begins the role of a series; behind it stands its number."""


class CellView(Widget):
    """Any drawing, its roles turned into theme colors."""

    DEFAULT_CSS = """
    CellView { height: 1fr; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.drawing = Drawing(0, 0)
        """The cells as they stand."""
        self._styles: dict[str, Style] = {}

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._redraw()

    def _redraw(self) -> None:
        raise NotImplementedError

    def present(self, drawing: Drawing) -> None:
        """Show a drawing in place of the last; only rows that differ are drawn again."""
        before, self.drawing = self.drawing, drawing
        if (before.width, before.height) != (drawing.width, drawing.height):
            self.refresh()
        elif rows := drawing.changed_rows(before):
            self.refresh(*(Region(0, y, drawing.width, 1) for y in rows))

    def notify_style_update(self) -> None:
        """Forget the colors of the last theme."""
        self._styles = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One row of cells, a segment for each run of one style."""
        base = self._styles.get("")
        if base is None:
            base = self._styles[""] = self.rich_style
        if y >= self.drawing.height:
            return Strip.blank(self.size.width, base)
        segments = [Segment(text, self._style(role, base)) for text, role in self.drawing.runs(y)]
        return Strip(segments, self.drawing.width)

    def _style(self, role: str, base: Style) -> Style:
        if not role:
            return base
        style = self._styles.get(role)
        if style is None:
            # Blank cells do not inherit the background, so each style carries it.
            front, _, ground = role.partition(GROUND)
            words = self.style_of(front)
            if ground:
                words = f"{words} on {_GROUNDS.get(ground, f'${ground}')}"
            style = self._styles[role] = base + VisualStyle.parse(words).rich_style
        return style

    def style_of(self, role: str) -> str:
        """Return what a role looks like, as a style of Textual; a widget with roles of its own adds them."""
        if not role or role in _LOOKS:
            return _LOOKS.get(role, "")
        if role.startswith(_SERIES):
            name = SERIES[int(role.removeprefix(_SERIES)) % len(SERIES)]
            return "$foreground" if name == "text" else f"${name}"
        return f"${role}"


_Row = TypeVar("_Row")
END = 1_000_000
"""More rows than any view has."""


class ScrolledRows(CellView, can_focus=True):
    """What stands above and below the rows is each view's own and stays where it is."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list"), *CURSOR_KEYS]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._top = 0
        """The first row in sight."""
        self._visible_rows = 1

    def _visible(self, rows: Sequence[_Row], height: int) -> Sequence[_Row]:
        """Return the rows that fit, scrolled to the last one at most; the border says how many others there are."""
        self._visible_rows = max(height, 1)
        self._top = max(min(self._top, len(rows) - self._visible_rows), 0)
        shown = rows[self._top : self._top + self._visible_rows]
        below = len(rows) - self._top - len(shown)
        hidden = " and ".join(f"{count} {where}" for count, where in ((self._top, "above"), (below, "below")) if count)
        subtitle = f"more rows: {hidden}" if hidden else ""
        if subtitle != self.border_subtitle:  # to set it repaints the whole widget, the same words as well
            self.border_subtitle = subtitle
        return shown

    def _move_by(self, rows: int) -> None:
        """Scroll by so many rows, at most to either end."""
        self._top += rows
        self._redraw()

    def _step(self, rows: int = 0, *, screens: int = 0) -> None:
        self._move_by(rows + screens * self._visible_rows)

    action_cursor_up, action_cursor_down = partialmethod(_step, -1), partialmethod(_step, 1)
    action_page_up, action_page_down = partialmethod(_step, screens=-1), partialmethod(_step, screens=1)
    action_first, action_last = partialmethod(_step, -END), partialmethod(_step, END)


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
    first.append((text[: len(text) - len(text.lstrip())], ""))  # the gap to what stands before the words
    indent = min(sum(len(part) for part, _ in first), width // 2)
    lines = [line.strip() for line in hanging(text.lstrip(), width, indent, indent).splitlines()] or [""]
    return [[*first, (lines[0], role)], *([(" " * indent, ""), (line, role)] for line in lines[1:])]
