"""The store of sessions: one directory under the XDG state directory, one file a session."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from sizeup import files
from sizeup.errors import SizeupError, UsageError
from sizeup.text import one_line

if TYPE_CHECKING:
    from sizeup.session.value import Session

SUFFIX = ".sizeup.jsonl"
BASELINE = "baseline"
"""The tag of what others are compared with; the mark that was made last counts."""

LATEST = "latest"
"""The name that stands for the session that was written last."""

_TAIL_BYTES = 4096
_MOST_LOOKED_AT = 20
"""Of more sessions in which nothing began, the latest is shown."""
_FIRST_LINES = 100
"""Before its first step a session has a few lines: header, machine, findings and plan."""
_PLAN, _STEP_START, _END = (b'{"kind":"%b"' % kind for kind in (b"plan", b"step-start", b"end"))
_STATED = b'"stated":[{'


def directory() -> Path:
    """Return ``$XDG_STATE_HOME/sizeup/sessions`` or its equivalent on this system; it may not exist yet."""
    from platformdirs import user_state_path

    return user_state_path("sizeup", appauthor=False) / "sessions"


def utc_text(moment: datetime) -> str:
    """Return a moment as sessions record it: ISO 8601 in UTC, to the second."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def new_path(host: str, started: datetime, folder: Path | None = None) -> Path:
    """A name no file has yet, such as ``db01-20260131T093000Z.sizeup.jsonl``; makes the folder."""
    folder = directory() if folder is None else folder
    try:
        files.make_directory(str(folder))
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot keep sessions here: {error.strerror}; choose a file with -o, or set XDG_STATE_HOME"
        ) from error
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", host).strip(".")[:64] or "host"
    return free_path(folder / f"{name}-{started.astimezone(UTC):%Y%m%dT%H%M%SZ}{SUFFIX}")


def free_path(wanted: Path) -> Path:
    """Return ``wanted``, with a number added to its name where it exists."""
    return Path(files.free_path(str(wanted.parent), wanted.name.removesuffix(SUFFIX), SUFFIX))


def unfinished(folder: Path) -> list[Path]:
    """The sessions in a folder whose last line is no end, last written first: going on, or interrupted."""
    found = []
    for path in last_written_first(folder):
        with suppress(PermissionError):  # another user's, and not for us to go on with
            found += [] if _end(path) else [path]
    return found


def session_name(path: str) -> str:
    """Return the name of a session by which commands find it: that of its file without folder and suffix."""
    return os.path.basename(path).removesuffix(".gz").removesuffix(SUFFIX)


def command_name(path: str) -> str:
    """Return what a command calls a session: its name where it is in the store, else its quoted path."""
    kept = os.path.dirname(os.path.abspath(path)) == str(directory())
    return session_name(path) if kept else shlex.quote(path)


def latest(folder: Path | None = None) -> Path | None:
    """Return the session of a folder that was written last, but for runs that measured nothing; None without any."""
    found = last_written_first(directory() if folder is None else folder)
    return next((path for path in found[:_MOST_LOOKED_AT] if not _is_empty(path)), next(iter(found), None))


def _is_empty(path: Path) -> bool:
    """Return whether all that a run planned was refused before its first step, and no input was saved with it."""
    try:
        with path.open("rb") as file:
            lines = list(itertools.islice(file, _FIRST_LINES))
    except OSError:
        return False
    planned, ended = (any(line.startswith(mark) for line in lines) for mark in (_PLAN, _END))
    held = any(line.startswith(_STEP_START) or _STATED in line for line in lines)
    return planned and ended and not held


def last_written_first(folder: Path) -> list[Path]:
    """Return the sessions of a folder, the one that was written last first; empty where there is no folder."""
    try:
        named = (entry for entry in os.scandir(folder) if entry.name.endswith(SUFFIX) and entry.is_file())
        found = [(about.st_mtime_ns, Path(entry.path)) for entry in named if (about := entry.stat()).st_size > 0]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{folder}: cannot list the sessions: {error.strerror}") from error
    return [path for _, path in sorted(found, reverse=True)]


def start_of(path: Path) -> str:
    """Return when a session was started, by its first line; empty where that has no time."""
    try:
        with path.open("rb") as file:
            return one_line(str(msgspec.json.decode(file.readline(_TAIL_BYTES))["started"]), 40)
    except (OSError, msgspec.MsgspecError, ValueError, TypeError, KeyError):
        return ""


def _end(path: Path) -> dict[str, Any]:
    """Return the end of a session, its last whole line other than a note; empty where that is none.

    It is a short line, so the tail of the file is enough.
    """
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
        *lines, torn = file.read(_TAIL_BYTES).split(b"\n")
    records = (line for line in reversed(lines) if not line.startswith(b'{"kind":"note"'))
    try:
        record = msgspec.json.decode(next(records), type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, StopIteration):
        return {}
    return record if torn == b"" and record.get("kind") == "end" else {}


def ended_without_terminal(path: Path) -> str:
    """Return how a run ended that had lost its terminal: ``complete``; empty for any other session."""
    end = _end(path)
    return one_line(str(end.get("status", "")), 40) if end.get("terminal_lost_ns") is not None else ""


