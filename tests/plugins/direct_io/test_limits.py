"""Limits of control groups are found on the device, on its disk and on what lies below it."""

import os
from pathlib import Path

import pytest

from sizeup_direct_io.point_verdict import read_limits

PARTITION, MAPPED, DISK = os.makedev(8, 1), os.makedev(253, 0), os.makedev(8, 0)


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """Sda with sda1, and dm-0 over sda1."""
    disk = tmp_path / "devices/sda"
    for folder, number in ((disk, "8:0"), (disk / "sda1", "8:1"), (tmp_path / "devices/dm-0", "253:0")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "dev").write_text(f"{number}\n")
        (tmp_path / "dev/block").mkdir(parents=True, exist_ok=True)
        (tmp_path / "dev/block" / number).symlink_to(folder)
    (disk / "sda1/partition").write_text("1\n")
    (tmp_path / "devices/dm-0/slaves").mkdir()
    (tmp_path / "devices/dm-0/slaves/sda1").symlink_to(disk / "sda1")
    (tmp_path / "self").mkdir()
    (tmp_path / "self/cgroup").write_text("0::/user.slice/job\n")
    (tmp_path / "fs/cgroup/user.slice/job").mkdir(parents=True)
    return tmp_path


def limits(system: Path, device: int) -> tuple[str, ...]:
    return read_limits(device, sysfs=str(system), proc=str(system))


@pytest.mark.parametrize("device", [DISK, PARTITION, MAPPED])
def test_a_limit_on_a_disk_holds_for_all_that_lies_on_it(system: Path, device: int) -> None:
    (system / "fs/cgroup/user.slice/io.max").write_text("8:0 rbps=max wbps=max riops=500 wiops=max\n")

    assert limits(system, device) == ("io.max of the control group /user.slice: riops=500",)


def test_limits_of_other_devices_and_other_groups_are_not_ours(system: Path) -> None:
    (system / "fs/cgroup/user.slice/job/io.max").write_text("8:16 riops=500\n8:0 rbps=max wbps=max\n")
    (system / "fs/cgroup/another").mkdir()
    (system / "fs/cgroup/another/io.max").write_text("8:0 riops=500\n")

    assert limits(system, DISK) == ()


def test_the_first_version_has_a_file_for_each_kind(system: Path) -> None:
    (system / "self/cgroup").write_text("7:blkio:/job\n4:memory:/job\n0::/\n")
    (system / "fs/cgroup/blkio/job").mkdir(parents=True)
    (system / "fs/cgroup/blkio/job/blkio.throttle.read_iops_device").write_text("8:0 500\n")

    assert limits(system, PARTITION) == ("blkio.throttle.read_iops_device of the control group /job: 500",)


def test_a_system_without_groups_has_no_limits(tmp_path: Path) -> None:
    assert limits(tmp_path, DISK) == ()
