"""Show the sessions of many hosts as one table, the hosts that stand out, and what they differ in.

Figures are compared among hosts of one machine type: product, CPU and memory. A host stands out if it is too far from
the median of at least 3 hosts, by the MAD of all of them. Of several sessions of a host, the newest valid figure of
each probe and workload counts.
"""

from __future__ import annotations

import argparse
import codecs
import os
import sys
from typing import TYPE_CHECKING

from sizeup.cli.decision import add_allow_undecided, decision_status
from sizeup.errors import ExitStatus, UsageError
from sizeup.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sizeup.fleet.files import FleetFiles
    from sizeup.fleet.fleet import Fleet
    from sizeup.fleet.profile import Acceptance

_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "sessions", nargs="+", metavar="DIR|GLOB",
        help="directory of sessions or of Parquet (with all below it), pattern, or file",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="show every host; otherwise 25 lines if none stands out")
    parser.add_argument(
        "--against", nargs="+", metavar="DIR", default=[],
        help="sessions or Parquet of an earlier run of the fleet: also show what changed on each host",
    )  # fmt: skip
    parser.add_argument(
        "--profile", metavar="FILE",
        help="TOML file with limits of figures; exit status 5 if a host misses one, 6 if at least one is undecided",
    )  # fmt: skip
    add_allow_undecided(parser, "a limit of the profile is undecided on a host, or a file cannot be read")
    parser.add_argument("--junit", metavar="FILE", help="with --profile: also write the result as JUnit XML")
    formats = parser.add_mutually_exclusive_group()
    for name, text in (
        ("json", "print as JSON (sizeup.fleet/1)"),
        ("csv", "print every figure of every host as CSV"),
        ("html", "print one web page: tables that can be sorted, no requests"),
    ):
        formats.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=text)
    parser.add_argument(
        "-o", "--output", metavar="OUT", default="-",
        help="with --json, --csv, --html: file to write (default: standard output)",
    )  # fmt: skip
    parser.add_argument(
        "--parquet", metavar="OUT",
        help="also write every figure of every session as Parquet, which sizeup fleet and other engines read; "
        "needs DuckDB: pip install 'sizeup[fleet]'",
    )  # fmt: skip
    parser.add_argument(
        "--partition", action="store_true",
        help="with --parquet: write a new directory, partitioned by day and product (Hive)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Read the sessions and print the fleet."""
    from sizeup.fleet.files import fleet_paths, read_fleet
    from sizeup.fleet.fleet import build_fleet

    _check(arguments)
    files = read_fleet(fleet_paths(arguments.sessions))
    _refuse_unread(files)
    fleet = build_fleet(files)
    accepted = _accepted(arguments.profile, fleet)
    _print(arguments, fleet, accepted)
    if arguments.junit:
        from sizeup.fleet.junit import junit
        from sizeup.report import output

        unread = [problem for problem in fleet.problems if not problem.read]
        output.write(arguments.junit, lambda file: file.write(junit(accepted, unread).encode()), advice="")
    if arguments.parquet:
        from sizeup.fleet.parquet import write_parquet

        write_parquet(files.sessions, arguments.parquet, partitioned=arguments.partition)
    return _status(arguments, fleet, accepted) if arguments.profile else ExitStatus.OK


def _refuse_unread(files: FleetFiles) -> None:
    """Raise where none of the files is a session."""
    if not files.sessions:
        raise UsageError("; ".join(f"{one.path}: {one.problem}" for one in files.problems[:3]))


def _check(arguments: argparse.Namespace) -> None:
    for wanted, needed, name in (
        (arguments.junit, arguments.profile, "--junit needs --profile"),
        (arguments.partition, arguments.parquet, "--partition needs --parquet"),
        (arguments.output != "-", arguments.format, "-o needs --json, --csv or --html"),
        (arguments.allow_undecided, arguments.profile, "--allow-undecided needs --profile"),
    ):
        if wanted and not needed:
            raise UsageError(f"{name}; add it, or leave out {name.partition(' ')[0]}")
    for flag, wanted, formats in (("--all", arguments.all, "json csv html"), ("--against", arguments.against, "csv")):
        if wanted and arguments.format in formats.split():
            raise UsageError(f"{flag} has no effect on --{arguments.format}; leave out one or the other")


def _accepted(profile: str | None, fleet: Fleet) -> Sequence[Acceptance]:
    if profile is None:
        return ()
    from sizeup.fleet.profile import accept, read_profile

    return accept(fleet, read_profile(profile, fleet))


def _status(arguments: argparse.Namespace, fleet: Fleet, accepted: Sequence[Acceptance]) -> ExitStatus:
    from sizeup.fleet.profile import AcceptanceResult

    unread = sum(not problem.read for problem in fleet.problems)
    undecided = sum(one.result is AcceptanceResult.UNDECIDED for one in accepted)
    parts = (
        f"{plural(undecided, 'host')} could not be decided" if undecided else "",
        f"{plural(unread, 'file')} could not be read" if unread else "",
    )
    sentence = " and ".join(filter(None, parts))
    return decision_status(
        arguments,
        different=any(one.result is AcceptanceResult.FAIL for one in accepted),
        undecided=f"{sentence}; measure again, or add --allow-undecided" if sentence else "",
    )


def _print(arguments: argparse.Namespace, fleet: Fleet, accepted: Sequence[Acceptance]) -> None:
    from sizeup.fleet.against import fleet_drift
    from sizeup.fleet.files import fleet_paths, read_fleet
    from sizeup.fleet.fleet import build_fleet
    from sizeup.fleet.synchronized import synchronized_runs
    from sizeup.report import output

    runs = synchronized_runs(fleet)
    drift = None
    if arguments.against:
        earlier = read_fleet(fleet_paths(arguments.against))
        _refuse_unread(earlier)
        drift = fleet_drift(build_fleet(earlier), fleet)
    match arguments.format:
        case "json":
            from sizeup.fleet.data import fleet_data, fleet_json

            data = fleet_json(fleet_data(fleet, accepted, drift, runs))
            output.write(arguments.output, lambda file: file.write(data.encode()))
        case "csv":
            from sizeup.fleet.data import write_csv

            output.write(arguments.output, lambda file: write_csv(fleet, codecs.getwriter("utf-8")(file, "replace")))
        case "html":
            from sizeup.fleet.page import fleet_page

            page = fleet_page(fleet, accepted, drift, runs)
            output.write(arguments.output, lambda file: file.write(page.encode("utf-8", "replace")))
        case _:
            from sizeup.fleet.sections import acceptance_lines, drift_lines, synchronized_lines
            from sizeup.fleet.table import fleet_lines
            from sizeup.terminal.capabilities import is_utf8, output_columns
            from sizeup.text import plain

            width = output_columns(80) or _WIDTH
            more = [*acceptance_lines(accepted, width)] if accepted else []
            for section in (*(synchronized_lines(run, width) for run in runs),):
                more += section
            more += drift_lines(drift, width) if drift is not None else []
            lines = fleet_lines(fleet, width, every_host=arguments.all, more=more)
            text = "\n".join(lines) + "\n"
            sys.stdout.write(text if is_utf8(os.environ) else plain(text))
