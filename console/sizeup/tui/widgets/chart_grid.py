"""Several charts side by side, each of a step of its own."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from textual.containers import Grid

from sizeup.charts.chart import Chart
from sizeup.charts.drawing import Glyphs
from sizeup.model.machine import Machine
from sizeup.session.validity import StepValidity
from sizeup.session.value import StepRun
from sizeup.tui.widgets.chart import ChartView
from sizeup.views.finished import headline


class ChartGrid(Grid):
    """The headline charts of some steps."""

    DEFAULT_CSS = """
    ChartGrid { height: 1fr; grid-gutter: 0 2; padding: 0 1; grid-rows: 1fr; grid-columns: 1fr; }
    """

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._glyphs = glyphs
        self._views: list[ChartView] = []

    def show(self, runs: Sequence[StepRun], machine: Machine | None, columns: int) -> None:
        """Show a chart for each of these steps, several in a row."""
        while len(self._views) < len(runs):
            view = ChartView(self._glyphs)
            view.can_focus = False
            self._views.append(view)
            if self.is_mounted:
                self.mount(view)
        self.styles.grid_size_columns = columns
        self.styles.grid_size_rows = -(-len(runs) // columns)
        for number, view in enumerate(self._views):
            view.display = number < len(runs)
            if view.display:
                view.show(_marked(runs[number], machine))

    def on_mount(self) -> None:
        """Take in the charts that were asked for before."""
        self.mount(*self._views)


def _marked(run: StepRun, machine: Machine | None) -> Chart:
    """Return the headline chart; its title begins with the mark of a step none of whose figures counts."""
    chart = headline(run, machine)
    validity = StepValidity(run)
    return replace(chart, title=f"Not valid: {chart.title}") if validity.ended and validity.whole else chart
