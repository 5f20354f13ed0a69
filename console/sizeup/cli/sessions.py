"""Saved sessions: list, show, import, note, rename, delete, prune.

FILE is a session file, or the name of a session in the state directory, or the beginning of that name.
"""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sizeup.cli.arguments import JSON, NEW_SESSION, SESSION, YES, arg, confirm, one_of, switch
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


class Show:
    """Print a session as text: how its run went, the verdict, each resource, then what was measured and the advice.

    The advice is what the session recorded; --recompute works it out again with the rules of this version, and says so.
    """

    ARGUMENTS = (
        arg(
            "file", metavar="FILE", nargs="?",
            help="session file, name of a saved session, or - for standard input (default: the session that was "
            "written last)",
        ),
        one_of(
            switch("--json", help="print the results as JSON, without advice"),
            switch(
                "--recompute",
                help="recompute the advice with the rules of this version instead of showing what was recorded",
            ),
        ),
    )  # fmt: skip

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Print the session."""
        from sizeup.input_file import STDIN
        from sizeup.report.text import text
        from sizeup.session.reader import read_session
        from sizeup.session.store import LATEST, find
        from sizeup.sizing.session_advice import session_advice
        from sizeup.views.document.document import document
        from sizeup.views.run.results import results_data

        given = arguments.file or LATEST
        session = read_session(given if given == STDIN else find(given), pipes=True)
        if arguments.json:
            write_json(results_data(session))
        else:
            advice = session_advice(session, recompute=arguments.recompute)
            print(text(document(session, advice)), end="")
        return ExitStatus.OK


class Import:
    """Make a session from the output of other tools: fio (JSON, text), ORION, SLOB's awr_info.txt, SLB, lscpu -J."""

    ARGUMENTS = (
        arg("files", metavar="FILE", nargs="+", help="output of one or more tools on one machine"),
        NEW_SESSION,
        arg("--host", metavar="NAME", help="name of the host that was measured"),
        arg(
            "--kind", choices=("fio", "fio-text", "lscpu", "orion", "orion-matrix", "slb", "slob"),
            help="format of the files (default: detected for each)",
        ),
        arg(
            "--groups", metavar="N,N,...",
            help="for SLB: number of processes started together, in the order of the lines, such as 1,2,4",
        ),
    )  # fmt: skip

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Read all files, then write the session."""
        from pathlib import PurePath

        from sizeup.importers.imported import session_records
        from sizeup.importers.kinds import read_foreign
        from sizeup.session.store import new_path
        from sizeup.session.writer import Writer

        listed = arguments.groups
        if listed is not None and not re.fullmatch(r"[1-9]\d{0,3}(,[1-9]\d{0,3})*", listed, re.ASCII):
            raise UsageError(
                f"--groups: expected numbers of processes separated by commas, such as 1,2,4, found {listed!r}"
            )
        groups = tuple(map(int, listed.split(","))) if listed else ()
        parts = [(PurePath(path).name, read_foreign(path, arguments.kind, groups)) for path in arguments.files]
        now = datetime.now(UTC)
        (arguments.host or "").encode()  # refused where it is no text, before there is a file
        out = arguments.output or str(new_path(arguments.host or "imported", now))
        with Writer.create(out) as writer:
            writer.write(*session_records(parts, host=arguments.host, now=now))
            writer.sync()
        for name, part in parts:
            steps = sum(len(step.estimates) for step in part.steps)
            what = "the machine" if part.machine is not None else f"{steps} figures"
            print(f"{name}: {part.tool}, {what}")
            for line in part.summary:
                print(f"  {line}")
        print(f"Session saved in {out}")
        return ExitStatus.OK
