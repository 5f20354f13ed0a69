"""Bandwidth of the detected paths to storage: which devices they use, and how much all of them have together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.budget import PathBudget
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.model.storage import BlockDevice, BlockKind, Hba, ScsiDevice, Transport
from sizeup.text import nearest

_ONE_AT_A_TIME = frozenset({"active-backup", "broadcast"})
"""Bond modes whose members do not add up."""
_USABLE = frozenset({None, "active", "active/optimized", "optimized"})
"""Access states of a path that carries data now; none is stated where there is one path only."""
_TAKES_OVER = frozenset({"standby", "active/non-optimized", "non-optimized"})
"""Access states of a path that carries data once the others have failed."""
_UP = frozenset({None, "live", "running", "recovery", "Online", "Marginal", "Unknown", "LOGGED_IN"})
"""States of a controller, adapter, target port or SCSI device that carries data; an unknown state counts as up."""
_PCIE = frozenset({"link", "uplink", "root port"})
"""Stages of a path that are PCI Express."""
_NO_STORAGE = frozenset({BlockKind.LOOP, BlockKind.RAM, BlockKind.OPTICAL, BlockKind.PARTITION, BlockKind.NBD})


PACKET_EFFICIENCY = 0.915
"""Share of a PCI Express link's rate after coding that packet headers leave, as in the pack of links."""


class StorageTarget(Struct, frozen=True):
    """A block device or NFS mount, with the disks beneath it and what leads to them."""

    name: str
    """``nvme0n1``, ``dm-3``, or ``server:/path``."""
    disks: frozenset[str]
    """The devices at the bottom of its stack; the paths of one LUN are one disk, an NFS export is one."""
    carriers: frozenset[str]
    """Controllers, adapters or interfaces that carry its data now; empty where that is unknown."""


class Capacity(Struct, frozen=True):
    """The measured capacity of one target."""

    target: StorageTarget
    bytes_per_second: float


class PathBandwidth(Struct, frozen=True):
    """Devices of one kind on the paths to storage, and their bandwidth."""

    kind: str
    """``NVMe``, ``HBA`` or ``NFS``; ``storage`` where a device was measured to which no path is known."""
    devices: tuple[str, ...]
    bytes_per_second: float
    """Bandwidth of all of them, shared links counted once and measured capacities in place of estimates."""
    bottleneck: str
    """The narrowest stage of the slowest of them."""
    measured: tuple[Capacity, ...] = ()
    """The capacities that took the place of estimates."""
    degraded_bytes_per_second: float = 0.0
    """Bandwidth after losing the largest path or controller, all functions of its slot with it; 0 for a single one."""
    failure: str = ""
    """What that is: ``host3, host4``."""

    @property
    def estimated(self) -> tuple[str, ...]:
        """The devices for which nothing but the speed of their links is known."""
        known = {carrier for capacity in self.measured for carrier in capacity.target.carriers}
        return tuple(device for device in self.devices if device not in known) if self.kind != "storage" else ()


def storage_path_bandwidths(
    machine: Machine, device: str | None = None, measured: Sequence[Capacity] = ()
) -> tuple[PathBandwidth, ...]:
    """Every kind of path, widest first; only those that lead to ``device`` where one is named.

    A measured capacity takes the place of the estimate of the path it was taken on where that path leads to
    nothing else that counts here; one LUN of many says nothing about the ports in front of them.
    NFS uses the interfaces on the routes to the servers; where these are unknown, the fastest one that is up.
    """
    named = None if device is None else named_target(machine, device)
    down = down_devices(machine)
    budgets = {
        budget.device: _less_packet_headers(budget)
        for budget in machine.budgets
        if budget.device not in down and (named is None or budget.device in named.carriers)
    }
    counted = [capacity for capacity in measured if _stands_for_its_path(machine, capacity.target, named)]
    bandwidths = [
        _path_bandwidth("NVMe", [budgets.get(controller.name) for controller in machine.nvme_controllers], counted),
        _path_bandwidth(
            "HBA", [budgets.get(hba.name) for hba in machine.hbas], counted, _standby(machine, named, down)
        ),
        _network(machine, budgets, named, down, counted),
    ]
    found = [bandwidth for bandwidth in bandwidths if bandwidth is not None]
    if not found:
        found = [
            PathBandwidth(
                "storage", (capacity.target.name,), capacity.bytes_per_second, _measured_on(capacity), (capacity,)
            )
            for capacity in measured
            if capacity.target.disks >= disks_that_count(machine, device)
        ]
    return tuple(sorted(found, key=lambda bandwidth: -bandwidth.bytes_per_second))


