"""Results over the points of a run: knees, calibration, log writes, page sizes, paths, CPU cost."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
from msgspec import Struct

from sizeup.model.machine import Gap
from sizeup.model.sample import Coordinates, Estimate
from sizeup.units import as_percent, format_bytes, format_ns, format_rate, format_value
from sizeup_direct_io.estimates import PointResult, known, pool, with_interval
from sizeup_direct_io.settings import TargetBandwidth
from sizeup_direct_io.validity import EXCEEDS_CACHE, Part, Validity, passed, suspect_cache, warn

PAYS = 1.10
"""Minimum throughput ratio of a doubling of the queue depth that is worth it."""


class RampPoint(Struct, frozen=True):
    """One point of a ramp."""

    queue_depth: int
    throughput: float
    """IOPS or bytes per second."""


def ramp_order(ramp: int, points: int) -> Sequence[int]:
    """Return the order in which a ramp measures its points: every second one backward.

    Otherwise the deepest queue would always be measured last, and drift would look like an effect of queue depth. The
    first one rises, because it finds where to end.
    """
    return range(points) if ramp % 2 == 0 else range(points - 1, -1, -1)


def gain_per_doubling(before: RampPoint, after: RampPoint) -> float:
    """Return the throughput ratio per doubling of the queue depth between two points."""
    doublings = math.log2(after.queue_depth / before.queue_depth)
    return float((after.throughput / before.throughput) ** (1 / doublings))


def stopped_paying(ramp: Sequence[RampPoint]) -> bool:
    """Return whether the last two doublings both gained too little to continue."""
    pairs = list(pairwise(ramp))[-2:]
    return len(pairs) == 2 and all(gain_per_doubling(before, after) < PAYS for before, after in pairs)


def find_knee(ramp: Sequence[RampPoint]) -> RampPoint | None:
    """Return the point of the last doubling with enough gain; None for fewer than two points.

    Of several rules tried on four ramps on an idle host (tangent, Kneedle, share of the maximum) this was
    the only one that found the same point each time.
    """
    if len(ramp) < 2:
        return None
    best, misses = ramp[0], 0
    for before, after in pairwise(ramp):
        if gain_per_doubling(before, after) >= PAYS:
            best, misses = after, 0
        else:
            misses += 1
        if misses == 2:
            break
    return best


def median_ramp(ramps: Sequence[Sequence[RampPoint]]) -> list[RampPoint]:
    """Return the median throughput over ramps at each queue depth, by rising depth."""
    reached: dict[int, list[float]] = {}
    for load in (load for ramp in ramps for load in ramp):
        reached.setdefault(load.queue_depth, []).append(load.throughput)
    return [RampPoint(depth, statistics.median(rates)) for depth, rates in sorted(reached.items())]


def falls(ramp: Sequence[RampPoint]) -> bool:
    """Return whether some point is slower than one of lower queue depth by as much as counts as a gain."""
    highest = itertools.accumulate((load.throughput for load in ramp), max)
    return any(load.throughput * PAYS < most for load, most in zip(ramp, highest, strict=True))


def median_knee(ramps: Sequence[Sequence[RampPoint]]) -> tuple[RampPoint, tuple[int, ...]] | None:
    """Return the knee of several ramps, the median of queue depth and throughput, with the depth of each ramp's.

    None if no ramp has one, and if throughput falls before it is reached.
    After a fall, the rise that leads to the knee only makes up for it: fewer requests reached as much before. What
    falls beyond the knee leaves it where it is.
    """
    knees = [best for ramp in ramps if (best := find_knee(ramp)) is not None]
    if not knees:
        return None
    depths = tuple(each.queue_depth for each in knees)
    found = RampPoint(statistics.median_low(depths), statistics.median(each.throughput for each in knees))
    rise = [load for load in median_ramp(ramps) if load.queue_depth <= found.queue_depth]
    return None if falls(rise) else (found, depths)


def agree(found: RampPoint, depths: Sequence[int]) -> bool:
    """Return whether the knees of three quarters of the ramps are within one doubling of the median."""
    near = sum(0.5 <= depth / found.queue_depth <= 2 for depth in depths)
    return near >= math.ceil(0.75 * len(depths))


REDO_GOOD_NS, REDO_WATCH_NS = 1e6, 5e6
"""Of ``log file parallel write``: good up to the first, to be watched up to the second."""
READ_MODIFY_WRITE = 1.5
"""A 512-byte log write that takes this much longer than one of 4 KiB indicates a device with 4K sectors."""
TOUCH_SLOW, TOUCH_SHARE, TOUCH_EXCESS = 3.0, 0.25, 3.0
"""A volume loads lazily if at least ``TOUCH_SHARE`` of the first reads take ``TOUCH_SLOW`` times the median second
read, and ``TOUCH_EXCESS`` times as many first reads as second reads do."""
PAGES_DIFFER = 0.10
CACHE_GAIN = 1.3
"""A part of the target that is this much faster than the whole is served by a cache."""
_WORDS = msgspec.toml.decode(Path(__file__).with_name("words.toml").read_bytes(), type=dict[str, str])
FLUSH_IS_VOLATILE_NS = 30_000
"""No medium makes data durable faster; a volatile cache that acknowledges writes does."""
WRITE_THROUGH = "write through"
"""In ``queue/write_cache``: the kernel sends no flush, because a completed write is durable."""


def knee_estimate(workload: str, ramps: Sequence[Sequence[RampPoint]], unit: str, ended: str) -> Estimate | None:
    """Return the knee of a sweep over its ramps, its maximum and why it ended; None for short ramps."""
    knee = median_knee(ramps)
    if knee is None:
        return None
    found, depths = knee
    caveats = () if agree(found, depths) else (f"the ramps disagree: {', '.join(map(str, depths))}",)
    most = max(median_ramp(ramps), key=lambda load: load.throughput)
    efficient = f"knee {format_value(found.throughput, unit)} at QD {found.queue_depth}"
    at_most = f"maximum {format_value(most.throughput, unit)} at QD {most.queue_depth}"
    at, depth = {"workload": workload}, float(found.queue_depth)
    extra: dict[str, str | int | float] = {
        "throughput": found.throughput,
        "maximum": most.throughput,
        "maximum_queue_depth": most.queue_depth,
        "per_ramp": " ".join(map(str, depths)),
        "ended": ended,
        "statement": f"{workload}: {efficient}, {at_most}",
        "consequence": f"The ramp ended: {ended}.",
    }
    return Estimate("knee", at, depth, replicates=len(depths), caveats=caveats, extra=extra)


def calibration(small: Sequence[PointResult], large: Sequence[PointResult], limit_ns: float) -> Iterator[Estimate]:
    """Yield the three figures of CALIBRATE_IO, with the latency in full and their caveats."""
    allowed = [point for point in small if point.pooled.mean_ns("read") <= limit_ns]
    if allowed:
        best = max(allowed, key=lambda point: point.iops)
        strict = [point.iops for point in small if point.pooled.quantile_ns("read", 0.99) <= limit_ns]
        extra: dict[str, str | int | float] = {"queue_depth": best.at["queue_depth"], "limit_ns": limit_ns}
        if strict:
            extra["iops_with_p99_in_limit"] = max(strict)
        yield Estimate("calibrate-iops", {}, best.iops, caveats=best.caveats, extra=extra)
        yield Estimate("calibrate-latency", {}, best.pooled.mean_ns("read"), caveats=best.caveats, extra=extra)
    if large:
        fastest = max(large, key=lambda point: point.bytes_per_second)
        depth, rate = fastest.at["queue_depth"], fastest.bytes_per_second
        yield Estimate("calibrate-rate", {}, rate, caveats=fastest.caveats, extra={"queue_depth": depth})


def redo(points: Sequence[PointResult]) -> Iterator[Estimate]:
    """Yield the log write latencies by size, graded as ``log file parallel write``, with advice on the block size."""
    medians = {int(point.at["block_bytes"]): point.pooled.quantile_ns("write", 0.5) for point in points}
    small, page = medians.get(512), medians.get(4096)
    for point in points:
        size = int(point.at["block_bytes"])
        median = medians[size]
        grade = "good" if median <= REDO_GOOD_NS else "watch" if median <= REDO_WATCH_NS else "poor"
        caveats = point.caveats
        if size == 512 and small and page and small > READ_MODIFY_WRITE * page:
            caveats += ("512-byte writes take far longer than 4 KiB writes: use redo logs with 4K blocks",)
        at: Coordinates = {"workload": "redo", "block_bytes": size}
        yield Estimate("redo-p50", at, median, caveats=caveats, extra={"grade": grade})
        yield Estimate("redo-p99", at, point.pooled.quantile_ns("write", 0.99), caveats=caveats)


def redo_under_load(alone: PointResult, loaded: PointResult) -> Estimate:
    """Return the ratio of the log's response time p99 under data load to the one without."""
    before = alone.pooled.quantile_ns("response", 0.99)
    after = pool(loaded.runs)["log"].quantile_ns("response", 0.99)
    ratio = after / before if before else 1.0
    caveats = loaded.caveats
    if ratio > 3:
        caveats += ("the log waits for data I/O: put the redo log on separate storage",)
    extra: dict[str, str | int | float] = {"alone_ns": before, "loaded_ns": after}
    return Estimate("redo-slowdown", {"workload": "redo+oltp"}, ratio, caveats=caveats, extra=extra)


