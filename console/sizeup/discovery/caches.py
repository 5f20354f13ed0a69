"""Caches from ``cpuN/cache/indexK`` (Documentation/ABI/testing/sysfs-devices-system-cpu).

One value per level, kind and set of CPUs that share it, made at the set's first CPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from sizeup.discovery.cpus import CPU, CpuSet, read_set
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.topology import Cache, CacheKind, Core
from sizeup.procfs.lists import format_list
from sizeup.units import parse_bytes

_KINDS = {"Data": CacheKind.DATA, "Instruction": CacheKind.INSTRUCTION, "Unified": CacheKind.UNIFIED}
_INDEXES_LIMIT = 16
_SIZE = re.compile(r"\d{1,9}[KM]?")


def _index_number(name: str) -> int:
    digits = name.removeprefix("index")
    return int(digits) if digits.isdecimal() and len(digits) < 3 else _INDEXES_LIMIT


_LIST_FIRST = ("shared_cpu_list", "shared_cpu_map")
_MAP_FIRST = ("shared_cpu_map", "shared_cpu_list")


def overlaps(caches: Iterable[Cache]) -> tuple[tuple[Cache, Cache], ...]:
    """Pairs of one level and kind that share CPUs without being the same: one of them is wrong."""
    owner: dict[tuple[int, CacheKind, int], Cache] = {}
    pairs: dict[tuple[CpuSet, CpuSet], tuple[Cache, Cache]] = {}
    for cache in caches:
        for cpu in cache.shared_by:
            other = owner.setdefault((cache.level, cache.kind, cpu), cache)
            if other is not cache:
                pairs.setdefault((other.shared_by, cache.shared_by), (other, cache))
    return tuple(pairs.values())


def read_caches(sysroot: Sysroot, cores: tuple[Core, ...]) -> tuple[tuple[Cache, ...], tuple[str, ...]]:
    """Caches of all online CPUs, from the nearest level outwards; and where list and mask contradict each other."""
    shelf = _KnownCaches({}, {}, {}, {}, frozenset(cpu for core in cores for cpu in core.pus))
    caches = _read_caches(sysroot, cores, _LIST_FIRST, shelf)
    contradicted = tuple(shelf.contradictions.values())
    if contradictions := overlaps(caches):
        # Lists and masks say the same in a kernel; in an edited capture one of them may be stale.
        by_mask = _read_caches(sysroot, cores, _MAP_FIRST, _KnownCaches({}, {}, {}, {}, shelf.online))
        if len(overlaps(by_mask)) < len(contradictions):
            return by_mask, contradicted
    return caches, contradicted


def _read_caches(
    sysroot: Sysroot, cores: tuple[Core, ...], names: tuple[str, str], shelf: _KnownCaches
) -> tuple[Cache, ...]:
    found: dict[tuple[int, CacheKind, CpuSet], Cache] = {}
    for core in cores:
        # Threads of one core share all its caches, except where firmware or a hypervisor says otherwise.
        covered: set[int] = set()
        for cpu in core.pus:
            if cpu not in covered:
                covered.update(_read_caches_of(sysroot, cpu, core, names, found, shelf))
    if not found:
        for core in cores:
            found.update(_read_own_caches(sysroot, core.pus))
    order = {CacheKind.DATA: 0, CacheKind.INSTRUCTION: 1, CacheKind.UNIFIED: 2}
    return tuple(sorted(found.values(), key=lambda cache: (cache.level, order[cache.kind], cache.shared_by)))


class _KnownCaches(Struct, frozen=True):
    """What is known after the first cores, so that the next cost a read for each cache of their own."""

    indexes: dict[tuple[str | None, tuple[str, ...]], tuple[tuple[str, int, CacheKind], ...]]
    """Level and kind by directory name, for each kind of core and set of names."""
    geometry: dict[tuple[str | None, int, CacheKind, int | None], Cache]
    """A cache of the same level, kind and size, in a core of the same kind: lines, ways and sets are its own."""
    covered: dict[tuple[int, CacheKind], set[int]]
    """CPUs whose cache of a level and kind was found already."""
    contradictions: dict[tuple[int, CacheKind], str]
    """The first cache of each level and kind whose list and mask differ, in words."""
    online: frozenset[int]


def _read_indexes(sysroot: Sysroot, directory: str, entries: tuple[str, ...]) -> tuple[tuple[str, int, CacheKind], ...]:
    indexes = []
    for name in sorted(entries, key=_index_number):
        if _index_number(name) >= _INDEXES_LIMIT:
            continue
        level = sysroot.integer(f"{directory}/{name}/level")
        kind = _KINDS.get(sysroot.line(f"{directory}/{name}/type") or "")
        if level is not None and kind is not None and 1 <= level <= 9:
            indexes.append((name, level, kind))
    return tuple(indexes)


def _read_caches_of(
    sysroot: Sysroot,
    cpu: int,
    core: Core,
    names: tuple[str, str],
    found: dict[tuple[int, CacheKind, CpuSet], Cache],
    shelf: _KnownCaches,
) -> CpuSet:
    """Add one CPU's caches to ``found``; the value is the set that shares its nearest one."""
    directory = f"{CPU}/cpu{cpu}/cache"
    nearest: CpuSet = ()
    entries = sysroot.names(directory)
    indexes = shelf.indexes.get((core.kind, entries))
    if indexes is None:
        indexes = shelf.indexes[core.kind, entries] = _read_indexes(sysroot, directory, entries)
    for name, level, kind in indexes:
        index = f"{directory}/{name}"
        if cpu in shelf.covered.get((level, kind), ()):
            continue
        # Some firmware leaves the map empty: the core's own threads are the least that share it.
        shared = read_set(sysroot, index, names, member=cpu) or core.pus
        shelf.covered.setdefault((level, kind), set()).update(shared)
        nearest = nearest or shared
        if (level, kind, shared) in found:
            continue
        size = sysroot.parsed(f"{index}/size", parse_cache_size) or None
        like = shelf.geometry.get((core.kind, level, kind, size))
        if (like is None or shared != core.pus) and (level, kind) not in shelf.contradictions:
            # Of caches that no other core shares, the first stands for all: they are many.
            _compare(sysroot, index, cpu, (level, kind), shelf)
        if like is None:
            like = shelf.geometry[core.kind, level, kind, size] = Cache(
                level=level,
                kind=kind,
                size_bytes=size,
                line_bytes=sysroot.integer(f"{index}/coherency_line_size") or None,
                shared_by=shared,
                ways=sysroot.integer(f"{index}/ways_of_associativity") or None,
                sets=sysroot.integer(f"{index}/number_of_sets") or None,
            )
        found[level, kind, shared] = Cache(level, kind, size, like.line_bytes, shared, like.ways, like.sets)
    return nearest


