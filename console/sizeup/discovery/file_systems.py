"""Pools, cluster file systems and replicas, from sysfs, /proc and the table of mounts; free space of local mounts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from msgspec.structs import replace

from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import FileSystem, LocalMount, LostMount
from sizeup.model.storage import BlockDevice
from sizeup.procfs.mounts import MountEntry, is_below
from sizeup.text import clean, plural
from sizeup.units import format_bytes

_ZFS = "/proc/spl/kstat/zfs"
_BTRFS = "/sys/fs/btrfs"
_BCACHEFS = "/sys/fs/bcachefs"
POOLS = (_BTRFS, _BCACHEFS)
"""Where file systems stand under their UUIDs."""
_LUSTRE = "/sys/fs/lustre"
_DRBD = "/proc/drbd"

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DRBD_LINE = re.compile(r"\s*(\d{1,7}): cs:(\S{1,32}) ro:(\S{1,32}) ds:(\S{1,64})")
_DRBD_NAME = re.compile(r"drbd\d{1,7}")
_PROFILES = ("single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6")
_CLUSTER = ("gpfs", "ocfs2", "gfs2", "ceph", "beegfs", "fuse.glusterfs")
_ENTRIES_LIMIT = 256
_MOUNTS_LIMIT = 4096
_IN_POOLS = ("zfs", "btrfs", "bcachefs")
"""File systems of several devices, whose mounts have the number of none."""
_IMAGES = ("squashfs", "iso9660", "udf", "erofs")
"""File systems that nothing is ever written to: those of packages and of media."""


def _version(sysroot: Sysroot, path: str) -> tuple[str, ...]:
    text = sysroot.line(path)
    return () if text is None else (f"version {clean(text)[:64]}",)


def _points(mounts: Sequence[MountEntry], kind: str, *sources: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(mount.point for mount in mounts if mount.kind == kind and mount.source in sources))


def _zfs(sysroot: Sysroot, mounts: Sequence[MountEntry]) -> Iterator[FileSystem]:
    pools = [name for name in sysroot.names(_ZFS)[:_ENTRIES_LIMIT] if sysroot.exists(f"{_ZFS}/{name}/state")]
    details = _version(sysroot, "/sys/module/zfs/version") if pools else ()
    # ZFS's cache is no page cache: the kernel counts it as memory in use.
    text = (sysroot.read(f"{_ZFS}/arcstats") or "") if pools else ""
    cache = {name: int(number) for name, number in re.findall(r"^(size|c_max) +4 +(\d{1,18})$", text, re.MULTILINE)}
    if len(cache) == 2:
        details = (*details, f"ARC {format_bytes(cache['size'])} of at most {format_bytes(cache['c_max'])}")
    for name in pools:
        state = sysroot.line(f"{_ZFS}/{name}/state")
        points = (mount.point for mount in mounts if mount.kind == "zfs" and mount.source.partition("/")[0] == name)
        yield FileSystem(
            "zfs", clean(name), state, None if state is None else state == "ONLINE", tuple(dict.fromkeys(points)),
            details=details,
        )  # fmt: skip


def _btrfs(sysroot: Sysroot, mounts: Sequence[MountEntry]) -> Iterator[FileSystem]:
    for uuid in [name for name in sysroot.names(_BTRFS) if UUID.fullmatch(name)][:_ENTRIES_LIMIT]:
        base = f"{_BTRFS}/{uuid}"
        devices = sysroot.names(f"{base}/devices")[:_ENTRIES_LIMIT]
        numbers = sysroot.names(f"{base}/devinfo")[:_ENTRIES_LIMIT]
        states = [sysroot.integer(f"{base}/devinfo/{number}/missing") for number in numbers]
        missing = sum(state == 1 for state in states)
        known = bool(states) and None not in states
        state = f"{plural(missing, 'device')} missing" if missing else "complete" if known else None
        there = sysroot.names(f"{base}/allocation/data")
        profiles = [name for name in _PROFILES if name in there]
        node = sysroot.integer(f"{base}/nodesize")
        details = (
            *((f"data {'+'.join(profiles)}",) if profiles else ()),
            *((f"nodes of {format_bytes(node)}",) if node is not None and 0 < node < 1 << 30 else ()),
        )
        yield FileSystem(
            "btrfs", sysroot.line(f"{base}/label") or uuid, state, False if missing else True if known else None,
            _points(mounts, "btrfs", *(f"/dev/{device}" for device in devices)), devices, details,
        )  # fmt: skip


def _bcachefs(sysroot: Sysroot, mounts: Sequence[MountEntry]) -> Iterator[FileSystem]:
    for uuid in [name for name in sysroot.names(_BCACHEFS) if UUID.fullmatch(name)][:_ENTRIES_LIMIT]:
        base = f"{_BCACHEFS}/{uuid}"
        numbers = [name for name in sysroot.names(base) if name.startswith("dev-")][:_ENTRIES_LIMIT]
        devices, states = [], []
        for number in numbers:
            target = (sysroot.readlink(f"{base}/{number}/block") or number).rstrip("/")
            devices.append(clean(target.rpartition("/")[2]))
            match = re.search(r"\[(\w{1,16})\]", sysroot.line(f"{base}/{number}/state") or "")
            states.append(None if match is None else match[1])
        named = [f"{device} {state}" for device, state in zip(devices, states, strict=True) if state]
        healthy = None if not states or None in states else set(states) == {"rw"}
        # Mounted by all its devices, of which some may have gone since.
        own = {f"/dev/{device}" for device in devices}
        sources = [mount.source for mount in mounts if own & set(mount.source.split(":"))]
        points = _points(mounts, "bcachefs", *sources)
        yield FileSystem("bcachefs", uuid, ", ".join(named) or None, healthy, points, tuple(devices))


def _lustre(sysroot: Sysroot, mounts: Sequence[MountEntry]) -> Iterator[FileSystem]:
    sources = dict.fromkeys(mount.source for mount in mounts if mount.kind == "lustre")
    state = sysroot.line(f"{_LUSTRE}/health_check") if sources else None
    for source in sources:
        yield FileSystem(
            "lustre", source, state, None if state is None else state == "healthy", _points(mounts, "lustre", source),
            details=_version(sysroot, f"{_LUSTRE}/version"),
        )  # fmt: skip


def _drbd(sysroot: Sysroot, disks: Sequence[BlockDevice]) -> Iterator[FileSystem]:
    text = sysroot.read(_DRBD) or ""
    version = re.match(r"version: (\S{1,32})", text)
    details = () if version is None else (f"version {version[1]}",)
    states = {f"drbd{match[1]}": match for line in text.splitlines() if (match := _DRBD_LINE.match(line))}
    points = {disk.name: disk.mount_points for disk in disks if _DRBD_NAME.fullmatch(disk.name)}
    for name in list({**points, **states})[:_ENTRIES_LIMIT]:
        match = states.get(name)
        if match is None:  # version 9 shows it through netlink and debugfs
            yield FileSystem("drbd", name, None, None, points.get(name, ()), (), (*details, "state needs root"))
            continue
        healthy = match[2] == "Connected" and set(match[4].split("/")) == {"UpToDate"}
        state = f"{match[2]}, {match[3]}, {match[4]}"
        yield FileSystem("drbd", name, state, healthy, points.get(name, ()), (), details)


def read_file_systems(
    sysroot: Sysroot, disks: Sequence[BlockDevice], mounts: Sequence[MountEntry]
) -> tuple[FileSystem, ...]:
    """Return what is a pool, a cluster's or a replica; file systems on one device are those of ``disks``."""
    clusters = dict.fromkeys((mount.kind, mount.source) for mount in mounts if mount.kind in _CLUSTER)
    return (
        *_zfs(sysroot, mounts),
        *_btrfs(sysroot, mounts),
        *_bcachefs(sysroot, mounts),
        *_lustre(sysroot, mounts),
        *(FileSystem(kind, source, mount_points=_points(mounts, kind, source)) for kind, source in clusters),
        *_drbd(sysroot, disks),
    )


