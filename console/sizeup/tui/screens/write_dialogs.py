"""The questions before a run that writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from textual.app import App
from textual.binding import BindingType

from sizeup.model.plan import Plan
from sizeup.probing.devices import Device
from sizeup.probing.registry import RegisteredProbe
from sizeup.text import one_line
from sizeup.tui.run_form import format_seconds
from sizeup.tui.screens.dialogs import ChoiceDialog, DeviceDialog
from sizeup.tui.screens.write_confirmation import facts, writing_steps
from sizeup.units import format_decimal_bytes


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
    shown = " ".join(value for _, value in rows)
    changed = ", ".join(f"{key} = {value}" for key, value in typed.items() if value not in shown)
    if changed:
        rows.append(("Settings", changed))
    question = f"Run {probe.manifest.title}? It may write."
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
