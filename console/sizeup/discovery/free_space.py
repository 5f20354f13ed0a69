"""Size and free space of the mounts of this machine: the one thing about them that no file of the kernel says."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec.structs import replace

from sizeup.model.file_systems import LocalMount
from sizeup.procfs.mounts import MountEntry, is_below


def with_free_space(found: Sequence[LocalMount], mounts: Sequence[MountEntry]) -> tuple[LocalMount, ...]:
    """Return the local mounts with size and free space; both unknown where to ask may wait for a server or process.

    ``mounts`` is the table of mounts of this process. What another mount covers is not asked either.
    """
    if not hasattr(os, "statvfs"):  # a system that is no Unix
        return tuple(found)
    tops = {entry.point: entry for entry in mounts}
    slow = [entry.point for entry in mounts if not entry.local or entry.kind in _WAITS]
    return tuple(_asked(mount) if _may_ask(mount, tops, slow) else mount for mount in found)


_WAITS = ("autofs", "ocfs2", "gfs2", "gpfs", "beegfs")
"""Kinds that ask a daemon or other servers."""


def _may_ask(mount: LocalMount, tops: dict[str, MountEntry], slow: Sequence[str]) -> bool:
    top = tops.get(mount.mount_point)
    if top is None or (top.source, top.kind) != (mount.source, mount.kind):
        return False
    return not is_below(mount.mount_point, slow)


def _asked(mount: LocalMount) -> LocalMount:
    try:
        status = os.statvfs(mount.mount_point)
    except OSError:
        return mount
    size = status.f_blocks * status.f_frsize
    return replace(mount, size_bytes=size, free_bytes=status.f_bavail * status.f_frsize) if size else mount