def _less_packet_headers(budget: PathBudget) -> PathBudget:
    """Return a budget whose PCI Express stages are what packet headers leave of their rate after coding."""
    left = PACKET_EFFICIENCY
    stages = tuple(
        replace(stage, bytes_per_second=stage.bytes_per_second * left)
        if stage.name in _PCIE and stage.bytes_per_second is not None
        else stage
        for stage in budget.stages
    )
    known = [(stage.bytes_per_second, stage) for stage in stages if stage.bytes_per_second is not None]
    if not known:
        return budget
    least, stage = min(known, key=lambda one: one[0])
    share = budget.share_bytes_per_second
    return replace(
        budget,
        stages=stages,
        limit_bytes_per_second=least,
        narrowest=f"{stage.name} {stage.subject} ({stage.source})",
        share_bytes_per_second=None if share is None else min(share * left, least),  # links are shared, ports are not
    )


def disks_that_count(machine: Machine, device: str | None = None) -> frozenset[str]:
    """Return the disks that a figure must cover to count for all storage: those of ``device``, or of the widest path.

    Without either they are all disks and NFS exports of the machine.
    """
    if device is not None:
        return named_target(machine, device).disks
    disks_of = _disks_by_carrier(machine)
    bandwidths = storage_path_bandwidths(machine) if machine.budgets else ()
    reached = (
        frozenset[str]().union(*(disks_of.get(name, frozenset()) for name in bandwidths[0].devices))
        if bandwidths
        else None
    )
    if reached:
        return reached
    whole = {
        disk.name
        for disk in machine.block_devices
        if disk.kind not in _NO_STORAGE and disk.size_bytes and not disk.members and disk.removable is not True
    }
    return frozenset(_one_lun(machine, whole) | {mount.export for mount in machine.nfs_mounts})


def down_devices(machine: Machine) -> Mapping[str, str]:
    """Return the controllers, adapters and interfaces that carry no data now, each with its state."""
    found = {nic.name: "no link" for nic in machine.nics if nic.up is False or nic.carrier is False}
    for controller in machine.nvme_controllers:
        if controller.state not in _UP:
            found[controller.name] = str(controller.state)
    units: dict[str, list[ScsiDevice]] = {}
    for unit in machine.scsi_devices:
        if unit.block_device is not None:
            units.setdefault(unit.hba, []).append(unit)
    for hba in machine.hbas:
        if hba.net_device in found:
            found[hba.name] = f"no link on {hba.net_device}"
        elif why := _why_adapter_is_down(hba, units.get(hba.name, [])):
            found[hba.name] = why
    return found


def down_text(machine: Machine, device: str | None = None) -> str:
    """Return the controllers, adapters and interfaces that should carry data and do not; empty where all work.

    With ``device`` only those that a path to it takes.
    """
    down = down_devices(machine)
    disks = None if device is None else named_target(machine, device).disks
    wanted = dict.fromkeys(path.carrier for path in _paths(machine) if disks is None or path.disk in disks)
    adapters = [hba.name for hba in machine.hbas] if disks is None else []
    return ", ".join(f"{name} ({down[name]})" for name in dict.fromkeys((*wanted, *adapters)) if name in down)


