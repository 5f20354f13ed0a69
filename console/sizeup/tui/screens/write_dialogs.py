"""The questions before a run that writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from textual.app import App
from textual.binding import BindingType

from sizeup.errors import SizeupError
from sizeup.model.machine import Machine
from sizeup.model.plan import Plan
from sizeup.probing.devices import Device
from sizeup.probing.registry import RegisteredProbe, Registry
from sizeup.text import one_line
from sizeup.tui.dialogs import ChoiceDialog, DeviceDialog
from sizeup.tui.run_form import RunForm, format_seconds
from sizeup.tui.screens import write_confirmation
from sizeup.tui.screens.write_confirmation import facts, targets, writing_steps
from sizeup.units import format_decimal_bytes

Run = Callable[[Mapping[str, str]], None]
"""Starts a run with settings."""


class RunDialog(ChoiceDialog):
    """Asks before a run that may write; the first answer is not to run it."""

    BINDINGS: ClassVar[list[BindingType]] = [("r,y", "screen.agree", "Run")]
    HINT = "r runs, "

    def action_agree(self) -> None:
        """Run it."""
        self.dismiss("yes")


def confirm_write(
    app: App[Any],
    probe: RegisteredProbe,
    plan: Plan,
    settings: Mapping[str, str],
    typed: Mapping[str, str],
    run: Callable[[], None],
) -> None:
    """Say what a run would write, and ``run`` it if the user agrees; ``typed`` are those settings that were changed."""

    def answered(answer: str | None) -> None:
        if answer == "yes":
            run()

    rows = facts(probe, plan.steps, settings)
    told = {key for key, value in typed.items() if targets({key: value})}
    if "Space" in dict(rows):
        told.add(probe.manifest.limits.space_setting)
    changed = ", ".join(f"{key} = {value}" for key, value in typed.items() if key not in told)
    if changed:
        rows.append(("Settings", changed))
    question = f"Run {probe.manifest.title}? {_effect(plan, settings)}"
    app.push_screen(RunDialog(question, (("no", "Cancel"), ("yes", "Run")), rows), answered)


def _effect(plan: Plan, settings: Mapping[str, str]) -> str:
    if write_confirmation.only_reads(plan.steps, settings):
        return "It only reads."
    made = write_confirmation.makes_file(settings)
    return "It creates a temporary file." if made else "It may write."


def confirm_device(app: App[Any], device: Device, plan: Plan, run: Callable[[str], None]) -> None:
    """Have a device named in full before it is overwritten, and ``run`` with what was typed."""
    if device.mounted_on:
        text = f"{device.path} is mounted on {one_line(', '.join(device.mounted_on))}: it is not written to"
        app.notify(text, severity="error", markup=False)
        return
    writing = writing_steps(plan)
    rows = (
        ("Size", "unknown" if device.size_bytes is None else format_decimal_bytes(device.size_bytes)),
        ("Takes", f"about {format_seconds(sum(step.estimated_seconds for step in writing))}"),
        ("Runs", "; ".join(step.title for step in writing)),
    )

    def answered(name: str | None) -> None:
        if name is not None:
            run(name)

    app.push_screen(DeviceDialog(device, rows), answered)


class RunConfirmation:
    """Asks before a run that writes; before a probe that only reads once for its targets and the space it takes."""

    def __init__(self, app: App[Any], registry: Registry) -> None:
        self._app = app
        self._registry = registry
        self._agreed: set[tuple[str, ...]] = set()

    def ask(self, machine: Machine, form: RunForm, probe: RegisteredProbe, run: Run) -> str:
        """Ask, and ``run`` with the settings that were agreed to; return why no run is possible, or nothing."""
        settings = form.texts
        if reason := write_confirmation.missing_target(settings):
            return reason
        consent = write_confirmation.consent(probe)
        unconfirmed = write_confirmation.unconfirmed(probe, form.typed)
        try:
            plan = write_confirmation.plan_for(machine, self._registry, probe, form.plan, unconfirmed)
        except SizeupError as error:
            self._app.notify(str(error), severity="error", markup=False)
            return ""
        device = write_confirmation.named_device(write_confirmation.targets(settings))
        if device is not None and consent in settings and write_confirmation.writing_steps(plan):
            confirm_device(self._app, device, plan, lambda name: run({**unconfirmed, consent: name}))
            return ""
        if reason := write_confirmation.why_no_plan(plan):
            return reason
        typed, agreed = form.typed, write_confirmation.agreement(probe, plan, settings)

        def start() -> None:
            self._agreed |= {agreed} if agreed else set()
            run(typed)

        if agreed in self._agreed:
            run(typed)
        else:
            confirm_write(self._app, probe, plan, settings, typed, start)
        return ""
