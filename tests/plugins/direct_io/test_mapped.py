"""Devices that are delayed, throttled, suspended, broken, full, taken away or held, through the device mapper.

pytest -m lab tests/plugins/direct_io/test_mapped.py, as root, on a kernel that has it
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from plugins.direct_io.small_runs import run, step
from plugins.direct_io.staging import MIB, MakeMount, assert_ended_well, command, unmount, untouched, watched
from sizeup.errors import RefusedError

pytestmark = pytest.mark.lab
SIZE_MIB = 300
SECTORS = SIZE_MIB * 2048


class Mapped:
    """One mapped device over a loop device, whose table can be changed under load."""

    def __init__(self, below: str) -> None:
        self.below = below
        self.name = f"staged-{os.getpid()}-{Path(below).name}"
        command("dmsetup", "create", self.name, "--table", self.linear)
        self.path = f"/dev/mapper/{self.name}"

    @property
    def linear(self) -> str:
        return f"0 {SECTORS} linear {self.below} 0"

    def change(self, table: str) -> None:
        """Put another table in place at once, without waiting for what is under way."""
        command("dmsetup", "load", self.name, "--table", table)
        self.suspend()
        command("dmsetup", "resume", self.name)

    def suspend(self) -> None:
        command("dmsetup", "suspend", "--nolockfs", "--noflush", self.name)


@pytest.fixture(autouse=True, scope="module")
def device_mapper() -> None:
    if os.geteuid() or not shutil.which("dmsetup") or subprocess.run(["dmsetup", "version"], check=False).returncode:
        pytest.skip("needs root, dmsetup and a kernel with the device mapper")


@pytest.fixture
def mapped(loop: Callable[[int], str]) -> Iterator[Mapped]:
    made = Mapped(loop(SIZE_MIB))
    yield made
    command("dmsetup", "resume", made.name)
    for _ in range(50):
        if subprocess.run(["dmsetup", "remove", made.name], check=False, capture_output=True).returncode == 0:
            return
        time.sleep(0.2)
    command("dmsetup", "remove", made.name)


@pytest.fixture
def group(mapped: Mapped) -> Iterator[Path]:
    """A control group of version 2 that can limit requests to the mapped device."""
    root = Path("/sys/fs/cgroup")
    if "io" not in (root / "cgroup.controllers").read_text().split():
        pytest.skip("no io controller of version 2")
    (root / "cgroup.subtree_control").write_text("+io")
    made = root / "sizeup-staged"
    made.mkdir()
    yield made
    time.sleep(0.5)
    made.rmdir()


def limit(group: Path, device: str, requests: int) -> None:
    number = os.stat(device).st_rdev
    (group / "io.max").write_text(f"{os.major(number)}:{os.minor(number)} riops={requests} wiops={requests}")


READING = {"preset": "oltp-read", "depth": 1, "seconds": 4, "path_limit": 1e12}


def test_a_healthy_device_passes(place: Path, mapped: Mapped, mounted: MakeMount) -> None:
    told = watched(mounted("ext4", device=mapped.path), place / "session", **READING)

    print(told.said())  # steady it is not in an emulated guest, where the processors are what takes time
    assert told.status == 0
    assert (told.verdicts["direct"], told.verdicts["physical"]) == ("pass", "pass")


def test_a_device_that_is_slow_all_the_time_is_told_as_it_is(place: Path, mapped: Mapped, mounted: MakeMount) -> None:
    point = mounted("ext4", device=mapped.path)
    mapped.change(f"0 {SECTORS} delay {mapped.below} 0 50")

    told = watched(point, place / "session", **READING)

    print(told.said())
    assert (told.verdicts["direct"], told.verdicts["physical"]) == ("pass", "pass")
    assert told.verdicts["steady"] != "fail"
    (median,) = [point.estimate for point in told.step.points.values() if point.series == "latency-p50"]
    assert 50e6 <= median.value < 75e6, "a delay of 50 ms, far above what the emulation of the guest costs"


def test_a_device_that_slows_down_meanwhile_is_not_steady(place: Path, mapped: Mapped, mounted: MakeMount) -> None:
    point = mounted("ext4", device=mapped.path)

    def delay() -> None:
        mapped.change(f"0 {SECTORS} delay {mapped.below} 0 20")

    told = watched(point, place / "session", fault=delay, **READING)

    print(told.said())
    assert told.verdicts["steady"] == "fail"


def test_a_device_that_is_throttled_meanwhile_is_not_steady(
    place: Path, mapped: Mapped, mounted: MakeMount, group: Path
) -> None:
    point = mounted("ext4", device=mapped.path)

    told = watched(
        point, place / "session", fault=lambda: limit(group, mapped.path, 50), group=group, **READING
    )  # fmt: skip

    print(told.said())
    assert told.verdicts["steady"] == "fail"


def test_a_limit_of_the_control_group_is_named(place: Path, mapped: Mapped, mounted: MakeMount, group: Path) -> None:
    point = mounted("ext4", device=mapped.path)
    limit(group, mapped.path, 50)

    told = watched(point, place / "session", group=group, **READING)

    print(told.said())
    verdict, why = told.reasons()["steady"]
    assert verdict in {"warn", "fail"}
    assert "riops=50" in why


def test_a_suspended_device_is_seen_within_a_second_of_the_limit(
    place: Path, mapped: Mapped, mounted: MakeMount
) -> None:
    point = mounted("ext4", device=mapped.path)
    try:
        told = watched(point, place / "session", fault=mapped.suspend, stall=3, seconds=10)
    finally:
        command("dmsetup", "resume", mapped.name)

    assert_ended_well(told, str(point), "stalled")


@pytest.mark.parametrize("engine", ["io_uring", "aio", "threads"])
def test_a_device_that_fails_everything_from_now_on(
    place: Path, mapped: Mapped, mounted: MakeMount, engine: str
) -> None:
    point = mounted("ext4", device=mapped.path)

    told = watched(
        point, place / "session", fault=lambda: mapped.change(f"0 {SECTORS} error"), engine=engine, seconds=5
    )

    assert_ended_well(told, str(point), "EIO", "the kernel log")


def test_a_bad_spot_is_counted_and_held_against_the_figure(place: Path, mapped: Mapped) -> None:
    bad = SECTORS // 2
    mapped.change(
        f"0 {bad} linear {mapped.below} 0\n{bad} 6144 error\n"
        f"{bad + 6144} {SECTORS - bad - 6144} linear {mapped.below} {bad + 6144}"
    )

    told = watched(mapped.path, place / "session", **READING, size=SIZE_MIB * MIB)

    print(told.said())
    verdict, why = told.reasons()["steady"]
    assert told.status == 0
    assert verdict in {"warn", "fail"}
    assert "failed; they are excluded from all figures" in why


def test_a_pool_that_runs_full(place: Path, loop: Callable[[int], str], mounted: MakeMount) -> None:
    pool, thin = f"staged-pool-{os.getpid()}", f"staged-thin-{os.getpid()}"
    data, meta = loop(48), loop(16)
    command("dmsetup", "create", pool, "--table", f"0 {48 * 2048} thin-pool {meta} {data} 128 0 1 error_if_no_space")
    command("dmsetup", "message", f"/dev/mapper/{pool}", "0", "create_thin 0")
    command("dmsetup", "create", thin, "--table", f"0 {SECTORS} thin /dev/mapper/{pool} 0")
    point = mounted("ext4", device=f"/dev/mapper/{thin}")
    try:
        told = watched(point, place / "session", size="128M")

        assert told.status == 1
        assert str(point) in told.words
        assert "ENOSPC" in told.words or "EIO" in told.words
        assert told.left == []
    finally:
        unmount(point)
        for name in (thin, pool):
            command("dmsetup", "remove", "--retry", name)


@pytest.mark.parametrize("what", ["file system", "device"])
def test_a_disk_that_is_taken_away(place: Path, mounted: MakeMount, what: str) -> None:
    command("modprobe", "scsi_debug", "dev_size_mb=200")
    disks: list[str] = []
    for _ in range(50):
        disks = [
            Path(path).name
            for path in Path("/sys/bus/pseudo/drivers/scsi_debug").glob("adapter*/host*/target*/*:*/block/*")
        ]
        if disks:
            break
        time.sleep(0.1)
    (disk,) = disks
    target = mounted("ext4", device=f"/dev/{disk}") if what == "file system" else Path("/dev", disk)
    settings = {} if what == "file system" else READING
    try:
        told = watched(
            target,
            place / "session",
            fault=lambda: Path("/sys/block", disk, "device/delete").write_text("1"),
            **{**settings, "seconds": 5},
        )
    finally:
        if what == "file system":
            unmount(target)
        command("modprobe", "--remove", "scsi_debug")

    assert_ended_well(told, str(target))


def test_a_quota_that_is_used_up(place: Path, loop: Callable[[int], str]) -> None:
    point = place / "limited"
    point.mkdir()
    device = loop(SIZE_MIB)
    command("mkfs.xfs", "-q", device)
    command("mount", "-o", "uquota", device, str(point))
    try:
        command("xfs_quota", "-x", "-c", "limit -u bhard=20m 1234", str(point))
        for folder in (place, point):
            folder.chmod(0o777)

        told = watched(
            point, place / "session", under=("env", "HOME=/tmp", "setpriv", "--reuid=1234", "--clear-groups")
        )

        assert told.status == 1
        assert "quota" in told.words
        assert list(point.iterdir()) == []
    finally:
        unmount(point)


def test_a_device_below_a_mapped_one_is_never_written_to(mapped: Mapped) -> None:
    with untouched(mapped.below) as number, pytest.raises(RefusedError, match="held by dm-"):
        list(run(step(Path(mapped.below), preset="redo", allow_write_to=number)))


def test_a_swap_area_in_use_is_never_written_to(loop: Callable[[int], str]) -> None:
    device = loop(64)
    command("mkswap", device)
    command("swapon", device)
    try:
        with untouched(device) as number, pytest.raises(RefusedError, match="used as swap"):
            list(run(step(Path(device), preset="redo", allow_write_to=number)))
    finally:
        with suppress(AssertionError):
            command("swapoff", device)
