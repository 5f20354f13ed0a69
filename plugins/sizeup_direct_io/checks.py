"""Checks before the load: concurrent writers, the cost of a flush, the first access to blocks."""

from __future__ import annotations

import mmap
import os
import random
import statistics
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from msgspec import Struct

from sizeup.errors import RefusedError, SizeupError
from sizeup.model.machine import Gap
from sizeup.model.sample import Progress
from sizeup.probing.api import Context, Emission
from sizeup_direct_io import conclusions, validity, window_counters
from sizeup_direct_io.call_with_timeout import StalledError, describe_failure
from sizeup_direct_io.disks import write_cache
from sizeup_direct_io.measure import MeasuredPoint, Window, measure
from sizeup_direct_io.presets import SMALL_BYTES, Durable, Stream
from sizeup_direct_io.target import TargetKind
from sizeup_direct_io.target_setup import TargetSetup
from sizeup_direct_io.validity import Part
from sizeup_direct_io.window_counters import CounterSource
from sizeup_direct_io.worker import Engine, Pattern, Worker, choose

WRITERS = 16
WRITER_BYTES = 16 << 20
CHECK_WINDOW = Window(warmup_seconds=0.3, seconds=0.8, extra_seconds=0.0, precision=1.0, stall_seconds=5.0)
EXTENDING_WINDOW = Window(warmup_seconds=0.0, seconds=0.8, extra_seconds=0.0, precision=1.0, stall_seconds=5.0)
CHECK_ROUNDS = 2
TOUCHES = 64
"""Blocks that are read twice, spread over the whole target."""
TOUCH_SECONDS = 3.0
"""Time limit of the first pass: a volume that loads blocks remotely may take long for each."""
FEWEST_TOUCHES = 8
Key = TypeVar("Key")
Result = TypeVar("Result")


def without_progress(running: Generator[Emission, None, Result]) -> Result:
    """Return the result of a measurement, without its live samples."""
    while True:
        try:
            next(running)
        except StopIteration as end:
            result: Result = end.value
            return result


def compare(
    variants: Mapping[Key, Callable[[], MeasuredPoint]], rounds: int, done: float, activity: str
) -> Generator[Emission, None, list[dict[Key, MeasuredPoint]]]:
    """Measure each variant in every round, every second one backward: what drifts has the same effect on each."""
    found = []
    for number in range(rounds):
        yield Progress(done, None, f"{activity}, round {number + 1} of {rounds}")
        order = list(variants.items())[:: -1 if number % 2 else 1]
        found.append({key: measure_one() for key, measure_one in order})
    return found


def _ratio(rounds: Sequence[Mapping[str, MeasuredPoint]]) -> float:
    """Return the IOPS of one file over those of many, each the median over rounds."""
    one, many = (statistics.median(each[name].iops for each in rounds) for name in ("one", "many"))
    return one / many


