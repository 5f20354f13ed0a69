"""The sessions of a folder as a table and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sizeup.charts.table import Column, Table
from sizeup.session.store import StoredSession, session_name
from sizeup.session.value import Session
from sizeup.units import format_decimal_bytes

SCHEMA = "sizeup.sessions/1"
GOING_ON = "being measured now"
"""How a session stands that a run is writing."""


def state(session: Session) -> str:
    """How the session ended and what it is missing, in words."""
    ended = session.end.status if session.end is not None else "interrupted"
    missing = len(session.missing_steps)
    if not missing or session.plan is None:
        return ended
    of = f"{missing} of {len(session.plan.steps)} steps"
    return f"{of} did not finish" if ended == "complete" else f"{ended}, lacks {of}"


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
