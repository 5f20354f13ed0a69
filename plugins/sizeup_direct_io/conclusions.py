"""What the points of a run come to: knees, calibration, log writes, pages, paths, and what they cost."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from sizeup.model.gap import Gap
from sizeup.model.sample import Estimate
from sizeup.units import format_bytes, format_ns, format_rate, format_value
from sizeup_direct_io import knee
from sizeup_direct_io.estimates import Coordinates, PointResult, known, pool
from sizeup_direct_io.path_bandwidth import PathBandwidth
from sizeup_direct_io.validity import Part, Validity

REDO_GOOD_NS, REDO_WATCH_NS = 1e6, 5e6
"""Of ``log file parallel write``: up to the first all is well, up to the second worth watching."""
READ_MODIFY_WRITE = 1.5
"""A 512-byte log write that takes this much longer than one of 4 KiB shows a device of 4K sectors."""
TOUCH_SLOW, TOUCH_SHARE, TOUCH_EXCESS = 3.0, 0.25, 3.0
"""A volume loads lazily when this share of first reads take so many times the usual second one, and so many times
as many of them as of the second reads."""
PAGES_DIFFER = 0.10
CACHE_GAIN = 1.3
"""A part of the target that runs so many times as fast as the whole is answered by something faster than it."""
PUBLISHED_KERNEL_SHARES = (
    "So much the database does not get. Published for comparison: 22 % of the CPU time in the kernel at 223 MB/s of "
    "direct reads over NFS (K. Closson, 2006); for one OLTP load 31.5 % over NFS and 22.4 % over Fibre Channel "
    "(NetApp, quoted there), which is 40.6 % more. How many cores those machines had is not said."
)
_PAGES_MATTER = (
    "A database whose large reads go to huge pages sees the first figure, one that reads into private memory on 4K "
    "pages the second."
)
FLUSH_IS_VOLATILE_NS = 30_000
"""No medium makes data safe faster; a cache that says so does."""


def knee_estimate(workload: str, ramps: Sequence[Sequence[knee.RampPoint]], unit: str, ended: str) -> Estimate | None:
    """The knee of a sweep over its ramps, the most it reached, and why it went no further; None for short ramps."""
    found = knee.agree(ramps)
    if found is None:
        return None
    caveats = () if found.agreed else (f"the ramps disagree: {', '.join(map(str, found.per_ramp))}",)
    most = knee.maximum(ramps)
    efficient = f"knee at {found.queue_depth} out with {format_value(found.throughput, unit)}"
    at_most = f"most {format_value(most.throughput, unit)} at {most.queue_depth}"
    return Estimate(
        "knee",
        {"workload": workload},
        float(found.queue_depth),
        low=float(min(found.per_ramp)),
        high=float(max(found.per_ramp)),
        replicates=len(found.per_ramp),
        caveats=caveats,
        extra={
            "throughput": found.throughput,
            "maximum": most.throughput,
            "maximum_queue_depth": most.queue_depth,
            "per_ramp": " ".join(map(str, found.per_ramp)),
            "ended": ended,
            "statement": f"{workload}: {efficient}, {at_most}",
            "consequence": f"The ramp ended: {ended}.",
        },
    )


def calibration(small: Sequence[PointResult], large: Sequence[PointResult], limit_ns: float) -> Iterator[Estimate]:
    """The three figures of CALIBRATE_IO, with the latency in full and the caveats beside them."""
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
        yield Estimate(
            "calibrate-rate",
            {},
            fastest.bytes_per_second,
            caveats=fastest.caveats,
            extra={"queue_depth": fastest.at["queue_depth"]},
        )


def redo(points: Sequence[PointResult]) -> Iterator[Estimate]:
    """Log writes by size, with what ``log file parallel write`` would say and which block to take."""
    medians = {int(point.at["block_bytes"]): point.pooled.quantile_ns("write", 0.5) for point in points}
    small, page = medians.get(512), medians.get(4096)
    for point in points:
        size = int(point.at["block_bytes"])
        median = medians[size]
        grade = "good" if median <= REDO_GOOD_NS else "watch" if median <= REDO_WATCH_NS else "poor"
        caveats = point.caveats
        if size == 512 and small and page and small > READ_MODIFY_WRITE * page:
            caveats += ("512-byte writes take far longer than those of 4 KiB: use redo logs with 4K blocks",)
        at: Coordinates = {"workload": "redo", "block_bytes": size}
        yield Estimate("redo-p50", at, median, caveats=caveats, extra={"grade": grade})
        yield Estimate("redo-p99", at, point.pooled.quantile_ns("write", 0.99), caveats=caveats)


def redo_under_load(alone: PointResult, loaded: PointResult) -> Estimate:
    """How much slower the log gets beside the data, at the 99th percentile of its response."""
    before = alone.pooled.quantile_ns("response", 0.99)
    after = pool(loaded.runs)["log"].quantile_ns("response", 0.99)
    ratio = after / before if before else 1.0
    caveats = loaded.caveats
    if ratio > 3:
        caveats += ("the log waits for the data: give the redo a place of its own",)
    extra: dict[str, str | int | float] = {"alone_ns": before, "loaded_ns": after}
    return Estimate("redo-slowdown", {"workload": "redo+oltp"}, ratio, caveats=caveats, extra=extra)


def matrix(points: Sequence[PointResult]) -> Iterator[Estimate]:
    """ORION's table: small requests, small latency and large throughput in every mix."""
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
    """Throughput of large requests on huge pages over 4K pages, at each concurrency."""
    by_place: dict[int, dict[str, PointResult]] = {}
    for point in points:
        if "pages" in point.at:
            by_place.setdefault(int(point.at["queue_depth"]), {})[str(point.at["pages"])] = point
    both = {depth: kinds for depth, kinds in by_place.items() if len(kinds) == 2}
    best = max(both, key=lambda depth: both[depth]["huge"].bytes_per_second, default=0)
    for queue_depth, kinds in by_place.items():
        if len(kinds) == 2:
            huge, small = kinds["huge"], kinds["4k"]
            at: Coordinates = {"workload": huge.at["workload"], "queue_depth": queue_depth}
            extra: dict[str, str | int | float] = {
                "huge_bytes_per_second": huge.bytes_per_second,
                "small_bytes_per_second": small.bytes_per_second,
                "huge_page_bytes": huge.runs[-1].huge_page_bytes or 0,
            }
            gain = huge.bytes_per_second / small.bytes_per_second
            if queue_depth == best:
                text = f"{huge.at['workload']}: {gain:.2f} times as fast on huge pages as on 4K pages"
                rates = f"{format_rate(huge.bytes_per_second)} against {format_rate(small.bytes_per_second)}"
                matters = f" {_PAGES_MATTER}" if abs(gain - 1) > PAGES_DIFFER else ""
                extra |= {"statement": text, "consequence": f"{rates} with {queue_depth} out.{matters}"}
            yield Estimate("page-gain", at, gain, caveats=huge.caveats, extra=extra)


