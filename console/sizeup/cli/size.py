"""Not there yet."""

from __future__ import annotations

import argparse

from sizeup.errors import ExitStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""


def run(arguments: argparse.Namespace) -> int:
    """Do the work."""
    del arguments
    return ExitStatus.OK
