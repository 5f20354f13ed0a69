"""A fleet in cells: a row per host colored by the difference from the median, and a line per figure with every host."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from textual.message import Message

from sizeup.charts.drawing import Drawing, Glyphs
from sizeup.fleet.fleet import Fleet, Host, usable
from sizeup.fleet.heat import LOOKS, heat_cell
from sizeup.fleet.table import figure_value, short_title
from sizeup.model.plan import Better
from sizeup.text import cell_len
from sizeup.tui.widgets.cells import CellView
from sizeup.tui.widgets.scrolled import ScrolledRows

_CELL, _VALUE, _DIFFERENCE, _STATUS = 19, 9, 7, 14
"""Columns of a cell with the gap behind it, of its value and difference, and of the status."""
_GROUNDS = {-3: "s2", -2: "s2-pale", -1: "s2-shade", 0: "tile", 1: "s1-shade", 2: "s1-pale", 3: "s1"}
_LEGEND_ROWS = 2


class HeatTable(ScrolledRows):
    """Hosts by group, the one under the cursor marked; value and difference stand in each cell."""

    class HostChosen(Message):
        """The cursor stands on another host."""

    def __init__(self, fleet: Fleet, glyphs: Glyphs) -> None:
        super().__init__(id="heat")
        self._fleet, self.in_ascii = fleet, glyphs is Glyphs.ASCII
        self._groups: list[tuple[str, list[Host]]] = []
        self._names: list[str] = []
        self._place = 0

    def show(self, groups: list[tuple[str, list[Host]]], names: list[str], chosen: str = "") -> None:
        """Show groups of hosts below their names, with the figures of these ``names`` as far as they fit."""
        self._groups, self._names = groups, names
        self._move(next((at for at, host in enumerate(self.hosts) if host.name == chosen), 0))

    @property
    def hosts(self) -> list[Host]:
        """All hosts in the order of their rows."""
        return [host for _, hosts in self._groups for host in hosts]

    @property
    def chosen(self) -> Host | None:
        """The host under the cursor; None where there is none."""
        return self.hosts[self._place] if self.hosts else None

    @property
    def names(self) -> list[str]:
        """The figures for which there is room."""
        return self._names[: max((self.size.width - self._first - _STATUS) // _CELL, 1)]

    @property
    def _first(self) -> int:
        return max([cell_len(host.name) for host in self.hosts] or [4]) + 3

    def _move(self, place: int) -> None:
        self._place = min(max(place, 0), max(len(self.hosts) - 1, 0))
        lines = self._lines()
        row = next((at for at, line in enumerate(lines) if line is self.chosen), 0)
        self._top = min(max(self._top, row - self._visible_rows + 1), row)
        self._redraw()
        self.post_message(self.HostChosen())

    def _move_to(self, row: int) -> None:
        # The keys of rows move the cursor: by as many hosts as they would scroll.
        self._move(self._place + row - self._top)

    def action_first(self) -> None:
        """To the first host."""
        self._move(0)

    def action_last(self) -> None:
        """To the last host."""
        self._move(len(self.hosts) - 1)

    def _lines(self) -> list[Host | str | tuple[str, list[Host]]]:
        """Return what each row shows: the name of a group, a host, or the medians of a group."""
        lines: list[Host | str | tuple[str, list[Host]]] = []
        for name, hosts in self._groups:
            lines += [*([name] if len(self._groups) > 1 else []), *hosts]
            lines += [("median", hosts)] if len(hosts) > 1 else []
        return lines

    def _redraw(self) -> None:
        width, height = self.size
        if not height:
            return
        drawing = Drawing(width, height)
        first, names = self._first, self.names
        drawing.put(0, 0, "  Host", "dim")
        drawing.put(width - _STATUS, 0, "Status", "dim")
        for number, name in enumerate(names):
            drawing.put(first + number * _CELL, 0, short_title(self._fleet, name)[: _CELL - 1], "dim")
        for y, line in enumerate(self._visible(self._lines(), height - 1 - _LEGEND_ROWS), start=1):
            if isinstance(line, str):
                drawing.put(0, y, line, "acc")
            elif isinstance(line, tuple):
                drawing.put(2, y, line[0], "dim")
                for number, name in enumerate(names):
                    found = self._fleet.spreads.get((line[1][0].type.name, name))
                    unit = next((host.figures[name].unit for host in line[1] if name in host.figures), "1")
                    text = figure_value(found.median, unit) if found is not None and found.hosts > 1 else ""
                    drawing.put(first + number * _CELL + 1, y, f"{text:>{_VALUE}}", "dim")
            else:
                self._draw_host(drawing, y, line)
        legend = "Worse                           Better    ▼ ▲ stand out    ? not converged  ~ other settings"
        drawing.put(2, height - 1, legend, "dim")
        for number, level in enumerate(_GROUNDS):
            start = 9 + 3 * number + (number > 2) + (number > 3)
            drawing.shade(range(start, start + 2), range(height - 1, height), _GROUNDS[level])
        self.present(drawing)

    def _draw_host(self, drawing: Drawing, y: int, host: Host) -> None:
        here = host is self.chosen
        if here:
            drawing.shade(range(self._first - 1), range(y, y + 1), "sel")
        sign, token, words = LOOKS[host.status]
        bold = "title" if host.outliers or here else "text"
        drawing.put(0, y, f"▌ {host.name}" if here else f"  {host.name}", f"{bold}@sel" if here else bold)
        for number, name in enumerate(self.names):
            cell, x = heat_cell(self._fleet, host, name), self._first + number * _CELL
            strong = abs(cell.level) == 3
            role = "ink" if strong and cell.compared else "text" if cell.compared else "dim"
            mark = ("▼" if cell.level < 0 else "▲") if cell.stands_out else " "
            drawing.put(x, y, f"{mark}{cell.value:>{_VALUE}}{cell.difference:>{_DIFFERENCE}}", role)
            if cell.compared:
                drawing.shade(range(x, x + _CELL - 1), range(y, y + 1), _GROUNDS[cell.level])
        drawing.put(drawing.width - _STATUS, y, f"{sign} {words}", token)


class StripPlots(CellView):
    """A line for each figure with a dot for each host like the one that is chosen; those that stand out are named."""

    def __init__(self, fleet: Fleet, glyphs: Glyphs) -> None:
        super().__init__(id="strips")
        self._fleet, self.in_ascii = fleet, glyphs is Glyphs.ASCII
        self._chosen: Host | None = None
        self._names: Sequence[str] = ()

    def show(self, chosen: Host | None, names: Sequence[str]) -> None:
        """Show these figures of the hosts that are compared with one."""
        self._chosen, self._names = chosen, names
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if self._chosen is None or not height:
            return
        drawing = Drawing(width, height)
        for number, name in enumerate(self._names[: (height - 1) // 2]):
            self._draw(drawing, 2 * number, name)
        note = "One scale for each figure. A number: so many hosts in one place."
        drawing.put(19, height - 1, note, "dim")
        self.present(drawing)

    def _draw(self, drawing: Drawing, y: int, name: str) -> None:
        """Draw one figure into two rows, names above the line."""
        assert self._chosen is not None
        peers = [host for host in self._fleet.hosts if host.compared_as == self._chosen.compared_as]
        found = {host.name: host.figures[name] for host in peers if name in host.figures}
        placed = {host: figure for host, figure in found.items() if usable(figure)}
        if not placed:
            return
        values = sorted(figure.value for figure in placed.values())
        better = next(iter(placed.values())).better
        left, right = 19, drawing.width - 17
        span = (values[-1] - values[0]) or 1.0

        def column(value: float) -> int:
            return left + 2 + round((value - values[0]) / span * (right - left - 5))

        drawing.put(1, y + 1, short_title(self._fleet, name)[:17], "text")
        drawing.put(left, y + 1, "─" * (right - left), "line")
        if len(values) > 1:
            low, _, high = statistics.quantiles(values, n=4, method="inclusive")
            drawing.put(column(low), y + 1, "━" * (column(high) - column(low) + 1), "s1-pale")
        drawing.put(column(statistics.median(values)), y, "╷", "dim")
        words = {Better.HIGHER: "higher better", Better.LOWER: "lower better"}.get(better, "")
        drawing.put(drawing.width - 14, y + 1, f"{words:>13}", "dim")
        counts: dict[int, int] = {}
        for figure in placed.values():
            counts[column(figure.value)] = counts.get(column(figure.value), 0) + 1
        for x, count in counts.items():
            drawing.put(x, y + 1, "○" if count == 1 else str(min(count, 9)), "s1")
        out = [host for host in peers if any(one.figure.name == name for one in host.outliers)]
        for host in (*(one for one in out if one is not self._chosen), self._chosen):
            if host.name in placed:
                x = column(placed[host.name].value)
                drawing.put(x, y + 1, "●", "hi" if host is self._chosen else "s2")
                if host in out:
                    start = min(max(x - cell_len(host.name) // 2, left), right - cell_len(host.name))
                    drawing.put(start, y, host.name, "hi" if host is self._chosen else "s2")
