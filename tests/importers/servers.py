"""A PostgreSQL and a MariaDB server on devices of their own, for the tests of what their counters count."""

import contextlib
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

PAGE = Path(__file__).parents[2] / "docs/how-to/workload-of-a-database.md"
_SECTOR = 512
_TIMEOUT_SECONDS = 300


class DeviceTraffic(NamedTuple):
    """What a device has done."""

    reads: int
    read_bytes: int
    writes: int
    """Without those that only flush the cache of the device, which have no bytes."""
    written_bytes: int

    def since(self, before: "DeviceTraffic") -> "DeviceTraffic":
        return DeviceTraffic(*(now - then for now, then in zip(self, before, strict=True)))


class LoopDevice(NamedTuple):
    """A file as a block device with a file system, so that nothing else is in its counters."""

    name: str
    directory: Path

    def traffic(self) -> DeviceTraffic:
        for line in Path("/proc/diskstats").read_text(encoding="ascii").splitlines():
            fields = line.split()
            if fields[2] == self.name:
                reads, read, writes, written, flushes = (int(fields[place]) for place in (3, 5, 7, 9, 18))
                return DeviceTraffic(reads, read * _SECTOR, writes - flushes, written * _SECTOR)
        raise AssertionError(self.name)

    def empty_page_cache(self) -> None:
        """Let no file of the device be cached, also where a copy of the mount namespace holds the file system."""
        for path in self.directory.rglob("*"):
            if path.is_file():
                with path.open("rb") as file:
                    os.fsync(file.fileno())
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def statement(client: str) -> str:
    """Return the command of the page that begins so, as printed there."""
    found = re.search(rf"```\n({client} .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, client
    return found[1]


def program(name: str) -> str:
    """Return the path of a program; skip the test where it is not installed."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    newest = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    if newest:
        return str(newest[-1])
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run_as(user: str, *command: str, environment: Mapping[str, str] | None = None) -> str:
    """Run a command as a user without privileges and return its output."""
    entry = pwd.getpwnam(user)
    done = subprocess.run(
        command, user=entry.pw_uid, group=entry.pw_gid, extra_groups=[], cwd="/", check=False, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_TIMEOUT_SECONDS, stdin=subprocess.DEVNULL,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/nonexistent", **(environment or {})},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


def user(name: str) -> str:
    """Return the name of a user of this host; skip the test where there is none, or no right to become it."""
    with contextlib.suppress(KeyError):
        pwd.getpwnam(name)
        if os.geteuid() == 0:
            return name
        pytest.skip("a device of its own and another user need root")
    pytest.skip(f"there is no user {name}")


@contextlib.contextmanager
def device(owner: str, mebibytes: int) -> Iterator[LoopDevice]:
    """Mount a new file system on a loop device; blocks of 4 KiB, read-ahead of a page of PostgreSQL."""
    base = Path(tempfile.mkdtemp(prefix="sizeup-"))
    base.chmod(0o755)
    image, directory = base / "image", base / "mount"
    directory.mkdir()
    loop = ""
    try:
        with image.open("wb") as file:
            file.truncate(mebibytes << 20)
        _root("mkfs.ext4", "-q", "-F", "-b", "4096", str(image))
        loop = _root("losetup", "--sector-size", "4096", "--find", "--show", str(image), skip=True).strip()
        _root("blockdev", "--setra", "16", loop)
        _root("mount", "-o", "noatime", loop, str(directory), skip=True)
        shutil.chown(directory, owner)
        yield LoopDevice(Path(loop).name, directory)
    finally:
        if os.path.ismount(directory):
            for _ in range(50):
                if subprocess.run(("umount", str(directory)), check=False, capture_output=True).returncode == 0:
                    break
                time.sleep(0.2)
        if loop:
            _root("losetup", "--detach", loop)
        shutil.rmtree(base, ignore_errors=True)


def _root(name: str, *arguments: str, skip: bool = False) -> str:
    command = (program(name), *arguments)
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS)
    if done.returncode and skip:
        pytest.skip(f"no loop device here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
