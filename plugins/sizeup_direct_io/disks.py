"""The disks beneath a target, and what others moved on them meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import Struct

from sizeup.procfs.block_stat import BlockStat, parse_block_stat
from sizeup.procfs.kernel_file import read_text
from sizeup.units import format_rate

NOTABLE_SHARE = 0.05
"""Of the bytes asked for: less than this of others does not move a figure visibly."""
NOTABLE_BYTES_PER_SECOND = 1e6


class Disks(Struct, frozen=True):
    """All disks beneath a target together, at one moment."""

    names: tuple[str, ...]
    counters: BlockStat
    plain: bool
    """Nothing lies between target and disks that may write more than it was given, such as RAID."""


def _slaves(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(folder, "slaves")))
    except OSError:  # a partition has none
        return []


def _beneath(folder: str) -> Iterator[str]:
    """The sysfs folders of the whole disks that a block device lies on."""
    if os.path.exists(os.path.join(folder, "partition")):
        folder = os.path.dirname(folder)
    slaves = _slaves(folder)
    if not slaves:
        yield folder
    for slave in slaves:
        yield from _beneath(os.path.realpath(os.path.join(folder, "slaves", slave)))


def _top(device_number: int, sysfs: str) -> str:
    return os.path.realpath(f"{sysfs}/dev/block/{os.major(device_number)}:{os.minor(device_number)}")


def find_disk_folders(device_number: int, sysfs: str = "/sys") -> list[str]:
    """The sysfs folders of the whole disks beneath a device; empty for NFS or btrfs, which lie on no block device."""
    top = _top(device_number, sysfs)
    return sorted(set(_beneath(top))) if os.path.isdir(top) else []


def read_disks(device_number: int, sysfs: str = "/sys") -> Disks | None:
    """None for what lies on no block device, such as NFS or btrfs."""
    top = _top(device_number, sysfs)
    folders = find_disk_folders(device_number, sysfs)
    if not folders:
        return None
    stats = [parse_block_stat(read_text(f"{folder}/stat") or "") for folder in folders]
    found = [stat for stat in stats if stat is not None]
    if len(found) < len(folders):
        return None
    counters = BlockStat(sum(each.read_bytes for each in found), sum(each.written_bytes for each in found))
    return Disks(tuple(map(os.path.basename, folders)), counters, plain=not _slaves(top))


class Foreign(Struct, frozen=True):
    """What others, or the file system for itself, moved on the same disks."""

    disks: str
    read_bytes_per_second: float
    written_bytes_per_second: float | None
    """None where RAID or a map in between writes for itself."""
    own_bytes_per_second: float

    @property
    def notable(self) -> bool:
        """Whether it may have moved the figure."""
        others = self.read_bytes_per_second + (self.written_bytes_per_second or 0.0)
        return others > max(NOTABLE_BYTES_PER_SECOND, NOTABLE_SHARE * self.own_bytes_per_second)

    def __str__(self) -> str:
        """The figures, for a sentence."""
        words = f"read {format_rate(self.read_bytes_per_second)}"
        if self.written_bytes_per_second is not None:
            words += f" and wrote {format_rate(self.written_bytes_per_second)}"
        return f"{words} on {self.disks}"


def foreign(before: Disks, after: Disks, seconds: float, *, own_read: int, own_written: int) -> Foreign:
    """What the disks moved beyond the bytes asked for here."""
    read = after.counters.read_bytes - before.counters.read_bytes - own_read
    written = after.counters.written_bytes - before.counters.written_bytes - own_written
    return Foreign(
        ", ".join(after.names),
        max(0, read) / seconds,
        max(0, written) / seconds if after.plain else None,
        (own_read + own_written) / seconds,
    )


def is_virtual(device_number: int) -> bool:
    """Whether the device is a hypervisor's, by the driver its sysfs path names."""
    path = os.path.realpath(f"/sys/dev/block/{os.major(device_number)}:{os.minor(device_number)}")
    return any(part.startswith(("virtio", "vbd-", "vmbus")) for part in path.split("/"))


def write_cache(device_number: int) -> str | None:
    """``write back`` or ``write through`` of the device, or of the disk under a partition; None when unknown."""
    path = os.path.realpath(f"/sys/dev/block/{os.major(device_number)}:{os.minor(device_number)}")
    for folder in (path, os.path.dirname(path)):
        text = read_text(os.path.join(folder, "queue/write_cache"))
        if text:
            return text.strip()
    return None
