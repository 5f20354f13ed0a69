"""The sessions that the start names: a run in progress, one that ended unseen, an interrupted one."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from sizeup.errors import SizeupError
from sizeup.session.store import directory, ended_without_terminal, latest, session_name, start_of, unfinished

_RECENT_SECONDS = 24 * 3600.0
"""Older ones are left to the list of sessions."""


def interrupted_session() -> Path | None:
    """Return the latest unfinished session of the last day that no run is writing; None where there is none."""
    from sizeup.session.writer import in_use

    return next((path for path in unfinished(directory()) if _is_recent(path) and not in_use(str(path))), None)


def _is_recent(path: Path) -> bool:
    return time.time() - path.stat().st_mtime < _RECENT_SECONDS


def running_session(besides: str = "") -> Path | None:
    """Return a session that a run writes at this moment, other than ``besides``; None where there is none."""
    from sizeup.session.writer import in_use

    return next((path for path in unfinished(directory()) if str(path) != besides and in_use(str(path))), None)


class OfferedSession:
    """What a user who comes back should know of: a run in progress, one that ended unseen, or was interrupted."""

    def __init__(self, key: str, resume_key: str) -> None:
        self._key = key
        self._resume_key = resume_key
        self.notice = ""
        """What to say of it first; empty where there is none."""
        self.name = ""
        """The latest session; empty where there is none."""
        self.running: Path | None = None
        """The session that a run writes; None where none does."""
        self.interrupted: Path | None = None
        """The session that can be resumed; None where none is spoken of."""

    def find(self) -> None:
        """Look for it in the store."""
        self.notice, self.interrupted = "", None
        with contextlib.suppress(OSError, SizeupError):  # a store that cannot be read is the Sessions mode's to report
            self.running, last = running_session(), latest()
            self.name = "" if last is None else session_name(str(last))
            if self.running is not None:
                shows = f"{self._key} or " if self.running == last else ""
                self.notice = f"{_run_of(self.running)} in progress; {shows}sizeup session follow shows it"
            elif last is not None and _is_recent(last) and (ended := ended_without_terminal(last)):
                how = "finished" if ended == "complete" else f"was {ended}"
                self.notice = f"{_run_of(last)} {how} without its terminal; {self._key} opens it"
            elif (path := interrupted_session()) is not None:
                self.interrupted = path
                self.notice = f"{_run_of(path)} was interrupted; {self._resume_key} runs its missing steps"

    def has_ended(self) -> bool:
        """Look again at the run that goes on; whether it has ended."""
        from sizeup.session.writer import in_use

        if self.running is None or in_use(str(self.running)):
            return False
        self.find()
        return True


def _run_of(path: Path) -> str:
    """Return a run by its start, as the list of sessions has it."""
    started = start_of(path)[:16].replace("T", " ")
    return f"Run of {started} UTC" if started else "Run"
