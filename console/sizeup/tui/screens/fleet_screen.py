"""Many hosts at once: which one is different, in what, and how far from those like it."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from sizeup.charts.drawing import Drawing
from sizeup.fleet.fleet import Fleet, Host, usable
from sizeup.fleet.heat import LOOKS, by_status, fleet_band, heat_cell, normal_peer
from sizeup.fleet.table import columns_of, figure_value, host_lines, problem_sentences, short_title
from sizeup.model.plan import Better
from sizeup.text import cell_len, plural
from sizeup.tui.actions import bindings
from sizeup.tui.dialogs import TextDialog, ask
from sizeup.tui.screens.compare_screen import CompareScreen
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.cells import CellView, ScrolledRows
from sizeup.tui.widgets.lines import Header
from sizeup.views.band import Band

_CELL, _MOST_CELL, _VALUE = 18, 26, 9
"""Columns of a cell with the gap behind it, at least and at most, and of its value."""
_STRIP_ROWS, _MOST_ROWS = 2, 5
"""Rows of a strip at least and at most."""
_LEAST_ENDS = 90, 110  # of the scale of the strips, in percent of the median: like hosts lie near it
_GROUNDS = {-3: "s2", -2: "s2-pale", -1: "s2-shade", 0: "tile", 1: "s1-shade", 2: "s1-pale", 3: "s1"}
_LEGEND_ROWS, _FIXED_ROWS, _LEAST_STRIPS = 2, 5, 14


class HeatTable(ScrolledRows):
    """Hosts by group, the one under the cursor marked; value and difference stand in each cell."""

    class HostChosen(Message):
        """The cursor stands on another host."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(id="heat")
        self._fleet = fleet
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
        return self._names[: max(self._free // _CELL, 1)]

    @property
    def _first(self) -> int:
        return max([len("median"), *(cell_len(host.name) for host in self.hosts)]) + 3

    @property
    def _free(self) -> int:
        return self.size.width - self._first - 2 - max((len(LOOKS[host.status][2]) for host in self.hosts), default=0)

    @property
    def _cell(self) -> int:
        return min(self._free // max(len(self.names), 1), _MOST_CELL)

    def _move(self, place: int) -> None:
        self._place = min(max(place, 0), max(len(self.hosts) - 1, 0))
        lines = self.lines()
        row = next((at for at, line in enumerate(lines) if line is self.chosen), 0)
        self._top = min(max(self._top, row - self._visible_rows + 1), row)
        self._redraw()
        self.post_message(self.HostChosen())

    def _move_by(self, rows: int) -> None:
        # The keys of rows move the cursor: by as many hosts as they would scroll.
        self._move(self._place + rows)

    def lines(self) -> list[Host | str | tuple[str, list[Host]]]:
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
        first, names, wide = self._first, self.names, self._cell
        drawing.put(0, 0, "  Host", "dim")
        drawing.put(first + len(names) * wide, 0, "Status", "dim")
        for number, name in enumerate(names):
            drawing.put(first + number * wide, 0, short_title(self._fleet, name)[: wide - 1], "dim")
        for y, line in enumerate(self._visible(self.lines(), height - 1 - _LEGEND_ROWS), start=1):
            if isinstance(line, str):
                drawing.put(0, y, line, "acc")
            elif isinstance(line, tuple):
                drawing.put(2, y, line[0], "dim")
                for number, name in enumerate(names):
                    found = self._fleet.spreads.get((line[1][0].type.name, name))
                    unit = next((host.figures[name].unit for host in line[1] if name in host.figures), "1")
                    text = figure_value(found.median, unit) if found is not None and found.hosts > 1 else ""
                    drawing.put(first + number * wide + 1, y, f"{text:>{_VALUE}}", "dim")
            else:
                self._draw_host(drawing, y, line, first, wide, names)
        legend = "Worse                           Better    ▼ ▲ stand out    ? not converged  ~ other settings"
        drawing.put(2, height - 1, legend, "dim")
        for number, level in enumerate(_GROUNDS):
            start = 9 + 3 * number + (number > 2) + (number > 3)
            drawing.shade(range(start, start + 2), range(height - 1, height), _GROUNDS[level])
        self.present(drawing)

    def _draw_host(self, drawing: Drawing, y: int, host: Host, first: int, wide: int, names: Sequence[str]) -> None:
        """Draw a host: its name, from column ``first`` on a cell of so many columns for each figure, and its status."""
        here = host is self.chosen
        if here:
            drawing.shade(range(first - 1), range(y, y + 1), "sel")
        sign, token, words = LOOKS[host.status]
        bold = "title" if host.outliers or here else "text"
        drawing.put(0, y, "▌" if here else " ", "acc@sel" if here else "")
        drawing.put(2, y, host.name, f"{bold}@sel" if here else bold)
        for number, name in enumerate(names):
            cell, x = heat_cell(self._fleet, host, name), first + number * wide
            strong = abs(cell.level) == 3
            role = "ink" if strong and cell.compared else "text" if cell.compared else "dim"
            mark = ("▼" if cell.level < 0 else "▲") if cell.stands_out else " "
            drawing.put(x, y, f"{mark}{cell.value:>{_VALUE}}{cell.difference:>{wide - _VALUE - 3}} ", role)
            if cell.compared:
                drawing.shade(range(x, x + wide - 1), range(y, y + 1), _GROUNDS[cell.level])
        drawing.put(first + len(names) * wide, y, f"{sign} {words}", token)


class StripPlots(CellView):
    """A line for each figure with a dot for each host like the one that is chosen; those that stand out are named."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(id="strips")
        self._fleet = fleet
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
        names = self._names[: (height - 1) // _STRIP_ROWS]
        each = min((height - 1) // max(len(names), 1), _MOST_ROWS)
        strips = {name: self._shares(name) for name in names}
        shares = [share for found in strips.values() for share in found.values()]
        ends = floor(min((_LEAST_ENDS[0], *shares)) / 10) * 10, ceil(max((_LEAST_ENDS[1], *shares)) / 10) * 10
        for number, (name, found) in enumerate(strips.items()):
            self._draw(drawing, each * number, name, found, ends)
        note = f"{ends[0]} % of the median. A number: so many hosts in one place."
        drawing.put(19, height - 1, f"{note}{f'{ends[1]:,} %':>{max(width - 36 - len(note), 0)}}", "dim")
        self.present(drawing)

    def _shares(self, name: str) -> dict[str, float]:
        """Return a figure of each host in percent of their median."""
        assert self._chosen is not None
        peers = [host for host in self._fleet.hosts if host.compared_as == self._chosen.compared_as]
        found = {host.name: host.figures[name] for host in peers if name in host.figures}
        values = {host: figure.value for host, figure in found.items() if usable(figure)}
        middle = statistics.median(values.values()) if values else 0.0
        return {host: 100 * value / (middle or 1.0) for host, value in values.items()}

    def _draw(self, drawing: Drawing, y: int, name: str, shares: Mapping[str, float], ends: tuple[int, int]) -> None:
        """Draw one figure into two rows, names above the line, on the scale of all strips."""
        if not shares:
            return
        placed = [host for host in self._fleet.hosts if host.name in shares]
        left, right = 19, drawing.width - 17

        def column(share: float) -> int:
            return left + 2 + round((share - ends[0]) / (ends[1] - ends[0]) * (right - left - 5))

        drawing.put(1, y + 1, short_title(self._fleet, name)[:17], "text")
        drawing.put(left, y + 1, "─" * (right - left), "line")
        if len(shares) > 1:
            low, _, high = statistics.quantiles(shares.values(), n=4, method="inclusive")
            drawing.put(column(low), y + 1, "━" * (column(high) - column(low) + 1), "s1-pale")
        drawing.put(column(statistics.median(shares.values())), y, "╷", "dim")
        words = {Better.HIGHER: "higher better", Better.LOWER: "lower better"}.get(placed[0].figures[name].better, "")
        drawing.put(drawing.width - 14, y + 1, f"{words:>13}", "dim")
        for x, count in Counter(map(column, shares.values())).items():
            drawing.put(x, y + 1, "○" if count == 1 else str(min(count, 9)), "s1")
        out = [host for host in placed if any(one.figure.name == name for one in host.outliers)]
        for host in sorted(placed, key=lambda one: one is self._chosen):
            if host is self._chosen or host in out:
                x = column(shares[host.name])
                drawing.put(x, y + 1, "●", "hi" if host is self._chosen else "s2")
                if host in out:
                    start = min(max(x - cell_len(host.name) // 2, left), right - cell_len(host.name))
                    drawing.put(start, y, host.name, "hi" if host is self._chosen else "s2")


class FleetScreen(ModeScreen):
    """The hosts of a fleet, those that stand out first, above where each figure of every host lies."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE, TAB = "fleet", "sessions"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("fleet")]

    def __init__(self, fleet: Fleet) -> None:
        super().__init__()
        self._fleet = fleet
        out = [one.figure.name for host in by_status(fleet.hosts) for one in host.outliers]
        names = columns_of(fleet, fleet.hosts)
        # What stands out most has a column on the smallest screen.
        self._names = sorted(names, key=lambda name: out.index(name) if name in out else len(out))
        self._grouped, self._sorted_by = len(fleet.types) > 1, -1
        """Whether hosts stand by machine type, and the figure by which they are sorted; -1 for their status."""

    def body(self) -> Iterable[Widget]:
        """The hosts above the strips, or above all that is known of one."""
        with Vertical(id="body"):
            yield HeatTable(self._fleet)
            yield StripPlots(self._fleet)
            with VerticalScroll(id="fleet-host"):
                yield Static(markup=False)

    def band(self) -> Band:
        """The answer, and how many files could not be read."""
        return fleet_band(self._fleet)

    def header(self) -> Header:
        """How many hosts, in place of the machine."""
        return Header(plural(len(self._fleet.hosts), "host"), states=("fleet",))

    def show_machine(self) -> None:
        """Show everything again."""
        super().show_machine()
        self.query_one(HeatTable).border_title = "Hosts: difference from the median of their peers"
        self.query_one(StripPlots).border_title = "Spread: a dot for each host, ╷ the median, thick the middle half"
        self._arrange()

    def on_mount(self) -> None:
        """Say which files could not be read."""
        for sentence in problem_sentences(self._fleet):
            self.notify(sentence, severity="warning", markup=False, timeout=10)

    def on_resize(self) -> None:
        """Draw what fits the new size."""
        self.call_after_refresh(self._arrange)

    def _arrange(self, chosen: str = "") -> None:
        table = self.query_one(HeatTable)
        kept = chosen or ("" if table.chosen is None else table.chosen.name)
        groups = self._fleet.types if self._grouped else {"": list(self._fleet.hosts)}
        table.show([(name, self._in_order(hosts)) for name, hosts in groups.items()], self._names, kept)
        body = self.query_one("#body").size.height
        self.query_one(StripPlots).styles.height = max(
            min(_LEAST_STRIPS, body * 2 // 5), body - len(table.lines()) - _FIXED_ROWS
        )
        self._show_host()

    def _in_order(self, hosts: list[Host]) -> list[Host]:
        if self._sorted_by < 0:
            return by_status(hosts)
        name = self._names[self._sorted_by]
        return sorted(by_status(hosts), key=lambda host: heat_cell(self._fleet, host, name).level)

    def on_heat_table_host_chosen(self) -> None:
        """Show where the host under the cursor lies."""
        self._show_host()

    def _show_host(self) -> None:
        table, pane = self.query_one(HeatTable), self.query_one("#fleet-host")
        host = table.chosen
        self.query_one(StripPlots).show(host, table.names)
        if host is not None:
            pane.border_title = host.name
            lines = host_lines(host, max(pane.size.width - 3, 20))
            pane.query_one(Static).update("\n".join(lines))

    def action_open(self) -> None:
        """Show the newest session of the host in all screens."""
        if (host := self.query_one(HeatTable).chosen) is not None:
            self.host.show_session(host.sessions[0].path)

    def action_compare(self) -> None:
        """Compare the host with one like it in which nothing stands out."""
        host = self.query_one(HeatTable).chosen
        peer = None if host is None else normal_peer(self._fleet, host)
        if host is None or peer is None:
            self.notify("No like host without a difference to compare with", markup=False)
            return
        with self.host.telling_errors():
            title = f"{host.name} against {peer.name}"
            self.app.push_screen(CompareScreen(host.sessions[0].path, peer.sessions[0].path, title))

    def action_table(self) -> None:
        """Show all that is known of the host in place of the strips, or these again."""
        self.toggle_class("-table")

    def action_group(self) -> None:
        """Put hosts of one machine type together, or all in one list."""
        self._grouped = not self._grouped
        self._arrange()

    def action_sort(self) -> None:
        """Put the hosts that are worst in the next figure first; after the last one by status again."""
        self._sorted_by = self._sorted_by + 1 if self._sorted_by + 1 < len(self._names) else -1
        self._arrange()

    def action_find(self) -> None:
        """Go to the first host whose name holds some text."""

        def answered(text: str) -> None:
            found = [host.name for host in self.query_one(HeatTable).hosts if text.lower() in host.name.lower()]
            if found:
                self._arrange(found[0])
            else:
                self.notify(f"No host is named {text}", markup=False)

        ask(self.app, TextDialog("Find a host"), answered)

    def action_back(self) -> None:
        """Leave the fleet."""
        self.app.pop_screen()
