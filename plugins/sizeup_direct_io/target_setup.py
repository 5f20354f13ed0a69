"""Prepares a target: opens, checks and fills it, and creates the workers of streams."""

from __future__ import annotations

import itertools
import os
import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from sizeup import files
from sizeup.errors import RefusedError, SizeupError
from sizeup.model.machine import Gap
from sizeup.model.plan import Gentle
from sizeup.model.sample import Progress
from sizeup.probing.api import Context, Emission
from sizeup.procfs.block import find_device_folder
from sizeup.procfs.kernel_file import read_integer
from sizeup.procfs.process import open_again
from sizeup.units import format_bytes
from sizeup_direct_io import binding, window_counters
from sizeup_direct_io.binding import Extents, IoJob
from sizeup_direct_io.call_with_timeout import CanceledError, StalledError, call_with_timeout, describe_error
from sizeup_direct_io.disks import NearCpus, find_near_cpus, not_pinned
from sizeup_direct_io.presets import READ_AHEAD, Durable, Stream
from sizeup_direct_io.target import (
    MIB,
    SMALLEST_BYTES,
    OpenTarget,
    TargetKind,
    TargetSpec,
    available_bytes,
    find_leftovers,
    open_target,
)
from sizeup_direct_io.validity import ContentSample
from sizeup_direct_io.worker import Engine, EngineChoice, Pattern, Worker, choose

FILL_BLOCK_BYTES = 1 << 20
LEAST_FILL_BLOCK_BYTES = 128 << 10
FILL_DEPTH = 4
FILL_POLL_SECONDS = 0.02
PER_SUBMITTER = 16
"""I/Os in flight for each submitting thread."""
_GOLDEN_SECTION = (5**0.5 - 1) / 2
METADATA_SECONDS = 60.0
"""Time limit of opening, allocating and flushing."""
CLOSE_SECONDS_LIMIT = 1.0
"""Time limit of closing, which hangs on a frozen file system."""
Result = TypeVar("Result")


def fill_block_bytes(gentle: Gentle | None) -> int:
    """Return the size of the writes that fill a target: as small as the caps allow, for who waits for them."""
    if gentle is None:
        return FILL_BLOCK_BYTES
    block_bytes = LEAST_FILL_BLOCK_BYTES
    while block_bytes < min(FILL_BLOCK_BYTES, gentle.bytes_per_second / gentle.iops / 2):
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
        self, doing: str, function: Callable[[], Result], seconds: float = METADATA_SECONDS
    ) -> Result:
        """Call a function that may hang; see ``call_with_timeout``."""
        return call_with_timeout(doing, function, limit_seconds=seconds, context=self._context)

    def prepare(
        self,
        spec: TargetSpec,
        engine: str,
        streams: Iterable[Stream],
        *,
        remove_leftovers: bool,
        fill_seconds: float | None = None,
    ) -> Generator[Emission, None, None]:
        """Open, check and fill; raise RefusedError, SizeupError or StalledError with the reason.

        ``fill_seconds``: a target without a set size is smaller if it takes longer to fill; None: no limit.
        """
        streams = list(streams)
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
            Worker(
                engine=engine,
                descriptor=descriptor,
                block_bytes=block_bytes,
                start_bytes=start_bytes + index * share,
                size_bytes=share if index < count - 1 else size_bytes - index * share,
                pattern=Pattern.ONCE,
                seed=next(self._seeds),
                read_percent=0,
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
                written, whole = format_bytes(sample.written_bytes), format_bytes(size_bytes)
                seconds = sample.time_ns / 1e9 - started
                rate = sample.written_bytes / seconds
                left = (size_bytes - sample.written_bytes) / rate if rate else None
                yield Progress(0.0, left, f"filling {written} of {whole}")
        self.call_with_timeout("flushing the target", lambda: os.fsync(descriptor))

    def _fill_within(self, limit_seconds: float) -> Generator[Emission, None, None]:
        """Fill the target in pieces until the time is over, and make it as small as what was written."""
        target, start = self.target, time.monotonic()
        written = 0
        piece = SMALLEST_BYTES
        while written < target.size_bytes:
            piece = min(piece, target.size_bytes - written)
            yield from self.fill(target.descriptor, target.start_bytes + written, piece)
            written += piece
            spent = time.monotonic() - start
            left = limit_seconds - spent
            piece = min(2 * piece, int(written / max(spent, 1e-3) * left)) // MIB * MIB
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
        try:
            return binding.cached_bytes(target.descriptor, target.size_bytes)
        except OSError:
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

    def empty(self) -> None:
        """Truncate the target to 0 bytes, so that the next writes extend it."""
        target = self.target
        self.call_with_timeout("truncating the file", lambda: os.ftruncate(target.descriptor, 0))

    def workers(
        self,
        stream: Stream,
        count: int,
        group: int,
        *,
        huge_pages: bool,
        share: float = 1.0,
        engine: Engine | None = None,
        threads: int = 0,
    ) -> Iterator[Worker]:
        """Yield the workers that keep ``count`` requests (or streams) in flight, in a share of the target.

        ``threads`` submit them; 0: as set for the run.
        """
        engine = engine or self.choice.engine
        depths = self._depths(stream, count, threads or self._threads)
        if engine is Engine.THREADS:
            depths = [1] * sum(depths)
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

    def _depths(self, stream: Stream, count: int, threads: int) -> list[int]:
        """Return the queue depth of each submitting thread."""
        if stream.streams:
            return [READ_AHEAD] * count
        if stream.pattern is not Pattern.RANDOM:
            return [count]
        submitters = threads or max(1, min(self.usable_cpus(), count // PER_SUBMITTER))
        submitters = min(submitters, count)
        return [count // submitters + (index < count % submitters) for index in range(submitters)]

    def thread_count(self, stream: Stream, count: int) -> int:
        """Return how many threads ``workers`` would start."""
        depths = self._depths(stream, count, self._threads)
        return sum(depths) if self.choice.engine is Engine.THREADS else len(depths)

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
