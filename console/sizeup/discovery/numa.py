"""NUMA nodes and memory blocks from ``/sys/devices/system`` (Documentation/ABI/stable/sysfs-devices-node)."""

from __future__ import annotations

import errno
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from sizeup.discovery.cpus import CPU, CPU_NAME, CpuSet, read_set
from sizeup.discovery.device_parents import link_name
from sizeup.discovery.sysroot import Sysroot, numbers_in
from sizeup.model.machine import DaxDevice, DimmSlot, EdacController, EdacDimm
from sizeup.model.numa import NUMA, HugePages, MemoryKind, NodeAccess, NumaNode
from sizeup.model.topology import Pu
from sizeup.procfs.kernel_file import Unreadable, parse_integer
from sizeup.procfs.lists import format_list, parse_cpulist
from sizeup.procfs.meminfo import parse_meminfo
from sizeup.procfs.smbios import parse_memory_devices
from sizeup.text import clean

NODE = "/sys/devices/system/node"
HUGE_PAGES = "/sys/kernel/mm/hugepages"
"""The pools of the whole machine; also the subject of the gap that says why they are unknown."""
MEMINFO = "/proc/meminfo"
"""Where memory is read; also the subject of the gap that says why its size is unknown."""
NO_SIZE = "and no node or memory block reports a size"
_NODE_NAME = re.compile(r"node(\d{1,5})")
_POOL_NAME = re.compile(r"hugepages-(\d{1,12})kB")
_MEGABYTE = 1_000_000

_BLOCK_NAME = re.compile(r"memory\d{1,8}")


_BLOCKS_LIMIT = 1 << 15
_DAX = "/sys/bus/dax/devices"
_GPUS = "/proc/driver/nvidia/gpus"
_TIERS = "/sys/devices/virtual/memory_tiering"
_TIER_NAME = re.compile(r"memory_tier(\d{1,6})")
SMBIOS_TABLE = "/sys/firmware/dmi/tables/DMI"
NEEDS_ROOT = "permission denied: needs root"
_EDAC = "/sys/devices/system/edac/mc"
_CONTROLLER = re.compile(r"mc\d{1,4}")
_MODULE = re.compile(r"(dimm|rank)(\d{1,4})")
_MEGABYTES_LIMIT = 1 << 32


def read_huge_pages(sysroot: Sysroot, directory: str = HUGE_PAGES) -> tuple[HugePages, ...]:
    """The pools under one ``hugepages`` directory, by default the machine's; smallest page first, empty ones too.

    A pool whose free pages are unknown is left out with a gap: with 0 in their place it would look used up.
    """
    names = sysroot.names(directory)
    if not names and directory == HUGE_PAGES and not sysroot.whole:
        sysroot.note(HUGE_PAGES, "missing")
    pools = []
    for name in names:
        match = _POOL_NAME.fullmatch(name)
        if match is None:
            continue
        total = sysroot.integer(f"{directory}/{name}/nr_hugepages")
        free = sysroot.integer(f"{directory}/{name}/free_hugepages")
        if total is None or free is None:
            if total:
                sysroot.note(f"{directory}/{name}", f"the number of free pages is unknown (pool of {total})")
            continue
        pools.append(
            HugePages(
                page_bytes=int(match[1]) * 1024,
                total=total,
                free=free,
                surplus=sysroot.integer(f"{directory}/{name}/surplus_hugepages") or 0,
                reserved=sysroot.integer(f"{directory}/{name}/resv_hugepages"),
            )
        )
    return tuple(sorted(pools, key=lambda pool: pool.page_bytes))


def read_node_ids(sysroot: Sysroot) -> tuple[int, ...]:
    """Online nodes in the kernel's order; empty where the kernel knows no NUMA."""
    directories = numbers_in(sysroot.names(NODE), _NODE_NAME)
    online = sysroot.parsed(f"{NODE}/online", parse_cpulist)
    if not online:
        return directories
    listed = set(directories)
    return tuple(node for node in online if node in listed) or directories


