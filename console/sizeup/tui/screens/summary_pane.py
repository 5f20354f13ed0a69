"""What stands below the cards where there are rows to spare: charts, or the machine and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from sizeup.text import cell_len, plural
from sizeup.tui.widgets.lists import hanging
from sizeup.views.cards.detected import machine_overview

if TYPE_CHECKING:
    from sizeup.charts.drawing import Glyphs
    from sizeup.model.machine import Machine
    from sizeup.views.cards.panels import Panel

PANE_ROWS = 10
"""The least that the pane is worth showing in."""
_CHART_COLUMNS = 56
_MAP_FROM_COLUMNS = 160
"""From so many columns on a map stands beside the machine and the next steps."""
_FRAME = 2


class SummaryPane(Horizontal):
    """Charts of what was measured; before that the machine, the next steps, and its map where there is room."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._glyphs = glyphs
        self._columns, self._rows = 0, 0
        self._overview: Machine | None = None
        """The machine whose facts are shown where a card has no details yet."""

    def compose(self) -> ComposeResult:
        """The details of a line; the others are added when they are needed."""
        with VerticalScroll(id="preview", can_focus=False):
            yield Static(id="detail", markup=False)

    def show_charts(self, panels: Sequence[Panel], columns: int, rows: int) -> None:
        """Show as many charts as fit."""
        from sizeup.tui.widgets.chart_grid import ChartGrid

        self._columns, self._rows, self._overview = columns, rows, None
        self._hide("#map, #steps")
        preview = self.query_one("#preview")
        preview.display = False
        if not self.query(ChartGrid):
            self.mount(ChartGrid(self._glyphs, id="charts"), before=preview)
        grid = self.query_one(ChartGrid)
        grid.display = True
        grid.show(panels, columns // _CHART_COLUMNS, rows)

    def show_machine(self, machine: Machine | None, steps: Sequence[tuple[str, str]], columns: int, rows: int) -> None:
        """Show what the machine is beside the next steps, each a key and what it does."""
        self._columns, self._rows, self._overview = columns, rows, machine
        self._hide("#charts")
        preview = self.query_one("#preview")
        preview.display = True
        if not self.query("#steps"):
            self.mount(Static(id="steps", markup=False), after=preview)
        shown = self.query_one("#steps", Static)
        shown.display = True
        shown.border_title = "Next steps"
        self._show_map(machine)
        wide = max((cell_len(key) for key, _ in steps), default=0)
        width = self._panel_width
        lines = [
            Content.assemble((key.ljust(wide), "bold"), hanging(words, width, wide + 2, wide + 2)[wide:])
            for key, words in steps
        ]
        shown.update(Content("\n\n" if 2 * len(lines) + _FRAME <= rows else "\n").join(lines))
        # Frames side by side are of one height, as far as the machine alone decides it.
        least = 0 if machine is None else len(self._machine_lines(machine)) + _FRAME
        preview.styles.min_height = shown.styles.min_height = min(least, rows)

    def show_details(self, title: str, lines: Iterable[str]) -> None:
        """Show the details of a line; an empty title is for the machine."""
        if not self.query_one("#preview").display:
            return
        width = self._panel_width
        text = "\n".join(hanging(line.strip(), width, _indent(line), _indent(line)) for line in lines)
        if not title and self._overview is not None:
            title, text = "This machine", "\n".join(self._machine_lines(self._overview))
        self.query_one("#preview").border_title = Content(title)
        self.query_one("#detail", Static).update(text)

    @property
    def lists_machine(self) -> bool:
        """Whether the machine stands here, nothing of it having been measured."""
        return self._overview is not None

    @property
    def _panel_width(self) -> int:
        """Columns inside one of the panels that stand beside each other."""
        count = 3 if self._columns >= _MAP_FROM_COLUMNS else 2
        return self._columns // count - _FRAME - 3

    def _machine_lines(self, machine: Machine) -> list[str]:
        lines = []
        rows = machine_overview(machine)
        cards, names = (max((cell_len(row[place]) for row in rows), default=0) for place in (0, 1))
        for card, name, value in rows:
            beside = f"{card:{cards}}  {name:{names}}  "
            indent = cell_len(beside)
            first, *rest = hanging(value, self._panel_width, indent, indent).splitlines() or [""]
            lines += [beside + first[indent:], *rest]
        most_lines = self._rows - _FRAME
        if len(lines) > most_lines:
            lines[most_lines - 1 :] = [f"{plural(len(lines) - most_lines + 1, 'more line')}: see Topology"]
        return lines

    def _show_map(self, machine: Machine | None) -> None:
        """Show the map of the machine where there are columns for a third panel."""
        if machine is None or self._columns < _MAP_FROM_COLUMNS:
            self._hide("#map")
            return
        from sizeup.tui.widgets.map import MapView
        from sizeup.views.map.map import MapMaker

        if not self.query(MapView):
            self.mount(MapView(id="map"))
        shown = self.query_one(MapView)
        shown.display = True
        drawn = MapMaker(machine).draw(machine.nodes, {}, self._panel_width, self._rows - _FRAME)
        rows = len(drawn.rows) + bool(drawn.heading) + bool(drawn.title) + 1 + _FRAME
        shown.styles.height = min(rows, self._rows)
        shown.border_title = "Map"
        shown.show(drawn)

    def _hide(self, selector: str) -> None:
        for widget in self.query(selector):
            widget.display = False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
