"""Show the sessions of many hosts as one table, the hosts that stand out, and what they differ in.

Figures are compared among hosts of one machine type: product, CPU and memory. A host stands out if it is too far from
the median of at least 3 hosts, by the MAD of all of them. Of several sessions of a host, the newest valid figure of
each probe and workload counts.
"""

from __future__ import annotations

import argparse
import codecs
from typing import TYPE_CHECKING

from sizeup.cli.arguments import allow_undecided, arg, decision_status, refuse_without, switch
from sizeup.cli.results import chosen_format, format_arguments, write_document, write_json, write_text
from sizeup.deploy import ENGINES, engine_files
from sizeup.errors import ExitStatus, UsageError
from sizeup.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sizeup.fleet.fleet import Fleet, FleetFiles
    from sizeup.fleet.profile import Acceptance

_FORMATS = ("text", "json", "csv", "html")
_EFFECTS = {"--all": ("text",), "--against": ("text", "json", "html")}
ARGUMENTS = (
    arg(
        "sessions", nargs="+", metavar="DIR|GLOB",
        help="directory of sessions or of Parquet (with all below it), pattern, or file",
    ),
    switch("--all", help="show every host; otherwise 25 lines if none stands out"),
    arg(
        "--against", nargs="+", metavar="DIR", default=[],
        help="sessions or Parquet of an earlier run of the fleet: also show what changed on each host",
    ),
    arg(
        "--profile", metavar="NAME|FILE",
        help="limits of figures in TOML, or a name of sizeup help profiles; exit status 5 if a host misses one, 6 if "
        "at least one is undecided",
    ),
    allow_undecided("a limit of the profile is undecided on a host, or a file cannot be read"),
    arg("--junit", metavar="FILE", help="with --profile: also write the result as JUnit XML"),
    *format_arguments(_FORMATS),
    arg(
        "--parquet", metavar="OUT",
        help="also write every figure of every session as Parquet, which sizeup fleet and other engines read; "
        "needs DuckDB: pip install 'sizeup[fleet]'",
    ),
    switch(
        "--partition", help="with --parquet: write a new directory, partitioned by day and product (Hive)"
    ),
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Read the sessions and print the fleet."""
    from sizeup.fleet.fleet import build_fleet, fleet_paths, read_fleet

    for flag, needed in (("--junit", "--profile"), ("--allow-undecided", "--profile"), ("--partition", "--parquet")):
        refuse_without(arguments, flag, needed)
    chosen = chosen_format(arguments, _FORMATS, arguments.sessions, _EFFECTS)
    files = read_fleet(fleet_paths(arguments.sessions))
    _refuse_unread(files)
    fleet = build_fleet(files)
    accepted: Sequence[Acceptance] = ()
    if arguments.profile is not None:
        from sizeup.fleet.profile import accept, read_profile

        accepted = accept(fleet, read_profile(arguments.profile, fleet))
    _print(arguments, chosen, fleet, accepted)
    unread = [problem for problem in fleet.problems if not problem.read]
    if arguments.junit:
        from sizeup.fleet.data import junit
        from sizeup.report import output

        document = junit(accepted, unread).encode()
        output.write(arguments.junit, lambda file: file.write(document), advice="")
    if arguments.parquet:
        from sizeup.fleet.parquet import write_parquet

        write_parquet(files.sessions, arguments.parquet, partitioned=arguments.partition)
    if not arguments.profile:
        return ExitStatus.OK
    from sizeup.compare.profile import AcceptanceResult

    undecided = sum(one.result is AcceptanceResult.UNDECIDED for one in accepted)
    parts = (
        f"{plural(undecided, 'host')} could not be decided" if undecided else "",
        f"{plural(len(unread), 'file')} could not be read" if unread else "",
    )
    sentence = " and ".join(filter(None, parts))
    return decision_status(
        arguments,
        different=any(one.result is AcceptanceResult.FAIL for one in accepted),
        undecided=f"{sentence}; measure again, or add --allow-undecided" if sentence else "",
    )


def _refuse_unread(files: FleetFiles) -> None:
    """Raise where none of the files is a session."""
    if not files.sessions:
        raise UsageError("; ".join(f"{one.path}: {one.problem}" for one in files.problems[:3]))


def _print(arguments: argparse.Namespace, chosen: str, fleet: Fleet, accepted: Sequence[Acceptance]) -> None:
    from sizeup.fleet.against import fleet_drift
    from sizeup.fleet.fleet import build_fleet, fleet_paths, read_fleet
    from sizeup.fleet.synchronized import synchronized_runs
    from sizeup.report import output

    runs = synchronized_runs(fleet)
    drift = None
    if arguments.against:
        earlier = read_fleet(fleet_paths(arguments.against))
        _refuse_unread(earlier)
        drift = fleet_drift(build_fleet(earlier), fleet)
    match chosen:
        case "json":
            from sizeup.fleet.data import fleet_data

            write_json(fleet_data(fleet, accepted, drift, runs), arguments.output)
        case "csv":
            from sizeup.fleet.data import write_csv

            output.write(arguments.output, lambda file: write_csv(fleet, codecs.getwriter("utf-8")(file, "replace")))
        case "html":
            from sizeup.fleet.page import fleet_page

            write_document(arguments.output, fleet_page(fleet, accepted, drift, runs))
        case _:
            from sizeup.fleet.table import acceptance_lines, drift_lines, fleet_lines, synchronized_lines
            from sizeup.terminal.capabilities import output_columns

            width = output_columns(80) or 100
            more = [*acceptance_lines(accepted, width)] if accepted else []
            for run in runs:
                more += synchronized_lines(run, width)
            more += drift_lines(drift, width) if drift is not None else []
            lines = fleet_lines(fleet, width, every_host=arguments.all, more=more)
            write_text("\n".join(lines) + "\n", arguments.output)


class Deploy:
    """Write the files that let Ansible, Slurm, Kubernetes or a container run sizeup.

    They are complete and meant to be read and changed. sizeup itself opens no connection here and starts nothing; what
    each engine needs and does is described by: sizeup help engines
    """

    ARGUMENTS = (
        arg("engine", choices=ENGINES, metavar="ENGINE", help=f"one of {', '.join(ENGINES)}"),
        arg("folder", metavar="DIR", help="directory to write into; it must be new or empty"),
    )

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Write the files, and say how they are used."""
        import shlex

        from sizeup import files

        use = ENGINES[arguments.engine].format(folder=shlex.quote(arguments.folder))
        with files.new_directory(arguments.folder, engine_files(arguments.engine)) as paths:
            print("\n".join([*paths, "", f"Use them with: {use}"]), flush=True)
        return ExitStatus.OK
