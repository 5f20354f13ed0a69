"""Where a probe would write: the file system of a path, and what to type before a device is overwritten."""

from __future__ import annotations

import os
import stat

from msgspec import Struct

from sizeup.procfs.kernel_file import read_text
from sizeup.procfs.mounts import MountEntry, parse_mountinfo


class Device(Struct, frozen=True):
    """A block device as whoever must name it should see it."""

    path: str
    names: tuple[str, ...]
    """Each of them allows writing; the first one is asked for."""
    size_bytes: int | None
    """None where the kernel does not say."""
    mounted_on: tuple[str, ...]
    """Of the device itself and of its partitions."""


def read_device(path: str) -> Device | None:
    """The device behind a path; None where the path is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return describe(path, status.st_rdev) if stat.S_ISBLK(status.st_mode) else None


def describe(
    path: str,
    device_number: int,
    *,
    by_id: str = "/dev/disk/by-id",
    sysfs: str = "/sys",
    mounts: str = "/proc/self/mountinfo",
) -> Device:
    """A device as the kernel knows its number."""
    folder = f"{sysfs}/dev/block/{_number(device_number)}"
    sectors = (read_text(f"{folder}/size") or "").strip()
    family = {_number(device_number), *_partitions(folder)}
    return Device(
        path,
        names_that_allow(device_number, by_id=by_id, sysfs=sysfs),
        int(sectors) * 512 if sectors.isdecimal() else None,  # in sectors of 512 bytes, whatever the device's own
        tuple(mount.point for mount in parse_mountinfo(read_text(mounts) or "") if mount.devno in family),
    )


def names_that_allow(device_number: int, *, by_id: str = "/dev/disk/by-id", sysfs: str = "/sys") -> tuple[str, ...]:
    """The names that allow writing: by-id names, else the serial, else ``major:minor``."""
    names = _links(device_number, by_id)
    if names:
        return tuple(names)
    number = _number(device_number)
    for place in ("serial", "device/serial", "device/wwid"):
        serial = (read_text(f"{sysfs}/dev/block/{number}/{place}") or "").strip()
        if serial:
            return (serial,)
    return (number,)


def find_mount(path: str, *, mounts: str = "/proc/self/mountinfo") -> MountEntry | None:
    """The mount that an absolute path lies on, by its spelling alone: nothing of the path itself is touched."""
    found: MountEntry | None = None
    for mount in parse_mountinfo(read_text(mounts) or ""):
        inside = mount.point == "/" or path == mount.point or path.startswith(f"{mount.point}/")
        # Of two on one point the later covers the earlier.
        if inside and (found is None or len(mount.point) >= len(found.point)):
            found = mount
    return found


def _number(device_number: int) -> str:
    return f"{os.major(device_number)}:{os.minor(device_number)}"


def _links(device_number: int, folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = []
    for name in names:
        try:
            if os.stat(os.path.join(folder, name)).st_rdev == device_number:
                found.append(name)
        except OSError:
            continue
    return found


def _partitions(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [
        (read_text(f"{folder}/{name}/dev") or "").strip()
        for name in names
        if os.path.exists(f"{folder}/{name}/partition")
    ]
