"""The access patterns of a pointer chase: the latency depends on them, so they name the series."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from statistics import median

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.model.sample import Estimate
from sizeup.model.topology import CacheKind
from sizeup.units import as_percent, format_bytes, format_in
from sizeup_memory.binding import Pages
from sizeup_memory.cpu_selection import CACHE_MULTIPLE
from sizeup_memory.host_load import BUSY_SHARE, OthersUse

KIB = 1 << 10
MIB = 1 << 20
DRAM = "DRAM"
STEP = 1.5
"""Latencies that differ by more than this factor are not of one level."""
RESOLUTION = 1.25
"""A step is located between working sets that differ by no more than this factor."""
_DIGITS = 3
"""Binary digits of a working set, so that it reads well: 640 KiB."""
_STOLEN_SHARE = 0.01
"""Of all CPU time; below it the kernel's ticks tell nothing."""
_LEAST_HUGE_SHARE = 0.95


class ChasePattern(Struct, frozen=True):
    """Pages, stride and order of a pointer chase."""

    name: str
    label: str
    """What a reader calls it: ``4 KiB pages``."""
    pages: Pages
    stride_bytes: int | None = None
    """None: the machine's cache line."""
    block_bytes: int = 0
    """0: random over the whole working set; else all of one block before the next."""
    page_bytes: int = 0
    """Page size of the pool that must be reserved; 0 if none is needed."""

    @property
    def level_series(self) -> str:
        """The series of its latency by cache level; empty where it leaves lines out, so that caches hold more of it."""
        return "" if self.stride_bytes else f"{self.name}-level"


CHASE_PATTERNS = {
    pattern.name: pattern
    for pattern in (
        ChasePattern("dram-thp", "transparent huge pages", Pages.THP),
        ChasePattern("dram-4k", "4 KiB pages", Pages.BASE),
        ChasePattern("hugetlb-2m", "reserved 2 MiB pages", Pages.HUGE2M, page_bytes=2 * MIB),
        ChasePattern("hugetlb-1g", "reserved 1 GiB pages", Pages.HUGE1G, page_bytes=1024 * MIB),
        ChasePattern("tlb-local", "4 KiB pages in blocks", Pages.BASE, stride_bytes=256, block_bytes=256 * KIB),
    )
}


def working_sets(smallest: int, largest: int, count: int) -> tuple[int, ...]:
    """Return powers of two from ``smallest`` to at least ``largest``, reduced evenly to ``count`` of them."""
    sizes = [smallest]
    while sizes[-1] < largest:
        sizes.append(sizes[-1] * 2)
    if len(sizes) <= count:
        return tuple(sizes)
    last = len(sizes) - 1
    return tuple(sizes[round(index * last / (count - 1))] for index in range(count))


def unit_bytes(size: int, pattern: ChasePattern) -> int:
    """Return what a working set of about this size is a multiple of: its blocks, and its pages once it has several."""
    pages = [page for page in (2 * MIB, pattern.page_bytes) if size > page]
    return max(4 * KIB, pattern.block_bytes, *pages)


def floor(size: int, pattern: ChasePattern, digits: int = 64) -> int:
    """Return the largest working set up to ``size``, of at most so many binary digits; 0 if there is none."""
    step = max(unit_bytes(size, pattern), 1 << max(size.bit_length() - digits, 0))
    return size // step * step