def _why_adapter_is_down(hba: Hba, units: Sequence[ScsiDevice]) -> str:
    """Return why an adapter carries no data; empty where it may."""
    if hba.state not in _UP:
        return str(hba.state)
    ports = [target.state for target in hba.targets]
    if ports and all(state not in _UP for state in ports):
        return f"no target port reachable: {', '.join(sorted({str(state) for state in ports}))}"
    if units and not any(map(_is_usable, units)):
        states = sorted({str(unit.state if unit.state not in _UP else unit.access_state) for unit in units})
        return f"no usable path through it: {', '.join(states)}"
    if hba.transport is Transport.SAS and hba.phys and not hba.targets and not units:
        return "nothing attached"
    return ""


def _is_usable(unit: ScsiDevice) -> bool:
    return unit.state in _UP and unit.access_state in _USABLE


def _network(
    machine: Machine,
    budgets: Mapping[str, PathBudget],
    named: StorageTarget | None,
    down: Collection[str],
    measured: Sequence[Capacity],
) -> PathBandwidth | None:
    """The interface or bond that leads to an NFS server; of several, or where the route is unknown, the fastest."""
    mounts = [mount for mount in machine.nfs_mounts if named is None or mount.export in named.disks]
    if not mounts:
        return None
    routed = {mount.nic for mount in mounts if mount.nic is not None}
    up = [nic for nic in machine.nics if nic.name not in down and (not routed or nic.name in routed)]
    candidates = [
        _path_bandwidth(
            "NFS", [budgets.get(name) for name in _members(machine, nic.name)], measured, _backups(nic, budgets)
        )
        for nic in up
    ]
    return max(filter(None, candidates), key=lambda bandwidth: bandwidth.bytes_per_second, default=None)


def _backups(nic: Nic, budgets: Mapping[str, PathBudget]) -> list[PathBudget]:
    """Return the members of a bond that wait for the active one to fail."""
    waiting = nic.lower if nic.bond_mode in _ONE_AT_A_TIME else ()
    return [budgets[name] for name in waiting if name in budgets and name != nic.bond_active]


def _members(machine: Machine, name: str) -> tuple[str, ...]:
    """The interfaces under one: itself, or of a bond the members that its mode uses."""
    nic = next((nic for nic in machine.nics if nic.name == name), None)
    if nic is None or not nic.lower or nic.kind == "bridge":
        return (name,)
    if nic.bond_mode in _ONE_AT_A_TIME:
        return () if nic.bond_active is None else (nic.bond_active,)
    return nic.lower


def _standby(machine: Machine, named: StorageTarget | None, down: Collection[str]) -> list[PathBudget]:
    """Return the budgets of adapters whose paths all wait for the others to fail."""
    maps = _maps(machine)
    waiting = {
        unit.hba
        for unit in machine.scsi_devices
        if unit.state in _UP
        and unit.access_state in _TAKES_OVER
        and unit.block_device is not None
        and (named is None or maps.get(unit.block_device, unit.block_device) in named.disks)
    } & set(down)
    return [
        _less_packet_headers(budget)
        for budget in machine.budgets
        if budget.device in waiting and budget.limit_bytes_per_second
    ]


def _path_bandwidth(
    kind: str,
    budgets: Iterable[PathBudget | None],
    measured: Sequence[Capacity],
    standby: Sequence[PathBudget] = (),
) -> PathBandwidth | None:
    known = [budget for budget in budgets if budget is not None and budget.limit_bytes_per_second]
    if not known:
        return None
    devices = tuple(budget.device for budget in known)
    counted = tuple(capacity for capacity in measured if capacity.target.carriers <= set(devices))
    slowest = min(known, key=_bandwidth_in_use)
    bottleneck = slowest.narrowest or slowest.device
    least = min(counted, key=_each, default=None)
    if least is not None and _each(least) < _bandwidth_in_use(slowest):
        bottleneck = _measured_on(least)
    degraded, lost = min(
        (
            _together(
                [
                    *(one for one in known if one.device not in slot),
                    *(one for one in standby if one.device not in slot),
                ],
                _without(counted, slot),
            ),
            slot,
        )
        for slot in _slots(known)
    )
    return PathBandwidth(
        kind,
        devices,
        _together(known, counted),
        bottleneck,
        counted,
        degraded_bytes_per_second=degraded,
        failure=", ".join(lost),
    )


