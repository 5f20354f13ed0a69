"""What hangs on a machine, as sections: disks, adapters, paths, network, NFS, and the bandwidth of each device."""

from __future__ import annotations

from collections import Counter

from sizeup.charts.table import Column, Table
from sizeup.discovery.block import BLOCK
from sizeup.discovery.budget import infiniband_bytes_per_second
from sizeup.discovery.nics import NET
from sizeup.discovery.scsi import SCSI_DEVICES
from sizeup.model.machine import Machine
from sizeup.model.storage import BlockKind, Transport
from sizeup.text import if_known
from sizeup.units import format_bit_rate, format_decimal_bytes, format_rate
from sizeup.views.machine.facts import connections_text, gap_reason
from sizeup.views.machine.section import UNKNOWN, Section, size_or_unknown, table_section


def network_section(machine: Machine) -> Section | None:
    """Interfaces that carry traffic; loopback and bare virtual ones are left to the JSON."""
    rows = [
        {
            "name": nic.name,
            "kind": nic.kind,
            "link": {True: "up", False: "down", None: UNKNOWN}[nic.up],
            "speed": if_known(nic.speed_bits_per_second, format_bit_rate),
            "MTU": nic.mtu,
            "queues": nic.receive_queues
            if nic.receive_queues == nic.transmit_queues
            else f"{nic.receive_queues or 0}+{nic.transmit_queues or 0}",
            "node": nic.node,
            "driver": nic.driver,
            "with": nic.master or ",".join(nic.lower),
        }
        for nic in machine.nics
        if nic.kind not in ("loopback", "virtual", "dummy")
    ]
    if not rows and (reason := gap_reason(machine, NET)) is not None:
        return Section("Network", (("interfaces", f"{UNKNOWN} ({NET}: {reason})"),))
    answered = any(nic.rings or nic.offloads for nic in machine.nics)
    note = "" if answered else "Rings and offloads are unknown: no driver was asked (ethtool -g NAME, ethtool -k NAME)."
    return table_section("Network", rows, numeric=("speed", "MTU", "queues", "node"), note=note)


def rings_section(machine: Machine) -> Section | None:
    """Rings and offloads of the interfaces whose driver answers for them."""
    rows = []
    for nic in machine.nics:
        if nic.rings is None and not nic.offloads:
            continue
        off = [name for name, on in nic.offloads if not on]
        others = "; all others are on" if off and len(off) < len(nic.offloads) else ""
        rows.append({
            "name": nic.name,
            "receive ring": None if nic.rings is None else _ring(nic.rings.receive, nic.rings.receive_most),
            "send ring": None if nic.rings is None else _ring(nic.rings.send, nic.rings.send_most),
            "offloads that are off": f"{', '.join(off)}{others}" or ("none" if nic.offloads else "-"),
        })  # fmt: skip
    return table_section("Rings and offloads", rows, numeric=("receive ring", "send ring"))


def _ring(entries: int, most: int | None) -> str:
    return f"{entries}" + ("" if most in (None, entries) else f" of {most}")


def rdma_section(machine: Machine) -> Section | None:
    """Ports of RDMA devices, which may be InfiniBand or Ethernet."""
    rows = [
        {
            "device/port": f"{port.device}/{port.port}",
            "link layer": port.link_layer or UNKNOWN,
            "state": port.state or UNKNOWN,
            "rate": if_known(port.rate_bits_per_second, format_bit_rate),
            "encoding": port.encoding,
            "at most": if_known(infiniband_bytes_per_second(port), format_rate),
            "node": port.node,
        }
        for port in machine.rdma_ports
    ]
    return table_section("RDMA ports", rows, numeric=("rate", "at most", "node"))


def storage_section(machine: Machine) -> Section | None:
    """Disks, partitions and stacks; not empty drives, and of loop and memory disks those that are mounted."""
    over = {controller.name: controller.transport for controller in machine.nvme_controllers}
    transports = {
        space.name: "+".join(sorted({kind for name in space.controllers if (kind := over.get(name)) is not None}))
        for space in machine.nvme_namespaces
    }
    rows = []
    for device in machine.block_devices:
        unused = device.kind in (BlockKind.LOOP, BlockKind.RAM, BlockKind.NBD) and not device.mount_points
        if device.size_bytes == 0 or unused:  # a size that is unknown is not zero
            continue
        read_only = "ro" if device.read_only and device.kind is not BlockKind.OPTICAL else None
        kinds = (device.kind.value, device.raid_level, transports.get(device.name), read_only)
        rows.append({
            "name": f"  {device.name}" if device.parent else device.dm_name or device.name,
            "kind": " ".join(filter(None, kinds)),
            "size": UNKNOWN if device.size_bytes is None else format_decimal_bytes(device.size_bytes),
            "node": device.node,
            "model or members": device.model or ",".join(device.members),
            "mounted on": ",".join(device.mount_points),
        })  # fmt: skip
    if not rows and (reason := gap_reason(machine, BLOCK)) is not None:
        mounted = tuple(("mounted", f"{mount.source} on {mount.mount_point}") for mount in machine.local_mounts)
        return Section("Storage", (("disks", f"{UNKNOWN} ({BLOCK}: {reason})"), *mounted))
    return table_section("Storage", rows, numeric=("size", "node"))


_PORTS = (Transport.SATA, Transport.OTHER, Transport.USB)
"""Hosts of which a board has many, most of them empty."""


