"""How long probes take on the machine that is shown, by their own plans."""

from __future__ import annotations

from sizeup.probing.registry import RegisteredProbe
from sizeup.tui.console import ConsoleApp
from sizeup.tui.run_form import RunForm
from sizeup.tui.screens.write_confirmation import estimated_seconds


class PlannedSeconds:
    """Plans each probe once for each of its plans; the manifest's time is for any machine."""

    def __init__(self, host: ConsoleApp) -> None:
        self._host = host
        self._machine = host.machine
        self._known: dict[tuple[str, str], float | None] = {}

    def of(self, probe: RegisteredProbe, plan: str) -> float | None:
        """Return how long a probe takes in a plan with its defaults; None where the plan does not include it."""
        typical = probe.manifest.estimated_seconds.get(plan)
        return None if typical is None else self.of_form(probe, RunForm(probe.manifest, plan))

    def of_form(self, probe: RegisteredProbe, form: RunForm) -> float | None:
        """Return how long a run takes that a form describes; the manifest's time where it cannot be planned."""
        typical = probe.manifest.estimated_seconds.get(form.plan)
        machine = self._host.machine
        if machine is None or self._host.unmeasured:
            return typical
        if machine is not self._machine:
            self._machine = machine
            self._known.clear()
        if form.typed:
            planned = estimated_seconds(machine, self._host.registry, probe, form)
        elif (probe.name, form.plan) in self._known:
            planned = self._known[probe.name, form.plan]
        else:
            planned = estimated_seconds(machine, self._host.registry, probe, form)
            self._known[probe.name, form.plan] = planned
        return typical if planned is None else float(f"{planned:.2g}")
