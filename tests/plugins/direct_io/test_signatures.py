"""The marks that owners leave on a device, at the places that their own documents name."""

from __future__ import annotations

import pytest

from sizeup_direct_io.devices import PROTECTED_BYTES, find_signature

SIZE = 1 << 30


@pytest.mark.parametrize(
    ("owner", "mark", "offset"),
    [
        ("ReiserFS", b"ReIsEr", (64 << 10) + 52),
        ("f2fs", b"\x10\x20\xf5\xf2", 1024),
        ("OCFS2", b"OCFSV2", 8192),
        ("GFS2", b"\x01\x16\x19\x70", 64 << 10),
        ("swap", b"SWAPSPACE2", 4096 - 10),
        ("swap", b"SWAPSPACE2", 65536 - 10),
        ("swap", b"SWAP-SPACE", 4096 - 10),
        ("an LVM physical volume", b"LABELONE", 0),
        ("an LVM physical volume", b"LABELONE", 3 * 512),
        ("an Oracle ASM disk", b"\x01\x82\x01\x01", 0),
        ("bcache", bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81"), 4096 + 24),
        ("Ceph BlueStore", b"bluestore block device\n", 0),
        ("ZFS", b"\x0c\xb1\xba\x00\x00\x00\x00\x00", 128 << 10),
        ("NTFS", b"NTFS    ", 3),
        ("FAT", b"FAT", 54),
        ("FAT32", b"FAT32", 82),
    ],
)
def test_a_mark_is_found_where_its_owner_leaves_it(owner: str, mark: bytes, offset: int) -> None:
    start = bytearray(PROTECTED_BYTES)
    start[offset : offset + len(mark)] = mark

    assert find_signature(bytes(start), bytes(PROTECTED_BYTES), SIZE) == owner