def matrix(points: Sequence[PointResult]) -> Iterator[Estimate]:
    """Yield ORION's matrix: IOPS and latency of small reads and throughput of large reads in every mix."""
    for point in points:
        at: Coordinates = {"small": point.at["small"], "large": point.at["large"]}
        streams = pool(point.runs)
        seconds = sum(run.seconds for run in point.runs)
        if "small" in streams:
            small = streams["small"]
            yield Estimate("matrix-iops", at, small.requests / seconds, caveats=point.caveats)
            yield Estimate("matrix-latency", at, small.mean_ns("read"), caveats=point.caveats)
        if "large" in streams:
            yield Estimate("matrix-rate", at, streams["large"].transferred_bytes / seconds, caveats=point.caveats)


def page_gains(points: Sequence[PointResult]) -> Iterator[Estimate]:
    """Yield the throughput of large requests on huge pages over 4 KiB pages, at each queue depth."""
    by_depth: dict[int, dict[str, PointResult]] = {}
    for point in (each for each in points if "pages" in each.at):
        by_depth.setdefault(int(point.at["queue_depth"]), {})[str(point.at["pages"])] = point
    both = {depth: kinds for depth, kinds in by_depth.items() if len(kinds) == 2}
    best = max(both, key=lambda depth: both[depth]["huge"].bytes_per_second, default=0)
    for queue_depth, kinds in both.items():
        huge, small = kinds["huge"], kinds["4k"]
        at: Coordinates = {"workload": huge.at["workload"], "queue_depth": queue_depth}
        extra: dict[str, str | int | float] = {
            "huge_bytes_per_second": huge.bytes_per_second,
            "small_bytes_per_second": small.bytes_per_second,
            "huge_page_bytes": huge.runs[-1].huge_page_bytes or 0,
        }
        gain = huge.bytes_per_second / small.bytes_per_second
        if queue_depth == best:
            text = f"{huge.at['workload']}: buffers on huge pages give {gain:.2f} times the throughput of 4 KiB pages"
            rates = f"{format_rate(huge.bytes_per_second)} against {format_rate(small.bytes_per_second)}"
            matters = f" {_WORDS['pages']}" if abs(gain - 1) > PAGES_DIFFER else ""
            extra |= {"statement": text, "consequence": f"{rates} at QD {queue_depth}.{matters}"}
        yield Estimate("page-gain", at, gain, caveats=huge.caveats, extra=extra)


