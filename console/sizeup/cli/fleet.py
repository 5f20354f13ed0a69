"""Show the sessions of many hosts as one table, the hosts that stand out, and what they differ in.

Figures are compared among hosts of one machine type: product, CPU and memory. A host stands out if it is too far from
the median of at least 3 hosts, by the MAD of all of them. Of several sessions of a host, the newest valid figure of
each probe and workload counts.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from sizeup.errors import ExitStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "sessions", nargs="+", metavar="DIR|GLOB",
        help="directory of sessions (with all below it), pattern, or session file",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="show every host; otherwise 25 lines if none stands out")


def run(arguments: argparse.Namespace) -> int:
    """Read the sessions and print the fleet."""
    from sizeup.fleet.files import fleet_paths, read_fleet
    from sizeup.fleet.fleet import build_fleet
    from sizeup.fleet.table import fleet_lines
    from sizeup.terminal.capabilities import is_utf8
    from sizeup.text import plain

    fleet = build_fleet(read_fleet(fleet_paths(arguments.sessions)))
    width = max(shutil.get_terminal_size((100, 25)).columns, 80) if sys.stdout.isatty() else 100
    text = "\n".join(fleet_lines(fleet, width, every_host=arguments.all)) + "\n"
    sys.stdout.write(text if is_utf8(os.environ) else plain(text))
    return ExitStatus.OK
