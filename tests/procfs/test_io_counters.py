"""Byte counters of a process, a block device and an NFS mount."""

import pytest

from sizeup.model.network import NfsOperation
from sizeup.procfs.block import BlockStat, parse_block_stat
from sizeup.procfs.mounts import NfsBytes, parse_mountstats, parse_nfs_bytes
from sizeup.procfs.process import ProcessIo, parse_process_io

MOUNTSTATS = """\
device rootfs mounted on / with fstype rootfs
device srv:/a mounted on /mnt/a with fstype nfs statvers=1.1
\tbytes:\t1 2 3 4 5 6 7 8
device srv:/b mounted on /mnt/my\\040b with fstype nfs4 statvers=1.1
\tage:\t9
\tbytes:\t10 20 30 40 50 60 70 80
"""


def test_a_process_is_charged_in_bytes() -> None:
    text = "rchar: 1\nread_bytes: 8192\nwrite_bytes: 512\ncancelled_write_bytes: 4096\n"

    assert parse_process_io(text) == ProcessIo(8192, 512)


def test_a_block_device_counts_sectors_of_512_bytes() -> None:
    assert parse_block_stat("10 0 16 0 5 0 8 0 0 0 0\n") == BlockStat(8192, 4096)


@pytest.mark.parametrize("text", ["", "read_bytes: 1\n", "1 2 3", "1 2 x 4 5 6 7", "1 2 3 4 5 6 x"])
def test_counters_that_are_missing_are_none_and_not_0(text: str) -> None:
    assert parse_process_io(text) is None
    assert parse_block_stat(text) is None


def test_nfs_bytes_are_those_of_the_one_mount() -> None:
    assert parse_nfs_bytes(MOUNTSTATS, "/mnt/a") == NfsBytes(3, 4, 5, 6)
    assert parse_nfs_bytes(MOUNTSTATS, "/mnt/my b") == NfsBytes(30, 40, 50, 60)
    assert parse_nfs_bytes(MOUNTSTATS, "/mnt") is None
    assert parse_nfs_bytes(MOUNTSTATS, "/") is None


def test_of_two_nfs_mounts_on_one_point_the_later_covers_the_earlier() -> None:
    assert parse_nfs_bytes(MOUNTSTATS.replace("/mnt/my\\040b", "/mnt/a"), "/mnt/a") == NfsBytes(30, 40, 50, 60)


def test_a_mount_has_the_bytes_that_crossed_the_network() -> None:
    first, second = parse_mountstats(MOUNTSTATS)

    assert (first.mount_point, first.read_bytes, first.written_bytes) == ("/mnt/a", 5, 6)
    assert (second.export, second.mount_point, second.age_seconds) == ("srv:/b", "/mnt/my b", 9)


def test_a_time_that_ran_below_zero_is_unknown_and_the_rest_of_its_operation_is_kept() -> None:
    text = (
        "device srv:/a mounted on /mnt/a with fstype nfs statvers=1.1\n\tper-op statistics\n"
        "\t      ACCESS: 2927395007 2927395010 0 526931094212 362996810236 18446743919241604546 1667369447 1953587717\n"
    )
    (found,) = parse_mountstats(text)

    assert found.retransmits == 3
    assert found.operations == (
        NfsOperation("ACCESS", 2927395007, 526931094212, 362996810236, None, 1667369447, 1953587717),
    )


@pytest.mark.parametrize("counts", ["", "1 2 3 4 5", "1 2 3 4 x 6"])
def test_nfs_counters_that_are_missing_are_unknown(counts: str) -> None:
    text = f"device srv:/a mounted on /mnt/a with fstype nfs statvers=1.1\n\tbytes:\t{counts}\n"

    assert parse_nfs_bytes(text, "/mnt/a") is None
    assert parse_mountstats(text)[0].read_bytes is None
