"""Disks of an array, of a file system and of nobody on two NUMA nodes: in the lab's guest ``numa2`` only."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugins.direct_io.staging import assert_ended_well, command, unmount, watched
from sizeup.model.sample import Status

pytestmark = [pytest.mark.lab, pytest.mark.skipif(not os.path.ismount("/srv/mirror"), reason="needs the guest's array")]
SAMPLE_BYTES = 256 << 20
"""Of each end of a disk: its middle is a hole of the host's sparse file."""


def of_serial(serial: str) -> str:
    """The disk with this serial: where several paths lead to it, the one that stands for all of them."""
    for disk in sorted(Path("/sys/block").glob("nvme*n1")):
        if (disk / "device/serial").read_text().strip() == serial and Path("/dev", disk.name).exists():
            return disk.name
    raise AssertionError(serial)


def every_name(disk: str) -> list[str]:
    """All the names a disk goes by, with a link and a node of one's own."""
    number = os.stat(f"/dev/{disk}").st_rdev
    links = [str(link) for link in Path("/dev/disk").rglob("*") if os.path.realpath(link) == f"/dev/{disk}"]
    names = [f"/dev/{disk}", f"/dev/block/{os.major(number)}:{os.minor(number)}", *links]
    return [name for name in names if os.path.exists(name)]


def checksum(disk: str) -> str:
    """Of the first and the last part, read past the cache of the node."""
    digest = hashlib.sha256()
    with open(f"/dev/{disk}", "rb") as device:
        size = device.seek(0, os.SEEK_END)
        os.posix_fadvise(device.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        for start in (0, max(0, size - SAMPLE_BYTES)):
            device.seek(start)
            for _ in range(SAMPLE_BYTES >> 20):
                digest.update(device.read(1 << 20))
    return digest.hexdigest()


@pytest.fixture
def partitioned() -> Iterator[str]:
    """The disk that nobody uses, with a mounted partition for a while."""
    disk = of_serial("NVS")
    with open(f"/dev/{disk}", "r+b") as device:
        device.seek(446)  # one entry of an MBR: Linux, from sector 2048, 80 MiB
        device.write(bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + (2048).to_bytes(4, "little") + (163840).to_bytes(4, "little"))
        device.seek(510)
        device.write(b"\x55\xaa")
    command("blockdev", "--rereadpt", f"/dev/{disk}")
    command("udevadm", "settle")
    command("mkfs.ext4", "-q", f"/dev/{disk}p1")
    point = Path("/srv/partition")
    point.mkdir()
    command("mount", "-o", "ro", f"/dev/{disk}p1", str(point))
    command("udevadm", "settle")
    yield disk
    unmount(point)


@pytest.fixture
def still() -> Iterator[None]:
    """File systems at rest, so that no journal moves under the checksums."""
    for point in ("/srv/mirror", "/srv/scratch"):
        command("mount", "-o", "remount,ro", point)
    yield
    for point in ("/srv/mirror", "/srv/scratch"):
        command("mount", "-o", "remount,rw", point)


def test_no_name_of_a_disk_in_use_lets_it_be_written_to(still: None, partitioned: str, tmp_path: Path) -> None:
    del still
    # Not where: some emulated kernels cannot read the names of their own mount points, and print xxx.
    in_use = {
        partitioned: f"{partitioned}p1 is mounted on ",
        of_serial("NV0"): "held by md",
        of_serial("NV1"): "held by md",
        of_serial("NV2"): "is mounted on ",
        Path(os.path.realpath("/dev/md0")).name: "is mounted on ",
    }
    before = {disk: checksum(disk) for disk in in_use}
    tries = 0
    for disk, words in in_use.items():
        names = every_name(disk)
        own_node, own_link = tmp_path / f"node-{disk}", tmp_path / f"link-{disk}"
        os.mknod(own_node, 0o600 | 0o060000, os.stat(f"/dev/{disk}").st_rdev)
        own_link.symlink_to(f"/dev/{disk}")
        number = os.stat(f"/dev/{disk}").st_rdev
        by_id = [Path(name).name for name in names if "/by-id/" in name]
        allowed = by_id[0] if by_id else f"{os.major(number)}:{os.minor(number)}"
        for name in (*names, str(own_node), str(own_link)):
            for given in ("", allowed):
                asked = {"allow_write_to": given} if given else {}
                told = watched(name, tmp_path / f"session{tries}", preset="fsync", **asked)
                tries += 1
                assert (told.status, told.step.outcome.status) == (3, Status.REFUSED)
                assert (words if given else "set allow_write_to=") in told.words
    print(f"{tries} tries on {len(in_use)} disks")
    assert {disk: checksum(disk) for disk in in_use} == before


def test_an_array_and_a_disk_on_each_node_are_measured_alone_and_together(tmp_path: Path) -> None:
    told = watched(
        "/srv/mirror", tmp_path / "session", more_paths="/srv/scratch", preset="oltp-read", size="64M", depth=4,
        seconds=4, check_concurrency="true",
    )  # fmt: skip

    print(told.said())
    for point in told.step.points.values():
        if point.series in {"iops", "rate", "scaling", "latency-p50"} and point.estimate is not None:
            print(point.series, dict(point.at), f"{point.estimate.value:.3g}")
    assert told.status == 0
    assert (told.verdicts["direct"], told.verdicts["physical"]) == ("pass", "warn")  # the disks are emulated
    assert any(point.series == "scaling" for point in told.step.points.values())


def test_a_controller_that_is_taken_away(tmp_path: Path) -> None:
    disk = of_serial("NV2")
    slot = Path(os.path.realpath(f"/sys/block/{disk}/device/device"))

    told = watched("/srv/scratch", tmp_path / "session", fault=lambda: (slot / "remove").write_text("1"), seconds=10)

    assert_ended_well(told, "/srv/scratch")
