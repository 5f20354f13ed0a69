"""Add a note or tags to a session, during the run or later."""

from __future__ import annotations

import argparse

from sizeup.cli.arguments import SESSION, arg
from sizeup.errors import ExitStatus, UsageError
from sizeup.input_file import STDIN, read_text

_TEXT_LIMIT = 1 << 20
"""Bytes of a note; a session's line holds 16 times as much."""

ARGUMENTS = (
    SESSION,
    arg("text", nargs="*", metavar="TEXT", help="text of the note; - reads it from standard input"),
    arg("--tag", action="append", default=[], metavar="TAG", help="also add this tag; repeatable"),
)


def run(arguments: argparse.Namespace) -> int:
    """Append the note."""
    from sizeup.session.store import annotate, find

    text = (
        read_text(STDIN, "the text of a note", _TEXT_LIMIT) if arguments.text == [STDIN] else " ".join(arguments.text)
    )
    if not text.strip() and not arguments.tag:
        raise UsageError("the note is empty; add its text after the file name, or - to read it from standard input")
    annotate(find(arguments.file), text.strip(), tags=tuple(arguments.tag))
    return ExitStatus.OK
