"""What a control group lets this process ask of a device: a figure below the limit is the limit's, not the device's."""

from __future__ import annotations

import os
from collections.abc import Iterator

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


def _groups(text: str) -> Iterator[tuple[str, str]]:
    """Controller (empty for version 2) and each group from this process's own to the root."""
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "blkio" not in controllers.split(","):
            continue
        while path not in {"", "/"}:
            yield controllers, path
            path = os.path.dirname(path)


def read_limits(device_number: int, *, sysfs: str = "/sys", own_groups: str = "/proc/self/cgroup") -> tuple[str, ...]:
    """The limits that this process's control groups put on a device, in words."""
    numbers = _numbers(device_number, sysfs)
    found = []
    for controllers, path in _groups(read_text(own_groups) or ""):
        if controllers:
            places = [(name, f"{sysfs}/fs/cgroup/blkio{path}/{name}") for name in _V1_FILES]
        else:
            places = [("io.max", f"{sysfs}/fs/cgroup{root}{path}/io.max") for root in ("", "/unified")]
        for name, place in places:
            for line in (read_text(place) or "").splitlines():
                number, _, limit = line.partition(" ")
                set_ones = " ".join(word for word in limit.split() if not word.endswith("=max"))
                if number in numbers and set_ones:
                    found.append(f"{name} of the control group {path}: {set_ones}")
    return tuple(found)
