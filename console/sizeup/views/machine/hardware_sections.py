"""What the kernel says of devices beyond their links: formats, temperatures, interrupts, firmware; and of pools."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.charts.table import Column, Table
from sizeup.discovery.findings.storage import warnings
from sizeup.model.devices import Accelerator
from sizeup.model.machine import Machine
from sizeup.model.storage import BlockDevice, NvmeNamespace, Transport
from sizeup.procfs.lists import format_list
from sizeup.text import plural
from sizeup.units import format_bytes, format_decimal_bytes
from sizeup.views.machine.facts import gap_reason
from sizeup.views.machine.section import UNKNOWN, Section, size_or_unknown


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def nvme_section(machine: Machine) -> Section | None:
    """NVMe controllers with their namespaces, also those without any, which no disk shows."""
    spaces = {controller.name: _spaces(machine, controller.name) for controller in machine.nvme_controllers}
    rows = tuple(
        (
            controller.name,
            controller.transport or UNKNOWN,
            controller.state or UNKNOWN,
            _number(controller.node),
            ", ".join(map(_format, spaces[controller.name])) or "none",
            "-" if controller.temperature_celsius is None else f"{controller.temperature_celsius:.0f} °C",
            controller.firmware or "-",
            f"{controller.model or '-'}{f' via {controller.net_device}' if controller.net_device else ''}",
        )
        for controller in machine.nvme_controllers
    )
    columns = (
        Column("name"), Column("over"), Column("state"), Column("node", numeric=True), Column("namespaces"),
        Column("temp.", numeric=True), Column("firmware"), Column("model"),
    )  # fmt: skip
    return Section("NVMe controllers", (), Table("", columns, rows, _health_note(machine))) if rows else None


def _health_note(machine: Machine) -> str:
    """Return why spare and wear of a drive are unknown; empty where all are known."""
    unread = [one.name for one in machine.nvme_controllers if one.health is None]
    if not unread:
        return ""
    reasons = {f"{gap_reason(machine, f'nvme/{name}/smart-log') or 'not asked'}" for name in unread}
    if reasons == {"permission denied"}:
        return "Spare and wear are unknown: they need root (nvme smart-log /dev/NAME)."
    return f"Spare and wear of {', '.join(unread)} are unknown: {', '.join(sorted(reasons))}."


def health_section(machine: Machine) -> Section | None:
    """The health log of NVMe drives."""
    rows = tuple(
        (
            controller.name,
            ", ".join(warnings(health)) or "none",
            "-" if health.temperature_celsius is None else f"{health.temperature_celsius} °C",
            f"{health.spare_percent} % (at least {health.spare_threshold_percent} %)",
            f"{health.used_percent} %",
            "-" if health.written_bytes is None else format_decimal_bytes(health.written_bytes),
            _number(health.media_errors),
            _number(health.unsafe_shutdowns),
            _number(health.power_on_hours),
        )
        for controller in machine.nvme_controllers
        if (health := controller.health) is not None
    )
    columns = (
        Column("name"), Column("warnings"), Column("temp.", numeric=True), Column("spare", numeric=True),
        Column("endurance used", numeric=True), Column("written", numeric=True), Column("media errors", numeric=True),
        Column("unsafe shutdowns", numeric=True), Column("hours on", numeric=True),
    )  # fmt: skip
    return Section("NVMe health", (), Table("", columns, rows)) if rows else None


def _spaces(machine: Machine, controller: str) -> list[NvmeNamespace]:
    """The namespaces of a controller; of one whose controller is not known, each of its subsystem may be the one."""
    subsystem = next((one.subsystem for one in machine.nvme_controllers if one.name == controller), None)
    return [
        space
        for space in machine.nvme_namespaces
        if controller in space.controllers
        or (not space.controllers and subsystem is not None and space.subsystem == subsystem)
    ]


def _format(space: NvmeNamespace) -> str:
    """Return a namespace with its LBA format: ``nvme0n1 (4 KiB + 8 B)``."""
    if space.logical_block_bytes is None:
        return space.name
    metadata = f" + {space.metadata_bytes} B" if space.metadata_bytes else ""
    return f"{space.name} ({format_bytes(space.logical_block_bytes)}{metadata})"


def raid_section(machine: Machine) -> Section | None:
    """RAID controllers with the write cache of their drives, as far as sysfs says."""
    disks: dict[str, list[BlockDevice]] = {}
    for disk in machine.block_devices:
        if disk.hctl is not None and disk.parent is None:
            disks.setdefault(f"host{disk.hctl.partition(':')[0]}", []).append(disk)
    rows = tuple(
        (
            hba.name,
            hba.driver or "-",
            hba.model or _reported(disks.get(hba.name, [])),
            hba.firmware or "-",
            _number(hba.node),
            str(len(disks.get(hba.name, []))),
            ", ".join(sorted({disk.write_cache for disk in disks.get(hba.name, []) if disk.write_cache})) or UNKNOWN,
        )
        for hba in machine.hbas
        if hba.transport is Transport.RAID
    )
    columns = (
        Column("name"), Column("driver"), Column("model"), Column("firmware"), Column("node", numeric=True),
        Column("drives", numeric=True), Column("write cache"),
    )  # fmt: skip
    note = "Battery and cache of the controller are not in sysfs: ask its own tool (storcli, ssacli, arcconf)."
    return Section("RAID controllers", (), Table("", columns, rows, note)) if rows else None


def _reported(disks: list[BlockDevice]) -> str:
    """Return what the controller calls the drives that it makes up, which is often its own model."""
    models = sorted({" ".join(filter(None, (disk.vendor, disk.model))) for disk in disks} - {""})
    return f"drives report {', '.join(models)}" if models else "-"


def interrupts_section(machine: Machine) -> Section | None:
    """To which CPUs, of which nodes, the interrupts of devices go."""
    names: dict[str, list[str]] = {}
    addresses = (
        *((nic.pci_address, nic.name) for nic in machine.nics),
        *((controller.pci_address, controller.name) for controller in machine.nvme_controllers),
        *((hba.pci_address, hba.name) for hba in machine.hbas),
    )
    for address, name in addresses:
        if address is not None:
            names.setdefault(address, []).append(name)
    own = {function.address: function.node for function in machine.pci}
    rows = tuple(
        (
            ", ".join(names.get(found.pci_address, ())) or found.pci_address,
            found.pci_address,
            str(found.count),
            format_list(found.cpus) or UNKNOWN,
            format_list(tuple(node.os_id for node in machine.nodes if set(node.pus) & set(found.cpus))) or "-",
            _number(own.get(found.pci_address)),
        )
        for found in machine.interrupts
    )
    columns = (
        Column("device"), Column("PCI address"), Column("count", numeric=True), Column("go to CPUs"),
        Column("of nodes"), Column("device on node", numeric=True),
    )  # fmt: skip
    return Section("Interrupts", (), Table("", columns, rows)) if rows else None


def virtual_functions_section(machine: Machine) -> Section | None:
    """PCI devices that can show themselves several times (SR-IOV)."""
    rows = tuple(
        (
            function.address,
            function.driver or "-",
            f"{function.virtual_functions or 0} of {function.virtual_functions_limit}",
            _number(function.node),
        )
        for function in machine.pci
        if function.virtual_functions_limit
    )
    columns = (
        Column("PCI address"), Column("driver"), Column("virtual functions", numeric=True), Column("node", numeric=True)
    )  # fmt: skip
    return Section("SR-IOV", (), Table("", columns, rows)) if rows else None


def accelerators_section(machine: Machine) -> Section | None:
    """GPUs and other accelerators."""
    rows = tuple(
        (
            found.pci_address,
            _accelerator_name(found),
            found.driver or "none",
            "-" if found.memory_bytes is None else format_bytes(found.memory_bytes),
            _number(found.node),
        )
        for found in machine.accelerators
    )
    columns = (
        Column("PCI address"), Column("model"), Column("driver"), Column("memory", numeric=True),
        Column("node", numeric=True),
    )  # fmt: skip
    return Section("Accelerators", (), Table("", columns, rows)) if rows else None


def _accelerator_name(found: Accelerator) -> str:
    """Return maker and model; NVIDIA's driver puts the maker into the model."""
    if found.model is None:
        return f"{found.vendor} (model not named by a driver)"
    return found.model if found.model.startswith(found.vendor) else f"{found.vendor} {found.model}"


