"""From machine, probes and request to a plan: which steps in which order, and which must not run and why."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from sizeup.errors import SizeupError, UsageError
from sizeup.model.machine import Machine
from sizeup.model.plan import LEAST_LIMIT_OVER_ESTIMATE, NOT_REPORTED, Gentle, Hazard, Plan, Refusal, Settings, Step
from sizeup.probing.manifest import Manifest
from sizeup.probing.registry import RegisteredProbe, Registry, load_class
from sizeup.probing.settings import missing, refuse_unused, resolve, used
from sizeup.procfs.process import read_mount
from sizeup.text import one_line

ROUNDS_LIMIT = 1000


class BrokenPlan(Refusal, frozen=True):
    """A plan that failed or has wrong ids; other refusals are the probe's own."""


class NotCompiled(Refusal, frozen=True):
    """A probe in C cannot be planned without its extension."""


_NOT_SAID = "its manifest does not say what it sets there (gentle = {} for nothing)"


def make_plan(
    machine: Machine,
    registry: Registry,
    *,
    name: str | None,
    probes: Sequence[str] = (),
    settings: Mapping[str, Settings] | None = None,
    rounds: int = 1,
    mount: str = "",
    gentle: Gentle | None = None,
) -> Plan:
    """The steps of the named plan, or of the named probes with that plan's settings.

    With a ``mount``, an absolute path, the plan includes what probes measure on a mount. A ``gentle`` plan is made for
    a machine of which one CPU may be used, and leaves out what would load the others.

    Rounds repeat the whole plan, so that slow drift of the machine falls on every step alike; the
    ids of later rounds end in ``~2``, ``~3`` and so on.
    """
    chosen = {**(settings or {})}
    if not 1 <= rounds <= ROUNDS_LIMIT:
        raise UsageError(f"--repeat: expected a whole number from 1 to {ROUNDS_LIMIT:,}, found {rounds}")
    if probes:
        selected = [registry.get(probe) for probe in dict.fromkeys(probes)]
    else:
        # A probe with a target needs one from the user; a plan that it has is for when it is named.
        selected = [
            probe for probe in registry.probes.values() if name in probe.manifest.plans and not probe.manifest.target
        ]
        targeted = [probe for probe in registry.probes.values() if probe.manifest.target]
        on_mount = [probe for probe in targeted if mount and name in probe.manifest.mount_plans]
        selected += on_mount
        for probe in on_mount:
            assert probe.manifest.target is not None
            planned = {**probe.manifest.mount_plans[name or ""], probe.manifest.target.setting: mount}
            chosen[probe.name] = {**planned, **chosen.get(probe.name, {})}
    if gentle is not None:
        machine = replace(machine, pus=tuple(replace(pu, allowed=pu.cpu == gentle.cpu) for pu in machine.pus))
        for probe in selected:
            typed, kept = (settings or {}).get(probe.name, {}), probe.manifest.gentle or {}
            chosen[probe.name] = {**chosen.get(probe.name, {}), **kept, **typed}
    strays = [probe for probe in chosen if probe not in {probe.name for probe in selected}]
    if strays:
        raise UsageError(
            f"--set {strays[0]}....: this run does not include probe {strays[0]}; add it with -p {strays[0]}"
        )
    for probe in selected:
        refuse_unused(
            probe.manifest,
            resolve(probe.manifest, name, chosen.get(probe.name, {})),
            (settings or {}).get(probe.name, ()),
        )
    steps: list[Step] = []
    refusals: list[Refusal] = []
    order = list(Hazard)  # what disturbs others least comes first, so that a canceled run has the harmless figures
    ranks = {probe.name: max(map(order.index, probe.manifest.hazards), default=-1) for probe in selected}
    for probe in sorted(selected, key=lambda probe: (ranks[probe.name], probe.name)):
        for found in _plan_probe(machine, probe, name, chosen.get(probe.name, {}), gentle):
            (steps if isinstance(found, Step) else refusals).append(found)  # type: ignore[arg-type]
    return Plan(
        name="custom" if probes or name is None else name,
        steps=tuple(
            step if number == 1 else replace(step, id=f"{step.id}~{number}")
            for number in range(1, rounds + 1)
            for step in steps
        ),
        refusals=tuple(refusals),
        settings=dict(chosen),
    )


def renumber(plan: Plan, taken: Iterable[str]) -> Plan:
    """The same plan with ids that a file does not hold yet: ``null`` becomes ``null~2`` after a first ``null``."""
    used = set(taken)
    steps = []
    for step in plan.steps:
        base, number, id_ = step.id.partition("~")[0], 2, step.id
        while id_ in used:
            id_ = f"{base}~{number}"
            number += 1
        used.add(id_)
        steps.append(replace(step, id=id_))
    return replace(plan, steps=tuple(steps))


