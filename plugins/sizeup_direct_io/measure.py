"""Measure one point in a window: start the workers, discard the warm-up, sample until the figure is precise enough."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import astuple, replace

from sizeup.errors import SizeupError
from sizeup.model.sample import Coordinates, Disturbance, Samples
from sizeup.probing.api import Context, Emission
from sizeup.procfs.meminfo import read_huge_page_bytes
from sizeup.procfs.stat import HostStat
from sizeup_direct_io import window_counters
from sizeup_direct_io.binding import IoInterval, IoJob, IoSample, WorkerUsage, half_width
from sizeup_direct_io.call_with_timeout import CanceledError, StalledError, describe_error
from sizeup_direct_io.disks import OtherIo, other_io
from sizeup_direct_io.presets import Stream
from sizeup_direct_io.target import TargetSetup
from sizeup_direct_io.window_counters import CounterSource, HostCpu, WindowCounters, read_closing, read_opening
from sizeup_direct_io.worker import Worker

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

    at: Coordinates
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

        Only in the given directions: the other one holds metadata and I/O of other processes. A request is charged when
        it starts and counted by its worker when it ends: what is in flight at either end makes no difference.
        """

        def between(name: str, first: int = 0) -> int | None:
            before, after = (getattr(end.counters, name) for end in (self.before, self.after))
            if before is None or after is None:
                return None
            ends = astuple(before)[first : first + 2], astuple(after)[first : first + 2]
            read, written = (last - one for one, last in zip(*ends, strict=True))
            return int(reads * read + writes * written)

        own, device = between("accounting"), between("device")
        if (direct := between("nfs")) is not None:
            own, device = direct, between("nfs", 2)
        started = self.after.counters.in_flight - self.before.counters.in_flight
        return own and own - round(started * self.transferred_bytes / max(1, self.requests)), device


def stream_coordinates(at: Coordinates, stream: str, count: int) -> Coordinates:
    """Return the coordinates of one of ``count`` streams, with its name if there are several or the mix has it."""
    return {**at, "stream": stream} if count > 1 or stream in at else at


SAMPLING_SECONDS = 0.2
"""Five samples per second; each costs well under a thousandth of a CPU."""
_JUST_AFTER_SECONDS = 0.005
MINIMUM_DRAIN_SECONDS = 0.5
"""Minimum time for the last requests of a window to complete."""
BLOCKS = 10
"""A window is divided into this many blocks to compute its confidence interval."""
OWN_SHARE = 0.5
"""A CPU counts as that of a thread which uses at least this much of it; the rest are interrupts and other threads."""


class _Sampler:
    """Samples the streams of a job and checks their health."""

    def __init__(self, job: IoJob, streams: Sequence[str], at: Coordinates, watch: Watch | None = None) -> None:
        self.watch = watch
        self.job = job
        self._streams = streams
        self.at = at
        self.last = self.take()
        self._host = window_counters.read_host_cpu()
        self._last_success = self.last
        """The samples when a request last succeeded."""
        self._moving = dict(self.last)
        """The sample of each stream when it last had no request in flight, or completed one."""

    def next_sample_seconds(self, stall_seconds: float) -> float:
        """Return the time to the next sample; shorter if the stall limit comes first."""
        left = stall_seconds - _idle_seconds(self.last)
        return min(SAMPLING_SECONDS, left + _JUST_AFTER_SECONDS) if left > 0 else SAMPLING_SECONDS

    def take(self) -> dict[str, IoSample]:
        return {name: self.job.sample(group) for group, name in enumerate(self._streams)}

    def live(self, context: Context, *, warming_up: bool) -> Generator[Emission, None, dict[str, IoSample]]:
        """Yield the interval since the last call as samples, and return the current ones."""
        now, host = self.take(), window_counters.read_host_cpu()
        flags = (int(Disturbance.WARMUP),) if warming_up else ()
        moment = (context.since_start_ns(now[self._streams[0]].time_ns),)
        intervals = {name: now[name].since(self.last[name]) for name in self._streams}
        seconds = intervals[self._streams[0]].seconds
        figures = {
            "iops": sum(interval.requests for interval in intervals.values()) / seconds,
            "rate": sum(interval.transferred_bytes for interval in intervals.values()) / seconds,
            "in-flight": float(sum(sample.in_flight for sample in now.values())),
        }
        if host is not None and self._host is not None:
            figures["cpu"] = host.since(self._host).busy_share
        for name, interval in intervals.items():
            where = stream_coordinates(self.at, name, len(intervals))
            for kind in ("read", "write"):
                if interval.count(kind):
                    at = {**where, "direction": kind}
                    for series, quantile in QUANTILES.items():
                        yield Samples(f"latency-{series}", at, moment, (interval.quantile_ns(kind, quantile),), flags)
        for series, value in figures.items():
            yield Samples(series, self.at, moment, (value,), flags)
        self.last, self._host = now, host
        return now

    def check(self, now: Mapping[str, IoSample], stall_seconds: float) -> None:
        """Raise an error if a stream failed, no request completes, or all requests fail.

        Also if one of several streams hangs while others progress, such as one device of many.
        """
        for sample in now.values():
            if sample.error is not None:
                count = f"{sample.errors} requests failed, the last" if sample.errors > 1 else "a request failed"
                raise SizeupError(f"{count} with {describe_error(sample.error)}")
        idle_seconds, out = _idle_seconds(now), sum(sample.in_flight for sample in now.values())
        if idle_seconds > stall_seconds and any(sample.running for sample in now.values()):
            still = f"{out} requests are" if out != 1 else "1 request is"
            raise StalledError(f"stalled: no request completed for {idle_seconds:.1f} s, {still} still in flight")
        for name, sample in now.items():
            earlier = self._moving[name]
            ended = sample.requests + sample.errors > earlier.requests + earlier.errors
            if ended or not sample.in_flight or not sample.running:
                self._moving[name] = sample
                continue
            seconds = (sample.time_ns - earlier.time_ns) / 1e9
            if len(now) > 1 and seconds > stall_seconds:
                raise StalledError(
                    f"stalled: {name} completed no request for {seconds:.1f} s, {sample.in_flight} are still in flight"
                )
        if _done(now) > _done(self._last_success):
            self._last_success = dict(now)
        failed = sum(sample.errors - self._last_success[name].errors for name, sample in now.items())
        seconds = max(sample.time_ns - self._last_success[name].time_ns for name, sample in now.items()) / 1e9
        if failed and seconds > stall_seconds:
            error = next(sample.first_error for sample in now.values() if sample.first_error)
            raise SizeupError(
                f"no request succeeded for {seconds:.1f} s and {failed} failed, the first one with "
                f"{describe_error(error)}"
            )