def _slots(budgets: Sequence[PathBudget]) -> Iterator[tuple[str, ...]]:
    """Yield the devices of each controller: functions of one slot fail together."""
    slots: dict[str, list[str]] = {}
    for budget in budgets:
        address = budget.pci_address
        slots.setdefault(budget.device if address is None else address.rpartition(".")[0], []).append(budget.device)
    yield from map(tuple, slots.values())


def _without(measured: Sequence[Capacity], slot: Collection[str]) -> list[Capacity]:
    """Return the measured capacities after losing the carriers of a slot."""
    left = []
    for capacity in measured:
        carriers = capacity.target.carriers - set(slot)
        if carriers:
            share = len(carriers) / len(capacity.target.carriers)
            target = replace(capacity.target, carriers=carriers)
            left.append(Capacity(target, capacity.bytes_per_second * share))
    return left


def _together(budgets: Sequence[PathBudget], measured: Sequence[Capacity]) -> float:
    """Return the bandwidth of devices in use at once, limited by each link that they share and by what was measured."""
    users: dict[str, set[str]] = {}
    rates: dict[str, float] = {}
    for budget in budgets:
        for stage in budget.stages:
            if stage.bytes_per_second is not None:
                link = stage.subject.rpartition(".")[0] or stage.subject  # functions of a slot share its link
                users.setdefault(link, set()).add(budget.device)
                rates[link] = stage.bytes_per_second
    limits = [(frozenset(users[link]), rates[link]) for link in users]
    limits += [(capacity.target.carriers, capacity.bytes_per_second) for capacity in measured]
    groups = [(frozenset({budget.device}), _bandwidth_in_use(budget)) for budget in budgets]
    for devices, rate in sorted(limits, key=lambda limit: len(limit[0])):
        inside = [group for group in groups if group[0] <= devices]
        if inside:
            together = frozenset[str]().union(*(names for names, _ in inside))
            groups = [group for group in groups if group not in inside]
            groups.append((together, min(rate, sum(rate_inside for _, rate_inside in inside))))
    return float(sum(rate_inside for _, rate_inside in groups))


def _each(capacity: Capacity) -> float:
    return capacity.bytes_per_second / len(capacity.target.carriers)


def _measured_on(capacity: Capacity) -> str:
    return f"{capacity.target.name}, as measured"


def _bandwidth_in_use(budget: PathBudget) -> float:
    """Return the bandwidth of one device while all others are in use."""
    limit, share = budget.limit_bytes_per_second or 0.0, budget.share_bytes_per_second
    return limit if share is None else min(limit, share)


class _Path(Struct, frozen=True):
    """A disk and one controller, adapter or interface in front of it."""

    disk: str
    carrier: str
    usable: bool
    """Whether the path itself is usable; whether the carrier is up is not part of it."""


def _paths(machine: Machine) -> Iterator[_Path]:
    """Every path that discovery knows, the paths of one LUN under its map."""
    for namespace in machine.nvme_namespaces:
        states = {path.controller: path.ana_state for path in namespace.paths}
        for controller in dict.fromkeys((*namespace.controllers, *states)):
            yield _Path(namespace.name, controller, states.get(controller) in _USABLE)
    maps = _maps(machine)
    for unit in machine.scsi_devices:
        if unit.block_device is not None:
            yield _Path(maps.get(unit.block_device, unit.block_device), unit.hba, _is_usable(unit))
    for found in machine.maps:
        for path in found.paths:
            if path.hba is not None:
                yield _Path(found.device, path.hba, path.state in _UP and path.access_state in _USABLE)
    for mount in machine.nfs_mounts:
        for name in () if mount.nic is None else _members(machine, mount.nic):
            yield _Path(mount.export, name, usable=True)


