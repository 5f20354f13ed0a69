"""One run: prepare the target, ramp, judge, and say what came out."""

from __future__ import annotations

import itertools
import os
import secrets
import statistics
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeVar

from sizeup.errors import RefusedError, SizeupError
from sizeup.model.gap import Gap
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Context, Emission
from sizeup.units import format_bytes
from sizeup_direct_io import binding, facts, honesty, knee
from sizeup_direct_io.binding import Engine, Interval, Job, Pattern, Worker
from sizeup_direct_io.engines import choose
from sizeup_direct_io.measure import Measured, Window, describe_error, half_width, measure
from sizeup_direct_io.patience import CancelledError, StalledError, patiently
from sizeup_direct_io.presets import READ_AHEAD, Durable, Point, Stream, Sweep
from sizeup_direct_io.target import Kind, Wish, find_leftovers, open_target, room

FILL_BLOCK_BYTES = 1 << 20
FILL_DEPTH = 4
CALM_SECONDS = 2.0
"""How long the host is watched before the first request, for what others do."""
METADATA_SECONDS = 60.0
"""Opening, allocating and flushing may take this long on a target that answers at all."""
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Order:
    """Everything a run was told."""

    wish: Wish
    sweeps: tuple[Sweep, ...]
    engine: str
    threads: int
    """Submitting threads of an asynchronous engine; 0: one for each 16 requests out, at most one per CPU."""
    window: Window
    ramps: int
    path_limit: float | None
    remove_leftovers: bool
    max_latency_ns: float
    calibrate: bool


@dataclass(frozen=True, slots=True)
class Calm:
    """What others did before the first request."""

    pressure_percent: float | None
    busy_share: float


