"""One run: prepare the target, ramp, judge, and say what came out."""

from __future__ import annotations

import statistics
import time
from collections.abc import Generator, Iterator
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import RefusedError, SizeupError
from sizeup.model.gap import Gap
from sizeup.model.sample import Progress
from sizeup.probing.api import Context, Emission
from sizeup_direct_io import estimates, facts, honesty, knee
from sizeup_direct_io.binding import Engine, Worker
from sizeup_direct_io.estimates import Calm, PointResult
from sizeup_direct_io.measure import Measured, Place, Window, describe_error, measure
from sizeup_direct_io.patience import CancelledError, StalledError
from sizeup_direct_io.presets import LARGE_BYTES, SMALL_BYTES, Durable, Point, Stream, Sweep
from sizeup_direct_io.target import Kind, Wish
from sizeup_direct_io.way import Way
from sizeup_direct_io.workbench import PARTING_SECONDS, Workbench

CALM_SECONDS = 2.0
"""How long the host is watched before the first request, for what others do."""
CPU_BOUND = 0.95
"""A ramp ends where the whole host is this busy: more concurrency would measure the scheduler."""
WRITERS = 16
WRITER_BYTES = 16 << 20
CHECK_WINDOW = Window(warmup_seconds=0.3, seconds=0.8, extra_seconds=0.0, precision=1.0, stall_seconds=5.0)
CHECK_ROUNDS = 2
Result = TypeVar("Result")


class Order(Struct, frozen=True):
    """Everything a run was told."""

    preset: str
    wish: Wish
    more_wishes: tuple[Wish, ...]
    """Further paths, measured alone and all together."""
    sweeps: tuple[Sweep, ...]
    engine: str
    threads: int
    """Submitting threads of an asynchronous engine; 0: by the number of requests out."""
    window: Window
    ramps: int
    path_limit: float | None
    """Payload bytes a second by the user's word; None when not given."""
    way: Way | None
    """By discovery; None when unknown."""
    remove_leftovers: bool
    max_latency_ns: float
    clock_hz: float
    """0 when unknown."""
    check_concurrency: bool

    @property
    def streams(self) -> Iterator[Stream]:
        """Every stream of every point."""
        return (stream for sweep in self.sweeps for point in sweep.points for stream, _ in point.loads)


def silently(running: Generator[Emission, None, Result]) -> Result:
    """The result of a measurement whose live samples are of no interest."""
    while True:
        try:
            next(running)
        except StopIteration as end:
            result: Result = end.value
            return result


