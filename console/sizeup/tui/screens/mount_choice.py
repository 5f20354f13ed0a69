"""Which mount will hold the database: asked once in each console, with the answer of the last one first."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from textual.app import App

from sizeup import files
from sizeup.errors import SizeupError
from sizeup.live.storage_targets import NO_RESPONSE, TargetChoice, keeps_reserve, responds, storage_targets
from sizeup.model.machine import Machine
from sizeup.session.store import directory

QUESTION = (
    "Which directory will hold the database? Each quick run creates a temporary file of at most 1 GiB in it, writes "
    "some 2 GB in about 25 s, and removes it. A tenth of the file system, at least 5 GiB, stays free. Files that are "
    "older than a day are read for 2.5 s."
)
TOO_FULL = "too little would stay free (a tenth, at least 5 GiB); free some space, or choose another directory"
WITHOUT = "without"
"""The answer that leaves storage out."""
_OTHER = "other"
_LIMIT_BYTES = 8192


def remembered_mount() -> str | None:
    """Return the directory that was chosen, empty for none; None where nobody chose, or where it has gone."""
    try:
        with open(_path(), encoding="utf-8", errors="surrogateescape") as file:
            chosen = file.read(_LIMIT_BYTES).rstrip("\n")
    except (OSError, UnicodeError):
        return None
    return chosen if not chosen or os.path.isabs(chosen) else None


def remember_mount(path: str) -> None:
    """Keep the choice for later starts; where it cannot be kept it holds for this one."""
    with suppress(OSError, SizeupError):
        files.make_directory(os.path.dirname(_path()))
        files.write(_path(), lambda file: file.write(f"{path}\n".encode("utf-8", "surrogateescape")), mode=0o600)


def ask_mount(app: App[Any], machine: Machine | None, chosen: Callable[[str], None]) -> None:
    """Let the user choose a directory, and hand it on; empty for a run without storage."""
    from sizeup.tui.dialogs import ChoiceDialog, TextDialog, ask

    def typed(path: str) -> None:
        gone = not responds(path)
        problem = (
            "" if gone or os.path.isdir(path) else "is no directory" if os.path.lexists(path) else "does not exist"
        )
        if gone:
            problem = NO_RESPONSE
        elif problem or not os.path.isabs(path):
            problem = f"{problem or 'is not a full name, which begins with /'}; enter the full name of a directory"
        elif not keeps_reserve(path):
            problem = TOO_FULL
        if problem:
            app.notify(f"{path}: {problem}", severity="error", markup=False)
            ask_path(path)  # what was typed is not lost
        else:
            chosen(path)

    def ask_path(text: str) -> None:
        ask(app, TextDialog("Directory that will hold the database:", text), typed)

    def answered(answer: str) -> None:
        if answer == _OTHER:
            ask_path("")
        else:
            chosen("" if answer == WITHOUT else answer)

    ask(app, ChoiceDialog(QUESTION, mount_answers(storage_targets(machine)), title="Measure"), answered)


def mount_answers(targets: Sequence[TargetChoice]) -> list[tuple[str, str]]:
    """Return the answers: what writes nothing, each mount with its type and space, and any directory.

    The first is the one that was chosen last, in this console or an earlier one.
    """
    answers = [
        (WITHOUT, "Memory and clock only: nothing is written"),
        *((target.path, target.line) for target in targets if target.writable),
        (_OTHER, "Another directory ..."),
    ]
    last = remembered_mount()
    if last is None:
        return answers
    known = dict(answers)
    first = last or WITHOUT
    if first not in known and not (responds(first) and os.path.isdir(first) and keeps_reserve(first)):
        return answers
    words = known.pop(first, first)
    return [(first, f"{words} (as last time)"), *known.items()]


def _path() -> str:
    return str(directory().parent / "mount")
