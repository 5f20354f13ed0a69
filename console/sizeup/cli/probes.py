"""List the probes: what each measures, its parameters, and whether it can run here. Starts none of them.

The list is read from the manifests, without running plug-in code. A probe that is named is also asked for its plan.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sizeup.cli.arguments import JSON, arg, refuse_without, switch
from sizeup.cli.results import write_json
from sizeup.errors import ExitStatus, UsageError

if TYPE_CHECKING:
    from sizeup.model.plan import Series
    from sizeup.probing.kit.check import CheckedPlugin, Trial
    from sizeup.probing.kit.plugin_files import PluginFiles, Problem
    from sizeup.probing.registry import RegisteredProbe

SCHEMA = "sizeup.probes/1"
CHECK_SCHEMA = "sizeup.probe-check/1"
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


class NewPlugin:
    """Write the files of a new plug-in, in Python or C, for one probe."""

    ARGUMENTS = (
        arg("language", metavar="KIND", help="python or c"),
        arg("folder", metavar="DIR", help="directory to write"),
        arg("name", metavar="PROBE", help="name of the probe, such as acme.rate"),
    )

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Write the template."""
        from sizeup import files
        from sizeup.probing.kit.template import template_files

        with files.new_directory(arguments.folder, template_files(arguments.language, arguments.name)) as paths:
            print("\n".join([*paths, "", f"Check it with: sizeup probe check {arguments.folder}"]), flush=True)
        return ExitStatus.OK


class CheckPlugin:
    """List the mistakes of a plug-in: its folder, a wheel, or a folder that pip installed into.

    Runs nothing of it without --run. The exit status is 0 without problems, 2 if its files have some, 1 if only its run
    does, and 3 if it cannot run on this machine.
    """

    ARGUMENTS = (
        arg("path", metavar="PATH", help="folder or wheel of the plug-in"),
        switch("--run", help="also measure for half a second"),
        arg(
            "--set", dest="assignments", action="extend", nargs="+", default=[], metavar="PROBE.KEY=VALUE",
            help="with --run: set a parameter; repeatable",
        ),
        JSON,
    )  # fmt: skip

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Check it, run it for a moment if that was asked for, and list what is wrong."""
        from sizeup import files
        from sizeup.probing.kit.check import check_plugin
        from sizeup.probing.kit.plugin_files import unpack_wheel

        refuse_without(arguments, "--set", "--run")
        path = Path(arguments.path)
        with files.temporary_directory() as unpacked:
            if path.is_file():
                root = Path(unpacked)
                unpack_wheel(path, root)
            elif path.is_dir():
                root = path
            else:
                raise UsageError(f"{path}: expected a folder or a wheel, found neither")
            checked = check_plugin(root)
            trials: list[Trial] = []
            if arguments.run and not checked.problems:
                trials = _trials(checked.files, checked.names, arguments.assignments)
        problems = [*checked.problems, *(problem for trial in trials for problem in trial.problems)]
        if arguments.json:
            from msgspec.structs import asdict

            tried = [{name: value for name, value in asdict(trial).items() if name != "problems"} for trial in trials]
            write_json({"schema": CHECK_SCHEMA, "probes": checked.names, "problems": problems, "trials": tried})
        else:
            _print_text(checked, trials, problems, ran=arguments.run)
        if checked.problems:
            return ExitStatus.USAGE
        if any(trial.problems for trial in trials):
            return ExitStatus.PROBE_FAILED
        return ExitStatus.REFUSED if any(trial.refused for trial in trials) else ExitStatus.OK


def _trials(files: PluginFiles, names: list[str], assignments: list[str]) -> list[Trial]:
    from sizeup.discovery.machine import discover
    from sizeup.probing.kit.check import importable, registry_with, try_probe
    from sizeup.probing.settings import parse_assignments

    registry = registry_with(files)
    settings = parse_assignments(assignments, registry)
    machine = discover("/")
    with importable(files):
        return [try_probe(registry.get(name), registry, machine, settings.get(name, {})) for name in names]


def _print_text(checked: CheckedPlugin, trials: list[Trial], problems: list[Problem], *, ran: bool) -> None:
    for problem in problems:
        print(problem)
    for trial in trials:
        if trial.refused:
            print(f"{trial.probe}: not run on this machine: {trial.refused}")
        elif trial.step:
            counts = f"{trial.samples:,} samples, {trial.estimates:,} estimates"
            print(f"{trial.probe}: ran step {trial.step}: {counts}")
        if trial.note:
            print(f"{trial.probe}: {trial.note}")
    names = ", ".join(checked.names) or "no probe"
    print(f"{names}: {len(problems) or 'no'} problem{'s' * (len(problems) != 1)}")
    if not ran:
        print("Nothing of the plug-in was run; --run measures with it for half a second.")
    elif checked.problems:
        print("The probe was not run, because of these problems.", file=sys.stderr)
