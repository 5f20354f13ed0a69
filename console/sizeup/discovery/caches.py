"""Caches from ``cpuN/cache/indexK`` (Documentation/ABI/testing/sysfs-devices-system-cpu).

One value per level, kind and set of CPUs that share it, made at the set's first CPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

from msgspec.structs import replace

from sizeup.discovery.cpus import CPU, CpuSet, read_set
from sizeup.discovery.sysroot import Sysroot, numbers_in
from sizeup.model.topology import Cache, CacheKind, Core
from sizeup.procfs.lists import format_list
from sizeup.units import parse_bytes

_KINDS = {"Data": CacheKind.DATA, "Instruction": CacheKind.INSTRUCTION, "Unified": CacheKind.UNIFIED}
_OWN_CACHES = (
    ("l1_dcache", 1, CacheKind.DATA),
    ("l1_icache", 1, CacheKind.INSTRUCTION),
    ("l2_cache", 2, CacheKind.UNIFIED),
)
_INDEX = re.compile(r"index(\d|1[0-5])")
_SIZE = re.compile(r"\d{1,9}[KM]?")
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
    caches, differing = _read_caches(sysroot, cores, _LIST_FIRST)
    if contradictions := overlaps(caches):
        # Lists and masks say the same in a kernel; in an edited capture one of them may be stale.
        by_mask, _ = _read_caches(sysroot, cores, _MAP_FIRST)
        if len(overlaps(by_mask)) < len(contradictions):
            return by_mask, differing
    return caches, differing


def _read_caches(
    sysroot: Sysroot, cores: tuple[Core, ...], names: tuple[str, str]
) -> tuple[tuple[Cache, ...], tuple[str, ...]]:
    online = {cpu for core in cores for cpu in core.pus}
    found: dict[tuple[int, CacheKind, CpuSet], Cache] = {}
    # What is known after the first cores, so that the next cost a read for each cache of their own.
    indexes: dict[tuple[str | None, tuple[str, ...]], list[tuple[str, int, CacheKind]]] = {}
    """Level and kind by directory name, for each kind of core and set of names."""
    geometry: dict[tuple[str | None, int, CacheKind, int | None], Cache] = {}
    """A cache of the same level, kind and size, in a core of the same kind: lines, ways and sets are its own."""
    covered: dict[tuple[int, CacheKind], set[int]] = {}
    """CPUs whose cache of a level and kind was found already."""
    differing: dict[tuple[int, CacheKind], str] = {}
    """The first cache of each level and kind whose list and mask differ, in words."""
    for core in cores:
        near: set[int] = set()
        for cpu in core.pus:
            if cpu in near:
                continue  # threads of a core share all its caches, except where firmware or a hypervisor says otherwise
            directory = f"{CPU}/cpu{cpu}/cache"
            entries = sysroot.names(directory)
            if (core.kind, entries) not in indexes:
                known = indexes[core.kind, entries] = []
                for number in numbers_in(entries, _INDEX):
                    name = f"index{number}"
                    level = sysroot.integer(f"{directory}/{name}/level")
                    kind = _KINDS.get(sysroot.line(f"{directory}/{name}/type") or "")
                    if level is not None and kind is not None and 1 <= level <= 9:
                        known.append((name, level, kind))
            nearest: CpuSet = ()
            for name, level, kind in indexes[core.kind, entries]:
                index = f"{directory}/{name}"
                if cpu in covered.get((level, kind), ()):
                    continue
                # Some firmware leaves the map empty: the core's own threads are the least that share it.
                shared = read_set(sysroot, index, names, member=cpu) or core.pus
                covered.setdefault((level, kind), set()).update(shared)
                nearest = nearest or shared
                if (level, kind, shared) in found:
                    continue
                size = sysroot.parsed(f"{index}/size", parse_cache_size) or None
                like = geometry.get((core.kind, level, kind, size))
                if (like is None or shared != core.pus) and (level, kind) not in differing:
                    # Of caches that no other core shares, the first stands for all: they are many.
                    by_list, by_mask = (set(read_set(sysroot, index, (file,)) or ()) for file in _LIST_FIRST)
                    if by_list and by_mask and by_list & online != by_mask & online:
                        differing[level, kind] = (
                            f"L{level} {kind.value} cache of CPU {cpu} is shared by CPUs {format_list(tuple(by_list))} "
                            f"by its list, by CPUs {format_list(tuple(by_mask))} by its mask"
                        )
                if like is None:
                    like = geometry[core.kind, level, kind, size] = Cache(
                        level=level,
                        kind=kind,
                        size_bytes=size,
                        line_bytes=sysroot.integer(f"{index}/coherency_line_size") or None,
                        shared_by=shared,
                        ways=sysroot.integer(f"{index}/ways_of_associativity") or None,
                        sets=sysroot.integer(f"{index}/number_of_sets") or None,
                    )
                found[level, kind, shared] = replace(like, shared_by=shared)
            near.update(nearest)
    if not found:
        # sparc and old POWER kernels have files of the CPU, with sizes in bytes.
        for cpus, (name, level, kind) in product((core.pus for core in cores), _OWN_CACHES):
            base = f"{CPU}/cpu{cpus[0]}/{name}"
            if size := sysroot.integer(f"{base}_size"):
                line = sysroot.integer(f"{base}_line_size")
                found[level, kind, cpus] = Cache(level, kind, size, line or None, cpus)
    order = {CacheKind.DATA: 0, CacheKind.INSTRUCTION: 1, CacheKind.UNIFIED: 2}
    caches = sorted(found.values(), key=lambda cache: (cache.level, order[cache.kind], cache.shared_by))
    return tuple(caches), tuple(differing.values())


def parse_cache_size(text: str) -> int:
    """Return the bytes of a cache, ``32K``; no cache has a thousand TiB."""
    if _SIZE.fullmatch(text) is None:
        raise ValueError(f"expected the size of a cache such as 32K, found {text[:40]!r}")
    return parse_bytes(text)
