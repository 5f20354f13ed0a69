"""Print a session as text: what was measured, how each step ended, and the sizing advice.

The advice is what the session recorded; --recompute works it out again with the rules of this version, and says so.
"""

from __future__ import annotations

import argparse

from sizeup.errors import ExitStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        help="session file, or name of a saved session (default: the session that was written last)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="print the results as JSON, without advice")
    what.add_argument(
        "--recompute",
        action="store_true",
        help="recompute the advice with the rules of this version instead of showing what was recorded",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the session."""
    from sizeup.batch.summary import summary_json, summary_lines
    from sizeup.session.reader import read_session
    from sizeup.session.store import LATEST, find
    from sizeup.sizing.session_advice import session_advice

    session = read_session(find(arguments.file or LATEST))
    if arguments.json:
        print(summary_json(session))
    else:
        advice = session_advice(session, recompute=arguments.recompute)
        print("\n".join(summary_lines(session, whole=True, advice=advice)))
    return ExitStatus.OK
