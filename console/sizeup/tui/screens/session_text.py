"""What the Sessions mode says of a session, in words."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text
from textual.content import Content

from sizeup.charts.share_bar import ScreenLook
from sizeup.model.plan import Step
from sizeup.session.records import NoteRecord
from sizeup.session.store import BASELINE, StoredSession, session_name
from sizeup.session.value import Session
from sizeup.sizing.session_advice import session_advice
from sizeup.text import capitalized, plural
from sizeup.tui.option_text import in_console
from sizeup.tui.widgets.band import small_badge
from sizeup.tui.widgets.lists import hanging
from sizeup.units import format_ns
from sizeup.views.cards.cards import share_cell
from sizeup.views.cards.table import fitted
from sizeup.views.result.band import status_token
from sizeup.views.result.sessions import GOING_ON, ListedFigures, listed_figures, state
from sizeup.views.result.summary import SEVERITY_WORDS, Summary, summary
from sizeup.views.run.run_status import run_status

_WORKLOAD = "Enter opens it, then w enters one."
_MOST_FINDINGS = 6
_WITH_YEAR = 50
"""Columns from which on a line of the list has the year."""
_WITH_LATENCY = 44
"""Columns from which on it has the latency of the memory."""


def list_header(width: int) -> str:
    """Return the titles above the list of sessions."""
    return _columns(width, " ", "Started", "Host", "DRAM", "IOPS", "Run")


class SessionLines:
    """The lines of the list; what was measured is worked out once for each file as it was written last."""

    def __init__(self) -> None:
        self._figures: dict[tuple[Path, int], ListedFigures] = {}

    def line(self, entry: StoredSession, width: int, *, baseline: bool) -> Text:
        """Return a session in one line: when and where, the two figures asked for first, and how the run went."""
        text = Text(no_wrap=True, overflow="ellipsis")
        if entry.session is None:
            problem = entry.problem.removeprefix(f"{entry.path}: ")
            return text.append(f"! {session_name(str(entry.path))}  {problem}")
        key, session = (entry.path, entry.written_ns), entry.session
        if key not in self._figures or entry.going_on:
            self._figures[key] = listed_figures(entry)
        figures, when = self._figures[key], _when(session.header.started)
        started = when[:16] if width >= _WITH_YEAR else when[5:16]
        damaged = session.damage.malformed or session.damage.too_long
        mark = "!" if damaged else "*" if baseline else " "
        host = session.header.host.partition(".")[0]
        return text.append(_columns(width, mark, started, host, figures.dram, figures.iops, figures.run))


def _columns(width: int, mark: str, started: str, host: str, dram: str, iops: str, run: str) -> str:
    """Return the cells of a line, the host as wide as the others leave room."""
    cells = [mark, f"{started:{16 if width >= _WITH_YEAR else 11}}"]
    after = [*([f"{dram:>7}"] if width >= _WITH_LATENCY else []), f"{iops:>6}", f"{run:4}"]
    room = max(width - sum(map(cell_len, (*cells, *after))) - len(cells) - len(after), 4)
    short = host if cell_len(host) <= room else f"{host[: room - 1]}…"
    return " ".join((*cells, f"{short:{room}}", *after))


def choice(session: Session) -> str:
    """Return one line by which a session is chosen: when and where, its title, and how it stands."""
    words = "; ".join(filter(None, (session.title, _state_text(session, going_on=False))))
    return f"{_when(session.header.started)}  {session.header.host}  {words}"


def unreadable(entry: StoredSession, problem: str, width: int) -> Group:
    """A file that is no session, or not one for this version, and why."""
    why = hanging(f"! {problem.removeprefix(f'{entry.path}: ')}", width, 0, 2)
    return Group(Text(session_name(str(entry.path)), style="bold"), Text(f"{_path_text(entry.path, width)}\n{why}"))


def session_summary(session: Session, keymap: Mapping[str, str]) -> Summary:
    """Return what is concluded from a session."""
    return in_console(summary(session.machine, session, session_advice(session), (_WORKLOAD,)), keymap)


def about(
    session: Session,
    entry: StoredSession,
    shown: Summary,
    width: int,
    look: ScreenLook,
    *,
    baseline: bool,
    unsaved: str = "",
) -> Content:
    """What a session is, what was noted, and its cards; ``unsaved`` is what it lacks of what is shown elsewhere."""
    header = session.header
    stands = _state_text(session, going_on=entry.going_on) + (", the baseline" if baseline else "")
    tags = " ".join(f"#{tag}" for tag in session.tags if tag != BASELINE)
    lines: list[Content | str] = [
        Content.styled(f"{header.host}, {_when(header.started)} UTC", "bold"),
        *filter(None, (session.title, f"{stands}{f'  {tags}' if tags else ''}", _path_text(entry.path, width))),
        *(hanging(_note(note), width, 0, 2) for note in session.notes if note.text or note.title),
        *(hanging(f"! {sentence}", width, 0, 2) for sentence in session.damage.sentences()),
        *([hanging(f"! {unsaved}", width, 0, 2)] if unsaved else []),
    ]
    run = run_status(session)
    words = "  ".join(filter(None, (run.grade.value, run.sentence)))
    lines += [
        "",
        *_resources(shown, width),
        "",
        hanging(f"Run  {words}", width, 1, 6),
        *_findings(shown, look, width),
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
            name, text = Content.styled(f" {view.title:10}", "bold"), fitted(texts, width - 15 - cell_len(status))
            gap = " " * (width - 13 - cell_len(text) - cell_len(status))
            lines.append(name + Content(f"{text}{gap}") + Content.styled(status, f"bold ${status_token(view.status)}"))
    return lines


def _findings(shown: Summary, look: ScreenLook, width: int) -> list[Content]:
    """Return the gravest findings, each as its title."""
    listed = shown.findings[:_MOST_FINDINGS]
    lines = [
        Content(""),
        Content.styled(f" {plural(len(shown.findings), 'finding') if listed else 'No findings'}", "bold"),
    ]
    for _, finding in listed:
        word = SEVERITY_WORDS[finding.severity]
        badge = small_badge(word, status_token(word), look)
        title = hanging(capitalized(finding.title), width, badge.cell_length + 3, badge.cell_length + 3).lstrip()
        lines.append(Content.assemble(" ", badge, f"  {title}"))
    more = len(shown.findings) - len(listed)
    return [*lines, *([Content(f"         {more} more: Enter opens it")] if more else [])]


def resume_question(session: Session) -> str:
    """What a resumed run would do, asked before it does."""
    steps = session.missing_steps
    seconds = sum(step.estimated_seconds for step in steps)
    listed = "\n".join(f"  {_step(step)}" for step in steps)
    return (
        f"Run what this session is missing? {plural(len(steps), 'step')}, about {format_ns(seconds * 1e9)}:\n"
        f"{listed}\nResults are appended to its file."
    )


def _step(step: Step) -> str:
    hazards = ", ".join(hazard.value for hazard in step.hazards)
    return f"{step.title}; touches {step.touches}" + (f" ({hazards})" if hazards else "")


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


def _path_text(path: Path, width: int) -> str:
    """The path with the home directory as people write it; the name on a line of its own where it must be."""
    home = str(Path.home())
    text = str(path)
    short = f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text
    folder, _, last = short.rpartition("/")
    return short if cell_len(short) <= width else f"{folder}/\n{last}"


def _when(started: str) -> str:
    """An instant of the file as people write it, still in UTC."""
    return started.replace("T", " ").removesuffix("Z")
