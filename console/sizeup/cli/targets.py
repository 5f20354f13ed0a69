"""Measure other hosts: ``sizeup run --target [USER@]HOST ... --wheels DIR`` with further options of ``run``."""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sizeup.cli.arguments import refuse_combination, typed
from sizeup.errors import ExitStatus, SizeupError, UsageError
from sizeup.text import plural

if TYPE_CHECKING:
    from sizeup.remote.measurement import HostResult

MOST_TARGETS = 64
"""Each has an ssh process here; an engine for many hosts does more."""


def measure_targets(arguments: argparse.Namespace) -> int:
    """Measure the hosts at the same time; the value is the exit status that all have in common, else PROBE_FAILED."""
    options = batch_options(arguments)
    from sizeup.engine.run import parse_start
    from sizeup.probing.remote_python import find_ssh
    from sizeup.remote.host_lines import HostLines
    from sizeup.remote.measurement import HostMeasurement, host_of, measure_all
    from sizeup.remote.wheels import wheel_names

    targets = list(dict.fromkeys(arguments.target))
    for target in targets:
        host_of(target)
    if len(targets) > MOST_TARGETS:
        raise UsageError(
            f"--target: {len(targets)} hosts, at most {MOST_TARGETS}; for more, use an engine: sizeup deploy ansible "
            "DIR"
        )
    if arguments.wheels is None:
        raise UsageError(
            "--target needs --wheels DIR, the wheels that are sent to the hosts; how to collect them: sizeup help "
            "air-gapped-host"
        )
    wheel_names(arguments.wheels)
    if arguments.output is not None and os.path.lexists(arguments.output) and not os.path.isdir(arguments.output):
        raise UsageError(f"-o {arguments.output}: with --target, expected a directory for the sessions, found a file")
    ssh = find_ssh("--target")
    start_seconds = 0.0 if arguments.start_at is None else parse_start(arguments.start_at) / 1e9 - time.time()
    with HostLines(targets, sys.stderr, quiet=arguments.quiet) as lines:
        runs = [HostMeasurement(target, arguments.output, functools.partial(lines.show, target)) for target in targets]
        results = measure_all(runs, ssh, arguments.wheels, options, start_seconds)
    print("\n".join([*_result_lines(results), *_fleet_lines(results)]))
    return _exit_status(results)


def batch_options(arguments: argparse.Namespace) -> list[str]:
    """Return the options of ``run`` that the hosts get; raises ``UsageError`` for those without effect there."""
    refuse_combination(arguments, "--target", ("--append", "--resume", "--control", "--json", "--details"))
    if arguments.mount and not os.path.isabs(arguments.mount):
        raise UsageError(f"--mount {arguments.mount}: with --target, expected an absolute path on the hosts")
    options = []
    for flag, value in (
        ("--plan", arguments.plan),
        ("--mount", arguments.mount),
        ("--repeat", arguments.repeat),
        ("--start-at", arguments.start_at),
        ("--gentle-iops", arguments.gentle_iops),
        ("--gentle-mb-s", arguments.gentle_mb_s),
    ):
        options += [] if value is None else [flag, str(value)]
    for flag, values in (("-p", arguments.probe), ("--set", arguments.assignments)):
        for value in values or ():
            options += [flag, value]
    return [*options, *(flag for flag in ("--gentle", "--full-load", "--only-builtin") if typed(arguments, flag))]


def _result_lines(results: Sequence[HostResult]) -> list[str]:
    """Return what became of each host: how many were measured first, then a line for each."""
    from sizeup.session.reader import read_session
    from sizeup.session.store import command_name
    from sizeup.views.run.run_status import run_status

    measured = sum(not result.status for result in results)
    lines = [f"{measured} of {plural(len(results), 'host')} measured", ""]
    width = max(len(result.target) for result in results)
    for result in results:
        words = result.problem or f"exit status {int(result.status)}"
        if result.path:
            try:
                status = run_status(read_session(result.path, samples=False)).words
            except SizeupError:  # the host printed something else
                status = "no session"
            words = f"{command_name(result.path)}  {status if not result.status else f'{status}: {words}'}"
        lines.append(f"{result.target:{width}}  {words}")
    return lines


def _fleet_lines(results: Sequence[HostResult]) -> list[str]:
    """Return the table of the hosts that were measured, as ``sizeup fleet`` prints it."""
    paths = [result.path for result in results if result.path]
    if len(paths) < 2:
        return []
    from sizeup.fleet.table import session_fleet_lines

    return ["", *session_fleet_lines(paths)]


def _exit_status(results: Sequence[HostResult]) -> ExitStatus:
    statuses = {result.status for result in results}
    if ExitStatus.INTERRUPTED in statuses:
        return ExitStatus.INTERRUPTED
    return statuses.pop() if len(statuses) == 1 else ExitStatus.PROBE_FAILED