class Checks(Struct, frozen=True):
    """The checks of one target."""

    setup: TargetSetup
    counter_source: CounterSource
    context: Context
    reserve_bytes: int

    def _measure(
        self, workers: Sequence[Worker], window: Window = CHECK_WINDOW, streams: Sequence[str] = ("check",)
    ) -> MeasuredPoint:
        return without_progress(measure(workers, streams, {}, window, self.context, self.counter_source))

    def concurrent(self, *, wanted: bool, extends: bool) -> Generator[Emission, None, tuple[Part, ...]]:
        """Compare writers to one file with writers to separate files: overwriting, and extending."""
        target, to_set = self.setup.target, ""
        if target.kind is not TargetKind.MADE:
            kind = "is a device" if target.writable else "is only read"
            why = f"writers to one file: not checked, as the target {kind}"
        elif target.size_bytes < WRITERS * WRITER_BYTES or extends:
            why = "writers to one file: not checked, as the file is too small, or grows"
        elif not wanted:
            why, to_set = "writers to one file: not checked", "set check_concurrency=true"
        else:
            try:
                files = yield from self.setup.more_files(WRITERS, WRITER_BYTES, self.reserve_bytes)
            except RefusedError as error:
                why = str(error)
            else:
                target_file = target.descriptor
                variants = {
                    "one": lambda: self._measure([self._writer(target_file, WRITERS * WRITER_BYTES) for _ in files]),
                    "many": lambda: self._measure([self._writer(file, WRITER_BYTES) for file in files]),
                }
                activity = f"{WRITERS} writers to one file and to separate files"
                ratio = _ratio((yield from compare(variants, CHECK_ROUNDS, 0.0, activity)))
                extending = yield from self._extending(files)
                return (validity.check_writers("concurrent", ratio), extending)
        return (validity.check_writers("concurrent", None, why, to_set),)

    def _extending(self, files: Sequence[int]) -> Generator[Emission, None, Part]:
        """Each write goes to the current end of the file; the files start empty and unallocated.

        A failure, such as a nearly full file system, does not end the run.
        """
        engine = choose("auto", window_counters.read_policy(), network=self.setup.target.network, extending=True).engine

        def extend(targets: Sequence[int], size_bytes: int) -> MeasuredPoint:
            self._empty(files)
            groups = {file: group for group, file in enumerate(dict.fromkeys(targets))}
            workers = [self._writer(file, size_bytes, engine, groups[file]) for file in targets]
            return self._measure(workers, EXTENDING_WINDOW, tuple(f"writer {group}" for group in groups.values()))

        variants = {
            "one": lambda: extend([files[0]] * len(files), WRITERS * WRITER_BYTES),
            "many": lambda: extend(files, WRITER_BYTES),
        }
        activity = f"{WRITERS} writers extending one file and separate files"
        try:
            ratio = _ratio((yield from compare(variants, CHECK_ROUNDS, 0.0, activity)))
            self._empty(files)
        except StalledError:
            raise
        except SizeupError as error:
            return validity.check_writers("extending", None, str(error))
        return validity.check_writers("extending", ratio, engine.value)

    def _empty(self, files: Sequence[int]) -> None:
        def empty() -> None:
            for file in files:
                os.ftruncate(file, 0)

        self.setup.call_with_timeout("truncating files", empty)

    def _writer(self, descriptor: int, size_bytes: int, extending: Engine | None = None, group: int = 0) -> Worker:
        """Return one that overwrites blocks at random, or extends the file with the engine given."""
        return Worker(
            engine=extending or Engine.THREADS,
            descriptor=descriptor,
            block_bytes=SMALL_BYTES,
            start_bytes=0,
            size_bytes=size_bytes,
            group=group,
            pattern=Pattern.APPEND if extending else Pattern.RANDOM,
            seed=self.setup.next_seed(),
            read_percent=0,
        )

    def flush_cost(self) -> Generator[Emission, None, None]:
        """Compare one 8 KiB writer without and with O_DSYNC, alternating."""

        def write(durable: Durable) -> MeasuredPoint:
            stream = Stream("check", SMALL_BYTES, read_percent=0, durable=durable)
            return self._measure(list(self.setup.workers(stream, 1, 0, huge_pages=True)))

        variants = {durable: partial(write, durable) for durable in (Durable.NO, Durable.DSYNC)}
        rounds = yield from compare(variants, CHECK_ROUNDS, 0.0, "8 KiB writes without and with O_DSYNC")
        direct_ns, durable_ns = (
            statistics.median(each[durable].intervals["check"].quantile_ns("write", 0.5) for each in rounds)
            for durable in variants
        )
        yield conclusions.flush_cost(direct_ns, durable_ns, write_cache(self.setup.target.device_number))


def touch(setup: TargetSetup) -> Generator[Emission, None, tuple[list[int], list[int]] | None]:
    """Read blocks of an existing target twice; return the latencies, and set the content sample of the target."""
    target = setup.target
    yield Progress(0.0, None, "reading some blocks twice")
    offsets = touch_offsets(target.start_bytes, target.size_bytes, random.Random(setup.next_seed()))  # noqa: S311 - not a secret
    contents: dict[int, bytes] = {}
    try:
        times = setup.call_with_timeout(
            "reading some blocks twice", lambda: read_twice(offsets, direct_reader(target.descriptor, contents))
        )
    except OSError as error:
        yield Gap(f"io.direct: first touch of {target.path}", describe_failure(error))
        return None
    setup.content = validity.sample_content(contents.values())
    return times


def touch_offsets(start_bytes: int, size_bytes: int, rng: random.Random) -> list[int]:
    """Return one block of each part of the target, in random order against read-ahead."""
    part = size_bytes // TOUCHES
    slots = part // SMALL_BYTES
    offsets = [start_bytes + index * part + rng.randrange(slots) * SMALL_BYTES for index in range(TOUCHES)]
    rng.shuffle(offsets)
    return [offset - offset % SMALL_BYTES for offset in offsets]


def direct_reader(descriptor: int, contents: dict[int, bytes]) -> Callable[[int], int]:
    """Return a function that reads one block with direct I/O and returns its latency in nanoseconds.

    ``contents`` receives what was read, by offset.
    """
    page = mmap.mmap(-1, SMALL_BYTES)  # aligned as O_DIRECT requires

    def read(offset: int) -> int:
        start_ns = time.perf_counter_ns()
        os.preadv(descriptor, [page], offset)
        spent_ns = time.perf_counter_ns() - start_ns
        contents[offset] = page[:]
        return spent_ns

    return read


def read_twice(offsets: Sequence[int], read: Callable[[int], int]) -> tuple[list[int], list[int]]:
    """Return the latencies of the first and second read of each block; fewer blocks if the first reads are slow."""
    first: list[int] = []
    for offset in offsets:
        first.append(read(offset))
        if len(first) >= FEWEST_TOUCHES and sum(first) > TOUCH_SECONDS * 1e9:
            break
    return first, [read(offset) for offset in offsets[: len(first)]]
