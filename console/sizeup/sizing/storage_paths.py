"""Paths to storage: which controllers, adapters and interfaces lead to which disks, and the bandwidth of them all."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.machine import Machine, PathBudget
from sizeup.model.network import NfsMount
from sizeup.model.storage import BlockDevice, BlockKind, Hba, ScsiDevice, Transport
from sizeup.procfs.mounts import KERNEL_DIRECTORIES, is_below
from sizeup.text import nearest

_ONE_AT_A_TIME = frozenset({"active-backup", "broadcast"})
"""Bond modes whose members do not add up."""
_USABLE = frozenset({None, "active", "active/optimized", "optimized"})
"""Access states of a path that carries data now; none is stated where there is one path only."""
_TAKES_OVER = frozenset({"standby", "active/non-optimized", "non-optimized"})
"""Access states of a path that carries data once the others have failed."""
_UP = frozenset({None, "live", "running", "recovery", "Online", "Marginal", "Unknown", "LOGGED_IN"})
"""States of a controller, adapter, target port or SCSI device that carries data; an unknown state counts as up."""


class StorageTarget(Struct, frozen=True):
    """A block device or NFS mount, with the disks beneath it and what leads to them."""

    name: str
    """``nvme0n1``, ``dm-3``, or ``server:/path``."""
    disks: frozenset[str]
    """The devices at the bottom of its stack; the paths of one LUN are one disk, an NFS export is one."""
    carriers: frozenset[str]
    """Controllers, adapters or interfaces that carry its data now; empty where that is unknown."""


class StoragePath(Struct, frozen=True):
    """A disk and one controller, adapter or interface in front of it."""

    disk: str
    carrier: str
    usable: bool
    """Whether the path itself is usable; whether the carrier is up is not part of it."""


def storage_paths(machine: Machine) -> Iterator[StoragePath]:
    """Every path that discovery knows, the paths of one LUN under its map."""
    for namespace in machine.nvme_namespaces:
        states = {path.controller: path.ana_state for path in namespace.paths}
        for controller in dict.fromkeys((*namespace.controllers, *states)):
            yield StoragePath(namespace.name, controller, states.get(controller) in _USABLE)
    maps = _maps(machine)
    for unit in machine.scsi_devices:
        if unit.block_device is not None:
            yield StoragePath(maps.get(unit.block_device, unit.block_device), unit.hba, _is_usable(unit))
    for found in machine.maps:
        for path in found.paths:
            if path.hba is not None:
                yield StoragePath(found.device, path.hba, path.state in _UP and path.access_state in _USABLE)
    for mount in machine.nfs_mounts:
        for name in () if mount.nic is None else interfaces_in_use(machine, mount.nic):
            yield StoragePath(mount.export, name, usable=True)


def internal_carriers(machine: Machine) -> frozenset[str]:
    """Return the controllers of drives inside a server, which no other reaches: NVMe on PCI Express, SATA and USB.

    Those of a guest may lead anywhere.
    """
    if machine.platform.is_guest:
        return frozenset()
    nvme = {one.name for one in machine.nvme_controllers if one.transport in (None, "pcie")}
    return frozenset(nvme | {hba.name for hba in machine.hbas if hba.transport in (Transport.SATA, Transport.USB)})


def internal_disks(machine: Machine) -> frozenset[str]:
    """Return the drives to which such controllers alone lead, and other flash on PCI Express."""
    internal, paths = internal_carriers(machine), list(storage_paths(machine))
    shared = {path.disk for path in paths if path.carrier not in internal}
    cards = {one.name for one in machine.block_devices if one.kind is BlockKind.PCIE_SSD}
    return frozenset({path.disk for path in paths} - shared | cards)


def shared_storage(machine: Machine, device: str | None) -> Machine:
    """Return a server of a cluster without the drives inside it; refuse them as ``device`` of the database."""
    carriers, disks = internal_carriers(machine), internal_disks(machine)
    if device is not None and named_target(machine, device).disks <= disks:
        raise UsageError(
            f"db.device: expected storage that all servers of the cluster (cluster.nodes) reach, found {device!r}, "
            "which is inside one of them: it can hold a flash cache, and not the database"
        )
    devices = [one for one in machine.block_devices if not lun_names(machine, one.leaves or (one.name,)) <= disks]
    budgets = [one for one in machine.budgets if one.device not in carriers]
    return replace(machine, block_devices=tuple(devices), budgets=tuple(budgets))


def _maps(machine: Machine) -> Mapping[str, str]:
    """The multipath map over each device that is one of its paths."""
    return {path.device: found.device for found in machine.maps for path in found.paths}


def lun_names(machine: Machine, names: Iterable[str]) -> set[str]:
    """Return the names of disks, the paths of one LUN as their map."""
    maps = _maps(machine)
    return {maps.get(name, name) for name in names}


def disks_by_carrier(machine: Machine) -> Mapping[str, frozenset[str]]:
    """The disks to which each controller, adapter or interface leads."""
    disks_of: dict[str, set[str]] = {}
    for path in storage_paths(machine):
        disks_of.setdefault(path.carrier, set()).add(path.disk)
    return {carrier: frozenset(disks) for carrier, disks in disks_of.items()}


def interfaces_in_use(machine: Machine, name: str) -> tuple[str, ...]:
    """The interfaces under one: itself, or of a bond the members that its mode uses."""
    nic = next((nic for nic in machine.nics if nic.name == name), None)
    if nic is None or not nic.lower or nic.kind == "bridge":
        return (name,)
    if nic.bond_mode in _ONE_AT_A_TIME:
        return () if nic.bond_active is None else (nic.bond_active,)
    return nic.lower


def down_devices(machine: Machine) -> Mapping[str, str]:
    """Return the controllers, adapters and interfaces that carry no data now, each with its state."""
    found = {nic.name: "no link" for nic in machine.nics if nic.up is False or nic.carrier is False}
    found |= {one.name: str(one.state) for one in machine.nvme_controllers if one.state not in _UP}
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
    wanted = dict.fromkeys(path.carrier for path in storage_paths(machine) if disks is None or path.disk in disks)
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
    above = [(len(point), holder) for holder in holders for point in _points(holder) if is_below(where, (point,))]
    return _target(machine, max(above, key=lambda pair: pair[0])[1]) if above else None


def named_target(machine: Machine, name: str) -> StorageTarget:
    """The device or mount point that the user named; another is refused with the nearest."""
    mount = nfs_mount(machine, name)
    if mount is None and (point := bare_mount(machine, name)):
        return StorageTarget(point, frozenset({point}), frozenset())
    return _target(machine, block_device(machine, name) if mount is None else mount)


def bare_mount(machine: Machine, name: str) -> str:
    """Return the mount of a directory on storage whose devices discovery did not find; empty for any other."""
    point = mount_point(machine, name)
    known = any(point in device.mount_points for device in machine.block_devices)
    return "" if known or point not in (*local_points(machine), *served_points(machine)) else point


def local_points(machine: Machine) -> tuple[str, ...]:
    """Return the mount points of file systems on devices of this machine."""
    return tuple(mount.mount_point for mount in machine.local_mounts)


def served_points(machine: Machine) -> tuple[str, ...]:
    """Return the mount points of pools, and of file systems of a cluster."""
    return tuple(point for one in machine.file_systems for point in one.mount_points)


def nfs_mount(machine: Machine, name: str) -> NfsMount | None:
    """Return the NFS mount that holds a directory; None where it is elsewhere, or where the name is of a device."""
    point = mount_point(machine, name)
    return next((mount for mount in machine.nfs_mounts if mount.mount_point == point), None)


def mount_point(machine: Machine, name: str) -> str:
    """Return the mount point that a directory lies on; the name itself where no mount is known for it."""
    if not name.startswith("/") or is_below(name, KERNEL_DIRECTORIES):
        return name
    lost = (mount.mount_point for mount in machine.lost_mounts)
    on_devices = (point for device in machine.block_devices for point in device.mount_points)
    served = (mount.mount_point for mount in machine.nfs_mounts)
    known = (*local_points(machine), *served_points(machine), *lost, *on_devices, *served)
    above = [point for point in known if is_below(name, (point,))]
    return max(above, key=len, default=name)


def _target(machine: Machine, holder: BlockDevice | NfsMount) -> StorageTarget:
    if isinstance(holder, NfsMount):
        name, disks = holder.export, {holder.export}
    else:
        name, disks = holder.name, lun_names(machine, holder.leaves or (holder.name,))
    down = down_devices(machine)
    paths = (path for path in storage_paths(machine) if path.disk in disks and path.usable)
    return StorageTarget(name, frozenset(disks), frozenset(path.carrier for path in paths if path.carrier not in down))


def _points(holder: BlockDevice | NfsMount) -> tuple[str, ...]:
    return (holder.mount_point,) if isinstance(holder, NfsMount) else holder.mount_points


def _names(holder: BlockDevice | NfsMount) -> Collection[str | None]:
    if isinstance(holder, NfsMount):
        return (holder.mount_point, holder.device)
    mapper = None if holder.dm_name is None else f"/dev/mapper/{holder.dm_name}"
    return (f"/dev/{holder.name}", mapper, holder.devno, *holder.mount_points)


def block_device(machine: Machine, name: str) -> BlockDevice:
    """The device of that name, map name, or mount point of a directory; another is refused with the nearest."""
    short, point = name.removeprefix("/dev/mapper/").removeprefix("/dev/"), mount_point(machine, name)
    for device in machine.block_devices:
        if short in (device.name, device.dm_name) or point in device.mount_points:
            return device
    hint = nearest(short, [device.name for device in machine.block_devices])
    raise UsageError(f"db.device: expected a block device or a directory on one of this machine, found {name!r}{hint}")


PACKET_EFFICIENCY = 0.915
"""Share of a PCI Express link's rate after coding that packet headers leave, as in the pack of links.