class Run:
    """One step at work."""

    def __init__(self, order: Order, context: Context) -> None:
        self._order = order
        self._context = context
        self._open = ExitStack()
        self._seeds = itertools.count(secrets.randbits(62))
        self._descriptors: dict[Durable, int] = {}
        self._cached_before: int | None = None

    def emissions(self) -> Iterator[Emission]:
        """Everything the step yields, in order; the target is gone when it ends, however it ends."""
        try:
            with self._open:
                yield from self._emissions()
        except CancelledError:
            return

    def _patiently(self, doing: str, function: Callable[[], Result], seconds: float = METADATA_SECONDS) -> Result:
        return patiently(doing, function, limit_seconds=seconds, context=self._context)

    def _emissions(self) -> Generator[Emission, None, None]:
        order = self._order
        yield Progress(0.0, None, "opening the target")
        self._target = target = self._patiently("opening the target", lambda: open_target(order.wish))
        self._open.callback(target.close)
        self._descriptors[Durable.NO] = self._descriptors[Durable.FDATASYNC] = target.descriptor
        self._check_alignment()
        extends = any(sweep.extends for sweep in order.sweeps)
        self._choice = choose(order.engine, facts.read_policy(), network=target.network, extending=extends)
        yield from self._look_for_leftovers()
        if target.kind in {Kind.MADE, Kind.WRITABLE_DEVICE}:
            yield from self._fill()
        self._extents = self._patiently(
            "mapping extents", lambda: binding.extents(target.descriptor, target.size_bytes)
        )
        self._patiently("emptying the page cache", self._evict)
        calm = yield from self._watch_calm()
        yield from self._ramps(calm)

    def _check_alignment(self) -> None:
        self._alignment = binding.alignment(self._target.descriptor)
        if self._alignment is None or self._alignment == (0, 0):
            return
        for block_bytes in {stream.block_bytes for stream in self._streams()}:
            if block_bytes % self._alignment[1]:
                raise RefusedError(
                    f"block={block_bytes}: direct I/O to {self._target.path} comes in multiples of "
                    f"{self._alignment[1]} bytes"
                )

    def _streams(self) -> Iterator[Stream]:
        for sweep in self._order.sweeps:
            for point in sweep.points:
                for stream, _ in point.loads:
                    yield stream

    def _look_for_leftovers(self) -> Generator[Emission, None, None]:
        path = self._target.path
        if self._target.kind is not Kind.MADE:
            return
        for leftover in self._patiently("looking for leftovers", lambda: find_leftovers(path, os.uname().nodename)):
            if self._order.remove_leftovers:
                self._patiently("removing a leftover", lambda name=leftover: os.unlink(name))  # type: ignore[misc]
                yield Gap(leftover, "was left over from a run that died; removed")
            else:
                yield Gap(leftover, "is left over from a run that died; remove it, or give remove_leftovers=true")

    def _fill(self) -> Generator[Emission, None, None]:
        """Write every byte once, with data that no array can shrink."""
        target, window = self._target, self._order.window
        engine = choose("auto", facts.read_policy(), network=target.network, extending=True).engine
        count = FILL_DEPTH if engine is Engine.THREADS else 1
        share = target.size_bytes // count // FILL_BLOCK_BYTES * FILL_BLOCK_BYTES
        workers = [
            Worker(
                engine=engine,
                descriptor=target.descriptor,
                block_bytes=FILL_BLOCK_BYTES,
                start_bytes=target.start_bytes + index * share,
                size_bytes=share if index < count - 1 else target.size_bytes - index * share,
                pattern=Pattern.ONCE,
                seed=next(self._seeds),
                read_percent=0,
                depth=FILL_DEPTH // count,
                error_limit=1,
                fresh_data=True,
            )
            for index in range(count)
        ]
        with Job(workers, patience_seconds=window.stall_seconds) as job:
            while True:
                time.sleep(0.05)
                sample = job.sample()
                if self._context.cancelled:
                    raise CancelledError
                if sample.error is not None:
                    raise SizeupError(f"filling {target.path} failed with {describe_error(sample.error)}")
                if not sample.running:
                    break
                if sample.idle_ns > window.stall_seconds * 1e9:
                    raise StalledError(
                        f"stalled: filling {target.path} made no progress for {window.stall_seconds:g} s"
                    )
                self._keep_reserve()
                yield Progress(
                    0.0, None, f"filling {format_bytes(sample.written_bytes)} of {format_bytes(target.size_bytes)}"
                )
        self._patiently("flushing the target", lambda: os.fsync(target.descriptor))

    def _keep_reserve(self) -> None:
        """Stop when others eat the space that should stay free."""
        target = self._target
        if target.kind is Kind.MADE and target.reserve_bytes:
            left, _ = self._patiently("asking for free space", lambda: room(target.descriptor, 1))
            if left < target.reserve_bytes // 2:
                raise SizeupError(f"{target.path}: free space fell to {format_bytes(left)}; stopped and cleaned up")

    def _evict(self) -> None:
        target = self._target
        if target.kind in {Kind.MADE, Kind.FILE}:
            os.posix_fadvise(target.descriptor, 0, 0, os.POSIX_FADV_DONTNEED)

    def _cached(self) -> int | None:
        target = self._target
        if target.kind not in {Kind.MADE, Kind.FILE}:
            return None
        try:
            return binding.cached_bytes(target.descriptor, target.size_bytes)
        except OSError:
            return None

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

    def _ramps(self, calm: Calm) -> Generator[Emission, None, None]:
        order = self._order
        total = sum(len(sweep.points) for sweep in order.sweeps) * order.ramps
        done = 0
        for sweep in order.sweeps:
            results: list[list[Measured]] = [[] for _ in sweep.points]
            ramps: list[list[knee.Load]] = []
            for ramp in range(order.ramps):
                climbed: dict[bool, list[knee.Load]] = {True: [], False: []}
                for point, runs in zip(sweep.points, results, strict=True):
                    done += 1
                    loads = climbed[point.huge_pages]
                    # Later ramps climb exactly as far as the first, so that points have equal shares.
                    if ramp and not runs:
                        continue
                    if ramp == 0 and sweep.rising and knee.stopped_paying(loads):
                        continue
                    yield Progress((done - 1) / total, None, _describe(point, ramp, order.ramps))
                    measured = yield from self._measure(point)
                    runs.append(measured)
                    yield from self._point_estimates(point, runs, calm)
                    if sweep.rising:
                        loads.append(knee.Load(int(point.at["outstanding"]), _throughput(point, measured)))
                ramps.append(climbed[True] or climbed[False])
            yield from self._sweep_estimates(sweep, ramps, calm)

    def _measure(self, point: Point) -> Generator[Emission, None, Measured]:
        self._cached_before = self._cached()
        names = tuple(stream.name for stream, _ in point.loads)
        workers = [
            worker
            for group, (stream, count) in enumerate(point.loads)
            for worker in self._workers(stream, count, group, huge_pages=point.huge_pages)
        ]
        return (
            yield from measure(workers, names, point.at, self._order.window, self._context, self._target.device_number)
        )

    def _descriptor(self, stream: Stream) -> int:
        if stream.durable is Durable.DSYNC and Durable.DSYNC not in self._descriptors:
            target = self._target
            again = self._patiently(
                "opening the target again", lambda: target.opened_again(os.O_RDWR | os.O_DIRECT | os.O_DSYNC)
            )
            self._open.callback(os.close, again)
            self._descriptors[Durable.DSYNC] = again
        return self._descriptors[stream.durable]

    def _workers(self, stream: Stream, count: int, group: int, *, huge_pages: bool) -> list[Worker]:
        """The threads that keep ``count`` requests (or streams) of one kind out."""
        engine = Engine.THREADS if stream.durable is Durable.FDATASYNC else self._choice.engine
        if stream.streams:
            depths = [READ_AHEAD] * count
        else:
            submitters = self._order.threads or max(1, min(os.cpu_count() or 1, count // 16))
            submitters = min(submitters, count)
            depths = [count // submitters + (index < count % submitters) for index in range(submitters)]
        if engine is Engine.THREADS:
            depths = [1] * sum(depths)
        target = self._target
        own_regions = stream.streams or (stream.pattern is not Pattern.RANDOM and len(depths) > 1)
        pieces = len(depths) if own_regions else 1
        region = target.size_bytes // pieces // stream.block_bytes * stream.block_bytes
        if not region:
            raise RefusedError(
                f"size: {format_bytes(target.size_bytes)} hold no {pieces} regions of {stream.block_bytes} bytes"
            )
        return [
            Worker(
                engine=engine,
                descriptor=self._descriptor(stream),
                block_bytes=stream.block_bytes,
                start_bytes=target.start_bytes + (index * region if own_regions else 0),
                size_bytes=region,
                group=group,
                pattern=stream.pattern,
                seed=next(self._seeds),
                interval_ns=round(len(depths) / stream.rate * 1e9) if stream.rate else 0,
                read_percent=stream.read_percent,
                depth=depth,
                huge_pages=huge_pages,
                fdatasync_each=stream.durable is Durable.FDATASYNC,
            )
            for index, depth in enumerate(depths)
        ]

    def _point_estimates(self, point: Point, runs: list[Measured], calm: Calm) -> Generator[Emission, None, None]:
        pooled = _pool(runs)
        verdict = self._verdict(point, runs[-1], calm)
        doubts = _doubts(verdict)
        if any(not run.converged for run in runs):
            doubts += ("did not converge: the interval stayed wide",)
        blocks = [block for run in runs for block in run.blocks]
        iops = statistics.median(run.iops for run in runs)
        rate = statistics.median(run.bytes_per_second for run in runs)
        width = half_width(blocks) or 0.0
        share = width / statistics.fmean(blocks) if blocks and statistics.fmean(blocks) else 0.0
        converged = all(run.converged for run in runs)
        extra = {
            "engine": self._choice.engine.value,
            "engine_reason": self._choice.reason,
            "engine_flags": " ".join(next(iter(pooled.values())).engine_flags),
            "seconds": sum(run.seconds for run in runs),
        }
        for series, value in (("iops", iops), ("rate", rate)):
            yield Estimate(
                series,
                point.at,
                value,
                low=value * (1 - share),
                high=value * (1 + share),
                replicates=len(runs),
                converged=converged,
                doubts=doubts,
                extra=extra,
            )
        several = len(pooled) > 1
        for name, interval in pooled.items():
            for kind in ("read", "write"):
                if interval.count(kind):
                    at = {**point.at, "direction": kind, **({"stream": name} if several else {})}
                    yield from _latency_estimates("latency", at, interval, kind, doubts)
            if interval.count("response"):
                at = {**point.at, **({"stream": name} if several else {})}
                yield from _latency_estimates("response", at, interval, "response", doubts)
        yield from _cost_estimates(point.at, runs, pooled)
        for part in verdict:
            yield _honesty_estimate(point.at, part)

    def _verdict(self, point: Point, run: Measured, calm: Calm) -> tuple[honesty.Part, ...]:
        target = self._target
        reads = sum(interval.read_bytes for interval in run.intervals.values())
        writes = sum(interval.written_bytes for interval in run.intervals.values())
        small = [
            interval.quantile_ns("read", 0.5)
            for (stream, _), interval in zip(point.loads, run.intervals.values(), strict=True)
            if stream.block_bytes <= 16384 and interval.count("read")
        ]
        cached = self._cached()
        growth = cached - self._cached_before if cached is not None and self._cached_before is not None else None
        before, after = run.before, run.after
        charged = device = None
        if before.accounting and after.accounting:
            charged = (after.accounting.read_bytes - before.accounting.read_bytes) * (reads > 0) + (
                after.accounting.written_bytes - before.accounting.written_bytes
            ) * (writes > 0)
        if before.device and after.device:
            device = (after.device.read_bytes - before.device.read_bytes) * (reads > 0) + (
                after.device.written_bytes - before.device.written_bytes
            ) * (writes > 0)
        host = after.host.since(before.host)
        judged = honesty.Facts(
            alignment=self._alignment,
            cache_growth_bytes=growth,
            asked_bytes=reads + writes,
            charged_bytes=charged,
            device_bytes=device,
            extents=self._extents,
            target_bytes=target.size_bytes,
            small_read_p50_ns=min(small) if small else None,
            iops=run.iops,
            bytes_per_second=run.bytes_per_second,
            path_limit=self._order.path_limit,
            network=target.network,
            file_system=target.mount.kind if target.mount else "the device",
            virtual=_is_virtual(target.device_number),
        )
        conditions = honesty.Conditions(
            drift=run.halves - 1,
            quiet_pressure_percent=calm.pressure_percent,
            quiet_busy_share=calm.busy_share,
            stolen_share=host.stolen_ns / max(1, host.busy_ns + host.idle_ns + host.stolen_ns),
            errors=sum(interval.errors for interval in run.intervals.values()),
        )
        return (honesty.judge_direct(judged), honesty.judge_physical(judged), honesty.judge_steady(conditions))

    def _sweep_estimates(
        self, sweep: Sweep, ramps: list[list[knee.Load]], calm: Calm
    ) -> Generator[Emission, None, None]:
        if not sweep.rising or len(sweep.points) < 2:
            return
        found = knee.agree(ramps)
        at = {"workload": sweep.workload}
        reasons = honesty.noise(honesty.Conditions(0.0, calm.pressure_percent, calm.busy_share, 0.0, 0))
        if found is None or reasons:
            yield Gap(f"io.direct knee of {sweep.workload}", "; ".join(reasons) or "the ramp was too short")
            return
        doubts = () if found.agreed else (f"the ramps disagree: {', '.join(map(str, found.per_ramp))}",)
        yield Estimate(
            "knee",
            at,
            float(found.outstanding),
            low=float(min(found.per_ramp)),
            high=float(max(found.per_ramp)),
            replicates=len(found.per_ramp),
            doubts=doubts,
            extra={"throughput": found.throughput, "maximum": max(load.throughput for ramp in ramps for load in ramp)},
        )


def _describe(point: Point, ramp: int, ramps: int) -> str:
    loads = " and ".join(f"{count} {stream.name}" for stream, count in point.loads)
    return f"{point.at['workload']}: {loads}" + (f", ramp {ramp + 1} of {ramps}" if ramps > 1 else "")


def _throughput(point: Point, measured: Measured) -> float:
    """What a ramp is meant to raise: bytes of large requests, numbers of small ones."""
    large = point.loads[0][0].block_bytes >= FILL_BLOCK_BYTES
    return measured.bytes_per_second if large else measured.iops


def _pool(runs: list[Measured]) -> dict[str, Interval]:
    pooled = dict(runs[0].intervals)
    for run in runs[1:]:
        pooled = {name: interval.pooled_with(run.intervals[name]) for name, interval in pooled.items()}
    return pooled


def _is_virtual(device_number: int) -> bool:
    """Whether the device is a hypervisor's, by the driver its sysfs path names."""
    path = os.path.realpath(f"/sys/dev/block/{os.major(device_number)}:{os.minor(device_number)}")
    return any(part.startswith(("virtio", "vbd-", "vmbus")) for part in path.split("/"))


def _latency_estimates(
    prefix: str, at: Mapping[str, str | int | float], interval: Interval, kind: str, doubts: tuple[str, ...]
) -> Iterator[Estimate]:
    extra = {
        f"{name}_ns": interval.quantile_ns(kind, quantile)
        for name, quantile in (("minimum", 0.0), ("p90", 0.9), ("p99_9", 0.999), ("p99_99", 0.9999), ("maximum", 1.0))
    }
    extra["count"] = interval.count(kind)
    yield Estimate(f"{prefix}-mean", at, interval.mean_ns(kind), doubts=doubts)
    yield Estimate(f"{prefix}-p50", at, interval.quantile_ns(kind, 0.5), doubts=doubts, extra=extra)
    yield Estimate(f"{prefix}-p99", at, interval.quantile_ns(kind, 0.99), doubts=doubts, extra=extra)


def _cost_estimates(
    at: Mapping[str, str | int | float], runs: list[Measured], pooled: Mapping[str, Interval]
) -> Iterator[Estimate]:
    """CPU time per request and per megabyte: of the workers, and of the whole host beside it."""
    requests = sum(interval.usage_requests for interval in pooled.values())
    moved = sum(interval.usage_bytes for interval in pooled.values())
    if not requests:
        return
    user = sum(interval.user_ns for interval in pooled.values())
    system = sum(interval.system_ns for interval in pooled.values())
    hosts = [run.after.host.since(run.before.host) for run in runs]
    host_busy = sum(host.busy_ns for host in hosts)
    done = sum(run.requests for run in runs)
    capacity = sum(host.busy_ns + host.idle_ns for host in hosts)
    extra: dict[str, str | int | float] = {
        "user_ns": user / requests,
        "system_ns": system / requests,
        "run_delay_ns": sum(interval.run_delay_ns for interval in pooled.values()) / requests,
        "voluntary_switches": sum(interval.voluntary_switches for interval in pooled.values()) / requests,
        "submit_calls": sum(interval.submit_calls for interval in pooled.values()) / requests,
        "host_ns": host_busy / max(1, done),
        "host_interrupts": sum(host.interrupts for host in hosts) / max(1, done),
        "host_switches": sum(host.switches for host in hosts) / max(1, done),
        "host_kernel_share": sum(host.system_ns + host.interrupt_ns for host in hosts) / max(1, capacity),
    }
    yield Estimate("cpu-per-io", at, (user + system) / requests, extra=extra)
    yield Estimate("cpu-per-mb", at, (user + system) / (moved / 1e6), extra=extra)


def _doubts(verdict: tuple[honesty.Part, ...]) -> tuple[str, ...]:
    """What speaks against a figure, to stand beside it."""
    return tuple(
        f"{part.name}: {reason}"
        for part in verdict
        if part.verdict in {honesty.Verdict.FAIL, honesty.Verdict.DOUBT}
        for reason in part.reasons[-1:]
        if part.reasons
    )


def _honesty_estimate(at: Mapping[str, str | int | float], part: honesty.Part) -> Estimate:
    value = {honesty.Verdict.PASS: 1.0, honesty.Verdict.FAIL: 0.0}.get(part.verdict, 0.5)
    return Estimate(
        "honest",
        {**at, "part": part.name},
        value,
        extra={"verdict": part.verdict.value, "reasons": "; ".join(part.reasons)},
    )
