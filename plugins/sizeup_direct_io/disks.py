"""The disks beneath a target, and the I/O of other processes on them."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from sizeup.procfs.block import BlockStat, read_block_stack, read_block_stat
from sizeup.procfs.kernel_file import SYS, list_names, read_line
from sizeup.units import format_rate

_HOST = re.compile(r"host\d+")
_SESSION = re.compile(r"session\d+")
_CONTROLLER = re.compile(r"nvme\d+")
_NETWORK_DISK = re.compile(r"[nr]bd\d+")
_RAID_DRIVERS = frozenset(
    {"megaraid_sas", "megaraid", "mpi3mr", "hpsa", "smartpqi", "aacraid", "arcmsr", "ipr", "3w-9xxx", "3w-sas"}
)
"""``proc_name`` of controllers that have a write-back cache or may have one."""
_VIRTUAL_PATHS = ("virtio", "vbd-", "vmbus")
"""Folders in the sysfs path: virtio, Xen, and Hyper-V, which also writes them in capitals."""
_VIRTUAL_DRIVERS = frozenset({"vmw_pvscsi", "virtio_scsi", "storvsc", "storvsc_host", "ibmvscsi"})
_VIRTUAL_MODELS = (
    "vmware", "qemu", "vbox", "virtual disk", "virtual nvme", "amazon elastic block store", "persistentdisk",
    "nvme_card-pd", "msft nvme accelerator",
)  # fmt: skip
"""In the vendor and model of emulated disks and of volumes of cloud providers."""
SIGNIFICANT_SHARE = 0.05
"""Of the requested bytes: less other I/O than this does not change a figure visibly."""
SIGNIFICANT_BYTES_PER_SECOND = 1e6


class Disks(Struct, frozen=True):
    """All disks beneath a target together, at one moment."""

    names: tuple[str, ...]
    counters: BlockStat
    plain: bool
    """Nothing between the target and the disks writes for itself, such as RAID."""


def read_disks(device_number: int, sysfs: str = SYS) -> Disks | None:
    """Return the disks beneath a device; None if it is on no block device, such as NFS or btrfs."""
    stack = read_block_stack(device_number, sysfs)
    if stack is None:
        return None
    found = [stat for disk in stack.disks if (stat := read_block_stat(disk)) is not None]
    if len(found) < len(stack.disks):
        return None
    counters = BlockStat(sum(each.read_bytes for each in found), sum(each.written_bytes for each in found))
    return Disks(tuple(map(os.path.basename, stack.disks)), counters, plain=not stack.stacked)


class OtherIo(Struct, frozen=True):
    """I/O of other processes, or of the file system for itself, on the same disks."""

    disks: str
    read_bytes_per_second: float
    written_bytes_per_second: float | None
    """None if RAID or a map in between writes for itself."""
    own_bytes_per_second: float

    @property
    def significant(self) -> bool:
        """Return whether it may have affected the figure."""
        return self._others > max(SIGNIFICANT_BYTES_PER_SECOND, SIGNIFICANT_SHARE * self.own_bytes_per_second)

    @property
    def share(self) -> float:
        """Return what of all bytes was not of this process."""
        return self._others / ((self._others + self.own_bytes_per_second) or 1.0)

    @property
    def _others(self) -> float:
        return self.read_bytes_per_second + (self.written_bytes_per_second or 0.0)

    def __str__(self) -> str:
        """Return the rates as text."""
        text = f"{format_rate(self.read_bytes_per_second)} read"
        if self.written_bytes_per_second is not None:
            text += f" and {format_rate(self.written_bytes_per_second)} written"
        return f"{text} on {self.disks}"


def other_io(before: Disks, after: Disks, seconds: float, *, own_read: int, own_written: int) -> OtherIo:
    """Return what the disks transferred beyond the I/O of this process."""
    read = after.counters.read_bytes - before.counters.read_bytes - own_read
    written = after.counters.written_bytes - before.counters.written_bytes - own_written
    return OtherIo(
        ", ".join(after.names),
        max(0, read) / seconds,
        max(0, written) / seconds if after.plain else None,
        (own_read + own_written) / seconds,
    )


def _host_driver(disk: str, sysfs: str) -> str | None:
    """Return the driver of a disk's SCSI host; None for other disks, or if the kernel does not report it."""
    host = next((part for part in _device_path(disk).split("/") if _HOST.fullmatch(part)), None)
    return None if host is None else read_line(f"{sysfs}/class/scsi_host/{host}/proc_name")