The rules read inputs and so cannot be read here; a test compares the two.
"""
_NO_STORAGE = frozenset(
    {
        BlockKind.LOOP, BlockKind.RAM, BlockKind.OPTICAL, BlockKind.PARTITION, BlockKind.NBD,
        BlockKind.MD, BlockKind.LVM, BlockKind.CRYPT, BlockKind.MULTIPATH, BlockKind.DM, BlockKind.BCACHE,
    }
)  # fmt: skip
"""Kinds without capacity of their own; stacks lie on other devices even where a capture lists none of these."""


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
    """What that is: ``host3, host4``; empty where no path is known."""
    card: str = ""
    """The PCI address of the card that these are on; empty for a single device."""
    port_lost_bytes_per_second: float = 0.0
    """Bandwidth after losing one port of a card with several; 0 where no card has several."""
    port: str = ""
    """What that is: ``host3``."""
    half_bytes_per_second: float = 0.0
    """Bandwidth of the slower half of several, where the other half waits; 0 for drives, which are no paths."""
    unknown: tuple[str, ...] = ()
    """Ports beside them that are online at an unknown speed, and not counted."""

    @property
    def unknown_text(self) -> str:
        """What is said of these ports; empty for none."""
        return f"{', '.join(self.unknown)} online, speed unknown" if self.unknown else ""

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
    down, usable = down_devices(machine), [_less_packet_headers(budget) for budget in machine.budgets]
    budgets = {
        one.device: one for one in usable if one.device not in down and (named is None or one.device in named.carriers)
    }
    maps, over = _maps(machine), [one for one in machine.scsi_devices if one.hba in down and one.state in _UP]
    taking = ((one.hba, one.block_device) for one in over if one.access_state in _TAKES_OVER and one.block_device)
    waiting = {hba for hba, disk in taking if named is None or maps.get(disk, disk) in named.disks}
    standby = [one for one in usable if one.device in waiting and one.limit_bytes_per_second]
    counted = [capacity for capacity in measured if _has_dedicated_path(machine, capacity.target, named)]
    fabrics: dict[Transport, list[Hba]] = {}
    for hba in machine.hbas:
        fabrics.setdefault(Transport.FC if hba.transport is Transport.FCOE else hba.transport, []).append(hba)

    def adapters(hbas: Sequence[Hba]) -> PathBandwidth | None:
        """Those of one fabric; what the loss of one leaves is open where the speed of another is unknown."""
        names = [one.name for one in hbas]
        waiting = [one for one in standby if one.device in names]
        found = _path_bandwidth("HBA", map(budgets.get, names), counted, waiting)
        if found is None:
            return None
        online = {one.name for one in hbas if one.state == "Online" and one.speed_bits_per_second is None}
        reached = online if named is None else online & named.carriers
        unknown = tuple(sorted(reached.difference(found.devices, down)))
        is_open = unknown and not found.degraded_bytes_per_second
        return replace(found, unknown=unknown, failure="" if is_open else found.failure)

    bandwidths = (
        _path_bandwidth("NVMe", [budgets.get(one.name) for one in machine.nvme_controllers], counted),
        *map(adapters, fabrics.values()),
        _network(machine, budgets, named, down, counted),
    )
    found = list(filter(None, bandwidths))
    if not found:
        found = [
            PathBandwidth("storage", (one.target.name,), one.bytes_per_second, _measured_on(one), (one,))
            for one in measured
            if one.target.disks >= disks_that_count(machine, device)
        ]
    return tuple(sorted(found, key=lambda bandwidth: -bandwidth.bytes_per_second))


def _less_packet_headers(budget: PathBudget) -> PathBudget:
    """Return a budget whose PCI Express stages are what packet headers leave of their rate after coding."""
    left = PACKET_EFFICIENCY
    stages = tuple(
        replace(one, bytes_per_second=one.bytes_per_second * left)
        if one.name in ("link", "uplink", "root port") and one.bytes_per_second
        else one
        for one in budget.stages
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
    disks_of = disks_by_carrier(machine)
    bandwidths = storage_path_bandwidths(machine) if machine.budgets else ()
    widest = bandwidths[0].devices if bandwidths else ()
    reached = frozenset[str]().union(*(disks_of.get(name, frozenset()) for name in widest))
    return reached or visible_disks(machine) | {mount.export for mount in machine.nfs_mounts}


def visible_disks(machine: Machine) -> frozenset[str]:
    """Return all disks of a known size, the paths of one LUN as one: under their map, else by their WWN."""
    whole = {
        disk.wwn or disk.name: disk.name
        for disk in reversed(machine.block_devices)
        if disk.kind not in _NO_STORAGE and disk.size_bytes and not disk.members and disk.removable is not True
    }
    return frozenset(lun_names(machine, whole.values()))


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
    candidates = []
    for nic in up:
        used = [budgets.get(name) for name in interfaces_in_use(machine, nic.name)]
        backups = nic.lower if nic.bond_mode in _ONE_AT_A_TIME else ()  # which wait for the active one to fail
        waiting = [budgets[name] for name in backups if name != nic.bond_active and name in budgets]
        candidates.append(_path_bandwidth("NFS", used, measured, waiting))
    return max(filter(None, candidates), key=lambda bandwidth: bandwidth.bytes_per_second, default=None)


def _path_bandwidth(
    kind: str, budgets: Iterable[PathBudget | None], measured: Sequence[Capacity], standby: Sequence[PathBudget] = ()
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
    elif kind != "NVMe" and _together(known, counted) > len(known) * _bandwidth_in_use(slowest) * 1.01:
        bottleneck = f"all {len(known)} together, the slowest {bottleneck}"

    def left(lost: Collection[str]) -> float:
        """Bandwidth of what remains after losing these devices."""
        rest = [one for one in (*known, *standby) if one.device not in lost]
        return _together(rest, _without(counted, lost))

    several = [] if kind == "NVMe" or len(known) == 1 else sorted(known, key=_bandwidth_in_use)
    slower = several[: math.ceil(len(known) / 2)]
    waiting = [one.device for one in several[len(slower) :]]
    slots = _slots(known)
    degraded, card = min((left(devices), name) for name, devices in slots.items())
    lost, cards = slots[card], [devices for devices in slots.values() if len(devices) > 1]
    port_lost, port = min(((left((name,)), name) for devices in cards for name in devices), default=(0.0, ""))
    return PathBandwidth(
        kind,
        devices,
        _together(known, counted),
        bottleneck,
        counted,
        degraded_bytes_per_second=degraded,
        failure=", ".join(lost),
        card=card if len(lost) > 1 else "",
        port_lost_bytes_per_second=port_lost,
        port=port,
        half_bytes_per_second=_together(slower, _without(counted, waiting)) if slower else 0.0,
    )


def _slots(budgets: Sequence[PathBudget]) -> Mapping[str, tuple[str, ...]]:
    """Return the devices of each controller, by its PCI address or by its only device: functions fail together."""
    slots: dict[str, tuple[str, ...]] = {}
    for budget in budgets:
        name = budget.device if budget.pci_address is None else budget.pci_address.rpartition(".")[0]
        slots[name] = (*slots.get(name, ()), budget.device)
    return slots


def _without(measured: Sequence[Capacity], slot: Collection[str]) -> list[Capacity]:
    """Return the measured capacities after losing the carriers of a slot."""
    left = []
    for capacity in measured:
        if carriers := capacity.target.carriers - set(slot):
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
    return f"{capacity.target.name or 'storage'}, as measured"


def _bandwidth_in_use(budget: PathBudget) -> float:
    """Return the bandwidth of one device while all others are in use."""
    limit, share = budget.limit_bytes_per_second or 0.0, budget.share_bytes_per_second
    return limit if share is None else min(limit, share)


def _has_dedicated_path(machine: Machine, target: StorageTarget, named: StorageTarget | None) -> bool:
    """Whether the controllers or adapters of a target lead to no other disk that counts."""
    disks_of = disks_by_carrier(machine)
    others = (disks_of.get(carrier, frozenset()) - target.disks for carrier in target.carriers)
    return bool(target.carriers) and not any(disks & named.disks if named else disks for disks in others)
