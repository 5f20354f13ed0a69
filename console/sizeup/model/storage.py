"""Block devices, host bus adapters, paths and NVMe."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class BlockKind(Enum):
    """What a block device is, by its place in sysfs and never by its name."""

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
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class BlockDevice:
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
    """The kernel's flag; behind RAID controllers and virtio it is what the controller says, not what spins."""
    logical_block_bytes: int | None = None
    physical_block_bytes: int | None = None
    scheduler: str | None = None
    queue_depth_limit: int | None = None
    """``nr_requests``: how many requests the block layer queues."""
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
    """Its prefix tells what made the device: ``LVM-``, ``CRYPT-``, ``mpath-``."""
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
