"""Where sessions live when nobody says where: one folder under the XDG state directory, one file a session."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

from sizeup.errors import UsageError

SUFFIX = ".sizeup.jsonl"

_TAIL_BYTES = 4096


def directory() -> Path:
    """``$XDG_STATE_HOME/sizeup/sessions``, in words of this system; it may not exist yet."""
    from platformdirs import user_state_path

    return user_state_path("sizeup", appauthor=False) / "sessions"


def new_path(host: str, started: datetime, folder: Path | None = None) -> Path:
    """A name no file has yet, such as ``db01-20260131T093000Z.sizeup.jsonl``; makes the folder."""
    folder = directory() if folder is None else folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot keep sessions here: {error.strerror}; choose a file with -o, or set XDG_STATE_HOME"
        ) from error
    stem = f"{_file_name(host)}-{started.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    path = folder / f"{stem}{SUFFIX}"
    number = 2
    while os.path.lexists(path):
        path = folder / f"{stem}-{number}{SUFFIX}"
        number += 1
    return path


def unfinished(folder: Path) -> list[Path]:
    """The sessions in a folder whose last line is no end, last written first: going on, or cut short."""
    try:
        found = [(entry.stat().st_mtime_ns, Path(entry.path)) for entry in os.scandir(folder) if _is_session(entry)]
    except FileNotFoundError:
        return []
    return [path for _, path in sorted(found, reverse=True) if not _ended(path)]


def _is_session(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(SUFFIX) and entry.is_file() and entry.stat().st_size > 0


def _ended(path: Path) -> bool:
    """Whether the last whole line says so; an end is a short line, so the tail is enough."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
        lines = file.read(_TAIL_BYTES).split(b"\n")
    try:
        return lines[-1] == b"" and bool(json.loads(lines[-2])["kind"] == "end")
    except (ValueError, TypeError, KeyError, IndexError):
        return False


def _file_name(host: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", host).strip(".")[:64] or "host"
