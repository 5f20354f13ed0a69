"""The parts of two machines side by side: which part of the one is which of the other, and what differs.

Each fact comes from one file: a fact of two would differ where only one of them is readable. What changes by itself is
left out: counters, temperatures, and the CPUs that interrupts go to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct

from sizeup.discovery.setting_facts import DISK_SETTINGS, disk_setting
from sizeup.model.machine import Machine
from sizeup.model.network import Nic, is_port
from sizeup.model.storage import BlockDevice, BlockKind, Hba, Transport
from sizeup.text import if_known, switch_text
from sizeup.units import format_bit_rate, format_bytes, format_decimal_bytes

MISSING, PRESENT = "missing", "present"

Facts = Mapping[str, str | None]
T = TypeVar("T")

NO_DISKS = frozenset({BlockKind.OPTICAL, BlockKind.LOOP, BlockKind.RAM, BlockKind.NBD, BlockKind.PARTITION})
_FC = (Transport.FC, Transport.FCOE)
_RUNNING = frozenset({"running", "live"})
_NO_LINK = "no link"
_OVER_PORTS = ("bond", "vlan")
"""Bridges and virtual interfaces come and go with containers and guests."""
_IDLE_DOWN = (0x03, 0x12)
"""Base classes of devices that lower the speed of their link while they are idle."""
_STORAGE, _NETWORK, _MEMORY = ("storage",), ("network",), ("memory",)


class ComparedFact(Struct, frozen=True):
    """One fact on both sides; None where it is unknown."""

    fact: str
    baseline: str | None
    now: str | None
    cards: tuple[str, ...] = ()
    """The resources that a fact of a part is about."""


class PartKind(Struct, Generic[T], frozen=True):
    """One kind of parts of a machine."""

    name: str
    """Before the name of a part that came or went: ``disk``."""
    parts: Callable[[Machine], Mapping[str, T]]
    """By name."""
    facts: Callable[[T], Facts]
    """What is compared; scripts read the names, so they stay."""
    cards: tuple[str, ...]
    """The resources that its facts are about."""
    identity: Callable[[T], str | None] = lambda _: None
    """What a part keeps under another name; None where nothing is known to stay."""
    alone: bool = False
    """Whether its name alone stands before a fact: ``eth0 speed``, but ``adapter host3 speed``."""
    listed: str = ""
    """What all of them are called, where every machine has some: one without any was not read. ``disks``"""

    def compared(self, before: Mapping[str, T], after: Mapping[str, T]) -> Iterator[ComparedFact]:
        """Facts of each part, and parts that came or went, under the name that a part has now."""
        if self.listed and not (before and after):
            yield ComparedFact(self.listed, listed_text(before), listed_text(after), self.cards)
            return
        was = former_names(before, after, self.identity)
        for name, part in after.items():
            if name in was:
                prefix = f"{name} " if self.alone else f"{self.name} {name} "
                yield from pairs(self.facts(before[was[name]]), self.facts(part), prefix, self.cards)
            else:
                yield ComparedFact(f"{self.name} {name}", MISSING, PRESENT, self.cards)
        kept = set(was.values())
        for name in before:
            if name not in kept:
                yield ComparedFact(f"{self.name} {name}", PRESENT, MISSING, self.cards)


def pairs(baseline: Facts, now: Facts, prefix: str = "", cards: tuple[str, ...] = ()) -> Iterator[ComparedFact]:
    """Each fact that either side has, after the name of the part that it is of."""
    for fact in dict.fromkeys((*baseline, *now)):
        yield ComparedFact(prefix + fact, baseline.get(fact), now.get(fact), cards)


def former_names(
    before: Mapping[str, T], after: Mapping[str, T], identity: Callable[[T], str | None]
) -> dict[str, str]:
    """Which part of the baseline each is: by its identity where both sides know it once, else by its name."""
    old, new = _by_identity(before, identity), _by_identity(after, identity)
    was = {new[known]: old[known] for known in new.keys() & old.keys()}
    taken = set(was.values())
    return {**{name: name for name in after if name in before and name not in was and name not in taken}, **was}


def _by_identity(parts: Mapping[str, T], identity: Callable[[T], str | None]) -> dict[str, str]:
    names = {name: identity(part) for name, part in parts.items()}
    counts = Counter(names.values())
    return {known: name for name, known in names.items() if known and counts[known] == 1}


def listed_text(parts: Mapping[str, object]) -> str | None:
    """Return how many parts one side lists; None where it lists none, and so may not have been read."""
    return f"{len(parts)} listed" if parts else None


def _speed(bits_per_second: int | None, *, down: bool) -> str | None:
    """A port without a link has no speed, which is known."""
    return _NO_LINK if down else if_known(bits_per_second, format_bit_rate)


def disk_identity(disk: BlockDevice) -> str | None:
    """Return the name of a whole disk that it keeps in another slot."""
    return None if disk.kind is BlockKind.PARTITION else disk.wwn or disk.serial


def adapter_identity(hba: Hba) -> str | None:
    """Hosts are numbered in the order in which they come up; all sessions of iSCSI have the initiator's name."""
    if hba.transport is Transport.ISCSI:
        return " ".join(f"{target.name} {target.address}" for target in hba.targets) or None
    return hba.port_name or hba.pci_address


