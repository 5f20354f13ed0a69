"""Write a note into a session, while it runs or long after; - reads the text from standard input."""

from __future__ import annotations

import argparse

from sizeup.errors import ExitStatus, UsageError
from sizeup.input_file import STDIN, read_text

_TEXT_LIMIT = 1 << 20
"""Bytes of a note; a session's line holds 16 times as much."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="a session file, or the name of one in the state directory")
    parser.add_argument("text", nargs="+", metavar="TEXT")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="add a tag as well; may be repeated")


def run(arguments: argparse.Namespace) -> int:
    """Append the note."""
    from sizeup.session.store import annotate, find

    text = (
        read_text(STDIN, "the text of a note", _TEXT_LIMIT) if arguments.text == [STDIN] else " ".join(arguments.text)
    )
    if not text.strip():
        raise UsageError("expected the text of a note, found none")
    annotate(find(arguments.file), text.strip(), tags=tuple(arguments.tag))
    return ExitStatus.OK
