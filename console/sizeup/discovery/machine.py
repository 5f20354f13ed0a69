"""discover(): one pass over all kernel classes, to a Machine with its gaps."""

from __future__ import annotations

from sizeup.discovery.allowance import read_allowance
from sizeup.discovery.block import read_block_devices
from sizeup.discovery.caches import read_caches
from sizeup.discovery.cpuinfo import read_cpuinfo
from sizeup.discovery.cpus import read_processors
from sizeup.discovery.meminfo import parse_meminfo
from sizeup.discovery.nfs import read_nfs_mounts
from sizeup.discovery.nics import read_nics, read_rdma_ports
from sizeup.discovery.numa import read_huge_pages, read_nodes
from sizeup.discovery.platform import read_base_clock, read_platform
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import Machine


def discover(sysroot: Sysroot | str = "/") -> Machine:
    """What the machine under ``sysroot`` is; what could not be known is in its gaps."""
    root = Sysroot(sysroot) if isinstance(sysroot, str) else sysroot
    cpuinfo = read_cpuinfo(root)
    allowance = read_allowance(root)
    processors = read_processors(root, cpuinfo, allowance.cpus)
    package_of = {cpu: index for index, package in enumerate(processors.packages) for cpu in package.pus}
    memory = parse_meminfo(root.read("/proc/meminfo") or "")
    first = next((pu.cpu for pu in processors.pus if pu.online), 0)
    rdma_ports = read_rdma_ports(root)
    return Machine(
        packages=processors.packages,
        dies=processors.dies,
        cores=processors.cores,
        pus=processors.pus,
        caches=read_caches(root, processors.cores) + cpuinfo.shared_caches,
        nodes=read_nodes(root, processors.pus, package_of, allowance.nodes),
        memory_bytes=memory.get("MemTotal"),
        memory_available_bytes=memory.get("MemAvailable"),
        huge_pages=read_huge_pages(root, "/sys/kernel/mm/hugepages"),
        cpu_model=cpuinfo.model,
        cpu_vendor=cpuinfo.vendor,
        base_clock=read_base_clock(root, cpuinfo, first),
        platform=read_platform(root, cpuinfo, allowance),
        nics=read_nics(root, rdma_ports),
        rdma_ports=rdma_ports,
        block_devices=read_block_devices(root),
        nfs_mounts=read_nfs_mounts(root),
        contradictions=processors.contradictions,
        gaps=tuple(root.gaps),
    )
