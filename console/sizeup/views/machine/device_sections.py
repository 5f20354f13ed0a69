"""What hangs on a machine, as sections: disks, adapters, paths, network, NFS, and the bandwidth of each device."""

from __future__ import annotations

from collections import Counter

from sizeup.charts.table import Column, Table
from sizeup.discovery.block import BLOCK
from sizeup.discovery.budget import infiniband_bytes_per_second
from sizeup.discovery.nics import NET
from sizeup.discovery.scsi import SCSI_DEVICES
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.model.storage import (
    BlockDevice,
    BlockKind,
    Hba,
    Transport,
)
from sizeup.units import format_bit_rate, format_decimal_bytes, format_rate
from sizeup.views.machine.facts import connections_text, gap_reason
from sizeup.views.machine.section import UNKNOWN, Section, size_or_unknown


def _speed_text(nic: Nic) -> str:
    if nic.speed_bits_per_second is None:
        return "-"
    return format_bit_rate(nic.speed_bits_per_second)


def network_section(machine: Machine) -> Section | None:
    """Interfaces that carry traffic; loopback and bare virtual ones are left to the JSON."""
    rows = tuple(
        (
            nic.name,
            nic.kind,
            {True: "up", False: "down", None: UNKNOWN}[nic.up],
            _speed_text(nic),
            "-" if nic.mtu is None else str(nic.mtu),
            _queues(nic),
            "-" if nic.node is None else str(nic.node),
            nic.driver or "-",
            nic.master or ",".join(nic.lower) or "-",
        )
        for nic in machine.nics
        if nic.kind not in ("loopback", "virtual", "dummy")
    )
    columns = (
        Column("name"), Column("kind"), Column("link"), Column("speed", numeric=True), Column("MTU", numeric=True),
        Column("queues", numeric=True),
        Column("node", numeric=True), Column("driver"), Column("with"),
    )  # fmt: skip
    answered = any(nic.rings or nic.offloads for nic in machine.nics)
    note = "" if answered else "Rings and offloads are unknown: no driver was asked (ethtool -g NAME, ethtool -k NAME)."
    if rows:
        return Section("Network", (), Table("", columns, rows, note))
    reason = gap_reason(machine, NET)
    return None if reason is None else Section("Network", (("interfaces", f"{UNKNOWN} ({NET}: {reason})"),))


def rings_section(machine: Machine) -> Section | None:
    """Rings and offloads of the interfaces whose driver answers for them."""
    rows = tuple(
        (
            nic.name,
            "-" if nic.rings is None else _ring(nic.rings.receive, nic.rings.receive_most),
            "-" if nic.rings is None else _ring(nic.rings.send, nic.rings.send_most),
            _offloads(nic),
        )
        for nic in machine.nics
        if nic.rings is not None or nic.offloads
    )
    columns = (
        Column("name"), Column("receive ring", numeric=True), Column("send ring", numeric=True),
        Column("offloads that are off"),
    )  # fmt: skip
    return Section("Rings and offloads", (), Table("", columns, rows)) if rows else None


def _offloads(nic: Nic) -> str:
    """Return the offloads that are off."""
    off = [name for name, on in nic.offloads if not on]
    if not off:
        return "none" if nic.offloads else "-"
    return ", ".join(off) + ("; all others are on" if len(off) < len(nic.offloads) else "")


def _ring(entries: int, most: int | None) -> str:
    return f"{entries}" + ("" if most in (None, entries) else f" of {most}")


def _queues(nic: Nic) -> str:
    """Return receive and transmit queues, one figure where they are equal."""
    if nic.receive_queues is None and nic.transmit_queues is None:
        return "-"
    equal = nic.receive_queues == nic.transmit_queues
    return str(nic.receive_queues) if equal else f"{nic.receive_queues or 0}+{nic.transmit_queues or 0}"