def nic_identity(nic: Nic) -> str | None:
    """Return the address of a port; what is built on ports has one of theirs."""
    return nic.mac if is_port(nic) else None


def _adapters(machine: Machine) -> dict[str, tuple[Hba, int]]:
    """Adapters with the number of their LUNs; those of USB come and go with what is plugged in."""
    units = Counter(device.hba for device in machine.scsi_devices if device.kind == 0)
    return {hba.name: (hba, units[hba.name]) for hba in machine.hbas if hba.transport is not Transport.USB}


def _mounts(machine: Machine, renamed: Mapping[str, str]) -> dict[str, Facts]:
    """Each mount point with what is mounted there; a disk under the name that it has now."""
    found: dict[str, Facts] = {}
    for device in machine.block_devices:
        parent = device.parent or device.name
        name = device.dm_name or device.name.replace(parent, renamed.get(parent, parent), 1)
        for point in device.mount_points:
            found[point] = {"device": name}
    for local in machine.local_mounts:
        # A device has several names; the one that lasts is that of the disk above.
        known = found.get(local.mount_point, {"device": local.source})
        found[local.mount_point] = {**known, "type": local.kind, "options": ",".join(sorted(local.options))}
    for mount in machine.nfs_mounts:
        found[mount.mount_point] = {
            "device": mount.export,
            "version": mount.version,
            "protocol": mount.protocol,
            "connections": if_known(mount.transports),
            "nconnect": if_known(mount.nconnect) or "not set",
            "rsize": if_known(mount.read_size_bytes, format_bytes),
            "wsize": if_known(mount.write_size_bytes, format_bytes),
            "hard": switch_text(mount.hard, ("hard", "soft")),
            "sync": switch_text(mount.sync),
            "read only": switch_text(mount.read_only),
            "attribute cache": mount.attribute_cache or "default",
            "interface": mount.nic,
        }
    return found


