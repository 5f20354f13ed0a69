"""What this box is, whether anything is wrong, and what it should carry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sizeup.tui.actions import bindings
from sizeup.tui.runs import Request
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.facts import facts_list
from sizeup.tui.widgets.lists import KeyList
from sizeup.units import format_ns
from sizeup.views.overview import Entry, Overview, overview
from sizeup.views.topology import machine_facts

_MACHINE = Entry("machine", "", "", (), "topology", "machine")
"""Leads the list; what is known of the machine stands behind it."""

_LATER_SECONDS = 0.5
"""Who has just come looks and presses a key; that must not wait for the manifests of all probes."""


class OverviewScreen(ModeScreen):
    """Findings by severity, headline figures, and the balance of need and supply."""

    SCOPE = "overview"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("overview")]

    def __init__(self) -> None:
        super().__init__()
        self._shown: Overview | None = None
        self._entries: dict[str, Entry] = {}
        self._estimate = ""
        """How long the quick plan takes; empty until the probes were read."""

    def body(self) -> Iterable[Widget]:
        """The list above the balance, the details beside them."""
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield KeyList(id="entries")
                yield ChartView(self.host.glyphs, id="balance")
            with VerticalScroll(id="detail-pane", can_focus=False):
                yield Static(id="detail", markup=False)

    def on_mount(self) -> None:
        """Show what there is, and later what takes 20 ms to find out."""
        super().on_mount()
        self.set_timer(_LATER_SECONDS, self._tell_estimate)

    def show_machine(self) -> None:
        """The machine is half of what is shown."""
        super().show_machine()
        self._fill()

    def show_run(self) -> None:
        """So is the run."""
        super().show_run()
        self._fill()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show what stands behind a line."""
        self._show_behind(event.option_id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go where the line leads."""
        entry = self._entries.get(event.option_id or "")
        if entry is not None:
            self.host.go(entry.mode, entry.target)

    def action_measure(self) -> None:
        """Run the quick plan here, so that the figures fill in one after the other."""
        host = self.host
        if not host.measures:
            self.notify("this is a saved session; u in Sessions shows this machine", markup=False)
        elif not host.runs.running:
            host.start_run(Request("", {}))

    def _fill(self) -> None:
        host = self.host
        session = host.runs.session
        known = () if session is None else host.registry.probes.values()
        probes = [(probe.name, probe.manifest.title) for probe in known if probe.name != "null"]
        shown = overview(host.machine, session, host.sizing, probes)
        if shown == self._shown:
            return
        self._shown = shown
        listed = self.query_one(KeyList)
        place = listed.highlighted or 1
        groups = (
            ("Machine", (_MACHINE,), ""),
            ("Findings", shown.findings, "none: nothing wrong was found"),
            ("Measured", shown.figures, f"nothing yet: press r{self._estimate}"),
            ("Should carry", shown.advice, "nothing can be said yet"),
        )
        self._entries = {}
        options: list[Option] = []
        for title, entries, otherwise in groups:
            options.append(Option(Text(title, style="bold underline"), id=f"group {title}", disabled=True))
            for entry in entries:
                self._entries[entry.key] = entry
                line = Text(f"  {self.host.headline()}") if entry is _MACHINE else _line(entry)
                options.append(Option(line, id=entry.key))
            if not entries:
                options.append(Option(Text(f"  {otherwise}", style="dim"), id=f"empty {title}", disabled=True))
        listed.set_options(options)
        listed.highlighted = min(place, len(options) - 1)
        self.query_one(ChartView).show(shown.balance)
        self._show_behind(options[listed.highlighted or 0].id)

    def _tell_estimate(self) -> None:
        from sizeup.probing.planner import unmet

        quick = [probe.manifest for probe in self.host.registry.probes.values() if "quick" in probe.manifest.plans]
        machine = self.host.machine
        fitting = [manifest for manifest in quick if machine is None or unmet(machine, manifest) is None]
        seconds = sum(manifest.estimated_seconds.get("quick", 0.0) for manifest in fitting)
        self._estimate = f", about {format_ns(round(seconds) * 1e9)}"
        self._shown = None
        self._fill()

    def _show_behind(self, key: str | None) -> None:
        entry = self._entries.get(key or "")
        if entry is not None and entry is not _MACHINE:
            heading = Text(entry.line, style="bold")
            self.query_one("#detail", Static).update(Group(heading, Text(), *map(Text, entry.behind)))
        elif self.host.machine is not None:
            self.query_one("#detail", Static).update(facts_list(machine_facts(self.host.machine)))


def _line(entry: Entry) -> Text:
    style = {"! critical": "bold red", "! warning": "bold yellow"}.get(entry.mark, "")
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(f"  {entry.mark}: " if entry.mark.startswith("!") or entry.mark == "info" else "  ", style=style)
    text.append(entry.line)
    return text
