"""Rank the machine of a session among those with the same CPU, sockets and cores in a directory of shared sessions.

Each figure gets its percentile among at least 5 machines that were measured by the same version of the probe with the
same workload.
"""

from __future__ import annotations

import argparse
import os

from sizeup.cli.arguments import JSON, SESSION, allow_undecided, arg, decision_status
from sizeup.cli.results import write_json, write_text
from sizeup.errors import UsageError

_WIDTH = 100

ARGUMENTS = (
    SESSION,
    arg(
        "catalog", metavar="DIR", help="directory of shared sessions, with all below it; exit status 6 if no figure "
        "has at least 5 like machines",
    ),
    allow_undecided("there are too few like machines"),
    JSON,
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Rank the machine and print its places."""
    from sizeup.compare.published_results import PREFIX
    from sizeup.fleet.catalog import place
    from sizeup.fleet.catalog_text import catalog_data, catalog_lines
    from sizeup.fleet.fleet import fleet_paths, read_fleet
    from sizeup.fleet.host_session import read_host_session
    from sizeup.session.share import host_pseudonym
    from sizeup.session.store import find

    name, folder = arguments.file, arguments.catalog
    if name.startswith(PREFIX) or os.path.isdir(name):
        what = "a published case" if name.startswith(PREFIX) else "a directory"
        raise UsageError(f"{name}: expected one session, found {what}; name a session file")
    if not os.path.isdir(folder):
        found = "a file" if os.path.exists(folder) else "nothing of that name"
        raise UsageError(f"{folder}: expected a directory of sessions, found {found}")
    own = read_host_session(find(name))
    placed = place(own, read_fleet(fleet_paths([folder])), host_pseudonym(own.host))
    if arguments.json:
        write_json(catalog_data(placed, folder))
    else:
        from sizeup.terminal.capabilities import output_columns

        write_text("\n".join(catalog_lines(placed, folder, output_columns() or _WIDTH)) + "\n")
    missing = f"no figure has enough like machines in {folder}; add sessions of such machines to it"
    return decision_status(arguments, different=False, undecided="" if placed.placed else missing)
