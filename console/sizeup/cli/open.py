"""The console on a saved session; a summary as text where there is no terminal."""

from __future__ import annotations

import argparse
import os

from sizeup.cli.console import add_console_arguments, show_console
from sizeup.errors import ExitStatus, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="a session file, plain or gzipped")
    parser.add_argument("--text", action="store_true", help="print the summary even on a terminal")
    add_console_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the session."""
    return show_session(arguments.file, arguments)


def show_session(path: str, arguments: argparse.Namespace) -> int:
    """The console on a session, or its summary so far."""
    from sizeup.session.reader import read_session

    session = read_session(path)  # said before the screen is taken
    if not arguments.text and os.isatty(0) and os.isatty(1) and os.isatty(2):
        return show_console(vars(arguments), session=path)
    if arguments.diff is not None:
        raise UsageError(
            "--diff is drawn on the screen; without one use: sizeup compare, or sizeup detect --diff OTHER"
        )
    from sizeup.batch.summary import summary_lines

    print("\n".join(summary_lines(session)))
    return ExitStatus.OK
