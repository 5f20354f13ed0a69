"""Block stacks resolved to the devices at their bottom, with the spindles that work for reads and writes.

A write to a mirror of two costs two disk writes, to RAID 5 four disk operations and to RAID 6 six;
so a set of N members offers N, N/2, N/4 or N/6 members' worth of writes.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.procfs.block_stack import fold_stack

_WRITE_COST = {"raid1": None, "raid10": 2, "raid4": 4, "raid5": 4, "raid6": 6}
"""Disk operations for one small write; None where every member writes. Others cost one."""


class _Bottom(Struct, frozen=True):
    leaves: tuple[str, ...]
    reads: float
    writes: float


def _merged(bottoms: list[_Bottom]) -> _Bottom:
    """Members side by side; those that end on the same leaves, as two partitions of a disk do, count once."""
    seen: dict[str, None] = {}
    reads = writes = 0.0
    for bottom in bottoms:
        if not set(bottom.leaves) & seen.keys():
            reads += bottom.reads
            writes += bottom.writes
        seen.update(dict.fromkeys(bottom.leaves))
    return _Bottom(tuple(seen), reads, writes)


def _below(device: BlockDevice | None) -> tuple[str, ...]:
    if device is None or device.kind is BlockKind.MULTIPATH:
        return ()  # the paths of a map lead to one device and are no devices
    return (device.parent,) if device.parent is not None else device.members


def _combine(name: str, device: BlockDevice | None, bottoms: list[_Bottom]) -> _Bottom:
    if device is None or not bottoms:
        return _Bottom((name,), 1.0, 1.0)
    merged = _merged(bottoms)
    if device.kind is BlockKind.MD and device.raid_level in _WRITE_COST:
        cost = _WRITE_COST[device.raid_level]
        writes = min(bottom.writes for bottom in bottoms) if cost is None else merged.writes / cost
        return replace(merged, writes=writes)
    return merged


def usable_bytes(level: str | None, sizes: list[int]) -> int | None:
    """What an array of members of these sizes offers; None for a level not known here."""
    if not sizes:
        return None
    least, count = min(sizes), len(sizes)
    by_level = {
        "raid0": sum(sizes),
        "linear": sum(sizes),
        "raid1": least,
        "raid4": least * (count - 1),
        "raid5": least * (count - 1),
        "raid6": least * (count - 2),
        "raid10": least * count // 2,
    }
    offered = by_level.get(level or "")
    return None if offered is None else max(offered, 0)


def resolve_stacks(devices: tuple[BlockDevice, ...]) -> tuple[BlockDevice, ...]:
    """The devices with leaves, spindles and usable size filled in."""
    by_name = {device.name: device for device in devices}
    known: dict[str, _Bottom] = {}
    resolved = []
    for device in devices:
        bottom = fold_stack(
            device.name,
            lambda name: _below(by_name.get(name)),
            lambda name, bottoms: _combine(name, by_name.get(name), bottoms),
            known,
        )
        usable = device.size_bytes or None
        if usable is None and device.kind is BlockKind.MD:
            sizes = [by_name[member].size_bytes for member in device.members if member in by_name]
            usable = usable_bytes(device.raid_level, [size for size in sizes if size])
        resolved.append(
            replace(
                device,
                leaves=bottom.leaves,
                read_spindles=bottom.reads,
                write_spindles=bottom.writes,
                usable_bytes=usable,
            )
        )
    return tuple(resolved)
