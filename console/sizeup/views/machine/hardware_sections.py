"""What the kernel says of devices beyond their links: formats, temperatures, interrupts, firmware; and of pools."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.discovery.findings.storage import warnings
from sizeup.model.machine import Accelerator, Machine
from sizeup.model.storage import BlockDevice, NvmeNamespace, Transport
from sizeup.procfs.lists import format_list
from sizeup.text import if_known, plural
from sizeup.units import format_bytes, format_decimal_bytes
from sizeup.views.machine.facts import gap_reason
from sizeup.views.machine.section import UNKNOWN, Section, size_or_unknown, table_section


def nvme_section(machine: Machine) -> Section | None:
    """NVMe controllers with their namespaces, also those without any, which no disk shows."""
    spaces = {controller.name: _spaces(machine, controller.name) for controller in machine.nvme_controllers}
    rows = [
        {
            "name": controller.name,
            "over": controller.transport or UNKNOWN,
            "state": controller.state or UNKNOWN,
            "node": controller.node,
            "namespaces": ", ".join(map(_format, spaces[controller.name])) or "none",
            "temp.": None if controller.temperature_celsius is None else f"{controller.temperature_celsius:.0f} °C",
            "firmware": controller.firmware,
            "model": f"{controller.model or '-'}{f' via {controller.net_device}' if controller.net_device else ''}",
        }
        for controller in machine.nvme_controllers
    ]
    return table_section("NVMe controllers", rows, numeric=("node", "temp."), note=_health_note(machine))


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
    rows = [
        {
            "name": controller.name,
            "warnings": ", ".join(warnings(health)) or "none",
            "temp.": None if health.temperature_celsius is None else f"{health.temperature_celsius} °C",
            "spare": f"{health.spare_percent} % (at least {health.spare_threshold_percent} %)",
            "endurance used": f"{health.used_percent} %",
            "written": if_known(health.written_bytes, format_decimal_bytes),
            "media errors": health.media_errors,
            "unsafe shutdowns": health.unsafe_shutdowns,
            "hours on": health.power_on_hours,
        }
        for controller in machine.nvme_controllers
        if (health := controller.health) is not None
    ]
    return table_section(
        "NVMe health",
        rows,
        numeric=("temp.", "spare", "endurance used", "written", "media errors", "unsafe shutdowns", "hours on"),
    )


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
    rows = [
        {
            "name": hba.name,
            "driver": hba.driver,
            "model": hba.model or _reported(disks.get(hba.name, [])),
            "firmware": hba.firmware,
            "node": hba.node,
            "drives": len(disks.get(hba.name, [])),
            "write cache": ", ".join(sorted({disk.write_cache for disk in disks.get(hba.name, []) if disk.write_cache}))
            or UNKNOWN,
        }
        for hba in machine.hbas
        if hba.transport is Transport.RAID
    ]
    note = "Battery and cache of the controller are not in sysfs: ask its own tool (storcli, ssacli, arcconf)."
    return table_section("RAID controllers", rows, numeric=("node", "drives"), note=note)


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
    rows = [
        {
            "device": ", ".join(names.get(found.pci_address, ())) or found.pci_address,
            "PCI address": found.pci_address,
            "count": found.count,
            "go to CPUs": format_list(found.cpus) or UNKNOWN,
            "of nodes": format_list(tuple(node.os_id for node in machine.nodes if set(node.pus) & set(found.cpus))),
            "device on node": own.get(found.pci_address),
        }
        for found in machine.interrupts
    ]
    return table_section("Interrupts", rows, numeric=("count", "device on node"))


def virtual_functions_section(machine: Machine) -> Section | None:
    """PCI devices that can show themselves several times (SR-IOV)."""
    rows = [
        {
            "PCI address": function.address,
            "driver": function.driver,
            "virtual functions": f"{function.virtual_functions or 0} of {function.virtual_functions_limit}",
            "node": function.node,
        }
        for function in machine.pci
        if function.virtual_functions_limit
    ]
    return table_section("SR-IOV", rows, numeric=("virtual functions", "node"))


def accelerators_section(machine: Machine) -> Section | None:
    """GPUs and other accelerators."""
    rows = [
        {
            "PCI address": found.pci_address,
            "model": _accelerator_name(found),
            "driver": found.driver or "none",
            "memory": if_known(found.memory_bytes, format_bytes),
            "node": found.node,
        }
        for found in machine.accelerators
    ]
    return table_section("Accelerators", rows, numeric=("memory", "node"))


def _accelerator_name(found: Accelerator) -> str:
    """Return maker and model; NVIDIA's driver puts the maker into the model."""
    if found.model is None:
        return f"{found.vendor} (model not named by a driver)"
    return found.model if found.model.startswith(found.vendor) else f"{found.vendor} {found.model}"


def dax_section(machine: Machine) -> Section | None:
    """Memory for direct access, with what uses it."""
    rows = [
        {"name": found.name, "size": size_or_unknown(found.size_bytes), "node": found.node, "driver": found.driver}
        for found in machine.dax_devices
    ]
    return table_section("DAX devices", rows, numeric=("size", "node"))


def cxl_section(machine: Machine) -> Section | None:
    """Memory devices on CXL."""
    rows = [
        {
            "name": found.name,
            "PCI address": found.pci_address,
            "volatile": size_or_unknown(found.volatile_bytes),
            "persistent": size_or_unknown(found.persistent_bytes),
            "node": found.node,
        }
        for found in machine.cxl_memory
    ]
    return table_section("CXL memory", rows, numeric=("volatile", "persistent", "node"))


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
    rows = [
        {
            "device": name,
            "version": ", ".join(
                f"{version} × {count}" if count > 1 else version for version, count in versions.items()
            ),
        }
        for name, versions in found.items()
    ]
    note = "That of Ethernet cards is not in sysfs (ethtool -i NAME)."
    return table_section("Firmware", rows, note=note)


def file_systems_section(machine: Machine) -> Section | None:
    """Pools, cluster file systems and replicas."""
    rows = [
        {
            "kind": found.kind,
            "name": found.name,
            "state": found.state or UNKNOWN,
            "mounted on": ", ".join(found.mount_points),
            "details": "; ".join((*((plural(len(found.devices), "device"),) if found.devices else ()), *found.details)),
        }
        for found in machine.file_systems
    ]
    return table_section("Pools and cluster file systems", rows)
