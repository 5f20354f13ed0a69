"""Pools, cluster file systems and replicas, and mounts whose device has gone; no mount point is touched."""

import os
from pathlib import Path

import pytest

from finding_checks import only
from sizeup.discovery.file_systems import with_free_space
from sizeup.model.machine import FileSystem, LocalMount, LostMount
from sizeup.procfs.mounts import MountEntry
from trees import discovered

UUID = "0a1b2c3d-0000-4000-8000-00000000000a"


def mounts(*lines: str) -> str:
    return "/proc/self/mountinfo = " + "\\n".join(lines) + "\n"


ZFS_TREE = (
    "/proc/spl/kstat/zfs/tank/state = ONLINE\n/proc/spl/kstat/zfs/old/state = DEGRADED\n"
    "/proc/spl/kstat/zfs/arcstats = 13 1 0x01\\nname type data\\nsize                            4    1073741824\\n"
    "c_max                           4    4294967296\n/sys/module/zfs/version = 2.2.2-1\n"
    + mounts("40 1 0:50 / /u01 rw shared:1 - zfs tank/u01 rw", "41 1 0:51 / /x rw - zfs tankard/x rw")
)
BTRFS = f"/sys/fs/btrfs/{UUID}"
BTRFS_TREE = (
    f"{BTRFS}/label = data\n{BTRFS}/nodesize = 16384\n{BTRFS}/devices/sdb/size = 1\n{BTRFS}/devices/sdc/size = 1\n"
    f"{BTRFS}/allocation/data/raid1/total_bytes = 1\n{BTRFS}/devinfo/1/missing = 0\n{BTRFS}/devinfo/2/missing = 1\n"
    "/sys/fs/btrfs/features/raid56 = 1\n" + mounts("40 1 0:50 / /u01 rw - btrfs /dev/sdc rw")
)
BCACHEFS = f"/sys/fs/bcachefs/{UUID}"
BCACHEFS_TREE = (
    f"{BCACHEFS}/dev-0/block -> ../../../block/sdb\n{BCACHEFS}/dev-0/state = [rw] ro failed spare\n"
    f"{BCACHEFS}/dev-1/block -> ../../../block/sdc\n{BCACHEFS}/dev-1/state = rw ro [failed] spare\n"
    + mounts("40 1 0:50 / /u01 rw - bcachefs /dev/sdb:/dev/sdc rw")
)
DRBD_TREE = (
    "/proc/drbd = version: 8.4.11 (api:1)\\n 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----\\n"
    " 1: cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown   r-----\n"
)
DRBD_8 = ("version 8.4.11",)
CASES: dict[str, tuple[str, tuple[FileSystem, ...]]] = {
    "zfs": (
        ZFS_TREE,
        tuple(
            FileSystem(
                "zfs", name, state, healthy, points, details=("version 2.2.2-1", "ARC 1 GiB of at most 4 GiB")
            )
            for name, state, healthy, points in (("old", "DEGRADED", False, ()), ("tank", "ONLINE", True, ("/u01",)))
        ),
    ),
    "btrfs": (
        BTRFS_TREE,
        (
            FileSystem(
                "btrfs", "data", "1 device missing", False, ("/u01",), ("sdb", "sdc"),
                ("data raid1", "nodes of 16 KiB"),
            ),
        ),
    ),
    "btrfs before devinfo": (
        f"{BTRFS}/label = data\n",
        (FileSystem("btrfs", "data"),),
    ),
    "bcachefs": (
        BCACHEFS_TREE,
        (FileSystem("bcachefs", UUID, "sdb rw, sdc failed", False, ("/u01",), ("sdb", "sdc")),),
    ),
    "lustre": (
        "/sys/fs/lustre/version = 2.15.3\n/sys/fs/lustre/health_check = healthy\n"
        + mounts("40 1 0:50 / /lus rw - lustre 192.0.2.1@tcp:/fs rw"),
        (FileSystem("lustre", "192.0.2.1@tcp:/fs", "healthy", True, ("/lus",), (), ("version 2.15.3",)),),
    ),
    "gpfs": (
        mounts("40 1 0:50 / /gpfs rw - gpfs gpfs0 rw", "41 1 0:50 / /gpfs/a rw - gpfs gpfs0 rw"),
        (FileSystem("gpfs", "gpfs0", mount_points=("/gpfs", "/gpfs/a")),),
    ),
    "drbd": (
        DRBD_TREE,
        (
            FileSystem("drbd", "drbd0", "Connected, Primary/Secondary, UpToDate/UpToDate", True, details=DRBD_8),
            FileSystem("drbd", "drbd1", "StandAlone, Primary/Unknown, UpToDate/DUnknown", False, details=DRBD_8),
        ),
    ),
    "drbd 9": (
        "/proc/drbd = version: 9.1.2 (api:2)\n/sys/block/drbd0/size = 8\n",
        (FileSystem("drbd", "drbd0", details=("version 9.1.2", "state needs root")),),
    ),
    "none": (mounts("40 1 8:1 / / rw - ext4 /dev/sda1 rw"), ()),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_pools_clusters_and_replicas_are_listed_with_their_state(tmp_path: Path, case: str) -> None:
    tree, expected = CASES[case]

    assert discovered(tmp_path, tree).file_systems == expected


@pytest.mark.parametrize("text", ["", "9" * 5000, "\\n\\n", "[", "cs:x"])
def test_states_that_are_none_raise_nothing(tmp_path: Path, text: str) -> None:
    machine = discovered(
        tmp_path, f"/proc/drbd = {text}\n{BCACHEFS}/dev-0/state = {text}\n{BTRFS}/devinfo/1/missing = {text}\n",
        f"/proc/spl/kstat/zfs/p/state = {text}\n/proc/spl/kstat/zfs/arcstats = size 4 {text}\n",
    )  # fmt: skip

    assert {system.kind: system.healthy for system in machine.file_systems if system.kind != "zfs"} == {
        "btrfs": None, "bcachefs": None,
    }  # fmt: skip


DISKS = "/sys/block/sda/dev = 8:0\n/sys/block/sda/size = 8\n/sys/dev/block/8:0 -> ../../block/sda\n"
LOST = mounts(
    "40 1 8:17 / /u01 rw - xfs /dev/sdb1 rw", "41 1 8:0 / / rw - ext4 /dev/sda rw", "42 1 0:9 / /p rw - proc proc rw"
)


def test_a_mount_without_its_device_is_found(tmp_path: Path) -> None:
    machine = discovered(tmp_path, DISKS, LOST)

    assert machine.lost_mounts == (LostMount("/u01", "/dev/sdb1", "8:17", "xfs"),)
    finding = only(machine, "mount.device-gone")
    assert finding.title == "/u01 is mounted, but its device /dev/sdb1 is gone"
    assert finding.subjects == ("mount:/u01",)


@pytest.mark.parametrize(
    "tree", [LOST, LOST + "/sys/dev/block/8:17 -> ../../block/sdb\n", LOST + "/sys/dev/block/x = 1\n"]
)
def test_a_device_is_not_called_gone_where_the_list_may_lack_it(tmp_path: Path, tree: str) -> None:
    kept = tree if "/sys/dev/block/x" not in tree else LOST.replace("8:17", "0:17") + "/sys/dev/block/x = 1\n"

    assert discovered(tmp_path, kept.replace("8:0 ", "0:8 ")).lost_mounts == ()


def test_local_mounts_have_their_options_and_what_is_no_disk_is_none(tmp_path: Path) -> None:
    table = mounts(
        "40 1 8:1 / /u01 rw,noatime shared:1 - xfs /dev/sda1 rw,inode64", "41 1 0:50 / /z rw - zfs tank/z rw",
        "42 1 0:9 / /proc rw - proc proc rw", "43 1 7:0 / /snap ro - squashfs /dev/loop0 ro",
        "44 1 0:42 / /nfs rw - nfs4 filer:/u02 rw",
    )  # fmt: skip

    assert discovered(tmp_path, table).local_mounts == (
        LocalMount("/u01", "/dev/sda1", "xfs", ("rw", "noatime", "inode64")),
        LocalMount("/z", "tank/z", "zfs", ("rw",)),
    )  # fmt: skip


def test_a_degraded_pool_is_critical(tmp_path: Path) -> None:
    finding = only(discovered(tmp_path, ZFS_TREE), "storage.degraded-pool")

    assert finding.title == "zfs old is not whole: DEGRADED"
    assert finding.severity.value == "critical"


def test_a_long_state_stands_in_the_evidence_and_not_in_the_title(tmp_path: Path) -> None:
    finding = only(discovered(tmp_path, DRBD_TREE), "storage.degraded-pool")

    assert finding.title == "drbd drbd1 is not whole"
    assert finding.evidence[0] == "state: StandAlone, Primary/Unknown, UpToDate/DUnknown"


def entry(point: str, kind: str = "xfs", source: str = "/dev/sda1") -> MountEntry:
    return MountEntry(source, point, kind, ("rw",), "8:1")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    points: list[str] = []

    def answer(point: str) -> os.statvfs_result:
        points.append(point)
        if point == "/denied":
            raise PermissionError
        return os.statvfs_result((4096, 4096, 1000, 300, 250, 0, 0, 0, 0, 255))

    monkeypatch.setattr(os, "statvfs", answer)
    return points


def found(*mounts: MountEntry, point: str = "/u01") -> LocalMount:
    return with_free_space([LocalMount(point, "/dev/sda1", "xfs")], mounts)[0]


def test_free_is_what_a_user_may_still_write(asked: list[str]) -> None:
    mount = found(entry("/"), entry("/u01"))

    assert (mount.size_bytes, mount.free_bytes, asked) == (4_096_000, 1_024_000, ["/u01"])


@pytest.mark.parametrize(
    "mounts",
    [
        (entry("/u01"), entry("/u01", "nfs4", "filer:/x")),
        (entry("/u01"), entry("/u01", "tmpfs", "tmpfs")),
        (entry("/n", "nfs4", "filer:/x"), entry("/n/u01")),
        (entry("/n", "fuse.sshfs", "host:"), entry("/n/u01")),
        (),
    ],
)
def test_what_may_wait_or_is_covered_is_not_asked(mounts: tuple[MountEntry, ...], asked: list[str]) -> None:
    point = "/n/u01" if mounts and mounts[0].point == "/n" else "/u01"

    assert (found(*mounts, point=point).free_bytes, asked) == (None, [])


def test_a_mount_that_refuses_is_unknown(asked: list[str]) -> None:
    assert found(entry("/denied"), point="/denied").free_bytes is None
    assert asked == ["/denied"]
