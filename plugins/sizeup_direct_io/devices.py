"""Checks whether a block device may be overwritten: named in full, unused, and without a known signature."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator

from msgspec import Struct

from sizeup import files
from sizeup.errors import RefusedError
from sizeup.probing.devices import names_that_allow
from sizeup.procfs.block_stack import find_device_folder, find_partitions, format_device_number
from sizeup.procfs.descriptors import open_again
from sizeup.procfs.kernel_file import PROC, SYS, list_names, read_line
from sizeup.procfs.mounts import read_mountinfo
from sizeup.procfs.swaps import read_swaps
from sizeup.text import one_line

PROTECTED_BYTES = 4 << 20
"""Signatures are at both ends of a device; this much of each end is searched and never written."""


class Signature(Struct, frozen=True):
    """A magic number that identifies the owner of a device."""

    owner: str
    magic: bytes
    offset: int
    """From the start, or from the end where negative."""


def _md_at_end(size_bytes: int) -> Iterator[Signature]:
    magic = 0xA92B4EFC.to_bytes(4, "little")
    # Version 1.0 is 8 to 12 KiB before the end, 0.90 in the last aligned 64 KiB.
    yield Signature("a Linux RAID member", magic, ((size_bytes // 512 - 16) & ~7) * 512 - size_bytes)
    yield Signature("a Linux RAID member", magic, (size_bytes & ~0xFFFF) - 0x10000 - size_bytes)


def signatures(size_bytes: int) -> Iterable[Signature]:
    """Yield every signature searched for on a device of this size."""
    yield Signature("a partition table", b"\x55\xaa", 510)
    for sector in (512, 4096):
        yield Signature("a GPT partition table", b"EFI PART", sector)
        yield Signature("a GPT partition table", b"EFI PART", -sector)
    yield Signature("ext2, ext3 or ext4", b"\x53\xef", 0x438)
    yield Signature("xfs", b"XFSB", 0)
    yield Signature("btrfs", b"_BHRfS_M", 0x10040)
    yield Signature("ReiserFS", b"ReIsEr", 0x10034)
    yield Signature("f2fs", b"\x10\x20\xf5\xf2", 1024)
    yield Signature("OCFS2", b"OCFSV2", 0x2000)
    yield Signature("GFS2", b"\x01\x16\x19\x70", 0x10000)
    for page in (4096, 16384, 65536):
        yield Signature("swap", b"SWAPSPACE2", page - 10)
        yield Signature("swap", b"SWAP-SPACE", page - 10)
    for sector in range(4):
        yield Signature("an LVM physical volume", b"LABELONE", sector * 512)
    for start in (0, 4096):
        yield Signature("a Linux RAID member", 0xA92B4EFC.to_bytes(4, "little"), start)
    yield from _md_at_end(size_bytes)
    yield Signature("LUKS", b"LUKS\xba\xbe", 0)
    yield Signature("an Oracle ASM disk", b"ORCLDISK", 32)
    yield Signature("an Oracle ASM disk", b"\x01\x82\x01\x01", 0)
    yield Signature("bcache", bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81"), 4096 + 24)
    yield Signature("Ceph BlueStore", b"bluestore block device\n", 0)
    yield Signature("ZFS", (0x00BAB10C).to_bytes(8, "little"), 128 << 10)
    yield Signature("ZFS", (0x00BAB10C).to_bytes(8, "little"), (128 << 10) + (4 << 10))
    yield Signature("a ZFS pool member", b"version\x00", (16 << 10) + 28)
    for version in (0x6B, 0x6C, 0x6D):  # 8, 8.4 that was not shut down, 9
        yield Signature("DRBD", bytes((0x83, 0x74, 0x02, version)), -4096 + 60)
    yield Signature("VMFS", b"\x0d\xd0\x01\xc0", 1 << 20)
    yield Signature("VMFS", b"\x5e\xf1\xab\x2f", 2 << 20)
    yield Signature("an Intel RAID member", b"Intel Raid ISM Cfg Sig. ", -1024)
    yield Signature("a DDF RAID member", b"\xde\x11\xde\x11", -512)
    yield Signature("VDO", b"dmvdo001", 0)
    yield Signature("bcachefs", bytes.fromhex("c68573f666ce90a9d96a60cf803df7ef"), 4096 + 24)
    yield Signature("JFS", b"JFS1", 32 << 10)
    yield Signature("exFAT", b"EXFAT   ", 3)
    yield Signature("NTFS", b"NTFS    ", 3)
    yield Signature("FAT", b"FAT", 54)
    yield Signature("FAT32", b"FAT32", 82)


def find_signature(first: bytes, last: bytes, size_bytes: int) -> str | None:
    """Return the owner of a signature at either end of a device; None without one."""
    for signature in signatures(size_bytes):
        start = signature.offset if signature.offset >= 0 else len(last) + signature.offset
        area = first if signature.offset >= 0 else last
        if start >= 0 and area[start : start + len(signature.magic)] == signature.magic:
            return signature.owner
    return None


def _swap_numbers(paths: Iterable[str]) -> set[str]:
    numbers = set()
    for path in paths:
        with contextlib.suppress(OSError):
            numbers.add(format_device_number(os.stat(path).st_rdev))
    return numbers


def refuse_if_used(device_number: int, *, sysfs: str = SYS, proc: str = PROC) -> None:
    """Raise RefusedError if the device or a partition of it is mounted, used as swap or held, or that is unknown."""
    mounts, swaps = read_mountinfo(proc), read_swaps(proc)
    disk = find_device_folder(device_number, sysfs)
    for known, unknown in (
        (mounts, "mounted: /proc/self/mountinfo cannot be read"),
        (swaps, "in use as swap: /proc/swaps cannot be read"),
        (disk, "held: its folder under /sys/dev/block cannot be read"),
    ):
        if known is None:
            raise RefusedError(f"this device is not written to, because it is unknown whether it is {unknown}")
    points = {mount.devno: mount.point for mount in mounts or ()}
    swap_numbers = _swap_numbers(swaps or ())
    for folder in (disk, *find_partitions(disk)) if disk is not None else ():
        name = os.path.basename(folder)
        number = format_device_number(device_number) if folder == disk else read_line(f"{folder}/dev")
        if number is None:
            raise RefusedError(f"{name} is not written to, because its device number cannot be read")
        if number in points:
            point = one_line(points[number])
            raise RefusedError(f"{name} is mounted on {point}: a device in use is never overwritten")
        if number in swap_numbers:
            raise RefusedError(f"{name} is used as swap: a device in use is never overwritten")
        holders = list_names(f"{folder}/holders")
        if holders:
            raise RefusedError(f"{name} is held by {', '.join(holders)}: a device in use is never overwritten")
        if read_line(f"{folder}/ro") == "1":
            raise RefusedError(f"{name} is read-only")


def refuse_if_formatted(descriptor: int, size_bytes: int) -> None:
    """Raise RefusedError if either end has a known signature; ``descriptor`` is read without O_DIRECT."""
    first = os.pread(descriptor, PROTECTED_BYTES, 0)
    last = os.pread(descriptor, PROTECTED_BYTES, max(0, size_bytes - PROTECTED_BYTES))
    owner = find_signature(first, last, size_bytes)
    if owner is not None:
        raise RefusedError(
            f"the device has the signature of {owner} and is not overwritten; if it is unused, remove the signature "
            "first (wipefs --all) and try again"
        )


def open_for_writing(path: str, allowed: str) -> int:
    """Return an exclusive O_DIRECT descriptor; raise RefusedError with the check that failed."""
    descriptor = files.open_existing(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        names = names_that_allow(status.st_rdev)
        if allowed not in names:
            raise RefusedError(
                f"{path} is a device and would be overwritten: to allow it, set allow_write_to={names[0]}"
                + (f" (found {allowed!r})" if allowed else "")
            )
        refuse_if_used(status.st_rdev)
        refuse_if_formatted(descriptor, os.lseek(descriptor, 0, os.SEEK_END))
        # By the descriptor that was checked, so that the name cannot be replaced in between.
        # O_EXCL: the kernel refuses while a file system, md, dm or swap uses the device or a partition.
        try:
            return open_again(descriptor, os.O_RDWR | os.O_EXCL | os.O_DIRECT | os.O_NONBLOCK)
        except OSError as error:
            raise RefusedError(f"{path}: exclusive open for writing failed: {error.strerror}") from error
    finally:
        os.close(descriptor)