def parse_distances(text: str) -> tuple[int, ...]:
    """One row of the firmware's table: a column for each online node, in their order, not by id."""
    return tuple(parse_integer(word) for word in text.split())


def _read_access(sysroot: Sysroot, directory: str) -> NodeAccess | None:
    # access1 is for CPUs alone; access0 may name a generic initiator, such as a network card.
    for name in ("access1", "access0"):
        initiators = f"{directory}/{name}/initiators"
        if names := sysroot.names(initiators):
            # No bandwidth where the firmware says nothing, or more than any memory carries.
            files = (f"{initiators}/{way}_bandwidth" for way in ("read", "write"))
            read, write = (sysroot.count(file, _MEGABYTES_LIMIT) for file in files)
            return NodeAccess(
                read_latency_ns=sysroot.integer(f"{initiators}/read_latency") or None,
                write_latency_ns=sysroot.integer(f"{initiators}/write_latency") or None,
                read_bytes_per_second=read * _MEGABYTE if read else None,
                write_bytes_per_second=write * _MEGABYTE if write else None,
                initiators=numbers_in(names, _NODE_NAME),
            )
    return None


def _local_pus(
    node: int, cpus: CpuSet, access: NodeAccess | None, by_node: Mapping[int, CpuSet], row: Sequence[int]
) -> CpuSet:
    """The PUs near a node's memory: its own, else its initiators', else the nearest by distance if they stand out."""
    if cpus:
        return cpus
    if access is not None and access.initiators:
        named = {cpu for initiator in access.initiators for cpu in by_node.get(initiator, ())}
        if named:
            return tuple(sorted(named))
    if len(row) != len(by_node):
        return ()
    near = [(distance, other) for distance, other in zip(row, by_node, strict=True) if by_node[other] and other != node]
    if not near or len({distance for distance, _ in near}) == 1:
        return ()
    least = min(distance for distance, _ in near)
    return tuple(sorted({cpu for distance, other in near if distance == least for cpu in by_node[other]}))


def read_nodes(
    sysroot: Sysroot,
    pus: tuple[Pu, ...],
    package_of: Mapping[int, int],
    allowed: CpuSet | None,
    controllers: Sequence[EdacController],
) -> tuple[NumaNode, ...]:
    """All online nodes; ``package_of`` is the index of each CPU's package, ``allowed`` the nodes a cgroup leaves.

    The modules of ``controllers`` tell the kind of memory of the nodes with CPUs.
    """
    ids = read_node_ids(sysroot)
    # A kernel without NUMA has no such directory; that a capture has none may say only that it was left out.
    if not ids and (sysroot.exists(NODE) or not (sysroot.whole and sysroot.exists(CPU))):
        sysroot.note(NUMA, f"unknown: no node in {NODE}")
    online = {pu.cpu for pu in pus if pu.online}
    by_node: dict[int, CpuSet] = {}
    for node in ids:
        # Kernels and captures without lists have links to the CPUs too.
        cpus = read_set(sysroot, f"{NODE}/node{node}", ("cpulist", "cpumap")) or numbers_in(
            sysroot.names(f"{NODE}/node{node}"), CPU_NAME
        )
        by_node[node] = tuple(cpu for cpu in cpus if cpu in online) if online else cpus
    kinds = read_memory_kinds(sysroot, [node for node in ids if by_node[node]], controllers)
    tiers = read_memory_tiers(sysroot)
    nodes = []
    for node in ids:
        directory = f"{NODE}/node{node}"
        cpus = by_node[node]
        row = sysroot.parsed(f"{directory}/distance", parse_distances) or ()
        if row and len(row) != len(ids):
            sysroot.note(f"{directory}/distance", f"malformed: expected {len(ids)} distances, found {len(row)}")
            row = ()
        access = _read_access(sysroot, directory)
        cache = f"{directory}/memory_side_cache"
        indexes = [name for name in sysroot.names(cache) if name.startswith("index")]
        found = read_node_memory(
            sysroot,
            NumaNode(
                os_id=node,
                pus=cpus,
                packages=tuple(sorted({package_of[cpu] for cpu in cpus if cpu in package_of})),
                local_pus=_local_pus(node, cpus, access, by_node, row),
                allowed=allowed is None or node in allowed,
                distances=row,
                access=access,
                memory_side_cache_bytes=sum(sysroot.integer(f"{cache}/{name}/size") or 0 for name in indexes) or None,
                tier=tiers.get(node),
            ),
        )
        kind, source = kinds.get(node, (MemoryKind.NONE if found.memory_bytes == 0 else MemoryKind.UNKNOWN, None))
        nodes.append(replace(found, kind=kind, kind_source=source))
    if unsized := tuple(node.os_id for node in nodes if node.memory_bytes is None):
        sysroot.note(f"memory of node {format_list(unsized)}", f"unknown: no MemTotal in meminfo of {NODE}/nodeN")
    return tuple(nodes)