def scaling(
    alone: Mapping[str, float],
    together: float,
    unit: str,
    path_bandwidth: PathBandwidth | None,
    shared_disks: Sequence[str] = (),
) -> Estimate:
    """All paths together over the sum of each alone, and what they share that caps them."""
    total = sum(alone.values())
    efficiency = together / total
    extra: dict[str, str | int | float] = {f"alone {path} {unit}": value for path, value in alone.items()}
    extra[f"together {unit}"] = together
    singly = " + ".join(format_value(value, unit) for value in alone.values())
    path_rate = path_bandwidth.bytes_per_second if path_bandwidth and unit == "bytes/s" else None
    if shared_disks:
        cap = f"They lie on the same disks: {', '.join(shared_disks)}."
    elif path_bandwidth is None:
        cap = "What the paths share is unknown to discovery."
    elif path_rate is None:
        cap = f"The ways carry {format_rate(path_bandwidth.bytes_per_second)} together ({path_bandwidth.source})."
    elif total > path_rate:
        cap = (
            f"The cap is the way: {format_rate(path_rate)} together ({path_bandwidth.source}), less than the sum of "
            "the paths."
        )
    else:
        cap = f"The ways carry {format_rate(path_rate)} together ({path_bandwidth.source}): they are not what limits."
    extra |= {
        "statement": f"{len(alone)} paths together reach {efficiency:.1%} of the sum of each",
        "consequence": f"{format_value(together, unit)} of {singly}. {cap}",
    }
    if path_rate is not None:
        extra["way_bytes_per_second"] = path_rate
    return Estimate("scaling", {"paths": len(alone)}, efficiency, extra=extra)


