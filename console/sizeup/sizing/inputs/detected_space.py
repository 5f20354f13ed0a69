"""The space that the storage has for a database, as discovery found it: what is free of a mount, else a device."""

from __future__ import annotations

from msgspec.structs import replace

from sizeup.model.machine import LocalMount, Machine
from sizeup.model.storage import BlockDevice
from sizeup.quantity import Doubt, Origin, Quantity
from sizeup.sizing.input_value import Value
from sizeup.sizing.keys import KEYS
from sizeup.sizing.path_bandwidth import visible_disks
from sizeup.sizing.storage_paths import block_device, mount_point, nfs_mount
from sizeup.text import plural
from sizeup.units import format_decimal_bytes


def space_for(machine: Machine, device: str | None) -> dict[str, Value]:
    """Space of the database's mount or device; without one the size of all disks, where no other storage is mounted.

    Of a mount that is what is free, at most its size; of a device that is in use and whose free space is unknown the
    size, of which nothing is certain.
    """
    if device is None:
        disks = visible_disks(machine)
        whole = sum(disk.size_bytes or 0 for disk in machine.block_devices if disk.name in disks)
        remote = machine.nfs_mounts or any(one.kind in _REMOTE for one in machine.file_systems)
        return {"path.disks_gb": found_bytes(whole, plural(len(disks), "disk"))} if whole and not remote else {}
    if nfs_mount(machine, device) is not None:
        return {}
    found = block_device(machine, device)
    mount = _mount(machine, found, mount_point(machine, device))
    if mount is not None and mount.free_bytes is not None and mount.size_bytes:
        free = f"free of {format_decimal_bytes(mount.size_bytes)} on {mount.mount_point}"
        there = Doubt(mount.size_bytes, "data of this database may be there already", _ENTER, upper=True)
        return {"capacity.gb": replace(found_bytes(max(mount.free_bytes, _LEAST_BYTES), free), doubts=(there,))}
    size = found.usable_bytes or found.size_bytes
    if not size:
        return {}
    used = _use(machine, found)
    unsure = Doubt(0.0, f"{found.name} is in use ({used}), and its free space is unknown", _ENTER)
    return {"capacity.gb": replace(found_bytes(size, found.name), doubts=(unsure,) if used else ())}


_REMOTE = frozenset({"lustre", "gpfs", "ceph"})
"""File systems that lie on the disks of other machines."""
_ENTER = f"Use {KEYS['capacity.gb'].flag}"
_LEAST_BYTES = 10**6
"""What a full file system counts as, since no demand is a share of nothing."""


def found_bytes(size: float, source: str, *caveats: str) -> Quantity:
    """Return an amount of memory or space that discovery found."""
    return Quantity(size, "bytes", Origin.DETECTED, source, caveats=caveats)


def _mount(machine: Machine, found: BlockDevice, point: str) -> LocalMount | None:
    """Return the mount that was named, else another of the same device; None where the free space of none is known."""
    mounts = {mount.mount_point: mount for mount in machine.local_mounts}
    known = (mounts[name] for name in (point, *found.mount_points) if name in mounts)
    return next((mount for mount in known if mount.free_bytes is not None), None)


def _use(machine: Machine, found: BlockDevice) -> str:
    """Return what a device holds, as far as it is known: a mount, or what is made of it; empty for a free one."""
    if found.mount_points:
        return f"mounted on {found.mount_points[0]}"
    parts = [device.name for device in machine.block_devices if device.parent == found.name]
    return ", ".join((*parts, *found.holders))
