"""What this process may use: affinity and the cgroup's cpusets, versions 1 and 2 (man 7 cpuset, cgroup-v2.rst)."""

from __future__ import annotations

from msgspec import Struct

from sizeup.discovery.sysroot import Sysroot
from sizeup.procfs.lists import parse_cpulist
from sizeup.procfs.mounts import parse_mounts
from sizeup.procfs.process import parse_allowed, parse_cgroup


class CpusetLimits(Struct, frozen=True):
    """None where nothing restricts, or nothing was captured."""

    cpus: tuple[int, ...] | None = None
    nodes: tuple[int, ...] | None = None
    affinity: tuple[int, ...] | None = None
    """CPUs of the affinity mask (taskset), cpusets included by the kernel."""
    cpuset: tuple[int, ...] | None = None
    """CPUs of the cgroup's cpuset alone."""
    cgroup: str | None = None
    """The cgroup's path where it has a cpuset."""


def read_cpuset_limits(sysroot: Sysroot) -> CpusetLimits:
    """What the process that reads, or that made the capture, may run on and allocate from."""
    try:
        affinity, nodes = parse_allowed(sysroot.read("/proc/self/status") or "")
    except ValueError as error:
        sysroot.note("/proc/self/status", f"malformed: {error}")
        affinity = nodes = None
    path = sysroot.line("/proc/self/cpuset")
    if path is None:
        groups = parse_cgroup(sysroot.read("/proc/self/cgroup") or "")
        own = [group.path for group in groups if "cpuset" in group.controllers]
        path = next(iter((*own, *(group.path for group in reversed(groups) if group.unified))), None)
    cpuset = memory = None
    if path is not None:
        mounts = parse_mounts(sysroot.read("/proc/mounts") or sysroot.read("/proc/self/mounts") or "")
        first = [
            mount.point
            for mount in mounts
            if mount.kind == "cpuset" or (mount.kind == "cgroup" and "cpuset" in mount.options)
        ]
        # Version 1 first: it wins where both are.
        for directory in (*first, *(mount.point for mount in mounts if mount.kind == "cgroup2")):
            base = directory.rstrip("/") + ("" if path == "/" else path)
            cpuset = _first(sysroot, base, ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus", "cpus"))
            memory = _first(sysroot, base, ("cpuset.mems.effective", "cpuset.effective_mems", "cpuset.mems", "mems"))
            if cpuset or memory:
                break
    return CpusetLimits(
        cpus=_both(affinity, cpuset), nodes=_both(nodes, memory), affinity=affinity, cpuset=cpuset, cgroup=path
    )


def _first(sysroot: Sysroot, directory: str, names: tuple[str, ...]) -> tuple[int, ...] | None:
    return next(filter(None, (sysroot.parsed(f"{directory}/{name}", parse_cpulist) for name in names)), None)


def _both(one: tuple[int, ...] | None, other: tuple[int, ...] | None) -> tuple[int, ...] | None:
    if one is None or other is None:
        return one if other is None else other
    return tuple(sorted(set(one) & set(other))) or one
