"""PCI functions from ``/sys/bus/pci`` (Documentation/ABI/testing/sysfs-bus-pci), and where their interrupts go."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

from msgspec.structs import replace

from sizeup.discovery.cpus import CpuSet, read_set
from sizeup.discovery.device_parents import PCI_ADDRESS, PCI_DEVICES, DeviceParents, link_name
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import Accelerator, CxlMemory, DeviceInterrupts, NodeOrigin, PciFunction, PciLink
from sizeup.model.numa import NumaNode
from sizeup.procfs.lists import parse_cpulist

_SLOTS = "/sys/bus/pci/slots"
_FUNCTIONS_LIMIT = 1 << 14
_SPEED = re.compile(r"(\d{1,3}(?:\.\d{1,2})?) ?GT/s")
_ROOT = re.compile(r"/(pci[0-9a-f]{4,8}:[0-9a-f]{2})/")
_IRQ = "/proc/irq"
_OF_DEVICE_LIMIT, _LIMIT = 512, 8192
_AFFINITY = ("effective_affinity_list", "smp_affinity_list")
"""Where the interrupt goes; where it may go, on kernels that do not tell (before Linux 4.13)."""
NVIDIA = "/proc/driver/nvidia/gpus"
"""NVIDIA's driver: a directory for each GPU, with its UUID beside its model."""
_CXL = "/sys/bus/cxl/devices"
_MEMORY_DEVICE = re.compile(r"mem\d{1,5}")
_BYTES_LIMIT = 1 << 60

_VENDORS = {0x10DE: "NVIDIA", 0x1002: "AMD", 0x8086: "Intel"}
"""Makers of GPUs for servers; other display adapters are a console's (ASPEED, Matrox) or a hypervisor's."""
_DISPLAY, _ACCELERATOR = 0x03, 0x12


def parse_link_speed(text: str) -> float | None:
    """Gigatransfers a second of ``8 GT/s`` or ``16.0 GT/s PCIe``; None for ``Unknown``."""
    match = _SPEED.match(text)
    return None if match is None else float(match[1])


def _link(sysroot: Sysroot, base: str, when: str, text: str | None = None) -> PciLink | None:
    """A link with known speed and lanes: 0 means that nothing is connected, 255 that nothing is known.

    ``text`` is its speed where that was read already.
    """
    speed = parse_link_speed(text or sysroot.line(f"{base}/{when}_link_speed") or "")
    if speed is None:
        return None
    width = sysroot.integer(f"{base}/{when}_link_width")
    return None if width is None or not 0 < width < 255 else PciLink(speed, width)


_X722 = (0x8086, range(0x37CC, 0x37D4))
"""Network ports inside the chip set: their link is bogus, always 2.5 GT/s by one lane."""


def parse_id(text: str) -> int:
    """A class or id such as ``0x010802``: at most 32 bits."""
    if re.fullmatch(r"0x[0-9A-Fa-f]{1,8}", text) is None:
        raise ValueError(f"expected up to 32 bits such as 0x8086, found {text[:40]!r}")
    return int(text, 16)


def _identity(sysroot: Sysroot, base: str) -> tuple[int | None, ...]:
    """Class, then vendor and device, its own and of the subsystem; ``uevent`` has all, older captures lack it."""
    fields = dict(line.split("=", 1) for line in (sysroot.read(f"{base}/uevent") or "").splitlines() if "=" in line)
    vendor, _, device = fields.get("PCI_ID", "").partition(":")
    subsystem_vendor, _, subsystem_device = fields.get("PCI_SUBSYS_ID", "").partition(":")
    texts = (fields.get("PCI_CLASS", ""), vendor, device, subsystem_vendor, subsystem_device)
    if all(texts[:3]):
        return tuple(int(text, 16) if re.fullmatch(r"[0-9A-Fa-f]{1,8}", text) else None for text in texts)
    names = ("class", "vendor", "device", "subsystem_vendor", "subsystem_device")
    return tuple(sysroot.parsed(f"{base}/{name}", parse_id) for name in names)


