"""What the kernel and the firmware say beyond links: formats, temperatures, firmware, modules, pools and settings."""

from __future__ import annotations

from collections import Counter

from sizeup.compare.parts import NO_DISKS
from sizeup.discovery.findings.dimms import channel_sizes, speed_text
from sizeup.discovery.findings.storage import warnings
from sizeup.discovery.numa import SMBIOS_TABLE
from sizeup.discovery.setting_facts import DISK_SETTINGS, disk_setting
from sizeup.model.machine import DimmSlot, Machine
from sizeup.model.network import Nic
from sizeup.model.storage import BlockDevice, Hba, NvmeController, NvmeNamespace, Transport
from sizeup.procfs.lists import format_list
from sizeup.text import first_of, if_known, plural
from sizeup.units import format_bytes, format_decimal_bytes
from sizeup.views.machine.facts import gap_reason, setting_texts
from sizeup.views.machine.section import UNKNOWN, Section, size_or_unknown, table_section

_MOST_SLOTS = 32
"""More slots than these are left to the JSON."""
_MOST_DISKS = 4
"""Disks that a row of settings names."""


def nvme_section(machine: Machine) -> Section | None:
    """NVMe controllers with their namespaces, also those without any, which no disk shows."""
    rows = []
    for controller in machine.nvme_controllers:
        spaces = [
            space
            for space in machine.nvme_namespaces
            # One whose controller is not known may be of each of its subsystem.
            if controller.name in space.controllers
            or (not space.controllers and controller.subsystem is not None and space.subsystem == controller.subsystem)
        ]
        rows.append({
            "name": controller.name,
            "over": controller.transport or UNKNOWN,
            "state": controller.state or UNKNOWN,
            "node": controller.node,
            "namespaces": ", ".join(map(_format, spaces)) or "none",
            "temp.": if_known(controller.temperature_celsius, "{:.0f} °C".format),
            "firmware": controller.firmware,
            "model": f"{controller.model or '-'}{f' via {controller.net_device}' if controller.net_device else ''}",
        })  # fmt: skip
    note, unread = "", [one.name for one in machine.nvme_controllers if one.health is None]
    reasons = {gap_reason(machine, f"nvme/{name}/smart-log") or "not asked" for name in unread}
    if reasons == {"permission denied"}:
        note = "Spare and wear are unknown: they need root (nvme smart-log /dev/NAME)."
    elif reasons:
        note = f"Spare and wear of {', '.join(unread)} are unknown: {', '.join(sorted(reasons))}."
    return table_section("NVMe controllers", rows, numeric=("node", "temp."), note=note)


def health_section(machine: Machine) -> Section | None:
    """The health log of NVMe drives."""
    rows = [
        {
            "name": controller.name,
            "warnings": ", ".join(warnings(health)) or "none",
            "temp.": if_known(health.temperature_celsius, "{} °C".format),
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
    numeric = ("temp.", "spare", "endurance used", "written", "media errors", "unsafe shutdowns", "hours on")
    return table_section("NVMe health", rows, numeric)


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
    rows = []
    for hba in (one for one in machine.hbas if one.transport is Transport.RAID):
        own = disks.get(hba.name, [])
        # What the controller calls the drives that it makes up is often its own model.
        models = sorted({" ".join(filter(None, (disk.vendor, disk.model))) for disk in own} - {""})
        rows.append({
            "name": hba.name,
            "driver": hba.driver,
            "model": hba.model or (f"drives report {', '.join(models)}" if models else "-"),
            "firmware": hba.firmware,
            "node": hba.node,
            "drives": len(own),
            "write cache": ", ".join(sorted({disk.write_cache for disk in own if disk.write_cache})) or UNKNOWN,
        })  # fmt: skip
    note = "Battery and cache of the controller are not in sysfs: ask its own tool (storcli, ssacli, arcconf)."
    return table_section("RAID controllers", rows, numeric=("node", "drives"), note=note)


def interrupts_section(machine: Machine) -> Section | None:
    """To which CPUs, of which nodes, the interrupts of devices go."""
    names: dict[str, list[str]] = {}
    devices: tuple[Nic | NvmeController | Hba, ...] = (*machine.nics, *machine.nvme_controllers, *machine.hbas)
    for device in devices:
        if device.pci_address is not None:
            names.setdefault(device.pci_address, []).append(device.name)
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
            # NVIDIA's driver puts the maker into the model.
            "model": f"{found.vendor} (model not named by a driver)"
            if found.model is None
            else f"{found.vendor} {found.model.removeprefix(found.vendor).lstrip()}",
            "driver": found.driver or "none",
            "memory": if_known(found.memory_bytes, format_bytes),
            "node": found.node,
        }
        for found in machine.accelerators
    ]
    return table_section("Accelerators", rows, numeric=("memory", "node"))


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


