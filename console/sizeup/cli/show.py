"""A session as text: what was measured, how each step ended, what was advised."""

from __future__ import annotations

import argparse

from sizeup.errors import ExitStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="a session file, or the name of one in the state directory")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the session."""
    from sizeup.batch.summary import summary_json, summary_lines
    from sizeup.session.reader import read_session
    from sizeup.session.store import find

    session = read_session(find(arguments.file))
    print(summary_json(session) if arguments.json else "\n".join(summary_lines(session, whole=True)))
    return ExitStatus.OK