def scaling(
    alone: Mapping[str, float],
    together: float,
    unit: str,
    path_bandwidth: TargetBandwidth | None,
    shared_disks: Sequence[str] = (),
) -> Estimate:
    """Return the throughput of all paths together over the sum of each alone, and what they share."""
    total = sum(alone.values())
    efficiency = together / total
    extra: dict[str, str | int | float] = {f"alone {path} {unit}": value for path, value in alone.items()}
    extra[f"together {unit}"] = together
    singly = " + ".join(format_value(value, unit) for value in alone.values())
    path_rate = path_bandwidth.bytes_per_second if path_bandwidth and unit == "bytes/s" else None
    if shared_disks:
        cap = f"The paths share disks: {', '.join(shared_disks)}."
    elif path_bandwidth is None:
        cap = "Whether they share an adapter or interface is unknown."
    else:
        rate, source = format_rate(path_bandwidth.bytes_per_second), path_bandwidth.source
        cap = f"Bandwidth of the paths together: {rate} ({source})"
        if path_rate is None:
            cap += "."
        elif total > path_rate:
            cap = f"Bottleneck: the paths carry {rate} together ({source}), less than the sum of each alone."
        else:
            cap += ", not the bottleneck."
    extra |= {
        "statement": f"{len(alone)} paths together reach {as_percent(efficiency, '.1f')} of the sum of each alone",
        "consequence": f"{format_value(together, unit)} of {singly}. {cap}",
    }
    if path_rate is not None:
        extra["path_bandwidth_bytes_per_second"] = path_rate
    return Estimate("scaling", {"paths": len(alone)}, efficiency, extra=extra)


