"""Cache, TLB and node sizes as vertical lines of a latency curve."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.charts.chart import Boundary
from sizeup.model.machine import Machine
from sizeup.model.topology import CacheKind
from sizeup.session.value import StepRun
from sizeup.units import format_bytes

TLB_REACH = "tlb_reach_bytes"
"""Key in an estimate's ``extra``: the memory that the second-level TLB covers."""


def size_boundaries(run: StepRun, machine: Machine | None) -> tuple[Boundary, ...]:
    """Return the sizes of caches, huge pages and nodes, and the measured TLB reach, smallest first."""
    found = list(_tlb(run))
    if machine is not None:
        found += [*_caches(machine), *_huge_pages(machine), *_nodes(machine)]
    return tuple(sorted(found, key=lambda boundary: boundary.x))


def _caches(machine: Machine) -> Iterator[Boundary]:
    """Return the largest cache of each level."""
    sizes: dict[int, int] = {}
    for cache in machine.caches:
        if cache.kind is not CacheKind.INSTRUCTION and cache.size_bytes is not None:
            sizes[cache.level] = max(sizes.get(cache.level, 0), cache.size_bytes)
    return (Boundary(size, f"L{level} {format_bytes(size)}") for level, size in sizes.items())


def _tlb(run: StepRun) -> Iterator[Boundary]:
    reaches = {
        reach
        for point in run.points.values()
        if point.estimate is not None
        and isinstance(reach := point.estimate.extra.get(TLB_REACH), int | float)
        and reach > 0
    }
    return (Boundary(reach, f"TLB {format_bytes(reach)}") for reach in reaches)


def _huge_pages(machine: Machine) -> Iterator[Boundary]:
    """Return the smallest huge page; a smaller working set cannot fill one."""
    sizes = [pool.page_bytes for node in machine.nodes for pool in node.huge_pages]
    return (Boundary(size, f"huge page {format_bytes(size)}") for size in sorted(sizes)[:1])


def _nodes(machine: Machine) -> Iterator[Boundary]:
    """Return the smallest node; a larger working set spans several."""
    sizes = [node.memory_bytes for node in machine.nodes if node.memory_bytes]
    return (Boundary(size, f"node {format_bytes(size)}") for size in sorted(sizes)[:1])
