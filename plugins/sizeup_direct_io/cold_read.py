"""The cold read: data that lay there before this run, so that no cache was filled with it by the run itself.

A new file may stay in the cache of an array, a filer or a hypervisor, however carefully it is read. Blocks that were
written days ago are mostly on the media: their rate is what the storage delivers at least.

The search stays in one file system, follows no link, opens nothing but folders, and ends after a set time. What it
found is opened without side effects first (O_PATH), so that whoever replaces a name meanwhile cannot make a FIFO or a
device be opened. No name leaves this module.
"""

from __future__ import annotations

import heapq
import os
import random
import stat
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, suppress

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import SizeupError
from sizeup.model.machine import Gap
from sizeup.model.sample import Coordinates, Estimate, Progress
from sizeup.probing.api import Context, Emission
from sizeup.procfs.meminfo import read_swaps
from sizeup.procfs.mounts import is_below, read_mountinfo
from sizeup.procfs.process import open_again
from sizeup.text import plural
from sizeup.units import as_percent, format_bytes
from sizeup_direct_io import binding
from sizeup_direct_io.binding import Extents, IoInterval
from sizeup_direct_io.call_with_timeout import CanceledError, StalledError, describe_failure
from sizeup_direct_io.comparisons import direct_reader
from sizeup_direct_io.estimates import PointResult, location
from sizeup_direct_io.measure import Window, measure
from sizeup_direct_io.presets import SMALL_BYTES
from sizeup_direct_io.target import CLOSE_SECONDS_LIMIT, TargetKind, TargetSetup, sample_content
from sizeup_direct_io.validity import ALL_ALIKE_SHARE, CHARGED_LOW
from sizeup_direct_io.window_counters import CounterSource
from sizeup_direct_io.worker import Engine, Pattern, Worker

SEARCH_SECONDS = 2.5
"""Of the search for files; a file system may have millions."""
SMALLEST_FILE_BYTES = 1 << 20
OLD_SECONDS = 86400
"""A file that was written later may still be in a cache."""
MISSING_SHARE = 0.05
"""Of a file, at most: a hole is read from nowhere, and a compressed extent is smaller than what is read of it."""
_STATUS_BLOCK_BYTES = 512
_MOST_FOUND = 4096
_MOST_DRAWN = 16
"""Draws for each read in flight, before too few files turn out to be readable."""


class OldFile(Struct, frozen=True):
    """A part of the storage that was there before the run, open for direct reads."""

    descriptor: int
    start_bytes: int
    size_bytes: int
    reads: int
    """In flight at a time, each in a region of its own."""


class OldData(Struct, frozen=True):
    """Open files, and how much data they stand for."""

    files: Sequence[OldFile]
    size_bytes: int


class _Search:
    """A search for the largest old files of one file system."""

    def __init__(self, device: int, canceled: Callable[[], bool]) -> None:
        self._device, self._canceled = device, canceled
        self._end = time.monotonic() + SEARCH_SECONDS
        self._seen = {mount.point for mount in read_mountinfo() or ()}
        """Folders that are not looked into: asking the mount of a dead server would hang."""
        self._taken = set(_swap_inodes(device))
        """Inodes that are not taken again: files with several names, and swap, which changes without a trace."""
        self.best: list[tuple[int, int, str]] = []
        """Size, inode and path."""

    @property
    def over(self) -> bool:
        """Whether its time is up, or the run was canceled."""
        return time.monotonic() > self._end or self._canceled()

    def look_around(self, folder: str, mount_point: str) -> None:
        """Search a folder, then those around it up to the mount point.

        A folder comes the earlier, the fewer folders there are beside it and beside those above it: the data of a
        database lies below a few names, a million other files below many.
        """
        waiting: list[tuple[int, str]] = []
        while is_below(folder, (mount_point,)):
            waiting.append((len(waiting), folder))
            self._seen.add(folder)
            if folder == "/":
                break
            folder = os.path.dirname(folder)
        while waiting and not self.over:
            beside, name = heapq.heappop(waiting)
            below = self._look_into(name)
            for one in below:
                heapq.heappush(waiting, ((beside + 1) * len(below), one))

    def _look_into(self, folder: str) -> list[str]:
        """Note the old files of a folder, and return the folders in it."""
        below = []
        for entry in _entries(folder):
            if self.over:
                break
            with suppress(OSError):  # removed meanwhile
                if entry.path in self._seen:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    self._seen.add(entry.path)
                    below.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    if not holds_old_data(status, self._device) or status.st_ino in self._taken:
                        continue
                    if status.st_nlink > 1:
                        self._taken.add(status.st_ino)
                    heapq.heappush(self.best, (status.st_size, status.st_ino, entry.path))
                    if len(self.best) > _MOST_FOUND:
                        heapq.heappop(self.best)
        return below


