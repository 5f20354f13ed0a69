"""The target: a temporary file, an existing file or a device; what is refused; and how it is filled and worked on."""

from __future__ import annotations

import errno
import itertools
import os
import re
import secrets
import stat
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sizeup import files
from sizeup.errors import RefusedError, SizeupError
from sizeup.model.machine import Gap
from sizeup.model.plan import Gentle
from sizeup.model.sample import Progress
from sizeup.probing.api import Context, Emission
from sizeup.probing.devices import names_that_allow
from sizeup.procfs.block import find_device_folder, find_partitions, format_device_number
from sizeup.procfs.kernel_file import PROC, SYS, list_names, read_integer, read_line
from sizeup.procfs.meminfo import read_swaps
from sizeup.procfs.mounts import MountEntry, read_mountinfo
from sizeup.procfs.process import open_again, read_mount
from sizeup.procfs.stat import read_process_stat
from sizeup.text import one_line
from sizeup.units import format_bytes
from sizeup_direct_io import binding, window_counters
from sizeup_direct_io.binding import Extents, IoJob
from sizeup_direct_io.call_with_timeout import CanceledError, StalledError, call_with_timeout, describe_error
from sizeup_direct_io.disks import NearCpus, find_near_cpus, not_pinned
from sizeup_direct_io.presets import READ_AHEAD, Durable, Stream
from sizeup_direct_io.worker import Engine, EngineChoice, Pattern, Worker, choose

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
FILL_BLOCK_BYTES = 1 << 20
LEAST_FILL_BLOCK_BYTES = 32 << 10
FILL_DEPTH = 4
FILL_POLL_SECONDS = 0.02
PER_SUBMITTER = 16
"""I/Os in flight for each submitting thread."""
_GOLDEN_SECTION = (5**0.5 - 1) / 2
METADATA_SECONDS = 60.0
"""Time limit of opening, allocating and flushing."""
CLOSE_SECONDS_LIMIT = 1.0
"""Time limit of closing, which hangs on a frozen file system."""


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
    def file_system(self) -> str:
        """Its kind, as the kernel names it."""
        return "the device" if self.mount is None else self.mount.kind

    @property
    def in_user_space(self) -> bool:
        """Whether a program serves the requests (FUSE); the kernel does not account for the I/O it does."""
        return self.file_system.startswith("fuse")

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
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def available_bytes(folder: int, reserve_bytes: int) -> tuple[int, int]:
    """Return the bytes that may be used in a file system, and those to keep free."""
    status = os.fstatvfs(folder)
    reserve = reserve_bytes or max(int(status.f_blocks * status.f_frsize * RESERVE_SHARE), RESERVE_BYTES)
    return max(0, status.f_bavail * status.f_frsize - reserve), reserve


