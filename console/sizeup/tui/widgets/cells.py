"""Cells on the screen: draws a grid, and sends only the cells that changed.

Textual repaints a whole widget and styles cell by cell; over SSH that is 20 to 40 kB a frame.
Merging runs of one style and refreshing changed spans alone makes it a few hundred bytes.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from sizeup.report.drawing import HEAT_LEVELS, SERIES, Drawing


class CellView(Widget):
    """Any drawing, its roles turned into theme colours."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "chart--title",
        "chart--text",
        "chart--axis",
        "chart--boundary",
        "chart--cursor",
        "chart--disturbed",
        *(f"chart--series-{index}" for index in range(SERIES)),
        *(f"chart--heat-{index}" for index in range(HEAT_LEVELS)),
    }
    DEFAULT_CSS = """
    CellView { height: 1fr; width: 1fr; }
    CellView > .chart--title { text-style: bold; color: $foreground; }
    CellView > .chart--text { color: $foreground; }
    CellView > .chart--axis { color: $foreground 70%; }
    CellView > .chart--boundary { color: $foreground 70%; }
    CellView > .chart--cursor { text-style: bold reverse; }
    CellView > .chart--disturbed { color: $text-error; text-style: bold; }
    CellView > .chart--series-0 { color: $text-primary; }
    CellView > .chart--series-1 { color: $text-warning; }
    CellView > .chart--series-2 { color: $text-success; }
    CellView > .chart--series-3 { color: $text-error; }
    CellView > .chart--series-4 { color: $text-secondary; }
    CellView > .chart--series-5 { color: $text-accent; }
    CellView > .chart--heat-0 { color: #ffffff; background: #440154; }
    CellView > .chart--heat-1 { color: #ffffff; background: #46327e; }
    CellView > .chart--heat-2 { color: #ffffff; background: #365c8d; }
    CellView > .chart--heat-3 { color: #ffffff; background: #277f8e; }
    CellView > .chart--heat-4 { color: #000000; background: #1fa187; }
    CellView > .chart--heat-5 { color: #000000; background: #4ac16d; }
    CellView > .chart--heat-6 { color: #000000; background: #a0da39; }
    CellView > .chart--heat-7 { color: #000000; background: #fde725; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._drawing = Drawing(0, 0)
        self._styles: dict[str, Style] = {}

    @property
    def drawing(self) -> Drawing:
        """The cells as they stand."""
        return self._drawing

    def present(self, drawing: Drawing) -> None:
        """Show a drawing in place of the last; only cells that differ are sent."""
        before, self._drawing = self._drawing, drawing
        if (before.width, before.height) != (drawing.width, drawing.height):
            self.refresh()
            return
        regions = [Region(start, y, end - start, 1) for y, start, end in drawing.changed(before)]
        if regions:
            self.refresh(*regions)

    def notify_style_update(self) -> None:
        """Forget the colours of the last theme."""
        self._styles = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One row of cells, a segment for each run of one style."""
        base = self._styles.get("")
        if base is None:
            base = self._styles[""] = self.rich_style
        if y >= self._drawing.height:
            return Strip.blank(self.size.width, base)
        segments = [Segment(text, self._style(role, base)) for text, role in self._drawing.runs(y)]
        return Strip(segments, self._drawing.width)

    def _style(self, role: str, base: Style) -> Style:
        if not role:
            return base
        style = self._styles.get(role)
        if style is None:
            # Blank cells do not inherit the background, so each style carries it.
            style = self._styles[role] = base + self.get_component_rich_style(f"chart--{role}", partial=True)
        return style
