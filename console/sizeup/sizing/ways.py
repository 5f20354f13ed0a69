"""Ways to storage that discovery found: which devices lead there, and what they carry together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from msgspec import Struct

from sizeup.errors import UsageError
from sizeup.model.budget import PathBudget
from sizeup.model.machine import Machine
from sizeup.model.network import Nic
from sizeup.model.storage import BlockDevice

_ONE_AT_A_TIME = frozenset({"active-backup", "broadcast"})
"""Bond modes whose members do not add up."""
_USABLE = frozenset({None, "active", "active/optimized", "optimized", "live", "running"})
"""Access states of a path that carries data now; none is stated where there is one path only."""


class Way(Struct, frozen=True):
    """Devices of one kind that data of a database can take."""

    kind: str
    """``NVMe``, ``HBA`` or ``NFS``."""
    devices: tuple[str, ...]
    bytes_per_second: float
    """What they carry together, shared links counted once."""
    limiter: str
    """The narrowest stage of the slowest of them."""


def storage_ways(machine: Machine, device: str | None = None) -> tuple[Way, ...]:
    """Every kind of way, widest first; only those that lead to ``device`` where one is named.

    NFS takes the fastest interface or bond that is up: which one leads to the server is not in the mount table.
    """
    named = None if device is None else _leading_to(machine, device)
    budgets = {budget.device: budget for budget in machine.budgets if named is None or budget.device in named}
    ways = [
        _way("NVMe", [budgets.get(controller.name) for controller in machine.nvme_controllers]),
        _way("HBA", [budgets.get(hba.name) for hba in machine.hbas]),
    ]
    if machine.nfs_mounts and device is None:
        ways.append(_network(machine, budgets))
    return tuple(sorted((way for way in ways if way is not None), key=lambda way: -way.bytes_per_second))


def _network(machine: Machine, budgets: Mapping[str, PathBudget]) -> Way | None:
    """The fastest interface that is up, or the fastest bond where that is faster."""
    up = [nic for nic in machine.nics if nic.carrier is not False]
    candidates = [_way("NFS", [budgets.get(nic.name)]) for nic in up]
    candidates += [_way("NFS", [budgets.get(name) for name in _working(nic)]) for nic in up if nic.bond_mode]
    return max(filter(None, candidates), key=lambda way: way.bytes_per_second, default=None)


def _working(bond: Nic) -> tuple[str, ...]:
    """Members that carry data together: all of them, or the active one where the mode uses one at a time."""
    if bond.bond_mode in _ONE_AT_A_TIME:
        return () if bond.bond_active is None else (bond.bond_active,)
    return bond.lower


def _way(kind: str, budgets: Iterable[PathBudget | None]) -> Way | None:
    known = [budget for budget in budgets if budget is not None and budget.limit_bytes_per_second]
    if not known:
        return None
    slowest = min(known, key=_carried)
    return Way(
        kind,
        tuple(budget.device for budget in known),
        sum(_carried(budget) for budget in known),
        slowest.narrowest or slowest.device,
    )


def _carried(budget: PathBudget) -> float:
    """What one device carries while all others are at work too."""
    limit, share = budget.limit_bytes_per_second or 0.0, budget.share_bytes_per_second
    return limit if share is None else min(limit, share)


def _leading_to(machine: Machine, name: str) -> frozenset[str]:
    """Controllers and adapters with a usable path to the block device or mount point of that name."""
    device = block_device(machine, name)
    leaves = set(device.leaves or (device.name,)) | {device.name}
    hosts: set[str] = set()
    for namespace in machine.nvme_namespaces:
        if namespace.name in leaves:
            hosts |= set(namespace.controllers)
    for scsi in machine.scsi_devices:
        if scsi.block_device in leaves and scsi.access_state in _USABLE:
            hosts.add(scsi.hba)
    for found in machine.maps:
        if found.device in leaves:
            hosts |= {path.hba for path in found.paths if path.hba is not None and path.access_state in _USABLE}
    return frozenset(hosts)


def block_device(machine: Machine, name: str) -> BlockDevice:
    """The device of that name, map name or mount point; another is refused with the nearest."""
    short = name.removeprefix("/dev/mapper/").removeprefix("/dev/")
    for device in machine.block_devices:
        if short in (device.name, device.dm_name) or name in device.mount_points:
            return device
    names = [device.name for device in machine.block_devices]
    near = get_close_matches(short, names, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UsageError(f"db.device: expected a block device or mount point of this machine, found {name!r}{hint}")
