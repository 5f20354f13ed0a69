"""Where a probe would write: the file system of a path, and what to type before a device is overwritten."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from msgspec import Struct

from sizeup.procfs.block import find_device_folder, find_partitions, format_device_number
from sizeup.procfs.kernel_file import PROC, SYS, list_names, read_integer, read_line
from sizeup.procfs.mounts import MountEntry, is_below, read_mountinfo


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
    path: str, device_number: int, *, by_id: str = "/dev/disk/by-id", sysfs: str = SYS, proc: str = PROC
) -> Device:
    """A device as the kernel knows its number."""
    folder = find_device_folder(device_number, sysfs)
    sectors = None if folder is None else read_integer(f"{folder}/size")
    family = {format_device_number(device_number)}
    if folder is not None:
        family |= {number for part in find_partitions(folder) if (number := read_line(f"{part}/dev")) is not None}
    return Device(
        path,
        names_that_allow(device_number, by_id=by_id, sysfs=sysfs),
        None if sectors is None else sectors * 512,  # in sectors of 512 bytes, whatever the device's own
        tuple(mount.point for mount in read_mountinfo(proc) or () if mount.devno in family),
    )


def names_that_allow(device_number: int, *, by_id: str = "/dev/disk/by-id", sysfs: str = SYS) -> tuple[str, ...]:
    """The names that allow writing: by-id names, else the serial, else ``major:minor``."""
    names = []
    for name in list_names(by_id):
        with suppress(OSError):
            if os.stat(os.path.join(by_id, name)).st_rdev == device_number:
                names.append(name)
    if names:
        return tuple(names)
    folder = find_device_folder(device_number, sysfs)
    for name in ("serial", "device/serial", "device/wwid"):
        serial = None if folder is None else read_line(f"{folder}/{name}")
        if serial is not None:
            return (serial,)
    return (format_device_number(device_number),)


def find_mount(path: str, *, proc: str = PROC) -> MountEntry | None:
    """The mount that an absolute path lies on, by its spelling alone: nothing of the path itself is touched."""
    around = [mount for mount in read_mountinfo(proc) or () if is_below(path, (mount.point,))]
    # Of two on one point the later covers the earlier.
    return max(reversed(around), key=lambda mount: len(mount.point), default=None)
