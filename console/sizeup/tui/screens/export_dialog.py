"""The dialog that asks what to export, and into which folder."""

from __future__ import annotations

import os
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sizeup.session.store import directory
from sizeup.tui.exports import KINDS, folder_problem, full_folder
from sizeup.tui.screens.dialogs import Dialog
from sizeup.tui.widgets.lists import KeyList, hanging

_LISTED = "A masked session beside the others would be listed as one of them. Enter writes it to the folder above."


class ExportDialog(Dialog[tuple[str, str]]):
    """Asks for a kind of export and an existing folder."""

    AUTO_FOCUS = "KeyList"

    def __init__(self, folder: str, *, problem: str = "", note: str = "") -> None:
        super().__init__()
        self._folder = folder
        self._problem = problem
        """Why the last export into this folder failed; empty at first."""
        self._note = note

    def compose(self) -> ComposeResult:
        """Build the folder field above the list of kinds."""
        with Vertical(classes="dialog wide") as box:
            box.border_title = "Export"
            box.border_subtitle = "Enter writes it, Tab: folder, Esc closes"
            yield Static("Into folder", markup=False)
            yield Input(self._folder, id="folder", compact=True, select_on_focus=False)
            yield Static("", id="message", classes="hint", markup=False)
            if self._note:
                with VerticalScroll(can_focus=False, classes="text"):
                    yield Static(self._note, markup=False)
            yield KeyList(*(Option(hanging(label, 70, 0, 2), id=key) for key, label in KINDS))

    def on_mount(self) -> None:
        """Show why the last export into this folder failed."""
        self._say(self._problem)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Move on to the list of kinds if the folder exists."""
        problem = folder_problem(event.value)
        self._say(problem)
        if not problem:
            self.query_one(KeyList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with the chosen kind and folder, or show why the folder is refused."""
        field, kind = self.query_one("#folder", Input), event.option_id or ""
        problem = folder_problem(field.value)
        if not problem and kind == "share" and full_folder(field.value) == str(directory()):
            field.value = str(Path.home())
            problem = _LISTED
        self._say(problem)
        if not problem:
            self.dismiss((kind, full_folder(field.value)))
        elif problem is not _LISTED:
            field.focus()

    def _say(self, problem: str) -> None:
        message = self.query_one("#message", Static)
        message.update(f"! {problem}" if problem else "The folder of the session, unless you enter another one.")
        message.set_class(bool(problem), "-wrong")


def default_folder(path: str) -> str:
    """Return the folder of a session."""
    return os.path.dirname(os.path.abspath(path))
