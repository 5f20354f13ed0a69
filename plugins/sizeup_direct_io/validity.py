"""Checks of a result: direct I/O, physical data, concurrent writers.

Each check uses evidence that was read with the measurement, and names the evidence that decided.
No single check finds every error: a sparse file passes the alignment and the page cache, a file
with journaled data passes the open, and a buffered one passes the accounting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import partial

from msgspec import Struct

from sizeup.units import as_percent, format_bytes, format_ns, format_rate, format_value
from sizeup_direct_io.disks import is_virtual, rotating_disks, storage_systems
from sizeup_direct_io.measure import MeasuredPoint
from sizeup_direct_io.presets import SMALL_BYTES, LoadPoint
from sizeup_direct_io.settings import RunSettings
from sizeup_direct_io.target import TargetSetup
from sizeup_direct_io.worker import Pattern

CHARGED_LOW, CHARGED_HIGH = 0.95, 1.05
"""Bytes charged to this process at the block layer over requested bytes, if all I/O is direct."""
REPORTED_UNCERTAINTY, MAX_UNCERTAINTY = 0.005, 0.05
"""Of the requested bytes: from the first on the uncertainty is reported, from the second on nothing is concluded."""
CACHED_SHARE = 0.5
"""Of the target: with more in the page cache before, buffered reads would hardly make it grow."""
IMPLAUSIBLE_NS = 10_000
"""No device behind a bus reads 8 KiB faster; the fastest NVMe devices take about this long."""
ROTATING_IOPS = 2_000
"""Of one rotating disk at most, random: a deep queue within a small part of a fast disk stays below it."""
ALIKE_SHARE, ALL_ALIKE_SHARE = 0.05, 0.95
"""Of the sampled blocks, if identical: a warning from the first share, a failure from the second, since reading them
fetches no data. The header of a disk or file may differ from the rest."""
EXCEEDS_CACHE = 4
"""A working set of this many times a cache: at most a quarter of the random reads can hit it."""
CONCURRENT, SERIALIZED = 0.8, 0.5
"""Throughput of writers to one file over writers to separate files: above the first it scales, below the second a
lock serializes them."""
_WRITERS = {
    "concurrent": ("writers to one file", "writers to separate files", ""),
    "extending": ("writers extending one file", "writers extending separate files", "; preallocate data files"),
}
"""Who is compared with whom, and what to do where they wait for each other."""
FULL_SHARE = 0.95
"""A thread that uses this much of its CPU cannot submit more."""


class Validity(Enum):
    """The result of a check."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


VERDICT_VALUES = {Validity.FAIL: 0.0, Validity.WARN: 0.5, Validity.UNKNOWN: 0.75, Validity.PASS: 1.0}
"""Values in the unit ``verdict``: the worst is the least."""


class Reason(Struct, frozen=True):
    """One piece of evidence with the verdict that it leads to."""

    verdict: Validity
    cause: str
    to_set: str = ""
    """The settings that would settle it."""
    cached: bool = False
    """Only a cache explains it."""
    path_change: str = ""
    """The path change that it reports; empty for none."""

    @property
    def text(self) -> str:
        """The cause with what to set."""
        return f"{self.cause}; {self.to_set}" if self.to_set else self.cause


passed, warn, fail, unknown = (
    partial(Reason, verdict) for verdict in (Validity.PASS, Validity.WARN, Validity.FAIL, Validity.UNKNOWN)
)


def suspect_cache(verdict: Validity, reason: str) -> Reason:
    """Return a reason that only a cache explains."""
    return Reason(verdict, f"{reason}: probably a cache; not used for sizing", cached=True)


class Part(Struct, frozen=True):
    """One check and its evidence, of which there is some."""

    name: str
    found: tuple[Reason, ...]

    @classmethod
    def of(cls, name: str, found: Iterable[Reason]) -> Part:
        """Return a check with its evidence."""
        return cls(name, tuple(found) or (unknown("the kernel reports nothing that would show it"),))

    @property
    def verdict(self) -> Validity:
        """The worst of all."""
        return min((reason.verdict for reason in self.found), key=VERDICT_VALUES.__getitem__)

    @property
    def value(self) -> float:
        """The verdict as a number: the worst is the least."""
        return VERDICT_VALUES[self.verdict]

    @property
    def reasons(self) -> tuple[str, ...]:
        """All evidence, as text."""
        return tuple(reason.text for reason in self.found)

    @property
    def caveats(self) -> tuple[Reason, ...]:
        """The evidence that did not pass."""
        return tuple(reason for reason in self.found if reason.verdict is not Validity.PASS)

    @property
    def from_cache(self) -> bool:
        """The figure may be that of a cache: sizing does not use it, whatever the verdict."""
        return any(reason.cached for reason in self.found)


