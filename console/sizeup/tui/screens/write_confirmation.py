"""What a run would write and where, shown before anyone agrees to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from sizeup.errors import SizeupError
from sizeup.model.machine import Machine
from sizeup.model.plan import NOT_REPORTED, Hazard, Plan, Refusal, Step
from sizeup.probing.devices import Device, find_mount, read_device
from sizeup.probing.manifest import parse_value
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import RegisteredProbe, Registry
from sizeup.text import one_line
from sizeup.tui.run_form import RunForm, format_seconds
from sizeup.units import format_decimal_bytes

WRITES = frozenset({Hazard.IO_WRITE, Hazard.RAW_DEVICE_WRITE, Hazard.DISK_SPACE})
_MADE = ", a directory: a temporary file is created in it"


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


def named_device(paths: Iterable[str]) -> Device | None:
    """The first device among paths; what lies on a server is not asked."""
    return next((device for path in paths if _can_ask(path) and (device := read_device(path)) is not None), None)


def facts(probe: RegisteredProbe, steps: Sequence[Step], settings: Mapping[str, str]) -> list[tuple[str, str]]:
    """Where the run goes, on which mount, how much it takes and how long."""
    found = [fact for path in targets(settings) for fact in (("Target", _target(path)), ("Mounted", _mount(path)))]
    size = settings.get(probe.manifest.limits.space_setting, "")
    limit = probe.manifest.limits.space
    most = limit if limit == NOT_REPORTED else f"at most {limit}"
    space = ("Space", f"{size}, removed after the run" if size.strip("0B") else most)
    return [
        *found,
        *(() if only_reads(steps, settings) else (space,)),
        ("Takes", f"about {format_seconds(sum(step.estimated_seconds for step in steps))}"),
        ("Runs", "; ".join(step.title for step in steps)),
        ("Touches", "; ".join(dict.fromkeys(step.touches for step in steps))),
    ]


def only_reads(steps: Sequence[Step], settings: Mapping[str, str]) -> bool:
    """Return whether a run creates and writes nothing: its targets are files or devices, which it reads."""
    writes = any(not WRITES.isdisjoint(step.hazards) for step in steps)
    return bool(targets(settings)) and not makes_file(settings) and not writes


def makes_file(settings: Mapping[str, str]) -> bool:
    """Return whether one of the targets is a directory, in which a run creates its file."""
    return any(_target(path).endswith(_MADE) for path in targets(settings))


def missing_target(settings: Mapping[str, str]) -> str:
    """Return why a target cannot be measured: it does not exist; empty where each does, or may on a server."""
    for path in targets(settings):
        if _can_ask(path) and not os.path.lexists(path) and read_device(path) is None:
            return f"{path} does not exist: enter the full name of a directory, file or device"
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
    return f"{words}, {format_decimal_bytes(status.f_bavail * status.f_frsize)} free"


def why_no_plan(plan: Plan) -> str:
    """Why nothing of a plan can run; empty where something can."""
    if plan.steps:
        return ""
    return "; ".join(map(_why_refused, plan.refusals)) or "there is nothing to run"


def _why_refused(refusal: Refusal) -> str:
    """Return the reason; a setting without a value is a field of the form."""
    return f"enter {refusal.setting.replace('_', ' ')}, which has no default" if refusal.setting else refusal.reason