class StoredSession(Struct, frozen=True):
    """One file of a folder of sessions."""

    path: Path
    size_bytes: int
    written_ns: int
    """When the file was last written, since the epoch."""
    session: Session | None
    """Its outline, without samples; None where it cannot be read."""
    problem: str = ""
    """Why it cannot be read."""

    @property
    def unfinished(self) -> bool:
        """Whether a plan is waiting to be completed: interrupted, canceled, or with steps that failed."""
        return self.session is not None and bool(self.session.missing_steps)

    @property
    def going_on(self) -> bool:
        """Whether a run is writing it at this moment."""
        from sizeup.session.writer import in_use

        return self.session is not None and self.session.end is None and in_use(str(self.path))

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether every word occurs in its name, host, title, tags, notes or probes, whatever the case."""
        text = self.path.name
        if self.session is not None:
            header = self.session.header
            parts = [header.host, header.id, header.started, self.session.title, *self.session.tags]
            parts += [note.text for note in self.session.notes]
            parts += self.session.steps
            text = " ".join((text, *parts))
        return all(word.lower() in text.lower() for word in words)


def entries(
    folder: Path | None = None,
    known: Mapping[str, StoredSession] = MappingProxyType({}),
    held: Callable[[str], Session | None] | None = None,
    opened: str = "",
) -> list[StoredSession]:
    """Every session of a folder, the latest first, and the one ``opened`` elsewhere; unreadable ones with the reason.

    What is ``known`` by its path is read again only where its size or its time has changed; what is ``held`` already,
    never.
    """
    folder = directory() if folder is None else folder
    try:
        names = [name for name in os.listdir(folder) if name.endswith((SUFFIX, f"{SUFFIX}.gz"))]
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise UsageError(f"{folder}: cannot list the sessions: {error.strerror}") from error
    from sizeup.session.reader import read_session

    found, other = [], Path(opened)
    elsewhere = [other] if other.is_file() and other.resolve().parent != folder.resolve() else []
    for path in (*(folder / name for name in names), *elsewhere):
        entry, size, written = known.get(str(path)), 0, 0
        try:
            size, written = (about := path.stat()).st_size, about.st_mtime_ns
            if entry is None or (entry.size_bytes, entry.written_ns) != (size, written):
                session = None if held is None else held(str(path))
                entry = StoredSession(path, size, written, session or read_session(str(path), samples=False))
        except OSError as error:
            entry = StoredSession(path, 0, 0, None, f"{path}: {error.strerror}")
        except SizeupError as error:
            entry = StoredSession(path, size, written, None, str(error))
        found.append(entry)
    return sorted(
        found, key=lambda entry: (entry.session.header.started if entry.session else "", entry.written_ns), reverse=True
    )


def recent_sessions(known: Mapping[tuple[str, int], Session], besides: str) -> dict[tuple[str, int], Session]:
    """Return the outlines of the sessions that were written last, the latest first, by path and time.

    What is ``known`` is not read again; what cannot be read, and the session at ``besides``, is left out.
    """
    from sizeup.session.reader import read_session

    found: dict[tuple[str, int], Session] = {}
    paths: list[Path] = []
    with suppress(SizeupError):  # a folder that cannot be listed is the Sessions mode's to report
        paths = last_written_first(directory())
    for path in paths[:_MOST_LOOKED_AT]:
        if str(path) == besides:
            continue
        with suppress(OSError, SizeupError):
            key = str(path), path.stat().st_mtime_ns
            found[key] = known[key] if key in known else read_session(str(path), samples=False)
    return found


def baseline(found: Iterable[StoredSession]) -> StoredSession | None:
    """The session that others are compared with: of those that were marked, the one marked last; None without any."""
    marked = [
        (max(note.written for note in entry.session.notes if BASELINE in note.tags), entry.written_ns, entry)
        for entry in found
        if entry.session is not None and BASELINE in entry.session.tags
    ]
    return max(marked, key=lambda mark: mark[:2])[2] if marked else None


def find(name: str, folder: Path | None = None) -> str:
    """The path that a person means: a file, or a session of the store by its name or the beginning of it.

    ``latest`` is the session that was written last.
    """
    if os.path.exists(name) or os.sep in name:
        return name
    folder = directory() if folder is None else folder
    if name == LATEST:
        found = latest(folder)
        if found is None:
            raise UsageError(f"no session in {folder} yet; make one with: sizeup --batch")
        return str(found)
    import glob

    begun = session_name(name)
    # Not Path.is_dir, which raises where a folder above may not be looked into.
    matches = sorted(folder.glob(f"{glob.escape(begun)}*{SUFFIX}*")) if os.path.isdir(folder) else []
    exact = [path for path in matches if session_name(path.name) == begun]
    if len(exact or matches) == 1:
        return str((exact or matches)[0])
    if matches:
        listed = ", ".join(session_name(path.name) for path in matches[:5])
        raise UsageError(f"{name}: {len(matches)} sessions start with this name: {listed}; type more of it")
    raise UsageError(
        f"{name}: no such file, and no session in {folder} starts with this name; list sessions with: "
        "sizeup session list"
    )


def annotate(path: str, text: str = "", *, tags: tuple[str, ...] = (), title: str = "") -> None:
    """Append a note to a session, which may even be running."""
    from sizeup.session.reader import read_session
    from sizeup.session.records import NoteRecord
    from sizeup.session.writer import Writer

    session = read_session(path, samples=False)
    written = utc_text(datetime.now(UTC))
    try:
        import pwd

        author = pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        author = ""  # a container may run under a number without a name, and a system may have no such list
    with Writer.append(path, beside_another="note") as writer:
        writer.write(NoteRecord(session.last_ns, text, author, written, tags, title))
        writer.sync()


def delete(path: Path) -> None:
    """Remove a session for good; one that is being written is refused."""
    from sizeup.session.writer import in_use

    if in_use(str(path)):
        raise UsageError(f"{path}: is being written by a run; cancel the run first")
    try:
        files.remove(str(path))
    except OSError as error:
        raise UsageError(f"{path}: cannot delete: {error.strerror}") from error
