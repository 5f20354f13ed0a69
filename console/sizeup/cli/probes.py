"""List the probes: what each measures, its parameters, and whether it can run here. Starts none of them.

The list is read from the manifests, without running plug-in code. A probe that is named is also asked for its plan.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from sizeup.cli.arguments import JSON, arg
from sizeup.cli.results import write_json
from sizeup.errors import ExitStatus

if TYPE_CHECKING:
    from sizeup.model.plan import Series
    from sizeup.probing.registry import RegisteredProbe

SCHEMA = "sizeup.probes/1"
ARGUMENTS = (JSON, arg("probe", nargs="*", metavar="PROBE", help="show this probe with its parameters"))


def run(arguments: argparse.Namespace) -> int:
    """List the probes, or show those that are named."""
    import msgspec

    from sizeup.discovery.machine import discover
    from sizeup.probing.planner import unmet, why_not
    from sizeup.probing.registry import load_registry

    registry = load_registry()
    chosen = [registry.get(name) for name in arguments.probe] or list(registry.probes.values())
    machine, named = discover("/"), bool(arguments.probe)
    reasons = [why_not(machine, probe) if named else unmet(machine, probe.manifest) for probe in chosen]
    if arguments.json:
        data = {
            "schema": SCHEMA,
            "probes": list(map(_data, chosen, reasons)),
            "broken": msgspec.to_builtins(registry.broken),
        }
        write_json(data)
        return ExitStatus.OK
    for probe, reason in zip(chosen, reasons, strict=True):
        print("\n".join(_lines(probe, reason, named=named)))
    if not named:
        for broken in registry.broken:
            print(f"{broken.name}: cannot be used ({broken.distribution}): {broken.reason}", file=sys.stderr)
        print("\nShow the parameters of a probe with: sizeup probe list PROBE")
    return ExitStatus.OK


def _lines(probe: RegisteredProbe, reason: str | None, *, named: bool) -> list[str]:
    from sizeup.probing.manifest import expectation

    manifest = probe.manifest
    plans = ", ".join(manifest.plans) or "by name only"
    if manifest.target is not None and manifest.plans:
        plans = f"by name only, with settings of {plans}"
    hazards = ", ".join(hazard.value for hazard in manifest.hazards) or "none declared"
    lines = [
        f"{probe.name}: {manifest.summary}",
        f"  {'can run here' if reason is None else f'cannot run here: {reason}'}",
    ]
    if not named:
        return lines
    lines += [
        f"  from {probe.distribution}; plans: {plans}; method: {manifest.method}",
        f"  touches {manifest.touches}; hazards: {hazards}",
        (
            f"  at most: memory {manifest.limits.memory}; space {manifest.limits.space}; "
            f"CPUs {manifest.limits.cpus}; {manifest.limits.seconds:g} s per step"
        ),
        "  measures",
        *(
            f"    {series.name}: {series.title} ({series.unit}, {series.better.value} is better){_quantities(series)}"
            for series in probe.series
        ),
        "  parameters" if manifest.parameter else "  no parameters",
    ]
    for parameter in manifest.parameter:
        default = "required" if parameter.default is None else f"default {parameter.default}"
        lines.append(
            f"    --set {probe.name}.{parameter.name}=...  {parameter.help}; {expectation(parameter)}; {default}"
        )
    return lines


def _quantities(series: Series) -> str:
    names = ", ".join(dict.fromkeys(declared.name for declared in series.quantities))
    return f"; {names}" if names else ""


def _data(probe: RegisteredProbe, reason: str | None) -> dict[str, Any]:
    import msgspec

    manifest: dict[str, Any] = msgspec.to_builtins(probe.manifest)
    of_package = {"distribution": probe.distribution, "builtin": probe.builtin}
    return {**manifest, **of_package, "can_run": reason is None, "reason": reason}
