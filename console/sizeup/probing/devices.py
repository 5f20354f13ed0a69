"""Where a probe would write: the file system of a path, and what to type before a device is overwritten."""

from __future__ import annotations

import os
import re
import stat

from msgspec import Struct

from sizeup.procfs.kernel_file import read_text


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
        tuple(line.split()[4] for line in (read_text(mounts) or "").splitlines() if line.split()[2] in family),
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


class TargetFileSystem(Struct, frozen=True):
    """One mounted file system."""

    point: str
    kind: str
    """As the kernel calls it: ``ext4``, ``nfs4``."""
    source: str

    @property
    def local(self) -> bool:
        """Whether it can be asked without waiting for a server, or for a process, that may never answer."""
        return not self.kind.startswith(("nfs", "cifs", "smb", "ceph", "gluster", "lustre", "9p", "afs", "fuse"))


def find_mount(path: str, *, mounts: str = "/proc/self/mountinfo") -> TargetFileSystem | None:
    """The mount that an absolute path lies on, by its spelling alone: nothing of the path itself is touched."""
    found: TargetFileSystem | None = None
    for line in (read_text(mounts) or "").splitlines():
        fields = line.split()
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
        inside = point == "/" or path == point or path.startswith(f"{point}/")
        if inside and (found is None or len(point) >= len(found.point)):  # of two on one point the later covers it
            kind, source = fields[fields.index("-") + 1 :][:2]
            found = TargetFileSystem(point, kind, source)
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
