"""Block devices: their counters (Documentation/block/stat.rst), and what each is stacked on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

from msgspec import Struct

from sizeup.procfs.kernel_file import SYS, list_names, read_text
from sizeup.units import whole_number

_SECTOR_BYTES = 512  # whatever the device's own sector is
_DEPTH_LIMIT = 16

K = TypeVar("K")
T = TypeVar("T")


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


def fold_stack(
    top: K,
    below: Callable[[K], Iterable[K]],
    combine: Callable[[K, list[T]], T],
    known: dict[K, T],
    depth: int = _DEPTH_LIMIT,
) -> T:
    """Return what ``combine`` makes of a device and of the results for the devices right below it, from the bottom up.

    ``known`` keeps the results, so that a shared disk is visited once. A stack that contradicts itself ends at a depth
    that no real one has.
    """
    if top in known:
        return known[top]
    if depth == 0:
        return combine(top, [])
    beneath = [fold_stack(each, below, combine, known, depth - 1) for each in below(top) if each != top]
    known[top] = combine(top, beneath)
    return known[top]


class BlockStack(Struct, frozen=True):
    """A block device with everything beneath it, each by its folder in sysfs."""

    folders: tuple[str, ...]
    """The device first, each once."""
    disks: tuple[str, ...]
    """Those at the bottom, sorted: disks, and the paths of a multipath map."""
    stacked: bool
    """Whether a dm or md device is among them, which may write more than it was given."""


def _is_partition(folder: str) -> bool:
    return os.path.exists(f"{folder}/partition")


def _below(folder: str) -> tuple[str, ...]:
    if _is_partition(folder):
        return (os.path.dirname(folder),)
    return tuple(os.path.realpath(f"{folder}/slaves/{name}") for name in list_names(f"{folder}/slaves"))


def _combine(folder: str, beneath: list[BlockStack]) -> BlockStack:
    if not beneath:
        return BlockStack((folder,), (folder,), stacked=False)
    return BlockStack(
        tuple(dict.fromkeys((folder, *(each for stack in beneath for each in stack.folders)))),
        tuple(sorted({disk for stack in beneath for disk in stack.disks})),
        any(stack.stacked for stack in beneath) or not _is_partition(folder),
    )


def format_device_number(device_number: int) -> str:
    """Return ``8:16``, as sysfs and mountinfo name a block device."""
    return f"{os.major(device_number)}:{os.minor(device_number)}"


def find_device_folder(device_number: int, sysfs: str = SYS) -> str | None:
    """Return the folder of a block device; None for a number that is none, such as that of NFS or btrfs."""
    folder = os.path.realpath(f"{sysfs}/dev/block/{format_device_number(device_number)}")
    return folder if os.path.isdir(folder) else None


def read_block_stack(device_number: int, sysfs: str = SYS) -> BlockStack | None:
    """Return what a block device lies on; None as in ``find_device_folder``."""
    folder = find_device_folder(device_number, sysfs)
    return None if folder is None else fold_stack(folder, _below, _combine, {})


def find_partitions(folder: str) -> tuple[str, ...]:
    """Return the folders of a disk's partitions."""
    return tuple(inside for name in list_names(folder) if _is_partition(inside := f"{folder}/{name}"))