def dax_section(machine: Machine) -> Section | None:
    """Memory for direct access, with what uses it."""
    rows = tuple(
        (found.name, size_or_unknown(found.size_bytes), _number(found.node), found.driver or "-")
        for found in machine.dax_devices
    )
    columns = (Column("name"), Column("size", numeric=True), Column("node", numeric=True), Column("driver"))
    return Section("DAX devices", (), Table("", columns, rows)) if rows else None


def cxl_section(machine: Machine) -> Section | None:
    """Memory devices on CXL."""
    rows = tuple(
        (
            found.name,
            found.pci_address or "-",
            size_or_unknown(found.volatile_bytes),
            size_or_unknown(found.persistent_bytes),
            _number(found.node),
        )
        for found in machine.cxl_memory
    )
    columns = (
        Column("name"), Column("PCI address"), Column("volatile", numeric=True), Column("persistent", numeric=True),
        Column("node", numeric=True),
    )  # fmt: skip
    return Section("CXL memory", (), Table("", columns, rows)) if rows else None


def _firmware(machine: Machine) -> Iterator[tuple[str, str | None]]:
    yield "BIOS", machine.platform.firmware
    for controller in machine.nvme_controllers:
        yield f"NVMe {controller.model or controller.name}", controller.firmware
    for hba in machine.hbas:
        yield f"{hba.transport.value} {hba.model or hba.driver or hba.name}", hba.firmware
    for port in machine.rdma_ports:
        yield f"RDMA {port.model or port.device}", port.firmware
    for gpu in machine.accelerators:
        yield f"GPU {gpu.model or gpu.pci_address}", gpu.firmware
    for memory in machine.cxl_memory:
        yield f"CXL {memory.name}", memory.firmware


def firmware_section(machine: Machine) -> Section | None:
    """Versions of firmware, those of equal devices once; devices of one model with several are worth a look."""
    found: dict[str, dict[str, int]] = {}
    for name, version in _firmware(machine):
        if version:
            counts = found.setdefault(name, {})
            counts[version] = counts.get(version, 0) + 1
    rows = tuple(
        (name, ", ".join(f"{version} × {count}" if count > 1 else version for version, count in versions.items()))
        for name, versions in found.items()
    )
    note = "That of Ethernet cards is not in sysfs (ethtool -i NAME)."
    columns = (Column("device"), Column("version"))
    return Section("Firmware", (), Table("", columns, rows, note)) if rows else None


def file_systems_section(machine: Machine) -> Section | None:
    """Pools, cluster file systems and replicas."""
    rows = tuple(
        (
            found.kind,
            found.name,
            found.state or UNKNOWN,
            ", ".join(found.mount_points) or "-",
            "; ".join((*((plural(len(found.devices), "device"),) if found.devices else ()), *found.details)) or "-",
        )
        for found in machine.file_systems
    )
    columns = (Column("kind"), Column("name"), Column("state"), Column("mounted on"), Column("details"))
    return Section("Pools and cluster file systems", (), Table("", columns, rows)) if rows else None
