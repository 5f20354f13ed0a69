"""Faults in the middle of a run of the whole program: it ends with words, keeps what it has, and leaves nothing.

pytest -m lab tests/plugins/direct_io/test_faults.py, as root
"""

import errno
import os
from pathlib import Path

import pytest

from plugins.direct_io import faulty
from plugins.direct_io.staging import Faulty, MakeMount, assert_ended_well, command, watched

pytestmark = [pytest.mark.lab, pytest.mark.skipif(os.geteuid() != 0, reason="loop devices need root")]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EIO, "the device or the server reports errors"),
        (errno.ENOSPC, "the file system is full"),
        (errno.EDQUOT, "the quota is used up"),
        (errno.ESTALE, "removed or re-exported"),
        (errno.ENODEV, "the device is gone"),
        (errno.EROFS, "read-only"),
        (errno.ENOTCONN, "the connection to the server is lost"),
        (errno.EACCES, "has no access any more"),
    ],
)
@pytest.mark.parametrize("engine", ["io_uring", "aio", "threads"])
def test_requests_that_fail_from_now_on(
    file_system: Faulty, tmp_path: Path, number: int, words: str, engine: str
) -> None:
    told = watched(
        file_system.point, tmp_path / "session", fault=lambda: file_system.ask(number), engine=engine, seconds=5
    )

    assert_ended_well(told, str(file_system.point), errno.errorcode[number], words)
    assert told.seconds < 3
    assert list(file_system.point.iterdir()) == []


def test_a_server_that_hangs_ends_the_step_soon_after_the_limit(file_system: Faulty, tmp_path: Path) -> None:
    told = watched(
        file_system.point, tmp_path / "session", fault=lambda: file_system.ask(faulty.HANG), stall=2, seconds=9
    )

    assert_ended_well(told, "stalled", str(file_system.point))
    assert 2 < told.seconds < 3.5


def test_requests_that_fail_slowly_end_the_step_at_the_limit_too(file_system: Faulty, tmp_path: Path) -> None:
    told = watched(
        file_system.point, tmp_path / "session", fault=lambda: file_system.ask(faulty.SLOW + errno.EIO), seconds=30
    )

    assert_ended_well(told, str(file_system.point), "no request succeeded for 2", "the first of all with EIO")
    assert told.seconds < 4


def test_a_server_that_dies(file_system: Faulty, tmp_path: Path) -> None:
    told = watched(file_system.point, tmp_path / "session", fault=lambda: file_system.server.kill())

    assert_ended_well(told, str(file_system.point))
    assert told.seconds < 3


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_file_system_that_shuts_down(place: Path, mounted: MakeMount, kind: str) -> None:
    point = mounted(kind, size_mib=400)

    told = watched(
        point, place / "session", fault=lambda: command("xfs_io", "-x", "-c", "shutdown", str(point)), seconds=5
    )

    assert_ended_well(told, str(point), "EIO")


def test_a_file_system_that_an_error_makes_read_only(place: Path, mounted: MakeMount) -> None:
    point = mounted("ext4", size_mib=200, options="errors=remount-ro")
    device = command("findmnt", "--noheadings", "--output", "SOURCE", str(point))
    trigger = Path("/sys/fs/ext4", Path(device).name, "trigger_fs_error")

    told = watched(point, place / "session", fault=lambda: trigger.write_text("staged"), seconds=5)

    assert_ended_well(told, str(point), "EROFS", "read-only")


def test_a_frozen_file_system_is_left_within_a_second_of_the_limit(place: Path, mounted: MakeMount) -> None:
    point = mounted("ext4", size_mib=200)
    try:
        told = watched(
            point, place / "session", fault=lambda: command("fsfreeze", "--freeze", str(point)), stall=3, seconds=10
        )
    finally:
        command("fsfreeze", "--unfreeze", str(point))

    assert told.status == 1
    assert f"{point}: stalled: no request completed" in told.words
    assert "its process hangs in the kernel and was left behind" in told.words
    # A sample's time to see it, half a second for the process, and the end of the program.
    assert 3 < told.seconds < 4.5
    assert told.left == []
