"""A device is written to only when nobody's mark is on it, nobody holds it and its name was typed."""

import os
from pathlib import Path

import pytest

from sizeup.errors import RefusedError
from sizeup.probing.devices import names_that_allow
from sizeup_direct_io.target import PROTECTED_BYTES, find_signature, refuse_if_used

SIZE = 64 << 20


def edges(magic: bytes, offset: int) -> tuple[bytes, bytes]:
    first, last = bytearray(PROTECTED_BYTES), bytearray(PROTECTED_BYTES)
    edge, start = (first, offset) if offset >= 0 else (last, PROTECTED_BYTES + offset)
    edge[start : start + len(magic)] = magic
    return bytes(first), bytes(last)


@pytest.mark.parametrize(
    ("magic", "offset", "owner"),
    [
        (b"\x53\xef", 0x438, "ext2, ext3 or ext4"),
        (b"XFSB", 0, "xfs"),
        (b"_BHRfS_M", 0x10040, "btrfs"),
        (b"LABELONE", 512, "an LVM physical volume"),
        (b"\xfc\x4e\x2b\xa9", 4096, "a Linux RAID member"),
        (b"\xfc\x4e\x2b\xa9", -8192, "a Linux RAID member"),
        (b"\xfc\x4e\x2b\xa9", -65536, "a Linux RAID member"),
        (b"ORCLDISK", 32, "an Oracle ASM disk"),
        (b"SWAPSPACE2", 4086, "swap"),
        (b"LUKS\xba\xbe", 0, "LUKS"),
        (b"EFI PART", -512, "a GPT partition table"),
        (b"\x55\xaa", 510, "a partition table"),
    ],
)
def test_known_marks_are_found_at_both_ends(magic: bytes, offset: int, owner: str) -> None:
    assert find_signature(*edges(magic, offset), SIZE) == owner


def test_an_empty_device_carries_nothing() -> None:
    assert find_signature(bytes(PROTECTED_BYTES), bytes(PROTECTED_BYTES), SIZE) is None


def fake_device(sysfs: Path, *, holders: tuple[str, ...] = (), partition: str = "") -> None:
    folder = sysfs / "devices" / "sdx"
    (folder / "holders").mkdir(parents=True)
    (folder / "dev").write_text("8:16\n")
    (folder / "ro").write_text("0\n")
    for holder in holders:
        (folder / "holders" / holder).touch()
    if partition:
        (folder / "sdx1" / "holders").mkdir(parents=True)
        (folder / "sdx1" / "partition").write_text("1\n")
        (folder / "sdx1" / "dev").write_text(partition)
    (sysfs / "dev" / "block").mkdir(parents=True)
    os.symlink(folder, sysfs / "dev" / "block" / "8:16")


def fake_proc(proc: Path, mountinfo: str) -> None:
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "mountinfo").write_text(mountinfo)
    (proc / "swaps").write_text("Filename Type Size Used Priority\n")


def test_a_free_device_is_not_refused(tmp_path: Path) -> None:
    fake_device(tmp_path / "sys")
    fake_proc(tmp_path / "proc", "29 1 254:0 / / rw - ext4 /dev/vda rw\n")

    refuse_if_used(os.makedev(8, 16), sysfs=str(tmp_path / "sys"), proc=str(tmp_path / "proc"))


def test_the_disk_under_a_mounted_partition_is_refused(tmp_path: Path) -> None:
    fake_device(tmp_path / "sys", partition="8:17\n")
    fake_proc(tmp_path / "proc", "40 1 8:17 / /data rw - ext4 /dev/sdx1 rw\n")

    with pytest.raises(RefusedError, match="sdx1 is mounted on /data"):
        refuse_if_used(os.makedev(8, 16), sysfs=str(tmp_path / "sys"), proc=str(tmp_path / "proc"))


def test_the_name_of_a_mount_point_cannot_break_the_line_of_a_refusal(tmp_path: Path) -> None:
    fake_device(tmp_path / "sys")
    fake_proc(tmp_path / "proc", "40 1 8:16 / /my\\040data\\012x rw - ext4 /dev/sdx rw\n")

    with pytest.raises(RefusedError, match="sdx is mounted on /my data") as refused:
        refuse_if_used(os.makedev(8, 16), sysfs=str(tmp_path / "sys"), proc=str(tmp_path / "proc"))
    assert "\n" not in str(refused.value)


def test_a_held_device_is_refused_by_its_holders_name(tmp_path: Path) -> None:
    fake_device(tmp_path / "sys", holders=("md0",))
    fake_proc(tmp_path / "proc", "29 1 254:0 / / rw - ext4 /dev/vda rw\n")

    with pytest.raises(RefusedError, match="sdx is held by md0"):
        refuse_if_used(os.makedev(8, 16), sysfs=str(tmp_path / "sys"), proc=str(tmp_path / "proc"))


@pytest.mark.parametrize(
    ("spoiled", "words"),
    [
        ("proc/self/mountinfo", "unknown whether it is mounted"),
        ("proc/swaps", "unknown whether it is in use as swap"),
        ("sys/dev/block/8:16", "unknown whether it is held"),
        ("sys/devices/sdx/sdx1/dev", "sdx1 is not written to, because its device number cannot be read"),
    ],
)
def test_a_device_of_which_the_kernel_does_not_tell_whether_it_is_free_is_refused(
    spoiled: str, words: str, tmp_path: Path
) -> None:
    fake_device(tmp_path / "sys", partition="8:17\n")
    fake_proc(tmp_path / "proc", "29 1 254:0 / / rw - ext4 /dev/vda rw\n")
    (tmp_path / spoiled).unlink()
    if spoiled == "proc/swaps":  # a kernel without swap has no such file
        (tmp_path / spoiled).mkdir()

    with pytest.raises(RefusedError, match=words):
        refuse_if_used(os.makedev(8, 16), sysfs=str(tmp_path / "sys"), proc=str(tmp_path / "proc"))


def test_a_device_without_names_is_allowed_by_its_number(tmp_path: Path) -> None:
    fake_device(tmp_path / "sys")

    assert names_that_allow(os.makedev(8, 16), by_id="/nowhere", sysfs=str(tmp_path / "sys")) == ("8:16",)


def test_a_serial_goes_before_the_number(tmp_path: Path) -> None:
    fake_device(tmp_path / "sys")
    (tmp_path / "sys" / "devices" / "sdx" / "serial").write_text("S3RIAL\n")

    assert names_that_allow(os.makedev(8, 16), by_id="/nowhere", sysfs=str(tmp_path / "sys")) == ("S3RIAL",)
