"""Appends to a session file, and tells who is writing one."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from types import TracebackType
from typing import Self

from sizeup import files
from sizeup.errors import SizeupError, UsageError
from sizeup.portability import read_at
from sizeup.procfs.process import read_flock_writer
from sizeup.session.records import ENCODER, GZIP_MAGIC, Record

try:
    import fcntl
except ImportError:  # a system that is no Unix: nothing is measured there, and no lock is needed
    fcntl = None  # type: ignore[assignment]


def in_use(path: str) -> bool:
    """Whether a run is writing this file."""
    if fcntl is None:
        return False
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EAGAIN)
    return False


def writer_pid(path: str) -> int | None:
    """The process that is writing this file, by its lock; None where the kernel does not say."""
    try:
        return read_flock_writer(os.stat(path))
    except OSError:
        return None


class Writer:
    """Appends records to a session file; a record is on its way to the disk when ``write`` returns.

    Each call is one ``write`` of whole lines, so that a kill leaves at most the last one torn, and one
    writer holds the file at a time.
    """

    def __init__(self, descriptor: int, where: str) -> None:
        self._descriptor = descriptor
        self._where = where
        self._regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._addition = ""
        """What is added beside another writer, such as a note; empty for a run."""
        self._new = False
        self.when_full = ""
        """What to do once a full disk has room again; empty where that is the caller's to say."""

    @classmethod
    def create(cls, path: str, *, otherwise: str = "", where_exists: str = "") -> Self:
        """Start a new session file, its owner's alone; an existing one that holds anything is refused, not replaced.

        ``otherwise`` and ``where_exists`` are what else the caller's user can do instead of choosing another file,
        where the file cannot be written, or is kept: each begins with a comma.
        """
        try:
            descriptor, new = files.create(path)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise UsageError(
                f"{path}: cannot write the session: {reason}; choose another file with -o{otherwise}"
            ) from error
        writer = cls(descriptor, path)
        writer._new = new
        if writer._regular and os.fstat(descriptor).st_size:
            writer.close()
            raise UsageError(f"{path}: already exists; choose another file with -o{where_exists}")
        writer._lock()
        return writer

    @classmethod
    def append(cls, path: str, *, beside_another: str = "") -> Self:
        """Continue a session file; a torn last line is closed first, so that it costs no other.

        Only what a user adds, such as a ``note``, may come ``beside_another`` writer, and is named: lines are whole, so
        the two cannot mix.
        """
        try:
            descriptor = files.open_existing(path, os.O_RDWR | os.O_APPEND)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            what = f"write the {beside_another}" if beside_another else "continue the session"
            raise UsageError(f"{path}: cannot {what}: {reason}") from error
        writer = cls(descriptor, path)
        writer._addition = beside_another
        if read_at(descriptor, 2, 0) == GZIP_MAGIC:
            writer.close()
            raise UsageError(f"{path}: is compressed and cannot be added to; unpack it first: gunzip {path}")
        if beside_another and in_use(path):
            return writer
        writer._lock()
        size = os.fstat(descriptor).st_size
        if size and read_at(descriptor, 1, size - 1) != b"\n":
            try:
                writer._put(b"\n")
            except UsageError:
                writer.close()
                raise
        return writer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, *records: Record) -> None:
        """Append records, in order, in one piece."""
        self._put(b"".join(ENCODER.encode(record) + b"\n" for record in records))

    def sync(self) -> None:
        """Wait until all is on the disk; called where a step begins or ends."""
        if self._regular:
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                raise self._failed(error) from error

    def close(self) -> None:
        """Let go of the file, and with it of the lock; one that it made and that took nothing is removed."""
        if self._descriptor >= 0:
            if self._new and self._regular and not os.fstat(self._descriptor).st_size:
                with contextlib.suppress(OSError, SizeupError):
                    files.remove(self._where, only=self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _lock(self) -> None:
        if not self._regular or fcntl is None:
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
                self.close()
                raise UsageError(f"{self._where}: another sizeup is writing this session; wait for it to end") from None
            # Some network file systems know no locks: write without one.

    def _put(self, data: bytes) -> None:
        start = os.fstat(self._descriptor).st_size if self._regular else 0
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            if self._regular and len(view) < len(data):
                # Take back the part of a line that still fitted, so that the file ends in a whole one.
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, start)
            if isinstance(error, BrokenPipeError):
                raise  # the reader of our output has gone: not an error of ours
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> UsageError:
        if self._addition:
            return UsageError(
                f"{self._where}: cannot write the {self._addition}: {error.strerror}; what was written before is kept"
            )
        if not self._regular:
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror
            return UsageError(f"{self._where}: cannot write the session: {reason}; write it to a file with -o FILE")
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        advice = f"; make room and {self.when_full}" if full and self.when_full else ""
        return UsageError(
            f"{self._where}: cannot write the session any further: {error.strerror}; "
            f"what was written before is kept{advice}"
        )