def firmware_section(machine: Machine) -> Section | None:
    """Versions of firmware, those of equal devices once; devices of one model with several are worth a look."""
    versions = (
        ("BIOS", machine.platform.firmware),
        *((f"NVMe {one.model or one.name}", one.firmware) for one in machine.nvme_controllers),
        *((f"{hba.transport.value} {hba.model or hba.driver or hba.name}", hba.firmware) for hba in machine.hbas),
        *((f"RDMA {port.model or port.device}", port.firmware) for port in machine.rdma_ports),
        *((f"GPU {gpu.model or gpu.pci_address}", gpu.firmware) for gpu in machine.accelerators),
        *((f"CXL {memory.name}", memory.firmware) for memory in machine.cxl_memory),
    )
    found: dict[str, list[str]] = {}
    for (name, version), count in Counter(versions).items():
        if version:
            found.setdefault(name, []).append(f"{version} × {count}" if count > 1 else version)
    rows = [{"device": name, "version": ", ".join(texts)} for name, texts in found.items()]
    return table_section("Firmware", rows, note="That of Ethernet cards is not in sysfs (ethtool -i NAME).")


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


def memory_modules_section(machine: Machine) -> Section | None:
    """Return slots, sizes, speeds and channels, as in dmidecode, and the errors that EDAC counted.

    None where neither the firmware nor a driver lists any module, and nothing was refused.
    """
    slots, controllers = machine.dimm_slots, machine.memory_controllers
    refused = next((gap.reason for gap in machine.gaps if gap.subject == SMBIOS_TABLE), None)
    if not slots and not controllers and refused is None:
        return None
    populated = [slot for slot in slots if slot.populated]
    sizes = Counter((slot.size_bytes or 0, slot.kind or "type unknown") for slot in populated)
    modules = [module for controller in controllers for module in controller.dimms]
    if slots:
        unknown = sum(slot.populated is None for slot in slots)
        more = f", {unknown} of unknown size" if unknown else ""
        facts = [
            ("slots", f"{len(populated)} of {len(slots)} populated{more}"),
            ("modules", ", ".join(f"{n} × {format_bytes(size)} {kind}" for (size, kind), n in sizes.items()) or "-"),
            ("speed", ", ".join(dict.fromkeys(map(_speeds, populated))) or "-"),
        ]
    else:
        why = "the firmware lists none" if refused is None else f"{SMBIOS_TABLE}: {refused}"
        facts = [("slots", f"{UNKNOWN}: {why}")]
    if modules and not slots:
        counts = Counter((module.size_bytes, module.kind or "type unknown") for module in modules)
        texts = [f"{count} × {size_or_unknown(size)} {kind}" for (size, kind), count in counts.items()]
        facts.append(("modules", f"{', '.join(texts)} (EDAC, which lists no empty slot and no speed)"))
    if controllers:
        errors = [
            UNKNOWN if None in found else str(sum(count or 0 for count in found))
            for found in zip(*((one.correctable_errors, one.uncorrectable_errors) for one in controllers), strict=True)
        ]
        text = "{} correctable, {} uncorrectable".format(*errors)
        facts.append(("errors", f"{text} ({plural(len(controllers), 'memory controller')})"))
    if channels := channel_sizes(machine):
        filled = Counter(channels.values()).most_common()
        texts = [f"{count} × {format_bytes(size) if size else 'empty'}" for size, count in filled]
        facts.append(("channels", f"{plural(len(channels), 'channel')}: {', '.join(texts)}"))
    shown = [slot for slot in slots if slot.populated is not False]
    rows = [
        {
            "slot": slot.name,
            "bank": slot.bank,
            "size": size_or_unknown(slot.size_bytes),
            "type": slot.kind,
            "MT/s": if_known(slot.configured_transfers_per_second, lambda rate: f"{rate // 1_000_000:,}"),
            "rated": if_known(slot.rated_transfers_per_second, lambda rate: f"{rate // 1_000_000:,}"),
            "part": " ".join(filter(None, (slot.manufacturer, slot.part_number))),
        }
        for slot in (shown if len(shown) <= _MOST_SLOTS else ())
    ]
    return table_section("Memory modules", rows, numeric=("size", "MT/s", "rated"), facts=tuple(facts))


def _speeds(slot: DimmSlot) -> str:
    configured, rated = slot.configured_transfers_per_second, slot.rated_transfers_per_second
    if configured is None:
        return f"configured speed unknown{'' if rated is None else f' (rated {speed_text(rated)})'}"
    return speed_text(configured) + (" (rated speed unknown)" if rated is None else f" (rated {speed_text(rated)})")


def settings_section(machine: Machine) -> Section | None:
    """Return the settings that matter to databases, with what vendors recommend."""
    columns = ("setting", "value", "recommended by vendors")
    return table_section("Settings", [dict(zip(columns, row, strict=True)) for row in setting_texts(machine)])


def disk_settings_section(machine: Machine) -> Section | None:
    """Return the queue settings of the disks, one row for those that are alike."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for device in machine.block_devices:
        values = tuple(disk_setting(device, name) or "-" for name in DISK_SETTINGS)
        if device.kind not in NO_DISKS and device.size_bytes != 0 and any(value != "-" for value in values):
            alike.setdefault(values, []).append(device.name)
    rows = [
        {"disks": first_of(names, _MOST_DISKS), **dict(zip(DISK_SETTINGS, values, strict=True))}
        for values, names in alike.items()
    ]
    return table_section("Disk settings", rows, numeric=[name for name in DISK_SETTINGS if name.endswith("_kb")])
