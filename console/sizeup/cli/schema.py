"""Print the JSON Schema of one line of a session file, for tools that write or check such files."""

from __future__ import annotations

import argparse
import sys

from sizeup.errors import ExitStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: there are none."""
    del parser


def run(arguments: argparse.Namespace) -> int:
    """Print it."""
    del arguments
    from sizeup.session.records import schema_text

    sys.stdout.write(schema_text())
    return ExitStatus.OK