def open_old_files(
    folder: str, mount_point: str, device: int, reads: int, seed: int, opened: ExitStack, canceled: Callable[[], bool]
) -> OldData:
    """Return old files of a file system for so many reads in flight, closed with ``opened``.

    Each read draws its file at random by size, so that together they stand for all that the search found, except for
    what this user may not read and what takes no direct reads: that is known of what was drawn.
    """
    search = _Search(device, canceled)
    search.look_around(os.path.realpath(folder), mount_point)
    sizes = [size for size, _, _ in search.best]
    rng = random.Random(seed)  # noqa: S311 - not a secret
    drawn = rng.choices(range(len(sizes)), sizes, k=_MOST_DRAWN * reads) if sizes else []
    tried: dict[int, OldFile | None] = {}
    taken: Counter[int] = Counter()
    draws = 0
    for index in drawn:
        if taken.total() == reads or canceled():
            break
        draws += 1
        if index not in tried:
            _, inode, path = search.best[index]
            tried[index] = _open(path, inode, device, opened)
        if tried[index] is not None:
            taken[index] += 1
    files = [replace(file, reads=taken[index]) for index, file in tried.items() if file is not None]
    return OldData(files, round(sum(sizes) * taken.total() / draws) if draws else 0)


def holds_old_data(status: os.stat_result, device: int) -> bool:
    """Whether this is a file of a device, nearly all of it allocated, that was last written more than a day ago.

    By its change time: a copy may keep the modification time of its original.
    """
    return (
        stat.S_ISREG(status.st_mode)
        and status.st_dev == device
        and status.st_size >= SMALLEST_FILE_BYTES
        and status.st_blocks * _STATUS_BLOCK_BYTES >= (1 - MISSING_SHARE) * status.st_size
        and status.st_ctime < time.time() - OLD_SECONDS
    )