def _idle_seconds(samples: Mapping[str, IoSample]) -> float:
    """Return the time since any request completed, of streams that still run."""
    working = [sample.idle_ns for sample in samples.values() if sample.running or len(samples) == 1]
    return min(working, default=0) / 1e9


def measure(
    workers: Sequence[Worker],
    streams: Sequence[str],
    at: Coordinates,
    window: Window,
    context: Context,
    counter_source: CounterSource,
    watch: Watch | None = None,
) -> Generator[Emission, None, MeasuredPoint]:
    """Run one point; raise StalledError, SizeupError or CanceledError when it cannot be finished."""
    canceled = threading.Event()
    context.on_cancel(canceled.set)
    try:
        with IoJob(workers, drain_seconds=window.stall_seconds) as job:
            sampler = _Sampler(job, streams, at, watch)
            measured = yield from _observe(sampler, window, context, counter_source, canceled)
            if not measured.ended_early:
                # A stall that began before the end of the window has used part of its limit.
                job.drain_seconds = max(MINIMUM_DRAIN_SECONDS, window.stall_seconds - _idle_seconds(sampler.take()))
            return measured
    except OSError as error:
        raise SizeupError(f"starting the requests failed: {error.strerror or error}") from error


def measure_loads(
    loads: Mapping[str, tuple[TargetSetup, Stream, int]],
    at: Coordinates,
    window: Window,
    context: Context,
    counter_source: CounterSource,
    watch: Watch | None = None,
    **chosen: Any,
) -> Generator[Emission, None, MeasuredPoint]:
    """Measure some loads at once, by name: a stream of a queue depth on a target; see ``TargetSetup.workers``.

    A file that grows is emptied first. It can only grow so far, and the start of a load counts too: no warm-up.
    """
    for setup, stream, _ in loads.values():
        if stream.extends:
            setup.empty()
            window = replace(window, warmup_seconds=0.0)
    workers = [
        worker
        for group, (setup, stream, count) in enumerate(loads.values())
        for worker in setup.workers(stream, count, group, **chosen)
    ]
    return (yield from measure(workers, tuple(loads), at, window, context, counter_source, watch))


