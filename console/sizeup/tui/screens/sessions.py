"""What was measured before: browse, search, open, compare, note, export."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from rich.console import Group
from rich.padding import Padding
from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sizeup.analysis.compare import compare
from sizeup.analysis.digest import digest_side
from sizeup.errors import SizeupError
from sizeup.report import output
from sizeup.report.text import table_lines
from sizeup.session.reader import read_session
from sizeup.session.store import SUFFIX, Entry, annotate, entries
from sizeup.tui.actions import bindings
from sizeup.tui.screens.dialogs import ChoiceDialog, TextDialog
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.stored import BASELINE
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.facts import indented
from sizeup.tui.widgets.lists import KeyList
from sizeup.views.comparison import differences_table, metrics_table
from sizeup.views.items import plural
from sizeup.views.overlay import overlay
from sizeup.views.sessions import state
from sizeup.views.summary import summary

_FORMATS = (
    ("page", "A web page to send to somebody: names and addresses masked (HTML)"),
    ("html", "A web page with all names in it (HTML)"),
    ("share", "The session to send to somebody: names and addresses masked"),
    ("markdown", "Text with tables (Markdown)"),
    ("csv", "Every figure as a table (CSV)"),
)
_ENDINGS = {
    "page": ".shared.html",
    "html": ".html",
    "share": ".shared.sizeup.jsonl.gz",
    "markdown": ".md",
    "csv": ".csv",
}


class SessionsScreen(ModeScreen):
    """The sessions of the store, the latest first."""

    SCOPE = "sessions"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sessions")]

    def __init__(self) -> None:
        super().__init__()
        self._all: dict[str, Entry] = {}
        self._words: list[str] = []

    def body(self) -> Iterable[Widget]:
        """The list beside what the chosen session holds."""
        with Horizontal(id="body"):
            with Vertical(id="list-pane"):
                yield KeyList(id="sessions")
                yield Input(placeholder="words to find", id="filter", compact=True)
            with Vertical(id="session-pane"):
                with VerticalScroll(id="detail-pane", can_focus=False):
                    yield Static(id="detail", markup=False)
                yield ChartView(self.host.glyphs, id="overlay")

    def on_mount(self) -> None:
        """List; search and comparison wait for their keys."""
        self.query_one("#filter").display = False
        self.query_one("#list-pane").border_title = "Sessions"
        self.query_one(ChartView).display = False
        super().on_mount()

    def show_machine(self) -> None:
        """Read the folder again: another console may have added to it."""
        super().show_machine()
        self._list()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show what a session holds."""
        self._show(event.option_id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open it in the other modes."""
        if event.option_id is not None:
            self.host.show_session(event.option_id)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list while typing."""
        self._words = event.value.split()
        self._list()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep what was found and go back to the list."""
        del event
        self.query_one(KeyList).focus()

    def leave_input(self) -> None:
        """Forget the search."""
        field = self.query_one("#filter", Input)
        field.value = ""
        field.display = False
        self.query_one(KeyList).focus()

    def action_find(self) -> None:
        """Search in names, hosts, titles, tags and notes."""
        field = self.query_one("#filter", Input)
        field.display = True
        field.focus()

    def action_live(self) -> None:
        """Show this machine again."""
        self.host.show_live()

    def action_resume(self) -> None:
        """Run what the chosen session is missing."""
        entry = self._all.get(self._chosen() or "")
        if entry is None:
            return
        if entry.unfinished:
            self.host.resume_session(str(entry.path))
        else:
            self.notify("nothing is missing in it", markup=False)

    def action_note(self) -> None:
        """Write a note into the chosen session."""
        path = self._chosen()
        if path is None or not self._may_write():
            return

        def answered(text: str | None) -> None:
            if text:
                self._write(path, text)

        self.app.push_screen(TextDialog("What should whoever reads this session know?"), answered)

    def action_baseline(self) -> None:
        """Mark the chosen session as what others are compared with."""
        path = self._chosen()
        if path is not None and self._may_write():
            self._write(path, "", (BASELINE,))

    def action_compare(self) -> None:
        """Compare the chosen session with the baseline."""
        path = self._chosen()
        base = next((item for item in self._all.values() if item.session and BASELINE in item.session.tags), None)
        if path is None:
            return
        if base is None or str(base.path) == path:
            self.notify("Mark another session as the baseline first: m", markup=False)
            return
        try:
            comparison = compare(digest_side([path]), digest_side([str(base.path)]))
            picture = overlay(read_session(path), read_session(str(base.path)), ("this", "baseline"))
        except SizeupError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        tables = (metrics_table(comparison), differences_table(comparison))
        text = Text(f"First: {_name(path)}\nBase:  {_name(str(base.path))}, the baseline\n")
        for table in tables:
            if table.rows:
                text.append(f"\n{table.title}\n", style="bold")
                text.append("\n".join(table_lines(table, self._width())) + "\n")
        for warning in comparison.warnings:
            text.append(f"! {warning}\n")
        self.query_one("#detail", Static).update(text)
        chart = self.query_one(ChartView)
        chart.display = picture is not None
        if picture is not None:
            chart.show(picture)

    def action_export(self) -> None:
        """Write a report beside where the console was started."""
        path = self._chosen()
        if path is None:
            return

        def answered(kind: str | None) -> None:
            if kind is not None:
                self.run_worker(self._export(path, kind))

        self.app.push_screen(ChoiceDialog("Write what, into the current folder?", _FORMATS), answered)

    async def _export(self, path: str, kind: str) -> None:
        masked = kind in ("page", "share")
        # What is masked must not carry the host in its own name either.
        name = f"sizeup-{_name(path).rpartition('-')[2]}" if masked else _name(path)
        try:
            target = os.path.join(output.current_folder(), name + _ENDINGS[kind])
        except SizeupError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if kind == "page":
            with tempfile.TemporaryDirectory() as folder:
                shared = str(Path(folder) / "shared.sizeup.jsonl.gz")
                words = await _run_export(path, "share", shared) or await _run_export(shared, "html", target)
        else:
            words = await _run_export(path, kind, target)
        if words:
            self.notify(words, severity="error", markup=False, timeout=10)
        else:
            self.notify(f"Wrote {target}", markup=False, timeout=10)

    def _may_write(self) -> bool:
        if self.host.readonly:
            self.notify("read-only: nothing is written", severity="warning", markup=False)
        return not self.host.readonly

    def _write(self, path: str, text: str, tags: tuple[str, ...] = ()) -> None:
        try:
            annotate(path, text, tags=tags)
        except SizeupError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._list()

    def _chosen(self) -> str | None:
        option = self.query_one(KeyList).highlighted_option
        return None if option is None else option.id

    def _list(self) -> None:
        listed = self.query_one(KeyList)
        chosen = self._chosen()
        try:
            found = entries()
        except SizeupError as error:
            self.query_one("#detail", Static).update(f"! {error}")
            return
        self._all = {str(entry.path): entry for entry in found}
        shown = [entry for entry in found if entry.mentions(self._words)]
        listed.set_options(Option(_line(entry), id=str(entry.path)) for entry in shown)
        if shown:
            names = [str(entry.path) for entry in shown]
            listed.highlighted = names.index(chosen) if chosen in names else 0
            self._show(names[listed.highlighted])
        else:
            words = "No session holds these words." if self._words else "No session yet. Press 3 and r to measure."
            self.query_one("#detail", Static).update(words)

    def _show(self, path: str | None) -> None:
        entry = self._all.get(path or "")
        if entry is None:
            return
        self.query_one(ChartView).display = False
        detail = self.query_one("#detail", Static)
        try:
            session = read_session(str(entry.path))
        except SizeupError as error:  # it may have changed or gone since it was listed
            detail.update(f"! {error}")
            return
        header = session.header
        parts: list[Text | Padding] = [
            Text(f"{header.host}, {_when(header.started)} UTC", style="bold"),
            Text(f"{state(session)}\n{_short(entry.path)}"),
        ]
        for note in session.notes:
            tags = " ".join(f"#{tag}" for tag in note.tags)
            parts.append(Text(f"{_when(note.written)} UTC, {note.author}: {note.text} {tags}".rstrip()))
        parts.extend(Text(f"! {sentence}") for sentence in session.damage.sentences())
        for answer in summary(session):
            parts.append(Text(f"\n{answer.question}", style="bold"))
            parts.extend(indented(f"  {statement}") for statement in answer.statements)
        detail.update(Group(*parts))

    def _width(self) -> int:
        return max(self.query_one("#detail-pane").size.width - 3, 30)


async def _run_export(path: str, kind: str, target: str) -> str:
    """Why it failed; empty where it did not. A process of its own: a large session must not hold the screen."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "sizeup", "export", path, f"--{kind}", "-o", target),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, words = await process.communicate()
    if not process.returncode:
        return ""
    return words.decode(errors="replace").strip() or f"the export ended with status {process.returncode}"


def _short(path: Path) -> str:
    """The path with the home directory as people write it."""
    home = str(Path.home())
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text


def _name(path: str) -> str:
    return Path(path).name.removesuffix(".gz").removesuffix(SUFFIX)


def _line(entry: Entry) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    if entry.session is None:
        return text.append(f"! {_name(str(entry.path))}\n").append(f"  {entry.problem}", style="dim")
    session = entry.session
    text.append(f"{_when(session.header.started)[:16]} UTC  {session.header.host}\n")
    tags = " ".join(f"#{tag}" for tag in session.tags)
    held = "" if session.missing_steps else f"{plural(len(session.steps), 'step')}, "
    words = "; ".join(filter(None, (tags, session.title, f"{held}{state(session)}")))
    return text.append(f"  {words}", style="dim")


def _when(started: str) -> str:
    """An instant of the file as people write it, still in UTC."""
    return started.replace("T", " ").removesuffix("Z")