class Run:
    """One step at work."""

    def __init__(self, order: Order, context: Context) -> None:
        self._order = order
        self._context = context
        self._bench = Workbench(context, order.window.stall_seconds, order.threads)
        self._benches = [self._bench]
        self._where = order.wish.path

    def emissions(self) -> Iterator[Emission]:
        """Everything the step yields, in order; the target is gone when it ends, however it ends."""
        parting_seconds = PARTING_SECONDS
        try:
            yield from self._emissions()
        except CancelledError:
            return
        except RefusedError:
            raise
        except StalledError as error:
            parting_seconds = 0.0  # it was waited for already
            raise StalledError(self._located(str(error))) from error
        except SizeupError as error:
            raise SizeupError(self._located(str(error))) from error
        except OSError as error:
            raise SizeupError(self._located(describe_error(error.errno) if error.errno else str(error))) from error
        finally:
            for bench in self._benches:
                bench.close(parting_seconds)

    def _located(self, words: str) -> str:
        """The words with the targets they are about."""
        return words if self._where in words else f"{self._where}: {words}"

    def _emissions(self) -> Generator[Emission, None, None]:
        order, bench = self._order, self._bench
        streams = list(order.streams)
        yield from bench.prepare(order.wish, order.engine, streams, remove_leftovers=order.remove_leftovers)
        for wish in order.more_wishes:
            self._where = wish.path
            another = Workbench(self._context, order.window.stall_seconds, order.threads)
            self._benches.append(another)
            yield from another.prepare(wish, order.engine, streams, remove_leftovers=order.remove_leftovers)
        self._where = order.wish.path
        target = bench.target
        mount = target.mount
        self._place = Place(target.device_number, mount.point if mount and target.network else None)
        self._calm = yield from self._watch_calm()
        yield from self._judge_concurrency()
        if any(stream.durable is not Durable.NO for stream in streams):
            yield from self._flush_cost()
        results = []
        for sweep in order.sweeps:
            points = yield from self._sweep(sweep)
            results.append(points)
        yield from self._conclusions(results)
        if order.more_wishes:
            yield from self._paths()
        yield Progress(1.0, 0.0, "done")

    def _watch_calm(self) -> Generator[Emission, None, Calm]:
        yield Progress(0.0, None, "watching what others do")
        host, pressure, own = facts.read_host_cpu(), facts.read_pressure("cpu"), facts.process_cpu_ns()
        start = time.monotonic()
        while time.monotonic() - start < CALM_SECONDS:
            if self._context.cancelled:
                raise CancelledError
            time.sleep(0.05)
        seconds = time.monotonic() - start
        spent = facts.read_host_cpu().since(host)
        others_ns = max(0, spent.busy_ns - (facts.process_cpu_ns() - own))
        later = facts.read_pressure("cpu")
        waited = (later.some_total_us - pressure.some_total_us) / seconds / 1e4 if later and pressure else None
        return Calm(waited, others_ns / max(1, spent.busy_ns + spent.idle_ns))

    def _sweep(self, sweep: Sweep) -> Generator[Emission, None, list[PointResult]]:
        """Climb as often as asked; later ramps climb as far as the first, so that points have equal shares."""
        order = self._order
        runs: list[list[Measured]] = [[] for _ in sweep.points]
        latest: dict[int, PointResult] = {}
        ramps: list[list[knee.Load]] = []
        total = len(sweep.points) * order.ramps
        for ramp in range(order.ramps):
            climbed: dict[bool, list[knee.Load]] = {True: [], False: []}
            bound: dict[bool, bool] = {True: False, False: False}
            for index, point in enumerate(sweep.points):
                loads = climbed[point.huge_pages]
                if ramp == 0 and sweep.rising and (bound[point.huge_pages] or knee.stopped_paying(loads)):
                    continue
                if ramp and not runs[index]:
                    continue
                done = (ramp * len(sweep.points) + index) / total
                yield Progress(done, (1 - done) * total * self._point_seconds, _describe(point, ramp, order.ramps))
                cached = self._bench.cached_bytes()
                measured = yield from self._measure(point)
                runs[index].append(measured)
                parts = self._verdict(point, measured, cached)
                latest[index] = PointResult(point.at, tuple(runs[index]), parts)
                yield from self._point_estimates(latest[index])
                if sweep.rising:
                    loads.append(knee.Load(int(point.at["outstanding"]), _throughput(point, measured)))
                    if measured.host_busy_share > CPU_BOUND and not self._calm.noise:
                        bound[point.huge_pages] = True
                        yield Gap(
                            f"io.direct: {sweep.workload} beyond {point.at['outstanding']} requests out",
                            f"the ramp ended there: the host's CPUs were {measured.host_busy_share:.0%} busy",
                        )
            ramps.append(climbed[True] or climbed[False])
        if sweep.rising and len(sweep.points) > 1:
            found = estimates.knees(sweep.workload, ramps)
            if found is None or self._calm.noise:
                yield Gap(
                    f"io.direct: knee of {sweep.workload}", "; ".join(self._calm.noise) or "the ramp was too short"
                )
            else:
                yield found
        return list(latest.values())

    @property
    def _point_seconds(self) -> float:
        return self._order.window.warmup_seconds + self._order.window.seconds

    def _measure(self, point: Point) -> Generator[Emission, None, Measured]:
        window = self._order.window
        if any(stream.extends for stream, _ in point.loads):
            self._bench.empty()
            # A file can only grow so far, and a load has its start too: nothing is thrown away.
            window = replace(window, warmup_seconds=0.0)
        return (
            yield from measure(
                [
                    worker
                    for group, (stream, count) in enumerate(point.loads)
                    for worker in self._bench.workers(stream, count, group, huge_pages=point.huge_pages)
                ],
                tuple(stream.name for stream, _ in point.loads),
                point.at,
                window,
                self._context,
                self._place,
            )
        )

    def _point_estimates(self, result: PointResult) -> Iterator[Emission]:
        choice = self._bench.choice
        pooled = estimates.pool(result.runs)
        extra: dict[str, str | int | float] = {
            "engine": choice.engine.value,
            "engine_reason": choice.reason,
            "engine_flags": " ".join(next(iter(pooled.values())).engine_flags),
            "seconds": sum(run.seconds for run in result.runs),
            "errors": sum(interval.errors for interval in pooled.values()),
        }
        yield from estimates.throughput(result.at, result.runs, result.doubts, extra)
        yield from estimates.latencies(result.at, pooled, result.doubts)
        yield from estimates.costs(result.at, result.runs, pooled, self._calm, self._order.clock_hz)
        for part in result.parts:
            yield estimates.honest(result.at, part)

    def _verdict(self, point: Point, run: Measured, cached_before: int | None) -> tuple[honesty.Part, ...]:
        target = self._bench.target
        reads = sum(interval.read_bytes for interval in run.intervals.values())
        writes = sum(interval.written_bytes for interval in run.intervals.values())
        small = [
            interval.quantile_ns("read", 0.5)
            for (stream, _), interval in zip(point.loads, run.intervals.values(), strict=True)
            if stream.block_bytes <= 2 * SMALL_BYTES and interval.count("read")
        ]
        cached = self._bench.cached_bytes()
        extends = any(stream.extends for stream, _ in point.loads)
        charged, device = run.charged_bytes(reads=reads > 0, writes=writes > 0)
        judged = honesty.Facts(
            alignment=self._bench.alignment,
            cache_growth_bytes=None if cached is None or cached_before is None else cached - cached_before,
            asked_bytes=reads + writes,
            charged_bytes=charged,
            device_bytes=device,
            extents=None if extends else self._bench.extents,
            target_bytes=target.size_bytes,
            small_read_p50_ns=min(small, default=None),
            iops=run.iops,
            bytes_per_second=max(reads, writes) / run.seconds,
            path_limit=self._order.path_limit,
            way=self._order.way,
            network=target.network,
            file_system=target.mount.kind if target.mount else "the device",
            virtual=estimates.is_virtual(target.device_number),
        )
        host = run.after.host.since(run.before.host)
        conditions = honesty.Conditions(
            drift=run.halves - 1,
            quiet_pressure_percent=self._calm.pressure_percent,
            quiet_busy_share=self._calm.busy_share,
            stolen_share=host.stolen_ns / max(1, host.busy_ns + host.idle_ns + host.stolen_ns),
            errors=sum(interval.errors for interval in run.intervals.values()),
        )
        return (honesty.judge_direct(judged), honesty.judge_physical(judged), honesty.judge_steady(conditions))

    def _conclusions(self, results: list[list[PointResult]]) -> Iterator[Emission]:
        """What the preset was asked for, beyond its curves."""
        for points in results:
            yield from estimates.page_gains(points)
        match self._order.preset:
            case "calibrate":
                yield from estimates.calibration(results[0], results[1], self._order.max_latency_ns)
            case "redo":
                yield from estimates.redo(results[0])
            case "redo+oltp":
                yield estimates.redo_under_load(results[0][0], results[0][1])
            case "normal":
                yield from estimates.matrix(results[0])

    def _check(self, workers: list[Worker]) -> Measured:
        return silently(measure(workers, ("check",), {}, CHECK_WINDOW, self._context, self._place))

    def _judge_concurrency(self) -> Generator[Emission, None, None]:
        """Writers to one file against writers to files of their own, on written data."""
        ratio, why = None, "not asked for"
        target = self._bench.target
        if target.kind is not Kind.MADE:
            why = "the target is only read" if not target.writable else "the target is a device"
        elif target.size_bytes < WRITERS * WRITER_BYTES or any(stream.extends for stream in self._order.streams):
            why = "the file is too small, or grows"
        elif self._order.check_concurrency:
            yield Progress(0.0, None, f"{WRITERS} writers to one file, and to files of their own")
            ratio, why = yield from self._concurrency()
        yield estimates.honest({}, honesty.judge_concurrent(ratio, why))

    def _concurrency(self) -> Generator[Emission, None, tuple[float | None, str]]:
        bench = self._bench
        try:
            descriptors = yield from bench.more_files(WRITERS, WRITER_BYTES, self._order.wish.reserve_bytes)
        except RefusedError as error:
            return None, str(error)
        one, many = [], []
        for _ in range(CHECK_ROUNDS):
            one.append(self._check(self._writers([bench.target.descriptor] * WRITERS, WRITERS * WRITER_BYTES)).iops)
            many.append(self._check(self._writers(descriptors, WRITER_BYTES)).iops)
        return statistics.median(one) / statistics.median(many), ""

    def _writers(self, descriptors: list[int], size_bytes: int) -> list[Worker]:
        return [
            Worker(
                engine=Engine.THREADS,
                descriptor=descriptor,
                block_bytes=SMALL_BYTES,
                start_bytes=0,
                size_bytes=size_bytes,
                seed=self._bench.next_seed(),
                read_percent=0,
            )
            for descriptor in descriptors
        ]

    def _flush_cost(self) -> Generator[Emission, None, None]:
        """One 8K writer, without and with O_DSYNC, in turns."""
        yield Progress(0.0, None, "one writer, without and with a flush")
        medians: dict[Durable, list[float]] = {Durable.NO: [], Durable.DSYNC: []}
        for _ in range(CHECK_ROUNDS):
            for durable, found in medians.items():
                stream = Stream("check", SMALL_BYTES, read_percent=0, durable=durable)
                measured = self._check(list(self._bench.workers(stream, 1, 0, huge_pages=True)))
                found.append(measured.intervals["check"].quantile_ns("write", 0.5))
        yield estimates.flush_cost(
            statistics.median(medians[Durable.NO]),
            statistics.median(medians[Durable.DSYNC]),
            estimates.write_cache(self._bench.target.device_number),
        )

    def _paths(self) -> Generator[Emission, None, None]:
        """The last point of the first sweep on each path alone, then on all together."""
        (stream, count), *_ = self._order.sweeps[0].points[-1].loads
        unit, rate = ("bytes/s", "bytes_per_second") if stream.block_bytes >= LARGE_BYTES else ("1/s", "iops")
        alone: dict[str, float] = {}
        for bench in self._benches:
            self._where = bench.target.path
            yield Progress(0.9, None, f"{self._where} alone")
            measured = yield from self._on_benches([bench], stream, count, bench.target.path)
            alone[bench.target.path] = getattr(measured, rate)
        self._where = " or ".join(alone)
        yield Progress(0.95, None, "all paths together")
        measured = yield from self._on_benches(self._benches, stream, count, "all together")
        yield estimates.scaling(alone, getattr(measured, rate), unit)

    def _on_benches(
        self, benches: list[Workbench], stream: Stream, count: int, name: str
    ) -> Generator[Emission, None, Measured]:
        at: dict[str, str | int | float] = {
            "workload": self._order.sweeps[0].workload,
            "outstanding": count * len(benches),
            "path": name,
        }
        names = tuple(bench.target.path for bench in benches)
        workers = [
            worker
            for group, bench in enumerate(benches)
            for worker in bench.workers(stream, count, group, huge_pages=True)
        ]
        measured = yield from measure(workers, names, at, self._order.window, self._context, self._place)
        yield from estimates.throughput(at, [measured], (), {})
        return measured


def _describe(point: Point, ramp: int, ramps: int) -> str:
    loads = " and ".join(f"{count} {stream.name}" for stream, count in point.loads)
    return f"{point.at['workload']}: {loads}" + (f", ramp {ramp + 1} of {ramps}" if ramps > 1 else "")


def _throughput(point: Point, measured: Measured) -> float:
    """What a ramp is meant to raise: bytes of large requests, numbers of small ones."""
    large = point.loads[0][0].block_bytes >= LARGE_BYTES
    return measured.bytes_per_second if large else measured.iops