def _compare(sysroot: Sysroot, index: str, cpu: int, level_kind: tuple[int, CacheKind], shelf: _KnownCaches) -> None:
    """Note where list and mask of a cache differ in CPUs that are online; an empty one says nothing."""
    by_list, by_mask = (read_set(sysroot, index, (name,)) for name in _LIST_FIRST)
    if not by_list or not by_mask or set(by_list) & shelf.online == set(by_mask) & shelf.online:
        return
    level, kind = level_kind
    shelf.contradictions[level_kind] = (
        f"L{level} {kind.value} cache of CPU {cpu} is shared by CPUs {format_list(by_list)} by its list, "
        f"by CPUs {format_list(by_mask)} by its mask"
    )


def parse_cache_size(text: str) -> int:
    """Return the bytes of a cache, ``32K``; no cache has a thousand TiB."""
    if _SIZE.fullmatch(text) is None:
        raise ValueError(f"expected the size of a cache such as 32K, found {text[:40]!r}")
    return parse_bytes(text)


_OWN_CACHES = (
    ("l1_dcache", 1, CacheKind.DATA),
    ("l1_icache", 1, CacheKind.INSTRUCTION),
    ("l2_cache", 2, CacheKind.UNIFIED),
)


def _read_own_caches(sysroot: Sysroot, cpus: CpuSet) -> dict[tuple[int, CacheKind, CpuSet], Cache]:
    """The caches of one core as sparc and old POWER kernels give them: files of the CPU, sizes in bytes."""
    found = {}
    for name, level, kind in _OWN_CACHES:
        size = sysroot.integer(f"{CPU}/cpu{cpus[0]}/{name}_size")
        if size:
            line = sysroot.integer(f"{CPU}/cpu{cpus[0]}/{name}_line_size")
            found[level, kind, cpus] = Cache(level, kind, size, line or None, cpus)
    return found
