"""What lies beneath a block device, by one walk; the same walk as in discovery."""

import os
from pathlib import Path

import pytest

from sizeup.procfs.block import find_partitions, fold_stack, read_block_stack


def device(sysfs: Path, name: str, number: str, *slaves: str, partition: bool = False) -> None:
    """A folder as sysfs has it; ``name`` of a partition is ``disk/part``."""
    folder = sysfs / "devices" / name
    folder.mkdir(parents=True)
    if partition:
        (folder / "partition").write_text("1\n")
    else:
        (folder / "slaves").mkdir()
    for slave in slaves:
        (folder / "slaves" / Path(slave).name).symlink_to(sysfs / "devices" / slave)
    (sysfs / "dev/block").mkdir(parents=True, exist_ok=True)
    (sysfs / "dev/block" / number).symlink_to(folder)


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """Two disks; md0 over a partition of each; a partition on md0; dm-0 over that partition."""
    device(tmp_path, "sda", "8:0")
    device(tmp_path, "sda/sda1", "8:1", partition=True)
    device(tmp_path, "sdb", "8:16")
    device(tmp_path, "sdb/sdb1", "8:17", partition=True)
    device(tmp_path, "md0", "9:0", "sda/sda1", "sdb/sdb1")
    device(tmp_path, "md0/md0p1", "259:0", partition=True)
    device(tmp_path, "dm-0", "253:0", "md0/md0p1")
    return tmp_path


def names(sysfs: Path, major: int, minor: int) -> tuple[list[str], list[str], bool]:
    stack = read_block_stack(os.makedev(major, minor), str(sysfs))
    assert stack is not None
    return (
        [os.path.basename(folder) for folder in stack.folders],
        list(map(os.path.basename, stack.disks)),
        stack.stacked,
    )


def test_a_disk_lies_on_itself(sysfs: Path) -> None:
    assert names(sysfs, 8, 0) == (["sda"], ["sda"], False)


def test_a_partition_lies_on_its_disk_and_writes_nothing_of_its_own(sysfs: Path) -> None:
    assert names(sysfs, 8, 1) == (["sda1", "sda"], ["sda"], False)


def test_a_stack_is_walked_to_its_disks_each_device_once(sysfs: Path) -> None:
    walked = ["dm-0", "md0p1", "md0", "sda1", "sda", "sdb1", "sdb"]

    assert names(sysfs, 253, 0) == (walked, ["sda", "sdb"], True)


def test_a_partition_of_an_array_is_stacked_although_it_has_no_members_itself(sysfs: Path) -> None:
    assert names(sysfs, 259, 0)[1:] == (["sda", "sdb"], True)


def test_what_lies_on_no_block_device_has_no_stack(sysfs: Path) -> None:
    assert read_block_stack(os.makedev(0, 50), str(sysfs)) is None


def test_partitions_are_found_among_the_other_folders(sysfs: Path) -> None:
    assert find_partitions(str(sysfs / "devices/sda")) == (str(sysfs / "devices/sda/sda1"),)
    assert find_partitions(str(sysfs / "devices/nothing")) == ()


def test_a_stack_that_contradicts_itself_comes_to_an_end() -> None:
    below = {name: tuple("abcdefghij") for name in "abcdefghij"}
    visits: list[str] = []

    def visit(name: str, beneath: list[str]) -> str:
        visits.append(name)
        return max([name, *beneath])

    assert fold_stack("a", below.__getitem__, visit, {}) == "j"
    assert len(visits) < 1000
