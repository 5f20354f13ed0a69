"""Open a saved session in the console; without a terminal, print its summary.

Without FILE, open the session that was written last.
"""

from __future__ import annotations

import argparse

from sizeup.cli.console import add_console_arguments, show_session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        help="session file, plain or gzipped, or the name of a saved session or the beginning of it "
        "(default: the session that was written last)",
    )
    parser.add_argument("--text", action="store_true", help="print the summary instead of starting the console")
    add_console_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the session."""
    from sizeup.session.store import LATEST, find

    return show_session(find(arguments.file or LATEST), arguments)
