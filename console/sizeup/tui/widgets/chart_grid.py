"""Several charts side by side, each in a frame that has its title."""

from __future__ import annotations

from collections.abc import Sequence

from textual.containers import Grid
from textual.content import Content

from sizeup.charts.drawing import Glyphs
from sizeup.tui.widgets.chart import ChartView
from sizeup.views.cards.panels import Panel

_LEAST_ROWS = 10
"""The least that a panel is worth showing in."""
_SMALL_ROWS = 5
"""What a small panel takes, with its frame."""


class ChartGrid(Grid):
    """Panels of one size, as many in a row as there are columns; a small one that is left over lies below them."""

    DEFAULT_CSS = """
    ChartGrid { height: 1fr; grid-gutter: 0; grid-columns: 1fr; }
    ChartGrid ChartView { border: round $line; padding: 0 1; }
    """

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._glyphs = glyphs
        self._views: list[ChartView] = []

    def show(self, found: Sequence[Panel], columns: int, rows: int) -> None:
        """Show as many of these panels as have room, so many in a row."""
        large = [panel for panel in found if not panel.small]
        small = [panel for panel in found if panel.small][:1]
        columns = _filling(len(large), max(min(columns, len(found)), 1))
        if small and len(large) % columns and (len(large) // columns + 1) * _LEAST_ROWS <= rows:
            large, small = [*large, *small], []  # it fills the last row
        if small and (not large or rows < _LEAST_ROWS + _SMALL_ROWS):
            large, small = [*large, *small][: max(len(large), 1)], []
        large = large[: columns * max((rows - _SMALL_ROWS * len(small)) // _LEAST_ROWS, 1)]
        lines = -(-len(large) // columns)
        self.styles.grid_size_columns = columns
        self.styles.grid_size_rows = lines + len(small)
        self.styles.grid_rows = " ".join([*["1fr"] * lines, *[str(_SMALL_ROWS)] * len(small)])
        self._fill([*large, *small])
        for number, view in enumerate(self._views):
            last = number == len(large) - 1
            view.styles.column_span = columns if number >= len(large) else columns - number % columns if last else 1

    def _fill(self, panels: Sequence[Panel]) -> None:
        """Show each panel in a view of its own; the views that are left over are hidden."""
        while len(self._views) < len(panels):
            view = ChartView(self._glyphs)
            view.can_focus = False
            self._views.append(view)
            if self.is_mounted:
                self.mount(view)
        for number, view in enumerate(self._views):
            view.display = number < len(panels)
            if view.display:
                view.border_title = Content(panels[number].title)
                view.border_subtitle = Content(panels[number].note)
                view.show(panels[number].chart)

    def on_mount(self) -> None:
        """Take in the charts that were asked for before."""
        if self.is_attached:  # no more where the app is ending
            self.mount(*self._views)


def _filling(count: int, most: int) -> int:
    """Return the most columns, two or more, of which no row of so many panels leaves any empty; else ``most``."""
    return next((columns for columns in range(most, 1, -1) if count and count % columns == 0), most)
