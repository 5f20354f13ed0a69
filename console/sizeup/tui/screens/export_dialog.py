"""The dialog that asks what to export, and into which folder."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import IO

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Checkbox, Input, OptionList, Static
from textual.widgets.option_list import Option

from sizeup import files
from sizeup.child_process import environment, sizeup_command
from sizeup.procfs.process import descriptor_path
from sizeup.report import output
from sizeup.session.store import directory, session_name
from sizeup.session.value import Session
from sizeup.tui.dialogs import Dialog, ask
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.unsaved_inputs import TypedInputs
from sizeup.tui.widgets.lists import KeyList, hanging

_WITH_INPUTS = "With the inputs entered in the console"
_WITHOUT_INPUTS = "Without the inputs entered in the console. These commands repeat them:"
_LISTED = "A masked session beside the others would be listed as one of them. Enter writes it to the folder above."

_SOON_SECONDS = 2.0
"""An export that takes longer than this says that it is at work."""


class ExportDialog(Dialog[tuple[str, str, bool]]):
    """Asks for a kind of export of a session, an existing folder, and whether to save the entered inputs first."""

    AUTO_FOCUS = "KeyList"
    KEYS = (("Enter", "Export"), ("Tab", "Folder"), ("Esc", "Close"))
    HINT = "The folder of the session, unless you enter another one."

    def __init__(self, folder: str, typed: TypedInputs, path: str, *, problem: str, compared: bool) -> None:
        super().__init__()
        before = "This session: " if compared else ""
        both = {key: label for key, (_, label) in COMPARED_KINDS.items()} if compared else {}
        self._kinds = {**both, **{key: f"{before}{label}" for key, (_, label) in KINDS.items()}}
        self._folder, self._exported = folder, session_name(path)
        self._problem = problem
        """Why the last export into this folder failed; empty at first."""
        self._typed, self._unsaved = typed, typed.unsaved(path)
        """Inputs entered in the console, and which of them the session did not record."""

    def compose(self) -> ComposeResult:
        """Build the folder field above the list of kinds."""
        with Vertical(classes="dialog wide") as box:
            box.border_title = Content(f"Export {self._exported}")
            yield Static("Into folder", markup=False)
            yield Input(self._folder, id="folder", compact=True)
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
        self.say(self._problem)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Move on to the list of kinds if the folder exists."""
        problem = folder_problem(event.value)
        self.say(problem)
        if not problem:
            self.query_one(KeyList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with the chosen kind and folder, or show why the folder is refused."""
        field, kind = self.query_one("#folder", Input), event.option_id or ""
        problem = folder_problem(field.value)
        if not problem and kind == "share" and full_folder(field.value) == str(directory()):
            field.value = str(Path.home())
            problem = _LISTED
        self.say(problem)
        if not problem:
            box = next(iter(self.query(Checkbox)), None)
            self.dismiss((kind, full_folder(field.value), box is not None and box.value))
        elif problem is not _LISTED:
            field.focus()


def ask_export(screen: ModeScreen, path: str, session: Session, baseline: str = "", problem: str = "") -> None:
    """Ask what to write and where; with a ``baseline``, the path of another session, offer the comparison first."""
    host = screen.host
    if host.readonly:
        host.notify("read-only: nothing is written", severity="warning", markup=False)
        return

    async def write(kind: str, folder: str, saves_inputs: bool) -> None:  # noqa: FBT001
        if saves_inputs and not await host.save_inputs(path):
            return
        place = target(folder, kind, path, session)
        waits = screen.set_timer(_SOON_SECONDS, lambda: host.notify(f"Writing {place}", markup=False))
        failed, words = await write_export(path, kind, place, baseline)
        waits.stop()
        host.notify(words, severity="error" if failed else "information", markup=False, timeout=10)
        if failed and screen.is_current:
            ask_export(screen, path, session, baseline, problem=words)  # such as for another disk

    def answered(answer: tuple[str, str, bool]) -> None:
        host.export_folder = answer[1]
        screen.run_worker(write(*answer))

    folder = host.export_folder or os.path.dirname(os.path.abspath(path))
    ask(host, ExportDialog(folder, host.typed, path, problem=problem, compared=bool(baseline)), answered)


KINDS = {
    "page": (".shared.html", "Web page for sharing, names and addresses masked (HTML)"),
    "html": (".html", "Web page with all names (HTML)"),
    "share": (".shared.sizeup.jsonl.gz", "Session for sharing, names and addresses masked"),
    "markdown": (".md", "Text with tables (Markdown)"),
    "csv": (".csv", "All samples, one row each (CSV)"),
}
"""What can be written: how its file ends, and the words that it is offered by."""
COMPARED_KINDS = {
    "compared-html": (".compared.html", "The comparison, then this session, with all names (HTML)"),
    "compared-markdown": (".compared.md", "The comparison, then this session, with all names (Markdown)"),
    "compared-json": (".compared.json", "The comparison as data, with all names (JSON)"),
}
"""What can be written while two sessions are compared, before what can be written of one."""
MASKED = ("page", "share")

_STAMP = re.compile(r"\d{8}T\d{6}Z(-\d+)?$")
"""The time at the end of the name of a session, by which its masked report is found."""
_PRIVATE = 0o077
"""File mode mask: what is exported is as private as the session."""
_OURS = "sizeup: "
"""What a line begins with that is an error or a warning."""


def full_folder(text: str) -> str:
    """Return a folder as it was entered with its full path; as it is where the current folder has gone."""
    folder = os.path.expanduser(text.strip())
    try:
        return os.path.abspath(folder)
    except OSError:
        return folder


def folder_problem(text: str) -> str:
    """Return why nothing can be written into a folder that was entered; empty where it can be."""
    if not text.strip():
        return "Enter a folder."
    folder = full_folder(text)
    if os.path.isdir(folder):
        writable = os.access(folder, os.W_OK | os.X_OK)
        return "" if writable else f"{folder}: you may not write there. Enter another folder."
    if os.path.lexists(folder):
        return f"{folder} is a file that exists, and is left as it is. Enter a folder."
    return f"{folder}: no such folder. Create it first, or enter another."


def target(folder: str, kind: str, path: str, session: Session) -> str:
    """Where to write it: a name that no file has yet, and a masked one bears the time of the session, not the host."""
    stamp = _STAMP.search(session_name(path))
    masked = f"sizeup-{stamp[0] if stamp else re.sub('[^0-9TZ]', '', session.header.started)}"
    ending, _ = (KINDS | COMPARED_KINDS)[kind]
    return files.free_path(folder, masked if kind in MASKED else session_name(path), ending)


async def write_export(path: str, kind: str, target: str, baseline: str = "") -> tuple[bool, str]:
    """Write it, a comparison with the ``baseline``; whether it failed, and what there is to say of it."""
    try:
        if kind == "compared-json":
            failed, words = await _write_comparison(path, target, baseline)
        elif kind.startswith("compared-"):
            which = kind.removeprefix("compared-")
            failed, words = await _run_export(path, "--format", which, "-o", target, "--against", baseline)
        elif kind == "page":
            failed, words = await _write_masked(path, target)
        else:
            failed, words = await _run_export(path, "--format", kind, "-o", target)
    except OSError as error:  # no process, or no memory
        return True, f"{target}: cannot write: {error.strerror}"
    if failed:
        return True, words
    # A name that stands in a note alone is found by nobody else.
    return False, f"Wrote {target}{'; read it before you send it' if kind in MASKED else ''}{words}"


async def _write_masked(path: str, target: str) -> tuple[bool, str]:
    """Write the page for sharing; what lies between the two processes is in memory."""
    with open(os.memfd_create("shared"), "w+b") as shared:  # noqa: ASYNC230  in memory, nothing waits
        failed, message = await _run_export(path, "--format", "share", stdout=shared)
        if not failed:
            failed, more = await _run_export(descriptor_path(0), "--format", "html", "-o", target, stdin=shared)
            message = more if failed else message + more
    return failed, message


async def _write_comparison(path: str, target: str, baseline: str) -> tuple[bool, str]:
    with open(os.memfd_create("comparison"), "w+b") as compared:  # noqa: ASYNC230  in memory, nothing waits
        failed, message = await _run_export(
            path, "--against", baseline, "--json", command="session compare", stdout=compared
        )
        if not failed:
            compared.seek(0)
            content = compared.read()
            await asyncio.to_thread(files.write, target, lambda file: file.write(content), mode=0o600)
    return failed, message


async def _run_export(
    *arguments: str,
    command: str = "session export",
    stdin: int | IO[bytes] = asyncio.subprocess.DEVNULL,
    stdout: int | IO[bytes] = asyncio.subprocess.DEVNULL,
) -> tuple[bool, str]:
    """Whether it failed and why; where it did not, its warnings."""
    process = await asyncio.create_subprocess_exec(
        *sizeup_command(*command.split(), *arguments),
        env=environment(),
        stdin=stdin,
        stdout=stdout,
        stderr=asyncio.subprocess.PIPE,
        umask=_PRIVATE,
    )
    lines = (await process.communicate())[1].decode(errors="replace").splitlines()
    messages = [line.removeprefix(_OURS).removesuffix(output.ADVICE) for line in lines if line.startswith(_OURS)]
    if process.returncode:
        return True, "; ".join(messages) or f"{command} ended with status {process.returncode}"
    return False, "".join(f"; {message}" for message in messages)