def first_touch(first_ns: Sequence[float], second_ns: Sequence[float]) -> Estimate:
    """The share of first reads that took far longer than the usual second one; counted, as a mean may be one hiccup."""
    usual = statistics.median(second_ns)
    slow = [time for time in first_ns if time > TOUCH_SLOW * usual]
    share, again = (sum(time > TOUCH_SLOW * usual for time in times) / len(times) for times in (first_ns, second_ns))
    extra: dict[str, str | int | float] = {
        "first_ns": statistics.median(first_ns),
        "second_ns": usual,
        "slow_second_share": again,
        "blocks": len(first_ns),
    }
    if share >= TOUCH_SHARE and share >= TOUCH_EXCESS * again:
        extra |= {
            "statement": f"{share:.0%} of first reads took {format_ns(statistics.median(slow))}, "
            f"second ones {format_ns(usual)}",
            "consequence": f"Medians, {len(first_ns)} blocks all over the target. The volume loads blocks as they are "
            "first touched, or a cache behind it keeps what was read: a first pass measures the loading, a second one "
            "perhaps a cache, and neither is the disks.",
            "remedy": "Read the whole volume once and run this again. Where the first reads are then as fast as the "
            "second, it had been loading (a volume made from a snapshot does); where not, it is a cache.",
            "severity": "warning",
        }
    return Estimate("first-touch", {}, share, extra=extra)


def flush_cost(direct_ns: float, durable_ns: float, write_cache: str | None) -> Estimate:
    """What making one 8K write durable adds to writing it, at the median."""
    cost = max(0.0, durable_ns - direct_ns)
    caveats: tuple[str, ...] = ()
    if cost < FLUSH_IS_VOLATILE_NS:
        caveats = ("no medium flushes this fast: a cache of the device, the host or the array answers",)
    extra: dict[str, str | int | float] = {
        "direct_ns": direct_ns,
        "durable_ns": durable_ns,
        "write_cache": write_cache or "unknown",
    }
    return Estimate("flush-cost", {}, cost, caveats=caveats, extra=extra)


def largest_cached_set(rates: Mapping[int, float]) -> int | None:
    """The largest working set, in bytes, that runs clearly faster than the whole target; None where none does."""
    whole = rates[max(rates)]
    faster = [size for size, rate in rates.items() if rate >= CACHE_GAIN * whole]
    return max(faster, default=None)


def cache_size_bytes(rates: Mapping[int, float]) -> int:
    """The largest working set that runs about as fast as any: a cache holds all of it."""
    best = max(rates.values())
    return max(size for size, rate in rates.items() if rate * CACHE_GAIN >= best)


def working_set(points: Sequence[PointResult]) -> Estimate:
    """The fastest working set over the whole target, and what that says about a cache behind it."""
    rates = {int(point.at["working_set_bytes"]): point.iops for point in points}
    smallest, whole = min(rates), max(rates)
    gain, cached_set = max(rates.values()) / rates[whole], largest_cached_set(rates)
    range_ = f"{format_bytes(smallest)} to {format_bytes(whole)}"
    extra: dict[str, str | int | float]
    if cached_set is None:
        extra = {
            "statement": f"no cache shows itself: within {range_} no part runs {CACHE_GAIN:g} times as fast",
            "consequence": f"One that holds all {format_bytes(whole)} would not: give a larger size to find it.",
        }
    else:
        held = cache_size_bytes(rates)
        extra = {
            "statement": f"a cache of about {format_bytes(held)} or more answers behind the target",
            "consequence": f"Reads within {format_bytes(held)} run at {format_value(rates[held], '1/s')}, over the "
            f"whole {format_bytes(whole)} at {format_value(rates[whole], '1/s')}. A database that reads more than the "
            "cache holds gets the lower rate or less: some reads over the whole still come from the cache.",
            "severity": "warning",
            "held_bytes": held,
            "edge_bytes": cached_set,
        }
    return Estimate("working-set-gain", {"workload": "working-set"}, gain, extra=extra)


