"""The forms of the probes, the ways to their fields, and how long a run takes that they describe."""

from __future__ import annotations

import asyncio
import os
from tempfile import gettempdir

from textual.containers import Vertical

from sizeup.probing.manifest import PLANS
from sizeup.probing.registry import RegisteredProbe
from sizeup.tui.console import ConsoleApp
from sizeup.tui.run_form import RunForm
from sizeup.tui.screens.write_confirmation import estimated_seconds, missing_target
from sizeup.tui.widgets.form import RunFormView


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
        key = probe.name, form.plan
        if form.typed or key not in self._known:
            planned = estimated_seconds(machine, self._host.registry, probe, form)
            if not form.typed:
                self._known[key] = planned
        else:
            planned = self._known[key]
        return typical if planned is None else float(f"{planned:.2g}")


class ProbeForms(Vertical):
    """Holds the values of every form, and the controls that were made so far: those of one probe are shown at most."""

    def __init__(self, host: ConsoleApp) -> None:
        super().__init__(id="forms")
        self._host = host
        self._seconds = PlannedSeconds(host)
        self.plan = PLANS[0]
        self._forms: dict[str, RunForm] = {}
        self._views: dict[str, RunFormView] = {}
        """The controls by probe."""
        self._making = asyncio.Lock()

    def form_of(self, probe: RegisteredProbe) -> RunForm:
        """Return the values of a probe's form."""
        form = self._forms.get(probe.name)
        if form is None:
            form = self._forms[probe.name] = RunForm(probe.manifest, self.plan)
        if form.plan != self.plan:
            form.plan = self.plan
        return form

    @property
    def shown(self) -> RunFormView | None:
        """The controls that are shown; None where none are."""
        return next((view for view in self._views.values() if view.display), None)

    async def view(self, probe: RegisteredProbe) -> RunFormView:
        """Return the controls of a probe, made when they are first needed."""
        async with self._making:
            view = self._views.get(probe.name)
            if view is None:
                plan_seconds = {plan: time for plan in PLANS if (time := self._seconds.of(probe, plan)) is not None}
                view = RunFormView(self.form_of(probe), self._targets(probe), plan_seconds, missing_target)
                view.display = False
                await self.mount(view)
                self._views[probe.name] = view
        return view

    def _targets(self, probe: RegisteredProbe) -> list[tuple[str, str]]:
        """What the probe can measure of this machine, where it has a target."""
        if probe.manifest.target is None or probe.manifest.peer_setting or self._host.unmeasured:
            return []
        from sizeup.live.storage_targets import keeps_reserve, storage_targets
        from sizeup.tui.screens.mount_choice import remembered_mount

        found = {target.path: target.line for target in storage_targets(self._host.machine)}
        session = self._host.runs.session
        used = [str(run.step.settings.get("path", "")) for run in session.steps.values()] if session is not None else []
        recent = [path for path in (*reversed(used), remembered_mount() or "") if path and os.path.exists(path)]
        listed = {path: f"{path}  measured last" for path in recent}
        listed |= {**found, gettempdir(): found.get(gettempdir(), f"{gettempdir()}  temporary files")}
        return [(line, path) for path, line in listed.items() if path in found or keeps_reserve(path)]

    def show_estimate(self, probe: RegisteredProbe) -> None:
        """Say how long the run takes that the form describes now."""
        view = self.shown
        if view is not None and view.form is self._forms.get(probe.name):
            view.show_estimate(self._seconds.of_form(probe, view.form))

    def show(self, view: RunFormView | None) -> None:
        """Show these controls and no others."""
        for other in self._views.values():
            other.display = other is view

    def fold(self) -> None:
        """Leave the settings of the form that is shown folded, so that the status of a run stands right below it."""
        if self.shown is not None:
            self.shown.fold()

    def choose_plan(self, plan: str) -> None:
        """Fill all forms with the values of a plan."""
        self.plan = plan
        for view in self._views.values():
            view.form.plan = plan
            if view.display:
                view.sync()