def _plan_probe(
    machine: Machine, probe: RegisteredProbe, plan: str | None, chosen: Settings, gentle: Gentle | None = None
) -> Iterator[Step | Refusal]:
    manifest = probe.manifest
    settings = resolve(manifest, plan, chosen)
    lacking = missing(manifest, settings)
    reason = unmet(machine, manifest)
    if gentle is not None and manifest.gentle is None and reason is None:
        reason = f"left out of a gentle run: {manifest.not_gentle or _NOT_SAID}"
    setting = lacking[0].name if lacking else ""
    if lacking:
        reason = f"needs a value that only you can give: --set {manifest.name}.{setting}=... ({lacking[0].help})"
    if reason is not None:
        yield Refusal(manifest.name, manifest.name, reason, setting)
        return
    seen: set[str] = set()
    try:
        for planned in load_class(probe.target).plan(machine, used(manifest, settings)):
            id_ = planned.id if isinstance(planned, Step) else planned.step
            if not (id_ == probe.name or id_.startswith(f"{probe.name}.")) or "~" in id_ or id_ in seen:
                yield BrokenPlan(
                    probe.name,
                    probe.name,
                    f"its plan is wrong: expected ids of its own that start with {probe.name}, found {one_line(id_)!r}",
                )
                return
            seen.add(id_)
            yield _limited(replace(planned, gentle=gentle), manifest) if isinstance(planned, Step) else planned
    except SizeupError as error:
        yield Refusal(probe.name, probe.name, one_line(str(error)))
    except Exception as error:  # noqa: BLE001 -- a stranger's plan may fail in any way and must not take the others down
        if isinstance(error, ImportError) and f".{error.name}".endswith("._native"):
            wrong = f"its compiled part does not load here ({one_line(str(error))})"
            if isinstance(error, ModuleNotFoundError):
                wrong = "its compiled part is missing: this is the viewer"
            yield NotCompiled(
                probe.name, probe.name, f"{wrong}; to measure, install the wheel for this type of machine"
            )
            return
        package = probe.target.partition(".")[0]
        frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
        where = next((f" ({path.name}:{line})" for path, line in reversed(frames) if package in path.parts), "")
        failure = f"its plan failed: {type(error).__name__}: {one_line(str(error))}{where}"
        yield BrokenPlan(probe.name, probe.name, failure)


def _limited(step: Step, manifest: Manifest) -> Step | Refusal:
    """The step with what its manifest says of it, and with the limit that the runner ends it after.

    The limit is at least half more than the step is estimated to take; a gentle one, which may have to wait for a CPU,
    has all the time that the manifest allows.
    """
    least = LEAST_LIMIT_OVER_ESTIMATE * step.estimated_seconds
    most = manifest.limits.seconds
    if least > most:
        reason = (
            f"it would take about {step.estimated_seconds:,.0f} s: expected at most "
            f"{most / LEAST_LIMIT_OVER_ESTIMATE:,.0f} s, as a step of {manifest.name} is ended after {most:,.0f} s; "
            "set what it measures lower"
        )
        return Refusal(step.id, step.probe, reason)
    return replace(
        step,
        time_limit_seconds=most if step.gentle is not None else min(max(step.time_limit_seconds, least), most),
        hazards=step.hazards or manifest.hazards,
        touches=manifest.touches if step.touches == NOT_REPORTED else step.touches,
    )


def why_not(machine: Machine, probe: RegisteredProbe) -> str | None:
    """Why a probe cannot run here with its defaults; None where it can. Plans it, and so imports it."""
    planned = list(_plan_probe(machine, probe, None, {}))
    if any(isinstance(step, Step) for step in planned):
        return None
    reasons = [refusal.reason for refusal in planned if isinstance(refusal, Refusal)]
    return reasons[0] if reasons else "its plan is empty on this machine"


def unmet(machine: Machine, manifest: Manifest) -> str | None:
    """Why a machine cannot run a probe, as far as the manifest says; None where it can."""
    requires = manifest.requires
    architecture = machine.platform.architecture
    if requires.architectures and architecture is not None and architecture not in requires.architectures:
        return f"needs {' or '.join(requires.architectures)}; this machine is {architecture}"
    # A machine without any node is one node: the kernel was built without NUMA.
    nodes = max(len(machine.nodes), 1)
    if nodes < requires.minimum_nodes:
        return f"needs {requires.minimum_nodes} NUMA nodes; this machine has {nodes}"
    if machine.pus and machine.pu_counts.allowed < requires.minimum_cpus:
        return f"needs {requires.minimum_cpus} CPUs; {machine.pu_counts.allowed} may be used here"
    return None


def why_not_measurable(directory: str) -> str:
    """Return why no file for measuring can be made in a directory; empty if nothing speaks against it."""
    try:
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        return f"cannot be opened: {error.strerror}"
    try:
        status = os.fstatvfs(opened)
        mount = read_mount(opened)
    except OSError as error:
        return f"its file system cannot be read: {error.strerror}"
    finally:
        os.close(opened)
    kind = "" if mount is None else f" ({mount.kind})"
    if not status.f_blocks:
        return f"its file system{kind} has no capacity"
    if status.f_flag & os.ST_RDONLY:
        return f"its file system{kind} is read-only"
    if not status.f_bavail:
        return f"its file system{kind} has no free space"
    if not os.access(directory, os.W_OK | os.X_OK, effective_ids=True):
        return "no permission to create a file in it"
    return ""
