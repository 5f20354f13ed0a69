"""The machines of the sessions of the store, to hold another one against."""

from __future__ import annotations

from sizeup.errors import UsageError
from sizeup.session import store
from sizeup.session.reader import read_session
from sizeup.session.store import entries
from sizeup.views.machine.difference import OtherMachine


def baseline() -> str | None:
    """The path of the session that others are compared with; None where none is marked."""
    marked = store.baseline(entries())
    return None if marked is None else str(marked.path)


def choices(shown: str) -> list[tuple[str, str]]:
    """Path and line of each session that holds a machine, the latest first, without the one that is ``shown``."""
    found = []
    for entry in entries():
        session = entry.session
        if session is not None and session.machine is not None and str(entry.path) != shown:
            description = "; ".join(filter(None, (" ".join(f"#{tag}" for tag in session.tags), session.title)))
            line = f"{session.header.host} {_day(session.header.started)}  {description}".rstrip()
            found.append((str(entry.path), line))
    return found


def machine_of(path: str) -> OtherMachine:
    """The machine of a session, with the name to call it by."""
    session = read_session(path, samples=False)
    if session.machine is None:
        raise UsageError(f"{path}: this session has no machine: it ended before the machine was read")
    return OtherMachine(f"{session.header.host} {_day(session.header.started)}", session.machine)


def _day(started: str) -> str:
    return started[:16].replace("T", " ")
