"""The access patterns of a pointer chase: the latency depends on them, so they name the series."""

from __future__ import annotations

from msgspec import Struct

from sizeup_memory.binding import Pages

KIB = 1 << 10
MIB = 1 << 20


class ChasePattern(Struct, frozen=True):
    """Pages, stride and order of a pointer chase."""

    name: str
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
        ChasePattern("dram-thp", Pages.THP),
        ChasePattern("dram-4k", Pages.BASE),
        ChasePattern("hugetlb-2m", Pages.HUGE2M, page_bytes=2 * MIB),
        ChasePattern("hugetlb-1g", Pages.HUGE1G, page_bytes=1024 * MIB),
        ChasePattern("tlb-local", Pages.BASE, stride_bytes=256, block_bytes=256 * KIB),
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
