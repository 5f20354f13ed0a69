"""What a control group lets this process ask of a device: a figure below the limit is the limit's, not the device's."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from sizeup.procfs.cgroup import CgroupMembership, parse_cgroup
from sizeup.procfs.kernel_file import read_text

_V1_FILES = tuple(f"blkio.throttle.{way}_{what}_device" for way in ("read", "write") for what in ("iops", "bps"))


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _numbers(device_number: int, sysfs: str) -> set[str]:
    """``major:minor`` of a device, of the disk it is a partition of, and of the devices below it."""
    numbers: set[str] = set()
    folders = [os.path.realpath(f"{sysfs}/dev/block/{os.major(device_number)}:{os.minor(device_number)}")]
    while folders:
        folder = folders.pop()
        number = (read_text(f"{folder}/dev") or "").strip()
        if not number or number in numbers:
            continue
        numbers.add(number)
        if os.path.exists(f"{folder}/partition"):
            folders.append(os.path.dirname(folder))
        folders += [os.path.realpath(f"{folder}/slaves/{name}") for name in _names(f"{folder}/slaves")]
    return numbers


def _limit_files(groups: Iterable[CgroupMembership], sysfs: str) -> Iterator[tuple[str, str, str]]:
    """Group, name and path of each file that may limit a device for this process."""
    for group in groups:
        for path in group.ancestry():
            if group.unified:
                yield from ((path, "io.max", f"{sysfs}/fs/cgroup{root}{path}/io.max") for root in ("", "/unified"))
            elif "blkio" in group.controllers:
                yield from ((path, name, f"{sysfs}/fs/cgroup/blkio{path}/{name}") for name in _V1_FILES)


def read_limits(device_number: int, *, sysfs: str = "/sys", own_groups: str = "/proc/self/cgroup") -> tuple[str, ...]:
    """The limits that this process's control groups put on a device, in words."""
    numbers = _numbers(device_number, sysfs)
    found = []
    for group, name, path in _limit_files(parse_cgroup(read_text(own_groups) or ""), sysfs):
        for line in (read_text(path) or "").splitlines():
            number, _, limit = line.partition(" ")
            set_ones = " ".join(word for word in limit.split() if not word.endswith("=max"))
            if number in numbers and set_ones:
                found.append(f"{name} of the control group {group}: {set_ones}")
    return tuple(found)
