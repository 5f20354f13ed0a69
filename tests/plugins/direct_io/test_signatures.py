"""The marks that owners leave on a device, at the places that their own documents name."""

from pathlib import Path

import pytest

from sizeup.errors import RefusedError
from sizeup_direct_io.target import refuse_if_formatted

SIZE = 1 << 30


@pytest.mark.parametrize(
    ("owner", "mark", "offset"),
    [
        ("ext2, ext3 or ext4", b"\x53\xef", 0x438),
        ("xfs", b"XFSB", 0),
        ("btrfs", b"_BHRfS_M", 0x10040),
        ("a Linux RAID member", b"\xfc\x4e\x2b\xa9", 0),
        ("a Linux RAID member", b"\xfc\x4e\x2b\xa9", 4096),
        ("a Linux RAID member", b"\xfc\x4e\x2b\xa9", SIZE - 8192),
        ("a Linux RAID member", b"\xfc\x4e\x2b\xa9", SIZE - 65536),
        ("an Oracle ASM disk", b"ORCLDISK", 32),
        ("LUKS", b"LUKS\xba\xbe", 0),
        ("a GPT partition table", b"EFI PART", SIZE - 512),
        ("a GPT partition table", b"EFI PART", 512),
        ("a GPT partition table", b"EFI PART", 4096),
        ("a GPT partition table", b"EFI PART", SIZE - 4096),
        ("a partition table", b"\x55\xaa", 510),
        ("ReiserFS", b"ReIsEr", (64 << 10) + 52),
        ("f2fs", b"\x10\x20\xf5\xf2", 1024),
        ("OCFS2", b"OCFSV2", 8192),
        ("GFS2", b"\x01\x16\x19\x70", 64 << 10),
        ("swap", b"SWAPSPACE2", 4096 - 10),
        ("swap", b"SWAPSPACE2", 16384 - 10),
        ("swap", b"SWAPSPACE2", 65536 - 10),
        ("swap", b"SWAP-SPACE", 4096 - 10),
        ("swap", b"SWAP-SPACE", 16384 - 10),
        ("swap", b"SWAP-SPACE", 65536 - 10),
        ("an LVM physical volume", b"LABELONE", 0),
        ("an LVM physical volume", b"LABELONE", 512),
        ("an LVM physical volume", b"LABELONE", 2 * 512),
        ("an LVM physical volume", b"LABELONE", 3 * 512),
        ("an Oracle ASM disk", b"\x01\x82\x01\x01", 0),
        ("bcache", bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81"), 4096 + 24),
        ("Ceph BlueStore", b"bluestore block device\n", 0),
        ("ZFS", b"\x0c\xb1\xba\x00\x00\x00\x00\x00", 128 << 10),
        ("ZFS", b"\x0c\xb1\xba\x00\x00\x00\x00\x00", 132 << 10),
        ("a ZFS pool member", b"version\x00", (16 << 10) + 28),
        ("DRBD", b"\x83\x74\x02\x6b", SIZE - 4036),
        ("DRBD", b"\x83\x74\x02\x6c", SIZE - 4036),
        ("DRBD", b"\x83\x74\x02\x6d", SIZE - 4036),
        ("VMFS", b"\x0d\xd0\x01\xc0", 1 << 20),
        ("VMFS", b"\x5e\xf1\xab\x2f", 2 << 20),
        ("an Intel RAID member", b"Intel Raid ISM Cfg Sig. ", SIZE - 1024),
        ("a DDF RAID member", b"\xde\x11\xde\x11", SIZE - 512),
        ("VDO", b"dmvdo001", 0),
        ("bcachefs", bytes.fromhex("c68573f666ce90a9d96a60cf803df7ef"), 4096 + 24),
        ("JFS", b"JFS1", 32 << 10),
        ("exFAT", b"EXFAT   ", 3),
        ("NTFS", b"NTFS    ", 3),
        ("FAT", b"FAT", 54),
        ("FAT32", b"FAT32", 82),
    ],
)
def test_a_mark_is_found_where_its_owner_leaves_it(tmp_path: Path, owner: str, mark: bytes, offset: int) -> None:
    path = tmp_path / "device"
    with path.open("wb") as device:
        device.truncate(SIZE)
        device.seek(offset)
        device.write(mark)

    with path.open("rb") as device, pytest.raises(RefusedError, match=f"the signature of {owner} "):
        refuse_if_formatted(device.fileno(), SIZE)


def test_an_empty_device_carries_nothing(tmp_path: Path) -> None:
    path = tmp_path / "device"
    with path.open("w+b") as device:
        device.truncate(SIZE)
        refuse_if_formatted(device.fileno(), SIZE)
