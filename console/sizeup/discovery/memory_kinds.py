"""The kind of memory of a NUMA node, from the drivers that know it.

- DAX devices (Documentation/ABI/testing/sysfs-bus-dax): the bus that a device is on says what it is. ``hmem`` is
  memory that the firmware reserves for a specific purpose, ``ndbus`` is that of NVDIMMs, and a region of the CXL bus
  is CXL memory. A device of the driver ``kmem`` is memory of its target node.
- EDAC (Documentation/ABI/testing/sysfs-devices-edac): the types of the memory modules, for all nodes with CPUs.
- NVIDIA's driver names the nodes of its GPUs.
- Memory tiers (Documentation/ABI/testing/sysfs-kernel-mm-memory-tiers) group nodes by speed, whatever their kind.

That a node has CPUs does not tell its kind: it may be of HBM alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from sizeup.discovery.device_parents import link_name
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.devices import DaxDevice
from sizeup.model.dimms import EdacController
from sizeup.model.numa import MemoryKind
from sizeup.procfs.lists import parse_cpulist
from sizeup.text import clean

_DAX = "/sys/bus/dax/devices"
_GPUS = "/proc/driver/nvidia/gpus"
_TIERS = "/sys/devices/virtual/memory_tiering"
_TIER_NAME = re.compile(r"memory_tier(\d{1,6})")


class KnownKind(Struct, frozen=True):
    """What the memory of a node is, and where that was read."""

    kind: MemoryKind
    source: str


def dax_kind(path: str, region_type: str | None) -> MemoryKind:
    """Return the kind of memory of a DAX device by its place under ``/sys/devices``.

    ``region_type`` is the ``devtype`` of an NVDIMM region: ``nd_pmem`` is persistent, ``nd_volatile`` is not.
    """
    if "/ndbus" in path:
        return MemoryKind.UNKNOWN if region_type == "nd_volatile" else MemoryKind.PERSISTENT
    if "/dax_region" in path:
        return MemoryKind.CXL
    return MemoryKind.SPECIFIC_PURPOSE if "/hmem" in path else MemoryKind.UNKNOWN


def read_dax_devices(sysroot: Sysroot) -> tuple[DaxDevice, ...]:
    """Return the DAX devices by name."""
    return tuple(
        DaxDevice(
            clean(name),
            sysroot.integer(f"{_DAX}/{name}/size"),
            None if (node := sysroot.integer(f"{_DAX}/{name}/target_node")) is None or node < 0 else node,
            link_name(sysroot, f"{_DAX}/{name}/driver"),
        )
        for name in sysroot.names(_DAX)
    )


def _dax_kinds(sysroot: Sysroot, with_cpus: Collection[int]) -> dict[int, KnownKind]:
    found: dict[int, KnownKind] = {}
    for name in sysroot.names(_DAX):
        node = sysroot.integer(f"{_DAX}/{name}/target_node")
        path = sysroot.realpath(f"{_DAX}/{name}")
        driver = link_name(sysroot, f"{_DAX}/{name}/driver")
        # Of another driver it is no memory of the kernel; and beside CPUs it is not all that the node has.
        if node is None or node < 0 or path is None or driver not in (None, "kmem") or node in with_cpus:
            continue
        region = re.match(r".*/ndbus\d+/region\d+", path)
        kind = dax_kind(path, None if region is None else sysroot.line(f"{region[0]}/devtype"))
        earlier = found.get(node)
        if earlier is not None and earlier.kind is not kind:
            kind = MemoryKind.UNKNOWN
        found[node] = KnownKind(kind, f"DAX device {name}, {path}" if earlier is None else f"{earlier.source}; {path}")
    return found


def module_kind(module_type: str) -> MemoryKind:
    """Return the kind of memory of a module by EDAC's name of it, such as ``Registered-DDR4``."""
    if module_type.startswith("High-bandwidth-memory"):
        return MemoryKind.HBM
    if module_type == "Non-volatile-RAM":
        return MemoryKind.PERSISTENT
    return MemoryKind.DRAM if re.search(r"DDR|SDR|RMBS|XDR|DRAM", module_type) else MemoryKind.UNKNOWN


def _modules_kind(controllers: Sequence[EdacController]) -> KnownKind | None:
    """The kind of all memory modules; None where they differ or are not known."""
    types = dict.fromkeys(module.kind or "" for controller in controllers for module in controller.dimms)
    kinds = {module_kind(name) for name in types}
    if len(kinds) != 1 or MemoryKind.UNKNOWN in kinds:
        return None
    return KnownKind(kinds.pop(), f"memory modules: {', '.join(types)} (EDAC)")


def _gpu_nodes(sysroot: Sysroot) -> dict[int, KnownKind]:
    found: dict[int, KnownKind] = {}
    for name in sysroot.names(_GPUS):
        status = f"{_GPUS}/{name}/numa_status"
        for line in (sysroot.read(status) or "").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "Node" and value.strip().isdecimal() and len(value.strip()) < 6:
                found[int(value)] = KnownKind(MemoryKind.GPU, status)
    return found


def read_memory_kinds(
    sysroot: Sysroot, with_cpus: Collection[int], controllers: Sequence[EdacController]
) -> dict[int, KnownKind]:
    """Return the kind of memory that a driver reports, by node; ``with_cpus`` are the nodes that have CPUs."""
    modules = _modules_kind(controllers)
    kinds = {} if modules is None else dict.fromkeys(with_cpus, modules)
    return {**kinds, **_dax_kinds(sysroot, with_cpus), **_gpu_nodes(sysroot)}


def read_memory_tiers(sysroot: Sysroot) -> dict[int, int]:
    """Return the number of the memory tier of each node, the fastest lowest; empty before Linux 6.1."""
    return {
        node: int(match[1])
        for name in sysroot.names(_TIERS)
        if (match := _TIER_NAME.fullmatch(name)) is not None
        for node in sysroot.parsed(f"{_TIERS}/{name}/nodelist", parse_cpulist) or ()
    }
