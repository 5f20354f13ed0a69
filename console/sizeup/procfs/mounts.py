"""Mount tables: ``/proc/mounts`` and ``/proc/self/mountinfo`` (man 5 proc)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from sizeup.procfs.kernel_file import PROC, Unreadable, read_file
from sizeup.units import whole_number

_ESCAPE = re.compile(r"\\([0-7]{3})")
_MOUNTS_LIMIT = 100_000
"""Most mounts of one mount namespace; the kernel's own default (Documentation/admin-guide/sysctl/fs.rst, mount-max)."""
_NETWORK_KINDS = ("nfs", "cifs", "smb", "ceph", "gluster", "lustre", "9p", "afs")

KERNEL_DIRECTORIES = ("/dev", "/proc", "/sys", "/run")
"""Where the kernel's own file systems and those in memory are, under which no device is mounted by itself."""


class MountEntry(Struct, frozen=True):
    """One line of a mount table."""

    source: str
    """The device or the export."""
    point: str
    kind: str
    """The file system as the kernel calls it: ``ext4``, ``nfs4``."""
    options: tuple[str, ...]
    """Of the mount and, in mountinfo, of the file system behind it."""
    devno: str | None = None
    """``major:minor``; None in ``/proc/mounts``."""
    mount_id: int | None = None
    """What ``/proc/PID/fdinfo`` calls ``mnt_id``; None in ``/proc/mounts``."""

    @property
    def network(self) -> bool:
        """Whether requests leave this host."""
        return self.kind.startswith(_NETWORK_KINDS)

    @property
    def local(self) -> bool:
        """Whether it can be asked without waiting for a server, or for a process, that may never answer."""
        return not self.network and not self.kind.startswith("fuse")


def is_below(path: str, points: Iterable[str]) -> bool:
    """Whether a path is one of these directories or lies below one."""
    return any(path == point or path.startswith(point.rstrip("/") + "/") for point in points)


def unescape(text: str) -> str:
    r"""Blanks and newlines in names are written in octal, such as ``\040``."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)


def parse_mounts(text: str) -> tuple[MountEntry, ...]:
    """``/proc/mounts``: device, mount point, type, options."""
    mounts = []
    for line in text.splitlines()[:_MOUNTS_LIMIT]:
        fields = line.split(" ")
        if len(fields) >= 4:
            mounts.append(MountEntry(unescape(fields[0]), unescape(fields[1]), fields[2], tuple(fields[3].split(","))))
    return tuple(mounts)


def parse_mountinfo(text: str) -> tuple[MountEntry, ...]:
    """``mountinfo``: the optional fields in the middle end at a lone hyphen."""
    mounts = []
    for line in text.splitlines()[:_MOUNTS_LIMIT]:
        before, _, after = line.partition(" - ")
        left, right = before.split(" "), after.split(" ")
        if len(left) < 6 or len(right) < 2:
            continue
        options = dict.fromkeys((*left[5].split(","), *(right[2].split(",") if len(right) > 2 else ())))
        mounts.append(
            MountEntry(unescape(right[1]), unescape(left[4]), right[0], tuple(options), left[2], whole_number(left[0]))
        )
    return tuple(mounts)


def read_mountinfo(proc: str = PROC) -> tuple[MountEntry, ...] | None:
    """Return the mounts that this process sees; None where they cannot be read."""
    text = read_file(f"{proc}/self/mountinfo")
    return None if isinstance(text, Unreadable) else parse_mountinfo(text)


def parse_mount_id(fdinfo: str) -> int | None:
    """The mount that a descriptor was opened through, from ``/proc/PID/fdinfo/N``; None where it does not say."""
    match = re.search(r"^mnt_id:\s*(\d{1,18})$", fdinfo, re.MULTILINE)
    return int(match[1]) if match is not None else None
