"""The named ways to build a chain: what "memory latency" means depends on it, so it is in the metric's name."""

from __future__ import annotations

from msgspec import Struct

from sizeup_memory.binding import Pages

KIB = 1 << 10
MIB = 1 << 20


class ChasePattern(Struct, frozen=True):
    """Pages, stride and order of a chain."""

    name: str
    pages: Pages
    stride_bytes: int | None = None
    """None: the machine's cache line."""
    block_bytes: int = 0
    """0: one random cycle over the whole working set; else all of one block before the next."""
    page_bytes: int = 0
    """Of a pool that must be set aside before; 0 where none is needed."""


CHASE_PATTERNS = {
    pattern.name: pattern
    for pattern in (
        ChasePattern("dram-thp", Pages.THP),
        ChasePattern("dram-4k", Pages.BASE),
        ChasePattern("hugetlb-2m", Pages.HUGE2M, page_bytes=2 * MIB),
        ChasePattern("hugetlb-1g", Pages.HUGE1G, page_bytes=1024 * MIB),
        ChasePattern("tlb-local", Pages.BASE, stride_bytes=256, block_bytes=256 * KIB),
    )
}


def working_sets(smallest: int, largest: int, rungs: int) -> tuple[int, ...]:
    """Powers of two from ``smallest`` to at least ``largest``, thinned evenly to ``rungs`` with both ends kept."""
    sizes = [smallest]
    while sizes[-1] < largest:
        sizes.append(sizes[-1] * 2)
    if len(sizes) <= rungs:
        return tuple(sizes)
    last = len(sizes) - 1
    return tuple(sizes[round(rung * last / (rungs - 1))] for rung in range(rungs))
