"""The document of ``sizeup detect --json``, and the machine that it was made of."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from sizeup.model.machine import Machine, PuCounts
from sizeup.model.numa import HugePages, NumaNode
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


class WholeMachine(msgspec.Struct, frozen=True):
    """What the document has beside the parts, which are those of ``Machine``."""

    schema: str
    counts: Counts
    processor: Processor
    memory: Memory
    numa: Numa


_ORDER = (
    "schema", "counts", "processor", "packages", "dies", "cores", "pus", "caches", "memory", "numa", "platform", "nics",
    "rdma_ports", "pci", "block_devices", "hbas", "scsi_devices", "maps", "nvme_controllers", "nvme_namespaces",
    "nvme_subsystems", "nfs_mounts", "budgets", "contradictions", "findings", "gaps", "tcp", "dimm_slots",
    "memory_controllers", "settings", "file_systems", "local_mounts", "lost_mounts", "accelerators", "cxl_memory",
    "dax_devices", "interrupts", "oracle_homes", "direct_nfs_servers",
)  # fmt: skip
"""The fields of the document; units are bytes, Hz, bit/s and ns, unknown is null."""


def detection(machine: Machine) -> dict[str, Any]:
    """The machine as the JSON document has it."""
    whole = WholeMachine(
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
    )
    return {name: getattr(whole if hasattr(whole, name) else machine, name) for name in _ORDER}


def detected(document: bytes) -> tuple[str, Machine]:
    """The schema of a document of ``sizeup detect --json``, and the machine that it was made of."""
    whole = msgspec.json.decode(document, type=WholeMachine)
    machine = replace(
        msgspec.json.decode(document, type=Machine),
        nodes=whole.numa.nodes,
        memory_bytes=whole.memory.total_bytes,
        memory_available_bytes=whole.memory.available_bytes,
        memory_offline_bytes=whole.memory.offline_bytes,
        huge_pages=whole.memory.huge_pages,
        cpu_model=whole.processor.model,
        cpu_vendor=whole.processor.vendor,
        base_clock=whole.processor.base_clock,
    )
    return whole.schema, machine
