"""The logs that io.commit keeps: the methods that make them durable, their points, files and workers."""

from __future__ import annotations

import os
from collections.abc import Generator
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import RefusedError
from sizeup.probing.api import Emission
from sizeup_direct_io import binding
from sizeup_direct_io.call_with_timeout import describe_error
from sizeup_direct_io.target_setup import TargetSetup
from sizeup_direct_io.worker import Engine, Pattern, Worker

COMMITTERS = (1, 8, 64, 512)
FEW = 8
"""Committers of the methods other than fdatasync; and the most that flush on their own, as each has a thread."""
BUFFER_BYTES = 1 << 20  # a flush of more is several writes
PAGE_BYTES = 8192
"""What is flushed is padded to whole pages."""
OWN_BYTES = 16 << 20
"""The file of each committer that flushes on its own."""


class Method(Enum):
    """How a log is made durable."""

    FDATASYNC = "fdatasync"
    GROWING = "fdatasync, growing file"
    DSYNC = "O_DIRECT, O_DSYNC"
    IO_URING = "O_DIRECT, io_uring with linked fsync"
    INDEPENDENT = "fdatasync, a file each"
    """No log: every committer writes to a file of its own and flushes it, so that none waits for another."""


_FLAGS = {Method.DSYNC: os.O_RDWR | os.O_DIRECT | os.O_DSYNC, Method.IO_URING: os.O_RDWR | os.O_DIRECT}


class LogPoint(Struct, frozen=True):
    """One measured point."""

    method: Method
    committers: int


def log_points(methods: str, most: int) -> tuple[LogPoint, ...]:
    """Return the points up to ``most`` committers: with fdatasync at each, and with ``all`` methods at a few."""
    counts = (*(count for count in COMMITTERS if count < most), most)
    points = [LogPoint(Method.FDATASYNC, count) for count in counts]
    if methods == "all":
        points += [LogPoint(method, min(FEW, most)) for method in (Method.GROWING, Method.DSYNC, Method.IO_URING)]
        points += [LogPoint(Method.INDEPENDENT, count) for count in counts if count <= FEW]
    return tuple(points)


class LogFiles:
    """The open files of all methods; they are closed, and gone, with the target."""

    def __init__(self, setup: TargetSetup, log_bytes: int, reserve_bytes: int) -> None:
        self._setup = setup
        self._log_bytes = log_bytes
        self._reserve_bytes = reserve_bytes
        self._descriptors: dict[Method, list[int]] = {}

    def open(self, point: LogPoint) -> Generator[Emission, None, None]:
        """Create what a point needs; raise RefusedError or OSError with the reason where that cannot be had."""
        setup, method, known = self._setup, point.method, self._descriptors.get(point.method, [])
        if method is Method.IO_URING and (denied := binding.availability(Engine.IO_URING)):
            raise RefusedError(f"this process may not use io_uring: {describe_error(denied)}")
        if method in {Method.GROWING, Method.INDEPENDENT}:
            growing = method is Method.GROWING
            count, size = (1, self._log_bytes) if growing else (point.committers - len(known), OWN_BYTES)
            made = yield from setup.more_files(count, size, self._reserve_bytes)
            known = [*known, *(setup.reopen(os.O_RDWR, one) for one in made)]
        self._descriptors[method] = known or [setup.reopen(_FLAGS.get(method, os.O_RDWR))]

    def workers(self, point: LogPoint, record_bytes: int, think_ns: int) -> list[Worker]:
        """Return the threads of a point: the log writer, or each committer that flushes on its own.

        Each writes its file at most once, so that a fast device takes a known number of bytes in each window.
        """
        descriptors, method = self._descriptors[point.method], point.method
        if method is Method.INDEPENDENT:
            padded = -(-record_bytes // PAGE_BYTES) * PAGE_BYTES
            return [self._worker(one, padded, OWN_BYTES) for one in descriptors[: point.committers]]
        if method is Method.GROWING:
            self._setup.call_with_timeout("truncating the file", lambda: os.ftruncate(descriptors[0], 0))
        linked = method is Method.IO_URING
        log = replace(
            self._worker(descriptors[0], BUFFER_BYTES, self._log_bytes),
            engine=Engine.IO_URING if linked else Engine.THREADS,
            depth=2 if linked else 1,  # the write and its fsync
            fdatasync_each=method is not Method.DSYNC,
            committers=point.committers,
            record_bytes=record_bytes,
            think_ns=think_ns,
        )
        return [log]

    def _worker(self, descriptor: int, block_bytes: int, size_bytes: int) -> Worker:
        return Worker(
            engine=Engine.THREADS,
            descriptor=descriptor,
            block_bytes=block_bytes,
            start_bytes=0,
            size_bytes=size_bytes,
            pattern=Pattern.ONCE,
            seed=self._setup.next_seed(),
            read_percent=0,
            error_limit=1,  # no database goes on behind a log that failed
            fdatasync_each=True,
        )
