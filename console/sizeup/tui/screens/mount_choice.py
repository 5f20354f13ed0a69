"""Which mount will hold the database: asked once, and remembered beside the sessions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from textual.app import App

from sizeup import files
from sizeup.errors import SizeupError
from sizeup.live.storage_targets import TargetChoice, storage_targets
from sizeup.model.machine import Machine
from sizeup.session.store import directory

QUESTION = (
    "Which directory will hold the database? The quick plan creates a temporary file of at most 1 GiB in it, reads "
    "it for about 25 s, and removes it. A tenth of the file system, at least 5 GiB, stays free."
)
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
    from sizeup.tui.screens.dialogs import ChoiceDialog, TextDialog

    def typed(path: str | None) -> None:
        if not path:
            return
        if not os.path.isabs(path) or not os.path.isdir(path):
            app.notify(f"{path}: expected the full name of a directory", severity="error", markup=False)
            return
        chosen(path)

    def answered(answer: str | None) -> None:
        if answer == _OTHER:
            app.push_screen(TextDialog("Directory that will hold the database:", "/"), typed)
        elif answer is not None:
            chosen("" if answer == WITHOUT else answer)

    app.push_screen(ChoiceDialog(QUESTION, mount_answers(storage_targets(machine)), title="Measure"), answered)


def mount_answers(targets: Sequence[TargetChoice]) -> list[tuple[str, str]]:
    """Return the answers: what writes nothing first, then each mount with its type and space, then any directory."""
    return [
        (WITHOUT, "Memory and clock only: nothing is written"),
        *((target.path, target.line) for target in targets if target.writable),
        (_OTHER, "Another directory ..."),
    ]


def _path() -> str:
    return str(directory().parent / "mount")
