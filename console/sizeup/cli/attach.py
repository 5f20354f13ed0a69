"""The console on a run that goes on by itself: its log is followed, so nothing is asked of the run.

Without a file, the session last written to among those that have no end yet.
"""

from __future__ import annotations

import argparse

from sizeup.cli.console import add_console_arguments
from sizeup.cli.open import show_session
from sizeup.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", nargs="?", help="the session file of the run")
    parser.add_argument("--text", action="store_true", help="print the summary so far, even on a terminal")
    add_console_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Follow the run."""
    return show_session(arguments.file or _newest(), arguments)


def _newest() -> str:
    from sizeup.session.store import directory, unfinished

    folder = directory()
    sessions = unfinished(folder)
    if not sessions:
        raise UsageError(f"no run in {folder} is unfinished; name the file of a run: sizeup attach FILE")
    return str(sessions[0])