def note_memory(sysroot: Sysroot) -> None:
    """Note why the size of the memory is unknown, unless the kernel refused the file, which is noted already."""
    if all(gap.subject != MEMINFO for gap in sysroot.gaps):
        found = "it has no MemTotal" if sysroot.exists(MEMINFO) else "missing"
        sysroot.note(MEMINFO, f"{found}, {NO_SIZE}")


def read_node_memory(sysroot: Sysroot, node: NumaNode) -> NumaNode:
    """The node with its memory and huge pages as they are now."""
    directory = f"{NODE}/node{node.os_id}"
    memory = parse_meminfo(sysroot.read(f"{directory}/meminfo") or "")
    return replace(
        node,
        memory_bytes=memory.get("MemTotal"),
        free_bytes=memory.get("MemFree"),
        used_bytes=memory.get("MemUsed"),
        file_bytes=memory.get("FilePages"),
        shmem_bytes=memory.get("Shmem"),
        huge_pages=read_huge_pages(sysroot, f"{directory}/hugepages"),
    )


def read_memory_blocks(sysroot: Sysroot) -> tuple[int | None, int | None]:
    """Return the bytes of memory blocks online and offline; None where there are none, or a state is unknown."""
    base = "/sys/devices/system/memory"
    text = sysroot.line(f"{base}/block_size_bytes")
    if text is None or re.fullmatch(r"[0-9a-f]{1,12}", text) is None:
        return None, None
    blocks = [name for name in sysroot.names(base) if _BLOCK_NAME.fullmatch(name)][:_BLOCKS_LIMIT]
    states = Counter(sysroot.line(f"{base}/{name}/state") for name in blocks)
    size = int(text, 16)
    return states["online"] * size or None, None if None in states or not blocks else states["offline"] * size


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
            sysroot.count(f"{_DAX}/{name}/target_node"),
            link_name(sysroot, f"{_DAX}/{name}/driver"),
        )
        for name in sysroot.names(_DAX)
    )


def module_kind(module_type: str) -> MemoryKind:
    """Return the kind of memory of a module by EDAC's name of it, such as ``Registered-DDR4``."""
    if module_type.startswith("High-bandwidth-memory"):
        return MemoryKind.HBM
    if module_type == "Non-volatile-RAM":
        return MemoryKind.PERSISTENT
    return MemoryKind.DRAM if re.search(r"DDR|SDR|RMBS|XDR|DRAM", module_type) else MemoryKind.UNKNOWN