def local_mounts(mounts: Sequence[MountEntry]) -> tuple[LocalMount, ...]:
    """Return the mounts of what is on devices of this machine, in the order of the table of mounts."""
    # /proc/mounts has no numbers; a path says that it is a device.
    local = (
        LocalMount(mount.point, mount.source, mount.kind, mount.options)
        for mount in mounts
        if mount.kind in _IN_POOLS
        or (mount.kind not in _IMAGES and _is_disk(mount.devno))
        or (mount.kind not in _IMAGES and mount.devno is None and mount.source.startswith("/dev/"))
    )
    return tuple(islice(local, _MOUNTS_LIMIT))


def read_lost_mounts(
    sysroot: Sysroot, disks: Sequence[BlockDevice], mounts: Sequence[MountEntry]
) -> tuple[LostMount, ...]:
    """Return the mounts whose block device is no longer there; none where the list of devices is not complete."""
    known = {disk.devno for disk in disks}
    suspects = [mount for mount in mounts if _is_disk(mount.devno) and mount.devno not in known]
    numbers = frozenset(sysroot.names("/sys/dev/block")) if suspects else ()
    return tuple(
        LostMount(mount.point, mount.source, mount.devno or "", mount.kind)
        for mount in suspects
        if numbers and mount.devno not in numbers
    )


def _is_disk(devno: str | None) -> bool:
    """Major number 0 is no device: file systems in memory, on the network, or of several devices."""
    return devno is not None and re.fullmatch(r"[1-9]\d{0,6}:\d{1,8}", devno) is not None


def with_free_space(found: Sequence[LocalMount], mounts: Sequence[MountEntry]) -> tuple[LocalMount, ...]:
    """Return the local mounts with size and free space; both unknown where to ask may wait for a server or process.

    ``mounts`` is the table of mounts of this process. What another mount covers is not asked either.
    """
    tops = {entry.point: (entry.source, entry.kind) for entry in mounts}
    slow = waiting_points(mounts)
    asked = []
    for mount in found:
        size = free = 0
        if tops.get(mount.mount_point) == (mount.source, mount.kind) and not is_below(mount.mount_point, slow):
            with suppress(OSError, AttributeError):  # a system that is no Unix has no statvfs
                status = os.statvfs(mount.mount_point)
                size, free = status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize
        asked.append(replace(mount, size_bytes=size, free_bytes=free) if size else mount)
    return tuple(asked)


_WAITS = ("autofs", "ocfs2", "gfs2", "gpfs", "beegfs")
"""Kinds that ask a daemon or other servers."""


def waiting_points(mounts: Sequence[MountEntry]) -> list[str]:
    """Return the mount points where to ask for anything may wait for a server or a process."""
    return [entry.point for entry in mounts if not entry.local or entry.kind in _WAITS]