def _read_function(
    sysroot: Sysroot,
    parents: DeviceParents,
    address: str,
    nodes: tuple[NumaNode, ...],
    online: int,
    local_of: dict[int, CpuSet],
) -> PciFunction:
    """One function; ``local_of`` has the local CPUs of nodes that were read already.

    The kernel takes them from the node that a device names (pci_dev_show_local_cpu in drivers/pci/pci-sysfs.c).
    """
    base = f"{PCI_DEVICES}/{address}"
    path = sysroot.realpath(base) or base
    own = parents.own_node(path)
    local = None if own is None else local_of.get(own)
    if local is None:
        local = read_set(sysroot, path, ("local_cpulist", "local_cpus")) or ()
        if own is not None and local:
            local_of[own] = local
    node, origin = parents.node(path), NodeOrigin.PARENT
    if own is not None:
        node, origin = own, NodeOrigin.FIRMWARE
    elif node is None and len(local) < online:
        # Only CPUs that are a strict part of the machine say anything.
        near = (each.os_id for each in nodes if local and set(local) <= set(each.pus))
        node, origin = next(near, None), NodeOrigin.LOCAL_CPUS
    class_code, vendor, device, subsystem_vendor, subsystem_device = _identity(sysroot, path)
    link = limit = None
    speed = sysroot.line(f"{path}/current_link_speed")
    if speed is not None and (vendor != _X722[0] or device not in _X722[1]):
        link, limit = _link(sysroot, path, "current", speed), _link(sysroot, path, "max")
    roots = _ROOT.findall(path)
    above = path.rpartition("/")[0].rpartition("/")[2]
    made = sysroot.integer(f"{path}/sriov_numvfs")
    return PciFunction(
        address=address,
        class_code=class_code,
        vendor=vendor,
        device=device,
        subsystem_vendor=subsystem_vendor,
        subsystem_device=subsystem_device,
        revision=sysroot.integer(f"{path}/revision"),
        driver=link_name(sysroot, f"{path}/driver"),
        parent=above if PCI_ADDRESS.fullmatch(above) and above != address else None,
        root=roots[-1] if roots else None,
        node=node,
        node_origin=None if node is None else origin,
        local_cpus=local,
        link=link,
        link_limit=limit,
        virtual_function_of=link_name(sysroot, f"{path}/physfn"),
        virtual_functions=made,
        virtual_functions_limit=None if made is None else sysroot.integer(f"{path}/sriov_totalvfs"),
    )


def read_pci_link(sysroot: Sysroot, function: PciFunction) -> PciFunction:
    """The function with its link as trained now; one that has none is left alone."""
    if function.link_limit is None:
        return function
    return replace(function, link=_link(sysroot, f"{PCI_DEVICES}/{function.address}", "current"))


def read_pci(
    sysroot: Sysroot, parents: DeviceParents, nodes: tuple[NumaNode, ...] = (), online: int = 0
) -> tuple[PciFunction, ...]:
    """All functions by address; ``online`` is how many CPUs the machine has in use."""
    # Slots are known by domain, bus and device.
    slots = {sysroot.line(f"{_SLOTS}/{name}/address"): name for name in sysroot.names(_SLOTS)}
    addresses = sorted(name for name in sysroot.names(PCI_DEVICES) if PCI_ADDRESS.fullmatch(name))[:_FUNCTIONS_LIMIT]
    local_of: dict[int, CpuSet] = {}
    functions = {address: _read_function(sysroot, parents, address, nodes, online, local_of) for address in addresses}
    found = []
    for address, function in functions.items():
        limit = function.link_limit
        port = functions.get(function.parent or "")
        if limit is not None and port is not None and port.is_bridge and (upper := port.link_limit) is not None:
            limit = PciLink(min(limit.gigatransfers, upper.gigatransfers), min(limit.width, upper.width))
        found.append(replace(function, common_link_limit=limit, slot=slots.get(address.partition(".")[0])))
    return tuple(found)


