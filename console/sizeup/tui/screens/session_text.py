"""What the Sessions mode says of a session and of two sessions beside each other, in words."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from rich.cells import cell_len
from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from sizeup.charts.table import Table
from sizeup.compare.comparison import Comparison
from sizeup.model.plan import Step
from sizeup.report.table import fits, table_lines
from sizeup.session.records import NoteRecord
from sizeup.session.store import BASELINE, StoredSession
from sizeup.session.value import Session
from sizeup.text import plural
from sizeup.tui.exports import session_name
from sizeup.tui.option_text import by_keys
from sizeup.tui.widgets.facts import indented
from sizeup.tui.widgets.lists import hanging
from sizeup.units import format_ns
from sizeup.views.comparison import (
    differences_table,
    figure_sentences,
    machines_sentence,
    metrics_table,
    nothing_shared,
)
from sizeup.views.conclusion import conclusion_lines, headline_table, side_lines
from sizeup.views.executive_summary import executive_summary
from sizeup.views.sessions import GOING_ON, state

_NO_WORKLOAD = "no workload in this session. Enter opens it, then w enters one"


def line(entry: StoredSession, *, baseline: bool, going_on: bool, width: int) -> Text:
    """Two lines of the list: when and where, and how it stands; the time is UTC."""
    text = Text(no_wrap=True, overflow="ellipsis")
    if entry.session is None:
        problem = entry.problem.removeprefix(f"{entry.path}: ")
        return text.append(f"! {session_name(str(entry.path))}\n").append(f"  {problem}")
    session = entry.session
    host, when = session.header.host, _when(session.header.started)
    short = host if cell_len(f"{when}  {host}") <= width else host.partition(".")[0]
    text.append(f"{when}  {short}\n")
    tags = [f"#{tag}" for tag in session.tags if tag != BASELINE or baseline]
    damaged = "! damaged" if session.damage.malformed or session.damage.too_long else ""
    noted = next((note.text for note in reversed(session.notes) if note.text), "")
    stands = _state_text(session, going_on=going_on)
    words = "; ".join(filter(None, (" ".join(tags), damaged, session.title, stands, noted)))
    return text.append(f"  {words}")


def choice(session: Session) -> str:
    """Return one line by which a session is chosen: when and where, its title, and how it stands."""
    words = "; ".join(filter(None, (session.title, _state_text(session, going_on=False))))
    return f"{_when(session.header.started)}  {session.header.host}  {words}"


def unreadable(entry: StoredSession, problem: str, width: int) -> Group:
    """A file that is no session, or not one for this version, and why."""
    why = hanging(f"! {problem.removeprefix(f'{entry.path}: ')}", width, 0, 2)
    return Group(Text(session_name(str(entry.path)), style="bold"), Text(f"{_path_text(entry.path, width)}\n{why}"))


def about(
    session: Session,
    path: Path,
    width: int,
    keymap: Mapping[str, str],
    *,
    baseline: bool,
    going_on: bool,
    unsaved: str = "",
) -> Group:
    """What a session is, what was noted, and its summary; ``unsaved`` is what it lacks of what is shown elsewhere."""
    header = session.header
    stands = _state_text(session, going_on=going_on) + (", the baseline" if baseline else "")
    parts: list[Text | Padding] = [
        Text(f"{header.host}, {_when(header.started)} UTC", style="bold"),
        Text(f"{stands}\n{_path_text(path, width)}"),
    ]
    parts.extend(Text(hanging(_note(note), width, 0, 2)) for note in session.notes)
    parts.extend(Text(hanging(f"! {sentence}", width, 0, 2)) for sentence in session.damage.sentences())
    if unsaved:
        parts.append(Text(hanging(f"! {unsaved}", width, 0, 2)))
    rest, price = ": Enter opens it, e exports it", "in Sizing: Enter opens it, then 4"
    for answer in executive_summary(session, rest, price=price, workload=_NO_WORKLOAD):
        parts.append(Text(f"\n{answer.question}", style="bold"))
        parts.extend(indented(f"  {by_keys(statement, keymap)}") for statement in answer.statements)
    return Group(*parts)


def compared(comparison: Comparison, width: int, *, statistics: bool = False) -> Group:
    """Two sessions beside each other: what follows, their named figures, their machines, and what may mislead.

    ``statistics`` shows every metric with its interval in place of the named figures.
    """
    parts: list[Text | Padding] = []
    named = headline_table(comparison)
    for number, line in enumerate(conclusion_lines(comparison)):
        parts.append(Text(hanging(line, width, 0, 2), style="" if number else "bold"))
    parts.append(Text("\n".join(("", *side_lines(comparison))) if parts else "\n".join(side_lines(comparison))))
    if statistics or not named.rows:
        parts += _statistics(comparison, width)
    else:
        parts += _figures(named, width)
    machines = differences_table(comparison)
    if machines.rows:
        parts += [Text(f"\n{machines.title}", style="bold"), Text("\n".join(table_lines(machines, width)))]
    else:
        parts.append(Text(f"\n{machines_sentence(comparison)}"))
    if comparison.warnings:
        parts.append(Text("\nCaveats", style="bold"))
        parts.extend(Text(hanging(f"! {warning}", width, 0, 2)) for warning in comparison.warnings)
    return Group(*parts)


def _figures(named: Table, width: int) -> list[Text | Padding]:
    """Return the named figures as a table, or where it does not fit two lines each."""
    parts: list[Text | Padding] = [Text(f"\n{named.title}", style="bold")]
    if fits(named, width):
        return [*parts, Text("\n".join(table_lines(named, width)))]
    for row in named.rows:
        _, figure, first, second, change, *_, verdict = row
        parts += [indented(f"  {figure}: {change}, {verdict}"), indented(f"    A {first}, B {second}")]
    return parts


def _statistics(comparison: Comparison, width: int) -> list[Text | Padding]:
    """Return every metric with its interval and p-value."""
    metrics = metrics_table(comparison)
    if not metrics.rows:
        return [Text(f"\n{hanging(f'! {nothing_shared(comparison)}', width, 0, 2)}")]
    parts: list[Text | Padding] = [Text("\nStatistics", style="bold")]
    if fits(metrics, width):
        return [*parts, Text("\n".join(table_lines(metrics, width)))]
    for metric, words in figure_sentences(comparison):
        parts += [indented(f"  {metric}"), indented(f"    {words}")]
    return [*parts, indented(f"  {metrics.note}")]


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
