"""Machine: everything that discovery found, with what it could not find."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, field

from sizeup.model import storage
from sizeup.model.finding import Finding
from sizeup.model.network import DirectNfsServer, NfsMount, Nic, OracleHome, RdmaPort, TcpBuffers, is_port
from sizeup.model.numa import NUMA, HugePages, NumaNode
from sizeup.model.topology import Cache, CacheKind, Core, Die, Package, Pu
from sizeup.quantity import Quantity


class Gap(Struct, frozen=True):
    """One fact that stays unknown."""

    subject: str
    """The kernel file, or the field of the machine, that is missing."""
    reason: str
    """Such as ``missing``, ``permission denied``, or ``malformed`` with what was expected and found."""


class NodeOrigin(Enum):
    """How a device's NUMA node came to be known."""

    FIRMWARE = "firmware"
    """The device's own ``numa_node``."""
    PARENT = "parent"
    """That of the nearest bridge above it that has one."""
    LOCAL_CPUS = "local-cpus"
    """From ``local_cpulist``, where it is the CPUs of one node and not of the whole machine."""


class PciLink(Struct, frozen=True):
    """Speed and width of a PCI Express link."""

    gigatransfers: float
    """Per second and lane: 2.5, 5, 8, 16, 32, 64."""
    width: int
    """Lanes."""


def device_of(address: str) -> str:
    """Return the address of a PCI device without a function; its functions share its link, and fail together."""
    return address.rpartition(".")[0]


class PciFunction(Struct, frozen=True):
    """One function of a PCI device, with the edge that leads up from it."""

    address: str
    """``domain:bus:device.function``."""
    class_code: int | None
    """24 bits: base class, subclass, interface; 0x010802 is NVMe."""
    vendor: int | None
    device: int | None
    subsystem_vendor: int | None = None
    subsystem_device: int | None = None
    revision: int | None = None
    driver: str | None = None
    parent: str | None = None
    """The bridge it hangs on; None at a root."""
    root: str | None = None
    """The host bridge, ``pci0000:00``; a domain of its own below Intel's VMD."""
    node: int | None = None
    """None when unknown, which is common and no hint of node 0."""
    node_origin: NodeOrigin | None = None
    local_cpus: tuple[int, ...] = ()
    """As the kernel gives them; all CPUs where it knows nothing."""
    link: PciLink | None = None
    """As trained now; None where there is none, or nothing is attached to a port."""
    link_limit: PciLink | None = None
    """What this end could do."""
    common_link_limit: PciLink | None = None
    """What both ends of the edge above could do: the lesser of this function and the port above it."""
    virtual_function_of: str | None = None
    virtual_functions: int | None = None
    """Made now; None where the device has no SR-IOV."""
    virtual_functions_limit: int | None = None
    slot: str | None = None

    @property
    def is_bridge(self) -> bool:
        """It leads to another bus."""
        return self.class_code is not None and self.class_code >> 8 == 0x0604


class ControlGroup(Struct, frozen=True):
    """What the cgroup of this process allows it; None where it sets no limit or it is unknown."""

    path: str | None = None
    cpus: tuple[int, ...] | None = None
    """CPUs of its cpuset."""
    cpu_quota: float | None = None
    """CPUs' worth of time it may use, such as 1.5."""
    memory_bytes: int | None = None
    limits_known: bool = False
    """Whether its limits could be read: None then says that there is none."""


class CloudInstance(Struct, frozen=True):
    """What a cloud rents out as this machine, by files alone."""

    provider: str
    evidence: str
    """What names the provider, such as the words of DMI."""
    instance_type: str | None = None
    """``m5.large``; None where no file names it, as the DMI of most providers does not."""
    type_source: str | None = None
    region: str | None = None


class LogicalPartition(Struct, frozen=True):
    """The processors of a partition of PowerVM; None for what the firmware does not say."""

    shared: bool | None = None
    """Whether it shares its processors with other partitions; they are its own otherwise."""
    capped: bool | None = None
    """Whether it gets no more of them than its entitled capacity."""
    entitled_cores: float | None = None
    """Entitled capacity."""
    max_entitled_cores: float | None = None
    """What the entitled capacity can be raised to while it runs."""
    server_cores: int | None = None
    """Physical processors that are active in the server."""


