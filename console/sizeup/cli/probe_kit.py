"""What authors of probes use: a template to begin with, and a check of a plug-in."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sizeup.cli.arguments import JSON, arg, refuse_without, switch
from sizeup.cli.results import write_json
from sizeup.errors import ExitStatus, UsageError

if TYPE_CHECKING:
    from sizeup.probing.kit.check import CheckedPlugin, Trial
    from sizeup.probing.kit.plugin_files import PluginFiles, Problem

SCHEMA = "sizeup.probe-check/1"


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
            "--set", dest="assignments", action="append", default=[], metavar="PROBE.KEY=VALUE",
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
            write_json({"schema": SCHEMA, "probes": checked.names, "problems": problems, "trials": tried})
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
