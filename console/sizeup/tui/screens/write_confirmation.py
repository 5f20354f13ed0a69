"""What a run would write and where, and the questions before it does."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual.app import App
from textual.binding import BindingType

from sizeup.errors import SizeupError
from sizeup.model.machine import Machine
from sizeup.model.plan import NOT_REPORTED, Hazard, Plan, Step
from sizeup.probing.devices import Device, find_mount, read_device
from sizeup.probing.manifest import Manifest, parse_value
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import RegisteredProbe, Registry
from sizeup.text import one_line
from sizeup.tui.console import WAITS, ConsoleApp
from sizeup.tui.dialogs import ChoiceDialog, DeviceDialog, ask, ask_which
from sizeup.tui.run_form import RunForm, format_seconds
from sizeup.units import format_bytes, format_decimal_bytes

WRITES = frozenset({Hazard.IO_WRITE, Hazard.RAW_DEVICE_WRITE, Hazard.DISK_SPACE})
_MADE = ", a directory: a temporary file is created in it"
Facts = list[tuple[str, str]]
Run = Callable[[Mapping[str, str]], None]
"""Starts a run with settings."""


def consent(probe: RegisteredProbe) -> str:
    """Return the parameter that takes the full name of a device which may be overwritten; empty where none does."""
    return next((parameter.name for parameter in probe.manifest.parameter if parameter.type == "device"), "")


def unconfirmed(probe: RegisteredProbe, typed: Mapping[str, str]) -> dict[str, str]:
    """Return what was typed without the name of a device that is asked for each time."""
    device = consent(probe)
    return {key: text for key, text in typed.items() if key != device}


def estimated_seconds(machine: Machine, registry: Registry, probe: RegisteredProbe, form: RunForm) -> float | None:
    """Return how long a run with the settings of a form takes; None where it is not known."""
    try:
        plan = plan_for(machine, registry, probe, form.plan, unconfirmed(probe, form.typed))
    except SizeupError:
        return None
    return sum(step.estimated_seconds for step in plan.steps) if plan.steps else None


def plan_for(machine: Machine, registry: Registry, probe: RegisteredProbe, plan: str, typed: Mapping[str, str]) -> Plan:
    """What a run of one probe would do with the settings that were typed."""
    parameters = {parameter.name: parameter for parameter in probe.manifest.parameter}
    settings = {key: parse_value(parameters[key], text, key) for key, text in typed.items()}
    return make_plan(machine, registry, name=plan, probes=[probe.name], settings={probe.name: settings})


def writing_steps(plan: Plan) -> list[Step]:
    """The steps that would write."""
    return [step for step in plan.steps if not WRITES.isdisjoint(step.hazards)]


def targets(settings: Mapping[str, str]) -> list[str]:
    """The paths among settings as they are spelled, several in one with colons between them."""
    return [path for text in settings.values() for path in text.split(":") if path.startswith("/")]


def facts(probe: RegisteredProbe, steps: Sequence[Step], settings: Mapping[str, str], waits: str) -> Facts:
    """Where the run goes, on which mount, how much it takes and how long."""
    found = [fact for path in targets(settings) for fact in (("Target", _target(path)), ("Mounted", _mount(path)))]
    size, limit = file_size(probe.manifest, settings), probe.manifest.limits.space
    most = limit if limit == NOT_REPORTED else f"at most {limit}"
    space = ("Space", f"{size}, removed after the run" if size else most)
    return [
        *found,
        *(() if only_reads(steps, settings) else (space,)),
        ("Takes", f"about {format_seconds(sum(step.estimated_seconds for step in steps))}{waits}"),
        ("Runs", "; ".join(step.title for step in steps)),
        ("Touches", "; ".join(dict.fromkeys(step.touches for step in steps))),
    ]


def file_size(manifest: Manifest, settings: Mapping[str, str]) -> str:
    """Return the size of the file that a run creates; empty where the run chooses it."""
    size = settings.get(manifest.limits.space_setting, "")
    return size if size.strip("0B") else ""


def only_reads(steps: Sequence[Step], settings: Mapping[str, str]) -> bool:
    """Return whether a run creates and writes nothing: its targets are files or devices, which it reads."""
    writes = any(not WRITES.isdisjoint(step.hazards) for step in steps)
    return bool(targets(settings)) and not makes_file(settings) and not writes


def makes_file(settings: Mapping[str, str]) -> bool:
    """Return whether one of the targets is a directory, in which a run creates its file."""
    return any(_target(path).endswith(_MADE) for path in targets(settings))


def unfit_target(settings: Mapping[str, str]) -> str:
    """Return why a target cannot be measured, as far as can be told before; empty where each can, or is on a server."""
    from sizeup.live.storage_targets import unfit

    for path in filter(_can_ask, targets(settings)):
        device = read_device(path)
        if device is None and not os.path.lexists(path):
            return f"{path} does not exist: enter the full name of a directory, file or device"
        if device is None and (problem := unfit(path, reserves=settings.get("reserve") in ("0", "0B"))):
            return f"{path} {problem}: choose a directory on the storage that you want to measure"
    return ""


def agreement(probe: RegisteredProbe, plan: Plan, settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is agreed to for later runs too: a probe that only reads, its targets and its space.

    Empty where each run is asked for: it writes more than the file that it then reads.
    """
    if writing_steps(plan) or not targets(settings):
        return ()
    hazards = {hazard.value for step in plan.steps for hazard in step.hazards}
    space = settings.get(probe.manifest.limits.space_setting, "")
    return (probe.name, space, *sorted(hazards), *targets(settings))


