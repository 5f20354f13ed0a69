"""Block devices from ``/sys/block`` (Documentation/ABI/stable/sysfs-block), distinguished by their path in sysfs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.decoding import data_beside
from sizeup.discovery.device_parents import DeviceParents
from sizeup.discovery.os_settings import bracketed
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.procfs.block import fold_stack
from sizeup.procfs.kernel_file import Unreadable
from sizeup.procfs.mounts import MountEntry
from sizeup.text import decode

_SECTOR = 512  # of ``size`` and ``start``, whatever the device's own block is
_DEVICES_LIMIT = 1 << 14
_PARTITIONS_LIMIT = 256

BLOCK = "/sys/block"
"""The directory of all disks; also the subject of the gap that says why none is known."""
_CLASS = "/sys/class/block"
_NVME = "/sys/class/nvme"
_NO_LIST = "missing, and neither /proc/partitions nor /proc/diskstats lists a disk"

_HCTL = re.compile(r"\d+:\d+:\d+:\d+")
_NVME_PATH = re.compile(r"nvme\d+c\d+n\d+")
_DM_KINDS = (("mpath-", BlockKind.MULTIPATH), ("LVM-", BlockKind.LVM), ("CRYPT-", BlockKind.CRYPT))
_DRIVERS: dict[str, BlockKind] = data_beside(__file__, "block_drivers.toml", dict[str, BlockKind])
_VIRTUAL_NAMES = (
    ("loop", BlockKind.LOOP), ("ram", BlockKind.RAM), ("zram", BlockKind.RAM), ("nbd", BlockKind.NBD),
    ("dm-", BlockKind.DM),
)  # fmt: skip
"""Of devices without hardware, by the name that the kernel gives; a capture may lack what else tells them."""
_SCSI_OPTICAL = 5
_WRITE_COST = {"raid1": None, "raid10": 2, "raid4": 4, "raid5": 4, "raid6": 6}
"""Disk operations for one small write; None where every member writes. Others cost one."""


class BlockTables(Struct, frozen=True):
    """What is read once for all devices."""

    drivers: Mapping[int, str]
    """Block driver by major number, from ``/proc/devices``."""
    mount_points: Mapping[str, tuple[str, ...]]
    """By ``major:minor`` and by device path."""
    has_udev: bool
    """udev's database was captured."""
    listed: Mapping[str, tuple[str, int | None]]
    """``major:minor`` and size by name, from ``/proc/partitions`` and ``/proc/diskstats``; read of captures alone."""


def parse_block_drivers(text: str) -> dict[int, str]:
    """The second half of ``/proc/devices``."""
    _, _, blocks = text.partition("Block devices:")
    drivers = {}
    for line in blocks.splitlines():
        major, _, name = line.strip().partition(" ")
        if major.isdecimal() and len(major) < 7:
            drivers[int(major)] = name.strip()
    return drivers


def _kind(
    sysroot: Sysroot, base: str, real: str, entries: frozenset[str], uuid: str | None, driver: str | None
) -> BlockKind:
    name = base.rpartition("/")[2]
    parts = real.split("/")
    if "dm" in entries:
        if re.match(r"part\d+-", uuid or ""):
            return BlockKind.PARTITION
        return next((kind for prefix, kind in _DM_KINDS if (uuid or "").startswith(prefix)), BlockKind.DM)
    if "md" in entries:
        return BlockKind.MD
    if "bcache" in entries and "/virtual/" in real:
        return BlockKind.BCACHE
    if "/nvme" in real.rpartition("/block/")[0] + real.rpartition(name)[0]:
        return BlockKind.NVME
    if any(_HCTL.fullmatch(part) for part in parts):
        if driver in ("sd", "sr"):
            return _DRIVERS[driver]
        return BlockKind.OPTICAL if sysroot.integer(f"{base}/device/type") == _SCSI_OPTICAL else BlockKind.SCSI
    if any(part.startswith("virtio") and part[6:].isdecimal() for part in parts):
        return BlockKind.VIRTIO
    if any(part.startswith("mmc") for part in parts[:-1]):
        return BlockKind.MMC
    if any(part.startswith("vbd-") for part in parts):
        return BlockKind.XEN
    if driver in _DRIVERS:
        return _DRIVERS[driver]
    if "device" not in entries and (kinds := [kind for prefix, kind in _VIRTUAL_NAMES if name.startswith(prefix)]):
        return kinds[0]
    if "/pci" in real:
        # A block device right on a PCI function, without SCSI or NVMe between, is a card of its own kind.
        return BlockKind.PCIE_SSD
    return BlockKind.SCSI if sysroot.exists(f"{base}/device/scsi_level") else BlockKind.OTHER


