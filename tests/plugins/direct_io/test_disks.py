"""The disks beneath a target, and what others moved on them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sizeup.procfs.block_stat import BlockStat
from sizeup_direct_io.disks import Disks, OtherIo, is_virtual, other_io, read_disks, write_cache

SECTOR = 512


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """Two disks; a partition on the first (8:1) and a map over both (253:0)."""
    for number, name, read in (("8:0", "sda", 100), ("8:16", "sdb", 50)):
        folder = tmp_path / "devices" / name
        (folder / "slaves").mkdir(parents=True)
        (folder / "stat").write_text(f"9 0 {read} 0 9 0 {read * 2} 0 0 0 0\n")
        (tmp_path / "dev/block").mkdir(parents=True, exist_ok=True)
        (tmp_path / "dev/block" / number).symlink_to(folder)
    part = tmp_path / "devices/sda/sda1"
    part.mkdir()
    (part / "partition").write_text("1\n")
    (tmp_path / "dev/block/8:1").symlink_to(part)
    slaves = tmp_path / "devices/dm-0/slaves"
    slaves.mkdir(parents=True)
    (slaves / "sda1").symlink_to(part)
    (slaves / "sdb").symlink_to(tmp_path / "devices/sdb")
    (tmp_path / "dev/block/253:0").symlink_to(tmp_path / "devices/dm-0")
    return tmp_path


def test_a_partition_shares_its_whole_disk_with_others(sysfs: Path) -> None:
    assert read_disks(os.makedev(8, 1), str(sysfs)) == Disks(
        ("sda",), BlockStat(100 * SECTOR, 200 * SECTOR), plain=True
    )


def test_a_map_lies_on_all_of_its_disks_and_may_write_for_itself(sysfs: Path) -> None:
    assert read_disks(os.makedev(253, 0), str(sysfs)) == Disks(
        ("sda", "sdb"), BlockStat(150 * SECTOR, 300 * SECTOR), plain=False
    )


def test_what_lies_on_no_disk_has_none(sysfs: Path) -> None:
    nothing = os.makedev(0, 50)

    assert read_disks(nothing, str(sysfs)) is None
    assert write_cache(nothing, str(sysfs)) is None
    assert not is_virtual(nothing, str(sysfs))


def test_a_partition_has_the_write_cache_of_its_disk_and_a_map_its_own(sysfs: Path) -> None:
    for name, cache in (("sda", "write back"), ("dm-0", "write through")):
        (sysfs / "devices" / name / "queue").mkdir()
        (sysfs / "devices" / name / "queue/write_cache").write_text(f"{cache}\n")

    assert write_cache(os.makedev(8, 1), str(sysfs)) == "write back"
    assert write_cache(os.makedev(253, 0), str(sysfs)) == "write through"


def test_a_map_over_a_disk_of_the_hypervisor_is_virtual_too(tmp_path: Path) -> None:
    disk, above = tmp_path / "devices/pci0000:00/virtio2/block/vda", tmp_path / "devices/virtual/block/dm-0"
    disk.mkdir(parents=True)
    (above / "slaves").mkdir(parents=True)
    (above / "slaves/vda").symlink_to(disk)
    (tmp_path / "dev/block").mkdir(parents=True)
    (tmp_path / "dev/block/253:0").symlink_to(above)

    assert is_virtual(os.makedev(253, 0), str(tmp_path))


@pytest.mark.parametrize(
    ("plain", "text"), [(True, "5 MB/s read and 1 MB/s written on sda"), (False, "5 MB/s read on sda")]
)
def test_what_others_moved_is_what_is_beyond_our_own(plain: bool, text: str) -> None:
    before = Disks(("sda",), BlockStat(0, 0), plain=plain)
    after = Disks(("sda",), BlockStat(110_000_000, 22_000_000), plain=plain)

    others = other_io(before, after, 2.0, own_read=100_000_000, own_written=20_000_000)

    assert str(others) == text
    assert others.own_bytes_per_second == 6e7
    assert others.significant


@pytest.mark.parametrize(
    ("read", "own", "significant"), [(9e5, 0, False), (2e6, 0, True), (2e6, 1e8, False), (6e6, 1e8, True)]
)
def test_others_count_from_a_twentieth_of_our_own_on(read: float, own: float, significant: bool) -> None:
    assert OtherIo("sda", read, 0.0, own).significant is significant
