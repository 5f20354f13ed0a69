"""Saved sessions: list, note, rename, delete, prune.

FILE is a session file, or the name of a session in the state directory, or the beginning of that name.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sizeup.cli.arguments import JSON, SESSION, YES, arg, confirm
from sizeup.cli.results import write_json
from sizeup.errors import ExitStatus, UsageError
from sizeup.input_file import STDIN, read_text
from sizeup.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH = 100
_NOTE_LIMIT = 1 << 20
"""Bytes of a note; a session's line holds 16 times as much."""


class List:
    """List saved sessions, the latest first, or those that contain all of some words."""

    ARGUMENTS = (arg("words", nargs="*", metavar="WORD", help="list only sessions that contain this word"), JSON)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """List them."""
        from sizeup.report.text import table_lines
        from sizeup.session.store import entries
        from sizeup.views.result.sessions import sessions_data, sessions_table

        found = [entry for entry in entries() if entry.mentions(arguments.words)]
        if arguments.json:
            write_json(sessions_data(found))
            return ExitStatus.OK
        print("\n".join(table_lines(sessions_table(found), _WIDTH) or ["no sessions saved"]))
        for entry in found:
            if entry.unfinished and not entry.going_on:
                print(f"unfinished, resume it with: sizeup --batch --resume {entry.path}")
        return ExitStatus.OK


class Note:
    """Add a note or tags to a session, during the run or later."""

    ARGUMENTS = (
        SESSION,
        arg("text", nargs="*", metavar="TEXT", help="text of the note; - reads it from standard input"),
        arg("--tag", action="append", default=[], metavar="TAG", help="also add this tag; repeatable"),
    )

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Append the note."""
        from sizeup.session.store import annotate, find

        piped = arguments.text == [STDIN]
        text = read_text(STDIN, "the text of a note", _NOTE_LIMIT) if piped else " ".join(arguments.text)
        if not text.strip() and not arguments.tag:
            raise UsageError("the note is empty; add its text after the file name, or - to read it from standard input")
        annotate(find(arguments.file), text.strip(), tags=tuple(arguments.tag))
        return ExitStatus.OK


class Rename:
    """Set the title of a session; the file keeps its name."""

    ARGUMENTS = (SESSION, arg("title", metavar="TITLE", help="new title"))

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Record the title."""
        from sizeup.session.store import annotate, find

        annotate(find(arguments.file), title=arguments.title)
        return ExitStatus.OK


class Delete:
    """Delete sessions permanently."""

    ARGUMENTS = (arg("files", nargs="+", metavar="FILE", help=SESSION.options["help"]), YES)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Delete them, once confirmed."""
        from sizeup.session.store import find

        _delete([find(file) for file in arguments.files], yes=arguments.yes)
        return ExitStatus.OK


class Prune:
    """Delete the oldest sessions that have no tag."""

    ARGUMENTS = (arg("--keep", type=int, required=True, metavar="N", help="number of untagged sessions to keep"), YES)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Delete them, once confirmed."""
        from sizeup.session.store import entries

        if arguments.keep < 0:
            raise UsageError(f"--keep: expected a whole number of at least 0, found {arguments.keep}")
        untagged = [entry for entry in entries() if entry.session is not None and not entry.session.tags]
        old = [str(entry.path) for entry in untagged[arguments.keep :]]
        if not old:
            print("nothing to prune: sessions with a tag are always kept")
        _delete(old, yes=arguments.yes)
        return ExitStatus.OK


def _delete(paths: Sequence[str], *, yes: bool) -> None:
    from pathlib import Path

    from sizeup.session.reader import read_session
    from sizeup.session.store import delete

    for path in paths:
        read_session(path, samples=False)  # refuse to delete a file that is not a session
    question = f"Delete {plural(len(paths), 'session')} permanently?\n  " + "\n  ".join(paths) + "\n"
    if paths and (yes or confirm(question, "nothing was deleted: deleting")):
        for path in paths:
            delete(Path(path))
            print(f"deleted {path}")