def new_file_size(requested_bytes: int, available: int, reserve_bytes: int, path: str, most_bytes: int = 0) -> int:
    """Return the size of the temporary file: as set, else the most (0: 4 GiB) or half of the available space."""
    size = requested_bytes or min(most_bytes or DEFAULT_BYTES, available // 2) // MIB * MIB
    free = f"{format_bytes(available)} available besides the {format_bytes(reserve_bytes)} to keep free"
    if size < SMALLEST_BYTES:
        if requested_bytes:
            raise RefusedError(f"size={requested_bytes}: expected at least {format_bytes(SMALLEST_BYTES)}")
        raise RefusedError(f"{path} has {free}, too little to measure; free some space or set reserve")
    if size % MIB:
        raise RefusedError(f"size={requested_bytes}: expected a multiple of 1 MiB")
    if size > available:
        raise RefusedError(f"size={requested_bytes}: {path} has {free}; decrease size or reserve")
    return size


def refuse_without_effect(specs: Sequence[TargetSpec], *, remove_leftovers: bool) -> None:
    """Raise RefusedError for options without effect on targets of these kinds."""
    modes = []
    for spec in specs:
        with suppress(OSError):  # opening it reports the reason
            modes.append(os.stat(spec.path).st_mode)
    first = specs[0]
    if modes and not any(map(stat.S_ISDIR, modes)):
        known = {"reserve": first.reserve_bytes, "largest_file": first.most_bytes, "remove_leftovers": remove_leftovers}
        if name := next((name for name, is_set in known.items() if is_set), ""):
            raise RefusedError(f"{name} has no effect on {first.path}: it applies to directories only; remove {name}")
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
        denied = stat.S_ISDIR(mode) and error.errno in {errno.EPERM, errno.EACCES, errno.EROFS}
        advice = "; choose a directory that you may write to" if denied else ""
        raise RefusedError(f"{spec.path}: {error.strerror or error}{advice}") from error
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
        with suppress(OSError):
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


class ContentSample(Struct, frozen=True):
    """Blocks of an existing target that were read before the run."""

    blocks: int
    zero: int
    """How many hold only zero bytes."""
    repeated: int
    """How many hold the same other data as the most common of them; 0 if all differ."""


def sample_content(blocks: Iterable[bytes]) -> ContentSample:
    """Return what some blocks of equal size have in common."""
    counts = Counter(blocks)
    zero = sum(times for block, times in counts.items() if not any(block))
    most = max((times for block, times in counts.items() if any(block)), default=0)
    return ContentSample(counts.total(), zero, most if most > 1 else 0)


def fill_block_bytes(gentle: Gentle | None) -> int:
    """Return the size of the writes that fill a target: as small as the caps allow, for who waits for them."""
    if gentle is None:
        return FILL_BLOCK_BYTES
    block_bytes = LEAST_FILL_BLOCK_BYTES
    while block_bytes < min(FILL_BLOCK_BYTES, gentle.bytes_per_second / gentle.iops / 4):
        block_bytes *= 2
    return block_bytes


class TargetSetup:
    """One open target; closing it leaves nothing behind."""

    def __init__(self, context: Context, stall_seconds: float, threads: int) -> None:
        self._context = context
        self._stall_seconds = stall_seconds
        self._threads = threads
        self._open = ExitStack()
        self._seeds = itertools.count(secrets.randbits(62))
        self._descriptors: dict[tuple[Durable, bool], int] = {}
        self._device_folder: str | None = None
        """The device's folder in /sys; None until it is open, and for file systems without a device."""
        self.target: OpenTarget
        self.choice: EngineChoice
        self.near_cpus: NearCpus = not_pinned("the target is not open")
        self.extents: Extents | None = None
        """None if the file system does not report them."""
        self.content: ContentSample | None = None
        """None until blocks of an existing target were read."""
        self.alignment: tuple[int, int] | None = None
        """None if the kernel does not report it."""

    def call_with_timeout(
        self, doing: str, function: Callable[[], files.Result], seconds: float = METADATA_SECONDS
    ) -> files.Result:
        """Call a function that may hang; see ``call_with_timeout``."""
        return call_with_timeout(doing, function, limit_seconds=seconds, context=self._context)

    def prepare(
        self,
        spec: TargetSpec,
        engine: str,
        streams: Sequence[Stream],
        *,
        remove_leftovers: bool,
        fill_seconds: float | None = None,
    ) -> Generator[Emission, None, None]:
        """Open, check and fill; raise RefusedError, SizeupError or StalledError with the reason.

        ``fill_seconds``: a target without a set size is smaller if it takes longer to fill; None: no limit.
        """
        yield Progress(0.0, None, f"opening {spec.path}")
        self.target = target = self.call_with_timeout(f"opening {spec.path}", lambda: open_target(spec))
        self._open.callback(target.close)
        self._device_folder = find_device_folder(target.device_number)
        self.near_cpus = find_near_cpus(target.device_number, os.sched_getaffinity(0))
        self._descriptors[(Durable.NO, False)] = self._descriptors[(Durable.FDATASYNC, False)] = target.descriptor
        self.alignment = binding.alignment(target.descriptor)
        if all(stream.block_bytes % self.unit_bytes for stream in streams):
            smallest = min(stream.block_bytes for stream in streams)
            raise RefusedError(
                f"block={smallest}: direct I/O to {target.path} needs a multiple of {self.unit_bytes} bytes"
            )
        extends = any(stream.extends for stream in streams)
        if extends and target.kind is not TargetKind.MADE:
            raise RefusedError(f"{spec.path}: writes that extend a file need a directory; set path to one")
        if all(stream.durable is Durable.FDATASYNC for stream in streams):
            self.choice = EngineChoice(Engine.THREADS, "fdatasync works with the threads engine only")
        else:
            self.choice = choose(engine, window_counters.read_policy(), network=target.network, extending=extends)
        if self._threads and self.choice.engine is Engine.THREADS:
            raise RefusedError(
                f"threads={self._threads} has no effect: the threads engine ({self.choice.reason}) has one thread per "
                "I/O in flight; remove threads"
            )
        if target.kind is TargetKind.MADE:
            for leftover in self.call_with_timeout(
                "searching for leftover files", lambda: find_leftovers(target.path, os.uname().nodename)
            ):
                what = "removed" if remove_leftovers else "remove it, or set remove_leftovers=true"
                if remove_leftovers:
                    files.remove(leftover)
                yield Gap(leftover, f"left by a crashed run; {what}")
        if target.writable and not extends:
            if fill_seconds is None or spec.size_bytes:
                yield from self.fill(target.descriptor, target.start_bytes, target.size_bytes)
            else:
                yield from self._fill_within(fill_seconds)
                target = self.target
        ours = target.kind is TargetKind.MADE  # a file of others is neither flushed nor evicted
        self.extents = self.call_with_timeout(
            "reading the extents of the target",
            lambda: binding.extents(target.descriptor, target.size_bytes, flush=ours),
        )
        if ours:
            advise = partial(os.posix_fadvise, target.descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            self.call_with_timeout("evicting the target from the page cache", advise)
        elif self.extents is not None and self.extents.unwritten_bytes:
            # Pages in the page cache may hold written data that has not reached the device yet.
            waiting = min(self.extents.unwritten_bytes, self.cached_bytes() or 0)
            self.extents = replace(
                self.extents,
                unwritten_bytes=self.extents.unwritten_bytes - waiting,
                odd_bytes=self.extents.odd_bytes + waiting,
            )

    def describe_loss(self) -> str:
        """Return that the device was removed since the target was opened; empty if it is there or not known."""
        if self._device_folder is None or os.path.isdir(self._device_folder):
            return ""
        name = os.path.basename(self._device_folder)
        return f"device {name} of {self.target.path} was removed during the run; see the kernel log"

    def close(self, limit_seconds: float = CLOSE_SECONDS_LIMIT) -> None:
        """Close everything; if that hangs, a thread keeps waiting and the caller does not."""
        with suppress(StalledError, CanceledError, OSError):  # closed in any case
            call_with_timeout("closing the target", self._open.close, limit_seconds=limit_seconds, context=None)

    @property
    def unit_bytes(self) -> int:
        """Requests are a multiple of this: what the kernel reports of the file, else the logical block of the device.

        1 where neither is known.
        """
        if self.alignment is not None:
            return max(1, self.alignment[1])
        queues = (f"{self._device_folder}{part}/queue/logical_block_size" for part in ("", "/.."))  # of a partition: ..
        return next(filter(None, map(read_integer, queues)), 1)

    def fill(self, descriptor: int, start_bytes: int, size_bytes: int) -> Generator[Emission, None, None]:
        """Write every byte once, with data that cannot be compressed or deduplicated."""
        target = self.target
        engine = choose("auto", window_counters.read_policy(), network=target.network, extending=True).engine
        block_bytes, depth = fill_block_bytes(IoJob.gentle), FILL_DEPTH if IoJob.gentle is None else 1
        count = depth if engine is Engine.THREADS else 1
        share = size_bytes // count // block_bytes * block_bytes
        workers = [
            self.writer(
                descriptor,
                block_bytes,
                share if index < count - 1 else size_bytes - index * share,
                engine=engine,
                start_bytes=start_bytes + index * share,
                pattern=Pattern.ONCE,
                depth=depth // count,
                error_limit=1,
                fresh_data=True,
            )
            for index in range(count)
        ]
        with IoJob(workers, drain_seconds=self._stall_seconds) as job:
            started = job.sample().time_ns / 1e9
            while True:
                time.sleep(FILL_POLL_SECONDS)
                sample = job.sample()
                if self._context.canceled:
                    raise CanceledError
                if sample.error is not None:
                    raise SizeupError(f"filling {target.path} failed with {describe_error(sample.error)}")
                if not sample.running:
                    break
                if sample.idle_ns > self._stall_seconds * 1e9:
                    raise StalledError(f"stalled: filling {target.path} made no progress for {self._stall_seconds:g} s")
                self.keep_reserve()
                written = sample.written_bytes
                rate = written / (sample.time_ns / 1e9 - started)
                left = (size_bytes - written) / rate if rate else None
                yield Progress(0.0, left, f"filling {format_bytes(written)} of {format_bytes(size_bytes)}")
        self.call_with_timeout("flushing the target", lambda: os.fsync(descriptor))

    def _fill_within(self, limit_seconds: float) -> Generator[Emission, None, None]:
        """Fill the target in pieces until the time is over, and make it as small as what was written."""
        target, start = self.target, time.monotonic()
        written, piece = 0, SMALLEST_BYTES
        while written < target.size_bytes:
            piece = min(piece, target.size_bytes - written)
            yield from self.fill(target.descriptor, target.start_bytes + written, piece)
            written += piece
            spent = time.monotonic() - start
            piece = min(2 * piece, int(written / max(spent, 1e-3) * (limit_seconds - spent))) // MIB * MIB
            if piece <= 0:
                break
        if written == target.size_bytes:
            return
        if target.kind is TargetKind.MADE:
            self.call_with_timeout("truncating the file", lambda: os.ftruncate(target.descriptor, written))
        self.target = replace(target, size_bytes=written)
        yield Gap(
            f"io.direct: size of {target.path}",
            f"{format_bytes(written)} instead of {format_bytes(target.size_bytes)}: writing them took {spent:.1f} s; a "
            "cache may hold more of a smaller file; set size, or choose a plan without a time budget",
        )

    def keep_reserve(self) -> None:
        """Stop if other processes use the space to keep free."""
        target = self.target
        if target.kind is TargetKind.MADE:
            left, _ = self.call_with_timeout("reading the free space", lambda: available_bytes(target.descriptor, 1))
            if left < target.reserve_bytes // 2:
                raise SizeupError(
                    f"{target.path}: free space fell to {format_bytes(left)}; stopped, the file was removed"
                )

    def cached_bytes(self) -> int | None:
        """Return how much of the target is in the page cache; None for devices, or if the kernel does not report it."""
        target = self.target
        if target.kind not in {TargetKind.MADE, TargetKind.FILE}:
            return None
        with suppress(OSError):
            return binding.cached_bytes(target.descriptor, target.size_bytes)
        return None

    def more_files(self, count: int, size_bytes: int, reserve_bytes: int) -> Generator[Emission, None, list[int]]:
        """Return descriptors of more filled files, removed with the target."""
        spec = TargetSpec(self.target.path, writes=True, size_bytes=size_bytes, reserve_bytes=reserve_bytes)
        files = [self.call_with_timeout("creating a file", lambda: open_target(spec)) for _ in range(count)]
        for file in files:
            self._open.callback(file.close)
            yield from self.fill(file.descriptor, 0, size_bytes)
        return [file.descriptor for file in files]

    def _descriptor(self, stream: Stream) -> int:
        key = (stream.durable, stream.extends)
        if key not in self._descriptors:
            target = self.target
            flags = os.O_DIRECT | (os.O_DSYNC if stream.durable is Durable.DSYNC else 0)
            flags |= os.O_RDWR if target.writable else os.O_RDONLY
            self._descriptors[key] = self.reopen(flags)
        return self._descriptors[key]

    def reopen(self, flags: int, descriptor: int | None = None) -> int:
        """Return a descriptor of the target, or of a file of ``more_files``, with other flags; closed with them."""
        known = self.target.descriptor if descriptor is None else descriptor
        again = self.call_with_timeout("opening the target again", lambda: open_again(known, flags))
        self._open.callback(os.close, again)
        return again

    def empty(self, *descriptors: int) -> None:
        """Truncate the target, or files of ``more_files``, to 0 bytes, so that the next writes extend them."""
        for descriptor in descriptors or (self.target.descriptor,):
            self.call_with_timeout("truncating a file", partial(os.ftruncate, descriptor, 0))

    def writer(self, descriptor: int, block_bytes: int, size_bytes: int, **more: Any) -> Worker:
        """Return a thread that writes a file from its start on; ``more`` are other fields of ``Worker``."""
        known = {"engine": Engine.THREADS, "start_bytes": 0, "seed": next(self._seeds), "read_percent": 0, **more}
        return Worker(descriptor=descriptor, block_bytes=block_bytes, size_bytes=size_bytes, **known)

    def workers(
        self,
        stream: Stream,
        count: int,
        group: int,
        *,
        huge_pages: bool = True,
        share: float = 1.0,
        engine: Engine | None = None,
        threads: int = 0,
    ) -> Iterator[Worker]:
        """Yield the workers that keep ``count`` requests (or streams) in flight, in a share of the target.

        ``threads`` submit them; 0: as set for the run.
        """
        engine = engine or self.choice.engine
        depths = self._depths(stream, count, threads or self._threads, engine)
        target = self.target
        own_regions = len(depths) > 1 and stream.pattern in {Pattern.SEQUENTIAL, Pattern.ONCE}
        region = round(target.size_bytes * share) // (len(depths) if own_regions else 1)
        region -= region % stream.block_bytes
        if not region:
            raise RefusedError(
                f"size: {format_bytes(target.size_bytes)} are too small for {len(depths)} regions of "
                f"{stream.block_bytes} bytes; increase size"
            )
        for index, depth in enumerate(depths):
            yield Worker(
                engine=engine,
                descriptor=self._descriptor(stream),
                block_bytes=stream.block_bytes,
                start_bytes=target.start_bytes + (index * region if own_regions else 0),
                size_bytes=region,
                group=group,
                pattern=stream.pattern,
                first_block=staggered_block(index, region // stream.block_bytes)
                if own_regions and stream.pattern is Pattern.SEQUENTIAL
                else 0,
                seed=next(self._seeds),
                interval_ns=round(len(depths) / stream.rate * 1e9) if stream.rate else 0,
                poisson=stream.at_random,
                read_percent=stream.read_percent,
                depth=depth,
                huge_pages=huge_pages,
                fdatasync_each=stream.durable is Durable.FDATASYNC,
                cpus=self.near_cpus.of_worker(index),
            )

    def _depths(self, stream: Stream, count: int, threads: int, engine: Engine) -> list[int]:
        """Return the queue depth of each submitting thread."""
        if engine is Engine.THREADS:
            return [1] * (READ_AHEAD * count if stream.streams else count)
        if stream.streams:
            return [READ_AHEAD] * count
        if stream.pattern is not Pattern.RANDOM:
            return [count]
        submitters = min(count, threads or max(1, min(self.usable_cpus(), count // PER_SUBMITTER)))
        return [count // submitters + (index < count % submitters) for index in range(submitters)]

    def thread_count(self, stream: Stream, count: int) -> int:
        """Return how many threads ``workers`` would start."""
        return len(self._depths(stream, count, self._threads, self.choice.engine))

    def usable_cpus(self) -> int:
        """Return how many CPUs the threads of the target may run on."""
        return sum(map(len, self.near_cpus.groups)) or len(os.sched_getaffinity(0))

    def next_seed(self) -> int:
        """Return a seed that no worker had before, so that no offset sequence repeats."""
        return next(self._seeds)


def staggered_block(index: int, blocks: int) -> int:
    """Return the block of its region at which a sequential stream starts; the first one starts at block 0.

    Regions are of equal size, often a power of two, as are the stripes of arrays and volumes: streams that all start
    at the beginning of their region read from the same disk, and stay in step. Multiples of the golden section are
    spread evenly whatever the stripe.
    """
    return int(index * _GOLDEN_SECTION % 1 * blocks)
