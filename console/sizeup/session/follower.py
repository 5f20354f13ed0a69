"""Follows a session file that another process is writing."""

from __future__ import annotations

import os
from typing import BinaryIO

from sizeup.input_file import open_file, reading
from sizeup.session.builder import SessionBuilder
from sizeup.session.reader import CHUNK_BYTES, SESSION_FILE, LineSplitter, read_chunks
from sizeup.session.records import GZIP_MAGIC
from sizeup.session.value import Session


class SessionFollower:
    """Reads a session file that another process is writing, as far as it has come."""

    def __init__(self, path: str) -> None:
        self._builder = SessionBuilder(path)
        self._lines = LineSplitter(self._builder)
        self._path = path
        self._file: BinaryIO | None = None

    @property
    def session(self) -> Session | None:
        """What was read so far, growing with each ``poll``; None before the first line is there."""
        return self._builder.session if self._builder.started else None

    def poll(self, limit_bytes: int = 4 << 20) -> int:
        """Read what was appended, at most about ``limit_bytes``; the number of new records.

        A file that does not exist yet counts as empty.
        """
        if self._file is None:
            if not os.path.exists(self._path):
                return 0
            self._file = open_file(self._path, SESSION_FILE)
            packed = self._file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            self._file.seek(0)
            if packed:  # complete: it is read once, as a whole
                return self._unpack(self._file)
        count, total = 0, 0
        while total < limit_bytes:
            with reading(self._path, SESSION_FILE):
                chunk = self._file.read(CHUNK_BYTES)
            if not chunk:
                break
            total += len(chunk)
            count += self._lines.feed(chunk)
        return count

    def _unpack(self, file: BinaryIO) -> int:
        count = sum(self._lines.feed(chunk) for chunk in read_chunks(file, self._path))
        self._lines.finish()
        return count

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
