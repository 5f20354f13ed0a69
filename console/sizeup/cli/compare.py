"""Compare sessions with a baseline: machine differences, then the change of each metric and its significance."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from sizeup.cli.against import add_against
from sizeup.cli.decision import add_allow_undecided, decision_status
from sizeup.cli.minimum_effect import add_minimum_effect, minimum_effect
from sizeup.errors import UsageError

if TYPE_CHECKING:
    from sizeup.compare.comparison import Comparison


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "new", nargs="+", metavar="NEW", help="new side: sessions, directories of sessions, or preset:NAME"
    )
    add_against(
        parser, "--baseline", nargs="+", metavar="FILE", default=[],
        help="baseline side, one or more in the same form; optional if every --fail-if has a fixed limit",
    )  # fmt: skip
    parser.add_argument(
        "--fail-if", action="append", default=[], metavar="CONDITION",
        help="exit with status 5 if the condition is met, 6 if undecided; a change of a metric from the baseline, "
        "such as 'METRIC > +5%%', or a fixed limit on the new side, such as 'METRIC >= 50 ns'; "
        "repeatable; METRIC is a name in the table that --statistics prints",
    )  # fmt: skip
    add_allow_undecided(parser, "a condition cannot be decided")
    add_minimum_effect(parser)
    parser.add_argument(
        "--statistics", action="store_true", help="also show every metric with its interval and p-value"
    )
    parser.add_argument("--points", action="store_true", help="also show every metric, and each point of a curve")
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="print as JSON")
    formats.add_argument("--html", action="store_true", help="write the comparison as one web page")
    formats.add_argument("--markdown", action="store_true", help="write it as Markdown")
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="file for the page or the Markdown (default: standard output)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare the two sides and print the result."""
    if arguments.output is not None and not (arguments.html or arguments.markdown):
        raise UsageError("-o needs --html or --markdown; add one of them, or leave out -o")
    if arguments.output is not None and os.path.exists(arguments.output):
        for path in filter(os.path.exists, (*arguments.new, *arguments.baseline)):
            if os.path.samefile(path, arguments.output):
                raise UsageError(f"-o {path}: would overwrite a session that is compared; choose another file")
    from sizeup.compare.compare import compare
    from sizeup.compare.conditions import parse_condition
    from sizeup.compare.published_results import digest_sides
    from sizeup.views.comparison.comparison import comparison_data, nothing_shared, undecided_sentence

    smallest = minimum_effect(arguments)
    questions = [parse_condition(text) for text in arguments.fail_if]
    if not arguments.baseline and (not questions or any(question.change is not None for question in questions)):
        raise UsageError(
            "--against is missing; name the sessions to compare with (--against FILE...), or use only fixed limits, "
            "such as --fail-if 'METRIC >= 50 ns'"
        )
    new, baseline = digest_sides(arguments.new, arguments.baseline)
    comparison = compare(new, baseline, questions=questions, minimum_effect=smallest)
    if arguments.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(comparison_data(comparison)), indent=2).decode())
    elif arguments.html or arguments.markdown:
        _write_report(arguments, comparison)
    else:
        from sizeup.batch.comparison import comparison_lines

        print("\n".join(comparison_lines(comparison, statistics=arguments.statistics, points=arguments.points)))
    if not comparison.metrics and not comparison.conditions:
        raise UsageError(nothing_shared(comparison))
    return decision_status(arguments, different=comparison.condition_met, undecided=undecided_sentence(comparison))


def _write_report(arguments: argparse.Namespace, comparison: Comparison) -> None:
    from sizeup.report import output
    from sizeup.report.html import page
    from sizeup.report.markdown import markdown
    from sizeup.views.comparison.comparison import comparison_document

    written = comparison_document(comparison)
    content = (page(written) if arguments.html else markdown(written)).encode("utf-8", "replace")
    output.write(arguments.output or "-", lambda file: file.write(content))