def _device_path(disk: str) -> str:
    return os.path.realpath(f"{disk}/device")


def _nvme_transports(disk: str) -> set[str]:
    """Return how the controllers of a namespace are reached: ``pcie``, ``tcp``, ``rdma``, ``fc``; empty for others."""
    device = _device_path(disk)
    names = [name for name in list_names(device) if _CONTROLLER.fullmatch(name)]  # below a subsystem
    return set(
        filter(None, (read_line(f"{folder}/transport") for folder in (device, *(f"{device}/{n}" for n in names))))
    )


def _is_virtual(disk: str, sysfs: str) -> bool:
    if any(part.lower().startswith(_VIRTUAL_PATHS) for part in disk.split("/")):
        return True
    if _host_driver(disk, sysfs) in _VIRTUAL_DRIVERS:
        return True
    device = _device_path(disk)
    identity = " ".join(filter(None, (read_line(f"{device}/vendor"), read_line(f"{device}/model")))).lower()
    return any(name in identity for name in _VIRTUAL_MODELS)


def is_virtual(device_number: int, sysfs: str = SYS) -> bool:
    """Return whether a disk beneath the device is virtual, by its sysfs path, its driver or its model."""
    stack = read_block_stack(device_number, sysfs)
    return stack is not None and any(_is_virtual(disk, sysfs) for disk in stack.disks)


def _storage_system(disk: str, sysfs: str) -> str | None:
    parts, driver = _device_path(disk).split("/"), _host_driver(disk, sysfs)
    if any(part.startswith("rport-") for part in parts):
        return "Fibre Channel array"
    if any(_SESSION.fullmatch(part) for part in parts):
        return "iSCSI array"
    if driver == "ib_srp":
        return "SRP array"
    # A disk that such a controller passes through as it is has a SAS address of its own.
    if driver in _RAID_DRIVERS and not any(part.startswith("end_device-") for part in parts):
        return f"RAID controller ({driver})"
    fabrics = _nvme_transports(disk) - {"pcie", "apple-nvme"}
    if fabrics:
        return f"NVMe over Fabrics array ({', '.join(sorted(fabrics))})"
    return "network block device" if _NETWORK_DISK.fullmatch(os.path.basename(disk)) else None


def storage_systems(device_number: int, sysfs: str = SYS) -> tuple[str, ...]:
    """Return the arrays and RAID controllers beneath a device, whose caches this host cannot see; empty if none."""
    stack = read_block_stack(device_number, sysfs)
    found = () if stack is None else (_storage_system(disk, sysfs) for disk in stack.disks)
    return tuple(dict.fromkeys(filter(None, found)))


def rotating_disks(device_number: int, sysfs: str = SYS) -> int:
    """Return how many rotating disks are beneath a device; 0 if any is not, or may be another thing behind a system."""
    stack = read_block_stack(device_number, sysfs)
    if stack is None or is_virtual(device_number, sysfs) or storage_systems(device_number, sysfs):
        return 0
    # A device without hardware, such as a loop device, takes the flag over from what it lies on.
    rotating = all(
        os.path.isdir(f"{disk}/device") and read_line(f"{disk}/queue/rotational") == "1" for disk in stack.disks
    )
    return len(stack.disks) if rotating else 0


def write_cache(device_number: int, sysfs: str = SYS) -> str | None:
    """``write back`` or ``write through`` of the device, or of the disk under a partition; None when unknown."""
    stack = read_block_stack(device_number, sysfs)
    folders = () if stack is None else stack.folders[:2]  # a partition has no queue of its own
    return next(filter(None, (read_line(f"{folder}/queue/write_cache") for folder in folders)), None)
