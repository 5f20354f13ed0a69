"""Where storage can be measured on this machine: mounted file systems and devices, with type, size and free space."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import wait

from msgspec import Struct

from sizeup.files import answer_of
from sizeup.model.machine import Machine
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.procfs.kernel_file import PROC
from sizeup.procfs.mounts import MountEntry, read_mountinfo
from sizeup.units import format_decimal_bytes

_PSEUDO = frozenset({
    "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
    "fusectl", "hugetlbfs", "iso9660", "mqueue", "nsfs", "proc", "pstore", "ramfs", "rpc_pipefs", "securityfs",
    "selinuxfs", "squashfs", "sysfs", "tmpfs", "tracefs",
})  # fmt: skip
"""File systems without storage of their own; memory is none."""
_NO_DISKS = frozenset({BlockKind.PARTITION, BlockKind.LOOP, BlockKind.RAM, BlockKind.OPTICAL})
_RESERVE_SHARE, _RESERVE_BYTES = 0.10, 5 << 30
RESPONSE_SECONDS = 5.0
NO_RESPONSE = (
    f"its file system did not answer within {RESPONSE_SECONDS:g} s; check its server, or name another directory"
)
_SMALLEST_BYTES = 32 << 20
"""Half of what is free beyond the reserve is used, of which a measurement needs 16 MiB."""


class TargetChoice(Struct, frozen=True):
    """A directory that a temporary file can be made in, or a device that can be read."""

    path: str
    text: str
    """What it is, with its size or free space."""
    writable: bool = True
    """Whether a temporary file can be made in it."""
    free_bytes: int | None = None
    """None where it is a device, and where it was not asked."""

    @property
    def line(self) -> str:
        """Return the target in one line."""
        return f"{self.path}  {self.text}"


def responds(path: str) -> bool:
    """Return whether the file system of a path answers in time; that of a file server that is gone never does."""
    return bool(wait([answer_of(lambda: os.path.exists(path))], RESPONSE_SECONDS).done)


def keeps_reserve(directory: str) -> bool:
    """Return whether a file fits beside the space that stays free: a tenth of the file system, at least 5 GiB."""
    try:
        status = os.statvfs(directory)
    except OSError:
        return True  # the run says what is wrong
    reserve = max(status.f_blocks * status.f_frsize * _RESERVE_SHARE, _RESERVE_BYTES)
    return status.f_bavail * status.f_frsize - reserve >= _SMALLEST_BYTES


def unfit(directory: str, *, reserves: bool) -> str:
    """Return why no temporary file can be created in a directory, as far as can be known; empty for anything else."""
    if not os.path.isdir(directory):
        return ""
    try:
        status = os.statvfs(directory)
    except OSError:
        return ""  # the run says what is wrong
    problems = {
        "is on no storage": not status.f_blocks,
        "is mounted read-only": bool(status.f_flag & os.ST_RDONLY),
        "is not writable for you": not os.access(directory, os.W_OK),
        "is too full (a tenth, at least 5 GiB, stays free)": reserves and not keeps_reserve(directory),
    }
    return next((words for words, holds in problems.items() if holds), "")


def storage_targets(machine: Machine | None, *, proc: str = PROC) -> tuple[TargetChoice, ...]:
    """Return the mounts with most free space first, then those that cannot be written, then unmounted devices."""
    devices = () if machine is None else machine.block_devices
    mounts = sorted(_mounts(devices, proc), key=lambda target: (not target.writable, -(target.free_bytes or 0)))
    return (*mounts, *_devices(devices))


def _mounts(devices: tuple[BlockDevice, ...], proc: str) -> Iterator[TargetChoice]:
    names = {device.devno: device.dm_name or device.name for device in devices if device.devno}
    seen: set[str] = set()
    # Of two mounts on one point the later covers the earlier; of two points of one file system the shorter stands.
    entries = {entry.point: entry for entry in read_mountinfo(proc) or ()}
    for entry in sorted(entries.values(), key=lambda entry: len(entry.point)):
        if entry.kind in _PSEUDO or entry.devno in seen:
            continue
        target = _mount(entry, names)
        if target is not None:
            seen.add(entry.devno or entry.point)
            yield target


def _mount(entry: MountEntry, names: dict[str, str]) -> TargetChoice | None:
    on = names.get(entry.devno or "", entry.source)
    if not entry.local:
        return TargetChoice(entry.point, f"{entry.kind} on {entry.source}, not asked for its free space")
    try:
        status = os.statvfs(entry.point)
        if not os.path.isdir(entry.point):
            return None
    except OSError as error:
        return TargetChoice(entry.point, f"{entry.kind} on {on}: {error.strerror}", writable=False)
    free = status.f_bavail * status.f_frsize
    writable = not status.f_flag & os.ST_RDONLY and os.access(entry.point, os.W_OK)
    free_text = f"{format_decimal_bytes(free)} free of {format_decimal_bytes(status.f_blocks * status.f_frsize)}"
    note = "" if writable else ", read-only" if status.f_flag & os.ST_RDONLY else ", not writable for you"
    return TargetChoice(
        entry.point,
        f"{entry.kind} on {on}, {free_text}{note}",
        writable=writable and keeps_reserve(entry.point),
        free_bytes=free,
    )


def _devices(devices: tuple[BlockDevice, ...]) -> Iterator[TargetChoice]:
    for device in devices:
        if device.kind in _NO_DISKS or device.mount_points or device.holders or not device.size_bytes:
            continue
        if any(other.parent == device.name for other in devices):
            continue
        path = f"/dev/mapper/{device.dm_name}" if device.dm_name else f"/dev/{device.name}"
        size = format_decimal_bytes(device.size_bytes)
        model = f" {device.model}" if device.model else ""
        yield TargetChoice(path, f"{device.kind.value}{model}, {size}, read only", writable=False)
