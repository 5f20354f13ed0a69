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
from sizeup.tui.run_form import RunForm, format_seconds
from sizeup.tui.screens import write_confirmation
from sizeup.tui.screens.dialogs import ChoiceDialog, DeviceDialog
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
    effect = "It creates a temporary file." if "Space" in dict(rows) else "It may write."
    question = f"Run {probe.manifest.title}? {effect}"
    app.push_screen(RunDialog(question, (("no", "Cancel"), ("yes", "Run")), rows), answered)


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


def confirm_run(
    app: App[Any], machine: Machine, registry: Registry, form: RunForm, probe: RegisteredProbe, run: Run
) -> str:
    """Ask before a run that writes, and ``run`` it with the settings that were agreed to; why none is possible."""
    settings = form.texts
    consent = write_confirmation.consent(probe)
    unconfirmed = write_confirmation.unconfirmed(probe, form.typed)
    try:
        plan = write_confirmation.plan_for(machine, registry, probe, form.plan, unconfirmed)
    except SizeupError as error:
        app.notify(str(error), severity="error", markup=False)
        return ""
    device = write_confirmation.named_device(write_confirmation.targets(settings))
    if device is not None and consent in settings and write_confirmation.writing_steps(plan):
        confirm_device(app, device, plan, lambda name: run({**unconfirmed, consent: name}))
        return ""
    if reason := write_confirmation.why_no_plan(plan):
        return reason
    typed = form.typed
    confirm_write(app, probe, plan, settings, typed, lambda: run(typed))
    return ""