def parse_vpd_serial(data: bytes) -> str | None:
    """Serial number of SCSI vital product data, page 80h: four bytes of header, then text."""
    if len(data) < 5 or data[1] != 0x80:
        return None
    return decode(data[4 : 4 + int.from_bytes(data[2:4])]).strip("\0 ") or None


def _serial(
    sysroot: Sysroot, base: str, entries: frozenset[str], of_device: frozenset[str], udev: Mapping[str, str]
) -> str | None:
    if "vpd_pg80" in of_device:
        page = sysroot.answer(f"{base}/device/vpd_pg80")
        if not isinstance(page, Unreadable) and (serial := parse_vpd_serial(page)) is not None:
            return serial
    if "serial" in entries:
        return sysroot.line(f"{base}/serial")
    for name in ("serial", "serial_number"):
        if name in of_device and (serial := sysroot.line(f"{base}/device/{name}")) is not None:
            return serial
    return udev.get("ID_SERIAL_SHORT")


def _wwn(
    sysroot: Sysroot, base: str, entries: frozenset[str], of_device: frozenset[str], udev: Mapping[str, str]
) -> str | None:
    if "wwid" in entries:
        return sysroot.line(f"{base}/wwid")
    return (sysroot.line(f"{base}/device/wwid") if "wwid" in of_device else None) or udev.get("ID_WWN")


def _better_directory(sysroot: Sysroot, base: str, entries: frozenset[str]) -> tuple[str, frozenset[str]]:
    """Return the directory of a disk that has its size: a capture may have copied only a part under /sys/block."""
    name = base.rpartition("/")[2]
    others = [f"{_CLASS}/{name}"]
    if name.startswith("nvme"):
        others += [f"{_NVME}/{controller}/{name}" for controller in sysroot.names(_NVME)]
    for other in others:
        found = frozenset(sysroot.names(other))
        if "size" in found:
            return other, found
    return base, entries


def size_of(sysroot: Sysroot, path: str, unit: int = _SECTOR) -> int | None:
    """Return the bytes that a file states in units, by default of 512 bytes; None where it is missing or impossible."""
    number = sysroot.count(path, 1 << 53)
    return None if number is None else number * unit


def _read_device(
    sysroot: Sysroot, parents: DeviceParents, base: str, entries: frozenset[str], tables: BlockTables
) -> BlockDevice:
    """One whole disk or stacked device with the names ``entries`` in its directory."""
    name = base.rpartition("/")[2]
    location = parents.locate(base)
    if location.pci_address is None:
        # Old kernels and some captures have plain directories under /sys/block and links in the class.
        location = parents.locate(f"/sys/class/block/{name}")
    listed, listed_size = tables.listed.get(name, (None, None))
    devno = sysroot.line(f"{base}/dev") or listed
    size = size_of(sysroot, f"{base}/size")
    major = (devno or "").partition(":")[0]
    driver = tables.drivers.get(int(major)) if major.isdecimal() and len(major) < 7 else None
    # What udev found by asking the device.
    asked = sysroot.read(f"/run/udev/data/b{devno}") if tables.has_udev and devno is not None else None
    pairs = (line[2:].partition("=") for line in (asked or "").splitlines() if line.startswith("E:"))
    udev = {key: value for key, _, value in pairs}
    uuid = sysroot.line(f"{base}/dm/uuid") if "dm" in entries else None
    kind = _kind(sysroot, base, location.path or base, entries, uuid, driver)
    dm_name = sysroot.line(f"{base}/dm/name") if "dm" in entries else None
    level = sysroot.line(f"{base}/md/level") if "md" in entries else None
    of_device = frozenset(sysroot.names(f"{base}/device")) if "device" in entries else frozenset()
    hctl = next((part for part in reversed((location.path or "").split("/")) if _HCTL.fullmatch(part)), None)
    state = sysroot.line(f"{base}/device/state") if "state" in of_device else None
    if "md" in entries:
        state = sysroot.line(f"{base}/md/array_state")
    queue = f"{base}/queue"
    schedulers = sysroot.line(f"{queue}/scheduler")  # ``mq-deadline kyber [none]``, or the only one
    return BlockDevice(
        name=name,
        kind=kind,
        size_bytes=listed_size if size is None else size,
        devno=devno,
        model=(sysroot.line(f"{base}/device/model") if "model" in of_device else None) or udev.get("ID_MODEL"),
        vendor=(sysroot.line(f"{base}/device/vendor") if hctl and "vendor" in of_device else None)
        or udev.get("ID_VENDOR"),
        serial=_serial(sysroot, base, entries, of_device, udev),
        wwn=_wwn(sysroot, base, entries, of_device, udev),
        rotational=sysroot.flag(f"{queue}/rotational"),
        logical_block_bytes=sysroot.integer(f"{queue}/logical_block_size"),
        physical_block_bytes=sysroot.integer(f"{queue}/physical_block_size"),
        scheduler=bracketed(schedulers) or next(iter((schedulers or "").split()), None),
        queue_depth_limit=sysroot.integer(f"{queue}/nr_requests"),
        read_ahead_bytes=size_of(sysroot, f"{queue}/read_ahead_kb", 1024),
        largest_request_bytes=size_of(sysroot, f"{queue}/max_sectors_kb", 1024),
        hardware_queues=len(sysroot.names(f"{base}/mq")) or None if "mq" in entries else None,
        write_cache=sysroot.line(f"{queue}/write_cache"),
        read_only=sysroot.flag(f"{base}/ro"),
        removable=sysroot.flag(f"{base}/removable"),
        members=tuple(sorted(sysroot.names(f"{base}/slaves"))) if "slaves" in entries else (),
        holders=tuple(sorted(sysroot.names(f"{base}/holders"))) if "holders" in entries else (),
        pci_address=location.pci_address,
        node=location.node,
        hctl=hctl,
        raid_level=level,
        raid_disks=sysroot.integer(f"{base}/md/raid_disks") if "md" in entries else None,
        raid_degraded=sysroot.integer(f"{base}/md/degraded") if "md" in entries else None,
        dm_name=dm_name,
        dm_uuid=uuid,
        suspended=sysroot.flag(f"{base}/dm/suspended") if "dm" in entries else None,
        state=state,
        zoned=None if (zoned := sysroot.line(f"{queue}/zoned")) is None else zoned != "none",
        mount_points=_mount_points(tables, devno, name, dm_name),
    )


