"""What was measured before: browse, search, open, compare, note, export."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from rich.cells import cell_len
from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sizeup.charts.chart import LineChart
from sizeup.charts.share_bar import ScreenLook
from sizeup.errors import SizeupError
from sizeup.model.finding import Severity
from sizeup.model.machine import Machine
from sizeup.portability import host_name
from sizeup.session.reader import read_session
from sizeup.session.records import NoteRecord
from sizeup.session.store import BASELINE, StoredSession, annotate, baseline, directory, entries, session_name
from sizeup.session.value import WITHDRAWN, Session
from sizeup.session.writer import in_use
from sizeup.sizing.session_advice import session_advice
from sizeup.text import plural
from sizeup.tui.actions import bindings, first_key_of, in_console
from sizeup.tui.dialogs import ChoiceDialog, TextDialog, ask, ask_which
from sizeup.tui.screens.export_dialog import ask_export
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.summary_rows import finding_lines, status_content
from sizeup.tui.unsaved_inputs import unsaved_text
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lines import frame_title
from sizeup.tui.widgets.lists import KeyList, hanging
from sizeup.units import format_ns
from sizeup.views.band import Band, NextStep, Number
from sizeup.views.cards.cards import share_cell
from sizeup.views.cards.panels import panels
from sizeup.views.cards.table import fitted
from sizeup.views.result.band import STATUS_TOKENS, status_token, summary_band
from sizeup.views.result.sessions import GOING_ON, ListedFigures, listed_figures, state
from sizeup.views.result.summary import Summary, summary
from sizeup.views.run.run_status import run_status


class _TextPane(VerticalScroll):
    """Says when it has another width: its text is folded by hand."""

    class Resized(Message):
        """The pane was laid out again."""

    def on_resize(self) -> None:
        """Tell the screen."""
        self.post_message(self.Resized())


class SessionsScreen(ModeScreen):
    """The sessions of the store, the latest first."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "sessions"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sessions")]

    def __init__(self) -> None:
        super().__init__()
        self._all: dict[str, StoredSession] = {}
        self._words: list[str] = []
        self._base: StoredSession | None = None
        self._going_on = False
        self._shown: tuple[Machine | None, Summary] | None = None
        """Machine and conclusion of the session under the cursor; None where none can be read."""
        self._figures: dict[tuple[Path, int], ListedFigures] = {}
        """What was measured, for each file as it was written last."""
        self._held = ""
        """The session that was shown everywhere when the folder was read."""
        self._folded_to = 0
        """Columns that the text was folded to."""
        self._sessions, self._list_pane = KeyList(id="sessions"), Vertical(id="list-pane")
        self._headings, self._detail = Static(id="columns", markup=False), Static(id="detail", markup=False)
        self._detail_pane = _TextPane(self._detail, id="detail-pane")
        self._beside_curve = Vertical(id="left")
        self._curves = {name: ChartView(self.host.glyphs, id=name) for name in _DRAWN_ROWS}
        self._filter = Input(placeholder="search text", id="filter", compact=True)

    def body(self) -> Iterable[Widget]:
        """The list beside what the chosen session holds."""
        with Vertical(id="body"):
            with self._list_pane:
                yield self._headings
                yield self._sessions
            yield self._filter
            with Horizontal(id="below"):
                with self._beside_curve:
                    yield self._detail_pane
                    yield self._curves["other"]
                yield self._curves["picture"]

    def band(self) -> Band | None:
        """What is concluded from the session under the cursor."""
        keys, entry = self.host.keys, self._all.get(self._chosen() or "")
        if self._shown is None or entry is None:
            step = NextStep(key=first_key_of("mode.measure", keys), does="leads to the measurements, where r runs one")
            none = Band("NO SESSIONS", "acc", "No sessions yet: each run is kept here.", steps=(step,))
            return Band("NOT READABLE", "bad", "Why this file cannot be read stands below.") if self._all else none
        found = (("sessions.open", "opens it in all screens"), ("app.compare", "compares it with another"))
        steps = tuple(NextStep(key=first_key_of(name, keys), does=does) for name, does in found[: len(self._all)])
        figures = self._figures.get((entry.path, entry.written_ns), ListedFigures())
        digits = figures.iops.rstrip("kMG")
        number = Number(digits, f"{figures.iops[len(digits) :]} IOPS".strip(), "highest, random")
        count = Number(str(len(self._all)), "", plural(len(self._all), "session").partition(" ")[2])
        band = summary_band(self._shown[1], steps, self._shown[0], number=number if figures.certain else count)
        return band if band.steps else replace(band, steps=steps)

    def on_mount(self) -> None:
        """List; search and comparison wait for their keys."""
        self._filter.display = False
        for chart in self._curves.values():
            chart.can_focus = False
        self._list_pane.border_title = "Sessions, times in UTC"

    def show_machine(self) -> None:
        """Read the folder again: another console may have added to it."""
        super().show_machine()
        self._list()

    def show_target(self, target: str) -> None:
        """Put the cursor on a session."""
        listed = self._sessions
        listed.highlighted = next((at for at, one in enumerate(listed.options) if one.id == target), listed.highlighted)

    def show_run(self) -> None:
        """Read the folder again when a run has begun or ended."""
        super().show_run()
        if self._going_on != self.host.runs.going_on:
            self._going_on = self.host.runs.going_on
            self._list()

    def idle_actions(self) -> Collection[str]:
        """Leave out what needs a session while there is none, and the way back to this machine while it is shown."""
        idle = () if self.host.saved_session is not None else ("sessions.live",)
        return idle if self._all else (*idle, "sessions.open", "app.compare", "app.note", "app.export", "sessions.find")

    def on_resize(self) -> None:
        """Wrap the text again, once the panes have taken their widths."""
        self.call_after_refresh(self._fill)

    @on(_TextPane.Resized)
    def _fold_again(self) -> None:
        if self._width() != self._folded_to:
            self._show(self._chosen())

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show what a session holds."""
        self._show(event.option_id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open it in the other modes."""
        if event.option_id is not None:
            self.host.show_session(event.option_id)
            if not os.path.lexists(event.option_id):
                self._list()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list while typing."""
        self._words = event.value.split()
        self._fill()

    def on_input_submitted(self) -> None:
        """Keep what was found and go back to the list."""
        self._sessions.focus()

    def leave_input(self) -> None:
        """Forget the search."""
        self._filter.value = ""
        self._filter.display = False
        self._sessions.focus()

    def action_open(self) -> None:
        """Open the chosen session, whatever has the focus."""
        self._sessions.action_select()

    def action_find(self) -> None:
        """Search in names, hosts, titles, tags and notes."""
        self._filter.display = True
        self._filter.focus()

    def action_back(self) -> None:
        """Leave the search."""
        if self._words:
            self.leave_input()

    def action_live(self) -> None:
        """Show this machine again."""
        self.host.show_live()

    def action_resume(self) -> None:
        """Run what the chosen session is missing, after a question."""
        chosen = self._readable()
        if chosen is None:
            return
        (path, session), host = chosen, host_name()
        if in_use(path):
            self.notify("a run is writing it", markup=False)
        elif not session.missing_steps:
            self.notify("it is complete", markup=False)
        elif session.header.host != host:
            words = f"it was measured on {session.header.host}: resume it there"
            self.notify(words, severity="warning", markup=False)
        else:
            dialog = ChoiceDialog(resume_question(session), (("no", "Cancel"), ("run", "Resume")))
            ask_which(self.app, dialog, {"run": partial(self.host.resume_session, path)})

    def action_note(self) -> None:
        """Write a note into the chosen session."""
        chosen = self._readable()
        if chosen is not None and self._may_write():
            self._ask_note(chosen[0], "")

    def _ask_note(self, path: str, begun: str) -> None:
        def answered(text: str) -> None:
            if not self._write(path, text):
                self._ask_note(path, text)  # what was typed is not lost with the disk

        ask(self.app, TextDialog("Note for readers of this session", begun), answered)

    def action_baseline(self) -> None:
        """Mark the chosen session as what others are compared with, or remove the mark."""
        chosen = self._readable()
        if chosen is None or not self._may_write():
            return
        marked = self._base is not None and str(self._base.path) == chosen[0]
        if self._write(chosen[0], "", (f"{WITHDRAWN}{BASELINE}" if marked else BASELINE,)):
            self.notify("No longer the baseline" if marked else "Marked as the baseline", markup=False)

    def action_compare(self) -> None:
        """Compare the chosen session with the baseline; without one, with another that is chosen."""
        chosen, base = self._readable(), self._base
        if chosen is None:
            return
        path = chosen[0]
        if self._all[path].going_on:
            self.notify("It is being measured: compare it when the run is complete", markup=False)
        elif base is None:
            self._ask_other(path)
        elif str(base.path) == path:
            self.notify("This is the baseline: select another session and press c", markup=False)
        else:
            self._compare(path, str(base.path), "Change against the baseline")

    def _ask_other(self, path: str) -> None:
        """Let the user choose the session to compare with, which is not marked as the baseline."""
        others = {
            name: entry.session
            for name, entry in self._all.items()
            if entry.session is not None and name != path and not entry.going_on
        }
        if not others:
            key = first_key_of("app.new-session", self.host.keys)
            self.notify(f"No other session to compare with: {key} begins one, then measure again", markup=False)
            return

        def started(path: str) -> tuple[str, str]:
            session = self._all[path].session
            return "" if session is None else session.header.started, path  # in the same second by their names

        def answered(name: str) -> None:
            older, newer = sorted((path, name), key=started)
            self._compare(newer, older, "Change since the older session")

        if len(others) == 1:
            answered(*others)
            return
        answers = []
        for name, session in others.items():
            words = "; ".join(filter(None, (session.title, _state_text(session, going_on=False))))
            answers.append((name, f"{_when(session.header.started)}  {session.header.host}  {words}"))
        question = "Compare with which one? b marks a session as the baseline for all."
        ask(self.app, ChoiceDialog(question, answers), answered)

    def action_compare_with(self) -> None:
        """Choose what the session is compared with, whatever the baseline is."""
        if (chosen := self._readable()) is not None:
            self._ask_other(chosen[0])

    def _compare(self, path: str, base: str, title: str) -> None:
        """Show a session beside another one."""
        from sizeup.tui.screens.compare_screen import CompareScreen

        with self.host.telling_errors():
            self.app.push_screen(CompareScreen(path, base, title))

    def action_fleet(self) -> None:
        """Ask for a directory of sessions, and show its hosts as a fleet."""

        def answered(typed: str) -> None:
            self.notify(f"Reading {typed}", markup=False, timeout=2)
            self.run_worker(lambda: self._read_fleet(typed), thread=True, exclusive=True)

        ask(self.app, TextDialog("Fleet: directory of session files", str(directory())), answered)

    def _read_fleet(self, folder: str) -> None:
        """Read the sessions of a directory in a thread, and show the fleet."""
        from sizeup.fleet.fleet import build_fleet, fleet_paths, read_fleet
        from sizeup.tui.screens.fleet_screen import FleetScreen

        def show() -> None:
            self.app.clear_notifications()  # "Reading" would lie over the plots
            self.app.push_screen(FleetScreen(fleet))

        try:
            fleet = build_fleet(read_fleet(fleet_paths([folder])))
        except SizeupError as error:
            self.app.call_from_thread(self.notify, str(error), severity="error", markup=False, timeout=10)
            return
        self.app.call_from_thread(show)

    def action_export(self) -> None:
        """Write a report of the session into its folder or into another one."""
        if (chosen := self._readable()) is not None:
            ask_export(self, *chosen)

    def _may_write(self) -> bool:
        if self.host.readonly:
            self.notify("read-only: nothing is written", severity="warning", markup=False)
        return not self.host.readonly

    def _write(self, path: str, text: str, tags: tuple[str, ...] = ()) -> bool:
        with self.host.telling_errors():
            annotate(path, text, tags=tags)
            self._list()
            return True
        return False

    def _readable(self) -> tuple[str, Session] | None:
        """The path and the session under the cursor; where there is none, that is said."""
        entry = self._all.get(self._chosen() or "")
        if entry is None:
            self.notify("no session is selected", markup=False)
        elif entry.session is None:
            self.notify(entry.problem, severity="error", markup=False)
        else:
            return str(entry.path), entry.session
        return None

    def _chosen(self) -> str | None:
        option = self._sessions.highlighted_option
        return None if option is None else option.id

    def _list(self) -> None:
        try:
            # The session that was held is read again, without its samples, once another one is shown.
            known = {path: entry for path, entry in self._all.items() if path != self._held}
            # The cursor follows what the other modes show; on the newest session it goes to what is newest now.
            if self._held != self.host.runs.path or self._chosen() == next(iter(self._all), None):
                self._sessions.highlighted = None
            self._held = self.host.runs.path
            found = entries(known=known, held=self.host.runs.held, opened=self._held)
        except SizeupError as error:
            self._detail.update(f"! {error}")
            return
        self._all = {str(entry.path): entry for entry in found}
        self._base = baseline(found)
        listed = {(entry.path, entry.written_ns) for entry in found}
        self._figures = {key: figures for key, figures in self._figures.items() if key in listed}
        self._fill()

    def _fill(self) -> None:
        """Put those that hold the words into the list, and show the one under the cursor."""
        listed, pane = self._sessions, self._list_pane
        chosen = self._chosen() or self.host.runs.path  # at first the one that the other modes show
        pane.display = bool(self._all)
        self.set_class(not self._all, "-empty")
        pane.styles.height = min(len(self._all) + 3, self.size.height * 2 // 5)  # its frame and the header
        shown = [entry for entry in self._all.values() if entry.mentions(self._words)]
        with self.prevent(OptionList.OptionHighlighted):  # it is shown below, once
            header, *lines = self._lines(shown, listed.size.width - 1)  # for the scroll bar
            self._headings.update(header.stylize("$dim"))
            listed.set_options(Option(line, id=str(one.path)) for line, one in zip(lines, shown, strict=True))
            names = [str(entry.path) for entry in shown]
            listed.highlighted = names.index(chosen) if chosen in names else 0 if names else None
        uncertain = any(one.rate and not one.certain for one in self._figures.values())
        hint = f"Enter opens, * baseline{', ? uncertain' * uncertain}" if names else ""
        pane.border_subtitle = f"{len(shown)} of {len(self._all)}" if self._words else hint
        for chart in self._curves.values():
            chart.display = bool(names)
        if names:
            self._show(self._chosen())
            return
        self._detail_pane.border_title = "" if self._words else "Sessions"
        self._detail.update("No match. Esc shows all sessions." if self._words else self._purpose())
        self.show_band()

    def _purpose(self) -> Content:
        """Return what sessions are for, and how one is listed, while there are none."""
        first = Content.styled("A session keeps the machine, every sample and the verdict of its runs.", "bold $hi")
        rows = "\n".join(_columns(self._width(), 6, " ", *cells) + end for *cells, end in _EXAMPLE)
        keys = [
            Content.assemble((f"\n{first_key_of(name, self.host.keys)}", "bold $acc"), f"  {does}")
            for name, does in _WAYS
        ]
        kept = Content.styled(f"\n\nKept in {_path_text(directory())}", "$dim")
        return Content.assemble(first, (f"\n\n{rows}\n", "$dim"), *keys, kept)

    def _lines(self, shown: Sequence[StoredSession], width: int) -> Iterator[Content]:
        """Yield the header, then each session: when and where, the two figures asked for first, how the run went."""
        for entry in shown:
            if (key := (entry.path, entry.written_ns)) not in self._figures or entry.going_on:
                self._figures[key] = listed_figures(entry)
        most = max((self._figures[one.path, one.written_ns].rate for one in shown), default=0.0)
        hosts = [one.session.header.host.partition(".")[0] for one in self._all.values() if one.session is not None]
        room = min(max(map(cell_len, ("Host", *hosts))), 20, max(width - (46 if width >= _WIDE else 31), 4))
        free = width - room - 46
        bar = min(free, _BAR_COLUMNS) if width >= _WIDE and most else 0
        yield Content(f"{_columns(width, room, ' ', 'Started', 'Host', 'DRAM', 'IOPS' if most else '')}{' ' * bar} Run")
        for entry in shown:
            session, figures = entry.session, self._figures[entry.path, entry.written_ns]
            if session is None:
                yield Content(f"! {session_name(str(entry.path))}  {entry.problem.removeprefix(f'{entry.path}: ')}")
                continue
            mark = "!" if session.damage.malformed or session.damage.too_long else "*" if entry is self._base else " "
            host, when = session.header.host.partition(".")[0], _when(session.header.started)[:16]
            text = _columns(width, room, mark, when, host, figures.dram, figures.iops)
            filled = round(bar * figures.rate / most) if most else 0
            ground = "$s3" if entry is self._base else "$s1" if figures.certain else "$faint"
            status = status_content(figures.run, STATUS_TOKENS.get(figures.run, ""), self.host.look)
            what = f"  {session.title or _state_text(session, going_on=entry.going_on)}" * (free >= _BAR_COLUMNS)
            yield Content.assemble(text, ("▄" * filled, ground), " " * (bar - filled + 1), status, (what, "$dim"))

    def _width(self) -> int:
        return self._detail_pane.size.width - 1  # for the scroll bar

    def _show(self, path: str | None) -> None:
        entry = self._all.get(path or "")
        if entry is None or self._width() < 0:  # the panes have no width yet
            return
        self._folded_to = self._width()
        detail, pane = self._detail, self._detail_pane
        pane.scroll_home(animate=False)
        try:
            session = self.host.runs.held(str(entry.path)) or read_session(str(entry.path))
        except SizeupError as error:  # it may have changed or gone since it was listed
            why = hanging(f"! {str(error).removeprefix(f'{entry.path}: ')}", self._width(), 0, 2)
            pane.border_title, self._shown = session_name(str(entry.path)), None
            for chart in self._curves.values():
                chart.display = False
            detail.update(Content(f"{_path_text(entry.path)}\n{why}"))
            self.show_band()
            return
        advice = session_advice(session, stated=self.host.typed.of_path(str(entry.path)))
        shown = summary(session.machine, session, advice, ("Enter opens it, then w enters one.",))
        self._shown = session.machine, in_console(shown, self.host.keys)
        self.show_band()
        unsaved = unsaved_text(self.host.typed, str(entry.path))
        self._draw(session, self._shown[1])
        stands = f"{_state_text(session, going_on=entry.going_on)}{', the baseline' * (entry is self._base)}"
        title = f"{session.header.host}, {_when(session.header.started)} UTC"
        pane.border_title = frame_title(title, stands, self._width() + 4)
        text = partial(about, session, entry, self._shown[1], self._width(), self.host.look, unsaved)
        rows = self._beside_curve.size.height * (7 if self.has_class("-two") else 10) // 10 - 2
        whole = text(whole=True)
        detail.update(whole if len(whole.plain.splitlines()) <= rows else text(whole=False))

    def _draw(self, session: Session, shown: Summary) -> None:
        """Show a curve of a session beside its text, and on a high screen one below it, or what else was measured."""
        drawn = sorted(panels(session, session.machine, shown.cards), key=lambda p: not isinstance(p.chart, LineChart))
        for at, (name, rows) in enumerate(_DRAWN_ROWS.items()):
            view = self._curves[name]
            view.display = len(drawn) > at and self.size.height >= rows
            if view.display:
                view.border_title = frame_title(drawn[at].title, drawn[at].note, self._width())
                view.show(drawn[at].chart)
        self.set_class(view.display, "-two")


_EXAMPLE = (
    ("Started", "Host", "DRAM", "IOPS", " Run"),
    ("2026-05-04 09:30", "db01", "96 ns", "150k", " VALID  (example)"),
)
"""How sessions are listed."""
_WAYS = (
    ("mode.measure", "the measurements, where r begins a session"),
    ("app.compare", "compares two of them, once they are here"),
    ("sessions.fleet", "reads those of many hosts from a directory"),
)
"""Keys that lead to sessions and from them."""
_DRAWN_ROWS = {"picture": 30, "other": 50}
"""Of the screen, from which on a chart stands beside the text, and another one below it."""
_WIDE = 60
"""Columns from which on a line of the list has the year, the latency of the memory and a bar."""
_BAR_COLUMNS = 40
"""At most; beyond these stands how the run ended, or its title."""


def _columns(width: int, room: int, mark: str, started: str, host: str, dram: str, iops: str) -> str:
    """Return the cells of a line, that of the host so wide."""
    days = 16 if width >= _WIDE else 11
    short = host if cell_len(host) <= room else f"{host[: room - 1]}…"
    return f"{mark} {started[-days:]:{days}}  {short:{room}}  {f'{dram:>7}  ' if width >= _WIDE else ''}{iops:>6} "


def about(
    session: Session, entry: StoredSession, shown: Summary, width: int, look: ScreenLook, unsaved: str, *, whole: bool
) -> Content:
    """What a session is, what was noted, its cards and ``whole`` findings; ``unsaved`` is what only others show."""
    tags = " ".join(f"#{tag}" for tag in session.tags if tag != BASELINE)
    lines: list[Content | str] = [
        *filter(None, (session.title, tags)),
        *(hanging(_note(note), width, 0, 2) for note in session.notes if note.text or note.title),
        *(hanging(f"! {sentence}", width, 0, 2) for sentence in session.damage.sentences()),
        *([hanging(f"! {unsaved}", width, 0, 2)] if unsaved else []),
    ]
    notes = 0 if whole else sum(one.severity is Severity.INFO for _, one in shown.findings)
    run = run_status(session)
    words = "  ".join(filter(None, (run.grade.value, run.sentence)))
    lines += [
        *_resources(shown, width),
        "",
        Content(hanging(f"Run        {words}", width, 0, 11)).stylize("bold", 0, 3),
        "",
        *([] if shown.findings else ["No findings"]),
        *(
            finding_lines(one, look, width, 2 * whole)
            for _, one in shown.findings
            if not notes or one.severity is not Severity.INFO
        ),
        *([Content.styled(f" INFO  {plural(notes, 'note')}", "$dim")] if notes else []),
        "",
        Content.styled(_path_text(entry.path), "$dim"),
    ]
    return Content("\n").join(Content(one) if isinstance(one, str) else one for one in lines)


def _resources(shown: Summary, width: int) -> list[Content]:
    """Return what was measured of each resource, else what it is, with its share and status; nothing for an unknown."""
    lines = []
    for view in shown.cards:
        share = view.judged.share
        status = "" if share is None else f"{share_cell(share)}  {view.label}"
        texts = view.found.texts or view.detected
        if texts:
            name, text = Content.styled(f"{view.title:11}", "bold"), fitted(texts, width - 13 - cell_len(status))
            gap = " " * (width - 11 - cell_len(text) - cell_len(status))
            lines.append(name + Content(f"{text}{gap}") + Content.styled(status, f"bold ${status_token(view.status)}"))
    return lines


def resume_question(session: Session) -> str:
    """What a resumed run would do, asked before it does."""
    steps = session.missing_steps
    seconds = sum(step.estimated_seconds for step in steps)
    listed = ""
    for step in steps:
        hazards = ", ".join(hazard.value for hazard in step.hazards)
        listed += f"  {step.title}; touches {step.touches}" + (f" ({hazards})" if hazards else "") + "\n"
    return (
        f"Run what this session is missing? {plural(len(steps), 'step')}, about {format_ns(seconds * 1e9)}:\n"
        f"{listed}Results are appended to its file."
    )


def _state_text(session: Session, *, going_on: bool) -> str:
    if going_on:
        return GOING_ON
    held = "" if session.missing_steps else f"{plural(len(session.steps), 'step')}, "
    return f"{held}{state(session)}"


def _note(note: NoteRecord) -> str:
    who = f"{_when(note.written)} UTC{f', {note.author}' if note.author else ''}:"
    marked = " ".join(f"#{tag}" for tag in note.tags)
    title = f"titled {note.title}" if note.title else ""
    return " ".join(filter(None, (who, title, note.text, marked)))


def _path_text(path: Path) -> str:
    """The path with the home directory as people write it."""
    home = f"{Path.home()}{os.sep}"
    return f"~/{str(path).removeprefix(home)}" if str(path).startswith(home) else str(path)


def _when(started: str) -> str:
    """An instant of the file as people write it, still in UTC."""
    return started.replace("T", " ").removesuffix("Z")
