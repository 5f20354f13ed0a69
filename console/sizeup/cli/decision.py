"""The exit status of the commands that decide whether two sides differ, and the option that accepts no decision."""

from __future__ import annotations

import argparse
import sys

from sizeup.errors import ExitStatus


def add_allow_undecided(parser: argparse.ArgumentParser, condition: str) -> None:
    """Declare the option; ``condition`` says when nothing can be decided."""
    parser.add_argument(
        "--allow-undecided", action="store_true", help=f"exit with status 0 instead of 6 if {condition}"
    )


def decision_status(arguments: argparse.Namespace, *, different: bool, undecided: str) -> ExitStatus:
    """Return the exit status; ``undecided`` is the sentence about what could not be decided, empty for nothing."""
    if different:
        return ExitStatus.DIFFERENT
    if undecided and not arguments.allow_undecided:
        print(f"sizeup: {undecided}", file=sys.stderr)
        return ExitStatus.UNDECIDED
    return ExitStatus.OK
