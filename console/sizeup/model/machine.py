"""Machine: everything that discovery found, with what it could not find."""

from __future__ import annotations

from msgspec import Struct, field

from sizeup.model import storage
from sizeup.model.budget import PathBudget
from sizeup.model.devices import Accelerator, CxlMemory, DaxDevice, DeviceInterrupts
from sizeup.model.dimms import DimmSlot, EdacController
from sizeup.model.file_systems import FileSystem, LocalMount, LostMount
from sizeup.model.finding import Finding
from sizeup.model.gap import Gap
from sizeup.model.network import NfsMount, Nic, RdmaPort, TcpBuffers, is_port
from sizeup.model.numa import NUMA, HugePages, NumaNode
from sizeup.model.os_settings import OsSettings
from sizeup.model.pci import PciFunction
from sizeup.model.platform import Platform
from sizeup.model.topology import Cache, CacheKind, Core, Die, Package, Pu
from sizeup.quantity import Quantity


class PuCounts(Struct, frozen=True):
    """Three facts that are never one."""

    present: int
    online: int
    allowed: int


class Machine(Struct, frozen=True):
    """One host, live or captured."""

    packages: tuple[Package, ...] = ()
    """Empty where they are unknown, as ``cores``."""
    dies: tuple[Die, ...] = ()
    cores: tuple[Core, ...] = ()
    pus: tuple[Pu, ...] = ()
    caches: tuple[Cache, ...] = ()
    nodes: tuple[NumaNode, ...] = ()
    """In the kernel's order; empty where the kernel has no NUMA at all, and where they are unknown (``node_count``)."""
    memory_bytes: int | None = None
    memory_available_bytes: int | None = None
    memory_offline_bytes: int | None = None
    """Of memory blocks that are there and not in use; None where the kernel does not list them."""
    dax_devices: tuple[DaxDevice, ...] = ()
    """Memory that is used as a device, or through one: persistent memory, CXL, HBM."""
    huge_pages: tuple[HugePages, ...] = ()
    """Pools of the whole machine, by page size."""
    dimm_slots: tuple[DimmSlot, ...] = ()
    """By the firmware's table, which root alone can read; empty where it could not be read (the gaps say why)."""
    memory_controllers: tuple[EdacController, ...] = ()
    """Those with an EDAC driver."""
    cpu_model: str | None = None
    cpu_vendor: str | None = None
    base_clock: Quantity | None = None
    """Hertz a core sustains by its data sheet, with where that was read; None when unknown and the user must say."""
    platform: Platform = field(default_factory=Platform)
    settings: OsSettings = field(default_factory=OsSettings)
    nics: tuple[Nic, ...] = ()
    rdma_ports: tuple[RdmaPort, ...] = ()
    pci: tuple[PciFunction, ...] = ()
    block_devices: tuple[storage.BlockDevice, ...] = ()
    hbas: tuple[storage.Hba, ...] = ()
    scsi_devices: tuple[storage.ScsiDevice, ...] = ()
    maps: tuple[storage.MultipathMap, ...] = ()
    nvme_controllers: tuple[storage.NvmeController, ...] = ()
    nvme_namespaces: tuple[storage.NvmeNamespace, ...] = ()
    nvme_subsystems: tuple[storage.NvmeSubsystem, ...] = ()
    nfs_mounts: tuple[NfsMount, ...] = ()
    tcp: TcpBuffers | None = None
    """None where the kernel does not tell, or in a capture without them."""
    file_systems: tuple[FileSystem, ...] = ()
    """Pools, cluster file systems and replicas."""
    local_mounts: tuple[LocalMount, ...] = ()
    lost_mounts: tuple[LostMount, ...] = ()
    accelerators: tuple[Accelerator, ...] = ()
    cxl_memory: tuple[CxlMemory, ...] = ()
    interrupts: tuple[DeviceInterrupts, ...] = ()
    """Of interfaces, NVMe controllers and host adapters on PCI."""
    budgets: tuple[PathBudget, ...] = ()
    """What the path from each device to memory can carry."""
    contradictions: tuple[str, ...] = ()
    """Where the firmware contradicts itself about what shares what, in words."""
    findings: tuple[Finding, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def pu_counts(self) -> PuCounts:
        """PUs present, online and allowed."""
        return PuCounts(
            present=len(self.pus),
            online=sum(pu.online for pu in self.pus),
            allowed=sum(pu.allowed for pu in self.pus),
        )

    @property
    def core_count(self) -> int | None:
        """Cores with a CPU online; None where it is unknown which CPUs share a core (the gaps say why)."""
        return len(self.cores) or None

    @property
    def socket_count(self) -> int | None:
        """Packages; None where it is unknown which CPUs share one (the gaps say why)."""
        return len(self.packages) or None

    @property
    def node_count(self) -> int | None:
        """NUMA nodes, 0 where the kernel has no NUMA; None where they are unknown (the gaps say why)."""
        return len(self.nodes) or (None if any(gap.subject == NUMA for gap in self.gaps) else 0)

    @property
    def allowed_cpus(self) -> tuple[int, ...]:
        """CPUs that are online and that this process may use, in the machine's order."""
        return tuple(pu.cpu for pu in self.pus if pu.online and pu.allowed)

    @property
    def drives(self) -> tuple[storage.BlockDevice, ...]:
        """Drives that a database may lie on, each once; LUNs under multipath are in ``maps`` instead.

        Disks of one WWN are paths to one LUN, whether or not multipath combines them.
        """
        paths = {name for found in self.maps for name in (found.device, *(path.device for path in found.paths))}
        drives = {disk.wwn or disk.name: disk for disk in reversed(self.block_devices) if storage.is_drive(disk, paths)}
        return tuple(reversed(drives.values()))

    @property
    def ports(self) -> tuple[Nic, ...]:
        """Interfaces that are ports, each once: a virtual function shares the port of its card."""
        return tuple(nic for nic in self.nics if is_port(nic) and nic.virtual_function_of is None)

    @property
    def last_level_cache_bytes(self) -> int | None:
        """Size of the largest single cache of the highest level; None where no size is known."""
        sizes = [
            (cache.level, cache.size_bytes)
            for cache in self.caches
            if cache.size_bytes is not None and cache.kind is not CacheKind.INSTRUCTION
        ]
        return max(sizes)[1] if sizes else None
