"""Bandwidth of the detected paths to storage: which devices they use, and how much all of them have together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.machine import Machine, PathBudget
from sizeup.model.storage import BlockKind, Hba, Transport
from sizeup.sizing.storage_paths import (
    StorageTarget,
    backup_interfaces,
    disks_by_carrier,
    down_devices,
    interfaces_in_use,
    lun_names,
    named_target,
    standby_adapters,
)

PACKET_EFFICIENCY = 0.915
"""Share of a PCI Express link's rate after coding that packet headers leave, as in the pack of links.

The rules read inputs and so cannot be read here; a test compares the two.
"""
_NO_STORAGE = frozenset({BlockKind.LOOP, BlockKind.RAM, BlockKind.OPTICAL, BlockKind.PARTITION, BlockKind.NBD})


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
    waiting = standby_adapters(machine, named, down)
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
    """Return all disks of a known size, the paths of one LUN as one."""
    whole = (
        disk.name
        for disk in machine.block_devices
        if disk.kind not in _NO_STORAGE and disk.size_bytes and not disk.members and disk.removable is not True
    )
    return frozenset(lun_names(machine, whole))


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
        waiting = [budgets[name] for name in backup_interfaces(nic) if name in budgets]
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

    def left(lost: Collection[str]) -> float:
        """Bandwidth of what remains after losing these devices."""
        rest = [one for one in (*known, *standby) if one.device not in lost]
        return _together(rest, _without(counted, lost))

    slots = _slots(known)
    degraded, card = min((left(devices), name) for name, devices in slots.items())
    lost, several = slots[card], [devices for devices in slots.values() if len(devices) > 1]
    port_lost, port = min(((left((name,)), name) for devices in several for name in devices), default=(0.0, ""))
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
    return f"{capacity.target.name}, as measured"


def _bandwidth_in_use(budget: PathBudget) -> float:
    """Return the bandwidth of one device while all others are in use."""
    limit, share = budget.limit_bytes_per_second or 0.0, budget.share_bytes_per_second
    return limit if share is None else min(limit, share)


def _has_dedicated_path(machine: Machine, target: StorageTarget, named: StorageTarget | None) -> bool:
    """Whether the controllers or adapters of a target lead to no other disk that counts."""
    disks_of = disks_by_carrier(machine)
    others = (disks_of.get(carrier, frozenset()) - target.disks for carrier in target.carriers)
    return bool(target.carriers) and not any(disks & named.disks if named else disks for disks in others)
