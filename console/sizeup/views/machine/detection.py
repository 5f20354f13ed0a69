"""The document of ``sizeup detect --json``, and the machine that it was made of."""

from __future__ import annotations

from typing import Any

import msgspec

from sizeup.model.finding import Finding
from sizeup.model.machine import (
    Accelerator,
    CxlMemory,
    DaxDevice,
    DeviceInterrupts,
    DimmSlot,
    EdacController,
    FileSystem,
    Gap,
    LocalMount,
    LostMount,
    Machine,
    OsSettings,
    PathBudget,
    PciFunction,
    Platform,
    PuCounts,
)
from sizeup.model.network import DirectNfsServer, NfsMount, Nic, OracleHome, RdmaPort, TcpBuffers
from sizeup.model.numa import HugePages, NumaNode
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
    oracle_homes: tuple[OracleHome, ...] = ()
    direct_nfs_servers: tuple[DirectNfsServer, ...] = ()


_SHARED = tuple(name for name in Detection.__struct_fields__ if name in Machine.__struct_fields__)


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
        memory=Memory(
            machine.memory_bytes, machine.memory_available_bytes, machine.huge_pages, machine.memory_offline_bytes
        ),
        numa=Numa(machine.nodes, tuple(node.distances for node in machine.nodes)),
        **_shared(machine),
    )


def detected(document: Detection) -> Machine:
    """The machine that a document of ``sizeup detect --json`` was made of."""
    return Machine(
        nodes=document.numa.nodes,
        memory_bytes=document.memory.total_bytes,
        memory_available_bytes=document.memory.available_bytes,
        memory_offline_bytes=document.memory.offline_bytes,
        huge_pages=document.memory.huge_pages,
        cpu_model=document.processor.model,
        cpu_vendor=document.processor.vendor,
        base_clock=document.processor.base_clock,
        **_shared(document),
    )


def _shared(value: Machine | Detection) -> dict[str, Any]:
    """Return the fields that the machine and its document both have."""
    return {name: getattr(value, name) for name in _SHARED}