def _observe(
    sampler: _Sampler, window: Window, context: Context, counter_source: CounterSource, canceled: threading.Event
) -> Generator[Emission, None, MeasuredPoint]:
    start_seconds = time.monotonic()
    known = counter_source.paths.poll(at_once=True)
    opening: dict[str, IoSample] | None = None
    before: WindowCounters | None = None
    marks: list[tuple[float, int]] = []
    huge_page_bytes = None
    opening_usage = sampler.job.usage()
    opened = 0.0
    if not window.warmup_seconds:
        before, opening = read_opening(counter_source, sampler.take), sampler.last
        marks.append(_mark(opening))
    while True:
        if canceled.wait(sampler.next_sample_seconds(window.stall_seconds)):
            raise CanceledError
        now = yield from sampler.live(context, warming_up=opening is None)
        counter_source.paths.poll()
        sampler.check(now, window.stall_seconds)
        elapsed = time.monotonic() - start_seconds
        over = not any(sample.running for sample in now.values())
        if opening is None or before is None:
            if over:
                raise SizeupError("all requests completed before the end of the warm-up; increase size")
            if elapsed >= window.warmup_seconds:
                huge_page_bytes = read_huge_page_bytes()
                before = read_opening(counter_source, sampler.take)
                opening, opening_usage = sampler.take(), sampler.job.usage()
                marks.append(_mark(opening))
                opened = time.monotonic() - start_seconds  # on a busy host well behind the end of the warm-up
            continue
        marks.append(_mark(now))
        measured = elapsed - opened
        following: Next = (
            (yield from sampler.watch(*marks[-1], window.seconds - measured)) if sampler.watch else "go on"
        )
        if following == "count anew":
            opening, marks = None, []
            window = replace(window, warmup_seconds=elapsed, seconds=window.seconds - measured)
            continue
        if measured < window.seconds and not over and following == "go on":
            continue
        # The last block of a file that became full is shorter than the others and less precise.
        counted = marks[:-1] if over and len(marks) > 2 else marks
        pieces = min(BLOCKS, len(counted) - 1)
        edges = [counted[round(i * (len(counted) - 1) / pieces)] for i in range(pieces + 1)]
        blocks = tuple((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(edges))
        width = half_width(blocks)
        mean = statistics.fmean(blocks)
        converged = width is not None and mean > 0 and width / mean <= window.precision
        if converged or over or following == "end" or measured >= window.seconds + window.extra_seconds:
            break
    closing, usage = sampler.take(), sampler.job.usage()
    after = read_closing(counter_source, sampler.take)
    counter_source.paths.poll(at_once=True)
    intervals = {name: sample.since(opening[name]) for name, sample in closing.items()}
    middle = len(blocks) // 2
    first = statistics.fmean(blocks[:middle]) if middle else 0.0
    return MeasuredPoint(
        at=sampler.at,
        intervals=intervals,
        blocks=blocks,
        halves=statistics.fmean(blocks[-middle:]) / first if first else 1.0,
        before=before,
        after=after,
        # A growing file may be full early: then its last request ended the measurement.
        seconds=max(_working_seconds(opening[name], sample) for name, sample in closing.items()),
        converged=converged,
        huge_page_bytes=huge_page_bytes,
        ended_early=over,
        path_changes=tuple(map(str, counter_source.paths.changes[known:])),
        threads=len(usage),
        busiest_thread=busiest_share(opening_usage, usage, before.cpus, after.cpus),
    )


def _working_seconds(opening: IoSample, closing: IoSample) -> float:
    end_ns = closing.time_ns if closing.running else closing.time_ns - closing.idle_ns
    return (end_ns - opening.time_ns) / 1e9


def _mark(samples: Mapping[str, IoSample]) -> tuple[float, int]:
    """Return a time in seconds and the requests completed by then."""
    end_ns = max(sample.time_ns - (0 if sample.running else sample.idle_ns) for sample in samples.values())
    return end_ns / 1e9, _done(samples)


def _done(samples: Mapping[str, IoSample]) -> int:
    return sum(sample.requests for sample in samples.values())


def busiest_share(
    before: Sequence[WorkerUsage],
    after: Sequence[WorkerUsage],
    cpus_before: Mapping[int, HostStat],
    cpus_after: Mapping[int, HostStat],
) -> float | None:
    """Return the share of time that the CPU of the busiest submitting thread was busy; None if it is unknown.

    Interrupts on a CPU are not part of the thread's time, so the use of the whole CPU counts where the thread stayed.
    """
    shares = []
    for first, last in zip(before, after, strict=True):
        if not first.time_ns or last.time_ns <= first.time_ns:
            continue
        own = (last.cpu_ns - first.cpu_ns) / (last.time_ns - first.time_ns)
        shares.append(own)
        cpu = last.cpu
        if own >= OWN_SHARE and first.cpu == cpu and cpu in cpus_before and cpu in cpus_after:
            earlier, later = cpus_before[cpu], cpus_after[cpu]
            total = later.total - earlier.total - (later.steal - earlier.steal)
            shares.append(1 - (later.idle_total - earlier.idle_total) / total if total > 0 else 0.0)
    return min(1.0, max(shares)) if shares else None