class Platform(Struct, frozen=True):
    """What is true of the machine as a whole; None where it could not be read."""

    architecture: str | None = None
    kernel: str | None = None
    hostname: str | None = None
    hypervisor: str | None = None
    """``kvm``, ``vmware``, ``xen``, ``hyperv`` ...; None on bare metal or where it is unknown (see ``is_guest``).

    ``qemu`` where nothing tells whether QEMU uses KVM, ``tcg`` where it emulates the CPU, ``xen-dom0`` in the control
    domain of Xen, which is no guest but has virtual CPUs.
    """
    is_guest: bool | None = None
    """True under a hypervisor, False where something proves bare metal, None where it is unknown."""
    guest_evidence: str | None = None
    """What settled ``is_guest``, in words."""
    container: str | None = None
    """What contains this process, such as ``docker``, ``podman`` or ``lxc``; None where no sign of it is found."""
    clock_source: str | None = None
    clock_sources: tuple[str, ...] = ()
    command_line: str | None = None
    governor: str | None = None
    """Of cpufreq; where its policies differ, each with how many have it."""
    transparent_huge_pages: str | None = None
    numa_balancing: bool | None = None
    model: str | None = None
    """What DMI calls the product, POWER the ``machine``, and IBM Z its type and model."""
    vendor: str | None = None
    serial: str | None = None
    """Of the product, from DMI; only root can read it."""
    firmware: str | None = None
    """Version of the BIOS."""
    kernel_settings: tuple[str, ...] = ()
    """Words of the command line that change what is measured: ``numa=off``, ``isolcpus=2-7`` ..."""
    frequency_driver: str | None = None
    turbo: bool | None = None
    """Whether the clock may rise above its base; None where no driver reports it."""
    shared_memory_controller: bool | None = None
    """Whether all sockets reach memory over one controller (front-side bus), by the CPU's family and model."""
    chassis_type: int | None = None
    """Number of SMBIOS 7.4.1, from DMI: 9 a laptop, 17 and 23 servers."""
    smt: str | None = None
    """``on``, ``off``, ``forceoff``, ``notsupported`` ... as in the kernel's SMT control."""
    isolated_cpus: tuple[int, ...] = ()
    tickless_cpus: tuple[int, ...] = ()
    """CPUs of ``nohz_full``."""
    steal_share: float | None = None
    """Share of CPU time since boot that the hypervisor gave to others, 0 to 1; None outside guests."""
    control_group: ControlGroup | None = None
    affinity: tuple[int, ...] | None = None
    """CPUs this process may be scheduled on; None where not captured."""
    memlock_bytes: int | None = None
    """How much this process may lock in memory; None when unlimited or unknown (see ``memlock_unlimited``)."""
    memlock_unlimited: bool | None = None
    hidden: tuple[str, ...] = ()
    """What a container or hypervisor keeps from view, in words."""
    cloud: CloudInstance | None = None
    """None where no file names a cloud."""
    partition: LogicalPartition | None = None
    """None where this is no partition of PowerVM, or where its processors are unknown."""
    z_partition: str | None = None
    """Kind and CPUs of the logical partition of IBM Z that this runs in: ``shared, 4 CPUs``; None elsewhere."""


class Stage(Struct, frozen=True):
    """One stage of a path."""

    name: str
    """``media``, ``port``, ``link``, ``uplink``, ``root port``, ``interconnect``, ``memory``."""
    subject: str
    """What carries it: a PCI address, a host, a node."""
    bytes_per_second: float | None
    """Payload in one direction; None where it is unknown, and then the stage limits nothing here."""
    source: str
    """The figure it was computed from, in words."""
    shared_with: tuple[str, ...] = ()
    """Other devices on the same stage."""
    wanted_bytes_per_second: float | None = None
    """What all devices on the stage could ask for together; None where it carries one device."""


class PathBudget(Struct, frozen=True):
    """The path of one device's data to memory."""

    device: str
    """``nvme0``, ``host11``, ``eth0``."""
    pci_address: str | None
    """None where only the port is known."""
    node: int | None
    stages: tuple[Stage, ...]
    limit_bytes_per_second: float | None
    """The least of the stages that are known; None where none is."""
    narrowest: str | None
    """Name and subject of that stage."""
    share_bytes_per_second: float | None = None
    """What is left when all devices that share its stages work at once."""


