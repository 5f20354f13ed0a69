"""The measurement of one point in one window: what it is set to, and what was measured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import astuple, replace

from sizeup.probing.api import Emission
from sizeup_direct_io.binding import IoInterval
from sizeup_direct_io.disks import OtherIo, other_io
from sizeup_direct_io.window_counters import HostCpu, WindowCounters

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
"""Latency quantiles of an interval and of a point, by the suffix of the series' name."""


class Window(Struct, frozen=True):
    """Durations and precision of a measurement."""

    warmup_seconds: float
    seconds: float
    extra_seconds: float
    """Maximum extension while the interval is wider than ``precision``."""
    precision: float
    """Half width of the 95 % confidence interval over the mean at which measuring stops."""
    stall_seconds: float


Next = Literal["go on", "count anew", "end"]
"""How a measurement continues after a sample; anew: all before was warm-up."""
Watch = Callable[[float, int, float], Generator[Emission, None, Next]]
"""Called with each sample: a time in seconds, the requests done by then, and the seconds that are left."""


class MeasuredPoint(Struct, frozen=True):
    """One window of one point."""

    at: Mapping[str, str | int | float]
    intervals: Mapping[str, IoInterval]
    """By stream."""
    blocks: tuple[float, ...]
    """IOPS of each block, all streams together."""
    halves: float
    """Throughput of the second half over the first."""
    before: WindowCounters
    after: WindowCounters
    seconds: float
    converged: bool
    huge_page_bytes: int | None
    ended_early: bool = False
    """The region of a growing file was full."""
    path_changes: tuple[str, ...] = ()
    """Paths to the target that changed state during the window, as text."""
    threads: int = 1
    """Of the workers."""
    busiest_thread: float | None = None
    """Share of time that the CPU of the busiest submitting thread was busy; None if it is unknown."""

    def of_target(self, name: str, sharing: Collection[str]) -> MeasuredPoint:
        """Return what is known of one of several targets; ``sharing``: those on its device, itself included.

        The kernel's counters of this process are of all targets, and so unknown for one.
        """
        return replace(
            self,
            intervals={name: self.intervals[name]},
            before=replace(self.before, counters=self.before.counters.of_targets(sharing)),
            after=replace(self.after, counters=self.after.counters.of_targets(sharing)),
        )

    @property
    def requests(self) -> int:
        """Of all streams."""
        return sum(interval.requests for interval in self.intervals.values())

    @property
    def transferred_bytes(self) -> int:
        """Of all streams."""
        return sum(interval.transferred_bytes for interval in self.intervals.values())

    @property
    def iops(self) -> float:
        """IOPS, all streams together."""
        return self.requests / self.seconds

    @property
    def bytes_per_second(self) -> float:
        """All streams together."""
        return self.transferred_bytes / self.seconds

    def throughput(self, unit: str) -> float:
        """Return the bytes per second, or IOPS where the unit is 1/s."""
        return self.bytes_per_second if unit == "bytes/s" else self.iops

    @property
    def counter_seconds(self) -> float:
        """Time between the readings of the host's counters: more than ``seconds`` where they were read slowly."""
        return (self.after.time_ns - self.before.time_ns) / 1e9 or self.seconds

    @property
    def host_cpu(self) -> HostCpu | None:
        """CPU time of the whole host during the measurement; None where it cannot be read."""
        before, after = self.before.host, self.after.host
        return None if before is None or after is None else after.since(before)

    @property
    def io_cpu_ns(self) -> int | None:
        """CPU time of this process, all kernel threads and interrupts: the host's cost of the I/O.

        None where that of interrupts cannot be read. Never more than all CPU time that the host used: a process's
        time may contain that of interrupts, and kernel threads are read before and after the rest.
        """
        host = self.host_cpu
        return None if host is None else min(self._own_cpu_ns + host.interrupt_ns, host.busy_ns)

    @property
    def _own_cpu_ns(self) -> int:
        kernel = sum(self.after.kernel_threads_ns.values()) - sum(self.before.kernel_threads_ns.values())
        return self.after.process_cpu_ns - self.before.process_cpu_ns + kernel

    @property
    def others_busy_share(self) -> float | None:
        """Share of CPU time of other processes, without kernel threads and interrupts.

        None where that of the host cannot be read.
        """
        host = self.host_cpu
        if host is None:
            return None
        return max(0, host.user_ns + host.system_ns - self._own_cpu_ns) / host.capacity_ns

    def other_io(self) -> OtherIo | None:
        """I/O of other processes on the same disks; None if there are none."""
        before, after = self.before.counters.disks, self.after.counters.disks
        if before is None or after is None:
            return None
        read, written = self._own_bytes
        return other_io(before, after, self.counter_seconds, own_read=read, own_written=written)

    @property
    def _own_bytes(self) -> tuple[int, int]:
        """Bytes that the workers read and wrote between the two readings of the kernel's counters."""
        before, after = self.before.counters, self.after.counters
        return after.own_read_bytes - before.own_read_bytes, after.own_written_bytes - before.own_written_bytes

    @property
    def requested_bytes(self) -> int:
        """What the kernel's counters should have counted."""
        return sum(self._own_bytes)

    @property
    def uncertainty_bytes(self) -> int:
        """Uncertainty of ``requested_bytes``."""
        return self.before.counters.uncertainty_bytes + self.after.counters.uncertainty_bytes

    def charged_bytes(self, *, reads: bool, writes: bool) -> tuple[int | None, int | None]:
        """Return the bytes charged to this process, and those counted by the device or the NFS server.

        Only in the given directions: the other one holds metadata and I/O of other processes.
        """
        before, after = self.before.counters, self.after.counters

        def between(earlier: tuple[int, int], later: tuple[int, int]) -> int:
            return reads * (later[0] - earlier[0]) + writes * (later[1] - earlier[1])

        if before.nfs and after.nfs:
            first, last = astuple(before.nfs), astuple(after.nfs)
            return between(first[:2], last[:2]), between(first[2:], last[2:])
        own = device = None
        if before.accounting and after.accounting:
            own = between(astuple(before.accounting), astuple(after.accounting))
        if before.device and after.device:
            device = between(astuple(before.device), astuple(after.device))
        return own, device


def stream_coordinates(at: Mapping[str, str | int | float], stream: str, count: int) -> Mapping[str, str | int | float]:
    """Return the coordinates of one of ``count`` streams, with its name if there are several or the mix has it."""
    return {**at, "stream": stream} if count > 1 or stream in at else at