def _maps(machine: Machine) -> Mapping[str, str]:
    """The multipath map over each device that is one of its paths."""
    return {path.device: found.device for found in machine.maps for path in found.paths}


def _one_lun(machine: Machine, names: Iterable[str]) -> set[str]:
    maps = _maps(machine)
    return {maps.get(name, name) for name in names}


def _disks_by_carrier(machine: Machine) -> Mapping[str, frozenset[str]]:
    """The disks to which each controller, adapter or interface leads."""
    disks_of: dict[str, set[str]] = {}
    for path in _paths(machine):
        disks_of.setdefault(path.carrier, set()).add(path.disk)
    return {carrier: frozenset(disks) for carrier, disks in disks_of.items()}


def _stands_for_its_path(machine: Machine, target: StorageTarget, named: StorageTarget | None) -> bool:
    """Whether the controllers or adapters of a target lead to no other disk that counts."""
    disks_of = _disks_by_carrier(machine)
    others = (disks_of.get(carrier, frozenset()) - target.disks for carrier in target.carriers)
    return bool(target.carriers) and not any(disks & named.disks if named else disks for disks in others)


def find_target(machine: Machine, where: str, *, exact: bool = False) -> StorageTarget | None:
    """Return the device or mount that holds a path; None where that is unknown.

    ``exact``: ``where`` is a mount point or a ``major:minor``, and no path below one.
    """
    holders: list[BlockDevice | NfsMount] = [*machine.block_devices, *machine.nfs_mounts]
    for holder in holders:
        if where in _names(holder):
            return _target(machine, holder)
    if exact or not where.startswith("/") or where.startswith("/dev/"):
        return None
    above = [
        (len(point), holder)
        for holder in holders
        for point in _points(holder)
        if where == point or where.startswith(point.rstrip("/") + "/")
    ]
    return _target(machine, max(above, key=lambda pair: pair[0])[1]) if above else None


def named_target(machine: Machine, name: str) -> StorageTarget:
    """The device or mount point that the user named; another is refused with the nearest."""
    for mount in machine.nfs_mounts:
        if name == mount.mount_point:
            return _target(machine, mount)
    return _target(machine, block_device(machine, name))


def _target(machine: Machine, holder: BlockDevice | NfsMount) -> StorageTarget:
    if isinstance(holder, NfsMount):
        name, disks = holder.export, {holder.export}
    else:
        name, disks = holder.name, _one_lun(machine, holder.leaves or (holder.name,))
    down = down_devices(machine)
    paths = (path for path in _paths(machine) if path.disk in disks and path.usable)
    return StorageTarget(name, frozenset(disks), frozenset(path.carrier for path in paths if path.carrier not in down))


def _points(holder: BlockDevice | NfsMount) -> tuple[str, ...]:
    return (holder.mount_point,) if isinstance(holder, NfsMount) else holder.mount_points


def _names(holder: BlockDevice | NfsMount) -> Collection[str | None]:
    if isinstance(holder, NfsMount):
        return (holder.mount_point, holder.device)
    mapper = None if holder.dm_name is None else f"/dev/mapper/{holder.dm_name}"
    return (f"/dev/{holder.name}", mapper, holder.devno, *holder.mount_points)


def block_device(machine: Machine, name: str) -> BlockDevice:
    """The device of that name, map name or mount point; another is refused with the nearest."""
    short = name.removeprefix("/dev/mapper/").removeprefix("/dev/")
    for device in machine.block_devices:
        if short in (device.name, device.dm_name) or name in device.mount_points:
            return device
    names = [device.name for device in machine.block_devices]
    hint = nearest(short, names)
    raise UsageError(f"db.device: expected a block device or mount point of this machine, found {name!r}{hint}")
