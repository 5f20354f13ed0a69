"""The mounts of this machine that may hold a database, with type, size and free space."""

from __future__ import annotations

import os

from msgspec import Struct

from sizeup.procfs.kernel_file import PROC
from sizeup.procfs.mounts import MountEntry, read_mountinfo

_KINDS = (
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "bcachefs", "overlay", "ocfs2", "gfs2", "gpfs",
    "vxfs", "acfs",
)  # fmt: skip
"""Local file systems that databases are put on; the network's are known by themselves."""
_SYSTEM = ("/boot", "/dev", "/etc", "/nix", "/run", "/snap", "/usr")
"""Folders of the system: what is mounted there holds no database."""


class DatabaseMount(Struct, frozen=True):
    """One mount that a temporary file can be created on."""

    point: str
    kind: str
    source: str
    size_bytes: int | None = None
    """None where it was not asked: a server may not answer."""
    free_bytes: int | None = None
    """What a user without privileges may still write."""


def database_mounts(proc: str = PROC) -> tuple[DatabaseMount, ...]:
    """Return the mounts that may be written to, those with most free space first; the root comes after all others."""
    last: dict[str, MountEntry] = {}
    for mount in read_mountinfo(proc) or ():
        last[mount.point] = mount  # of two on one point the later covers the earlier
    found: dict[str, DatabaseMount] = {}
    for mount in last.values():
        if not _may_hold_a_database(mount):
            continue
        described = _described(mount)
        same = found.get(mount.devno or mount.point)
        # What is mounted in several places is one file system: the shortest name is the one that people use.
        if described is not None and (same is None or len(described.point) < len(same.point)):
            found[mount.devno or mount.point] = described
    return tuple(sorted(found.values(), key=lambda mount: (mount.point == "/", -(mount.free_bytes or 0), mount.point)))


def _may_hold_a_database(mount: MountEntry) -> bool:
    of_system = any(mount.point == folder or mount.point.startswith(f"{folder}/") for folder in _SYSTEM)
    return (mount.network or mount.kind in _KINDS) and "ro" not in mount.options and not of_system


def _described(mount: MountEntry) -> DatabaseMount | None:
    """Return a mount with its space; None where it is no directory that this user may write to."""
    if not mount.local:
        return DatabaseMount(mount.point, mount.kind, mount.source)
    try:
        if not os.path.isdir(mount.point) or not os.access(mount.point, os.W_OK | os.X_OK):
            return None
        space = os.statvfs(mount.point)
    except OSError:
        return None
    return DatabaseMount(
        mount.point, mount.kind, mount.source, space.f_blocks * space.f_frsize, space.f_bavail * space.f_frsize
    )
