"""Open a saved session in the console; without a terminal, print its summary.

Without FILE, open the session that was written last.
"""

from __future__ import annotations

import argparse
import os

from sizeup.cli.console import add_console_arguments, show_console
from sizeup.errors import ExitStatus, UsageError


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


def show_session(path: str, arguments: argparse.Namespace) -> int:
    """The console on a session, or its summary so far."""
    from sizeup.session.reader import read_session

    session = read_session(path)  # errors are printed before the screen is cleared
    if not getattr(arguments, "text", False) and os.isatty(0) and os.isatty(1) and os.isatty(2):
        return show_console(vars(arguments), session=path)
    if arguments.diff is not None:
        raise UsageError("--diff works only in the console; as text, use: sizeup detect --diff OTHER")
    from sizeup.batch.standard_output import session_lines
    from sizeup.session.store import command_name

    print("\n".join(session_lines(session, name=command_name(path))))
    return ExitStatus.OK