def ceiling(size: int, pattern: ChasePattern, digits: int = 64) -> int:
    """Return the smallest working set of at least ``size``, of at most so many binary digits."""
    step = max(unit_bytes(size, pattern), 1 << max(size.bit_length() - digits, 0))
    return -(-size // step) * step


class Level(Struct, frozen=True):
    """A cache level, or DRAM, and the working sets whose latency is its own."""

    name: str
    least_bytes: int
    """A quarter of the way from the level below to its own size: most loads miss the level below."""
    middle_bytes: int
    """Half of that way: the second working set."""
    most_bytes: int | None = None
    """Three quarters of that way: beyond it, loads begin to miss. None for DRAM."""
    cpus: int = 0
    """How many CPUs share it; 0 for DRAM."""

    def holds(self, span: int) -> bool:
        """Whether a working set lies well inside."""
        return self.least_bytes <= span and (self.most_bytes is None or span <= self.most_bytes)


def cache_levels(machine: Machine, cpu: int, pattern: ChasePattern) -> tuple[tuple[Level, ...], tuple[str, ...]]:
    """Return the cache levels of a CPU, innermost first, and why a reported one is left out.

    A level is left out if what is reported cannot be: no larger than the level below, or too small for a working set.
    """
    sizes: dict[int, tuple[int, int]] = {}
    for cache in machine.caches:
        if cache.kind is not CacheKind.INSTRUCTION and cache.size_bytes and cpu in cache.shared_by:
            sizes[cache.level] = max(sizes.get(cache.level, (0, 0)), (cache.size_bytes, len(cache.shared_by)))
    levels: list[Level] = []
    left_out: list[str] = []
    below = 0
    for number, (size, cpus) in sorted(sizes.items()):
        name = f"L{number}"
        if size <= below:
            left_out.append(f"{name}: reported with {format_bytes(size)}, no more than the level below it")
            continue
        middle = floor(below + (size - below) // 2, pattern, _DIGITS)
        quarter = below + (size - below) // 4
        near = (ceiling(quarter, pattern, _DIGITS), floor(quarter, pattern, _DIGITS))
        least = next((span for span in near if below < span < middle), middle)
        if below < least:
            levels.append(Level(name, least, middle, max(middle, below + (size - below) * 3 // 4), cpus))
        else:
            left_out.append(f"{name}: {format_bytes(size)} is too small for a working set of its own")
        below = size
    return tuple(levels), tuple(left_out)


def dram_level(cache_bytes: int, pattern: ChasePattern) -> Level:
    """Return the level beyond a last-level cache of this size."""
    least = ceiling(CACHE_MULTIPLE * cache_bytes, pattern)
    return Level(DRAM, least, least)


def sizes_inside(levels: Collection[Level], smallest: int, largest: int) -> tuple[int, ...]:
    """Return two working sets inside each level, and the largest."""
    sizes = {size for level in levels for size in (level.least_bytes, level.middle_bytes)}
    return tuple(sorted({size for size in sizes if smallest <= size < largest} | {largest}))


def sizes_at_steps(
    measured: Mapping[int, float], levels: Collection[Level], pattern: ChasePattern, tried: Collection[int]
) -> list[int]:
    """Return a working set between each two neighbors whose latencies differ by a step, most wanted first.

    First come steps inside a level, where none is expected; of the others the largest.
    """
    wanted: list[tuple[bool, float, int]] = []
    order = sorted(measured)
    for low, high in pairwise(order):
        step = max(measured[low], measured[high]) / min(measured[low], measured[high])
        middle = floor(round(math.sqrt(low * high)), pattern, _DIGITS)
        if step > STEP and high / low > RESOLUTION and low < middle < high and middle not in tried:
            inside = any(level.holds(low) and level.holds(high) for level in levels)
            wanted.append((not inside, -step, middle))
    return [size for _, _, size in sorted(wanted)]


class CurveConditions(Struct, frozen=True):
    """What was read beside the latencies."""

    others: OthersUse = OthersUse()
    tlb_reach_bytes: int = 0
    """0: the CPU does not report it."""
    huge_shares: Mapping[int, float] = {}
    """By working set, the share on transparent huge pages; only where those were requested."""
    guest: bool = False
    core_hz: float | None = None
    """Clock of the core right after the measurement; None if it was not measured."""


def level_estimate(
    series: str, level: Level, estimates: Sequence[tuple[int, Estimate]], conditions: CurveConditions
) -> Estimate | None:
    """Return the latency of a level from the working sets inside it; None if none was measured.

    The value is the median over them, the interval holds theirs. If they differ by a step, the level has no single
    latency: the ends are the lowest and the highest, with the cause that was read.
    """
    inside = sorted((span, one) for span, one in estimates if level.holds(span))
    if not inside:
        return None
    spans = [span for span, _ in inside]
    points = [one for _, one in inside]
    values = [one.value for one in points]
    ends = [end for one in points for end in (one.low, one.high) if end is not None]
    caveats = list(dict.fromkeys(caveat for one in points for caveat in one.caveats))
    extra = {**points[-1].extra, "working_sets": ", ".join(map(format_bytes, spans))}
    value = median(values)
    low, high = (min(ends), max(ends)) if ends else (None, None)
    if max(values) > STEP * min(values):
        low, high = min(values), max(values)
        extra["range_cause"] = _range_cause(level, dict(zip(spans, values, strict=True)), conditions)
        caveats.insert(0, f"{level.name} has no single latency: {extra['range_cause']}")
    elif conditions.core_hz is not None:
        cycles = value * conditions.core_hz / 1e9
        note = format_in(float(f"{cycles:.3g}"), "core cycles")
        extra |= {"core_cycles": cycles, "core_hz": conditions.core_hz, "note": note}
    if level.name != DRAM and len(spans) < 2:
        caveats.append(f"{level.name}: one working set only, so that a step inside the level would not be seen")
    return Estimate(
        series=series,
        at={"level": level.name},
        value=value,
        low=low,
        high=high,
        replicates=sum(one.replicates for one in points),
        minimum=min((one.minimum for one in points if one.minimum is not None), default=None),
        disturbed_share=max(one.disturbed_share or 0.0 for one in points),
        converged=all(one.converged is not False for one in points),
        caveats=tuple(caveats),
        extra=extra,
    )


def _range_cause(level: Level, values: Mapping[int, float], conditions: CurveConditions) -> str:
    """Return what makes the latency of a level a range, if it was read."""
    fastest, slowest = (find(values, key=lambda span: values[span]) for find in (min, max))
    factor = values[slowest] / values[fastest]
    low, high = sorted((fastest, slowest))
    where = f"the latencies at {format_bytes(low)} and {format_bytes(high)} differ by a factor of {factor:.1f}"
    reach, others, causes = conditions.tlb_reach_bytes, conditions.others, list[str]()
    if low <= reach < high:
        causes.append(f"the TLB reaches {format_bytes(reach)}")
    for span in (low, high):
        share = conditions.huge_shares.get(span, 1.0)
        if share < _LEAST_HUGE_SHARE:
            causes.append(f"at {format_bytes(span)}, {as_percent(share)} of the memory was on transparent huge pages")
    shared = f"{level.name} is shared by all CPUs" if not level.cpus else f"{level.cpus} CPUs share the {level.name}"
    if level.cpus != 1 and others.cpu_share is not None and others.cpu_share > BUSY_SHARE:
        causes.append(f"{shared}, and other processes used {as_percent(others.cpu_share)} of the CPUs")
    if others.stolen_share is not None and others.stolen_share > _STOLEN_SHARE:
        causes.append(f"the hypervisor ran something else for {as_percent(others.stolen_share)} of the time (steal)")
    unknown = "cause unknown"
    if conditions.guest:
        unknown += f": in a virtual machine it cannot be read what else uses the {level.name} of the host"
    return f"{where}; {'; '.join(causes) or unknown}"
