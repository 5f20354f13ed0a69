"""What a block device moved, ``/sys/dev/block/M:m/stat``; Documentation/block/stat.rst."""

from __future__ import annotations

from msgspec import Struct

from sizeup.procfs.kernel_file import read_text
from sizeup.units import whole_number

_SECTOR_BYTES = 512  # whatever the device's own sector is


class BlockStat(Struct, frozen=True):
    """Bytes of all processes together."""

    read_bytes: int
    written_bytes: int


def parse_block_stat(text: str) -> BlockStat | None:
    """None where a figure is missing or none."""
    fields = text.split()
    if len(fields) < 7:
        return None
    read, written = whole_number(fields[2]), whole_number(fields[6])
    return None if read is None or written is None else BlockStat(read * _SECTOR_BYTES, written * _SECTOR_BYTES)


def read_block_stat(folder: str) -> BlockStat | None:
    """Return what the device with this folder in sysfs moved; None where it cannot be read."""
    return parse_block_stat(read_text(f"{folder}/stat") or "")