class DeviceInterrupts(Struct, frozen=True):
    """The interrupts of one PCI device."""

    pci_address: str
    count: int
    cpus: tuple[int, ...] = ()
    """CPUs that they go to now; empty where that could not be read."""


class Accelerator(Struct, frozen=True):
    """A GPU or another processor on PCI; the adapters that only drive a console are none."""

    pci_address: str
    vendor: str
    model: str | None = None
    """None where no driver names it."""
    driver: str | None = None
    node: int | None = None
    memory_bytes: int | None = None
    firmware: str | None = None


class DaxDevice(Struct, frozen=True):
    """A device of memory for direct access (``/sys/bus/dax/devices/daxN.M``)."""

    name: str
    size_bytes: int | None = None
    node: int | None = None
    """Node that its memory is of, or would become."""
    driver: str | None = None
    """``kmem`` where the kernel uses it as memory, ``device_dax`` where programs map it."""


class CxlMemory(Struct, frozen=True):
    """A memory device on CXL (``/sys/bus/cxl/devices/memN``)."""

    name: str
    volatile_bytes: int | None = None
    persistent_bytes: int | None = None
    pci_address: str | None = None
    node: int | None = None
    firmware: str | None = None


class DimmSlot(Struct, frozen=True):
    """One slot of the firmware's SMBIOS table (Memory Device, type 17), populated or empty."""

    name: str | None = None
    """Device locator, as printed on the board: ``DIMM_A1``."""
    bank: str | None = None
    """Bank locator: ``P0 CHANNEL A``."""
    size_bytes: int | None = None
    """0 for an empty slot; None where the firmware does not know."""
    kind: str | None = None
    """Memory type, such as ``DDR4``."""
    rated_transfers_per_second: int | None = None
    """The highest that the module supports."""
    configured_transfers_per_second: int | None = None
    """What the firmware set at boot."""
    manufacturer: str | None = None
    part_number: str | None = None
    channel: str | None = None
    """The locators up to the name of the channel; None where they name none."""

    @property
    def populated(self) -> bool | None:
        """Whether there is a module in the slot; None where the firmware does not know."""
        return None if self.size_bytes is None else self.size_bytes > 0


class EdacDimm(Struct, frozen=True):
    """One module, or one rank of it, as the driver of the memory controller (EDAC) reports it; empty slots are not."""

    name: str
    """``dimm0`` or ``rank0``."""
    label: str | None = None
    location: str | None = None
    """``channel 0 slot 1``, ``csrow 0 channel 1``."""
    kind: str | None = None
    """``Registered-DDR4``."""
    size_bytes: int | None = None
    correctable_errors: int | None = None
    uncorrectable_errors: int | None = None


class EdacController(Struct, frozen=True):
    """One memory controller with what it found since its counters were reset."""

    name: str
    """``mc0``."""
    driver: str | None = None
    """What the driver calls it."""
    correctable_errors: int | None = None
    """Also those that could not be traced to a module."""
    uncorrectable_errors: int | None = None
    seconds_since_reset: int | None = None
    dimms: tuple[EdacDimm, ...] = ()


class FileSystem(Struct, frozen=True):
    """One pool, file system or replicated device."""

    kind: str
    """``zfs``, ``btrfs``, ``bcachefs``, ``drbd``, or of a cluster: ``lustre``, ``gpfs``, ``ocfs2``, ``ceph``."""
    name: str
    state: str | None = None
    """As the kernel calls it; None where it does not report it."""
    healthy: bool | None = None
    """Whether the state is that of a whole one; None where it does not report it."""
    mount_points: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    """What else the kernel says, in words: profile, block size, version."""


class LocalMount(Struct, frozen=True):
    """A mount of a file system that is on devices of this machine."""

    mount_point: str
    source: str
    """The device, or the name in a pool."""
    kind: str
    """``xfs``, ``ext4``, ``zfs`` ..."""
    options: tuple[str, ...] = ()
    """Of the mount, then of the file system, as the kernel lists them."""
    size_bytes: int | None = None
    free_bytes: int | None = None
    """What a user may still write; like the size None where the mount was not asked, as in a capture."""