def recheck_physical(point: PointResult, rates: Mapping[int, float]) -> Part:
    """The physical part of a point's verdict, with what the sweep over working sets said."""
    size, cached_set, whole = int(point.at["working_set_bytes"]), largest_cached_set(rates), max(rates)
    (part,) = (part for part in point.parts if part.name == "physical")
    if cached_set is None:
        even = f"working sets up to {format_bytes(whole)} run alike: no cache of that size or less answers"
        return replace(part, reasons=(*part.reasons, even))
    times = f"{rates[size] / rates[whole]:.1f} times the rate of the whole {format_bytes(whole)}"
    held = f"{times}: cache? Kept out of sizing"
    some = f"a cache of at least {format_bytes(cached_set)} answers part of it"
    reason = held if size <= cached_set else some
    worst = Validity.FAIL if part.verdict is Validity.FAIL else Validity.WARN
    return replace(
        part,
        verdict=worst,
        reasons=(*part.reasons, reason),
        caveats=(*part.caveats, reason),
        from_cache=part.from_cache or size <= cached_set,
    )


def full_rate(workload: str, points: Sequence[PointResult], unit: str) -> Estimate | Gap:
    """What the most that the storage gave cost this host in CPUs, kernel threads and interrupts with it."""
    candidates = [point for point in points if not any(part.from_cache for part in point.parts)] or points
    best = max(candidates, key=lambda point: point.bytes_per_second if unit == "bytes/s" else point.iops)
    hosts, costs = known(run.host_cpu for run in best.runs), known(run.io_cpu_ns for run in best.runs)
    if hosts is None or costs is None:
        return Gap(f"io.direct: CPUs that {workload} takes", "the CPU time of this host cannot be read")
    seconds = sum(run.seconds for run in best.runs)
    capacity, taken = sum(host.capacity_ns for host in hosts), sum(costs)
    used, all_cpus = taken / seconds / 1e9, capacity / seconds / 1e9
    each = taken / max(1, sum(run.requests for run in best.runs))
    kernel = sum(host.system_ns + host.interrupt_ns for host in hosts) / capacity
    reached = format_value(best.bytes_per_second if unit == "bytes/s" else best.iops, unit)
    return Estimate(
        "full-rate-cpus",
        {"workload": workload},
        used,
        caveats=best.caveats,
        extra={
            "queue_depth": best.at["queue_depth"],
            "host_ns_per_request": each,
            "host_kernel_percent": 100 * kernel,
            "statement": f"{workload} at its full {reached} takes {used:.2f} of {all_cpus:.0f} CPUs",
            "consequence": f"{format_ns(each)} a request of this process, kernel threads and interrupts; the kernel "
            f"was busy {kernel:.0%} of all CPU time, whoever asked. {PUBLISHED_KERNEL_SHARES}",
        },
    )


def engine_gain(workload: str, queue_depth: int, ratios: Sequence[float], names: tuple[str, str]) -> Estimate:
    """Throughput of one engine over that of another, the median over alternating pairs."""
    ratio = statistics.median(ratios)
    first, second = names
    text = f"{workload}, {queue_depth} out: {first} at {ratio:.2f} times the rate of {second}"
    return Estimate(
        "engine-gain",
        {"workload": workload, "engines": f"{first} over {second}"},
        ratio,
        low=min(ratios),
        high=max(ratios),
        replicates=len(ratios),
        extra={
            "statement": text,
            "consequence": f"{len(ratios)} alternating pairs: {min(ratios):.2f} to {max(ratios):.2f}.",
        },
    )