def first_touch(first_ns: Sequence[float], second_ns: Sequence[float]) -> Estimate:
    """Return the share of first reads that took far longer than the median second one; robust against outliers."""
    usual = statistics.median(second_ns)
    slow = [time for time in first_ns if time > TOUCH_SLOW * usual]
    share, again = (sum(time > TOUCH_SLOW * usual for time in times) / len(times) for times in (first_ns, second_ns))
    extra: dict[str, str | int | float] = {"first_ns": statistics.median(first_ns), "second_ns": usual}
    extra |= {"slow_second_share": again, "blocks": len(first_ns)}
    if share >= TOUCH_SHARE and share >= TOUCH_EXCESS * again:
        extra |= {
            "statement": f"{as_percent(share)} of first reads took {format_ns(statistics.median(slow))}, "
            f"second reads {format_ns(usual)}",
            "consequence": f"Medians of {len(first_ns)} blocks across the target. {_WORDS['first-touch']}",
            "remedy": _WORDS["first-touch-remedy"],
            "severity": "warning",
        }
    return Estimate("first-touch", {}, share, extra=extra)


def flush_cost(direct_ns: float, durable_ns: float, write_cache: str | None) -> Estimate:
    """Return the latency that making an 8 KiB write durable adds, at the median.

    A device whose cache is ``write through`` has no volatile cache, or protects it against power loss: the kernel
    sends it no flush, and a write without one is as durable (Documentation/block/writeback_cache_control.rst).
    """
    cost = max(0.0, durable_ns - direct_ns)
    why = "no medium flushes this fast: a volatile cache of the device, host or array acknowledges the write"
    caveats = (why,) if cost < FLUSH_IS_VOLATILE_NS and write_cache != WRITE_THROUGH else ()
    extra: Coordinates = {"direct_ns": direct_ns, "durable_ns": durable_ns, "write_cache": write_cache or "unknown"}
    return Estimate("flush-cost", {}, cost, caveats=caveats, extra=extra)


def largest_cached_set(rates: Mapping[int, float]) -> int | None:
    """Return the largest working set in bytes that is clearly faster than the whole target; None if none is."""
    whole = rates[max(rates)]
    faster = [size for size, rate in rates.items() if rate >= CACHE_GAIN * whole]
    return max(faster, default=None)


def cache_size_bytes(rates: Mapping[int, float]) -> int:
    """Return the largest working set that is about as fast as the fastest one: a cache holds all of it."""
    best = max(rates.values())
    return max(size for size, rate in rates.items() if rate * CACHE_GAIN >= best)


