"""What is known of a device that somebody is asked to name."""

import os
from pathlib import Path

from sizeup.probing.devices import Device, describe, find_mount, read_device
from sizeup.procfs.mounts import MountEntry


def test_a_device_is_told_by_name_size_and_where_it_and_its_partitions_are_mounted(tmp_path: Path) -> None:
    folder = tmp_path / "sys/dev/block/8:16"
    (folder / "sdb1").mkdir(parents=True)
    (folder / "size").write_text("2000\n")
    (folder / "sdb1/partition").write_text("1\n")
    (folder / "sdb1/dev").write_text("8:17\n")
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(
        "40 1 8:17 / /data rw - ext4 /dev/sdb1 rw\n41 1 8:32 / /other rw - xfs x rw\n"
    )

    found = describe(
        "/dev/sdb", os.makedev(8, 16), by_id="/nowhere", sysfs=str(tmp_path / "sys"), proc=str(tmp_path / "proc")
    )

    assert found == Device("/dev/sdb", ("8:16",), 1_024_000, ("/data",))


def test_a_file_and_nothing_at_all_are_no_devices(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert read_device(str(tmp_path / "file")) is None
    assert read_device(str(tmp_path / "nothing")) is None
    assert read_device("\0") is None


def test_a_mount_is_found_by_the_spelling_of_a_path_alone(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self/mountinfo").write_text(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 8:2 / /data rw shared:1 - xfs /dev/sda2 rw\n"
        "3 1 0:9 / /data/my\\040files rw - nfs4 server:/x rw\n"
    )

    def find(path: str) -> MountEntry | None:
        return find_mount(path, proc=str(tmp_path))

    for path, point, kind, source in (
        ("/data/file", "/data", "xfs", "/dev/sda2"),
        ("/database", "/", "ext4", "/dev/sda1"),
    ):
        mount = find(path)
        assert (mount.point, mount.kind, mount.source) == (point, kind, source)
    server = find("/data/my files/x")
    assert (server.kind, server.local) == ("nfs4", False)


def test_of_two_mounts_on_one_point_the_later_covers_the_earlier(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self/mountinfo").write_text(
        "1 0 8:2 / /data rw - xfs /dev/sda2 rw\n2 1 8:3 / /data rw - ext4 /dev/sda3 rw\n"
    )

    mount = find_mount("/data/file", proc=str(tmp_path))

    assert mount.source == "/dev/sda3"
