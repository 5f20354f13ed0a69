"""The target: a temporary file, an existing file or a device; and what is refused."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

import msgspec
from msgspec import Struct

from sizeup import files
from sizeup.errors import RefusedError, SizeupError
from sizeup.probing.devices import names_that_allow
from sizeup.procfs.block import find_device_folder, find_partitions, format_device_number
from sizeup.procfs.kernel_file import PROC, SYS, list_names, read_line
from sizeup.procfs.meminfo import read_swaps
from sizeup.procfs.mounts import MountEntry, read_mountinfo
from sizeup.procfs.process import open_again, read_mount
from sizeup.procfs.stat import read_process_stat
from sizeup.text import one_line
from sizeup.units import format_bytes, format_decimal_bytes
from sizeup_direct_io import binding
from sizeup_direct_io.call_with_timeout import describe_error

MIB = 1 << 20
DEFAULT_BYTES = 4 << 30
SMALLEST_BYTES = 16 << 20
"""Less is too small for several streams of 1 MiB requests."""
RESERVE_SHARE = 0.10
RESERVE_BYTES = 5 << 30
_LEFTOVER = re.compile(r"\.sizeup-(?P<host>.+)-(?P<pid>\d+)-(?P<start>\d+)")
_NO_DIRECT_IO = "{}: this file system does not support O_DIRECT; nothing was measured"
PROTECTED_BYTES = 4 << 20
"""Signatures are at both ends of a device; this much of each end is searched and never written."""


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

    @property
    def nfs_mount_point(self) -> str | None:
        """Where the NFS client counts its bytes; None on any other file system, and for a device."""
        return self.mount.point if self.mount is not None and self.network else None

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
            raise RefusedError(_NO_DIRECT_IO.format(path)) from error
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
        files.temporary_files.append(spec.path)
    finally:
        os.close(folder)
    try:
        if not binding.allocate(descriptor, size_bytes):
            os.ftruncate(descriptor, size_bytes)
    except OSError as error:
        os.ftruncate(descriptor, 0)  # a failed fallocate keeps the space it allocated
        os.close(descriptor)
        raise SizeupError(f"{spec.path}: reserving {format_bytes(size_bytes)} failed: {error.strerror}") from error
    number = os.fstat(descriptor).st_dev
    return OpenTarget(
        TargetKind.MADE, spec.path, descriptor, 0, size_bytes, read_mount(descriptor), number, reserve_bytes
    )


def _open_existing(spec: TargetSpec, kind: TargetKind) -> OpenTarget:
    """Open a file or a device; both ends of a device that is overwritten are left out."""
    overwritten, is_file = kind is TargetKind.WRITABLE_DEVICE, kind is TargetKind.FILE
    if overwritten:
        descriptor = open_for_writing(spec.path, spec.allow_write_to)
    else:
        descriptor = files.open_existing(spec.path, os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)  # non-blocking in case of a pipe; io_uring would return EAGAIN
    start_bytes = PROTECTED_BYTES if overwritten else 0
    usable = os.lseek(descriptor, 0, os.SEEK_END) - 2 * start_bytes
    size, least, refused = spec.size_bytes or min(usable, DEFAULT_BYTES if overwritten else usable), SMALLEST_BYTES, ""
    if usable < least:
        refused = f"{spec.path}: {usable} bytes are too few: expected {format_bytes(least)}"
    elif size > usable:
        refused = f"size={size}: {spec.path} has only {format_bytes(usable)}; decrease size, or remove it"
    elif size < least:
        refused = f"size={size}: expected at least {format_bytes(least)}"
    if refused:
        os.close(descriptor)
        raise RefusedError(refused)
    mount, status = read_mount(descriptor) if is_file else None, os.fstat(descriptor)
    number = status.st_dev if is_file else status.st_rdev
    return OpenTarget(kind, spec.path, descriptor, start_bytes, size, mount, number)


def open_target(spec: TargetSpec) -> OpenTarget:
    """Open the target; raise RefusedError with the reason if it cannot or must not be used."""
    if not spec.path.startswith("/"):
        raise RefusedError(f"path={spec.path}: expected an absolute path of a directory, a file or a device")
    mode = 0
    try:
        found = files.open_existing(spec.path, os.O_PATH)  # not for I/O
        try:
            mode = os.fstat(found).st_mode
        finally:
            os.close(found)
        if stat.S_ISDIR(mode):
            return _open_directory(spec)
        if stat.S_ISREG(mode):
            if spec.writes:
                only_read = f"{spec.path} is an existing file, which is only read"
                raise RefusedError(f"{only_read}; set path to a directory for a preset that writes")
            return _open_existing(spec, TargetKind.FILE)
        if stat.S_ISBLK(mode):
            return _open_existing(spec, TargetKind.WRITABLE_DEVICE if spec.writes else TargetKind.DEVICE)
    except OSError as error:
        if error.errno == errno.EINVAL and stat.S_ISREG(mode):
            raise RefusedError(_NO_DIRECT_IO.format(spec.path)) from error
        if error.errno in {errno.ENXIO, errno.ENODEV}:
            raise RefusedError(f"{spec.path}: {describe_error(error.errno)}; see the kernel log") from error
        raise RefusedError(f"{spec.path}: {error.strerror or error}") from error
    raise RefusedError(f"{spec.path}: expected a directory, a file or a block device")


class Signature(Struct, frozen=True):
    """What an owner writes on a device, and where; see ``signatures.toml``."""

    owner: str
    at: tuple[int, ...]
    """From the start, or from the end where negative."""
    text: str = ""
    number: str = ""
    """In hexadecimal."""


_SIGNATURES_FILE = Path(__file__).with_name("signatures.toml")
_SIGNATURES = msgspec.toml.decode(_SIGNATURES_FILE.read_bytes(), type=dict[str, list[Signature]])["signatures"]
_RAID = "a Linux RAID member"


def refuse_if_formatted(descriptor: int, size_bytes: int) -> None:
    """Raise RefusedError if either end has a known signature; ``descriptor`` is read without O_DIRECT."""
    first = os.pread(descriptor, PROTECTED_BYTES, 0)
    last = os.pread(descriptor, PROTECTED_BYTES, max(0, size_bytes - PROTECTED_BYTES))
    # RAID of version 1.0 has it 8 to 12 KiB before the end, 0.90 in the last aligned 64 KiB.
    raid_ends = ((size_bytes // 512 - 16) & ~7) * 512 - size_bytes, (size_bytes & ~0xFFFF) - 0x10000 - size_bytes
    for signature in _SIGNATURES:
        magic = signature.text.encode() or bytes.fromhex(signature.number)
        for offset in signature.at + (raid_ends if signature.owner == _RAID else ()):
            area, start = (first, offset) if offset >= 0 else (last, len(last) + offset)
            if start >= 0 and area[start : start + len(magic)] == magic:
                raise RefusedError(
                    f"the device has the signature of {signature.owner} and is not overwritten; if it is unused, "
                    "remove the signature first (wipefs --all) and try again"
                )


def refuse_if_used(device_number: int, *, sysfs: str = SYS, proc: str = PROC) -> None:
    """Raise RefusedError if the device or a partition of it is mounted, used as swap or held, or that is unknown."""
    mounts, swaps = read_mountinfo(proc), read_swaps(proc)
    disk = find_device_folder(device_number, sysfs)
    for known, unknown in (
        (mounts, "mounted: /proc/self/mountinfo cannot be read"),
        (swaps, "in use as swap: /proc/swaps cannot be read"),
        (disk, "held: its folder under /sys/dev/block cannot be read"),
    ):
        if known is None:
            raise RefusedError(f"this device is not written to, because it is unknown whether it is {unknown}")
    points = {mount.devno: mount.point for mount in mounts or ()}
    swap_numbers = set()
    for path in swaps or ():
        with contextlib.suppress(OSError):
            swap_numbers.add(format_device_number(os.stat(path).st_rdev))
    for folder in (disk, *find_partitions(disk)) if disk is not None else ():
        name = os.path.basename(folder)
        number = format_device_number(device_number) if folder == disk else read_line(f"{folder}/dev")
        if number is None:
            raise RefusedError(f"{name} is not written to, because its device number cannot be read")
        if number in points:
            point = one_line(points[number])
            raise RefusedError(f"{name} is mounted on {point}: a device in use is never overwritten")
        if number in swap_numbers:
            raise RefusedError(f"{name} is used as swap: a device in use is never overwritten")
        holders = list_names(f"{folder}/holders")
        if holders:
            raise RefusedError(f"{name} is held by {', '.join(holders)}: a device in use is never overwritten")
        if read_line(f"{folder}/ro") == "1":
            raise RefusedError(f"{name} is read-only")


def open_for_writing(path: str, allowed: str) -> int:
    """Return an exclusive O_DIRECT descriptor; raise RefusedError with the check that failed."""
    descriptor = files.open_existing(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        names = names_that_allow(status.st_rdev)
        if allowed not in names:
            raise RefusedError(
                f"{path} is a device and would be overwritten: to allow it, set allow_write_to={names[0]}"
                + (f" (found {allowed!r})" if allowed else "")
            )
        refuse_if_used(status.st_rdev)
        refuse_if_formatted(descriptor, os.lseek(descriptor, 0, os.SEEK_END))
        # By the descriptor that was checked, so that the name cannot be replaced in between.
        # O_EXCL: the kernel refuses while a file system, md, dm or swap uses the device or a partition.
        try:
            return open_again(descriptor, os.O_RDWR | os.O_EXCL | os.O_DIRECT | os.O_NONBLOCK)
        except OSError as error:
            raise RefusedError(f"{path}: exclusive open for writing failed: {error.strerror}") from error
    finally:
        os.close(descriptor)