def adapters_section(machine: Machine) -> Section | None:
    """Host adapters; ports of SATA, USB and drivers that make disks up only where a device hangs on them."""
    used = {device.hba for device in machine.scsi_devices}
    used |= {f"host{disk.hctl.partition(':')[0]}" for disk in machine.block_devices if disk.hctl is not None}
    listed = [hba for hba in machine.hbas if hba.transport not in _PORTS or hba.name in used]
    units = Counter(device.hba for device in machine.scsi_devices if device.kind == 0)
    none = "0" if gap_reason(machine, SCSI_DEVICES) is None else "-"
    empty = [hba.name for hba in machine.hbas if hba not in listed]
    rows = []
    for hba in listed:
        rates = [target.rate_bits_per_second or 0 for target in hba.targets]
        speed = hba.speed_bits_per_second or max(rates, default=0)
        best = max(hba.supported_bits_per_second, default=speed)
        more = f" of {format_bit_rate(best)}" if best > speed else ""
        rows.append({
            "name": hba.name,
            "kind": hba.transport.value,
            "driver": hba.driver,
            "state": hba.state or UNKNOWN,
            "speed": f"{format_bit_rate(speed)}{more}" if speed else None,
            "node": hba.node,
            "targets": len(hba.targets) or none,
            "LUNs": units[hba.name] or none,
            "port": hba.net_device or hba.port_name,
        })  # fmt: skip
    facts = (("no device", ", ".join(empty)),) if empty else ()
    return table_section("Host adapters", rows, numeric=("speed", "node", "targets", "LUNs"), facts=facts)


def paths_section(machine: Machine) -> Section | None:
    """Multipath maps, a row for each path."""
    rows = []
    for found in machine.maps:
        rows.append((found.name, found.device, "", "", "", "" if found.paths else "paths unknown: no slaves listed"))
        for path in found.paths:
            state = " ".join(filter(None, (path.state, path.access_state))) or UNKNOWN
            node = "-" if path.node is None else str(path.node)
            rows.append((f"  {path.device}", path.hctl or "-", path.hba or "-", path.target or "-", node, state))
    columns = (
        Column("map and path"), Column("device"), Column("adapter"), Column("target"), Column("node", numeric=True),
        Column("state"),
    )  # fmt: skip
    return Section("Multipath", (), Table("", columns, tuple(rows))) if rows else None


def budget_section(machine: Machine) -> Section | None:
    """The narrowest stage on each device's way to memory, as far as it is known."""
    rows = [
        {
            "device": budget.device,
            "PCI address": budget.pci_address,
            "at most": if_known(budget.limit_bytes_per_second, format_rate),
            "because of": budget.narrowest or "no rate known",
            "when shared": if_known(budget.share_bytes_per_second, format_rate),
        }
        for budget in machine.budgets
        if budget.limit_bytes_per_second is not None
    ]
    return table_section("Bandwidth budget", rows, numeric=("at most", "when shared"))


_NO_CACHE = ("noac", "actimeo=0")
"""Attributes are asked of the server each time; other limits are left to the JSON."""


def nfs_section(machine: Machine) -> Section | None:
    """NFS mounts, of their options those that decide about errors and caches: ``hard noac ro``."""
    rows = []
    for mount in machine.nfs_mounts:
        options = (
            {True: "hard", False: "soft", None: UNKNOWN}[mount.hard],
            *(name for name, there in (("ro", mount.read_only), ("sync", mount.sync)) if there),
            *((mount.attribute_cache,) if mount.attribute_cache in _NO_CACHE else ()),
        )
        rows.append({
            "mounted on": mount.mount_point,
            "export": mount.export,
            "version": f"{mount.version or UNKNOWN} {mount.protocol or ''}".strip(),
            "connections": connections_text(mount) or UNKNOWN,
            "rsize": size_or_unknown(mount.read_size_bytes),
            "wsize": size_or_unknown(mount.write_size_bytes),
            "options": " ".join(options),
        })  # fmt: skip
    return table_section("NFS", rows, numeric=("connections", "rsize", "wsize"))


_DIRECT_NFS = {
    True: "linked",
    False: "not linked",
    "remote": "unknown, as the home is on a mount that may wait for its server",
    "missing": "unknown, as rdbms/lib is missing or not readable",
    "copied": "unknown for 11g: compare lib/libodm11.so with lib/libnfsodm11.so",
}


def direct_nfs_section(machine: Machine) -> Section | None:
    """Oracle homes with Direct NFS or without, and the servers of every oranfstab with their paths."""
    facts = []
    for home in machine.oracle_homes:
        table = f"; {home.oranfstab}" if home.oranfstab else ""
        facts.append(("Oracle home", f"{home.path}: Direct NFS {_DIRECT_NFS[home.unknown or home.direct_nfs]}{table}"))
    for server in machine.direct_nfs_servers:
        own = ", ".join(server.local_addresses) or "any address"
        mounts = (f"{at}{' (not mounted)' if at in server.missing_mount_points else ''}" for _, at in server.exports)
        paths = ", ".join(server.server_addresses) or "its mounts"
        facts.append(("NFS server", f"{server.server}: {own} to {paths}; {', '.join(mounts) or 'no mounts'}"))
    return Section("Oracle Direct NFS", tuple(facts)) if facts else None