def rdma_section(machine: Machine) -> Section | None:
    """Ports of RDMA devices, which may be InfiniBand or Ethernet."""
    rows = tuple(
        (
            f"{port.device}/{port.port}",
            port.link_layer or UNKNOWN,
            port.state or UNKNOWN,
            "-" if port.rate_bits_per_second is None else format_bit_rate(port.rate_bits_per_second),
            port.encoding or "-",
            "-" if (payload := infiniband_bytes_per_second(port)) is None else format_rate(payload),
            "-" if port.node is None else str(port.node),
        )
        for port in machine.rdma_ports
    )
    columns = (
        Column("device/port"), Column("link layer"), Column("state"), Column("rate", numeric=True), Column("encoding"),
        Column("at most", numeric=True),        Column("node", numeric=True),
    )  # fmt: skip
    return Section("RDMA ports", (), Table("", columns, rows)) if rows else None


def _shown(device: BlockDevice) -> bool:
    """Loop and memory disks of no size, and empty drives, are noise; a size that is unknown is not zero."""
    return device.size_bytes != 0 and not (
        device.kind in (BlockKind.LOOP, BlockKind.RAM, BlockKind.NBD) and not device.mount_points
    )


def _disk_kind(device: BlockDevice, transport: str | None) -> str:
    """Kind, RAID level, transport of an NVMe namespace, and whether it can only be read."""
    read_only = "ro" if device.read_only and device.kind is not BlockKind.OPTICAL else None
    return " ".join(filter(None, (device.kind.value, device.raid_level, transport, read_only)))


def storage_section(machine: Machine) -> Section | None:
    """Disks, partitions and stacks."""
    over = {controller.name: controller.transport for controller in machine.nvme_controllers}
    transports = {
        space.name: "+".join(sorted({kind for name in space.controllers if (kind := over.get(name)) is not None}))
        for space in machine.nvme_namespaces
    }
    rows = tuple(
        (
            f"  {device.name}" if device.parent else device.dm_name or device.name,
            _disk_kind(device, transports.get(device.name)),
            UNKNOWN if device.size_bytes is None else format_decimal_bytes(device.size_bytes),
            "-" if device.node is None else str(device.node),
            device.model or ",".join(device.members) or "-",
            ",".join(device.mount_points) or "-",
        )
        for device in machine.block_devices
        if _shown(device)
    )
    columns = (
        Column("name"), Column("kind"), Column("size", numeric=True), Column("node", numeric=True),
        Column("model or members"), Column("mounted on"),
    )  # fmt: skip
    if rows:
        return Section("Storage", (), Table("", columns, rows))
    reason = gap_reason(machine, BLOCK)
    if reason is None:
        return None
    mounted = tuple(("mounted", f"{mount.source} on {mount.mount_point}") for mount in machine.local_mounts)
    return Section("Storage", (("disks", f"{UNKNOWN} ({BLOCK}: {reason})"), *mounted))


_PORTS = (Transport.SATA, Transport.OTHER, Transport.USB)
"""Hosts of which a board has many, most of them empty."""


def _hba_rate(hba: Hba) -> str:
    rates = [target.rate_bits_per_second for target in hba.targets if target.rate_bits_per_second is not None]
    speed = hba.speed_bits_per_second or max(rates, default=None)
    if speed is None:
        return "-"
    best = max(hba.supported_bits_per_second, default=speed)
    return format_bit_rate(speed) + (f" of {format_bit_rate(best)}" if best > speed else "")


