"""The document of ``sizeup detect --json``, and the machine that it was made of."""

from __future__ import annotations

import msgspec

from sizeup.model.budget import PathBudget
from sizeup.model.devices import Accelerator, CxlMemory, DaxDevice, DeviceInterrupts
from sizeup.model.dimms import DimmSlot, EdacController
from sizeup.model.file_systems import FileSystem, LocalMount, LostMount
from sizeup.model.finding import Finding
from sizeup.model.gap import Gap
from sizeup.model.machine import Machine, PuCounts
from sizeup.model.network import NfsMount, Nic, RdmaPort, TcpBuffers
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.os_settings import OsSettings
from sizeup.model.pci import PciFunction
from sizeup.model.platform import Platform
from sizeup.model.storage import (
    BlockDevice,
    Hba,
    MultipathMap,
    NvmeController,
    NvmeNamespace,
    NvmeSubsystem,
    ScsiDevice,
)
from sizeup.model.topology import Cache, Core, Die, Package, Pu
from sizeup.quantity import Quantity

SCHEMA = "sizeup.detect/1"


class Counts(msgspec.Struct, frozen=True):
    """How many of each; ``numa_nodes`` is 0 where the kernel has no NUMA; null is unknown."""

    packages: int | None
    dies: int | None
    cores: int | None
    pus: PuCounts
    numa_nodes: int | None


class Processor(msgspec.Struct, frozen=True):
    """The processors as a whole."""

    model: str | None
    vendor: str | None
    base_clock: Quantity | None


class Memory(msgspec.Struct, frozen=True):
    """Memory as a whole; bytes."""

    total_bytes: int | None
    available_bytes: int | None
    huge_pages: tuple[HugePages, ...]
    offline_bytes: int | None = None


class Numa(msgspec.Struct, frozen=True):
    """Nodes in the kernel's order; a row of ``distances`` for each, in that order."""

    nodes: tuple[NumaNode, ...]
    distances: tuple[tuple[int, ...], ...]


class Detection(msgspec.Struct, frozen=True):
    """The document of ``sizeup detect --json``; units are bytes, Hz, bit/s and ns, unknown is null."""

    schema: str
    counts: Counts
    processor: Processor
    packages: tuple[Package, ...]
    dies: tuple[Die, ...]
    cores: tuple[Core, ...]
    pus: tuple[Pu, ...]
    caches: tuple[Cache, ...]
    memory: Memory
    numa: Numa
    platform: Platform
    nics: tuple[Nic, ...]
    rdma_ports: tuple[RdmaPort, ...]
    pci: tuple[PciFunction, ...]
    block_devices: tuple[BlockDevice, ...]
    hbas: tuple[Hba, ...]
    scsi_devices: tuple[ScsiDevice, ...]
    maps: tuple[MultipathMap, ...]
    nvme_controllers: tuple[NvmeController, ...]
    nvme_namespaces: tuple[NvmeNamespace, ...]
    nvme_subsystems: tuple[NvmeSubsystem, ...]
    nfs_mounts: tuple[NfsMount, ...]
    budgets: tuple[PathBudget, ...]
    contradictions: tuple[str, ...]
    findings: tuple[Finding, ...]
    gaps: tuple[Gap, ...]
    tcp: TcpBuffers | None = None
    dimm_slots: tuple[DimmSlot, ...] = ()
    memory_controllers: tuple[EdacController, ...] = ()
    settings: OsSettings = msgspec.field(default_factory=OsSettings)
    file_systems: tuple[FileSystem, ...] = ()
    local_mounts: tuple[LocalMount, ...] = ()
    lost_mounts: tuple[LostMount, ...] = ()
    accelerators: tuple[Accelerator, ...] = ()
    cxl_memory: tuple[CxlMemory, ...] = ()
    dax_devices: tuple[DaxDevice, ...] = ()
    interrupts: tuple[DeviceInterrupts, ...] = ()


def detection(machine: Machine) -> Detection:
    """The machine as the JSON document has it."""
    return Detection(
        schema=SCHEMA,
        counts=Counts(
            packages=machine.socket_count,
            dies=len(machine.dies) or None,
            cores=machine.core_count,
            pus=machine.pu_counts,
            numa_nodes=machine.node_count,
        ),
        processor=Processor(machine.cpu_model, machine.cpu_vendor, machine.base_clock),
        packages=machine.packages,
        dies=machine.dies,
        cores=machine.cores,
        pus=machine.pus,
        caches=machine.caches,
        memory=Memory(
            machine.memory_bytes, machine.memory_available_bytes, machine.huge_pages, machine.memory_offline_bytes
        ),
        numa=Numa(machine.nodes, tuple(node.distances for node in machine.nodes)),
        platform=machine.platform,
        nics=machine.nics,
        rdma_ports=machine.rdma_ports,
        pci=machine.pci,
        block_devices=machine.block_devices,
        hbas=machine.hbas,
        scsi_devices=machine.scsi_devices,
        maps=machine.maps,
        nvme_controllers=machine.nvme_controllers,
        nvme_namespaces=machine.nvme_namespaces,
        nvme_subsystems=machine.nvme_subsystems,
        nfs_mounts=machine.nfs_mounts,
        budgets=machine.budgets,
        contradictions=machine.contradictions,
        findings=machine.findings,
        gaps=machine.gaps,
        tcp=machine.tcp,
        dimm_slots=machine.dimm_slots,
        memory_controllers=machine.memory_controllers,
        settings=machine.settings,
        file_systems=machine.file_systems,
        local_mounts=machine.local_mounts,
        lost_mounts=machine.lost_mounts,
        accelerators=machine.accelerators,
        cxl_memory=machine.cxl_memory,
        dax_devices=machine.dax_devices,
        interrupts=machine.interrupts,
    )


def detected(document: Detection) -> Machine:
    """The machine that a document of ``sizeup detect --json`` was made of."""
    return Machine(
        packages=document.packages,
        dies=document.dies,
        cores=document.cores,
        pus=document.pus,
        caches=document.caches,
        nodes=document.numa.nodes,
        memory_bytes=document.memory.total_bytes,
        memory_available_bytes=document.memory.available_bytes,
        memory_offline_bytes=document.memory.offline_bytes,
        huge_pages=document.memory.huge_pages,
        cpu_model=document.processor.model,
        cpu_vendor=document.processor.vendor,
        base_clock=document.processor.base_clock,
        platform=document.platform,
        nics=document.nics,
        rdma_ports=document.rdma_ports,
        pci=document.pci,
        block_devices=document.block_devices,
        hbas=document.hbas,
        scsi_devices=document.scsi_devices,
        maps=document.maps,
        nvme_controllers=document.nvme_controllers,
        nvme_namespaces=document.nvme_namespaces,
        nvme_subsystems=document.nvme_subsystems,
        nfs_mounts=document.nfs_mounts,
        budgets=document.budgets,
        contradictions=document.contradictions,
        findings=document.findings,
        gaps=document.gaps,
        tcp=document.tcp,
        dimm_slots=document.dimm_slots,
        memory_controllers=document.memory_controllers,
        settings=document.settings,
        file_systems=document.file_systems,
        local_mounts=document.local_mounts,
        lost_mounts=document.lost_mounts,
        accelerators=document.accelerators,
        cxl_memory=document.cxl_memory,
        dax_devices=document.dax_devices,
        interrupts=document.interrupts,
    )
