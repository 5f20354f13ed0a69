"""Block devices, host bus adapters, paths and NVMe."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from msgspec import Struct


class BlockKind(Enum):
    """What a block device is, by its path in sysfs and never by its name."""

    NVME = "nvme"
    PCIE_SSD = "pcie-ssd"
    SCSI = "scsi"
    VIRTIO = "virtio"
    XEN = "xen"
    MMC = "mmc"
    MD = "md"
    LVM = "lvm"
    CRYPT = "crypt"
    MULTIPATH = "multipath"
    DM = "dm"
    BCACHE = "bcache"
    LOOP = "loop"
    RAM = "ram"
    NBD = "nbd"
    OPTICAL = "optical"
    PARTITION = "partition"
    DASD = "dasd"
    OTHER = "other"


class BlockDevice(Struct, frozen=True):
    """One whole disk, partition or stacked device."""

    name: str
    kind: BlockKind
    size_bytes: int | None
    devno: str | None = None
    """``major:minor``."""
    model: str | None = None
    vendor: str | None = None
    serial: str | None = None
    wwn: str | None = None
    rotational: bool | None = None
    """The kernel's flag; with RAID controllers and virtio it is what the controller reports, not what spins."""
    logical_block_bytes: int | None = None
    physical_block_bytes: int | None = None
    scheduler: str | None = None
    queue_depth_limit: int | None = None
    """``nr_requests``: how many requests the block layer queues."""
    read_ahead_bytes: int | None = None
    """``read_ahead_kb``: how much the kernel reads ahead of a sequential reader of files."""
    largest_request_bytes: int | None = None
    """``max_sectors_kb``: the largest request that the block layer sends."""
    hardware_queues: int | None = None
    write_cache: str | None = None
    """``write back`` or ``write through``."""
    read_only: bool | None = None
    removable: bool | None = None
    parent: str | None = None
    """The whole disk of a partition."""
    members: tuple[str, ...] = ()
    """The devices under a stacked one, by name."""
    holders: tuple[str, ...] = ()
    pci_address: str | None = None
    node: int | None = None
    """NUMA node of the nearest PCI ancestor that names one; None when unknown."""
    hctl: str | None = None
    raid_level: str | None = None
    raid_disks: int | None = None
    dm_name: str | None = None
    dm_uuid: str | None = None
    """Its prefix names what made the device: ``LVM-``, ``CRYPT-``, ``mpath-``."""
    suspended: bool | None = None
    state: str | None = None
    """Of a SCSI device (``running``, ``offline``), an array (``clean``, ``degraded``) or an NVMe controller."""
    raid_degraded: int | None = None
    """Members that an md array lacks."""
    zoned: bool | None = None
    mount_points: tuple[str, ...] = ()
    start_bytes: int | None = None
    """Where a partition begins on its disk."""
    leaves: tuple[str, ...] = ()
    """The devices at the bottom of a stack or partition, by name; a device without members is its own."""
    read_spindles: float | None = None
    """Leaves that serve reads at once: mirrors all count, parity stripes all count."""
    write_spindles: float | None = None
    """Leaves that a write costs one of: a mirror of two counts one, RAID 5 a quarter of its members, RAID 6 a sixth."""
    usable_bytes: int | None = None
    """What a stack offers after redundancy; its own size where it is active."""


_DRIVES = frozenset(
    {
        BlockKind.NVME, BlockKind.PCIE_SSD, BlockKind.SCSI, BlockKind.VIRTIO, BlockKind.XEN, BlockKind.MMC,
        BlockKind.DASD,
    }
)  # fmt: skip


def is_drive(disk: BlockDevice, paths: Collection[str] = ()) -> bool:
    """Return whether this is a whole drive that a database may lie on, and none of the ``paths`` to a LUN.

    Partitions, stacks, loop devices, RAM disks, and removable or empty drives are none.
    """
    whole = disk.kind in _DRIVES and disk.parent is None and not disk.members and disk.name not in paths
    return whole and disk.size_bytes != 0 and not disk.removable


class Transport(Enum):
    """How a host adapter reaches its devices."""

    FC = "fc"
    FCOE = "fcoe"
    SAS = "sas"
    ISCSI = "iscsi"
    SATA = "sata"
    SPI = "spi"
    RAID = "raid"
    VIRTIO = "virtio"
    USB = "usb"
    OTHER = "other"


class TargetPort(Struct, frozen=True):
    """The far end: a port of a storage array, an expander's end device, an iSCSI portal."""

    name: str
    """WWPN, SAS address, or iSCSI target name; masked captures have a pseudonym here."""
    node_name: str | None = None
    address: str | None = None
    """FC port id, or ``address:port`` of an iSCSI connection."""
    state: str | None = None
    roles: str | None = None
    rate_bits_per_second: int | None = None
    """Of the SAS phy in front of it; None for others."""
    sysfs_name: str | None = None
    """``rport-11:0-0``, ``end_device-10:0``, ``session1``: what leads to it in a device's path."""


