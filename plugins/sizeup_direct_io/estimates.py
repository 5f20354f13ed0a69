"""Estimates from measured windows."""

from __future__ import annotations

import functools
import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from sizeup.model.sample import Coordinates, Estimate
from sizeup.procfs.block import format_device_number
from sizeup_direct_io.binding import IoInterval, median_interval
from sizeup_direct_io.measure import QUANTILES, MeasuredPoint, stream_coordinates
from sizeup_direct_io.target import OpenTarget
from sizeup_direct_io.validity import Part, Validity, mixed_paths
from sizeup_direct_io.window_counters import BackgroundLoad

T = TypeVar("T")
_TAIL = (("minimum", 0.0), ("p99_99", 0.9999), ("maximum", 1.0))
ONE_RAMP = "one ramp: the deviation from ramp to ramp is unknown"


def location(target: OpenTarget) -> dict[str, str | int | float]:
    """Return the mount point of the target, or the device as ``major:minor``."""
    if target.mount is not None:
        return {"mount_point": target.mount.point}
    return {"device_number": format_device_number(target.device_number)}


def _pooled(intervals: Iterable[IoInterval]) -> IoInterval:
    return functools.reduce(lambda first, other: first.pooled_with(other), intervals)


def pool(runs: Sequence[MeasuredPoint]) -> dict[str, IoInterval]:
    """Return all windows of a point pooled, by stream; tail percentiles need pooled histograms."""
    by_stream = {name: [run.intervals[name] for run in runs] for name in runs[0].intervals}
    return {name: _pooled(intervals) for name, intervals in by_stream.items()}


def throughput(
    at: Coordinates, runs: Sequence[MeasuredPoint], caveats: tuple[str, ...], extra: Coordinates
) -> Iterator[Estimate]:
    """Yield IOPS and bytes per second: the median over ramps with its 95 % interval.

    A ramp counts as one value: its windows resemble each other more than those of another ramp, so that an interval
    over parts of windows would be too narrow. One ramp has no interval.
    """
    if len(runs) < 2:
        extra = {**extra, "no_interval": ONE_RAMP}
    converged = all(run.converged for run in runs)
    for series, values in (("iops", [run.iops for run in runs]), ("rate", [run.bytes_per_second for run in runs])):
        ends = with_interval(values)
        yield Estimate(series, at, *ends, len(values), converged=converged, caveats=caveats, extra=extra)


def with_interval(values: Sequence[float], whole: float | None = None) -> tuple[float, float | None, float | None]:
    """Return the median, or the figure ``whole`` in its place, and the ends of the 95 % interval; None if unknown."""
    value, ends = statistics.median(values) if whole is None else whole, median_interval(values)
    return (value, None, None) if ends is None else (value, max(0.0, min(ends[0], value)), max(ends[1], value))


def other_load(runs: Sequence[MeasuredPoint]) -> dict[str, float]:
    """Return what others took of CPUs and I/O while a point was measured, in its worst window; without the unknown."""
    found = {}
    if (hosts := known(run.host_cpu for run in runs)) is not None:
        found["stolen_share"] = max(host.stolen_share for host in hosts)
    if (others := known(run.others_busy_share for run in runs)) is not None:
        found["others_share"] = max(others)
    if (shares := known(None if (io := run.other_io()) is None else io.share for run in runs)) is not None:
        found["others_io_share"] = max(shares)
    return found


def latencies(place: Coordinates, pooled: Mapping[str, IoInterval], caveats: tuple[str, ...]) -> Iterator[Estimate]:
    """Yield service times of reads and writes separately, and response times of paced streams."""
    for name, interval in pooled.items():
        where = stream_coordinates(place, name, len(pooled))
        for kind in ("read", "write", "response"):
            if not (count := interval.count(kind)):
                continue
            paced = kind == "response"
            family, at = ("response", where) if paced else ("latency", {**where, "direction": kind})
            extra = {f"{tail}_ns": interval.quantile_ns(kind, quantile) for tail, quantile in _TAIL} | {"count": count}
            histogram = {"histogram": histogram_text(interval.histogram(kind))}
            yield Estimate(f"{family}-mean", at, interval.mean_ns(kind), caveats=caveats, extra=histogram)
            for suffix, quantile in QUANTILES.items():
                value = interval.quantile_ns(kind, quantile)
                yield Estimate(f"{family}-{suffix}", at, value, caveats=caveats, extra=extra)


def histogram_text(counts: Mapping[int, int]) -> str:
    """Return a histogram of times with 16 buckets an octave: the middle of each in nanoseconds, and its count."""
    coarse: dict[int, int] = {}
    for middle_ns, count in counts.items():
        width = 1 << max(middle_ns.bit_length() - 5, 0)
        middle_ns = middle_ns // width * width + width // 2  # noqa: PLW2901  of the wider bucket
        coarse[middle_ns] = coarse.get(middle_ns, 0) + count
    return " ".join(f"{middle_ns}:{count}" for middle_ns, count in coarse.items())


