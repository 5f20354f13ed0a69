"""The list of probes, with what is known of each and how its run stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from textual.content import Content
from textual.widgets.option_list import Option

from sizeup.model.machine import Machine
from sizeup.probing.manifest import Manifest
from sizeup.probing.registry import RegisteredProbe
from sizeup.session.value import StepRun
from sizeup.tui.console import ConsoleApp
from sizeup.tui.runs import Runs
from sizeup.tui.screens.probe_forms import PlannedSeconds
from sizeup.tui.screens.probe_text import card_groups, entry
from sizeup.tui.widgets.lists import KeyList
from sizeup.views.run.step import latest_refusal, latest_run
from sizeup.views.run.yardstick import Earlier

_COLUMNS = 26
"""Of a line, until the list has a width."""


class ProbeList(KeyList):
    """Lists the probes of this installation and of the session below the cards that they are about."""

    def __init__(self, host: ConsoleApp) -> None:
        self._installed: Mapping[str, RegisteredProbe] = host.registry.probes
        self._probes = self._installed
        self._seconds = PlannedSeconds(host)
        super().__init__(*_options(self._probes.values()), id="probes")

    @property
    def chosen(self) -> RegisteredProbe | None:
        """The probe under the cursor; None where there is none."""
        option = self.highlighted_option
        return None if option is None or option.id is None else self._probes.get(option.id)

    def choose_first(self) -> None:
        """Put the cursor on the first probe."""
        self.highlighted = next((index for index, option in enumerate(self.options) if option.id), None)

    def choose(self, name: str) -> None:
        """Put the cursor on a probe, where there is such a one."""
        if name in self._probes:
            self.highlighted = self.get_option_index(name)

    def _list(self, probes: Mapping[str, RegisteredProbe]) -> None:
        """List other probes, and leave the cursor on its probe where that is still listed."""
        chosen = self.chosen
        self._probes = probes
        self.set_options(_options(probes.values()))
        if chosen is not None and chosen.name in probes:
            self.choose(chosen.name)
        else:
            self.choose_first()

    def show_runs(
        self,
        runs: Runs,
        plan: str,
        machine: Machine | None,
        stored: Callable[[str, Machine | None], Earlier | None],
    ) -> None:
        """Rewrite the lines that changed, with one for each probe of the session that is not installed."""
        steps = () if runs.session is None else runs.session.steps.values()
        recorded = {run.step.probe: run for run in steps if run.step.probe not in self._installed}
        probes = {**self._installed, **{name: _recorded(run) for name, run in recorded.items()}}
        if probes != self._probes:
            self._list(probes)
        width = self.scrollable_content_region.width or _COLUMNS
        for name, probe in self._probes.items():
            run = None if runs.starts(name) else latest_run(runs.session, name)
            starts = run is None and runs.includes(name)
            runs_now = run is not None and run.outcome is None and runs.going_on
            pending = "queued" if runs.queues(name) and not runs_now else "starting" * starts
            seconds = self._seconds.of(probe, plan)
            refused = bool(latest_refusal(runs.session, name))
            last = stored(name, machine) if run is None and not pending and not refused else None
            shown = run if last is None else last.run
            going_on = runs.going_on and last is None
            line = entry(probe, seconds, shown, machine, width, pending=pending, refused=refused, going_on=going_on)
            if str(self.get_option(name).prompt) != line.plain:
                self.replace_option_prompt(name, line)


def _options(probes: Iterable[RegisteredProbe]) -> Iterator[Option]:
    for card, group in card_groups(probes):
        yield Option(Content.assemble((card, "$dim"), (" ──────────────────────────────", "$line")), disabled=True)
        yield from (Option(Content(f"  {probe.manifest.title}"), id=probe.name) for probe in group)


def _recorded(run: StepRun) -> RegisteredProbe:
    """Return a probe that is not installed, as far as a step of it tells."""
    declared, name = run.declaration, run.step.probe
    card = cast("Any", declared.card)  # may be one that this version does not know
    manifest = Manifest(name, declared.title or name, "", (), "", "", card=card, diagnostic=declared.diagnostic)
    return RegisteredProbe(manifest, "", run.distribution)
