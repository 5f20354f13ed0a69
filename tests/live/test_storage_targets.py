"""Where storage can be measured: mounts with room first, and devices that nothing uses."""

import os
from pathlib import Path

import pytest

from sizeup.live.storage_targets import storage_targets
from sizeup.model.machine import Machine
from sizeup.model.storage import BlockDevice, BlockKind

TB = 10**12


def mounts(folder: Path, *lines: str) -> str:
    """A folder that looks like /proc, with these mounts."""
    (folder / "self").mkdir()
    (folder / "self/mountinfo").write_text("".join(f"{line}\n" for line in lines))
    return str(folder)


def escaped(path: Path) -> str:
    """Return a path as mountinfo spells it."""
    return str(path).replace(" ", "\\040")


def status(free: int, *, read_only: bool = False) -> os.statvfs_result:
    return os.statvfs_result((4096, 4096, TB // 4096, 0, free // 4096, 0, 0, 0, os.ST_RDONLY if read_only else 0, 255))


@pytest.fixture
def disks() -> Machine:
    """A mounted disk, a free one, one that is part of another, and a partition."""
    return Machine(
        block_devices=(
            BlockDevice("sda", BlockKind.SCSI, TB, devno="8:0", mount_points=("/u01",)),
            BlockDevice("sdb", BlockKind.SCSI, 2 * TB, devno="8:16", model="Fast 9"),
            BlockDevice("sdc", BlockKind.SCSI, TB, devno="8:32", holders=("dm-0",)),
            BlockDevice("dm-0", BlockKind.MULTIPATH, TB, devno="253:0", dm_name="mpatha"),
        )
    )


def test_mounts_come_with_type_and_space_and_devices_with_size(
    tmp_path: Path, disks: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    roomy, full, locked = (tmp_path / name for name in ("roomy", "full", "locked"))
    for folder in (roomy, full, locked):
        folder.mkdir()
    proc = mounts(
        tmp_path,
        "20 1 0:20 / /proc rw - proc proc rw",
        f"21 1 8:0 / {escaped(full)} rw - ext4 /dev/sda rw",
        f"22 1 8:0 /below {escaped(full)}/below rw - ext4 /dev/sda rw",
        f"23 1 9:1 / {escaped(roomy)} rw - xfs /dev/md1 rw",
        f"24 1 9:2 / {escaped(locked)} ro - ext4 /dev/md2 ro",
        f"25 1 0:50 / {escaped(tmp_path)}/nfs rw - nfs4 filer:/vol rw",
    )
    free = {str(roomy): 800 * 10**9, str(full): 50 * 10**9, str(locked): 900 * 10**9}
    asked: list[str] = []

    def statvfs(path: str) -> os.statvfs_result:
        asked.append(path)
        return status(free[path], read_only=path == str(locked))

    monkeypatch.setattr(os, "statvfs", statvfs)
    found = storage_targets(disks, proc=proc)

    assert [target.line for target in found] == [
        f"{roomy}  xfs on /dev/md1, 800 GB free of 1 TB",
        f"{tmp_path}/nfs  nfs4 on filer:/vol, not asked for its free space",
        f"{locked}  ext4 on /dev/md2, 900 GB free of 1 TB, read-only",
        f"{full}  ext4 on sda, 50 GB free of 1 TB",
        "/dev/sdb  scsi Fast 9, 2 TB, read only",
        "/dev/mapper/mpatha  multipath, 1 TB, read only",
    ]
    assert f"{tmp_path}/nfs" not in asked
    assert [target.writable for target in found] == [True, True, False, False, False, False]


def test_a_mount_that_cannot_be_asked_says_why(tmp_path: Path) -> None:
    proc = mounts(tmp_path, "21 1 8:0 / /not/there rw - ext4 /dev/sda rw")
    (target,) = storage_targets(None, proc=proc)

    assert target.line == "/not/there  ext4 on /dev/sda: No such file or directory"


def test_without_a_mount_table_there_are_the_devices(tmp_path: Path, disks: Machine) -> None:
    assert [target.path for target in storage_targets(disks, proc=str(tmp_path))] == ["/dev/sdb", "/dev/mapper/mpatha"]
