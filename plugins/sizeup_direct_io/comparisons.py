"""What is compared under the same load: writers, flushes, first and second reads, paths, engines and threads."""

from __future__ import annotations

import mmap
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import RefusedError, SizeupError
from sizeup.model.machine import Gap
from sizeup.model.sample import Coordinates, Estimate, Progress
from sizeup.probing.api import Context, Emission
from sizeup.text import plural
from sizeup.units import as_percent, format_bytes, format_value
from sizeup_direct_io import conclusions, estimates, validity, window_counters
from sizeup_direct_io.binding import available_bytes
from sizeup_direct_io.call_with_timeout import StalledError, describe_failure
from sizeup_direct_io.disks import read_disks, write_cache
from sizeup_direct_io.measure import MeasuredPoint, Window, measure, measure_loads
from sizeup_direct_io.point_verdict import PointVerdict
from sizeup_direct_io.presets import READ_AHEAD, SMALL_BYTES, Durable, LoadPoint, Stream
from sizeup_direct_io.settings import TargetBandwidth
from sizeup_direct_io.target import TargetKind, TargetSetup, sample_content
from sizeup_direct_io.validity import Part, check_submitters, passed
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
ENGINE_PAIRS = 5
MOST_WORKERS = 1024
"""Threads of one job."""
BUFFERS_SHARE = 0.1
SCALING_WINDOW = Window(warmup_seconds=0.5, seconds=2.0, extra_seconds=0.0, precision=1.0, stall_seconds=5.0)
"""Of each number of threads."""
SCALING_MOST = 11
"""Numbers of threads: 1, 2, 4 ... 1,024; all take less than half a minute."""
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
            why = f"writers to one file: not checked, as the target is {'a device' if target.writable else 'only read'}"
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
                shared, whole = target.descriptor, WRITERS * WRITER_BYTES
                variants = {
                    "one": lambda: self._measure([self._writer(shared, whole) for _ in files]),
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
            self.setup.empty(*files)
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
            self.setup.empty(*files)
        except StalledError:
            raise
        except SizeupError as error:
            return validity.check_writers("extending", None, str(error))
        return validity.check_writers("extending", ratio, engine.value)

    def _writer(self, descriptor: int, size_bytes: int, extending: Engine | None = None, group: int = 0) -> Worker:
        """Return one that overwrites blocks at random, or extends the file with the engine given."""
        engine, pattern = extending or Engine.THREADS, Pattern.APPEND if extending else Pattern.RANDOM
        return self.setup.writer(descriptor, SMALL_BYTES, size_bytes, engine=engine, group=group, pattern=pattern)

    def flush_cost(self) -> Generator[Emission, None, None]:
        """Compare one 8 KiB writer without and with O_DSYNC, alternating."""

        def write(durable: Durable) -> MeasuredPoint:
            stream = Stream("check", SMALL_BYTES, read_percent=0, durable=durable)
            return self._measure(list(self.setup.workers(stream, 1, 0)))

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
    setup.content = sample_content(contents.values())
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


class ComparedLoad(Struct, frozen=True):
    """The load for a comparison: one stream of one point."""

    point: LoadPoint
    window: Window
    context: Context
    verdict: PointVerdict
    """Of the first path."""
    counter_source: CounterSource
    depths: tuple[int, ...] = ()
    """Queue depth of each path, where set by the user; empty: that of the point for all."""

    def measured(self, window: Window, **chosen: Any) -> MeasuredPoint:
        """Measure the load on the first path with the engine or the threads chosen; see ``TargetSetup.workers``."""
        stream, count = self.point.loads[0]
        loads, huge = {stream.name: (self.verdict.setup, stream, count)}, self.point.huge_pages
        around = window, self.context, self.counter_source
        return without_progress(measure_loads(loads, {}, *around, huge_pages=huge, **chosen))


def compare_paths(
    load: ComparedLoad, setups: Sequence[TargetSetup], path_bandwidth: TargetBandwidth | None
) -> Generator[Emission, None, None]:
    """Measure the load on each path alone, then on all at once."""
    alone: dict[str, float] = {}
    each = list(zip(setups, load.depths or [load.point.loads[0][1]] * len(setups), strict=True))
    for number, (setup, count) in enumerate(each, start=1):
        yield Progress(0.9, None, f"path {number} of {len(setups)} alone: {setup.target.path}")
        measured, _ = yield from _measure_on(load, [(setup, count)], setup.target.path)
        alone[setup.target.path] = measured.throughput(load.point.unit)
    yield Progress(0.95, None, f"all {len(setups)} paths together")
    stream, reason = load.point.loads[0][0], ""
    threads = sum(setup.thread_count(stream, count) for setup, count in each)
    buffers = sum(count for _, count in each) * stream.block_bytes * (READ_AHEAD if stream.streams else 1)
    available = available_bytes()
    if threads > MOST_WORKERS:
        reason = f"{threads:,} threads are needed, and at most {MOST_WORKERS:,} are started; decrease the queue depths"
    elif buffers > BUFFERS_SHARE * available:
        reason = (
            f"the buffers take {format_bytes(buffers)}, more than {as_percent(BUFFERS_SHARE)} of the available memory "
            f"({format_bytes(available)}); decrease the queue depths"
        )
    if reason:
        yield Gap("io.direct: all paths together", reason)
        return
    measured, parts = yield from _measure_on(load, each, "all together")
    yield from _joint_figures(load, each, measured, parts)
    used = [disks.names for setup in setups if (disks := read_disks(setup.target.device_number)) is not None]
    shared = tuple(name for name, times in Counter(chain(*used)).items() if times > 1)
    yield conclusions.scaling(alone, measured.throughput(load.point.unit), load.point.unit, path_bandwidth, shared)


def _joint_figures(
    load: ComparedLoad,
    each: Sequence[tuple[TargetSetup, int]],
    measured: MeasuredPoint,
    parts: Mapping[str, tuple[Part, ...]],
) -> Generator[Emission, None, None]:
    """Yield what each path reached while all were measured: their sum is the figure of all together."""
    for setup, count in each:
        path = setup.target.path
        interval = measured.intervals[path]
        at: Coordinates = {
            "workload": load.point.at["workload"],
            "queue_depth": count,
            "path": path,
            "paths": len(each),  # else these were the coordinates of the path alone
        }
        caveats = estimates.caveats_of(parts[path])
        for part in parts[path]:
            yield estimates.validity_estimate(at, part)
        extra = {**estimates.location(setup.target), "cpus": setup.near_cpus.description}
        yield Estimate("joint-iops", at, interval.requests / measured.seconds, caveats=caveats, extra=extra)
        yield Estimate("joint-rate", at, interval.transferred_bytes / measured.seconds, caveats=caveats, extra=extra)
        for kind in ("read", "write"):
            if interval.count(kind):
                where = {**at, "direction": kind}
                yield Estimate("joint-latency-p50", where, interval.quantile_ns(kind, 0.5), caveats=caveats)
                yield Estimate("joint-latency-p99", where, interval.quantile_ns(kind, 0.99), caveats=caveats)


def _measure_on(
    load: ComparedLoad, each: Sequence[tuple[TargetSetup, int]], name: str
) -> Generator[Emission, None, tuple[MeasuredPoint, dict[str, tuple[Part, ...]]]]:
    """Measure the load on some targets at once; return with it the checks of each by path."""
    stream = load.point.loads[0][0]
    setups = [setup for setup, _ in each]
    queue_depth = sum(count for _, count in each)
    at: Coordinates = {"workload": load.point.at["workload"], "queue_depth": queue_depth, "path": name}
    loads = {setup.target.path: (setup, stream, count) for setup, count in each}
    first = setups[0].target
    numbers = {setup.target.path: setup.target.device_number for setup in setups} if len(setups) > 1 else {}
    counter_source = CounterSource(first.device_number, first.nfs_mount_point, load.counter_source.paths, numbers)
    cached = [setup.cached_bytes() for setup in setups]
    try:
        measured = yield from measure_loads(loads, at, load.window, load.context, counter_source)
    except SizeupError as error:
        raise type(error)(f"{' or '.join(loads)}: {error}") from error
    by_path, location = dict[str, tuple[Part, ...]](), dict[str, str | int | float]()
    for (setup, count), before in zip(each, cached, strict=True):
        target, point = setup.target, LoadPoint(at, ((stream, count),))
        verdict = replace(load.verdict, setup=setup)
        if len(each) == 1:
            by_path[target.path] = verdict.parts(point, measured, before)
            location = {**estimates.location(target), "cpus": setup.near_cpus.description}
            continue
        sharing = [other.target.path for other in setups if other.target.device_number == target.device_number]
        direct, *others = verdict.parts(point, measured.of_target(target.path, sharing), before)
        # The counters of its own device and file tell of each; those of this process tell of all.
        not_judged = f"the bytes charged to this process are those of all {len(each)} targets: not judged for each"
        by_path[target.path] = (Part(direct.name, (*direct.found, passed(not_judged))), *others)
    parts = by_path[first.path] if len(each) == 1 else _worst_of(by_path)
    for part in parts:
        yield estimates.validity_estimate(at, part)
    yield from estimates.throughput(at, [measured], estimates.caveats_of(parts), location)
    return measured, by_path


def _worst_of(by_path: Mapping[str, tuple[Part, ...]]) -> tuple[Part, ...]:
    """Return the worst result of each check over all targets, with the path that it is of."""
    found = []
    for parts in zip(*by_path.values(), strict=True):
        worst = min(parts, key=lambda part: part.value)
        each = zip(by_path, parts, strict=True)
        told = [(path, reason) for path, part in each for reason in part.found if part is worst or reason.cached]
        found.append(Part(worst.name, tuple(replace(why, cause=f"{path}: {why.cause}") for path, why in told)))
    return tuple(found)


def compare_engines(load: ComparedLoad, other: str) -> Generator[Emission, None, None]:
    """Compare the engine of the run with another one, in pairs of short windows in alternating order."""
    (stream, count), setup = load.point.loads[0], load.verdict.setup
    first = setup.choice.engine
    try:
        second = choose(other, window_counters.read_policy(), network=setup.target.network, extending=False).engine
        if first is second:
            why = "the run itself used this engine"
        elif stream.durable is Durable.FDATASYNC:
            why = "fdatasync works with the threads engine only"
        else:
            why = "a growing file cannot be measured twice" if stream.extends else ""
    except RefusedError as error:
        why = str(error)
    if why:
        yield Gap(f"io.direct: {first.value} compared with {other}", why)
        return
    variants = {engine: partial(load.measured, CHECK_WINDOW, engine=engine) for engine in (second, first)}
    pairs = yield from compare(variants, ENGINE_PAIRS, 0.9, f"{first.value} and {second.value}")
    unit = load.point.unit
    ratios = [pair[first].throughput(unit) / pair[second].throughput(unit) for pair in pairs]
    workload = str(load.point.at["workload"])
    yield conclusions.engine_gain(workload, count, ratios, (first.value, second.value))


def scale_threads(load: ComparedLoad) -> Generator[Emission, None, None]:
    """Measure the point with 1, 2, 4 ... submitting threads at the same queue depth, until IOPS stop rising."""
    count, setup, unit = load.point.loads[0][1], load.verdict.setup, load.point.unit
    workload = str(load.point.at["workload"])
    if setup.choice.engine is Engine.THREADS:
        yield Gap(f"io.direct: threads for {workload}", f"the threads engine has one per I/O ({setup.choice.reason})")
        return
    ramp: list[conclusions.RampPoint] = []
    threads, limit = 1, min(count, setup.usable_cpus())
    while threads <= limit and not conclusions.stopped_paying(ramp):
        yield Progress(0.9, None, f"{workload}: QD {count} from {plural(threads, 'thread')}")
        measured = load.measured(SCALING_WINDOW, threads=threads)
        value, busiest = measured.throughput(unit), measured.busiest_thread
        at: Coordinates = {"workload": workload, "queue_depth": count, "threads": threads}
        caveats = estimates.caveats_of([check_submitters(busiest, measured.threads)])
        extra = {} if busiest is None else {"busiest_thread": busiest}
        yield Estimate(f"threads-{'rate' if unit == 'bytes/s' else 'iops'}", at, value, caveats=caveats, extra=extra)
        ramp.append(conclusions.RampPoint(threads, value))
        threads *= 2
    best = conclusions.find_knee(ramp) or ramp[0]
    each = ", ".join(f"{point.queue_depth}: {format_value(point.throughput, unit)}" for point in ramp)
    stopped = conclusions.stopped_paying(ramp)
    still = "" if stopped or best is not ramp[-1] else f" It was still rising at the limit of {limit}."
    reached = f"{format_value(best.throughput, unit)} with {plural(best.queue_depth, 'submitting thread')}"
    known: Coordinates = {"queue_depth": count, "throughput": best.throughput}
    told = {"statement": f"{workload} at QD {count}: {reached}", "consequence": f"By number of threads: {each}.{still}"}
    yield Estimate("best-threads", {"workload": workload}, float(best.queue_depth), extra={**known, **told})
