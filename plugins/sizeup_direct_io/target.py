"""The target: a temporary file, an existing file or a device; and what is refused."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from sizeup import files
from sizeup.errors import RefusedError, SizeupError
from sizeup.procfs.descriptors import open_again, read_mount
from sizeup.procfs.mounts import MountEntry
from sizeup.procfs.stat import read_process_stat
from sizeup.units import format_bytes, format_decimal_bytes
from sizeup_direct_io import binding, devices
from sizeup_direct_io.failures import describe_error

MIB = 1 << 20
DEFAULT_BYTES = 4 << 30
SMALLEST_BYTES = 16 << 20
"""Less is too small for several streams of 1 MiB requests."""
RESERVE_SHARE = 0.10
RESERVE_BYTES = 5 << 30
_LEFTOVER = re.compile(r"\.sizeup-(?P<host>.+)-(?P<pid>\d+)-(?P<start>\d+)")


class TargetKind(Enum):
    """The kind of target."""

    MADE = "temporary file"
    FILE = "existing file, read only"
    DEVICE = "device, read only"
    WRITABLE_DEVICE = "device, writable"


class OpenTarget(Struct, frozen=True):
    """An open target; closing the descriptor removes a temporary file."""

    kind: TargetKind
    path: str
    descriptor: int
    """Opened with O_DIRECT."""
    start_bytes: int
    size_bytes: int
    mount: MountEntry | None
    device_number: int
    """Of the device, or of the device beneath the file system."""
    reserve_bytes: int = 0

    @property
    def writable(self) -> bool:
        """Return whether presets that write may run."""
        return self.kind in {TargetKind.MADE, TargetKind.WRITABLE_DEVICE}

    @property
    def network(self) -> bool:
        """Return whether the target is on a network file system."""
        return self.mount is not None and self.kind in {TargetKind.MADE, TargetKind.FILE} and self.mount.network

    def opened_again(self, flags: int) -> int:
        """Return another descriptor of the same file with other flags, such as O_DSYNC; needs no name."""
        return open_again(self.descriptor, flags)

    def close(self) -> None:
        """Close the descriptor; this frees the space of a temporary file."""
        os.close(self.descriptor)


class TargetSpec(Struct, frozen=True):
    """The target as set by the user."""

    path: str
    writes: bool
    size_bytes: int = 0
    """0: the default size."""
    reserve_bytes: int = 0
    """Space to keep free; 0: the larger of 10 % and 5 GiB."""
    most_bytes: int = 0
    """The largest temporary file of the default size; 0: 4 GiB."""
    allow_write_to: str = ""


def process_start(pid: int) -> int | None:
    """Return when a process started, in ticks since boot; None if it does not exist."""
    process = read_process_stat(pid)
    return process.start_ticks if process is not None else None


def find_leftovers(folder: str, host: str) -> list[str]:
    """Return files of runs on this host that died between creating and unlinking them."""
    found = []
    for name in sorted(os.listdir(folder)):
        match = _LEFTOVER.fullmatch(name)
        if match is None or match["host"] != host or process_start(int(match["pid"])) == int(match["start"]):
            continue
        status = os.lstat(os.path.join(folder, name))
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
            found.append(os.path.join(folder, name))
    return found


def _make(folder: int, path: str) -> int:
    """Create a file without a name; if the file system cannot, one whose name is removed at once."""
    try:
        return os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC, 0o600, dir_fd=folder)
    except OSError as error:
        if error.errno not in {errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL}:
            raise
    name = f".sizeup-{os.uname().nodename}-{os.getpid()}-{process_start(os.getpid())}"
    flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC
    try:
        return os.open(name, flags, 0o600, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise RefusedError(f"{path}: this file system does not support O_DIRECT; nothing was measured") from error
        raise
    finally:
        # The file may exist although open failed: some file systems reject O_DIRECT after creating it.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def available_bytes(folder: int, reserve_bytes: int) -> tuple[int, int]:
    """Return the bytes that may be used in a file system, and those to keep free."""
    status = os.fstatvfs(folder)
    reserve = reserve_bytes or max(int(status.f_blocks * status.f_frsize * RESERVE_SHARE), RESERVE_BYTES)
    return max(0, status.f_bavail * status.f_frsize - reserve), reserve


def new_file_size(requested_bytes: int, available: int, reserve_bytes: int, path: str, most_bytes: int = 0) -> int:
    """Return the size of the temporary file: as set, else the most (0: 4 GiB) or half of the available space."""
    size = requested_bytes or min(most_bytes or DEFAULT_BYTES, available // 2) // MIB * MIB
    if size < SMALLEST_BYTES:
        if requested_bytes:
            raise RefusedError(f"size={requested_bytes}: expected at least {format_bytes(SMALLEST_BYTES)}")
        raise RefusedError(
            f"{path}: {format_decimal_bytes(available)} are available besides the "
            f"{format_decimal_bytes(reserve_bytes)} to keep free, too little to measure; free some space or set reserve"
        )
    if size % MIB:
        raise RefusedError(f"size={requested_bytes}: expected a multiple of 1 MiB")
    if size > available:
        raise RefusedError(
            f"size={requested_bytes}: {path} has {format_decimal_bytes(available)} available besides the "
            f"{format_decimal_bytes(reserve_bytes)} to keep free; decrease size or reserve"
        )
    return size


def existing_target_size(spec: TargetSpec, usable_bytes: int, most_bytes: int | None = None) -> int:
    """Return how much of an existing target to use: as set, else all of it or ``most_bytes``."""
    if usable_bytes < SMALLEST_BYTES:
        raise RefusedError(f"{spec.path}: {usable_bytes} bytes are too few: expected {format_bytes(SMALLEST_BYTES)}")
    size = spec.size_bytes or min(usable_bytes, usable_bytes if most_bytes is None else most_bytes)
    if size > usable_bytes:
        raise RefusedError(
            f"size={size}: {spec.path} has only {format_bytes(usable_bytes)}; decrease size, or remove it"
        )
    if size < SMALLEST_BYTES:
        raise RefusedError(f"size={size}: expected at least {format_bytes(SMALLEST_BYTES)}")
    return size


def refuse_without_effect(specs: Sequence[TargetSpec], *, remove_leftovers: bool) -> None:
    """Raise RefusedError for options without effect on targets of these kinds."""
    modes = []
    for spec in specs:
        with contextlib.suppress(OSError):  # opening it reports the reason
            modes.append(os.stat(spec.path).st_mode)
    first = specs[0]
    if modes and not any(map(stat.S_ISDIR, modes)):
        for name, is_set in (
            ("reserve", bool(first.reserve_bytes)),
            ("largest_file", bool(first.most_bytes)),
            ("remove_leftovers", remove_leftovers),
        ):
            if is_set:
                raise RefusedError(
                    f"{name} has no effect on {first.path}: it applies to directories only; remove {name}"
                )
    if modes and first.allow_write_to and not any(map(stat.S_ISBLK, modes)):
        raise RefusedError(f"allow_write_to has no effect on {first.path}: it is not a device; remove allow_write_to")


def _open_directory(spec: TargetSpec) -> OpenTarget:
    folder = files.open_existing(spec.path, os.O_DIRECTORY | os.O_RDONLY)
    try:
        available, reserve_bytes = available_bytes(folder, spec.reserve_bytes)
        size_bytes = new_file_size(spec.size_bytes, available, reserve_bytes, spec.path, spec.most_bytes)
        descriptor = _make(folder, spec.path)
    finally:
        os.close(folder)
    try:
        if not binding.allocate(descriptor, size_bytes):
            os.ftruncate(descriptor, size_bytes)
    except OSError as error:
        os.ftruncate(descriptor, 0)  # a failed fallocate keeps the space it allocated
        os.close(descriptor)
        raise SizeupError(f"{spec.path}: reserving {format_bytes(size_bytes)} failed: {error.strerror}") from error
    return OpenTarget(
        TargetKind.MADE,
        spec.path,
        descriptor,
        0,
        size_bytes,
        read_mount(descriptor),
        os.fstat(descriptor).st_dev,
        reserve_bytes,
    )


def _block_again(descriptor: int) -> None:
    """Make the descriptor blocking: it was opened non-blocking in case of a pipe, and io_uring would return EAGAIN."""
    os.set_blocking(descriptor, True)


def _open_file(spec: TargetSpec) -> OpenTarget:
    if spec.writes:
        raise RefusedError(
            f"{spec.path} is an existing file, which is only read; set path to a directory for a preset that writes"
        )
    try:
        descriptor = files.open_existing(spec.path, os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise RefusedError(
                f"{spec.path}: this file system does not support O_DIRECT; nothing was measured"
            ) from error
        raise
    _block_again(descriptor)
    try:
        size_bytes = existing_target_size(spec, os.fstat(descriptor).st_size)
    except RefusedError:
        os.close(descriptor)
        raise
    return OpenTarget(
        TargetKind.FILE, spec.path, descriptor, 0, size_bytes, read_mount(descriptor), os.fstat(descriptor).st_dev
    )


def _open_device(spec: TargetSpec) -> OpenTarget:
    if spec.writes:
        descriptor = devices.open_for_writing(spec.path, spec.allow_write_to)
    else:
        descriptor = files.open_existing(spec.path, os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK)
    _block_again(descriptor)
    start_bytes = devices.PROTECTED_BYTES if spec.writes else 0
    usable = os.lseek(descriptor, 0, os.SEEK_END) - 2 * start_bytes
    try:
        size_bytes = existing_target_size(spec, usable, DEFAULT_BYTES if spec.writes else usable)
    except RefusedError:
        os.close(descriptor)
        raise
    return OpenTarget(
        TargetKind.WRITABLE_DEVICE if spec.writes else TargetKind.DEVICE,
        spec.path,
        descriptor,
        start_bytes,
        size_bytes,
        None,
        os.fstat(descriptor).st_rdev,
    )


def _mode(path: str) -> int:
    """Return the mode of a path without opening it for I/O."""
    found = files.open_existing(path, os.O_PATH)
    try:
        return os.fstat(found).st_mode
    finally:
        os.close(found)


def open_target(spec: TargetSpec) -> OpenTarget:
    """Open the target; raise RefusedError with the reason if it cannot or must not be used."""
    if not spec.path.startswith("/"):
        raise RefusedError(f"path={spec.path}: expected an absolute path of a directory, a file or a device")
    try:
        mode = _mode(spec.path)
        if stat.S_ISDIR(mode):
            return _open_directory(spec)
        if stat.S_ISREG(mode):
            return _open_file(spec)
        if stat.S_ISBLK(mode):
            return _open_device(spec)
    except OSError as error:
        if error.errno in {errno.ENXIO, errno.ENODEV}:
            raise RefusedError(f"{spec.path}: {describe_error(error.errno)}; see the kernel log") from error
        raise RefusedError(f"{spec.path}: {error.strerror or error}") from error
    raise RefusedError(f"{spec.path}: expected a directory, a file or a block device")