def check_direct(
    setup: TargetSetup, run: MeasuredPoint, cached_before: int | None, charged: int | None
) -> Iterator[Reason]:
    """Check whether requests bypassed the page cache, by its size and the bytes charged to this process."""
    target, cached, requested = setup.target, setup.cached_bytes(), run.requested_bytes
    if setup.alignment == (0, 0):
        yield fail(f"{target.file_system} does not support direct I/O on this file (statx reports no alignment)")
    elif setup.alignment is not None:
        yield passed(f"direct I/O with {setup.alignment[1]}-byte alignment")
    if cached is not None and cached_before is not None:
        # A few pages come and go with metadata and readers of the same file elsewhere.
        if cached - cached_before > max(1 << 20, requested // 100):
            yield fail(f"the page cache grew by {format_bytes(cached - cached_before)} of this file")
        elif cached_before > CACHED_SHARE * target.size_bytes:
            if charged is None:  # else those decide
                yield unknown(
                    f"{as_percent(cached_before / target.size_bytes)} of the file were in the page cache before the "
                    "run and were left there: buffered reads of them would not make it grow"
                )
        else:
            yield passed("the page cache did not grow")
    if target.in_user_space:
        yield unknown("file system in user space (FUSE): the I/O of its program is not visible")
    elif charged is not None and requested:
        ratio, uncertainty = charged / requested, run.uncertainty_bytes / requested
        layer = "the NFS client, as direct I/O" if target.file_system.startswith("nfs") else "the block layer"
        margin = f" (±{as_percent(uncertainty)})" if uncertainty >= REPORTED_UNCERTAINTY else ""
        text = f"{as_percent(ratio)}{margin} of the requested bytes were counted by {layer}"
        if ratio + uncertainty < CHARGED_LOW:
            yield fail(f"only {text}")
        elif ratio - uncertainty > CHARGED_HIGH:
            yield warn(text)
        elif uncertainty > MAX_UNCERTAINTY:
            yield unknown(f"{text}: the counters were read too late to conclude from them")
        else:
            yield passed(text)


def check_physical(
    setup: TargetSetup, settings: RunSettings, point: LoadPoint, run: MeasuredPoint, counted: int | None
) -> Iterator[Reason]:
    """Check whether the data exists and came from a device that can be this fast and counted the bytes."""
    target, streams = setup.target, [stream for stream, _ in point.loads]
    if (extents := setup.extents) is not None and not any(stream.extends for stream in streams):
        if empty := extents.hole_bytes + extents.unwritten_bytes:
            missing = as_percent(empty / target.size_bytes)
            yield fail(f"{missing} of the target was never written: reads of it reach no device")
        elif extents.odd_bytes:
            odd = format_bytes(extents.odd_bytes)
            yield warn(f"{odd} of the target are compressed, inline or not allocated yet")
        else:
            yield passed("the whole target is written")
    if (content := setup.content) is not None:
        # A device need not read deallocated, zeroed or deduplicated blocks.
        alike, kind = max((content.zero, "zero"), (content.repeated, "identical"))
        found = f"{alike} of {content.blocks} sampled blocks are {kind}"
        if alike >= ALL_ALIKE_SHARE * content.blocks:
            yield fail(
                f"{found}: reads of deallocated, zeroed or deduplicated blocks may reach no medium",
                "write data to the whole target first, or set path to a directory",
            )
        elif alike >= ALIKE_SHARE * content.blocks:
            yield warn(f"{found}: reads of such blocks may reach no medium")
        else:
            yield passed(f"{content.blocks} blocks that were sampled before the run hold data")
    intervals = list(run.intervals.values())
    small = [
        interval.quantile_ns("read", 0.5)
        for stream, interval in zip(streams, intervals, strict=True)
        if stream.block_bytes <= 2 * SMALL_BYTES and interval.count("read")
    ]
    if small and min(small) < IMPLAUSIBLE_NS:
        yield warn(f"read latency p50 of {format_ns(min(small))} is that of a cache, not of a device")
    # Links are full duplex. A number of IOPS alone is no sign of a cache: two NVMe devices of 2017 reached 2.4 million.
    moved = sum(each.read_bytes for each in intervals), sum(each.written_bytes for each in intervals)
    bytes_per_second = max(moved) / run.seconds
    rate = format_rate(bytes_per_second)
    verdict, limit, source = Validity.FAIL, settings.path_limit, "path_limit"
    if not limit and (path := settings.bandwidth("path_bandwidth")):
        # Discovery may not know every stage.
        verdict, limit, source = Validity.WARN, path.bytes_per_second, path.source
    if not limit:
        yield unknown(f"{rate}: the bandwidth of the path is unknown", "set path_limit to compare with it")
    elif bytes_per_second > limit:
        yield suspect_cache(verdict, f"{rate} exceeds the bandwidth of the path ({format_rate(limit)}, {source})")
    else:
        yield passed(f"{rate} is within the bandwidth of the path ({format_rate(limit)}, {source})")
    at_random = all(stream.pattern is Pattern.RANDOM for stream in streams)
    turning = rotating_disks(target.device_number) if at_random else 0
    if run.iops > ROTATING_IOPS * turning > 0:
        disks = "a rotating disk" if turning == 1 else f"{turning} rotating disks"
        yield warn(
            f"{format_value(run.iops, '1/s')} random IOPS exceed what {disks} can deliver: a cache, or flash that "
            "reports itself as rotating"
        )
    if counted is not None and run.requested_bytes:
        ratio, nfs = counted / run.requested_bytes, target.file_system.startswith("nfs")
        text = f"{as_percent(ratio)} of the requested bytes were counted by the {'NFS client' if nfs else 'device'}"
        if ratio + run.uncertainty_bytes / run.requested_bytes < CHARGED_LOW:
            yield fail(text)
        elif ratio > 1.5:
            yield warn(f"{text}: other processes use it too")
        else:
            yield passed(text)
    elif counted is None and not target.network and not target.in_user_space:
        yield unknown("the disks beneath the target are unknown, and with them their caches")
    # No cache beyond this host can be excluded, except by a working set that is far larger.
    unseen = {"virtual device": is_virtual(target.device_number), "network file system": target.network}
    holders = [*storage_systems(target.device_number), *(name for name, found in unseen.items() if found)]
    used, stated = round(point.share * target.size_bytes), settings.cache_size
    size, working_set = format_bytes(stated), f"working set of {format_bytes(used)}"
    for holder in holders or ["storage"] * bool(stated):
        if not stated:
            yield warn(
                f"{holder}: its cache is not visible from this host and may serve the {working_set}",
                f"set cache_size to the size of that cache and size to {EXCEEDS_CACHE} times it",
            )
        elif used < EXCEEDS_CACHE * stated:
            yield warn(
                f"{holder}: its cache ({size}, cache_size) may serve much of the {working_set}",
                f"set size to {format_bytes(EXCEEDS_CACHE * stated)} or more",
            )
        else:
            most = as_percent(stated / used)
            yield passed(f"{holder}: its cache ({size}, cache_size) holds at most {most} of the {working_set}")
    if target.in_user_space:
        yield unknown("file system in user space (FUSE): a cache in its program is not visible here")


def check_writers(name: str, ratio: float | None, note: str = "", to_set: str = "") -> Part:
    """Check whether writers to one file block each other, or those that extend it, as on most file systems.

    ``ratio`` is the throughput of one file over many, and ``note`` what goes with it; without one, why there is none.
    """
    one, many, advice = _WRITERS[name]
    if ratio is None:
        return Part.of(name, [unknown(note, to_set)])
    text = f"{one} reach {as_percent(ratio)} of the IOPS of {many}" + (f" ({note})" if note else "")
    if ratio <= SERIALIZED:
        return Part.of(name, [fail(f"{text}: they are serialized{advice}")])
    return Part.of(name, [passed(text) if ratio >= CONCURRENT else warn(text)])


def check_submitters(share: float | None, threads: int) -> Part:
    """Check whether a submitting thread, rather than the device, limited the figure."""
    of = "the submitting thread" if threads == 1 else f"the busiest of {threads} submitting threads"
    if share is None:
        found = unknown("the CPU time of the submitting threads is unknown: the window was too short")
    elif share >= FULL_SHARE:
        full = f"the submitting CPU was {as_percent(share)} busy"
        found = warn(f"{full}: the figure is a lower limit of the device; increase threads")
    else:
        found = passed(f"the CPU of {of} was {as_percent(share)} busy")
    return Part.of("submitters", [found])


def mixed_paths(change: str) -> Reason:
    """Return what a path change means for a figure measured across it."""
    cause = f"{change}: the figure mixes measurements from before and after it"
    return Reason(Validity.WARN, cause, path_change=change)
