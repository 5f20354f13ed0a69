"""GPUs and other accelerators on PCI, and CXL memory devices (Documentation/ABI/testing/sysfs-bus-cxl)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sizeup.discovery.device_parents import PCI_DEVICES, DeviceParents
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import Accelerator, CxlMemory
from sizeup.model.pci import PciFunction

NVIDIA = "/proc/driver/nvidia/gpus"
"""NVIDIA's driver: a directory for each GPU, with its UUID beside its model."""
_CXL = "/sys/bus/cxl/devices"
_MEMORY_DEVICE = re.compile(r"mem\d{1,5}")

_VENDORS = {0x10DE: "NVIDIA", 0x1002: "AMD", 0x8086: "Intel"}
"""Makers of GPUs for servers; other display adapters are a console's (ASPEED, Matrox) or a hypervisor's."""
_DISPLAY, _ACCELERATOR = 0x03, 0x12


def _nvidia(sysroot: Sysroot, address: str) -> dict[str, str]:
    """Model and firmware as NVIDIA's driver prints them: name, colon, blanks, value."""
    facts: dict[str, str] = {}
    for line in (sysroot.read(f"{NVIDIA}/{address}/information") or "").splitlines()[:64]:
        key, _, value = line.partition(":")
        if value.strip() and "?" not in value:
            facts[key.strip()] = value.strip()
    return facts


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
        facts = _nvidia(sysroot, function.address) if function.driver == "nvidia" else {}
        memory = sysroot.integer(f"{directory}/mem_info_vram_total") if function.driver == "amdgpu" else None
        vendor = _VENDORS.get(function.vendor or 0) or f"vendor {function.vendor or 0:04x}"
        found.append(
            Accelerator(
                pci_address=function.address,
                vendor=vendor,
                model=facts.get("Model") or sysroot.line(f"{directory}/product_name"),
                driver=function.driver,
                node=function.node,
                memory_bytes=memory if memory is not None and memory > 0 else None,
                firmware=facts.get("GPU Firmware")
                or (sysroot.line(f"{directory}/vbios_version") if function.driver == "amdgpu" else None),
            )
        )
    return tuple(found)


def read_cxl_memory(sysroot: Sysroot, parents: DeviceParents) -> tuple[CxlMemory, ...]:
    """Return the memory devices on CXL by name, with what of them is volatile and what persistent."""
    found = []
    for name in sorted(name for name in sysroot.names(_CXL) if _MEMORY_DEVICE.fullmatch(name)):
        base = f"{_CXL}/{name}"
        location = parents.locate(base)
        node = sysroot.integer(f"{base}/numa_node")
        found.append(
            CxlMemory(
                name=name,
                volatile_bytes=_size(sysroot, f"{base}/ram/size"),
                persistent_bytes=_size(sysroot, f"{base}/pmem/size"),
                pci_address=location.pci_address,
                node=node if node is not None and node >= 0 else location.node,
                firmware=sysroot.line(f"{base}/firmware_version"),
            )
        )
    return tuple(found)


def _size(sysroot: Sysroot, path: str) -> int | None:
    value = sysroot.integer(path)
    return value if value is not None and 0 <= value < 1 << 60 else None
