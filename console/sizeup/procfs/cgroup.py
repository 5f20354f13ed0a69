"""Control groups of a process, ``/proc/PID/cgroup``; cgroups(7)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sizeup.procfs.kernel_file import PROC, read_text


class CgroupMembership(Struct, frozen=True):
    """The group of a process in one hierarchy."""

    controllers: tuple[str, ...]
    """Empty for the one hierarchy of version 2."""
    path: str

    @property
    def unified(self) -> bool:
        """Whether the hierarchy is that of version 2."""
        return not self.controllers

    def ancestors(self) -> Iterator[str]:
        """Path of the group and of each group above it, without the root."""
        path = self.path.rstrip("/")
        while path:
            yield path
            path = path.rpartition("/")[0]


def parse_cgroup(text: str) -> tuple[CgroupMembership, ...]:
    """The hierarchies in the order of the file, which lists version 2 last."""
    groups = []
    for line in text.splitlines():
        hierarchy, _, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if hierarchy.isdecimal() and colon and path.startswith("/"):
            groups.append(CgroupMembership(tuple(controllers.split(",")) if controllers else (), path))
    return tuple(groups)


def read_cgroups(proc: str = PROC) -> tuple[CgroupMembership, ...]:
    """Return the groups of this process; empty where the kernel has none."""
    return parse_cgroup(read_text(f"{proc}/self/cgroup") or "")
