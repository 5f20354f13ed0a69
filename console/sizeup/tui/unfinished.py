"""The sessions that a user is reminded of at the start: one that was interrupted, and the one that was written last."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from sizeup.errors import SizeupError
from sizeup.session.store import directory, latest, session_name, start_of, unfinished
from sizeup.text import plural

_RECENT_SECONDS = 24 * 3600.0
"""Older ones are left to the list of sessions."""


def unfinished_session_text() -> str:
    """Return what to say of the latest unfinished session that no run is writing; empty where there is none."""
    for path in unfinished(directory()):
        from sizeup.session.writer import in_use

        if time.time() - path.stat().st_mtime < _RECENT_SECONDS and not in_use(str(path)):
            # As the list of sessions has it, so that it can be found there.
            started = start_of(path).replace("T", " ").removesuffix("Z")
            of = f" of {started} UTC" if started else ""
            return f"Unfinished session{of}: press 5 to view it, there R to resume it"
    return ""


def running_session(besides: str = "") -> Path | None:
    """Return a session that a run writes at this moment, other than ``besides``; None where there is none."""
    from sizeup.session.writer import in_use

    return next((path for path in unfinished(directory()) if str(path) != besides and in_use(str(path))), None)


class OfferedSession:
    """The session that can be opened while this console measured nothing, and whether a run writes it."""

    def __init__(self, key: str) -> None:
        self._key = key
        self.text = ""
        """What to say of it; empty where there is none."""
        self.running: Path | None = None
        """The session that a run writes; None where none does."""

    def find(self) -> str:
        """Look for it in the store; the value is what to say of an unfinished session."""
        with contextlib.suppress(OSError, SizeupError):  # a store that cannot be read is the Sessions mode's to report
            self.running = running_session()
            self.text = last_session_text(self._key, self.running)
            return unfinished_session_text()
        return ""

    def has_ended(self) -> bool:
        """Look again at the run that goes on; whether it has ended."""
        from sizeup.session.writer import in_use

        if self.running is None or in_use(str(self.running)):
            return False
        self.find()
        return True


def last_session_text(key: str, running: Path | None) -> str:
    """Return the latest session with the key that opens it and its age, or its run; empty where there is none."""
    path = latest()
    if running is not None:
        opened = f", {key} opens it" if running == path else ""
        return f"run in progress in {session_name(str(running))}{opened}"
    if path is None:
        return ""
    name = session_name(str(path))
    minutes = max(time.time() - path.stat().st_mtime, 0.0) / 60
    for size, unit in ((24 * 60, "day"), (60, "hour"), (1, "minute")):
        if minutes >= size:
            return f"{key} opens {name}, {plural(int(minutes // size), unit)} ago"
    return f"{key} opens {name}, just now"
