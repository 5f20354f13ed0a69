"""Sessions against other sessions: the machines, then each metric with its change and whether it can be chance."""

from __future__ import annotations

import argparse

from sizeup.errors import ExitStatus, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("first", nargs="+", metavar="A", help="a session, a folder of sessions, or preset:NAME")
    parser.add_argument("--against", nargs="+", metavar="B", required=True, help="the base, in the same way")
    parser.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="EXPR",
        help="exit 5 where this holds, such as 'memory.latency.dram-thp > +5%%'; may be repeated",
    )
    parser.add_argument(
        "--minimum-effect", type=float, default=2.0, metavar="PERCENT", help="changes below this count as none (2)"
    )
    parser.add_argument("--points", action="store_true", help="show each point of a curve, too")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Compare the two sides."""
    from sizeup.analysis.compare import compare, parse_question
    from sizeup.analysis.published import digest_sides
    from sizeup.views.comparison import comparison_data, nothing_shared

    if not 0 <= arguments.minimum_effect < 100:
        raise UsageError(f"--minimum-effect: expected a percentage from 0 to 100, found {arguments.minimum_effect:g}")
    questions = [parse_question(text) for text in arguments.fail_if]
    first, base = digest_sides(arguments.first, arguments.against)
    comparison = compare(first, base, questions=questions, minimum_effect=arguments.minimum_effect / 100)
    if arguments.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(comparison_data(comparison)), indent=2).decode())
    else:
        from sizeup.batch.summary import comparison_lines

        print("\n".join(comparison_lines(comparison, points=arguments.points)))
    if not comparison.metrics:
        raise UsageError(nothing_shared(comparison))
    return ExitStatus.DIFFERENT if comparison.alarm else ExitStatus.OK
