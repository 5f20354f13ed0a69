"""The console; with --batch the same run without a screen."""

from __future__ import annotations

import argparse

from sizeup.errors import ExitStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``sizeup`` itself."""
    parser.add_argument("--sysroot", metavar="DIR", default="/", help="read a recording instead of this machine")
    parser.add_argument("--batch", action="store_true", help="run without a screen")


def run(arguments: argparse.Namespace) -> int:
    """Start the console or the batch run."""
    del arguments
    return ExitStatus.OK
