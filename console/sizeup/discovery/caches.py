"""Caches from ``cpuN/cache/indexK`` (Documentation/ABI/testing/sysfs-devices-system-cpu).

One value per level, kind and set of CPUs that share it, made at the set's first CPU.
"""

from __future__ import annotations

from sizeup.discovery.cpus import CPU, CpuSet, read_set
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.topology import Cache, CacheKind, Core
from sizeup.units import parse_bytes

_KINDS = {"Data": CacheKind.DATA, "Instruction": CacheKind.INSTRUCTION, "Unified": CacheKind.UNIFIED}
_INDEXES_LIMIT = 16


def _index_number(name: str) -> int:
    digits = name.removeprefix("index")
    return int(digits) if digits.isdecimal() and len(digits) < 3 else _INDEXES_LIMIT


def read_caches(sysroot: Sysroot, cores: tuple[Core, ...]) -> tuple[Cache, ...]:
    """Caches of all online CPUs, from the nearest level outwards."""
    found: dict[tuple[int, CacheKind, CpuSet], Cache] = {}
    for core in cores:
        # Threads of one core share all its caches, except where firmware or a hypervisor says otherwise.
        covered: set[int] = set()
        for cpu in core.pus:
            if cpu not in covered:
                covered.update(_read_caches_of(sysroot, cpu, core.pus, found))
    order = {CacheKind.DATA: 0, CacheKind.INSTRUCTION: 1, CacheKind.UNIFIED: 2}
    return tuple(sorted(found.values(), key=lambda cache: (cache.level, order[cache.kind], cache.shared_by)))


def _read_caches_of(
    sysroot: Sysroot, cpu: int, siblings: CpuSet, found: dict[tuple[int, CacheKind, CpuSet], Cache]
) -> CpuSet:
    """Add one CPU's caches to ``found``; the value is the set that shares its nearest one."""
    directory = f"{CPU}/cpu{cpu}/cache"
    nearest: CpuSet = ()
    for name in sorted(sysroot.names(directory), key=_index_number):
        if _index_number(name) >= _INDEXES_LIMIT:
            continue
        index = f"{directory}/{name}"
        level = sysroot.integer(f"{index}/level")
        kind = _KINDS.get(sysroot.line(f"{index}/type") or "")
        if level is None or kind is None or not 1 <= level <= 9:
            continue
        shared = read_set(sysroot, index, ("shared_cpu_list", "shared_cpu_map"))
        if shared is None or cpu not in shared:
            # Some firmware leaves the map empty: the core's own threads are the least that share it.
            shared = siblings
        nearest = nearest or shared
        if (level, kind, shared) in found:
            continue
        found[level, kind, shared] = Cache(
            level=level,
            kind=kind,
            size_bytes=sysroot.parsed(f"{index}/size", parse_bytes) or None,
            line_bytes=sysroot.integer(f"{index}/coherency_line_size") or None,
            shared_by=shared,
            ways=sysroot.integer(f"{index}/ways_of_associativity") or None,
            sets=sysroot.integer(f"{index}/number_of_sets") or None,
        )
    return nearest