def _mount_points(tables: BlockTables, devno: str | None, name: str, dm_name: str | None) -> tuple[str, ...]:
    keys = [devno, f"/dev/{name}", f"/dev/mapper/{dm_name}" if dm_name else None]
    return tuple(dict.fromkeys(point for key in keys if key for point in tables.mount_points.get(key, ())))


def _read_partitions(
    sysroot: Sysroot, base: str, disk: BlockDevice, entries: frozenset[str], tables: BlockTables
) -> Iterator[BlockDevice]:
    names = [name for name in entries if name.startswith(disk.name)]
    for name in sorted(names, key=lambda name: (len(name), name))[:_PARTITIONS_LIMIT]:
        if not sysroot.exists(f"{base}/{name}/partition"):
            continue
        devno = sysroot.line(f"{base}/{name}/dev")
        yield BlockDevice(
            name=name,
            kind=BlockKind.PARTITION,
            size_bytes=size_of(sysroot, f"{base}/{name}/size"),
            start_bytes=size_of(sysroot, f"{base}/{name}/start"),
            devno=devno,
            rotational=disk.rotational,
            logical_block_bytes=disk.logical_block_bytes,
            physical_block_bytes=disk.physical_block_bytes,
            read_only=sysroot.flag(f"{base}/{name}/ro"),
            parent=disk.name,
            holders=tuple(sorted(sysroot.names(f"{base}/{name}/holders"))),
            pci_address=disk.pci_address,
            node=disk.node,
            mount_points=_mount_points(tables, devno, name, None),
        )


def read_block_devices(
    sysroot: Sysroot, parents: DeviceParents, mounts: Sequence[MountEntry]
) -> tuple[BlockDevice, ...]:
    """Every disk followed by its partitions, then the stacked devices; by kind of path, then by name.

    ``mounts`` is the table of mounts.
    """
    where: dict[str, dict[str, None]] = {}
    for mount in mounts:
        for key in (mount.devno, mount.source if mount.source.startswith("/dev/") else None):
            if key is not None:
                where.setdefault(key, {})[mount.point] = None
    tables = BlockTables(
        drivers=parse_block_drivers(sysroot.read("/proc/devices") or ""),
        mount_points={key: tuple(points) for key, points in where.items()},
        has_udev=sysroot.exists("/run/udev/data"),
        # sysfs of a running kernel is whole; of a capture there may be parts.
        listed={} if sysroot.live else _listed(sysroot),
    )
    names = sysroot.names(BLOCK)
    directory = BLOCK if names else _CLASS
    names = names or sysroot.names(directory)
    if not names:
        if not (tables.listed or sysroot.exists(BLOCK) or sysroot.exists(_CLASS)):
            sysroot.note(BLOCK, _NO_LIST)
        return _devices_listed(tables)
    found: list[BlockDevice] = []
    for name in sorted(names, key=_natural)[:_DEVICES_LIMIT]:
        if _NVME_PATH.fullmatch(name):
            continue  # one path to a namespace that is listed under its own name
        base = partial = f"{directory}/{name}"
        entries = frozenset(sysroot.names(base))
        if not entries or "partition" in entries:
            continue
        if not sysroot.live and "size" not in entries:
            base, entries = _better_directory(sysroot, base, entries)
        device = _read_device(sysroot, parents, base, entries, tables)
        if base != partial and device.wwn is None:
            there, of_device = (frozenset(sysroot.names(path)) for path in (partial, f"{partial}/device"))
            device = replace(device, wwn=_wwn(sysroot, partial, there, of_device, {}))
        found.append(device)
        found.extend(_read_partitions(sysroot, base, device, entries, tables))
    return tuple(found)