def costs(
    at: Coordinates,
    runs: Sequence[MeasuredPoint],
    pooled: Mapping[str, IoInterval],
    background: BackgroundLoad,
    clock_hz: float,
) -> Iterator[Estimate]:
    """Yield CPU time per I/O and per MB of the workers, with that of the whole host as extra figures."""
    intervals = pooled.values()
    requests = sum(interval.usage_requests for interval in intervals)
    moved = sum(interval.usage_bytes for interval in intervals)
    if not requests:
        return
    user, system = sum(i.user_ns for i in intervals), sum(i.system_ns for i in intervals)
    extra: dict[str, str | int | float] = {
        "user_ns": user / requests,
        "system_ns": system / requests,
        "run_delay_ns": sum(i.run_delay_ns for i in intervals) / requests,
        "voluntary_switches": sum(i.voluntary_switches for i in intervals) / requests,
        "submit_calls": sum(i.submit_calls for i in intervals) / requests,
        **_host_costs(runs, background),
    }
    seconds, threads = sum(run.counter_seconds for run in runs), Counter[str]()
    for run in runs:
        for name, spent in run.after.kernel_threads_ns.items():
            threads[name] += spent - run.before.kernel_threads_ns.get(name, 0)
    shares = [(name, spent / seconds / 1e7) for name, spent in threads.most_common(3)]  # of one CPU, in percent
    extra["kernel_threads"] = ", ".join(f"{name} {share:.0f} %" for name, share in shares if share >= 1)
    for name in ("cpu", "io"):  # the share of the windows in which some task waited; none without PSI
        ends = [(getattr(run.before, f"{name}_pressure"), getattr(run.after, f"{name}_pressure")) for run in runs]
        if None not in itertools.chain(*ends):
            waited_us = sum(after.some_total_us - before.some_total_us for before, after in ends)
            extra[f"psi_{name}_some_percent"] = min(100.0, waited_us / seconds / 1e4)
    yield Estimate("cpu-per-io", at, (user + system) / requests, extra=extra)
    per_megabyte = (user + system) / (moved / 1e6)
    io_cpu_ns = known(run.io_cpu_ns for run in runs)
    if io_cpu_ns is not None:
        extra = {**extra, "host_io_ns_per_mb": sum(io_cpu_ns) / (sum(run.transferred_bytes for run in runs) / 1e6)}
    if clock_hz:
        # An upper bound: nothing processes the data. Sizing shows it next to the rule of thumb per GHz.
        extra = {**extra, "bytes_per_second_per_ghz": 1e6 / (per_megabyte / 1e9) / (clock_hz / 1e9)}
    yield Estimate("cpu-per-mb", at, per_megabyte, extra=extra)


def known(values: Iterable[T | None]) -> list[T] | None:
    """Return the values; None where one of them is unknown, and with it their sum."""
    found = list(values)
    return None if None in found else [value for value in found if value is not None]


def _host_costs(runs: Sequence[MeasuredPoint], background: BackgroundLoad) -> dict[str, float]:
    """What a request cost the whole host; without the figures that the kernel did not give."""
    if (hosts := known(run.host_cpu for run in runs)) is None:
        return {}
    done, capacity = max(1, sum(run.requests for run in runs)), sum(host.capacity_ns for host in hosts)
    costs = {"host_kernel_percent": 100 * sum(host.system_ns + host.interrupt_ns for host in hosts) / capacity}
    if background.busy_share is not None:
        # Background load is not charged to the I/O; everything else is, kernel threads included.
        costs["host_ns"] = max(0.0, sum(host.busy_ns for host in hosts) - background.busy_share * capacity) / done
    for name in ("interrupts", "switches"):
        if (counts := known(getattr(host, name) for host in hosts)) is not None:
            costs[f"host_{name}"] = sum(counts) / done
    return costs


def caveats_of(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return the caveats of a figure, one reason each, so that a report can state each once."""
    not_passed = [part for part in parts if part.verdict in {Validity.FAIL, Validity.WARN}]
    return tuple(f"{part.name}: {caveat.cause}" for part in not_passed for caveat in part.caveats)


def validity_estimate(at: Coordinates, part: Part) -> Estimate:
    """Return a check as an estimate in the unit ``verdict``."""
    extra = {"verdict": part.verdict.value, "reasons": "; ".join(part.reasons)}
    if part.from_cache:
        extra["sizing"] = "left out"
    caveats = tuple(f"{part.name}: {caveat.text}" for caveat in part.caveats)
    return Estimate("validity", {**at, "part": part.name}, part.value, caveats=caveats, extra=extra)


class PointResult(Struct, frozen=True):
    """A point with all its windows."""

    at: Coordinates
    runs: tuple[MeasuredPoint, ...]
    parts: tuple[Part, ...]

    @property
    def iops(self) -> float:
        """Median over ramps."""
        return statistics.median(run.iops for run in self.runs)

    @property
    def bytes_per_second(self) -> float:
        """Median over ramps."""
        return statistics.median(run.bytes_per_second for run in self.runs)

    @property
    def pooled(self) -> IoInterval:
        """All streams and windows pooled."""
        return _pooled(pool(self.runs).values())

    @property
    def caveats(self) -> tuple[str, ...]:
        """Return the caveats of its checks, and every path change in any of its windows."""
        changes = (f"steady: {mixed_paths(change).cause}" for run in self.runs for change in run.path_changes)
        return tuple(dict.fromkeys((*caveats_of(self.parts), *changes)))
