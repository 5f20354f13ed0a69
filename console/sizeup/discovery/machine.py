"""One pass over all kernel classes, to a Machine with its gaps; and another look at what changes by the second."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from msgspec.structs import replace

from sizeup.discovery import numa, nvme
from sizeup.discovery.block import read_block_devices, resolve_stacks
from sizeup.discovery.budget import bandwidth_budgets
from sizeup.discovery.caches import read_caches
from sizeup.discovery.cpuinfo import parse_cpuinfo
from sizeup.discovery.cpus import of_one_kind, read_base_clock, read_processors
from sizeup.discovery.cpuset import read_cpuset_limits
from sizeup.discovery.device_parents import DeviceParents
from sizeup.discovery.direct_nfs import read_direct_nfs
from sizeup.discovery.file_systems import local_mounts, read_file_systems, read_lost_mounts, with_free_space
from sizeup.discovery.findings.checks import find
from sizeup.discovery.nfs import read_nfs_mounts
from sizeup.discovery.nics import read_nic_link, read_nics, read_rdma_ports, read_tcp_buffers, with_rings
from sizeup.discovery.numa import read_dax_devices, read_dimm_slots, read_edac
from sizeup.discovery.os_settings import read_os_settings
from sizeup.discovery.pci import read_accelerators, read_cxl_memory, read_interrupts, read_pci, read_pci_link
from sizeup.discovery.platform import read_platform
from sizeup.discovery.routes import Routes, placed_by_interface, placed_on_fabric
from sizeup.discovery.scsi import multipath_maps, read_hbas, read_scsi_devices
from sizeup.discovery.sysroot import Sysroot, open_sysroot
from sizeup.errors import RefusedError, needs_linux
from sizeup.model.machine import Machine, device_of
from sizeup.model.network import PORTS, Nic, is_port
from sizeup.model.storage import Hba, NvmeController
from sizeup.procfs.meminfo import parse_meminfo
from sizeup.procfs.mounts import parse_mountinfo, parse_mounts


def discover(sysroot: Sysroot | str = "/") -> Machine:
    """What the machine under ``sysroot`` is; what could not be known is in its gaps."""
    if sys.platform != "linux" and sysroot == "/":
        raise RefusedError(needs_linux(f"this system is {sys.platform}"))
    root = open_sysroot(sysroot) if isinstance(sysroot, str) else sysroot
    cpuinfo = parse_cpuinfo(root.read("/proc/cpuinfo") or "")
    cpuset_limits = read_cpuset_limits(root)
    processors = read_processors(root, cpuinfo, cpuset_limits.cpus)
    package_of = {cpu: index for index, package in enumerate(processors.packages) for cpu in package.pus}
    memory = parse_meminfo(root.read(numa.MEMINFO) or "")
    first = next((pu.cpu for pu in processors.pus if pu.online), 0)
    memory_controllers = read_edac(root)
    nodes = numa.read_nodes(root, processors.pus, package_of, cpuset_limits.nodes, memory_controllers)
    online_bytes, offline_bytes = numa.read_memory_blocks(root)
    # For captures without meminfo; where the memory of one node is unknown, the others are not the machine.
    sizes = [node.memory_bytes for node in nodes]
    of_nodes = None if None in sizes else sum(size or 0 for size in sizes)
    memory_bytes = memory.get("MemTotal") or of_nodes or online_bytes
    if memory_bytes is None:
        numa.note_memory(root)
    parents = DeviceParents(root)
    pci = read_pci(root, parents, nodes, sum(pu.online for pu in processors.pus))
    rdma_ports = read_rdma_ports(root, parents)
    table = parse_mountinfo(root.read("/proc/self/mountinfo") or "")
    table = table or parse_mounts(root.read("/proc/mounts") or root.read("/proc/self/mounts") or "")
    block_devices = resolve_stacks(read_block_devices(root, parents, table))
    nics = with_rings(root, read_nics(root, parents, rdma_ports))
    routes = Routes(root)
    hbas = placed_by_interface(read_hbas(root, parents), nics, routes)
    by_hctl = {device.hctl: device for device in block_devices if device.hctl is not None}
    scsi_devices = read_scsi_devices(root, hbas, by_hctl)
    subsystems = nvme.read_nvme_subsystems(root)
    namespaces = nvme.read_nvme_namespaces(root, subsystems)
    controllers = placed_on_fabric(
        nvme.with_health(root, nvme.read_nvme_controllers(root, parents, subsystems)), nics, hbas, routes
    )
    caches, differing = read_caches(root, processors.cores)
    machine = Machine(
        packages=processors.packages,
        dies=processors.dies,
        cores=processors.cores,
        pus=processors.pus,
        caches=caches + cpuinfo.shared_caches,
        nodes=nodes,
        memory_bytes=memory_bytes,
        memory_available_bytes=memory.get("MemAvailable"),
        memory_offline_bytes=offline_bytes,
        dax_devices=read_dax_devices(root),
        huge_pages=numa.read_huge_pages(root),
        huge_page_bytes=memory.get("Hugepagesize"),
        dimm_slots=read_dimm_slots(root),
        memory_controllers=memory_controllers,
        cpu_model=cpuinfo.model,
        cpu_vendor=cpuinfo.vendor,
        base_clock=of_one_kind(read_base_clock(root, cpuinfo, first), processors.cores, first),
        platform=read_platform(root, cpuinfo, cpuset_limits, pci),
        settings=read_os_settings(root, first),
        nics=nics,
        rdma_ports=rdma_ports,
        pci=pci,
        block_devices=block_devices,
        hbas=hbas,
        scsi_devices=scsi_devices,
        maps=multipath_maps(block_devices, hbas, scsi_devices) + nvme.nvme_maps(namespaces, controllers),
        nvme_controllers=controllers,
        nvme_namespaces=namespaces,
        nvme_subsystems=subsystems,
        nfs_mounts=read_nfs_mounts(root, routes, table),
        tcp=read_tcp_buffers(root),
        contradictions=processors.contradictions + differing,
    )
    homes, servers = read_direct_nfs(root, table)
    local = local_mounts(table)
    # Devices that move a database's data; a link that is down has nothing to interrupt for.
    addresses = _pci_addresses(machine, [nic for nic in nics if nic.kind in PORTS and nic.up is not False])
    machine = replace(
        machine,
        oracle_homes=homes,
        direct_nfs_servers=servers,
        file_systems=read_file_systems(root, block_devices, table),
        local_mounts=with_free_space(local, table) if root.asks_mounts else local,
        lost_mounts=read_lost_mounts(root, block_devices, table),
        accelerators=read_accelerators(root, pci),
        cxl_memory=read_cxl_memory(root, parents),
        interrupts=read_interrupts(root, addresses),
    )
    return assessed(replace(machine, gaps=tuple(root.gaps)))


def _pci_addresses(machine: Machine, nics: Iterable[Nic]) -> list[str]:
    """The addresses of these interfaces, and of the NVMe controllers and adapters of the machine, as far as known."""
    parts: Iterable[Nic | NvmeController | Hba] = (*nics, *machine.nvme_controllers, *machine.hbas)
    return [part.pci_address for part in parts if part.pci_address is not None]


def assessed(machine: Machine) -> Machine:
    """The machine with what follows from the rest of it: budgets and findings."""
    machine = replace(machine, budgets=bandwidth_budgets(machine))
    return replace(machine, findings=find(machine))


def discover_memory(sysroot: Sysroot | str = "/") -> Machine:
    """Memory and huge pages by node alone: cheap enough to look every second."""
    root = open_sysroot(sysroot) if isinstance(sysroot, str) else sysroot
    memory = parse_meminfo(root.read("/proc/meminfo") or "")
    machine = Machine(
        nodes=numa.read_nodes(root, (), {}, None, read_edac(root)),
        memory_bytes=memory.get("MemTotal"),
        memory_available_bytes=memory.get("MemAvailable"),
        huge_pages=numa.read_huge_pages(root),
    )
    return replace(machine, findings=find(machine))


def refreshed(machine: Machine, sysroot: Sysroot | str = "/") -> Machine:
    """The machine with its memory, huge pages and links as they are now, and what follows from them.

    A device that has gone keeps its place with an unknown link: that it has gone, the hot-plug events say.
    """
    root = open_sysroot(sysroot) if isinstance(sysroot, str) else sysroot
    memory = parse_meminfo(root.read("/proc/meminfo") or "")
    nics = tuple(read_nic_link(root, nic) if is_port(nic) or nic.kind == "bond" else nic for nic in machine.nics)
    shown = {device_of(address) + ".0" for address in _pci_addresses(machine, nics)}
    pci = tuple(read_pci_link(root, item) if item.address in shown else item for item in machine.pci)
    now = replace(
        machine,
        memory_available_bytes=memory.get("MemAvailable"),
        huge_pages=numa.read_huge_pages(root),
        nodes=tuple(numa.read_node_memory(root, node) for node in machine.nodes),
        nics=nics,
        pci=pci,
    )
    # Only links change what a path can carry; findings about memory are a matter of a few nodes.
    if (nics, pci) != (machine.nics, machine.pci):
        return assessed(now)
    return replace(now, findings=find(now))
