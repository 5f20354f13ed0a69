"""List, search, tag, rename, delete or prune saved sessions.

Without an action, all sessions are listed, the latest first. FILE is a session file, or the name of a session in
the state directory, or the beginning of that name.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from sizeup.errors import ExitStatus, RefusedError, UsageError
from sizeup.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sizeup.session.store import StoredSession


_WIDTH = 100
_FILE_HELP = "session file, or name of a session in the state directory"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    _list_arguments(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")

    def action(name: str, text: str) -> argparse.ArgumentParser:
        description = f"{text[0].upper()}{text[1:]}."
        return actions.add_parser(name, help=text, description=description, allow_abbrev=False)

    _list_arguments(action("list", "list all sessions, the latest first"))
    search = action("search", "list the sessions that contain all these words")
    _list_arguments(search)
    search.add_argument("words", nargs="+", metavar="WORD", help="word to search for")
    tag = action("tag", "add tags to a session")
    tag.add_argument("file", metavar="FILE", help=_FILE_HELP)
    tag.add_argument("tags", nargs="+", metavar="TAG", help="tag to add")
    rename = action("rename", "set the title of a session; the file keeps its name")
    rename.add_argument("file", metavar="FILE", help=_FILE_HELP)
    rename.add_argument("title", metavar="TITLE", help="new title")
    delete = action("delete", "delete sessions permanently")
    delete.add_argument("files", nargs="+", metavar="FILE", help=_FILE_HELP)
    prune = action("prune", "delete the oldest sessions that have no tag")
    prune.add_argument("--keep", type=int, required=True, metavar="N", help="number of untagged sessions to keep")
    for deleting in (delete, prune):
        deleting.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(arguments: argparse.Namespace) -> int:
    """List the sessions, or do what was asked with them."""
    from sizeup.session.store import annotate, entries, find

    match arguments.action:
        case "tag":
            annotate(find(arguments.file), tags=tuple(arguments.tags))
        case "rename":
            annotate(find(arguments.file), title=arguments.title)
        case "delete":
            _delete([find(file) for file in arguments.files], yes=arguments.yes)
        case "prune":
            _prune(arguments.keep, yes=arguments.yes)
        case "search":
            _print([entry for entry in entries() if entry.mentions(arguments.words)], json=arguments.json)
        case _:
            _print(entries(), json=arguments.json)
    return ExitStatus.OK


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _print(found: Sequence[StoredSession], *, json: bool) -> None:
    import msgspec

    from sizeup.report.text import table_lines
    from sizeup.views.sessions import sessions_data, sessions_table

    if json:
        print(msgspec.json.format(msgspec.json.encode(sessions_data(found)), indent=2).decode())
        return
    print("\n".join(table_lines(sessions_table(found), _WIDTH) or ["no sessions saved"]))
    for entry in found:
        if entry.unfinished and not entry.going_on:
            print(f"unfinished, resume it with: sizeup --batch --resume {entry.path}")


def _delete(paths: Sequence[str], *, yes: bool) -> None:
    from pathlib import Path

    from sizeup.session.reader import read_session
    from sizeup.session.store import delete

    for path in paths:
        read_session(path, samples=False)  # refuse to delete a file that is not a session
    if paths and _confirmed(
        f"Delete {plural(len(paths), 'session')} permanently?\n  " + "\n  ".join(paths) + "\n", yes=yes
    ):
        for path in paths:
            delete(Path(path))
            print(f"deleted {path}")


def _prune(keep: int, *, yes: bool) -> None:
    from sizeup.session.store import entries

    if keep < 0:
        raise UsageError(f"--keep: expected a whole number of at least 0, found {keep}")
    old = [entry for entry in entries() if entry.session is not None and not entry.session.tags][keep:]
    if not old:
        print("nothing to prune: sessions with a tag are always kept")
    _delete([str(entry.path) for entry in old], yes=yes)


def _confirmed(question: str, *, yes: bool) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        raise RefusedError(
            "nothing was deleted: deleting needs confirmation, and standard input is not a terminal; "
            "add --yes to confirm"
        )
    print(question + "[y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
