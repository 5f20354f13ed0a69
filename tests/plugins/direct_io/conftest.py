"""Folders for small runs; folders, loop devices and file systems for runs that need root, all gone after each test."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plugins.direct_io.staging import MIB, Faulty, MakeMount, command, unmount
from sizeup_direct_io import window_counters


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that takes direct I/O; other I/O is watched for a moment only."""
    monkeypatch.setattr(window_counters, "BACKGROUND_SECONDS", 0.1)
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT))
    except OSError as error:
        pytest.skip(f"{tmp_path} takes no direct I/O: {error}")
    return tmp_path


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder on a file system that takes direct I/O."""
    folder = Path(command("mktemp", "-d", "/var/tmp/sizeup-staged-XXXXXX"))
    yield folder
    command("rm", "-rf", str(folder))


@pytest.fixture
def loop(place: Path) -> Iterator[Callable[[int], str]]:
    """Makes loop devices of a size in MiB, their files opened with O_DIRECT."""
    devices: list[str] = []

    if not Path("/dev/loop-control").exists():
        command("modprobe", "loop")

    def make(size_mib: int) -> str:
        file = place / f"disk{len(devices)}"
        with file.open("wb") as disk:
            for _ in range(size_mib):
                disk.write(bytes(MIB))
        device = command("losetup", "--find", "--show", "--partscan", "--direct-io=on", str(file))
        devices.append(device)
        return device

    yield make
    for device in devices:
        command("losetup", "--detach", device)


@pytest.fixture
def mounted(place: Path, loop: Callable[[int], str]) -> Iterator[MakeMount]:
    """Makes and mounts file systems."""
    points: list[Path] = []

    def make(kind: str, *, size_mib: int = 400, options: str = "", device: str = "") -> Path:
        point = place / f"mount{len(points)}"
        point.mkdir()
        device = device or loop(size_mib)
        command(f"mkfs.{kind}", "-q", device)
        command("mount", *(("-o", options) if options else ()), device, str(point))
        points.append(point)
        return point

    yield make
    # Not os.path.ismount: a file system that was shut down cannot be looked at.
    for point in points:
        if f" {point} " in Path("/proc/self/mountinfo").read_text():
            unmount(point)


@pytest.fixture
def file_system(tmp_path: Path) -> Iterator[Faulty]:
    if not Path("/dev/fuse").exists():
        pytest.skip("this kernel has no FUSE")
    made = Faulty(tmp_path)
    yield made
    made.ask(0)
    command("umount", "--lazy", str(made.point))
    made.server.kill()
    made.server.communicate()
