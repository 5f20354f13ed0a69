"""The only importer of the C extension: jobs, samples and properties of a file."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, ClassVar, Self

from msgspec import Struct

from sizeup.model.plan import Gentle
from sizeup_direct_io._native import ffi, lib
from sizeup_direct_io.call_with_timeout import StalledError
from sizeup_direct_io.worker import Engine, Pattern, Worker, submit_batch

_ABORT_DRAIN_SECONDS = 0.1
_ENGINES = {engine: getattr(lib, f"SIZEUP_IO_{engine.name.removeprefix('IO_')}") for engine in Engine}
_PATTERNS = {pattern: getattr(lib, f"SIZEUP_IO_{pattern.name}") for pattern in Pattern}
_CONVERTED = frozenset({"engine", "descriptor", "pattern", "submit_batch", "cpus", "client"})
"""What the native structure has of a worker in another form; all else under the same name."""
_SAME_IN_BOTH = tuple(name for name in Worker.__struct_fields__ if name not in _CONVERTED)


def available_bytes() -> int:
    """Return the memory that this process can allocate without swapping, in bytes."""
    return int(lib.sizeup_available_bytes(0, 0))


def half_width(values: Sequence[float]) -> float | None:
    """Return half of the 95 % interval of the mean by Student's t; None with fewer than three values."""
    if len(values) < 3:
        return None
    interval = ffi.new("struct sizeup_interval *")
    lib.sizeup_interval_of(ffi.new("double[]", values), len(values), interval)
    return float(interval.high - interval.low) / 2


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of the median of independent values; None with fewer than two."""
    interval = ffi.new("struct sizeup_interval *")
    if lib.sizeup_interval_of_median(ffi.new("double[]", sorted(values)), len(values), interval):
        return None
    return float(interval.low), float(interval.high)


class IoCounters:
    """Counters of a group of workers; each number of ``struct sizeup_io_sample`` is an attribute of that name."""

    def __init__(self, native: Any) -> None:
        self.native = native

    def __getattr__(self, name: str) -> int:
        return int(getattr(self.native, name))

    @property
    def requests(self) -> int:
        """Reads and writes that succeeded."""
        return self.reads + self.writes

    def _combined_with(self, other: IoCounters, sign: int) -> IoInterval:
        combined = ffi.new("struct sizeup_io_sample *")
        ffi.memmove(combined, self.native, ffi.sizeof("struct sizeup_io_sample"))
        lib.sizeup_io_combine(combined, other.native, sign)
        return IoInterval(combined)


class IoInterval(IoCounters):
    """Counters of a group of workers between two samples."""

    @property
    def seconds(self) -> float:
        """Length by CLOCK_MONOTONIC_RAW."""
        return self.time_ns / 1e9

    @property
    def transferred_bytes(self) -> int:
        """Bytes of the requests that succeeded."""
        return self.read_bytes + self.written_bytes

    @property
    def engine_flags(self) -> tuple[str, ...]:
        """Optional features that the engine obtained."""
        names = {
            int(lib.SIZEUP_IO_FIXED_BUFFERS): "fixed-buffers",
            int(lib.SIZEUP_IO_FIXED_FILE): "fixed-file",
            int(lib.SIZEUP_IO_DEFER_TASKRUN): "deferred-completions",
        }
        return tuple(name for bit, name in names.items() if self.flags & bit)

    def pooled_with(self, other: IoInterval) -> IoInterval:
        """Return both intervals together."""
        return self._combined_with(other, 1)

    def _histogram(self, kind: str) -> Any:
        return getattr(self.native, f"{kind}_ns")

    def quantile_ns(self, kind: str, quantile: float) -> float:
        """A quantile of ``read``, ``write`` or ``response`` times in nanoseconds; 0 where there are none."""
        return float(lib.sizeup_histogram_quantile_ns(self._histogram(kind), quantile))

    def mean_ns(self, kind: str) -> float:
        """The mean of ``read``, ``write`` or ``response`` times in nanoseconds; 0 where there are none."""
        return float(lib.sizeup_histogram_mean_ns(self._histogram(kind)))

    def count(self, kind: str) -> int:
        """How many ``read``, ``write`` or ``response`` times there are."""
        return int(lib.sizeup_histogram_count(self._histogram(kind)))

    def histogram(self, kind: str) -> dict[int, int]:
        """Middle of bucket in nanoseconds to count, empty buckets left out."""
        counts = ffi.unpack(self._histogram(kind), lib.SIZEUP_HISTOGRAM_BUCKETS)
        return {int(lib.sizeup_histogram_middle_ns(i)): count for i, count in enumerate(counts) if count}


class IoSample(IoCounters):
    """All counters of a group since the start of the job, at one time."""

    @property
    def idle_ns(self) -> int:
        """Time since a request last completed."""
        return max(0, self.time_ns - self.last_progress_ns)

    @property
    def error(self) -> int | None:
        """The errno that ended a worker early; None without one."""
        return -self.status or None

    @property
    def first_error(self) -> int | None:
        """The errno of the first failed request; None without one."""
        return -int(self.native.first_error) or None

    def since(self, earlier: IoSample) -> IoInterval:
        """Return the interval between two samples of the same job and group."""
        return self._combined_with(earlier, -1)


class WorkerUsage(Struct, frozen=True):
    """What one worker thread used since its start."""

    time_ns: int
    """When this was published, by CLOCK_MONOTONIC_RAW; 0: not yet."""
    cpu_ns: int
    """User and system time."""
    cpu: int
    """The CPU it ran on; -1 if unknown."""


class IoJob:
    """Running workers; a context manager that stops them."""

    gentle: ClassVar[Gentle | None] = None
    """The caps that the workers of each job of this process keep together; None for a run at full load."""

    def __init__(self, workers: Sequence[Worker], *, drain_seconds: float = 5.0) -> None:
        self.drain_seconds = drain_seconds
        """Time for the requests in flight at the end to complete."""
        self._lock = threading.Lock()
        table = ffi.new("struct sizeup_io_worker[]", len(workers))
        cpu_lists = [ffi.new("int32_t[]", worker.cpus) for worker in workers]  # alive until the workers have started
        for native, worker, cpus in zip(table, workers, cpu_lists, strict=True):
            native.engine = lib.SIZEUP_IO_CLIENT if worker.client else _ENGINES[worker.engine]
            native.fd = worker.descriptor
            native.pattern = _PATTERNS[worker.pattern]
            native.submit_batch = worker.submit_batch or submit_batch(worker.block_bytes, worker.depth)
            for name in _SAME_IN_BOTH:
                setattr(native, name, getattr(worker, name))
            if self.gentle is not None:
                least_ns = self.gentle.interval_ns(worker.block_bytes, len(workers))
                native.interval_ns, native.skip_missed = max(worker.interval_ns, least_ns), True
            native.cpus, native.cpu_count = cpus, len(worker.cpus)
            for name, address in worker.client.items():
                setattr(native.client, name, ffi.cast(ffi.typeof(getattr(native.client, name)), address))
        self._count = len(workers)
        handle = ffi.new("struct sizeup_io_job **")
        _check(lib.sizeup_io_start(table, len(workers), handle), "starting the workers")
        self._handle: Any = handle[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.stop(self.drain_seconds)
            return
        # What went wrong is the news: requests that take longer than this to end are abandoned, and must not hide it.
        with suppress(StalledError):
            self.stop(_ABORT_DRAIN_SECONDS)

    def cancel(self) -> None:
        """Request that all workers end; from any thread, at any time."""
        with self._lock:
            if self._handle is not None:
                lib.sizeup_io_cancel(self._handle)

    def sample(self, group: int = 0) -> IoSample:
        """Return the current sample of a group."""
        native = ffi.new("struct sizeup_io_sample *")
        lib.sizeup_io_sample(self._handle, group, native)
        return IoSample(native)

    def usage(self) -> tuple[WorkerUsage, ...]:
        """Return the CPU use of each worker since its start, in their order."""
        table = ffi.new("struct sizeup_io_usage[]", self._count)
        for index in range(self._count):
            lib.sizeup_io_usage(self._handle, index, table + index)
        return tuple(WorkerUsage(int(one.time_ns), int(one.cpu_ns), int(one.cpu)) for one in table)

    def stop(self, drain_seconds: float) -> None:
        """Cancel, wait and free; raise StalledError if a worker does not end in time, whose memory stays."""
        self.cancel()
        # Without the lock: a cancel from another thread must not wait for a hung device.
        status = lib.sizeup_io_wait(self._handle, round(drain_seconds * 1e9))
        with self._lock:
            handle, self._handle = self._handle, None
            if status == 0:
                lib.sizeup_io_free(handle)
        if status == -errno.ETIMEDOUT:
            raise StalledError("stalled: a request is stuck in the kernel; its worker was abandoned")
        _check(status, "stopping the workers")


class Extents(Struct, frozen=True):
    """The allocation of a file on its device."""

    written_bytes: int
    unwritten_bytes: int
    hole_bytes: int
    odd_bytes: int
    """Compressed, inline, encrypted or not yet allocated."""
    count: int


def _check(status: int, doing: str) -> None:
    if status < 0:
        raise OSError(-status, f"{doing}: {os.strerror(-status)}")


def _supported(status: int, doing: str) -> bool:
    """Return False where the kernel or the file system cannot do it; raise OSError where it fails."""
    if status != -errno.EOPNOTSUPP:
        _check(status, doing)
    return status != -errno.EOPNOTSUPP


def availability(engine: Engine) -> int:
    """Return 0 if this process may use an engine, else the errno of its set-up."""
    return -int(lib.sizeup_io_available(_ENGINES[engine]))


def alignment(descriptor: int) -> tuple[int, int] | None:
    """Return memory and offset alignment of direct I/O; (0, 0): not supported; None: not reported by the kernel."""
    memory, offset = ffi.new("uint32_t *"), ffi.new("uint32_t *")
    if not _supported(lib.sizeup_io_alignment(descriptor, memory, offset), "statx"):
        return None
    return int(memory[0]), int(offset[0])


def cached_bytes(descriptor: int, size_bytes: int) -> int:
    """Return how much of a file is in the page cache."""
    count = int(lib.sizeup_io_cached_bytes(descriptor, size_bytes))
    _check(count, "cachestat")
    return count


def extents(descriptor: int, size_bytes: int, *, flush: bool) -> Extents | None:
    """Return the extents of a file; None if the file system does not report them.

    ``flush`` writes dirty pages first, so that all data has extents; only for a file created by this run.
    """
    native = ffi.new("struct sizeup_io_extents *")
    if not _supported(lib.sizeup_io_extents(descriptor, size_bytes, flush, native), "FIEMAP"):
        return None
    return Extents(*(int(getattr(native, name)) for name in Extents.__struct_fields__))


def allocate(descriptor: int, size_bytes: int) -> bool:
    """Reserve space for a file; return False if the file system cannot."""
    return _supported(lib.sizeup_io_allocate(descriptor, size_bytes), "fallocate")
