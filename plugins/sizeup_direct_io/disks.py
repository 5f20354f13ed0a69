"""The disks beneath a target, and the I/O of other processes on them."""

from __future__ import annotations

import os

from msgspec import Struct

from sizeup.procfs.block_stack import read_block_stack
from sizeup.procfs.block_stat import BlockStat, read_block_stat
from sizeup.procfs.kernel_file import SYS, read_line
from sizeup.units import format_rate

SIGNIFICANT_SHARE = 0.05
"""Of the requested bytes: less other I/O than this does not change a figure visibly."""
SIGNIFICANT_BYTES_PER_SECOND = 1e6


class Disks(Struct, frozen=True):
    """All disks beneath a target together, at one moment."""

    names: tuple[str, ...]
    counters: BlockStat
    plain: bool
    """Nothing between the target and the disks writes for itself, such as RAID."""


def read_disks(device_number: int, sysfs: str = SYS) -> Disks | None:
    """Return the disks beneath a device; None if it is on no block device, such as NFS or btrfs."""
    stack = read_block_stack(device_number, sysfs)
    if stack is None:
        return None
    found = [stat for disk in stack.disks if (stat := read_block_stat(disk)) is not None]
    if len(found) < len(stack.disks):
        return None
    counters = BlockStat(sum(each.read_bytes for each in found), sum(each.written_bytes for each in found))
    return Disks(tuple(map(os.path.basename, stack.disks)), counters, plain=not stack.stacked)


class OtherIo(Struct, frozen=True):
    """I/O of other processes, or of the file system for itself, on the same disks."""

    disks: str
    read_bytes_per_second: float
    written_bytes_per_second: float | None
    """None if RAID or a map in between writes for itself."""
    own_bytes_per_second: float

    @property
    def significant(self) -> bool:
        """Return whether it may have affected the figure."""
        others = self.read_bytes_per_second + (self.written_bytes_per_second or 0.0)
        return others > max(SIGNIFICANT_BYTES_PER_SECOND, SIGNIFICANT_SHARE * self.own_bytes_per_second)

    def __str__(self) -> str:
        """Return the rates as text."""
        text = f"{format_rate(self.read_bytes_per_second)} read"
        if self.written_bytes_per_second is not None:
            text += f" and {format_rate(self.written_bytes_per_second)} written"
        return f"{text} on {self.disks}"


def other_io(before: Disks, after: Disks, seconds: float, *, own_read: int, own_written: int) -> OtherIo:
    """Return what the disks transferred beyond the I/O of this process."""
    read = after.counters.read_bytes - before.counters.read_bytes - own_read
    written = after.counters.written_bytes - before.counters.written_bytes - own_written
    return OtherIo(
        ", ".join(after.names),
        max(0, read) / seconds,
        max(0, written) / seconds if after.plain else None,
        (own_read + own_written) / seconds,
    )


def is_virtual(device_number: int, sysfs: str = SYS) -> bool:
    """Return whether a disk beneath the device is virtual, by the driver in its sysfs path."""
    stack = read_block_stack(device_number, sysfs)
    parts = () if stack is None else (part for disk in stack.disks for part in disk.split("/"))
    return any(part.startswith(("virtio", "vbd-", "vmbus")) for part in parts)


def write_cache(device_number: int, sysfs: str = SYS) -> str | None:
    """``write back`` or ``write through`` of the device, or of the disk under a partition; None when unknown."""
    stack = read_block_stack(device_number, sysfs)
    folders = () if stack is None else stack.folders[:2]  # a partition has no queue of its own
    return next(filter(None, (read_line(f"{folder}/queue/write_cache") for folder in folders)), None)
