"""File systems that are more than one disk: pools, clusters, replicas; and mounts whose device has gone."""

from __future__ import annotations

from msgspec import Struct


class FileSystem(Struct, frozen=True):
    """One pool, file system or replicated device."""

    kind: str
    """``zfs``, ``btrfs``, ``bcachefs``, ``drbd``, or of a cluster: ``lustre``, ``gpfs``, ``ocfs2``, ``ceph``."""
    name: str
    state: str | None = None
    """As the kernel calls it; None where it does not report it."""
    healthy: bool | None = None
    """Whether the state is that of a whole one; None where it does not report it."""
    mount_points: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    """What else the kernel says, in words: profile, block size, version."""


class LocalMount(Struct, frozen=True):
    """A mount of a file system that is on devices of this machine."""

    mount_point: str
    source: str
    """The device, or the name in a pool."""
    kind: str
    """``xfs``, ``ext4``, ``zfs`` ..."""
    options: tuple[str, ...] = ()
    """Of the mount, then of the file system, as the kernel lists them."""
    size_bytes: int | None = None
    free_bytes: int | None = None
    """What a user may still write; like the size None where the mount was not asked, as in a capture."""


class LostMount(Struct, frozen=True):
    """A mount whose block device is gone: I/O that is not in memory fails."""

    mount_point: str
    source: str
    devno: str
    kind: str