_DISKS = PartKind(
    "disk",
    lambda machine: {device.name: device for device in machine.block_devices if device.kind not in NO_DISKS},
    lambda disk: {
        **{name: disk_setting(disk, name) for name in DISK_SETTINGS},
        "size": if_known(disk.size_bytes, format_decimal_bytes),
        "model": disk.model,
        "logical_block_size": if_known(disk.logical_block_bytes),
        "read only": switch_text(disk.read_only),
        "RAID level": disk.raid_level,
        "missing members": if_known(disk.raid_degraded),
        "members": str(len(disk.members)),
    },
    _STORAGE,
    disk_identity,
    alone=True,
    listed="disks",
)
_MOUNTS = PartKind[Facts]("mount", lambda machine: _mounts(machine, {}), lambda facts: facts, _STORAGE, listed="mounts")
_KINDS: tuple[PartKind[Any], ...] = (
    _DISKS,
    PartKind(
        "adapter",
        _adapters,
        lambda adapter: {
            "driver": (hba := adapter[0]).driver,
            "model": hba.model,
            "firmware": hba.firmware,
            "state": hba.state,
            "speed": _speed(hba.speed_bits_per_second, down=hba.transport in _FC and hba.state not in (None, "Online")),
            "targets": str(len(hba.targets)),
            "LUNs": str(adapter[1]),
            "queue depth": if_known(hba.queue_depth_limit),
            "interface": hba.net_device,
        },
        _STORAGE,
        lambda adapter: adapter_identity(adapter[0]),
    ),
    PartKind(
        "NVMe controller",
        lambda machine: {one.name: one for one in machine.nvme_controllers},
        lambda controller: {
            "model": controller.model,
            "firmware": controller.firmware,
            "state": controller.state,
            "transport": controller.transport,
            "queues": if_known(controller.queues),
            "interface": controller.net_device,
        },
        _STORAGE,
        lambda controller: controller.serial,
        alone=True,
    ),
    PartKind(
        "namespace",
        lambda machine: {one.name: one for one in machine.nvme_namespaces},
        lambda space: {
            "block": if_known(space.logical_block_bytes, format_bytes),
            "metadata": if_known(space.metadata_bytes, format_bytes),
            "paths": str(len(space.paths)),
        },
        _STORAGE,
        alone=True,
    ),
    PartKind(
        "map",
        lambda machine: {one.name: one for one in machine.maps},
        lambda found: {
            "paths": str(len(found.paths)),
            "paths in use": None
            if any(path.state is None for path in found.paths)
            else str(sum(path.state in _RUNNING for path in found.paths)),
        },
        _STORAGE,
        lambda found: found.uuid,
    ),
    PartKind(
        "pool",
        lambda machine: {f"{one.kind} {one.name}": one for one in machine.file_systems},
        lambda pool: {
            "state": pool.state,
            "devices": str(len(pool.devices)),
            "mounted on": ", ".join(pool.mount_points) or "-",
        },
        _STORAGE,
    ),
    _MOUNTS,
    PartKind(
        "interface",
        lambda machine: {nic.name: nic for nic in machine.nics if is_port(nic) or nic.kind in _OVER_PORTS},
        lambda nic: {
            "link": switch_text(nic.up, ("up", "down")),
            "speed": _speed(nic.speed_bits_per_second, down=nic.up is False),
            "MTU": if_known(nic.mtu),
            "driver": nic.driver,
            "receive queues": if_known(nic.receive_queues),
            "transmit queues": if_known(nic.transmit_queues),
            "bond mode": nic.bond_mode,
            "members": ", ".join(nic.lower) or "none",
        },
        _NETWORK,
        nic_identity,
        alone=True,
        listed="interfaces",
    ),
    PartKind(
        "RDMA port",
        lambda machine: {f"{port.device}/{port.port}": port for port in machine.rdma_ports},
        lambda port: {
            "state": port.state,
            "rate": _speed(port.rate_bits_per_second, down=port.state == "DOWN"),
            "link layer": port.link_layer,
            "firmware": port.firmware,
        },
        _NETWORK,
    ),
    PartKind(
        "PCI",
        # Virtual functions are counted at the physical one.
        lambda machine: {
            one.address: one for one in machine.pci if not one.is_bridge and one.virtual_function_of is None
        },
        lambda function: {
            "link": None
            if function.link is None or (function.class_code or 0) >> 16 in _IDLE_DOWN
            else f"{function.link.gigatransfers:g} GT/s x{function.link.width}",
            "driver": function.driver or "none",
            "virtual functions": if_known(function.virtual_functions),
        },
        (*_STORAGE, *_NETWORK),  # an adapter of either kind is a PCI device
        listed="PCI devices",
    ),
    PartKind(
        "accelerator",
        lambda machine: {one.pci_address: one for one in machine.accelerators},
        lambda found: {
            "model": found.model,
            "driver": found.driver,
            "memory": if_known(found.memory_bytes, format_bytes),
            "firmware": found.firmware,
        },
        _NETWORK,
    ),
    PartKind(
        "CXL",
        lambda machine: {one.name: one for one in machine.cxl_memory},
        lambda found: {
            "volatile": if_known(found.volatile_bytes, format_bytes),
            "persistent": if_known(found.persistent_bytes, format_bytes),
            "firmware": found.firmware,
        },
        _MEMORY,
    ),
)
MODULES = PartKind(
    "memory module",
    # As the memory controllers report them, which needs no root; without a driver there are none.
    lambda machine: {f"{mc.name} {module.name}": module for mc in machine.memory_controllers for module in mc.dimms},
    lambda module: {"size": if_known(module.size_bytes, format_bytes), "type": module.kind, "label": module.label},
    _MEMORY,
    listed="memory modules by EDAC",
)


def part_facts(baseline: Machine, now: Machine) -> Iterator[ComparedFact]:
    """Return what is stored on and what leads to it, then all that is on the network or on PCI."""
    disks = former_names(_DISKS.parts(baseline), _DISKS.parts(now), _DISKS.identity)
    renamed = {old: new for new, old in disks.items()}
    for kind in _KINDS:
        before = _mounts(baseline, renamed) if kind is _MOUNTS else kind.parts(baseline)
        yield from kind.compared(before, kind.parts(now))
