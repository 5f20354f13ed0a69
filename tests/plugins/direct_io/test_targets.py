"""Targets of every kind, through the whole program: measured with the right verdict, or refused with words.

pytest -m lab tests/plugins/direct_io/test_targets.py, as root
"""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plugins.direct_io import faulty
from plugins.direct_io.staging import MIB, FaultRun, Faulty, MakeMount, command, unmount, watched
from sizeup.model.sample import Status

pytestmark = [pytest.mark.lab, pytest.mark.skipif(os.geteuid() != 0, reason="loop devices need root")]
NOBODY = 12345
QUICK = {"preset": "oltp-read", "depth": 1, "seconds": 1}


def assert_refused(told: FaultRun, *words: str) -> None:
    assert (told.status, told.step.outcome.status) == (3, Status.REFUSED), told.words
    for word in words:
        assert word in told.words


@pytest.fixture
def mount(place: Path) -> Iterator[Callable[..., Path]]:
    """Mounts what needs no device of its own."""
    points: list[Path] = []

    def make(kind: str, options: str, source: str = "none") -> Path:
        point = place / f"{kind}{len(points)}"
        point.mkdir()
        command("mount", "-t", kind, "-o", options, source, str(point))
        points.append(point)
        return point

    yield make
    for point in reversed(points):
        unmount(point)


def test_a_file_system_in_user_space_is_measured_and_nothing_is_claimed_of_it(
    file_system: Faulty, tmp_path: Path
) -> None:
    told = watched(file_system.point, tmp_path / "session", **QUICK)

    print(told.said())
    assert told.status == 0
    assert told.verdicts["direct"] == "unknown"
    assert told.verdicts["physical"] in {"unknown", "warn"}
    assert "user space" in told.reasons()["direct"][1]


@pytest.mark.parametrize("engine", ["io_uring", "aio", "threads"])
def test_an_existing_file_is_read_by_each_engine(file_system: Faulty, tmp_path: Path, engine: str) -> None:
    file = file_system.point / "existing"
    with file.open("wb") as made:
        made.truncate(32 * MIB)

    told = watched(file, tmp_path / "session", **QUICK, engine=engine)

    assert (told.status, told.verdicts["direct"]) == (0, "unknown")


def test_an_overlay_is_as_direct_as_what_lies_below(place: Path, mount: Callable[..., Path]) -> None:
    for name in ("lower", "upper", "work"):
        (place / name).mkdir()
    point = mount("overlay", f"lowerdir={place}/lower,upperdir={place}/upper,workdir={place}/work")

    told = watched(point, place / "session", **QUICK)

    print(told.said())
    assert told.status == 0
    assert told.verdicts["direct"] == "pass"
    assert list((place / "upper").iterdir()) == []


@pytest.mark.parametrize("options", ["", "nodatasum", "compress-force=zstd"])
def test_btrfs_says_what_it_did(place: Path, mounted: MakeMount, options: str) -> None:
    told = watched(mounted("btrfs", options=options), place / "session", **QUICK)

    print(told.said())
    assert told.status == 0
    assert told.verdicts["direct"] in {"pass", "fail"}


def test_btrfs_with_a_group_limit_in_the_middle(place: Path, mounted: MakeMount) -> None:
    point = mounted("btrfs")
    command("btrfs", "quota", "enable", str(point))

    def set_limit() -> None:
        command("btrfs", "qgroup", "limit", "1M", str(point))

    told = watched(point, place / "session", fault=set_limit, preset="oltp-7030", seconds=8)

    assert told.status == 1
    assert f"{point}: " in told.words
    assert "EDQUOT (Disk quota exceeded): the quota is used up" in told.words


def test_a_file_system_in_memory_is_refused_or_fails_the_verdict(place: Path, mount: Callable[..., Path]) -> None:
    told = watched(mount("tmpfs", "size=200m"), place / "session", **QUICK)

    if told.status == 3:  # before Linux 6.6
        assert_refused(told, "does not support O_DIRECT")
    else:
        print(told.said())
        assert (told.status, told.verdicts["direct"]) == (0, "fail")


def test_a_file_system_without_direct_io_is_refused(file_system: Faulty, tmp_path: Path) -> None:
    file_system.ask(faulty.NO_DIRECT)

    assert_refused(watched(file_system.point, tmp_path / "session", **QUICK), "does not support O_DIRECT")
    assert list(file_system.point.iterdir()) == []


def test_a_file_system_that_tells_no_room_is_refused(place: Path, mount: Callable[..., Path]) -> None:
    assert_refused(watched(mount("ramfs", "rw"), place / "session", **QUICK), "to keep free")


def test_a_disk_of_large_sectors_takes_no_small_requests(place: Path) -> None:
    file = place / "disk-4k"
    file.write_bytes(bytes(200 * MIB))
    device = command("losetup", "--find", "--show", "--sector-size", "4096", "--direct-io=on", str(file))
    point = place / "large"
    point.mkdir()
    try:
        command("mkfs.ext4", "-q", device)
        command("mount", device, str(point))
        small = {**QUICK, "preset": "custom", "block": 512}

        assert_refused(watched(point, place / "session", **small), "a multiple of 4096 bytes")
        assert_refused(watched(device, place / "session2", **small), "a multiple of 4096 bytes")
        assert_refused(watched(point, place / "session3", **{**small, "block": 12345}), "a multiple of 4096 bytes")
        told = watched(point, place / "session4", **{**small, "block": 4096})
        assert (told.status, told.verdicts["direct"]) == (0, "pass")
    finally:
        unmount(point)
        command("losetup", "--detach", device)


def test_requests_of_odd_sizes_are_refused(place: Path) -> None:
    assert_refused(watched(place, place / "session", preset="custom", block=1000), "a multiple of 512 bytes")


def test_what_a_user_may_not_do_is_refused(place: Path) -> None:
    (place / "closed").mkdir(mode=0o700)
    (place / "shown").mkdir(mode=0o555)
    (place / "secret").write_bytes(bytes(32 * MIB))
    (place / "secret").chmod(0o600)
    for name in ("closed", "shown", "secret"):
        os.chown(place / name, NOBODY, NOBODY)
    plain_root = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner")

    for number, path in enumerate(("closed", "shown", "secret", "closed/inside")):
        told = watched(place / path, place / f"session{number}", under=plain_root, **QUICK)
        assert_refused(told, f"{place / path}: Permission denied")


def test_what_is_no_folder_file_or_device_is_refused(place: Path) -> None:
    os.mkfifo(place / "pipe")
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(place / "socket"))
    (place / "empty").touch()
    (place / "round").symlink_to(place / "round")

    for path, words in (
        ("pipe", "expected a directory, a file or a block device"),
        ("socket", "expected a directory, a file or a block device"),
        ("/dev/zero", "expected a directory, a file or a block device"),
        ("empty", "0 bytes are too few"),
        ("absent", "No such file or directory"),
        ("empty/below", "Not a directory"),
        ("round", "Too many levels of symbolic links"),
    ):
        assert_refused(watched(place / path, place / f"session-{path.replace('/', '-')}", **QUICK), words)


def test_a_folder_that_is_removed_meanwhile_is_let_go(place: Path) -> None:
    folder = place / "short-lived"
    folder.mkdir()

    told = watched(folder, place / "session", fault=folder.rmdir, **QUICK)

    assert told.status == 0
