"""A chart on the screen: draws cells, and sends only those that changed.

Textual repaints a whole widget and styles cell by cell; over SSH that is 20 to 40 kB a frame.
Merging runs of one style and refreshing changed spans alone makes it a few hundred bytes.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from sizeup.report.cells import HEAT_LEVELS, SERIES, Drawing, Glyphs, cursor_places, draw
from sizeup.tui.actions import bindings
from sizeup.views.chart import Chart, HeatMap


class ChartView(Widget, can_focus=True):
    """Any chart value, with a readout that the arrow keys move."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("chart")]
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
    ChartView { height: 1fr; width: 1fr; }
    ChartView > .chart--title { text-style: bold; color: $foreground; }
    ChartView > .chart--text { color: $foreground; }
    ChartView > .chart--axis { color: $text-muted; }
    ChartView > .chart--boundary { color: $text-muted; }
    ChartView > .chart--cursor { text-style: bold reverse; }
    ChartView > .chart--disturbed { color: $text-error; text-style: bold; }
    ChartView > .chart--series-0 { color: $text-primary; }
    ChartView > .chart--series-1 { color: $text-warning; }
    ChartView > .chart--series-2 { color: $text-success; }
    ChartView > .chart--series-3 { color: $text-accent; }
    ChartView > .chart--series-4 { color: $text-secondary; }
    ChartView > .chart--series-5 { color: $text-error; }
    ChartView > .chart--heat-0 { color: auto; background: #440154; }
    ChartView > .chart--heat-1 { color: auto; background: #46327e; }
    ChartView > .chart--heat-2 { color: auto; background: #365c8d; }
    ChartView > .chart--heat-3 { color: auto; background: #277f8e; }
    ChartView > .chart--heat-4 { color: auto; background: #1fa187; }
    ChartView > .chart--heat-5 { color: auto; background: #4ac16d; }
    ChartView > .chart--heat-6 { color: auto; background: #a0da39; }
    ChartView > .chart--heat-7 { color: auto; background: #fde725; }
    """

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._glyphs = glyphs
        self._chart: Chart | None = None
        self._cursor: int | None = None
        self._drawing = Drawing(0, 0)
        self._styles: dict[str, Style] = {}

    @property
    def chart(self) -> Chart | None:
        """What is shown; None before the first."""
        return self._chart

    @property
    def drawing(self) -> Drawing:
        """The cells as they stand."""
        return self._drawing

    def show(self, chart: Chart) -> None:
        """Show a chart in place of the last; only cells that differ are sent."""
        if self._chart is not None and chart.title != self._chart.title:
            self._cursor = None
        self._chart = chart
        self._redraw()

    def action_cursor(self, step: int) -> None:
        """Move the readout along, starting from the end it moves away from."""
        self._move(step)

    def action_cursor_row(self, step: int) -> None:
        """Move the readout by a row of a heat map, by a place elsewhere."""
        self._move(step * len(self._chart.columns) if isinstance(self._chart, HeatMap) else step)

    def action_cursor_to(self, place: int) -> None:
        """Put the readout on the first place (0) or the last (-1)."""
        places = cursor_places(self._chart) if self._chart is not None else 0
        if places:
            self._cursor = place % places
            self._redraw()

    def _move(self, step: int) -> None:
        places = cursor_places(self._chart) if self._chart is not None else 0
        if not places:
            return
        if self._cursor is None:
            self._cursor = 0 if step > 0 else places - 1
        else:
            self._cursor = min(max(self._cursor + step, 0), places - 1)
        self._redraw()

    def _redraw(self) -> None:
        if self._chart is None or not self.size:
            return
        if self._cursor is not None and self._cursor >= cursor_places(self._chart):
            self._cursor = None
        before = self._drawing
        self._drawing = draw(self._chart, self.size.width, self.size.height, self._glyphs, self._cursor)
        if (before.width, before.height) != (self._drawing.width, self._drawing.height):
            self.refresh()
            return
        regions = [Region(start, y, end - start, 1) for y, start, end in self._drawing.changed(before)]
        if regions:
            self.refresh(*regions)

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        del event
        self._redraw()

    def notify_style_update(self) -> None:
        """Forget the colours of the last theme."""
        self._styles = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One row of cells, a segment for each run of one style."""
        base = self.rich_style
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
