"""What was detected of each resource, as short texts: the hardware side of its card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from sizeup.model.machine import Machine
from sizeup.model.network import is_port
from sizeup.model.storage import BlockKind, Transport
from sizeup.text import counted, listed, plural
from sizeup.units import format_bit_rate, format_bytes, format_decimal_bytes, format_hz
from sizeup.views.machine.device_sections import direct_nfs_section
from sizeup.views.machine.facts import machine_facts
from sizeup.views.machine.virtualization import runs_on

_KINDS = {
    BlockKind.NVME: "NVMe",
    BlockKind.PCIE_SSD: "PCIe SSD",
    BlockKind.SCSI: "SCSI",
    BlockKind.VIRTIO: "virtio",
    BlockKind.XEN: "Xen",
    BlockKind.MMC: "MMC",
    BlockKind.DASD: "DASD",
}
_FC = (Transport.FC, Transport.FCOE)


def detected_texts(machine: Machine, resource: str) -> tuple[str, ...]:
    """Return what was detected of a resource, the most important first; empty where nothing was."""
    if resource == "clock":
        return tuple(filter(None, (machine.platform.clock_source,)))
    find = {"storage": _storage, "cpu": _cpu, "memory": _memory, "network": _network}.get(resource)
    return () if find is None else tuple(filter(None, find(machine)))


def _storage(machine: Machine) -> list[str]:
    ports = [hba for hba in machine.hbas if hba.transport in _FC]
    kinds = Counter(_KINDS[disk.kind] for disk in machine.drives)
    sizes = [disk.size_bytes for disk in machine.drives] + [found.size_bytes for found in machine.maps]
    total = sum(filter(None, sizes))
    up = [port for port in ports if port.state == "Online"]
    speeds = sorted({port.speed_bits_per_second or 0 for port in up})
    speed = f" {listed([format_bit_rate(one) if one else 'unknown' for one in speeds])}" if any(speeds) else ""
    fc = f"{len(ports)} FC{speed}" if len(up) == len(ports) else f"{len(up)} of {len(ports)} FC{speed} up"
    return [
        fc if ports else "",
        plural(len(machine.maps), "LUN") if machine.maps else "",
        *(f"{count} {kind} disk{'' if count == 1 else 's'}" for kind, count in kinds.most_common()),
        f"{'at least ' if None in sizes else ''}{format_decimal_bytes(total)}" if total else "",
        plural(len(machine.nfs_mounts), "NFS mount") if machine.nfs_mounts else "",
    ]


def _cpu(machine: Machine) -> list[str]:
    clock = "" if machine.base_clock is None else format_hz(machine.base_clock.value)
    cores = counted(machine.core_count, "core") if machine.core_count else ""
    threads = plural(machine.pu_counts.online, "thread") if machine.pus else ""
    sockets = plural(machine.socket_count, "socket") if machine.socket_count else ""
    guest = runs_on(machine.platform) if machine.platform.is_guest else ""
    return [cores or threads, clock, guest or sockets, threads if cores else ""]


def _memory(machine: Machine) -> list[str]:
    size = "" if machine.memory_bytes is None else format_bytes(machine.memory_bytes)
    return [size, plural(len(machine.nodes), "node") if len(machine.nodes) > 1 else ""]


def _network(machine: Machine) -> list[str]:
    up = [nic for nic in machine.ports if nic.carrier]
    speeds = Counter(nic.speed_bits_per_second for nic in up)
    links = [
        f"{count} x {format_bit_rate(speed)}" if speed else f"{plural(count, 'link')} of unknown speed"
        for speed, count in sorted(speeds.items(), key=lambda pair: pair[0] or 0, reverse=True)
    ]
    bonds = [nic.name for nic in machine.nics if nic.kind == "bond"]
    down = len(machine.ports) - len(up)
    return [*links, ", ".join(bonds), f"{plural(down, 'port')} without link" if down else ""]


_MOST_FACTS = 10
"""Devices that a card lists; Topology has all."""
_MACHINE_FACTS = {
    "cpu": ("Processor", "Sockets", "Cores", "Threads", "Base clock", "Governor", "Runs on"),
    "memory": ("Memory", "Available", "THP", "NUMA balancing"),
    "clock": ("Clock source", "Kernel"),
}


def detected_facts(machine: Machine, resource: str) -> tuple[tuple[str, str], ...]:
    """Return what was detected of a resource as names and values, for a page of its own."""
    wanted = _MACHINE_FACTS.get(resource, ())
    found = [fact for fact in machine_facts(machine) if fact[0] in wanted] if wanted else []
    devices = list(_DEVICES[resource](machine)) if resource in _DEVICES else []
    more = len(devices) - _MOST_FACTS
    rest = [(f"{more} more", "see Topology")] if more > 0 else []
    return (*found, *devices[:_MOST_FACTS], *rest)


def _storage_facts(machine: Machine) -> Iterator[tuple[str, str]]:
    for port in machine.hbas:
        if port.transport in _FC:
            speed = port.speed_bits_per_second
            yield port.name, _listed("Fibre Channel", format_bit_rate(speed) if speed else "", port.state)
    for found in machine.maps:
        yield found.name, _listed(_size(found.size_bytes), plural(len(found.paths), "path"))
    for disk in machine.drives:
        parts = [one for one in machine.block_devices if one.parent == disk.name]
        mounts = [point for one in (disk, *parts) for point in one.mount_points]
        on = f"mounted on {', '.join(mounts)}" if mounts else ""
        yield disk.name, _listed(_size(disk.size_bytes), _KINDS[disk.kind], disk.model, on)
    for mount in machine.nfs_mounts:
        yield mount.mount_point, _listed("NFS", mount.export)
    direct_nfs = direct_nfs_section(machine)
    yield from () if direct_nfs is None else direct_nfs.facts


def _node_facts(machine: Machine) -> Iterator[tuple[str, str]]:
    for node in machine.nodes if len(machine.nodes) > 1 else ():
        free = "" if node.free_bytes is None else f"{format_bytes(node.free_bytes)} free"
        yield f"Node {node.os_id}", _listed(None if not node.memory_bytes else format_bytes(node.memory_bytes), free)


def _network_facts(machine: Machine) -> Iterator[tuple[str, str]]:
    for nic in machine.nics:
        if is_port(nic) or nic.kind == "bond":
            speed = nic.speed_bits_per_second
            link = format_bit_rate(speed) if speed else "speed unknown" if nic.carrier else "no link"
            yield nic.name, _listed(link, nic.driver, "" if nic.node is None else f"node {nic.node}", nic.bond_mode)


_DEVICES: Mapping[str, Callable[[Machine], Iterator[tuple[str, str]]]] = {
    "storage": _storage_facts,
    "memory": _node_facts,
    "network": _network_facts,
}


def _size(count: int | None) -> str:
    return "size unknown" if count is None else format_decimal_bytes(count)


def _listed(*parts: str | None) -> str:
    return ", ".join(filter(None, parts))
