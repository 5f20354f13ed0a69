"""Many hosts at once: which one is different, in what, and how far from those like it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from sizeup.errors import SizeupError
from sizeup.fleet.fleet import Fleet, Host
from sizeup.fleet.heat import by_status, fleet_band, heat_cell, normal_peer
from sizeup.fleet.table import columns_of, host_lines, problem_sentences
from sizeup.text import plural
from sizeup.tui.actions import bindings
from sizeup.tui.dialogs import TextDialog, ask
from sizeup.tui.screens.compare_screen import CompareScreen
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.heat import HeatTable, StripPlots
from sizeup.tui.widgets.lines import Header
from sizeup.views.band import Band


class FleetScreen(ModeScreen):
    """The hosts of a fleet, those that stand out first, above where each figure of every host lies."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE, TAB = "fleet", "sessions"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("fleet")]

    def __init__(self, fleet: Fleet) -> None:
        super().__init__()
        self._fleet = fleet
        self._names = columns_of(fleet, fleet.hosts)
        self._grouped, self._sorted_by = len(fleet.types) > 1, -1
        """Whether hosts stand by machine type, and the figure by which they are sorted; -1 for their status."""

    def body(self) -> Iterable[Widget]:
        """The hosts above the strips, or above all that is known of one."""
        with Vertical(id="body"):
            yield HeatTable(self._fleet, self.host.glyphs)
            yield StripPlots(self._fleet, self.host.glyphs)
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
        try:
            title = f"{host.name} against {peer.name}"
            self.app.push_screen(CompareScreen(host.sessions[0].path, peer.sessions[0].path, title))
        except SizeupError as error:
            self.notify(str(error), severity="error", markup=False)

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
