"""Bandwidth of the path between a target and memory, as far as discovery knows it; the target is not accessed."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount
from sizeup.model.storage import BlockDevice


class TargetBandwidth(Struct, frozen=True):
    """The bandwidth of the controllers, adapters or interfaces that all data of a target passes."""

    bytes_per_second: float
    """Payload in one direction, all of them together: an upper bound if they share a link further up."""
    source: str
    """The narrowest stage of each, as text."""


def lies_under(path: str, mount_point: str) -> bool:
    """Return whether a path is a mount point or below it, by its name."""
    return path == mount_point or path.startswith(mount_point.rstrip("/") + "/")


def _device_or_mount(path: str, machine: Machine) -> BlockDevice | NfsMount | None:
    """Return the device at the path, or what is mounted closest above it."""
    for device in machine.block_devices:
        if path in {f"/dev/{device.name}", f"/dev/mapper/{device.dm_name}"}:
            return device
    mounts: list[tuple[str, BlockDevice | NfsMount]] = [
        (point, device) for device in machine.block_devices for point in device.mount_points
    ]
    mounts += [(mount.mount_point, mount) for mount in machine.nfs_mounts]
    above = [(point, holder) for point, holder in mounts if lies_under(path, point)]
    return max(above, key=lambda pair: len(pair[0]))[1] if above else None


def _adapters(leaf: str, machine: Machine) -> set[str]:
    """Return the NVMe controllers or host adapters of a disk."""
    adapters = {name for space in machine.nvme_namespaces if space.name == leaf for name in space.controllers}
    return adapters | {device.hba for device in machine.scsi_devices if device.block_device == leaf}


def _adapters_of(path: str, machine: Machine) -> list[set[str]]:
    """Return the adapters of each disk, or of the server, beneath a path; an empty set if unknown."""
    holder = _device_or_mount(path, machine)
    match holder:
        case BlockDevice():
            return [_adapters(leaf, machine) for leaf in holder.leaves or (holder.name,)]
        case NfsMount():
            return [{holder.nic} if holder.nic else set()]
        case None:
            return [set()]


def find_path_bandwidth(paths: Iterable[str], machine: Machine) -> TargetBandwidth | None:
    """Return the combined bandwidth of ``paths``, with a shared adapter counted once; None if a part is unknown."""
    adapters = [names for path in paths for names in _adapters_of(path, machine)]
    if not all(adapters):
        return None
    names = {name for leaf in adapters for name in leaf}
    budgets = [budget for budget in machine.budgets if budget.device in names]
    limits = [budget.limit_bytes_per_second for budget in budgets if budget.limit_bytes_per_second is not None]
    if len(limits) < len(names):
        return None
    return TargetBandwidth(sum(limits), "; ".join(f"{budget.device}: {budget.narrowest}" for budget in budgets))
