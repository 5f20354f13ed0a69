"""Size and free space of local mounts: asked where no server or process can keep the answer waiting."""

import os

import pytest

from sizeup.discovery.file_systems import with_free_space
from sizeup.model.machine import LocalMount
from sizeup.procfs.mounts import MountEntry


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
