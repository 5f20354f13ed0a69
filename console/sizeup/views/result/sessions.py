"""The sessions of a folder as a table and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.session.store import StoredSession, session_name
from sizeup.session.value import Session
from sizeup.text import plural
from sizeup.units import format_decimal_bytes
from sizeup.views.cards.measured import measured_texts
from sizeup.views.run.run_status import run_status

SCHEMA = "sizeup.sessions/1"
GOING_ON = "being measured now"
"""How a session stands that a run is writing."""
_NOW = "now"
_NOT_VALID = "!"
"""In place of a figure that was measured and is not valid."""


class ListedFigures(Struct, frozen=True):
    """What a list of sessions has of each: ``?``: did not converge or uncertain, ``!``: not valid."""

    dram: str = ""
    """The latency of local memory."""
    iops: str = ""
    """The highest random IOPS."""
    run: str = ""
    """``PASS``, ``WARN`` or ``FAIL``; ``now`` while it is measured, a dash where nothing was."""
    rate: float = 0.0
    """The same IOPS as a number, 0 where there is none."""
    certain: bool = False
    """Whether the IOPS are valid."""


def listed_figures(entry: StoredSession) -> ListedFigures:
    """Return the figures of a session for its line in a list."""
    session = entry.session
    if session is None:
        return ListedFigures()
    memory, storage = (measured_texts(session, card) for card in ("memory", "storage"))
    run = _NOW if entry.going_on else run_status(session).grade.value or UNKNOWN
    dram, iops = (found.brief or _NOT_VALID * found.void for found in (memory, storage))
    return ListedFigures(dram, iops, run, storage.rate, bool(storage.rate) and storage.valid and not storage.open)


def state(session: Session) -> str:
    """How the session ended and what it is missing, in words."""
    ended = session.end.status if session.end is not None else "interrupted"
    missing, gently = len(session.missing_steps), "" if session.gentle is None else ", measured gently"
    planned = [] if session.plan is None else [step.id for step in session.plan.steps]
    lost = {step.id for step in session.missing_steps} | {
        step for step, run in session.steps.items() if not run.finished
    }
    if ended == "complete" and lost:  # of an earlier run of the session as well
        return f"{len(lost)} of {len({*planned, *session.steps})} steps did not finish{gently}"
    if not missing:
        return ended + gently
    measured = sum(run.finished for run in session.steps.values())
    return f"{plural(measured, 'step')} measured, {missing} not ({ended}{gently})"


def sessions_table(entries: Sequence[StoredSession]) -> Table:
    """One row per session, the latest first."""
    rows = []
    for entry in entries:
        name = session_name(entry.path.name)
        if entry.session is None:
            rows.append((name, "", format_decimal_bytes(entry.size_bytes), entry.problem))
            continue
        session = entry.session
        stands = GOING_ON if entry.going_on else state(session)
        what = [session.title, " ".join(f"#{tag}" for tag in session.tags), stands]
        size = format_decimal_bytes(entry.size_bytes)
        rows.append((name, session.header.started, size, "; ".join(filter(None, what))))
    columns = (Column("Session"), Column("Started"), Column("Size", numeric=True), Column("What"))
    return Table("Sessions", columns, tuple(rows))


def sessions_data(entries: Sequence[StoredSession]) -> dict[str, Any]:
    """Every session in base units, for ``--json``."""
    return {"schema": SCHEMA, "sessions": [_entry_data(entry) for entry in entries]}


def _entry_data(entry: StoredSession) -> dict[str, Any]:
    data: dict[str, Any] = {"path": str(entry.path), "size_bytes": entry.size_bytes, "problem": entry.problem}
    if entry.session is not None:
        session = entry.session
        data |= {
            "id": session.header.id,
            "host": session.header.host,
            "started": session.header.started,
            "title": session.title,
            "tags": list(session.tags),
            "notes": [note.text for note in session.notes if note.text],
            "status": session.end.status if session.end is not None else "running" if entry.going_on else "interrupted",
            "steps": list(session.steps),
            "missing_steps": [step.id for step in session.missing_steps],
        }
    return data
