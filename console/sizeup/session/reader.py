"""Reads session files, plain or gzipped, up to the limits of ``session.records``; and those that grow."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from sizeup.errors import UsageError
from sizeup.input_file import open_file, opened, reading
from sizeup.session.builder import SessionBuilder
from sizeup.session.records import DECOMPRESSED_LIMIT_BYTES, FILE_LIMIT_BYTES, GZIP_MAGIC, LINE_LIMIT_BYTES, AnyRecord
from sizeup.session.value import Session

SESSION_FILE = "a session file"
CHUNK_BYTES = 1 << 18


class LineSplitter:
    """Cuts a stream of chunks, each shorter than the longest line, into lines; forgets those past the limit.

    A line in the making is kept as pieces: to join them at each chunk takes a minute for a line of 2 GiB.
    """

    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._pieces: list[bytes] = []
        self.length = 0
        """Bytes of the line in the making."""

    def feed(self, chunk: bytes) -> int:
        """Take the next bytes; the count of whole lines among them."""
        first, *others = chunk.split(b"\n")
        self._grow(first)
        if others:
            if self.length > LINE_LIMIT_BYTES:
                self._builder.skip_too_long()
            else:
                self._builder.add(b"".join(self._pieces))
            self._pieces.clear()
            self.length = 0
            for line in others[:-1]:
                self._builder.add(line)
            self._grow(others[-1])
        return len(others)

    def finish(self) -> None:
        """The stream has ended; what is left is a torn line."""
        if self.length > LINE_LIMIT_BYTES:
            self._builder.skip_too_long()
        elif (line := b"".join(self._pieces)).strip():
            self._builder.add_torn_line(line)

    def _grow(self, piece: bytes) -> None:
        self.length += len(piece)
        if self.length > LINE_LIMIT_BYTES:
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)


def read_chunks(file: BinaryIO, where: str) -> Iterator[bytes]:
    """The content in pieces, unpacked where it is gzip, up to the limits."""
    chunk = file.read(CHUNK_BYTES)
    packed = chunk.startswith(GZIP_MAGIC)
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if packed else None
    limit, total = DECOMPRESSED_LIMIT_BYTES if packed else FILE_LIMIT_BYTES, 0
    while chunk:
        while chunk:
            piece, chunk = chunk, b""
            if unpack is not None:
                try:
                    piece = unpack.decompress(piece, CHUNK_BYTES)
                except zlib.error:
                    return  # what came before the damage counts; the line it tore is reported
                chunk = unpack.unconsumed_tail
            total += len(piece)
            if total > limit:
                raise UsageError(f"{where}: refused: it holds more than {limit >> 20} MiB")
            yield piece
        chunk = file.read(CHUNK_BYTES)


def read_session(
    path: str, listener: Callable[[AnyRecord], None] | None = None, *, samples: bool = True, pipes: bool = False
) -> Session:
    """The session in a file, plain or gzipped; raises ``SizeupError`` where it is none or is newer.

    Without ``samples`` it is an outline that costs little more than reading the file. ``listener`` gets
    every record that was accepted, in the order of the file. With ``pipes``, ``-`` is standard input.
    """
    builder = SessionBuilder(path, samples=samples, listener=listener)
    lines = LineSplitter(builder)
    with opened(path, SESSION_FILE, pipes=pipes) as file:
        for chunk in read_chunks(file, path):
            lines.feed(chunk)
    lines.finish()
    return builder.session


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
        return self._builder.found

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
                count = sum(self._lines.feed(chunk) for chunk in read_chunks(self._file, self._path))
                self._lines.finish()
                return count
        count, total = 0, 0
        while total < limit_bytes:
            with reading(self._path, SESSION_FILE):
                chunk = self._file.read(CHUNK_BYTES)
            if not chunk:
                break
            total += len(chunk)
            count += self._lines.feed(chunk)
        return count

    def read_to_end(self) -> Session | None:
        """Return the whole session as far as it was written; None while its last line has no end."""
        while self.poll():
            pass
        return None if self._lines.length else self.session

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
