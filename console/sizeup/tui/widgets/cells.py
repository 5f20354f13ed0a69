"""Cells on the screen: draws a grid, a run of one style at a time, and only the rows that changed."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style as VisualStyle
from textual.widget import Widget

from sizeup.charts.drawing import GROUND, Drawing
from sizeup.text import plain
from sizeup.tui.widgets.palette import BADGE, STATUS, badge_style, series_color

_LOOKS = {
    "title": "bold $hi",
    "text": "$foreground",
    "axis": "$dim",
    "boundary": "$dim",
    "frame": "$line",
    "cursor": "bold reverse",
    "disturbed": "bold $bad",
    **STATUS,
    "dim": "$dim",
    "heat-0": "#ffffff on #08306b",
    "heat-1": "#ffffff on #0b4a94",
    "heat-2": "#ffffff on #1c63ad",
    "heat-3": "#ffffff on #2f79bd",
    "heat-4": "#000000 on #5da2d5",
    "heat-5": "#000000 on #8dbfe2",
    "heat-6": "#000000 on #bcd8ee",
    "heat-7": "#000000 on #eef5fc",
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

    in_ascii = False
    """Whether signs are drawn in ASCII."""

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
        if self.in_ascii:
            drawing.rows = [list(plain("".join(row))) for row in drawing.rows]
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
            return series_color(int(role.removeprefix(_SERIES)))
        if role.startswith(BADGE):
            return badge_style(role.removeprefix(BADGE))
        return f"${role}"