class LostMount(Struct, frozen=True):
    """A mount whose block device is gone: I/O that is not in memory fails."""

    mount_point: str
    source: str
    devno: str
    kind: str


class SwapArea(Struct, frozen=True):
    """One device or file in use as swap."""

    path: str
    kind: str | None = None
    """``partition`` or ``file``."""
    size_bytes: int | None = None
    used_bytes: int | None = None
    priority: int | None = None


class IdleState(Struct, frozen=True):
    """One state (C-state) that an idle CPU may enter."""

    name: str
    exit_latency_ns: int | None = None
    """How long a CPU takes to leave it, by the driver; not measured."""
    disabled: bool | None = None


class Vulnerability(Struct, frozen=True):
    """One weakness of the CPU and what the kernel does about it."""

    name: str
    """``spectre_v2``."""
    status: str
    """As the kernel writes it: ``Mitigation: ...``, ``Vulnerable``, ``Not affected``."""


class OsSettings(Struct, frozen=True):
    """What is in force now; None where it could not be read, or this kernel has no such setting.

    Transparent huge pages, NUMA balancing, governor, clock source and cgroup limits are in ``Platform``, huge pages in
    ``Machine``, and the settings of a disk in ``BlockDevice``.
    """

    swap_areas: tuple[SwapArea, ...] | None = None
    """Empty where no swap is in use."""
    swappiness: int | None = None
    dirty_ratio: int | None = None
    """Percent of the available memory; 0 where ``dirty_bytes`` holds."""
    dirty_background_ratio: int | None = None
    dirty_bytes: int | None = None
    dirty_background_bytes: int | None = None
    zone_reclaim_mode: int | None = None
    overcommit_memory: int | None = None
    max_map_count: int | None = None
    transparent_huge_page_defrag: str | None = None
    energy_preference: str | None = None
    """``energy_performance_preference``; where cpufreq policies differ, each with how many have it."""
    energy_bias: int | None = None
    """0 (performance) to 15 (power saving), of the first CPU that is online."""
    lowest_performance_percent: int | None = None
    """``min_perf_pct`` of intel_pstate."""
    idle_driver: str | None = None
    idle_states: tuple[IdleState, ...] = ()
    """Of the first CPU that is online."""
    vulnerabilities: tuple[Vulnerability, ...] = ()
    microcode: str | None = None
    """Revision of the first CPU that is online, hexadecimal."""
    tuned_profile: str | None = None
    """The active profile of TuneD."""
    open_files: int | None = None
    """Soft limit of this process on open files; that of a database's service may differ. None where it is unknown."""
    open_files_hard: int | None = None
    processes: int | None = None
    """Soft limit on processes of this user; None where it is unlimited or unknown."""


class Limits(Struct, frozen=True):
    """None wherever the kernel does not say."""

    capabilities: frozenset[int] | None = None
    """Effective ones by number, see capabilities(7)."""
    open_files: int | None = None
    """Soft limit of this process."""
    aio_requests_max: int | None = None
    """Of all processes together, for io_submit(2)."""
    aio_requests_used: int | None = None
    io_uring_disabled: int | None = None
    """0 for everybody, 1 for a group and the privileged, 2 for nobody; None on kernels without the switch."""
    perf_event_paranoid: int | None = None
    """Above 2 some distributions mean: nothing at all without privilege."""


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
    huge_page_bytes: int | None = None
    """Size of the pages that ``vm.nr_hugepages`` counts."""
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
    oracle_homes: tuple[OracleHome, ...] = ()
    direct_nfs_servers: tuple[DirectNfsServer, ...] = ()
    """Those of every ``oranfstab`` that a home or the machine has."""
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
            present=len(self.pus), online=sum(pu.online for pu in self.pus), allowed=sum(pu.allowed for pu in self.pus)
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
    def cache_sizes(self) -> dict[int, int]:
        """Bytes of the largest single cache of data of each level, lowest level first; none without a known size."""
        return dict(
            sorted(
                (cache.level, cache.size_bytes)
                for cache in self.caches
                if cache.size_bytes is not None and cache.kind is not CacheKind.INSTRUCTION
            )
        )

    @property
    def last_level_cache_bytes(self) -> int | None:
        """Size of the largest single cache of the highest level; None where no size is known."""
        return next(reversed(self.cache_sizes.values()), None)
