"""Compare sessions with a baseline: machine differences, then the change of each metric and its significance.

With --catalog, rank the machine of one session among those with the same CPU, sockets and cores in a directory of
shared sessions: the percentile of each figure, of at least 5 machines that were measured by the same version of the
probe with the same workload.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from sizeup.cli.conflicts import refuse_combination
from sizeup.cli.decision import add_allow_undecided, decision_status
from sizeup.cli.minimum_effect import add_minimum_effect, minimum_effect
from sizeup.errors import UsageError

_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "new", nargs="+", metavar="NEW", help="new side: sessions, directories of sessions, or preset:NAME"
    )
    parser.add_argument(
        "--baseline", nargs="+", metavar="FILE", default=[],
        help="baseline side, one or more in the same form; optional if every --fail-if has a fixed limit",
    )  # fmt: skip
    parser.add_argument(
        "--fail-if", action="append", default=[], metavar="CONDITION",
        help="exit with status 5 if the condition is met, 6 if undecided; a change of a metric from the baseline, "
        "such as 'METRIC > +5%%', or a fixed limit on the new side, such as 'METRIC >= 50 ns'; "
        "repeatable; METRIC is a name in the table that --statistics prints",
    )  # fmt: skip
    parser.add_argument(
        "--catalog", metavar="DIR",
        help="in place of a baseline: show the percentile of one session among like machines in DIR (with all below "
        "it); exit status 6 if no figure has at least 5 like machines",
    )  # fmt: skip
    add_allow_undecided(parser, "a condition cannot be decided, or --catalog has too few like machines")
    add_minimum_effect(parser)
    parser.add_argument(
        "--statistics", action="store_true", help="also show every metric with its interval and p-value"
    )
    parser.add_argument("--points", action="store_true", help="also show every metric, and each point of a curve")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Compare the two sides, or one session with a catalog, and print the result."""
    if arguments.catalog is not None:
        return _compare_with_catalog(arguments)
    from sizeup.compare.compare import compare
    from sizeup.compare.conditions import parse_condition
    from sizeup.compare.published_results import digest_sides
    from sizeup.views.comparison import comparison_data, nothing_shared, undecided_sentence

    smallest = minimum_effect(arguments)
    questions = [parse_condition(text) for text in arguments.fail_if]
    if not arguments.baseline and (not questions or any(question.change is not None for question in questions)):
        raise UsageError(
            "--baseline is missing; name the sessions to compare with (--baseline FILE...), or use only fixed limits, "
            "such as --fail-if 'METRIC >= 50 ns'"
        )
    new, baseline = digest_sides(arguments.new, arguments.baseline)
    comparison = compare(new, baseline, questions=questions, minimum_effect=smallest)
    if arguments.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(comparison_data(comparison)), indent=2).decode())
    else:
        from sizeup.batch.comparison import comparison_lines

        print("\n".join(comparison_lines(comparison, statistics=arguments.statistics, points=arguments.points)))
    if not comparison.metrics and not comparison.conditions:
        raise UsageError(nothing_shared(comparison))
    return decision_status(arguments, different=comparison.condition_met, undecided=undecided_sentence(comparison))


def _compare_with_catalog(arguments: argparse.Namespace) -> int:
    from sizeup.cli.export import host_pseudonym
    from sizeup.compare.published_results import PREFIX
    from sizeup.fleet.catalog import place
    from sizeup.fleet.catalog_text import catalog_data, catalog_lines
    from sizeup.fleet.files import fleet_paths, read_fleet
    from sizeup.fleet.host_session import read_host_session
    from sizeup.session.store import find

    others = ("--baseline", "--fail-if", "--minimum-effect", "--statistics", "--points")
    refuse_combination(arguments, "--catalog", others)
    if len(arguments.new) > 1:
        raise UsageError(f"--catalog: expected one session to compare with it, found {len(arguments.new)}; name one")
    (name,) = arguments.new
    if name.startswith(PREFIX) or os.path.isdir(name):
        what = "a published case" if name.startswith(PREFIX) else "a directory"
        raise UsageError(f"{name}: expected one session to compare with --catalog, found {what}; name a session file")
    folder = arguments.catalog
    if not os.path.isdir(folder):
        found = "a file" if os.path.exists(folder) else "nothing of that name"
        raise UsageError(f"{folder}: expected a directory of sessions for --catalog, found {found}")
    own = read_host_session(find(name))
    placed = place(own, read_fleet(fleet_paths([folder])), host_pseudonym(own.host))
    if arguments.json:
        from sizeup.fleet.data import fleet_json

        print(fleet_json(catalog_data(placed, folder)), end="")
    else:
        from sizeup.terminal.capabilities import is_utf8
        from sizeup.text import plain

        width = max(shutil.get_terminal_size((_WIDTH, 25)).columns, 60) if sys.stdout.isatty() else _WIDTH
        text = "\n".join(catalog_lines(placed, folder, width)) + "\n"
        sys.stdout.write(text if is_utf8(os.environ) else plain(text))
    missing = f"no figure has enough like machines in {folder}; add sessions of such machines to it"
    return decision_status(arguments, different=False, undecided="" if placed.placed else missing)