class Hba(Struct, frozen=True):
    """One SCSI host: a port of a host bus adapter, a RAID controller, or an iSCSI session."""

    name: str
    """``host11``."""
    transport: Transport
    driver: str | None = None
    """``proc_name`` of the SCSI host."""
    pci_address: str | None = None
    node: int | None = None
    port_name: str | None = None
    """WWPN of an FC port, SAS address, or iSCSI initiator name."""
    node_name: str | None = None
    fabric_name: str | None = None
    port_type: str | None = None
    state: str | None = None
    """``Online``, ``Linkdown`` ... of an FC port; ``running`` of others."""
    speed_bits_per_second: int | None = None
    """Of the link as trained; None while it is down or unknown."""
    supported_bits_per_second: tuple[int, ...] = ()
    symbolic_name: str | None = None
    model: str | None = None
    firmware: str | None = None
    queue_depth_limit: int | None = None
    """``can_queue``: commands the adapter takes at once."""
    lun_queue_depth: int | None = None
    """``cmd_per_lun``: what it starts each LUN with."""
    hardware_queues: int | None = None
    net_device: str | None = None
    """The network interface under FCoE or iSCSI, as named or by the address that the session uses."""
    local_address: str | None = None
    """Of an iSCSI session in software."""
    phys: int | None = None
    """SAS phys; None for others."""
    targets: tuple[TargetPort, ...] = ()
    received_bytes: int | None = None
    """FC only, since the counters were reset: words of four bytes."""
    sent_bytes: int | None = None


class ScsiDevice(Struct, frozen=True):
    """One logical unit seen over one path."""

    hctl: str
    """Host, channel, target, LUN."""
    kind: int
    """SCSI peripheral device type; 0 is a disk."""
    hba: str
    block_device: str | None = None
    vendor: str | None = None
    model: str | None = None
    state: str | None = None
    queue_depth: int | None = None
    target: str | None = None
    """Name of the target port that leads to it."""
    wwn: str | None = None
    access_state: str | None = None
    """ALUA: ``active/optimized``, ``active/non-optimized``, ``standby`` ...; None without ALUA."""


class Path(Struct, frozen=True):
    """Initiator port x target port x LUN: one path to the data of a map."""

    device: str
    """The block device of this path, ``sdk``."""
    hctl: str | None = None
    hba: str | None = None
    transport: Transport | None = None
    initiator: str | None = None
    target: str | None = None
    pci_address: str | None = None
    node: int | None = None
    state: str | None = None
    speed_bits_per_second: int | None = None
    access_state: str | None = None
    net_device: str | None = None
    """The interface that it takes, of iSCSI and NVMe over a network."""


class MultipathMap(Struct, frozen=True):
    """A multipath device over its paths."""

    name: str
    device: str
    """``dm-0``, or the shared namespace of an NVMe subsystem."""
    size_bytes: int | None
    uuid: str | None
    suspended: bool | None
    paths: tuple[Path, ...]


class NvmePath(Struct, frozen=True):
    """One controller's path to a shared namespace."""

    name: str
    """``nvme1c2n1``."""
    controller: str
    ana_state: str | None = None
    numa_nodes: tuple[int, ...] = ()
    """Nodes whose I/O the kernel sends over this path."""


class NvmeHealth(Struct, frozen=True):
    """The SMART / health log of a controller, which root alone can read; counters of its whole life."""

    critical_warning: int
    """Bits of the first byte; 0 where there is no warning."""
    temperature_celsius: int | None
    spare_percent: int
    spare_threshold_percent: int
    """At less spare than this the drive warns."""
    used_percent: int
    """Share of its endurance that is used, by its maker; may exceed 100."""
    read_bytes: int | None = None
    written_bytes: int | None = None
    power_on_hours: int | None = None
    unsafe_shutdowns: int | None = None
    media_errors: int | None = None


class NvmeController(Struct, frozen=True):
    """One NVMe controller; its number is not its subsystem's."""

    name: str
    transport: str | None
    """``pcie``, ``tcp``, ``rdma``, ``fc``, ``loop``."""
    address: str | None
    """PCI address, or ``traddr=...,trsvcid=...`` of a fabric."""
    pci_address: str | None = None
    node: int | None = None
    model: str | None = None
    serial: str | None = None
    firmware: str | None = None
    state: str | None = None
    subsystem_nqn: str | None = None
    subsystem: str | None = None
    controller_id: int | None = None
    queues: int | None = None
    """I/O queues and the administration queue."""
    queue_depth_limit: int | None = None
    """Entries of a submission queue."""
    temperature_celsius: float | None = None
    """Of the drive as a whole, by its hwmon device (Linux 5.5); None where it is not live, or has none."""
    critical_celsius: float | None = None
    net_device: str | None = None
    """The interface of a controller over TCP or RDMA, by its addresses and the routes; None where they do not tell."""
    health: NvmeHealth | None = None
    """None where it could not be read (the gaps say why) or was not asked: over a network, or not live."""


class NvmeNamespace(Struct, frozen=True):
    """One namespace; not a LUN, though it is used as one."""

    name: str
    subsystem: str | None
    namespace_id: int | None
    size_bytes: int | None
    controllers: tuple[str, ...] = ()
    paths: tuple[NvmePath, ...] = ()
    """Only of a namespace under native multipath."""
    logical_block_bytes: int | None = None
    """Data of one block of its LBA format."""
    metadata_bytes: int | None = None
    """Metadata beside each block; None before Linux 6.8."""


class NvmeSubsystem(Struct, frozen=True):
    """Controllers that share their namespaces."""

    name: str
    nqn: str | None
    io_policy: str | None = None
    """``numa``, ``round-robin``, ``queue-depth``; None where multipath is off."""
    controllers: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
