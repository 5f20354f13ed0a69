"""Compare sessions with a baseline: machine differences, then the change of each metric and its significance."""

from __future__ import annotations

import argparse

from sizeup.cli.decision import add_allow_undecided, decision_status
from sizeup.cli.minimum_effect import add_minimum_effect, minimum_effect
from sizeup.errors import UsageError


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
    add_allow_undecided(parser, "a condition cannot be decided")
    add_minimum_effect(parser)
    parser.add_argument(
        "--statistics", action="store_true", help="also show every metric with its interval and p-value"
    )
    parser.add_argument("--points", action="store_true", help="also show every metric, and each point of a curve")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Compare the two sides and print the result."""
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