def _listed(sysroot: Sysroot) -> dict[str, tuple[str, int | None]]:
    """Return number and size of each device by name; the size is in KiB there."""
    sizes: dict[str, tuple[str, int | None]] = {}
    for line in (sysroot.read("/proc/partitions") or "").splitlines():
        words = line.split()
        if len(words) == 4 and words[2].isdecimal() and len(words[2]) < 16:
            sizes[words[3]] = (f"{words[0]}:{words[1]}", int(words[2]) * 1024)
    for line in (sysroot.read("/proc/diskstats") or "").splitlines():
        words = line.split()
        if len(words) >= 7 and words[0].isdecimal() and words[1].isdecimal():
            sizes.setdefault(words[2], (f"{words[0]}:{words[1]}", None))
    return sizes


def _devices_listed(tables: BlockTables) -> tuple[BlockDevice, ...]:
    """Return what the lists in /proc name, for captures that have no sysfs."""
    found = []
    for name, (devno, size) in list(tables.listed.items())[:_DEVICES_LIMIT]:
        major = devno.partition(":")[0]
        driver = tables.drivers.get(int(major)) if len(major) < 7 else None
        kind = _DRIVERS.get(driver or "", BlockKind.OTHER)
        points = _mount_points(tables, devno, name, None)
        found.append(BlockDevice(name=name, kind=kind, size_bytes=size, devno=devno, mount_points=points))
    return tuple(found)


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sort key that puts sdb before sdaa and nvme2 before nvme10."""
    return tuple(
        (int(word), "") if word.isdecimal() and len(word) < 10 else (len(word), word)
        for word in re.findall(r"\d+|\D+", name)
    )


class _Bottom(Struct, frozen=True):
    leaves: tuple[str, ...]
    reads: float
    writes: float


def _combine(name: str, device: BlockDevice | None, bottoms: list[_Bottom]) -> _Bottom:
    """Members side by side; those that end on the same leaves, as two partitions of a disk do, count once."""
    if device is None or not bottoms:
        return _Bottom((name,), 1.0, 1.0)
    seen: dict[str, None] = {}
    reads = writes = 0.0
    for bottom in bottoms:
        if not set(bottom.leaves) & seen.keys():
            reads += bottom.reads
            writes += bottom.writes
        seen.update(dict.fromkeys(bottom.leaves))
    if device.kind is BlockKind.MD and device.raid_level in _WRITE_COST:
        cost = _WRITE_COST[device.raid_level]
        writes = min(bottom.writes for bottom in bottoms) if cost is None else writes / cost
    return _Bottom(tuple(seen), reads, writes)


def usable_bytes(level: str | None, sizes: list[int]) -> int | None:
    """What an array of members of these sizes offers; None for a level not known here."""
    if not sizes:
        return None
    least, count = min(sizes), len(sizes)
    by_level = {
        "raid0": sum(sizes),
        "linear": sum(sizes),
        "raid1": least,
        "raid4": least * (count - 1),
        "raid5": least * (count - 1),
        "raid6": least * (count - 2),
        "raid10": least * count // 2,
    }
    offered = by_level.get(level or "")
    return None if offered is None else max(offered, 0)


def resolve_stacks(devices: tuple[BlockDevice, ...]) -> tuple[BlockDevice, ...]:
    """The devices with leaves, spindles and usable size filled in."""
    by_name = {device.name: device for device in devices}

    def below(name: str) -> tuple[str, ...]:
        device = by_name.get(name)
        if device is None or device.kind is BlockKind.MULTIPATH:
            return ()  # the paths of a map lead to one device and are no devices
        return (device.parent,) if device.parent is not None else device.members

    known: dict[str, _Bottom] = {}
    resolved = []
    for device in devices:
        bottom = fold_stack(device.name, below, lambda name, bottoms: _combine(name, by_name.get(name), bottoms), known)
        usable = device.size_bytes or None
        if usable is None and device.kind is BlockKind.MD:
            sizes = [by_name[member].size_bytes for member in device.members if member in by_name]
            usable = usable_bytes(device.raid_level, [size for size in sizes if size])
        resolved.append(
            replace(
                device,
                leaves=bottom.leaves,
                read_spindles=bottom.reads,
                write_spindles=bottom.writes,
                usable_bytes=usable,
            )
        )
    return tuple(resolved)
