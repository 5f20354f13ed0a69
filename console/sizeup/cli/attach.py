"""Follow a batch run in the console by reading its session file; the run is not disturbed.

Without FILE, follow the unfinished session that was written to last.
"""

from __future__ import annotations

import argparse

from sizeup.cli.arguments import arg
from sizeup.cli.console import CONSOLE, show_session
from sizeup.errors import UsageError

ARGUMENTS = (arg("file", metavar="FILE", nargs="?", help="session file of the run, or its name"), CONSOLE)


def run(arguments: argparse.Namespace) -> int:
    """Follow the run."""
    from sizeup.session.store import find

    return show_session(find(arguments.file) if arguments.file else _newest(), arguments)


def _newest() -> str:
    from sizeup.session.store import directory, unfinished

    folder = directory()
    sessions = unfinished(folder)
    if not sessions:
        raise UsageError(f"no unfinished run in {folder}; name its session file: sizeup session follow FILE")
    return str(sessions[0])
