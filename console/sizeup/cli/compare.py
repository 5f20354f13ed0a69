"""Sessions against other sessions: the machines, then each metric with its change and whether it can be chance."""

from __future__ import annotations

import argparse
import sys

from sizeup.errors import ExitStatus, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("first", nargs="+", metavar="A", help="a session, a folder of sessions, or preset:NAME")
    parser.add_argument(
        "--against", nargs="+", metavar="B", default=[],
        help="the baseline, in the same way; may be left out where every --fail-if has an absolute bound",
    )  # fmt: skip
    parser.add_argument(
        "--fail-if", action="append", default=[], metavar="CONDITION",
        help="exit 5 where this is met and 6 where it cannot be decided: a change such as "
        "'PROBE.SERIES > +5%%', or an absolute bound on A such as 'PROBE.SERIES >= 0.5 ms'; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--allow-undecided", action="store_true", help="exit 0 instead of 6 where a condition cannot be decided"
    )
    parser.add_argument(
        "--minimum-effect", type=float, default=2.0, metavar="PERCENT", help="changes below this count as none (2)"
    )
    parser.add_argument("--points", action="store_true", help="show each point of a curve, too")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Compare the two sides."""
    from sizeup.compare.compare import compare
    from sizeup.compare.conditions import parse_condition
    from sizeup.compare.published_results import digest_sides
    from sizeup.views.comparison import comparison_data, nothing_shared, undecided_sentence

    if not 0 <= arguments.minimum_effect < 100:
        raise UsageError(f"--minimum-effect: expected a percentage from 0 to 100, found {arguments.minimum_effect:g}")
    questions = [parse_condition(text) for text in arguments.fail_if]
    if not arguments.against and (not questions or any(question.change is not None for question in questions)):
        raise UsageError(
            "--against: expected the baseline; only --fail-if with absolute bounds, such as "
            "'PROBE.SERIES >= 0.5 ms', can do without one"
        )
    first, base = digest_sides(arguments.first, arguments.against)
    comparison = compare(first, base, questions=questions, minimum_effect=arguments.minimum_effect / 100)
    if arguments.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(comparison_data(comparison)), indent=2).decode())
    else:
        from sizeup.batch.summary import comparison_lines

        print("\n".join(comparison_lines(comparison, points=arguments.points)))
    if not comparison.metrics and not comparison.answers:
        raise UsageError(nothing_shared(comparison))
    if comparison.alarm:
        return ExitStatus.DIFFERENT
    if comparison.undecided and not arguments.allow_undecided:
        print(f"sizeup: {undecided_sentence(comparison)}", file=sys.stderr)
        return ExitStatus.UNDECIDED
    return ExitStatus.OK
