"""Measure one point: start the workers, discard the warm-up, sample until the figure is precise enough."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from sizeup.errors import SizeupError
from sizeup.model.sample import Disturbance, Samples
from sizeup.probing.api import Context, Emission
from sizeup.procfs.meminfo import read_huge_page_bytes
from sizeup_direct_io import window_counters
from sizeup_direct_io.binding import IoJob, IoSample, WorkerUsage, half_width
from sizeup_direct_io.call_with_timeout import CanceledError, StalledError, describe_error
from sizeup_direct_io.measured_point import QUANTILES, MeasuredPoint, Next, Watch, Window, stream_coordinates
from sizeup_direct_io.validity import busiest_share
from sizeup_direct_io.window_counters import CounterSource, WindowCounters, read_closing, read_opening
from sizeup_direct_io.worker import Worker

SAMPLING_SECONDS = 0.2
"""Five samples per second; each costs well under a thousandth of a CPU."""
_JUST_AFTER_SECONDS = 0.005
MINIMUM_DRAIN_SECONDS = 0.5
"""Minimum time for the last requests of a window to complete."""
BLOCKS = 10
"""A window is divided into this many blocks to compute its confidence interval."""


class _Sampler:
    """Samples the streams of a job and checks their health."""

    def __init__(self, job: IoJob, streams: Sequence[str], at: Mapping[str, str | int | float]) -> None:
        self.watch: Watch | None = None
        self._job = job
        self._streams = streams
        self.at = at
        self.last = self.take()
        self._host = window_counters.read_host_cpu()
        self._last_success = self.last
        """The samples when a request last succeeded."""
        self._moving = dict(self.last)
        """The sample of each stream when it last had no request in flight, or completed one."""

    @property
    def idle_seconds(self) -> float:
        """Seconds since a request last completed."""
        return _idle_seconds(self.take())

    def next_sample_seconds(self, stall_seconds: float) -> float:
        """Return the time to the next sample; shorter if the stall limit comes first."""
        left = stall_seconds - _idle_seconds(self.last)
        return min(SAMPLING_SECONDS, left + _JUST_AFTER_SECONDS) if left > 0 else SAMPLING_SECONDS

    def usage(self) -> tuple[WorkerUsage, ...]:
        return self._job.usage()

    def take(self) -> dict[str, IoSample]:
        return {name: self._job.sample(group) for group, name in enumerate(self._streams)}

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
        """Raise an error if a stream failed, no request completes, or all requests fail."""
        _check_health(now, stall_seconds)
        self._check_each(now, stall_seconds)
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

    def _check_each(self, now: Mapping[str, IoSample], stall_seconds: float) -> None:
        """Raise StalledError if one of several streams hangs while others progress, such as one device of many."""
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


def _check_health(samples: Mapping[str, IoSample], stall_seconds: float) -> None:
    for sample in samples.values():
        if sample.error is not None:
            count = f"{sample.errors} requests failed, the last" if sample.errors > 1 else "a request failed"
            raise SizeupError(f"{count} with {describe_error(sample.error)}")
    idle_seconds = _idle_seconds(samples)
    out = sum(sample.in_flight for sample in samples.values())
    if idle_seconds > stall_seconds and any(sample.running for sample in samples.values()):
        still = f"{out} requests are" if out != 1 else "1 request is"
        raise StalledError(f"stalled: no request completed for {idle_seconds:.1f} s, {still} still in flight")


def _idle_seconds(samples: Mapping[str, IoSample]) -> float:
    """Return the time since any request completed, of streams that still run."""
    working = [sample.idle_ns for sample in samples.values() if sample.running or len(samples) == 1]
    return min(working, default=0) / 1e9


def measure(
    workers: Sequence[Worker],
    streams: Sequence[str],
    at: Mapping[str, str | int | float],
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
            sampler = _Sampler(job, streams, at)
            sampler.watch = watch
            measured = yield from _observe(sampler, window, context, counter_source, canceled)
            if not measured.ended_early:
                # A stall that began before the end of the window has used part of its limit.
                job.drain_seconds = max(MINIMUM_DRAIN_SECONDS, window.stall_seconds - sampler.idle_seconds)
            return measured
    except OSError as error:
        raise SizeupError(f"starting the requests failed: {error.strerror or error}") from error


def _observe(
    sampler: _Sampler, window: Window, context: Context, counter_source: CounterSource, canceled: threading.Event
) -> Generator[Emission, None, MeasuredPoint]:
    start_seconds = time.monotonic()
    known = _poll_paths(counter_source, at_once=True)
    opening: dict[str, IoSample] | None = None
    before: WindowCounters | None = None
    marks: list[tuple[float, int]] = []
    huge_page_bytes = None
    opening_usage = sampler.usage()
    opened = 0.0
    if not window.warmup_seconds:
        before, opening = read_opening(counter_source, sampler.take), sampler.last
        marks.append(_mark(opening))
    while True:
        if canceled.wait(sampler.next_sample_seconds(window.stall_seconds)):
            raise CanceledError
        now = yield from sampler.live(context, warming_up=opening is None)
        _poll_paths(counter_source)
        sampler.check(now, window.stall_seconds)
        elapsed = time.monotonic() - start_seconds
        over = not any(sample.running for sample in now.values())
        if opening is None or before is None:
            if over:
                raise SizeupError("all requests completed before the end of the warm-up; increase size")
            if elapsed >= window.warmup_seconds:
                huge_page_bytes = read_huge_page_bytes()
                before = read_opening(counter_source, sampler.take)
                opening, opening_usage = sampler.take(), sampler.usage()
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
        blocks = _blocks(marks[:-1] if over and len(marks) > 2 else marks)
        width = half_width(blocks)
        mean = statistics.fmean(blocks)
        converged = width is not None and mean > 0 and width / mean <= window.precision
        if converged or over or following == "end" or measured >= window.seconds + window.extra_seconds:
            break
    closing, usage = sampler.take(), sampler.usage()
    after = read_closing(counter_source, sampler.take)
    intervals = {name: sample.since(opening[name]) for name, sample in closing.items()}
    return MeasuredPoint(
        at=sampler.at,
        intervals=intervals,
        blocks=blocks,
        halves=_halves(blocks),
        before=before,
        after=after,
        # A growing file may be full early: then its last request ended the measurement.
        seconds=max(_working_seconds(opening[name], sample) for name, sample in closing.items()),
        converged=converged,
        huge_page_bytes=huge_page_bytes,
        ended_early=over,
        path_changes=tuple(map(str, counter_source.paths.changes[known:]))
        if _poll_paths(counter_source, at_once=True) and counter_source.paths
        else (),
        threads=len(usage),
        busiest_thread=busiest_share(opening_usage, usage, before.cpus, after.cpus),
    )


def _poll_paths(counter_source: CounterSource, *, at_once: bool = False) -> int:
    """Return the number of path changes so far."""
    return counter_source.paths.poll(at_once=at_once) if counter_source.paths else 0


def _working_seconds(opening: IoSample, closing: IoSample) -> float:
    end_ns = closing.time_ns if closing.running else closing.time_ns - closing.idle_ns
    return (end_ns - opening.time_ns) / 1e9


def _mark(samples: Mapping[str, IoSample]) -> tuple[float, int]:
    """Return a time in seconds and the requests completed by then."""
    end_ns = max(sample.time_ns - (0 if sample.running else sample.idle_ns) for sample in samples.values())
    return end_ns / 1e9, _done(samples)


def _done(samples: Mapping[str, IoSample]) -> int:
    return sum(sample.requests for sample in samples.values())


def _blocks(marks: Sequence[tuple[float, int]]) -> tuple[float, ...]:
    """Return the IOPS of up to ``BLOCKS`` blocks with equal numbers of samples."""
    pieces = min(BLOCKS, len(marks) - 1)
    edges = [marks[round(i * (len(marks) - 1) / pieces)] for i in range(pieces + 1)]
    return tuple((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(edges))


def _halves(blocks: Sequence[float]) -> float:
    middle = len(blocks) // 2
    first = statistics.fmean(blocks[:middle]) if middle else 0.0
    return statistics.fmean(blocks[-middle:]) / first if first else 1.0