def read_memory_kinds(
    sysroot: Sysroot, with_cpus: Collection[int], controllers: Sequence[EdacController]
) -> dict[int, tuple[MemoryKind, str]]:
    """Return the kind of memory that a driver reports, and where, by node; ``with_cpus`` are the nodes with CPUs."""
    found: dict[int, tuple[MemoryKind, str]] = {}
    types = dict.fromkeys(module.kind or "" for controller in controllers for module in controller.dimms)
    of_modules = {module_kind(name) for name in types}
    if len(of_modules) == 1 and MemoryKind.UNKNOWN not in of_modules:  # else they differ or are not known
        found = dict.fromkeys(with_cpus, (of_modules.pop(), f"memory modules: {', '.join(types)} (EDAC)"))
    for name in sysroot.names(_DAX):
        node = sysroot.count(f"{_DAX}/{name}/target_node")
        path = sysroot.realpath(f"{_DAX}/{name}")
        driver = link_name(sysroot, f"{_DAX}/{name}/driver")
        # Of another driver it is no memory of the kernel; and beside CPUs it is not all that the node has.
        if node is None or path is None or driver not in (None, "kmem") or node in with_cpus:
            continue
        region = re.match(r".*/ndbus\d+/region\d+", path)
        kind = dax_kind(path, None if region is None else sysroot.line(f"{region[0]}/devtype"))
        earlier, source = found.get(node, (kind, f"DAX device {name}"))
        found[node] = (
            kind if earlier is kind else MemoryKind.UNKNOWN,
            f"{source}{'; ' if node in found else ', '}{path}",
        )
    for name in sysroot.names(_GPUS):
        status = f"{_GPUS}/{name}/numa_status"
        for line in (sysroot.read(status) or "").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "Node" and value.strip().isdecimal() and len(value.strip()) < 6:
                found[int(value)] = (MemoryKind.GPU, status)
    return found


def read_memory_tiers(sysroot: Sysroot) -> dict[int, int]:
    """Return the number of the memory tier of each node, the fastest lowest; empty before Linux 6.1."""
    return {
        node: int(match[1])
        for name in sysroot.names(_TIERS)
        if (match := _TIER_NAME.fullmatch(name)) is not None
        for node in sysroot.parsed(f"{_TIERS}/{name}/nodelist", parse_cpulist) or ()
    }


def read_dimm_slots(sysroot: Sysroot) -> tuple[DimmSlot, ...]:
    """Return the slots that the firmware lists; empty where it lists none or only root may read them (a gap)."""
    table = sysroot.answer(SMBIOS_TABLE)
    if isinstance(table, Unreadable):
        if not table.missing:
            sysroot.note(SMBIOS_TABLE, NEEDS_ROOT if table.errno in (errno.EACCES, errno.EPERM) else table.reason)
        return ()
    slots, fault = parse_memory_devices(table)
    if fault is not None:
        sysroot.note(SMBIOS_TABLE, f"malformed: {fault}")
    return slots


def read_edac(sysroot: Sysroot) -> tuple[EdacController, ...]:
    """Return the memory controllers that have an EDAC driver, with their modules."""
    controllers = []
    for name in filter(_CONTROLLER.fullmatch, sysroot.names(_EDAC)):
        base = f"{_EDAC}/{name}"
        modules = [match for entry in sysroot.names(base) if (match := _MODULE.fullmatch(entry)) is not None]
        dimms = []
        for match in sorted(modules, key=lambda match: (match[1], int(match[2]))):
            module = f"{base}/{match[0]}"
            megabytes = sysroot.count(f"{module}/size", _MEGABYTES_LIMIT + 1)
            dimms.append(
                EdacDimm(
                    name=match[0],
                    label=sysroot.line(f"{module}/dimm_label"),
                    location=sysroot.line(f"{module}/dimm_location"),
                    kind=sysroot.line(f"{module}/dimm_mem_type"),
                    size_bytes=None if megabytes is None else megabytes << 20,
                    correctable_errors=sysroot.count(f"{module}/dimm_ce_count"),
                    uncorrectable_errors=sysroot.count(f"{module}/dimm_ue_count"),
                )
            )
        controllers.append(
            EdacController(
                name=name,
                driver=sysroot.line(f"{base}/mc_name"),
                correctable_errors=sysroot.count(f"{base}/ce_count"),
                uncorrectable_errors=sysroot.count(f"{base}/ue_count"),
                seconds_since_reset=sysroot.count(f"{base}/seconds_since_reset"),
                dimms=tuple(dimms),
            )
        )
    return tuple(controllers)
