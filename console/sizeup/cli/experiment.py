"""Compare two settings of this machine alternately, restore the setting, and report the difference.

A setting is whatever a command makes: a kernel parameter, a mount option, an I/O scheduler. Before each run the command
of its setting is executed by /bin/sh with your rights; the runs alternate in the order A B B A B A A B, so that slow
drift falls on both. At the end, after an error and after Ctrl-C, the command of --restore is executed, or that of A
again if there is none.

The commands and the plan are shown first, and nothing is executed before you agree.

The difference of each headline figure is reported with its 95 % interval and p-value, paired by round. Invalid
measurements are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from sizeup.cli.arguments import (
    JSON,
    MINIMUM_EFFECT,
    NEW_SESSION,
    ONLY_BUILTIN,
    PLAN,
    QUIET,
    Group,
    arg,
    confirm,
    minimum_effect,
    refuse_combination,
    switch,
)
from sizeup.cli.results import write_json
from sizeup.errors import ExitStatus, RefusedError, SizeupError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sizeup.engine.experiment import PreparedExperiment

_MEASURING = (
    "--a", "--b", "--restore", "--rounds", "--settle", "--command-limit", "--plan", "--probe", "--set", "--output",
    "--only-builtin", "--yes",
)  # fmt: skip
ARGUMENTS = (
    Group(
        "settings",
        (
            arg("--a", metavar="COMMAND", help="command that makes setting A, such as the present one"),
            arg("--b", metavar="COMMAND", help="command that makes setting B"),
            arg(
                "--restore", metavar="COMMAND",
                help="command that restores the setting at the end (default: that of --a)",
            ),
            arg("--rounds", type=int, metavar="N", help="runs under each setting, at least 3 (default: 6)"),
            arg(
                "--settle", type=float, metavar="SECONDS",
                help="wait after each command before the run (default: 1)",
            ),
            arg(
                "--command-limit", type=float, metavar="SECONDS",
                help="end a command after this time (default: 60)",
            ),
            switch("--yes", help="execute without asking"),
        ),
    ),
    Group("measuring", (*PLAN, NEW_SESSION, ONLY_BUILTIN, QUIET)),
    Group(
        "result",
        (
            arg(
                "--metric", action="append", metavar="METRIC",
                help="report this metric, such as PROBE.latency-p99, instead of the headline figures; repeatable",
            ),
            MINIMUM_EFFECT,
            JSON,
            arg("--show", metavar="FILE", help="print the result of a recorded experiment; executes nothing"),
        ),
    ),
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Show what would be executed, ask, execute it, and print the result."""
    minimum_effect(arguments)  # refused before anything is executed
    if arguments.show is not None:
        refuse_combination(arguments, "--show", _MEASURING)
        _print(arguments.show, arguments)
        return ExitStatus.OK
    from sizeup.config import load
    from sizeup.engine.experiment import ExperimentSpec, prepare, run_experiment
    from sizeup.engine.spec import RunSpec

    for flag, command in (("--a", arguments.a), ("--b", arguments.b)):
        if command is None:
            raise UsageError(
                f"{flag} is missing; name the command of each setting, such as: "
                "sizeup experiment --a 'sysctl vm.swappiness=60' --b 'sysctl vm.swappiness=10'"
            )
    if arguments.output == "-":
        raise UsageError("-o: expected a file, found -: an experiment reads its session again; name a file")
    given = {
        "rounds": arguments.rounds,
        "settle_seconds": arguments.settle,
        "command_limit_seconds": arguments.command_limit,
    }
    spec = ExperimentSpec(
        a=arguments.a,
        b=arguments.b,
        restore=arguments.restore,
        run=RunSpec(
            plan=load(os.environ, {"run.plan": arguments.plan}).text("run.plan"),
            probes=tuple(arguments.probe or ()),
            assignments=tuple(arguments.assignments or ()),
            output=arguments.output,
            only_builtin=arguments.only_builtin,
        ),
        **{name: value for name, value in given.items() if value is not None},
    )
    prepared = prepare(spec)
    if not (arguments.yes and arguments.quiet):
        print("\n".join(question(prepared)), file=sys.stderr)
    if not (arguments.yes or confirm("Execute this?", "nothing was executed: an experiment")):
        raise RefusedError("nothing was executed: not confirmed")
    from sizeup.batch.progress_lines import ProgressLines

    end = run_experiment(prepared, ProgressLines(sys.stderr, quiet=arguments.quiet))
    shown: SizeupError | None = None
    try:
        _print(end.path, arguments)
    except SizeupError as error:
        shown = error
    if not arguments.json:
        print(f"\nSession saved in {end.path}\nShow the result again with: sizeup experiment --show {end.path}")
    for problem in end.problems:
        print(f"sizeup: {problem}", file=sys.stderr)
    if shown is not None and end.status is ExitStatus.OK:
        raise shown
    return end.status


def question(prepared: PreparedExperiment) -> Sequence[str]:
    """Return what is going to be executed, for the user to decide."""
    from sizeup.engine.experiment import SHELL, user
    from sizeup.text import plural
    from sizeup.units import format_value

    spec, plan = prepared.spec, prepared.plan
    restore = f"{_shown(spec.last_command)}{'' if spec.restore else '  (no --restore given, so A again)'}"
    takes = format_value(prepared.seconds * 1e9, "ns")
    runs = f"{plural(2 * spec.rounds, 'run')}, {spec.rounds} under each setting, in the order {spec.order.upper()}"
    limit = f"each ended after {spec.command_limit_seconds:g} s"
    lines = [
        f"Experiment: {runs}; about {takes} and the time of the commands",
        f"Commands, executed by {SHELL} -c as {user()} in {os.getcwd()}, {limit}:",
        f"  A, before each of its runs:  {_shown(spec.a)}",
        f"  B, before each of its runs:  {_shown(spec.b)}",
        f"  at the end, also after an error or Ctrl-C:  {restore}",
        f"Measured in each run, {spec.settle_seconds:g} s after the command:",
    ]
    lines += [
        f"  {step.id}: {step.title}, about {format_value(step.estimated_seconds * 1e9, 'ns')}, touches {step.touches}"
        for step in plan.steps
    ]
    lines += [f"  not measured: {refusal.step}: {refusal.reason}" for refusal in plan.refusals]
    return [*lines, f"Session: {spec.run.output or 'a new file in the state directory'}"]


def _shown(command: str) -> str:
    """Return a command as it is; one with characters that a terminal would not show as they are, escaped."""
    return command if command.isprintable() else repr(command)


def _print(path: str, arguments: argparse.Namespace) -> None:
    from sizeup.compare.experiment import experiment_result
    from sizeup.session.reader import read_session

    result = experiment_result(
        read_session(path), path, metrics=arguments.metric or (), minimum_effect=minimum_effect(arguments)
    )
    if arguments.json:
        from sizeup.views.comparison.experiment import experiment_data

        write_json(experiment_data(result, path))
        return
    from sizeup.batch.standard_output import experiment_text

    print("\n".join(experiment_text(result)))
