"""Measure without the console, save a session and print a summary.

sizeup --batch is the same command.
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import shlex
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sizeup.cli.arguments import (
    NEW_SESSION,
    ONLY_BUILTIN,
    PLAN,
    QUIET,
    arg,
    one_of,
    refuse_combination,
    refuse_without,
    switch,
    typed,
)
from sizeup.cli.results import write_json
from sizeup.errors import ExitStatus, RefusedError, SizeupError, UsageError
from sizeup.text import plural

if TYPE_CHECKING:
    from sizeup.config import Configuration
    from sizeup.engine.spec import RunSpec
    from sizeup.model.plan import Gentle
    from sizeup.remote.measurement import HostResult


ARGUMENTS = (
    *PLAN,
    arg(
        "--mount", metavar="DIR",
        help="also measure the storage below this directory: the plan creates a file of at most 1 GiB there and "
        "removes it, and reads files of that file system that are older than a day for 2.5 s (not if its probe has "
        "cold_read=false)",
    ),
    arg(
        "--repeat", type=int, metavar="N",
        help="run the plan N times, so that runs can be compared statistically (default: 1)",
    ),
    arg(
        "--start-at", metavar="EPOCH",
        help="start to measure at this time, in seconds since 1970, to start several hosts together; "
        "if it has passed, measure nothing and exit with status 4",
    ),
    arg(
        "--target", action="extend", nargs="+", metavar="HOST",
        help="measure these hosts instead of this machine, as [USER@]HOST for ssh. Sessions are saved here (-o: their "
        "directory), and nothing is left on the hosts",
    ),
    one_of(
        arg(
            "--one-file", metavar="FILE",
            help="with --target: the executable that is sent (default: this one, if sizeup was started from it); the "
            "hosts need no Python; see: sizeup help one-file",
        ),
        arg(
            "--wheels", metavar="DIR",
            help="with --target: the wheels of sizeup and its dependencies that are sent instead; see: sizeup help "
            "air-gapped-host",
        ),
    ),
    one_of(
        arg(
            "-o", "--output", metavar="FILE",
            help="session file to write, - for standard output (default: a new one in the state directory)",
        ),
        arg("--append", metavar="FILE", help="add another run to this session"),
        arg("--resume", metavar="FILE", help="run the steps that are missing from this session's plan"),
    ),
    one_of(
        switch(
            "--gentle",
            help="beside a live database: one CPU at nice 19 and idle I/O class, limited IOPS, MB/s and memory. On a "
            "busy host a run is gentle by itself",
        ),
        switch("--full-load", help="measure at full load, even if other processes keep this host busy"),
    ),
    arg("--gentle-iops", type=float, metavar="N", help="with --gentle: I/O requests per second (default: 500)"),
    arg("--gentle-mb-s", type=float, metavar="N", help="with --gentle: MB/s of I/O (default: 50)"),
    switch("--json", help="print the results as JSON in base units instead of a summary"),
    switch("--details", help="print every chapter instead of one screen"),
    QUIET,
    ONLY_BUILTIN,
    switch(
        "--control",
        help="read commands from standard input, one per line: cancel-step, cancel, pause, resume, keep, hang-up, "
        'console {"cpu_seconds": N, "bytes": N}; the end of the input cancels the run, except after '
        "keep and hang-up",
    ),
)  # fmt: skip
_OF_A_PLAN = {
    "plan": "--plan", "probe": "-p", "mount": "--mount", "assignments": "--set", "repeat": "--repeat",
    "gentle": "--gentle", "full_load": "--full-load",
}  # fmt: skip
"""Options that say what is measured, by where argparse keeps them; a resumed session says it itself."""


def spec_of(arguments: argparse.Namespace) -> RunSpec:
    """Return the run that the options ask for."""
    from sizeup.config import load
    from sizeup.engine.spec import RunSpec

    configuration = load(os.environ, {"run.plan": arguments.plan})
    return RunSpec(
        plan=configuration.text("run.plan"),
        probes=tuple(arguments.probe or ()),
        assignments=tuple(arguments.assignments or ()),
        mount=_mount(arguments),
        rounds=1 if arguments.repeat is None else arguments.repeat,
        output=arguments.output,
        append=arguments.append,
        resume=arguments.resume,
        start_at=arguments.start_at,
        control=arguments.control,
        only_builtin=arguments.only_builtin,
        cancel_on_hang_up=configuration.text("run.hang_up") == "cancel",
        gentle=_gentle(arguments, configuration),
        full_load=arguments.full_load,
    )


def _gentle(arguments: argparse.Namespace, configuration: Configuration) -> Gentle | None:
    """Return the caps of a run that is gentle, as typed or because others keep this host busy; None for full load."""
    from sizeup.model.plan import Gentle

    iops, mb_s = arguments.gentle_iops, arguments.gentle_mb_s
    for flag, number, least in (("--gentle-iops", iops, 10), ("--gentle-mb-s", mb_s, 1)):
        refuse_without(arguments, flag, "--gentle")
        if number is not None and not least <= number < math.inf:
            raise UsageError(f"{flag}: expected a number of at least {least}, found {number:g}")
    caps = Gentle(iops=iops or Gentle().iops, bytes_per_second=1e6 * mb_s if mb_s else Gentle().bytes_per_second)
    asked = arguments.gentle or arguments.full_load or arguments.resume
    if not asked and configuration.text("run.busy") != "ignore":
        from sizeup.live.host_load import measure_load

        if excess := measure_load().excess():
            print(f"sizeup: this host is busy ({excess}): measuring gently; or add --full-load", file=sys.stderr)
            return caps
    return caps if arguments.gentle else None


def _mount(arguments: argparse.Namespace) -> str:
    """Return the absolute path of the directory whose storage is measured; empty without one."""
    if arguments.mount is None:
        return ""
    if arguments.probe:
        raise UsageError(
            "--mount adds storage to a plan and cannot be combined with -p; set the target of the probe with --set, "
            "or leave out -p"
        )
    from sizeup.live.storage_targets import NO_RESPONSE, responds

    if not responds(arguments.mount):
        raise RefusedError(f"--mount {arguments.mount}: {NO_RESPONSE}; nothing was measured")
    if not os.path.isdir(arguments.mount):
        raise UsageError(f"--mount {arguments.mount}: expected a directory; name the one that will hold the database")
    from sizeup.probing.planner import why_not_measurable

    reason = why_not_measurable(arguments.mount)
    if reason:
        raise RefusedError(
            f"--mount {arguments.mount}: {reason}; nothing was measured. Name a directory of the file system that will "
            "hold the database"
        )
    return str(os.path.abspath(arguments.mount))


def run(arguments: argparse.Namespace) -> int:
    """Measure this machine, or the hosts that were named."""
    if arguments.target:
        return measure_targets(arguments)
    for flag in ("--one-file", "--wheels"):
        refuse_without(arguments, flag, "--target")
    if arguments.json and arguments.details:
        raise UsageError("--details cannot be combined with --json, which has every result; leave out one of them")
    if arguments.json and arguments.output == "-":
        raise UsageError("--json and -o - both write to standard output; name a file with -o")
    chosen = [flag for name, flag in _OF_A_PLAN.items() if getattr(arguments, name)]
    if arguments.resume and chosen:
        raise UsageError(
            f"{' and '.join(chosen)} cannot be combined with --resume, which runs the rest of the session's own plan; "
            "leave out one or the other"
        )
    from sizeup.batch.progress_lines import ProgressLines
    from sizeup.engine.run import run
    from sizeup.session.reader import read_session
    from sizeup.session.store import find

    for name in ("append", "resume"):
        if getattr(arguments, name):
            setattr(arguments, name, find(getattr(arguments, name)))
    result = run(spec_of(arguments), ProgressLines(sys.stderr, quiet=arguments.quiet))
    if result.path is None:
        return result.status
    session = read_session(result.path)
    if arguments.json:
        from sizeup.views.run.results import results_data

        write_json(results_data(session))
    else:
        from sizeup.batch.standard_output import LINES, measured_steps, session_lines
        from sizeup.session.store import command_name
        from sizeup.views.run.run_status import run_status

        name = command_name(result.path)
        end = ["", f"Session saved in {result.path} ({measured_steps(session)}; {run_status(session).words})"]
        if not (arguments.mount or arguments.probe or arguments.resume):
            end.append("Storage not measured: add --mount DIR, naming the directory that will hold the database")
        if result.status in (ExitStatus.INTERRUPTED, ExitStatus.TERMINATED, ExitStatus.HANGUP):
            end.append(f"Finish it with: sizeup run --resume {shlex.quote(name)}")
        end.append(f"Details: sizeup session show {name}   In the console: sizeup {name}")
        whole, room = arguments.details, LINES - len(end)
        print("\n".join([*session_lines(session, whole=whole, name=name, max_lines=room), *end]))
    return ExitStatus(result.status)


MOST_TARGETS = 64
"""Each has an ssh process here; an engine for many hosts does more."""


def measure_targets(arguments: argparse.Namespace) -> int:
    """Measure the hosts at the same time; the value is the exit status that all have in common, else PROBE_FAILED."""
    options = batch_options(arguments)
    from sizeup.engine.run import parse_start
    from sizeup.probing.remote_python import find_ssh
    from sizeup.remote.measurement import HostLines, HostMeasurement, host_of, measure_all
    from sizeup.remote.one_file import OneFile
    from sizeup.remote.wheels import WheelFolder, wheel_names

    targets = list(dict.fromkeys(arguments.target))
    for target in targets:
        host_of(target)
    if len(targets) > MOST_TARGETS:
        raise UsageError(
            f"--target: {len(targets)} hosts, at most {MOST_TARGETS}; for more, use an engine: sizeup deploy ansible "
            "DIR"
        )
    one_file = arguments.one_file or os.environ.get("SIZEUP_ONE_FILE")
    sizeup: WheelFolder | OneFile
    if arguments.wheels is not None:
        wheel_names(arguments.wheels)
        sizeup = WheelFolder(arguments.wheels)
    elif one_file:
        sizeup = OneFile(one_file)
    else:
        raise UsageError(
            "--target needs --one-file FILE, the executable that is sent to the hosts (sizeup help one-file), or "
            "--wheels DIR (sizeup help air-gapped-host)"
        )
    if arguments.output is not None and os.path.lexists(arguments.output) and not os.path.isdir(arguments.output):
        raise UsageError(f"-o {arguments.output}: with --target, expected a directory for the sessions, found a file")
    ssh = find_ssh("--target")
    start_seconds = 0.0 if arguments.start_at is None else parse_start(arguments.start_at) / 1e9 - time.time()
    with HostLines(targets, sys.stderr, quiet=arguments.quiet) as lines:
        runs = [HostMeasurement(target, arguments.output, functools.partial(lines.show, target)) for target in targets]
        results = measure_all(runs, ssh, sizeup, options, start_seconds)
    print("\n".join(_host_lines(results)))
    paths = [result.path for result in results if result.path]
    if len(paths) > 1:
        from sizeup.fleet.table import session_fleet_lines

        print("\n".join(["", *session_fleet_lines(paths)]))
    statuses = {result.status for result in results}
    if ExitStatus.INTERRUPTED in statuses:
        return ExitStatus.INTERRUPTED
    return statuses.pop() if len(statuses) == 1 else ExitStatus.PROBE_FAILED


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


def _host_lines(results: Sequence[HostResult]) -> list[str]:
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


class Net:
    """Measure the network path to another host: round trips, throughput, CPU cost, retransmits and packet sizes.

    ssh starts a program on HOST, which ends with the run, and must not ask for a password. The plan quick sends small
    messages alone; the others load the network, for seconds.
    """

    ARGUMENTS = (
        arg("host", metavar="HOST", help="the other host, as [USER@]HOST for ssh"),
        *PLAN[::2],  # all but the probe
        one_of(NEW_SESSION, arg("--append", metavar="FILE", help="add the results to this session")),
        switch("--json", help="print the results as JSON in base units instead of a summary"),
        QUIET,
    )

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Run the probes that measure another host, as ``sizeup run -p`` does."""
        from sizeup.cli.parser import build_parser
        from sizeup.probing.registry import load_registry

        found = [probe for probe in load_registry().probes.values() if probe.manifest.peer_setting]
        if not found:
            raise RefusedError("no installed probe measures another host; reinstall the package")
        if not arguments.quiet:
            print("\n".join(f"{probe.name} touches {probe.manifest.touches}" for probe in found), file=sys.stderr)
        whole = argparse.Namespace(**{**vars(build_parser("run").parse_args([])), **vars(arguments)})
        hosts = [f"{probe.name}.{probe.manifest.peer_setting}={arguments.host}" for probe in found]
        whole.probe, whole.assignments = [one.name for one in found], [*hosts, *(arguments.assignments or ())]
        return run(whole)