def adapters_section(machine: Machine) -> Section | None:
    """Host adapters; ports of SATA, USB and drivers that make disks up only where a device hangs on them."""
    used = {device.hba for device in machine.scsi_devices}
    used |= {f"host{disk.hctl.partition(':')[0]}" for disk in machine.block_devices if disk.hctl is not None}
    listed = [hba for hba in machine.hbas if hba.transport not in _PORTS or hba.name in used]
    units = Counter(device.hba for device in machine.scsi_devices if device.kind == 0)
    none = "0" if gap_reason(machine, SCSI_DEVICES) is None else "-"
    empty = [hba.name for hba in machine.hbas if hba not in listed]
    rows = tuple(
        (
            hba.name,
            hba.transport.value,
            hba.driver or "-",
            hba.state or UNKNOWN,
            _hba_rate(hba),
            "-" if hba.node is None else str(hba.node),
            str(len(hba.targets) or none),
            str(units[hba.name] or none),
            hba.net_device or hba.port_name or "-",
        )
        for hba in listed
    )
    columns = (
        Column("name"), Column("kind"), Column("driver"), Column("state"), Column("speed", numeric=True),
        Column("node", numeric=True), Column("targets", numeric=True), Column("LUNs", numeric=True), Column("port"),
    )  # fmt: skip
    facts = (("no device", ", ".join(empty)),) if empty else ()
    return Section("Host adapters", facts, Table("", columns, rows)) if rows or facts else None


def paths_section(machine: Machine) -> Section | None:
    """Multipath maps, a row for each path."""
    rows = []
    for found in machine.maps:
        rows.append((found.name, found.device, "", "", "", "" if found.paths else "paths unknown: no slaves listed"))
        for path in found.paths:
            state = " ".join(filter(None, (path.state, path.access_state)))
            rows.append(
                (
                    f"  {path.device}",
                    path.hctl or "-",
                    path.hba or "-",
                    path.target or "-",
                    "-" if path.node is None else str(path.node),
                    state or UNKNOWN,
                )
            )
    columns = (
        Column("map and path"), Column("device"), Column("adapter"), Column("target"), Column("node", numeric=True),
        Column("state"),
    )  # fmt: skip
    return Section("Multipath", (), Table("", columns, tuple(rows))) if rows else None


def budget_section(machine: Machine) -> Section | None:
    """The narrowest stage on each device's way to memory, as far as it is known."""
    rows = tuple(
        (
            budget.device,
            budget.pci_address or "-",
            "-" if budget.limit_bytes_per_second is None else format_rate(budget.limit_bytes_per_second),
            budget.narrowest or "no rate known",
            "-" if budget.share_bytes_per_second is None else format_rate(budget.share_bytes_per_second),
        )
        for budget in machine.budgets
        if budget.limit_bytes_per_second is not None
    )
    columns = (
        Column("device"), Column("PCI address"), Column("at most", numeric=True), Column("because of"),
        Column("when shared", numeric=True),
    )  # fmt: skip
    return Section("Bandwidth budget", (), Table("", columns, rows)) if rows else None


_NO_CACHE = ("noac", "actimeo=0")
"""Attributes are asked of the server each time; other limits are left to the JSON."""


def _mount_options(mount: NfsMount) -> str:
    """Return the options that decide about errors and caches: ``hard noac ro``."""
    return " ".join(
        (
            {True: "hard", False: "soft", None: UNKNOWN}[mount.hard],
            *(name for name, there in (("ro", mount.read_only), ("sync", mount.sync)) if there),
            *((mount.attribute_cache,) if mount.attribute_cache in _NO_CACHE else ()),
        )
    )


def nfs_section(machine: Machine) -> Section | None:
    """NFS mounts."""
    rows = tuple(
        (
            mount.mount_point,
            mount.export,
            f"{mount.version or UNKNOWN} {mount.protocol or ''}".strip(),
            connections_text(mount) or UNKNOWN,
            size_or_unknown(mount.read_size_bytes),
            size_or_unknown(mount.write_size_bytes),
            _mount_options(mount),
        )
        for mount in machine.nfs_mounts
    )
    columns = (
        Column("mounted on"), Column("export"), Column("version"),
        Column("connections", numeric=True), Column("rsize", numeric=True),
        Column("wsize", numeric=True), Column("options"),
    )  # fmt: skip
    return Section("NFS", (), Table("", columns, rows)) if rows else None
