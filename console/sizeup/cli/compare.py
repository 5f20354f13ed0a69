"""Compare sessions with a baseline: machine differences, then the change of each metric and its significance."""

from __future__ import annotations

import argparse
import os

from sizeup.cli.arguments import (
    JSON,
    MINIMUM_EFFECT,
    SESSION,
    allow_undecided,
    arg,
    decision_status,
    minimum_effect,
    switch,
)
from sizeup.cli.results import chosen_format, document_text, format_arguments, write_document, write_json, write_text
from sizeup.errors import UsageError

_FORMATS = ("text", "json", "html", "markdown")
_EFFECTS = {"--statistics": ("text",), "--points": ("text",)}
ARGUMENTS = (
    arg("new", nargs="+", metavar="NEW", help="new side: sessions, directories of sessions, or preset:NAME"),
    arg(
        "--against", nargs="+", metavar="FILE", default=[],
        help="baseline side, one or more in the same form; optional if every --fail-if has a fixed limit",
    ),
    arg(
        "--fail-if", action="append", default=[], metavar="CONDITION",
        help="exit with status 5 if the condition is met, 6 if undecided; a change of a metric from the baseline, "
        "such as 'METRIC > +5%%', or a fixed limit on the new side, such as 'METRIC >= 50 ns'; "
        "repeatable; METRIC is a name in the table that --statistics prints",
    ),
    allow_undecided("a condition cannot be decided"),
    MINIMUM_EFFECT,
    switch("--statistics", help="also show every metric with its interval and p-value"),
    switch("--points", help="also show every metric, and each point of a curve"),
    *format_arguments(_FORMATS),
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Compare the two sides and print the result."""
    chosen = chosen_format(arguments, _FORMATS, (*arguments.new, *arguments.against), _EFFECTS)
    from sizeup.compare.compare import compare
    from sizeup.compare.conditions import parse_condition
    from sizeup.compare.published_results import digest_sides
    from sizeup.views.comparison.comparison import comparison_data, nothing_shared, undecided_sentence

    smallest = minimum_effect(arguments)
    questions = [parse_condition(text) for text in arguments.fail_if]
    if not arguments.against and (not questions or any(question.change is not None for question in questions)):
        raise UsageError(
            "--against is missing; name the sessions to compare with (--against FILE...), or use only fixed limits, "
            "such as --fail-if 'METRIC >= 50 ns'"
        )
    new, baseline = digest_sides(arguments.new, arguments.against)
    comparison = compare(new, baseline, questions=questions, minimum_effect=smallest)
    if chosen == "json":
        write_json(comparison_data(comparison), arguments.output)
    elif chosen == "text":
        from sizeup.batch.standard_output import comparison_lines

        lines = comparison_lines(comparison, statistics=arguments.statistics, points=arguments.points)
        write_text("\n".join(lines) + "\n", arguments.output)
    else:
        from sizeup.views.comparison.compared_charts import compared_files
        from sizeup.views.document.comparison_document import comparison_document

        overlay = compared_files(comparison)
        write_document(arguments.output, document_text(comparison_document(comparison, overlay), chosen))
    if not comparison.metrics and not comparison.conditions:
        raise UsageError(nothing_shared(comparison))
    return decision_status(arguments, different=comparison.condition_met, undecided=undecided_sentence(comparison))


class Rank:
    """Rank the machine of a session among those with the same CPU, sockets and cores in a directory of shared sessions.

    Each figure gets its percentile among at least 5 machines that were measured by the same version of the probe with
    the same workload.
    """

    ARGUMENTS = (
        SESSION,
        arg(
            "catalog", metavar="DIR",
            help="directory of shared sessions, with all below it; exit status 6 if no figure has at least 5 like "
            "machines",
        ),
        allow_undecided("there are too few like machines"),
        JSON,
    )  # fmt: skip

    @staticmethod
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

            write_text("\n".join(catalog_lines(placed, folder, output_columns() or 100)) + "\n")
        missing = f"no figure has enough like machines in {folder}; add sessions of such machines to it"
        return decision_status(arguments, different=False, undecided="" if placed.placed else missing)