def working_set(points: Sequence[PointResult]) -> Estimate:
    """Return the speedup of the fastest working set over the whole target, and what it implies about a cache."""
    rates = {int(point.at["working_set_bytes"]): point.iops for point in points}
    smallest, whole = min(rates), max(rates)
    gain, cached_set = max(rates.values()) / rates[whole], largest_cached_set(rates)
    range_ = f"{format_bytes(smallest)} to {format_bytes(whole)}"
    extra: dict[str, str | int | float]
    if cached_set is None:
        extra = {
            "statement": f"no cache found: no working set from {range_} is {CACHE_GAIN:g} times as fast as the whole",
            "consequence": f"A cache larger than {format_bytes(whole)} would not show: increase size to find it.",
        }
    else:
        held = cache_size_bytes(rates)
        extra = {
            "statement": f"a cache of about {format_bytes(held)} or more serves the target",
            "consequence": f"Working set {format_bytes(held)}: {format_value(rates[held], '1/s')}; whole target "
            f"({format_bytes(whole)}): {format_value(rates[whole], '1/s')}. A database that reads more than the cache "
            "holds gets the lower rate or less, because some reads of the whole target still hit the cache. Set size "
            f"to {format_bytes(EXCEEDS_CACHE * held)} or more to measure the storage without it.",
            "severity": "warning",
            "cache_bytes": held,
            "largest_cached_bytes": cached_set,
        }
    return Estimate("working-set-gain", {"workload": "working-set"}, gain, extra=extra)


def recheck_physical(point: PointResult, rates: Mapping[int, float]) -> Part:
    """Return the physical check of a point, with the result of the sweep over working sets."""
    size, cached_set, whole = int(point.at["working_set_bytes"]), largest_cached_set(rates), max(rates)
    (part,) = (part for part in point.parts if part.name == "physical")
    if cached_set is None:
        reason = passed(f"working sets up to {format_bytes(whole)} are equally fast: no cache of that size or less")
    elif size <= cached_set:
        times = f"{rates[size] / rates[whole]:.1f} times the IOPS of the whole target ({format_bytes(whole)})"
        reason = suspect_cache(Validity.WARN, times)
    else:
        reason = warn(f"a cache of at least {format_bytes(cached_set)} serves part of it")
    return Part(part.name, (*part.found, reason))


def full_rate(workload: str, points: Sequence[PointResult], unit: str) -> Estimate | Gap:
    """Return the CPUs that the host used at the highest throughput, kernel threads and interrupts included."""
    candidates = [point for point in points if not any(part.from_cache for part in point.parts)] or points
    best = max(candidates, key=lambda point: point.bytes_per_second)  # of requests of one size
    hosts, costs = known(run.host_cpu for run in best.runs), known(run.io_cpu_ns for run in best.runs)
    if hosts is None or costs is None:
        return Gap(f"io.direct: CPUs that {workload} takes", "the CPU time of this host cannot be read")
    seconds = sum(run.counter_seconds for run in best.runs)
    capacity, taken = sum(host.capacity_ns for host in hosts), sum(costs)
    used, all_cpus = taken / seconds / 1e9, capacity / seconds / 1e9
    each = taken / max(1, sum(run.requests for run in best.runs))
    kernel = sum(host.system_ns + host.interrupt_ns for host in hosts) / capacity
    reached = format_value(best.bytes_per_second if unit == "bytes/s" else best.iops, unit)
    extra: dict[str, str | int | float] = {
        "queue_depth": best.at["queue_depth"],
        "host_ns_per_request": each,
        "host_kernel_percent": 100 * kernel,
        "statement": f"{workload}: I/O costs {used:.2f} of {all_cpus:.0f} CPUs at {reached}",
        "consequence": f"{format_ns(each)} per I/O in this process, kernel threads and interrupts; the kernel used "
        f"{as_percent(kernel)} of all CPU time, for any process. {_WORDS['kernel-shares']}",
    }
    return Estimate("full-rate-cpus", {"workload": workload}, used, caveats=best.caveats, extra=extra)


def engine_gain(workload: str, queue_depth: int, ratios: Sequence[float], names: tuple[str, str]) -> Estimate:
    """Return the throughput ratio of two engines, the median over alternating pairs."""
    ratio, low, high = with_interval(ratios)
    first, second = names
    at: Coordinates = {"workload": workload, "engines": f"{first} over {second}"}
    text = f"{workload} at QD {queue_depth}: {first} has {ratio:.2f} times the throughput of {second}"
    pairs = f"{len(ratios)} alternating pairs: {min(ratios):.2f} to {max(ratios):.2f}."
    return Estimate("engine-gain", at, ratio, low, high, len(ratios), extra={"statement": text, "consequence": pairs})
