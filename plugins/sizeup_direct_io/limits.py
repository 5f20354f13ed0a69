"""I/O limits of control groups on a device: a figure at the limit is that of the limit, not of the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sizeup.procfs.block_stack import read_block_stack
from sizeup.procfs.cgroup import CgroupMembership, read_cgroups
from sizeup.procfs.kernel_file import PROC, SYS, read_line, read_text

_V1_FILES = tuple(f"blkio.throttle.{way}_{what}_device" for way in ("read", "write") for what in ("iops", "bps"))


def _numbers(device_number: int, sysfs: str) -> set[str]:
    """Return ``major:minor`` of a device, of the disk it is a partition of, and of the devices beneath it."""
    stack = read_block_stack(device_number, sysfs)
    return set() if stack is None else set(filter(None, (read_line(f"{folder}/dev") for folder in stack.folders)))


def _limit_files(groups: Iterable[CgroupMembership], sysfs: str) -> Iterator[tuple[str, str, str]]:
    """Yield group, name and path of each file that may limit a device for this process."""
    for group in groups:
        for path in group.ancestors():
            if group.unified:
                yield from ((path, "io.max", f"{sysfs}/fs/cgroup{root}{path}/io.max") for root in ("", "/unified"))
            elif "blkio" in group.controllers:
                yield from ((path, name, f"{sysfs}/fs/cgroup/blkio{path}/{name}") for name in _V1_FILES)


def read_limits(device_number: int, *, sysfs: str = SYS, proc: str = PROC) -> tuple[str, ...]:
    """Return the limits of this process's control groups on a device, as text."""
    numbers = _numbers(device_number, sysfs)
    found = []
    for group, name, path in _limit_files(read_cgroups(proc), sysfs):
        for line in (read_text(path) or "").splitlines():
            number, _, limit = line.partition(" ")
            set_ones = " ".join(word for word in limit.split() if not word.endswith("=max"))
            if number in numbers and set_ones:
                found.append(f"{name} of the control group {group}: {set_ones}")
    return tuple(found)
