"""Whether a block device may be written to: named in full, held by nobody, and carrying nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from msgspec import Struct

from sizeup import files
from sizeup.errors import RefusedError
from sizeup.probing.devices import names_that_allow
from sizeup.procfs.kernel_file import read_text
from sizeup.procfs.mounts import parse_mountinfo
from sizeup.text import one_line

EDGE_BYTES = 1 << 20
"""Labels live at both ends; this much of each is searched, and never written to."""


class Signature(Struct, frozen=True):
    """A mark that says to whom a device belongs."""

    owner: str
    mark: bytes
    offset: int
    """From the start, or from the end where negative."""


def _md_at_end(size_bytes: int) -> Iterator[Signature]:
    mark = 0xA92B4EFC.to_bytes(4, "little")
    # Version 1.0 lies 8 to 12 KiB before the end, 0.90 in the last aligned 64 KiB.
    yield Signature("a Linux RAID member", mark, ((size_bytes // 512 - 16) & ~7) * 512 - size_bytes)
    yield Signature("a Linux RAID member", mark, (size_bytes & ~0xFFFF) - 0x10000 - size_bytes)


def signatures(size_bytes: int) -> Iterable[Signature]:
    """Every mark looked for on a device of this size."""
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
    yield Signature("DRBD", b"\x83\x74\x02\x6b", 4092 - EDGE_BYTES)
    yield Signature("VMFS", b"\x0d\xd0\x01\xc0", EDGE_BYTES - 4)
    yield Signature("NTFS", b"NTFS    ", 3)
    yield Signature("FAT", b"FAT", 54)
    yield Signature("FAT32", b"FAT32", 82)


def find_signature(first: bytes, last: bytes, size_bytes: int) -> str | None:
    """Whose mark is in the first or the last megabyte of a device; None where no known one is."""
    for signature in signatures(size_bytes):
        start = signature.offset if signature.offset >= 0 else len(last) + signature.offset
        edge = first if signature.offset >= 0 else last
        if start >= 0 and edge[start : start + len(signature.mark)] == signature.mark:
            return signature.owner
    return None


def _family(device_number: int, sysfs: str) -> list[tuple[str, str]]:
    """``major:minor`` and sysfs folder of a device and all of its partitions."""
    number = f"{os.major(device_number)}:{os.minor(device_number)}"
    folder = os.path.realpath(f"{sysfs}/dev/block/{number}")
    family = [(number, folder)]
    for name in sorted(os.listdir(folder)):
        if os.path.exists(os.path.join(folder, name, "partition")):
            partition = os.path.join(folder, name)
            family.append(((read_text(os.path.join(partition, "dev")) or "").strip(), partition))
    return family


def _swap_numbers(text: str) -> set[str]:
    numbers = set()
    for line in text.splitlines()[1:]:
        try:
            status = os.stat(line.split()[0])
        except (OSError, IndexError):
            continue
        numbers.add(f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}")
    return numbers


def refuse_if_used(device_number: int, *, sysfs: str = "/sys", proc: str = "/proc") -> None:
    """Raise RefusedError while the device, or a partition of it, is mounted, swapped to or held."""
    mounts = {mount.devno: mount.point for mount in parse_mountinfo(read_text(f"{proc}/self/mountinfo") or "")}
    swaps = _swap_numbers(read_text(f"{proc}/swaps") or "")
    for number, folder in _family(device_number, sysfs):
        name = os.path.basename(folder)
        if number in mounts:
            point = one_line(mounts[number])
            raise RefusedError(f"{name} is mounted on {point}: it is not written to, whatever is allowed")
        if number in swaps:
            raise RefusedError(f"{name} is in use as swap: it is not written to, whatever is allowed")
        try:
            holders = sorted(os.listdir(os.path.join(folder, "holders")))
        except OSError:
            holders = []
        if holders:
            raise RefusedError(f"{name} is held by {', '.join(holders)}: it is not written to, whatever is allowed")
        if (read_text(os.path.join(folder, "ro")) or "").strip() == "1":
            raise RefusedError(f"{name} is read-only")


def refuse_if_signed(descriptor: int, size_bytes: int) -> None:
    """Raise RefusedError where a known signature lies at either end; ``descriptor`` is read without O_DIRECT."""
    first = os.pread(descriptor, EDGE_BYTES, 0)
    last = os.pread(descriptor, EDGE_BYTES, max(0, size_bytes - EDGE_BYTES))
    owner = find_signature(first, last, size_bytes)
    if owner is not None:
        raise RefusedError(
            f"this device carries the signature of {owner}: it is not written to; "
            "where it is truly free, clear it first (wipefs --all) and try again"
        )


def open_for_writing(path: str, allowed: str) -> int:
    """A descriptor that nobody else holds, O_DIRECT; raise RefusedError with the check that failed."""
    descriptor = files.open_existing(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        names = names_that_allow(status.st_rdev)
        if allowed not in names:
            raise RefusedError(
                f"{path} is a device and would be overwritten: to allow it, give allow_write_to={names[0]} in full"
                + (f" (found {allowed!r})" if allowed else "")
            )
        refuse_if_used(status.st_rdev)
        refuse_if_signed(descriptor, os.lseek(descriptor, 0, os.SEEK_END))
        # By the descriptor that was checked, so that no name can be put in another's place meanwhile.
        # O_EXCL: the kernel itself refuses while a file system, md, dm or swap has the device or a partition.
        try:
            return os.open(
                f"/proc/self/fd/{descriptor}", os.O_RDWR | os.O_EXCL | os.O_DIRECT | os.O_NONBLOCK | os.O_CLOEXEC
            )
        except OSError as error:
            raise RefusedError(f"{path} cannot be had for writing alone: {error.strerror}") from error
    finally:
        os.close(descriptor)