def read_interrupts(sysroot: Sysroot, addresses: Iterable[str]) -> tuple[DeviceInterrupts, ...]:
    """Return the interrupts of these PCI functions; those without any, or of a capture without them, are left out."""
    if not sysroot.exists(_IRQ):
        return ()
    left = _LIMIT
    found = []
    for address in dict.fromkeys(addresses):
        irqs = [
            name for name in sysroot.names(f"{PCI_DEVICES}/{address}/msi_irqs") if name.isdecimal() and len(name) < 7
        ]
        read = irqs[: min(_OF_DEVICE_LIMIT, left)]
        left -= len(read)
        if irqs:
            cpus: set[int] = set()
            for irq in read:
                for name in _AFFINITY:
                    with suppress(ValueError):  # only root may read some of them; the CPUs are unknown then
                        if own := parse_cpulist(sysroot.line_if_any(f"{_IRQ}/{irq}/{name}") or ""):
                            cpus.update(own)
                            break
            found.append(DeviceInterrupts(address, len(irqs), tuple(sorted(cpus))))
    return tuple(found)


def reduced_information(data: bytes) -> bytes:
    """Return the lines about a GPU that discovery reads; the others tell which one it is."""
    lines = data.splitlines(keepends=True)
    return b"".join(line for line in lines if line.startswith((b"Model:", b"GPU Firmware:")))


def read_accelerators(sysroot: Sysroot, functions: Iterable[PciFunction]) -> tuple[Accelerator, ...]:
    """Return the accelerators among the PCI functions, virtual functions included."""
    found = []
    for function in functions:
        base_class = (function.class_code or 0) >> 16
        if base_class != _ACCELERATOR and not (base_class == _DISPLAY and function.vendor in _VENDORS):
            continue
        directory = f"{PCI_DEVICES}/{function.address}"
        facts = {}
        if function.driver == "nvidia":
            # As its driver prints them: name, colon, blanks, value.
            text = sysroot.read(f"{NVIDIA}/{function.address}/information") or ""
            lines = (line.partition(":") for line in text.splitlines()[:64])
            facts = {key.strip(): value.strip() for key, _, value in lines if value.strip() and "?" not in value}
        of_amd = function.driver == "amdgpu"
        memory = sysroot.count(f"{directory}/mem_info_vram_total") if of_amd else None
        found.append(
            Accelerator(
                pci_address=function.address,
                vendor=_VENDORS.get(function.vendor or 0) or f"vendor {function.vendor or 0:04x}",
                model=facts.get("Model") or sysroot.line(f"{directory}/product_name"),
                driver=function.driver,
                node=function.node,
                memory_bytes=memory or None,
                firmware=sysroot.line(f"{directory}/vbios_version") if of_amd else facts.get("GPU Firmware"),
            )
        )
    return tuple(found)


def read_cxl_memory(sysroot: Sysroot, parents: DeviceParents) -> tuple[CxlMemory, ...]:
    """Return the memory devices on CXL by name, with what of them is volatile and what persistent."""
    found = []
    for name in sorted(name for name in sysroot.names(_CXL) if _MEMORY_DEVICE.fullmatch(name)):
        base = f"{_CXL}/{name}"
        location = parents.locate(base)
        own = sysroot.count(f"{base}/numa_node")
        found.append(
            CxlMemory(
                name=name,
                volatile_bytes=sysroot.count(f"{base}/ram/size", _BYTES_LIMIT),
                persistent_bytes=sysroot.count(f"{base}/pmem/size", _BYTES_LIMIT),
                pci_address=location.pci_address,
                node=location.node if own is None else own,
                firmware=sysroot.line(f"{base}/firmware_version"),
            )
        )
    return tuple(found)
