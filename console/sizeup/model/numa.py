"""NUMA nodes: memory with the PUs near it."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

NUMA = "NUMA"
"""Subject of the gap that says why the nodes are unknown."""


class MemoryKind(Enum):
    """The kind of memory of a node, as far as the kernel reports it."""

    DRAM = "dram"
    GPU = "gpu"
    CXL = "cxl"
    PERSISTENT = "persistent"
    HBM = "hbm"
    SPECIFIC_PURPOSE = "specific-purpose"
    """Reserved by the firmware (EFI_MEMORY_SP), such as HBM; it does not say what it is."""
    NONE = "none"
    UNKNOWN = "unknown"


def pool_key(node: int, page_bytes: int) -> str:
    """Name of one node's pool of huge pages as a part of the machine, ``pool:0:2048kB``."""
    return f"pool:{node}:{page_bytes >> 10}kB"


class HugePages(Struct, frozen=True):
    """One pool of huge pages."""

    page_bytes: int
    total: int
    free: int
    surplus: int = 0
    reserved: int | None = None
    """Promised to a mapping and not yet touched; None for the pool of a node, as the kernel counts them as a whole."""


class NodeAccess(Struct, frozen=True):
    """Latency and bandwidth of a node's memory from its nearest initiators, by the firmware's HMAT; not measured."""

    read_latency_ns: int | None = None
    write_latency_ns: int | None = None
    read_bytes_per_second: int | None = None
    write_bytes_per_second: int | None = None
    initiators: tuple[int, ...] = ()


class NumaNode(Struct, frozen=True):
    """One node as the kernel lists it."""

    os_id: int
    pus: tuple[int, ...]
    """Empty for a memory-only node."""
    packages: tuple[int, ...] = ()
    """Indexes of the packages that its PUs belong to."""
    local_pus: tuple[int, ...] = ()
    """PUs nearest to its memory: its own, or for a memory-only node the ones the firmware names or its
    distances suggest; empty where it is unknown."""
    allowed: bool = True
    """This process may allocate memory here, by the cgroup's ``cpuset.mems``."""
    memory_bytes: int | None = None
    free_bytes: int | None = None
    used_bytes: int | None = None
    file_bytes: int | None = None
    """``FilePages``: page cache and shared memory (``Shmem``) together."""
    shmem_bytes: int | None = None
    """``/dev/shm``, tmpfs, System V shared memory on small pages: the kernel can only swap it out, not give it back."""
    huge_pages: tuple[HugePages, ...] = ()
    distances: tuple[int, ...] = ()
    """One entry per node of ``Machine.nodes``, in that order; empty where the firmware has no table."""
    kind: MemoryKind = MemoryKind.UNKNOWN
    kind_source: str | None = None
    """Where the kind was read; None where no driver reports it."""
    tier: int | None = None
    """Number of the kernel's memory tier, the fastest lowest; None before Linux 6.1."""
    access: NodeAccess | None = None
    memory_side_cache_bytes: int | None = None

    @property
    def page_cache_bytes(self) -> int | None:
        """What the kernel can give back; None where the shared memory in it is unknown."""
        if self.file_bytes is None or self.shmem_bytes is None:
            return None
        return max(self.file_bytes - self.shmem_bytes, 0)

    @property
    def available_bytes(self) -> int | None:
        """Free memory and page cache; None where the free memory is unknown."""
        return None if self.free_bytes is None else self.free_bytes + (self.page_cache_bytes or 0)
