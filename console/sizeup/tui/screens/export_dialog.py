"""The dialog that asks what to export, and into which folder."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Checkbox, Input, OptionList, Static
from textual.widgets.option_list import Option

from sizeup.session.store import directory
from sizeup.session.value import Session
from sizeup.tui.dialogs import Dialog, ask
from sizeup.tui.exports import COMPARED_KINDS, KINDS, folder_problem, full_folder, target, write_export
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.unsaved_inputs import TypedInputs
from sizeup.tui.widgets.lists import KeyList, hanging

_WITH_INPUTS = "With the inputs entered in the console"
_WITHOUT_INPUTS = "Without the inputs entered in the console. These commands repeat them:"
_LISTED = "A masked session beside the others would be listed as one of them. Enter writes it to the folder above."

_SOON_SECONDS = 2.0
"""An export that takes longer than this says that it is at work."""


class ExportChoice(Struct, frozen=True):
    """What to export, and where."""

    kind: str
    folder: str
    saves_inputs: bool = False
    """Whether the inputs entered in the console are first saved in the session."""


class ExportDialog(Dialog[ExportChoice]):
    """Asks for a kind of export of a session and an existing folder."""

    AUTO_FOCUS = "KeyList"
    KEYS = (("Enter", "Export"), ("Tab", "Folder"), ("Esc", "Close"))

    def __init__(self, folder: str, typed: TypedInputs, path: str, *, problem: str, compared: bool) -> None:
        super().__init__()
        before = "This session: " if compared else ""
        both = {key: label for key, (_, label) in COMPARED_KINDS.items()} if compared else {}
        self._kinds = {**both, **{key: f"{before}{label}" for key, (_, label) in KINDS.items()}}
        self._folder = folder
        self._problem = problem
        """Why the last export into this folder failed; empty at first."""
        self._typed, self._unsaved = typed, typed.unsaved(path)
        """Inputs entered in the console, and which of them the session did not record."""

    def compose(self) -> ComposeResult:
        """Build the folder field above the list of kinds."""
        with Vertical(classes="dialog wide") as box:
            box.border_title = "Export"
            yield Static("Into folder", markup=False)
            yield Input(self._folder, id="folder", compact=True, select_on_focus=False)
            yield Static("", id="message", classes="hint", markup=False)
            typed, unsaved = self._typed, self._unsaved
            if unsaved and (problem := typed.why_unsaveable(unsaved)):
                with VerticalScroll(can_focus=False, classes="text"):
                    repeated = "\n".join((_WITHOUT_INPUTS, *typed.commands(unsaved)))
                    yield Static(f"! {problem} {repeated}", markup=False)
            elif unsaved:
                yield Checkbox(_WITH_INPUTS, value=True, compact=True)
                names = typed.names(unsaved) or "removed inputs"
                yield Static(f"{names}. They are saved in the session first.", markup=False)
            yield KeyList(*(Option(hanging(label, 70, 0, 2), id=key) for key, label in self._kinds.items()))

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
            box = next(iter(self.query(Checkbox)), None)
            self.dismiss(ExportChoice(kind, full_folder(field.value), box is not None and box.value))
        elif problem is not _LISTED:
            field.focus()

    def _say(self, problem: str) -> None:
        message = self.query_one("#message", Static)
        message.update(f"! {problem}" if problem else "The folder of the session, unless you enter another one.")
        message.set_class(bool(problem), "-wrong")


def ask_export(screen: ModeScreen, path: str, session: Session, baseline: str = "", problem: str = "") -> None:
    """Ask what to write and where; with a ``baseline``, the path of another session, offer the comparison first."""
    host = screen.host
    if host.readonly:
        host.notify("read-only: nothing is written", severity="warning", markup=False)
        return

    async def write(choice: ExportChoice) -> None:
        if choice.saves_inputs and not await host.save_inputs(path):
            return
        kind, place = choice.kind, target(choice.folder, choice.kind, path, session)
        waits = screen.set_timer(_SOON_SECONDS, lambda: host.notify(f"Writing {place}", markup=False))
        failed, words = await write_export(path, kind, place, baseline)
        waits.stop()
        host.notify(words, severity="error" if failed else "information", markup=False, timeout=10)
        if failed and screen.is_current:
            ask_export(screen, path, session, baseline, problem=words)  # such as for another disk

    def answered(answer: ExportChoice) -> None:
        host.export_folder = answer.folder
        screen.run_worker(write(answer))

    folder = host.export_folder or os.path.dirname(os.path.abspath(path))
    ask(host, ExportDialog(folder, host.typed, path, problem=problem, compared=bool(baseline)), answered)
