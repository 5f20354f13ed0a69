"""Sizes the memory of each measuring thread so that its accesses reach memory and not a cache."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.model.sample import Coordinates, Estimate
from sizeup.model.topology import CacheKind
from sizeup.units import format_bytes
from sizeup_memory.cpu_selection import CACHE_MULTIPLE

UNIT_BYTES = 2 << 20
"""Buffers are multiples of this: it fits base pages, transparent huge pages and reserved ones of 2 MiB."""
USUAL_BYTES = 64 << 20
"""A thread gets at least this much where memory allows it: more than the caches of its own core hold."""
_KEPT_SHARE = 7 / 8
"""Of half of the memory, where that is less than what is wanted: free memory changes until it is allocated."""
_L3 = 3
_ASSUMED_L3_BYTES = 32 << 20
_WARN = 0.5
"""In the unit ``verdict``."""


class SharedCache(Struct, frozen=True, array_like=True):
    """A cache and those CPUs of a step that share it."""

    level: int
    bytes: int
    cpus: tuple[int, ...]
    assumed: bool = False
    """The kernel reports no L3 for these CPUs, and the size is a guess."""


def shared_caches(machine: Machine, cpus: Collection[int]) -> tuple[SharedCache, ...]:
    """Return the caches from L2 up that ``cpus`` use; an L3 of 32 MiB per package is assumed where none is reported."""
    caches = []
    with_l3: set[int] = set()
    index = {cpu: at for at, cpu in enumerate(cpus)}
    for cache in machine.caches:
        sharing = tuple(sorted((cpu for cpu in cache.shared_by if cpu in index), key=index.__getitem__))
        if cache.kind is CacheKind.INSTRUCTION or cache.level < _L3 - 1 or not cache.size_bytes or not sharing:
            continue
        caches.append(SharedCache(cache.level, cache.size_bytes, sharing))
        with_l3.update(sharing if cache.level >= _L3 else ())
    package_of = {cpu: at for at, package in enumerate(machine.packages) for cpu in package.pus}
    without: dict[int, list[int]] = {}
    for cpu in cpus:
        if cpu not in with_l3:
            without.setdefault(package_of.get(cpu, 0), []).append(cpu)
    caches += [SharedCache(_L3, _ASSUMED_L3_BYTES, tuple(some), assumed=True) for some in without.values()]
    return tuple(caches)


def bytes_per_thread(caches: Iterable[SharedCache], active: Collection[int]) -> dict[int, int]:
    """Return the least memory of each active CPU: four times its share of every cache that it uses.

    A cache is shared by the active CPUs only: one active CPU needs four times the whole L3.
    """
    least = dict.fromkeys(active, UNIT_BYTES)
    for cache in caches:
        sharing = [cpu for cpu in cache.cpus if cpu in least]
        for cpu in sharing:
            wanted = CACHE_MULTIPLE * cache.bytes / len(sharing)
            least[cpu] = max(least[cpu], -int(-wanted // UNIT_BYTES) * UNIT_BYTES)
    return least


def bytes_for_all(caches: Sequence[SharedCache], points: Iterable[Collection[int]]) -> dict[int, int]:
    """Return the least memory of each CPU that serves every one of ``points``, each a set of active CPUs."""
    least: dict[int, int] = {}
    for active in points:
        for cpu, size in bytes_per_thread(caches, active).items():
            least[cpu] = max(size, least.get(cpu, 0))
    return least


def fitted(least: Mapping[int, int], available: int | None) -> dict[int, int]:
    """Return the memory of each CPU that fits half of ``available`` together; None: unknown.

    At least 64 MiB each where that fits, then down to ``least``, then less than that in proportion. Empty if there
    is not even 2 MiB each.
    """
    usual = USUAL_BYTES
    half = None if available is None else max(0, available) // 2
    while True:
        sizes = {cpu: max(usual, size) for cpu, size in least.items()}
        if half is None or sum(sizes.values()) <= half:
            return sizes
        if usual == UNIT_BYTES:
            break
        usual //= 2
    share = half * _KEPT_SHARE / sum(least.values())
    sizes = {cpu: int(size * share) // UNIT_BYTES * UNIT_BYTES for cpu, size in least.items()}
    return sizes if all(sizes.values()) else {}


def cache_multiple(caches: Iterable[SharedCache], sizes: Mapping[int, int]) -> tuple[float, SharedCache | None]:
    """Return the lowest multiple of its share of a cache that an active CPU has, with that cache; ``sizes`` by CPU."""
    found: tuple[float, SharedCache | None] = (float("inf"), None)
    for cache in caches:
        sharing = [sizes[cpu] for cpu in cache.cpus if cpu in sizes]
        if sharing and min(sharing) * len(sharing) / cache.bytes < found[0]:
            found = min(sharing) * len(sharing) / cache.bytes, cache
    return found


def cache_caveats(
    caches: Sequence[SharedCache], groups: Sequence[Mapping[int, int]], access: str = "reads"
) -> tuple[list[str], bool]:
    """Return the caveats of a point about caches, and whether its accesses may come from one.

    ``groups``: memory by CPU, of threads whose shares are counted apart, such as a pointer chase beside streams.
    """
    caveats: list[str] = []
    multiple, cache, sizes = min(
        ((*cache_multiple(caches, group), group) for group in groups), key=lambda found: found[0]
    )
    cached = cache is not None and multiple < CACHE_MULTIPLE
    if cache is not None and cached:
        active = [cpu for cpu in cache.cpus if cpu in sizes]
        size = format_bytes(min(sizes[cpu] for cpu in active))
        has = f"1 active thread has {size}" if len(active) == 1 else f"{len(active)} active threads have {size} each"
        caveats.append(
            f"{access} may come from L{cache.level}: {has}, {multiple:.2g} times the "
            f"share of {format_bytes(cache.bytes)}; expected at least {CACHE_MULTIPLE} times"
        )
    used = {cpu for group in groups for cpu in group}
    if any(cache.assumed and used & set(cache.cpus) for cache in caches):
        caveats.append(f"the size of the L3 is unknown: {format_bytes(_ASSUMED_L3_BYTES)} per package is assumed")
    return caveats, cached


def cache_verdict(at: Coordinates, caveats: Sequence[str], *, cached: bool = True) -> Iterator[Estimate]:
    """Yield the verdict that keeps a figure at ``at`` out of every conclusion where a cache may have served it."""
    if cached:
        extra = {"verdict": "warn", "reasons": "; ".join(caveats), "sizing": "left out"}
        yield Estimate("validity", {**at, "part": "cache"}, _WARN, caveats=tuple(caveats), extra=extra)


def usable_bytes(wanted: int, available: int) -> int:
    """Return ``wanted`` if half of ``available`` holds it, else what does."""
    half = max(0, available) // 2
    return wanted if wanted <= half else int(half * _KEPT_SHARE) // UNIT_BYTES * UNIT_BYTES


def reduced_caveats(requested: int, span: int) -> list[str]:
    """Return a caveat if the working set is smaller than requested."""
    if span >= requested:
        return []
    return [f"working set reduced from {format_bytes(requested)} to {format_bytes(span)}: not enough available memory"]
