"""The saved sessions: list, search, tag, rename, delete, prune.

Without an action all are listed, the latest first. FILE is a file, or a session of the state directory by
its name or the beginning of it.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from sizeup.errors import ExitStatus, RefusedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sizeup.session.store import StoredSession


_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    _list_arguments(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    _list_arguments(actions.add_parser("list", help="all of them", allow_abbrev=False))
    search = actions.add_parser("search", help="those that mention all these words", allow_abbrev=False)
    _list_arguments(search)
    search.add_argument("words", nargs="+", metavar="WORD")
    tag = actions.add_parser("tag", help="give a session tags", allow_abbrev=False)
    tag.add_argument("file", metavar="FILE")
    tag.add_argument("tags", nargs="+", metavar="TAG")
    rename = actions.add_parser("rename", help="give a session a title; the file keeps its name", allow_abbrev=False)
    rename.add_argument("file", metavar="FILE")
    rename.add_argument("title", metavar="TITLE")
    delete = actions.add_parser("delete", help="remove sessions for good", allow_abbrev=False)
    delete.add_argument("files", nargs="+", metavar="FILE")
    prune = actions.add_parser("prune", help="remove old sessions that carry no tag", allow_abbrev=False)
    prune.add_argument("--keep", type=int, required=True, metavar="N", help="keep the latest N of those without")
    for action in (delete, prune):
        action.add_argument("--yes", action="store_true", help="do not ask")


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
    print("\n".join(table_lines(sessions_table(found), _WIDTH) or ["no sessions"]))
    for entry in found:
        if entry.unfinished and not entry.going_on:
            print(f"unfinished: sizeup --batch --resume {entry.path}")


def _delete(paths: Sequence[str], *, yes: bool) -> None:
    from pathlib import Path

    from sizeup.session.reader import read_session
    from sizeup.session.store import delete

    for path in paths:
        read_session(path, samples=False)  # what is no session is not ours to delete
    if paths and _agreed(f"Delete {len(paths)} sessions for good?\n  " + "\n  ".join(paths) + "\n", yes=yes):
        for path in paths:
            delete(Path(path))
            print(f"deleted {path}")


def _prune(keep: int, *, yes: bool) -> None:
    from sizeup.session.store import entries

    if keep < 0:
        raise UsageError(f"--keep: expected a whole number of at least 0, found {keep}")
    old = [entry for entry in entries() if entry.session is not None and not entry.session.tags][keep:]
    if not old:
        print("nothing to prune: sessions with a tag are kept")
    _delete([str(entry.path) for entry in old], yes=yes)


def _agreed(question: str, *, yes: bool) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        raise RefusedError("deleting asks first, and there is no terminal to ask on; say --yes if you mean it")
    print(question + "[y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