def is_written(extents: Extents | None, size_bytes: int) -> bool:
    """Whether nearly all of a file was written and is stored as it is; True if the file system does not report it."""
    if extents is None:
        return True
    missing = extents.hole_bytes + extents.unwritten_bytes + extents.odd_bytes
    return missing <= MISSING_SHARE * size_bytes


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder; none if it is not ours to read, or was removed meanwhile."""
    with suppress(OSError), os.scandir(folder) as entries:
        yield from entries


def _swap_inodes(device: int) -> Iterator[int]:
    for path in read_swaps() or ():
        with suppress(OSError):
            status = os.stat(path)
            if status.st_dev == device:
                yield status.st_ino


def _open(path: str, inode: int, device: int, opened: ExitStack) -> OldFile | None:
    """Return an old file open for direct reads; None if it is no longer what was found, or takes none."""
    with suppress(OSError), ExitStack() as looking:
        handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        looking.callback(os.close, handle)
        status = os.fstat(handle)
        if status.st_ino != inode or not holds_old_data(status, device):
            return None
        flags = os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK  # waits for nobody who holds a lease of the file
        try:
            descriptor = open_again(handle, flags | os.O_NOATIME)  # leaves the access time as it is
        except PermissionError:  # neither its owner nor root
            descriptor = open_again(handle, flags)
        opened.callback(os.close, descriptor)
        alignment = binding.alignment(descriptor)
        if alignment is not None and (not alignment[1] or SMALL_BYTES % alignment[1]):
            return None
        if is_written(binding.extents(descriptor, status.st_size, flush=False), status.st_size):
            return OldFile(descriptor, 0, status.st_size, 1)
    return None


WORKLOAD = "cold-read"
WINDOW = Window(warmup_seconds=0.0, seconds=2.5, extra_seconds=0.0, precision=1.0, stall_seconds=5.0)
SECONDS = SEARCH_SECONDS + WINDOW.seconds + 0.5
"""Of the cold read in all, the opening and closing of files included."""
TOUCHES = (
    f"existing data of its file system, or the file or device itself, is read at random for {WINDOW.seconds:g} s after "
    f"a search of at most {SEARCH_SECONDS:g} s (not with cold_read=false)"
)
"""For the plan."""
LEAST_BYTES = 4 << 30
"""Less may stay in a cache of the host or the array."""
SLOW_NS, SLOW_TIMES = 2e6, 10.0
"""A read above both, the second of the warm median, is one that no cache answered."""
SLOW_SHARE = 0.25
"""Of the time of all reads: from here on the rate of the slow ones alone counts."""
_SAMPLED_BLOCKS, _FEWEST_SAMPLED, _SAMPLING_SECONDS = 64, 16, 1.0
_HANG_SECONDS = 5.0
"""Beyond what the search takes: a file or a folder that is not answered for so long ends it."""


class ColdRead(Struct, frozen=True):
    """What was read."""

    interval: IoInterval
    seconds: float
    depth: int
    files: int
    sampled_bytes: int
    zero_share: float
    """Of some blocks: those that hold only zero bytes may never have been stored."""

    def estimate(self, at: Coordinates, warm_median_ns: float) -> Estimate:
        """Return the rate of reads that no cache answered; of all reads where those took little of the time."""
        limit_ns = max(SLOW_NS, SLOW_TIMES * warm_median_ns)
        times = self.interval.histogram("read")
        slow = {middle_ns: count for middle_ns, count in times.items() if middle_ns > limit_ns}
        slow_ns, all_ns = (sum(middle_ns * count for middle_ns, count in part.items()) for part in (slow, times))
        share, slow_reads = slow_ns / all_ns if all_ns else 0.0, sum(slow.values())
        iops = self.interval.reads / self.seconds
        rate = iops * (1 - self.zero_share)
        if share >= SLOW_SHARE:
            # Alone they would have had the reads in flight of all: not the set depth, where a file was soon read.
            rate = min(rate, slow_reads / self.seconds / share)
        extra = {
            "all_iops": iops,
            "slow_share": share,
            "slow_reads": slow_reads,
            "zero_share": self.zero_share,
            "sampled_bytes": self.sampled_bytes,
            "reads": self.interval.reads,
            "files": self.files,
            "seconds": self.seconds,
        }
        return Estimate("iops", {**at, "workload": WORKLOAD, "queue_depth": self.depth}, rate, extra=extra)


def cold_read(
    setup: TargetSetup, depth: int, context: Context, counter_source: CounterSource
) -> Generator[Emission, None, ColdRead | None]:
    """Read blocks that were there before, each once; return None, after a gap with the reason, where there are none."""
    path = setup.target.path
    yield Progress(0.0, None, "searching for files older than a day")
    opened = ExitStack()
    try:
        read = yield from _read(setup, depth, context, counter_source, opened)
    except (SizeupError, OSError) as error:
        yield Gap(f"io.direct: cold read of {path}", f"not measured: {describe_failure(error)}")
        return None
    finally:
        with suppress(StalledError, CanceledError, OSError):
            setup.call_with_timeout("closing files", opened.close, CLOSE_SECONDS_LIMIT)
    return read


def cold_estimate(setup: TargetSetup, read: ColdRead, warm: Sequence[PointResult]) -> Estimate:
    """Return what the existing data of a target delivered, compared with the same reads of the ramp.

    A ramp ends early where throughput no longer rises: beyond, latency is in proportion to the queue depth.
    """
    last = max(warm, key=lambda point: int(point.at["queue_depth"]))
    median_ns = last.pooled.quantile_ns("read", 0.5) * read.depth / int(last.at["queue_depth"])
    estimate = read.estimate({}, median_ns)
    return replace(estimate, extra={**estimate.extra, **location(setup.target)})


def _read(
    setup: TargetSetup, depth: int, context: Context, counter_source: CounterSource, opened: ExitStack
) -> Generator[Emission, None, ColdRead]:
    """Search and read; raise SizeupError with the reason why the result would be none."""
    found = setup.call_with_timeout(
        "searching for existing data", lambda: _old_data(setup, depth, opened, context), SEARCH_SECONDS + _HANG_SECONDS
    )
    if found.size_bytes < LEAST_BYTES:
        raise SizeupError(
            f"found {format_bytes(found.size_bytes)} in files that this user may read directly and nobody wrote for a "
            f"day; expected {format_bytes(LEAST_BYTES)} or more"
        )
    what = plural(len(found.files), "old file") if setup.target.kind is TargetKind.MADE else "old data"
    yield Progress(0.0, None, f"reading {what} of {format_bytes(found.size_bytes)}, {WINDOW.seconds:g} s")
    at: Coordinates = {"workload": WORKLOAD, "queue_depth": depth}
    workers = list(_workers(setup, found.files))
    measured = yield from measure(workers, (WORKLOAD,), at, WINDOW, context, counter_source)
    if not measured.requests:
        raise SizeupError(f"no read completed within {measured.seconds:.1f} s")
    charged, _ = measured.charged_bytes(reads=True, writes=False)
    if charged is not None and charged + measured.uncertainty_bytes < CHARGED_LOW * measured.requested_bytes:
        raise SizeupError(f"only {as_percent(charged / measured.requested_bytes)} of the reads were direct")
    zero_share = setup.call_with_timeout(
        "reading some blocks", lambda: _zero_share(found.files, setup.next_seed()), _HANG_SECONDS
    )
    if zero_share >= ALL_ALIKE_SHARE:
        raise SizeupError(f"{as_percent(zero_share)} of the blocks hold only zero bytes")
    if not all(_is_old(file) for file in found.files):
        raise SizeupError("a file was written meanwhile")
    interval, files = measured.intervals[WORKLOAD], len(found.files)
    return ColdRead(interval, measured.seconds, depth, files, found.size_bytes, zero_share)


def _old_data(setup: TargetSetup, reads: int, opened: ExitStack, context: Context) -> OldData:
    """Return old files of the file system of a directory; of a named file or device itself."""
    target = setup.target
    if target.kind is TargetKind.MADE:
        if target.mount is None:
            return OldData((), 0)
        device = os.fstat(target.descriptor).st_dev
        return open_old_files(
            target.path, target.mount.point, device, reads, setup.next_seed(), opened, lambda: context.canceled
        )
    whole = OldFile(target.descriptor, target.start_bytes, target.size_bytes, reads)
    written = is_written(setup.extents, target.size_bytes)
    is_data = target.kind is not TargetKind.FILE or (written and _is_old(whole))
    return OldData((whole,), whole.size_bytes) if is_data else OldData((), 0)


def _is_old(file: OldFile) -> bool:
    """Whether an open file still counts as old; a device always does."""
    status = os.fstat(file.descriptor)
    return not stat.S_ISREG(status.st_mode) or holds_old_data(status, status.st_dev)


def _workers(setup: TargetSetup, files: Sequence[OldFile]) -> Iterator[Worker]:
    """Yield one thread for each read in flight.

    Threads whatever the engine: a queue for each file could use up what the kernel grants all processes of the host
    together (fs.aio-max-nr), and a database beside this run would get none.
    """
    number = 0
    for file in files:
        region = file.size_bytes // file.reads // SMALL_BYTES * SMALL_BYTES
        for part in range(file.reads):
            yield Worker(
                engine=Engine.THREADS,
                descriptor=file.descriptor,
                block_bytes=SMALL_BYTES,
                start_bytes=file.start_bytes + part * region,
                size_bytes=region,
                pattern=Pattern.SHUFFLED,
                seed=setup.next_seed(),
                error_limit=1,
                huge_pages=False,  # 2 MiB for 8 KiB
                cpus=setup.near_cpus.of_worker(number),
            )
            number += 1


def _zero_share(files: Sequence[OldFile], seed: int) -> float:
    """Return the share of some blocks that hold only zero bytes; nothing else of them is kept."""
    rng = random.Random(seed)  # noqa: S311 - not a secret
    end = time.monotonic() + _SAMPLING_SECONDS
    found: list[bytes] = []
    for file in rng.choices(files, [file.reads for file in files], k=_SAMPLED_BLOCKS):
        contents: dict[int, bytes] = {}
        read = direct_reader(file.descriptor, contents)
        read(file.start_bytes + rng.randrange(file.size_bytes // SMALL_BYTES) * SMALL_BYTES)
        found += contents.values()
        if len(found) >= _FEWEST_SAMPLED and time.monotonic() > end:
            break
    content = sample_content(found)
    return content.zero / content.blocks
