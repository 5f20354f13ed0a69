"""The list of probes, with what is known of each and how its run stands."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text
from textual.widgets.option_list import Option

from sizeup.model.machine import Machine
from sizeup.probing.registry import RegisteredProbe
from sizeup.tui.app_protocol import AppProtocol
from sizeup.tui.runs import Runs
from sizeup.tui.screens.planned_seconds import PlannedSeconds
from sizeup.tui.screens.probe_text import card_groups, entry
from sizeup.tui.widgets.lists import KeyList
from sizeup.views.step import latest_refusal, latest_run

_COLUMNS = 26
"""Of a line, until the list has a width."""


class ProbeList(KeyList):
    """Lists the probes of this installation below the cards that they are about."""

    def __init__(self, host: AppProtocol) -> None:
        probes: Mapping[str, RegisteredProbe] = host.registry.probes
        self._probes = probes
        self._seconds = PlannedSeconds(host)
        options = []
        for card, group in card_groups(probes.values()):
            options.append(Option(Text(card, style="bold underline"), disabled=True))
            options += [Option(Text(f"  {probe.manifest.title}"), id=probe.name) for probe in group]
        super().__init__(*options, id="probes")
        self.border_title = "Measure"

    @property
    def chosen(self) -> RegisteredProbe | None:
        """The probe under the cursor; None where none is installed."""
        option = self.highlighted_option
        return None if option is None or option.id is None else self._probes.get(option.id)

    def choose_first(self) -> None:
        """Put the cursor on the first probe."""
        self.highlighted = next((index for index, option in enumerate(self.options) if option.id), None)

    def choose(self, name: str) -> None:
        """Put the cursor on a probe, where there is such a one."""
        if name in self._probes:
            self.highlighted = self.get_option_index(name)

    def show_runs(self, runs: Runs, plan: str, machine: Machine | None) -> None:
        """Rewrite the lines that changed."""
        width = self.scrollable_content_region.width or _COLUMNS
        for name, probe in self._probes.items():
            run = None if runs.starts(name) else latest_run(runs.session, name)
            starts = run is None and runs.includes(name)
            runs_now = run is not None and run.outcome is None and runs.going_on
            pending = "queued" if runs.queues(name) and not runs_now else "starting" * starts
            seconds = self._seconds.of(probe, plan)
            refused = bool(latest_refusal(runs.session, name))
            line = entry(probe, seconds, run, machine, width, pending=pending, refused=refused, going_on=runs.going_on)
            if str(self.get_option(name).prompt) != line.plain:
                self.replace_option_prompt(name, line)