def _can_ask(path: str) -> bool:
    mount = find_mount(path)
    return mount is None or mount.local


def _target(path: str) -> str:
    if not _can_ask(path):
        return f"{path}, on a server"
    if read_device(path) is not None:
        return f"{path}, a device: read only"
    if not os.path.lexists(path):
        return f"{path}: does not exist"
    return f"{path}{_MADE}" if os.path.isdir(path) else f"{path}: read only"


def _mount(path: str) -> str:
    device = read_device(path) if _can_ask(path) else None
    if device is not None:
        return f"on {one_line(', '.join(device.mounted_on))}" if device.mounted_on else "nowhere"
    mount = find_mount(path)
    if mount is None:
        return "unknown: not in the mount table"
    words = f"{mount.point}, {mount.kind} on {mount.source}"
    if not mount.local:
        return f"{words}; free space not checked, as its server may not respond"
    try:
        status = os.statvfs(path)
    except OSError as error:
        return f"{words}; {error.strerror}"
    return f"{words}, {format_bytes(status.f_bavail * status.f_frsize)} free"


def why_no_plan(plan: Plan) -> str:
    """Why nothing of a plan can run; empty where something can."""
    if plan.steps:
        return ""
    # A setting without a value is a field of the form.
    reasons = (
        f"enter {one.setting.replace('_', ' ')}, which has no default" if one.setting else one.reason
        for one in plan.refusals
    )
    return "; ".join(reasons) or "there is nothing to run"


class RunDialog(ChoiceDialog):
    """Asks before a run that may write; the first answer is not to run it."""

    BINDINGS: ClassVar[list[BindingType]] = [("r,y", "screen.answer('yes')", "Run")]
    KEYS = (("r", "Measure"), ("Enter", "Choose"), ("Esc", "Close"))


def confirm_write(
    app: App[Any],
    probe: RegisteredProbe,
    plan: Plan,
    settings: Mapping[str, str],
    typed: Mapping[str, str],
    run: Callable[[], None],
    waits: str,
) -> None:
    """Say what a run would write, and ``run`` it if the user agrees; ``typed`` are those settings that were changed."""
    rows = facts(probe, plan.steps, settings, waits)
    told = {key for key, value in typed.items() if targets({key: value})}
    if "Space" in dict(rows):
        told.add(probe.manifest.limits.space_setting)
    changed = ", ".join(f"{key} = {value}" for key, value in typed.items() if key not in told)
    if changed:
        rows.append(("Settings", changed))
    effect = "It creates a temporary file." if makes_file(settings) else "It may write."
    effect = "It only reads." if only_reads(plan.steps, settings) else effect
    question = f"Measure {probe.manifest.title}? {effect}"
    ask_which(app, RunDialog(question, (("no", "Cancel"), ("yes", "Measure")), rows), {"yes": run})


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
    ask(app, DeviceDialog(device, rows), run)


class RunConfirmation:
    """Asks before a run that writes; before a probe that only reads once for its targets and the space it takes."""

    def __init__(self, app: ConsoleApp, registry: Registry) -> None:
        self._app = app
        self._registry = registry
        self._agreed: set[tuple[str, ...]] = set()

    def ask(self, machine: Machine, form: RunForm, probe: RegisteredProbe, run: Run, *, agreed: bool = False) -> str:
        """Ask, and ``run`` with the settings that were agreed to; return why no run is possible, or nothing.

        ``agreed`` is whether the user has just chosen the target for this run, knowing what is created in it.
        """
        settings = form.texts
        if reason := unfit_target(settings):
            return reason
        device_setting = consent(probe)
        confirmed = unconfirmed(probe, form.typed)
        try:
            plan = plan_for(machine, self._registry, probe, form.plan, confirmed)
        except SizeupError as error:
            self._app.notify(str(error), severity="error", markup=False)
            return ""
        devices = (read_device(path) for path in targets(settings) if _can_ask(path))  # no server is asked
        device = next((one for one in devices if one is not None), None)
        if device is not None and device_setting in settings and writing_steps(plan):
            confirm_device(self._app, device, plan, lambda name: run({**confirmed, device_setting: name}))
            return ""
        if reason := why_no_plan(plan):
            return reason
        typed, reads = form.typed, agreement(probe, plan, settings)

        def start() -> None:
            self._agreed |= {reads} if reads else set()
            run(typed)

        if reads in self._agreed or (reads and agreed):
            start()
        else:
            confirm_write(self._app, probe, plan, settings, typed, start, f", {WAITS}" if self._app.gentle else "")
        return ""
