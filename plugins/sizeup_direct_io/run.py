"""One run: prepare the target, ramp, check, and report the results."""

from __future__ import annotations

import statistics
import time
from collections.abc import Generator, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import RefusedError, SizeupError
from sizeup.model.gap import Gap
from sizeup.model.sample import Progress
from sizeup.probing.api import Context, Emission
from sizeup.procfs.pressure import read_pressure
from sizeup.units import format_ns
from sizeup_direct_io import conclusions, estimates, host_counters, knee
from sizeup_direct_io.call_with_timeout import CanceledError, StalledError
from sizeup_direct_io.check_result import Part
from sizeup_direct_io.checks import Checks, touch
from sizeup_direct_io.disks import other_io, read_disks
from sizeup_direct_io.estimates import BackgroundLoad, PointResult
from sizeup_direct_io.failures import describe_error
from sizeup_direct_io.measure import measure
from sizeup_direct_io.measured_point import MeasuredPoint, Window
from sizeup_direct_io.near_cpus import several_nodes
from sizeup_direct_io.path_bandwidth import TargetBandwidth
from sizeup_direct_io.path_states import PathWatch, watch_paths
from sizeup_direct_io.paths import ComparedLoad, compare_engines, compare_paths, scale_threads
from sizeup_direct_io.point_verdict import PointVerdict, overall, worse
from sizeup_direct_io.presets import WORKING_SET, Durable, LoadPoint, Stream, Sweep, with_target_size
from sizeup_direct_io.target import TargetKind, TargetSpec, refuse_without_effect
from sizeup_direct_io.target_setup import CLOSE_SECONDS_LIMIT, TargetSetup
from sizeup_direct_io.time_budget import FILL_SECONDS, TimeBudget
from sizeup_direct_io.window_counters import CounterSource

BACKGROUND_SECONDS = 2.0
"""How long the load of other processes is measured before the first request."""
CPU_BOUND = 0.95
"""A ramp ends at this CPU utilization of the host: beyond it the scheduler would be measured."""


class RunSettings(Struct, frozen=True):
    """The settings of a run."""

    preset: str
    spec: TargetSpec
    more_targets: tuple[TargetSpec, ...]
    """Further paths, measured alone and all together."""
    sweeps: tuple[Sweep, ...]
    engine: str
    threads: int
    """Submitting threads of an asynchronous engine; 0: by the queue depth."""
    window: Window
    ramps: int
    budget_seconds: float
    """Time of the whole run without comparisons; 0: no limit."""
    path_limit: float | None
    """Payload bytes per second, set by the user; None if not set."""
    path_bandwidth: TargetBandwidth | None
    """By discovery; None if unknown."""
    stated_cache_bytes: int
    """Of the largest cache of array, controller, hypervisor or server, set by the user; 0 if not set."""
    remove_leftovers: bool
    max_latency_ns: float
    clock_hz: float
    """0 if unknown."""
    check_concurrency: bool
    p99_limit_ns: float
    """A ramp ends when latency p99 exceeds it; 0: no limit."""
    compare_engine: str
    """``none``, or the engine to compare with the run's own."""
    more_depths: tuple[int, ...]
    """Queue depth of each of ``more_targets``; empty: that of the first one's best point."""
    scale_threads: bool
    """Find the number of submitting threads at which throughput stops rising."""
    combined_bandwidth: TargetBandwidth | None
    """Of all paths together, by discovery; None if unknown."""

    @property
    def streams(self) -> Iterator[Stream]:
        """Every stream of every point."""
        return (stream for sweep in self.sweeps for point in sweep.points for stream, _ in point.loads)


class Run:
    """Executes one step."""

    def __init__(self, settings: RunSettings, context: Context) -> None:
        self._settings = settings
        self._context = context
        self._setup = TargetSetup(context, settings.window.stall_seconds, settings.threads)
        self._setups = [self._setup]
        self._where = settings.spec.path
        self._parts: list[Part] = []
        """All checks so far."""
        self._paths = PathWatch({})
        self._budget = TimeBudget(settings.budget_seconds)
        self._fill_seconds = FILL_SECONDS if self._budget.limited else None
        self._measured_seconds: list[float] = []
        """Of each window so far, warm-up included."""

    def emissions(self) -> Iterator[Emission]:
        """Yield everything the step emits; the target is removed when it ends, for whatever reason."""
        close_seconds = CLOSE_SECONDS_LIMIT
        try:
            yield from self._emissions()
        except CanceledError:
            return
        except RefusedError:
            raise
        except StalledError as error:
            close_seconds = 0.0  # the wait for it is over
            yield from self._path_gaps(at_once=True)
            raise StalledError(self._located(str(error))) from error
        except SizeupError as error:
            yield from self._path_gaps(at_once=True)
            raise SizeupError(self._located(str(error))) from error
        except OSError as error:
            yield from self._path_gaps(at_once=True)
            raise SizeupError(self._located(describe_error(error.errno) if error.errno else str(error))) from error
        finally:
            for setup in self._setups:
                setup.close(close_seconds)

    def _located(self, words: str) -> str:
        """Return a message with its target, and with the devices and paths that were lost before."""
        located = words if self._where in words else f"{self._where}: {words}"
        removed = filter(None, (setup.describe_loss() for setup in self._setups))
        return "; ".join([located, *removed, *(str(change) for change in self._paths.changes if change.lost)])

    def _path_gaps(self, *, at_once: bool = False) -> Iterator[Gap]:
        """Report path state changes since the last call."""
        self._paths.poll(at_once=at_once)
        for change in self._paths.unreported():
            lost = ": later figures are of the remaining paths" if change.lost else ""
            yield Gap(f"io.direct: path {change.path}", f"{change.event}{lost}")

    def _emissions(self) -> Generator[Emission, None, None]:
        settings, setup = self._settings, self._setup
        streams = list(settings.streams)
        specs = (settings.spec, *settings.more_targets)
        setup.call_with_timeout(
            f"checking {settings.spec.path}",
            lambda: refuse_without_effect(specs, remove_leftovers=settings.remove_leftovers),
        )
        yield from self._prepare(setup, settings.spec, streams)
        start = time.monotonic()
        for spec in settings.more_targets:
            self._where = spec.path
            another = TargetSetup(self._context, settings.window.stall_seconds, settings.threads)
            self._setups.append(another)
            yield from self._prepare(another, spec, streams)
        self._budget.extend(time.monotonic() - start)
        self._where = settings.spec.path
        yield from self._unpinned()
        self._paths = watch_paths(each.target.device_number for each in self._setups)
        if self._paths.down:
            yield Gap("io.direct: paths down before the run", "; ".join(self._paths.down))
        mount = setup.target.mount
        self._counter_source = CounterSource(
            setup.target.device_number, mount.point if mount and setup.target.network else None, self._paths
        )
        self._verdict = yield from self._measure_background()
        yield from self._checks(streams)
        results = []
        for number, sweep in enumerate(settings.sweeps, start=1):
            later = sum(len(other.points) for other in settings.sweeps[number:]) * settings.ramps
            points = yield from self._sweep(sweep, later)
            results.append(points)
        yield from self._conclusions(results)
        if settings.more_targets:
            self._where = ""  # what fails there names its own path
            yield from compare_paths(self._load(results[0]), self._setups, settings.combined_bandwidth)
            self._where = settings.spec.path
        if settings.scale_threads:
            yield from scale_threads(self._load(results[0]), setup, self._counter_source)
        if settings.compare_engine != "none":
            yield from compare_engines(self._load(results[0]), setup, self._counter_source, settings.compare_engine)
        yield from self._path_gaps(at_once=True)
        changes = tuple(map(str, self._paths.changes))
        yield from overall(f"{settings.preset} on {settings.spec.path}", self._parts, changes)
        yield Progress(1.0, 0.0, "done")

    def _prepare(
        self, setup: TargetSetup, spec: TargetSpec, streams: Sequence[Stream]
    ) -> Generator[Emission, None, None]:
        settings = self._settings
        after = sum(len(sweep.points) for sweep in settings.sweeps) * settings.ramps * self._point_seconds
        for emission in setup.prepare(
            spec,
            settings.engine,
            streams,
            remove_leftovers=settings.remove_leftovers,
            fill_seconds=self._fill_seconds,
        ):
            if isinstance(emission, Progress) and emission.remaining_seconds is not None:
                whole = self._budget.left_seconds if self._budget.limited else emission.remaining_seconds + after
                yield replace(emission, remaining_seconds=whole)
            else:
                yield emission

    def _unpinned(self) -> Iterator[Gap]:
        """Report targets whose threads run on any node, where there are several."""
        for setup in self._setups:
            if not setup.near_cpus.groups and several_nodes():
                yield Gap(f"io.direct: CPUs near {setup.target.path}", setup.near_cpus.description)

    def _measure_background(self) -> Generator[Emission, None, PointVerdict]:
        yield Progress(0.0, None, "measuring the load of other processes")
        host, pressure, own = (
            host_counters.read_host_cpu(),
            read_pressure("cpu"),
            host_counters.process_cpu_ns(),
        )
        disks = read_disks(self._counter_source.device_number)
        start = time.monotonic()
        while time.monotonic() - start < BACKGROUND_SECONDS:
            if self._context.canceled:
                raise CanceledError
            time.sleep(0.05)
        seconds = time.monotonic() - start
        host_later, own_ns = host_counters.read_host_cpu(), host_counters.process_cpu_ns() - own
        later, now = read_pressure("cpu"), read_disks(self._counter_source.device_number)
        waited = (later.some_total_us - pressure.some_total_us) / seconds / 1e4 if later and pressure else None
        spent = None if host is None or host_later is None else host_later.since(host)
        others = None if spent is None else max(0, spent.busy_ns - own_ns) / spent.capacity_ns
        self._background = BackgroundLoad(waited, others)
        background_io = other_io(disks, now, seconds, own_read=0, own_written=0) if disks and now else None
        return PointVerdict(
            self._setup,
            self._background,
            background_io,
            self._settings.path_limit,
            self._settings.path_bandwidth,
            self._settings.stated_cache_bytes,
        )

    def _checks(self, streams: Sequence[Stream]) -> Generator[Emission, None, None]:
        checks = Checks(self._setup, self._counter_source, self._context, self._settings.spec.reserve_bytes)
        if self._setup.target.kind is not TargetKind.MADE:
            yield from checks.first_touch()
        for another in self._setups[1:]:
            if another.target.kind is not TargetKind.MADE:
                yield from touch(another)
        extends = any(stream.extends for stream in streams)
        parts = yield from checks.concurrent(wanted=self._settings.check_concurrency, extends=extends)
        for part in parts:
            yield estimates.validity_estimate({}, part)
        self._parts.append(parts[0])  # extending writes are reported separately and are no caveat about the figures
        if self._setup.target.writable and any(stream.durable is not Durable.NO for stream in streams):
            yield from checks.flush_cost()

    def _sweep(self, sweep: Sweep, later: int) -> Generator[Emission, None, list[PointResult]]:
        """Measure all ramps, every second one backward; ``later`` windows of other sweeps follow.

        Later ones end where the first did, so that all points have the same number of windows.
        """
        settings = self._settings
        sized = [with_target_size(point, self._setup.target.size_bytes) for point in sweep.points]
        runs: list[list[MeasuredPoint]] = [[] for _ in sized]
        latest: dict[int, PointResult] = {}
        ramps: list[list[knee.RampPoint]] = []
        ended: dict[bool, str] = {}
        for ramp in range(settings.ramps):
            climbed: dict[bool, list[knee.RampPoint]] = {True: [], False: []}
            order = knee.ramp_order(ramp, len(sized))
            for turn, index in enumerate(order):
                point = sized[index]
                loads = climbed[point.huge_pages]
                if ramp == 0 and sweep.rising and point.huge_pages not in ended and knee.stopped_paying(loads):
                    ended[point.huge_pages] = "two doublings in a row gained less than 10 % each"
                if (ramp == 0 and point.huge_pages in ended) or (ramp and not runs[index]):
                    continue
                now = sum(bool(runs[i]) if ramp else sized[i].huge_pages not in ended for i in order[turn:])
                each = now + sum(map(bool, runs)) if ramp == 0 else sum(map(bool, runs))
                left = now + (settings.ramps - ramp - 1) * each + later
                yield self._progress(left, _describe(point, ramp, settings.ramps))
                cached = self._setup.cached_bytes()
                start = time.monotonic()
                measured = yield from self._measure(point, self._budget.window(settings.window, left))
                self._measured_seconds.append(time.monotonic() - start)
                yield from self._path_gaps()
                parts = self._verdict.parts(point, measured, cached, runs[index])
                runs[index].append(measured)
                parts = worse(latest[index].parts, parts) if index in latest else parts
                latest[index] = PointResult(point.at, tuple(runs[index]), parts)
                yield from self._point_estimates(latest[index])
                if sweep.rising:
                    loads.append(knee.RampPoint(int(point.at["queue_depth"]), measured.throughput(point.unit)))
                    if ramp == 0 and (why := self._why_to_stop(measured)):
                        ended[point.huge_pages] = why
                        yield Gap(
                            f"io.direct: {sweep.workload} beyond queue depth {point.at['queue_depth']}",
                            f"the ramp ended: {why}",
                        )
            ramps.append(sorted(climbed[True] or climbed[False], key=lambda load: load.queue_depth))
        if sweep.rising and len(sized) > 1:
            yield self._knee(sweep, ramps, ended.get(True, ended.get(False, "the preset's maximum was reached")))
        results = list(latest.values())
        self._parts += [part for result in results for part in result.parts]
        return results

    def _why_to_stop(self, measured: MeasuredPoint) -> str:
        """Return why a ramp must end at this point; empty if it may continue."""
        host = measured.host_cpu
        if host is not None and host.busy_share > CPU_BOUND and not self._background.background_caveats:
            return f"host CPU utilization was {host.busy_share:.0%}"
        slowest = max(
            interval.quantile_ns(kind, 0.99) for interval in measured.intervals.values() for kind in ("read", "write")
        )
        limit = self._settings.p99_limit_ns
        if limit and slowest > limit:
            return f"latency p99 of {format_ns(slowest)} exceeds p99_limit ({format_ns(limit)})"
        return ""

    def _knee(self, sweep: Sweep, ramps: Sequence[Sequence[knee.RampPoint]], ended: str) -> Emission:
        unit = sweep.points[0].unit
        found = conclusions.knee_estimate(sweep.workload, ramps, unit, ended)
        if found is None or self._background.background_caveats:
            why = "; ".join(self._background.background_caveats) or f"the ramp was too short: {ended}"
            return Gap(f"io.direct: knee of {sweep.workload}", why)
        return found

    @property
    def _point_seconds(self) -> float:
        """What a window is expected to take: as the ones before, which may have ended later or earlier than set."""
        window = self._settings.window
        return statistics.fmean(self._measured_seconds or [window.warmup_seconds + window.seconds])

    def _progress(self, left: int, activity: str) -> Progress:
        """Return how far the run is, with ``left`` windows to come."""
        done = len(self._measured_seconds)
        seconds = self._budget.left_seconds if self._budget.limited else left * self._point_seconds
        return Progress(done / (done + left), max(0.0, seconds), activity)

    def _measure(self, point: LoadPoint, window: Window) -> Generator[Emission, None, MeasuredPoint]:
        if any(stream.extends for stream, _ in point.loads):
            self._setup.empty()
            # A file can only grow so far, and the start of a load counts too: no warm-up.
            window = replace(window, warmup_seconds=0.0)
        return (
            yield from measure(
                [
                    worker
                    for group, (stream, count) in enumerate(point.loads)
                    for worker in self._setup.workers(
                        stream, count, group, huge_pages=point.huge_pages, share=point.share
                    )
                ],
                tuple(stream.name for stream, _ in point.loads),
                point.at,
                window,
                self._context,
                self._counter_source,
            )
        )

    def _point_estimates(self, result: PointResult) -> Iterator[Emission]:
        choice = self._setup.choice
        pooled = estimates.pool(result.runs)
        extra: dict[str, str | int | float] = {
            "target_bytes": self._setup.target.size_bytes,
            "engine": choice.engine.value,
            "engine_reason": choice.reason,
            "cpus": self._setup.near_cpus.description,
            "threads": result.runs[-1].threads,
            "engine_flags": " ".join(next(iter(pooled.values())).engine_flags),
            "seconds": sum(run.seconds for run in result.runs),
            "ramp_order": knee.order_text(len(result.runs)),
            "errors": sum(interval.errors for interval in pooled.values()),
            **estimates.location(self._setup.target),
        }
        yield from estimates.throughput(result.at, result.runs, result.caveats, extra)
        yield from estimates.latencies(result.at, pooled, result.caveats)
        yield from estimates.costs(result.at, result.runs, pooled, self._background, self._settings.clock_hz)
        for part in result.parts:
            yield estimates.validity_estimate(result.at, part)

    def _conclusions(self, results: list[list[PointResult]]) -> Iterator[Emission]:
        """Yield the results of the preset beyond its curves."""
        for sweep, points in zip(self._settings.sweeps, results, strict=True):
            yield from conclusions.page_gains(points)
            if sweep.rising:
                yield conclusions.full_rate(sweep.workload, points, sweep.points[0].unit)
        match self._settings.preset:
            case "calibrate":
                yield from conclusions.calibration(results[0], results[1], self._settings.max_latency_ns)
            case "redo":
                yield from conclusions.redo(results[0])
            case "redo+oltp":
                yield conclusions.redo_under_load(results[0][0], results[0][1])
            case "normal":
                yield from conclusions.matrix(results[0])
            case str(preset) if preset == WORKING_SET:
                yield from self._working_sets(results[0])

    def _working_sets(self, points: Sequence[PointResult]) -> Iterator[Emission]:
        """Yield what the sweep implies about a cache, and the updated physical check of each point."""
        if self._background.background_caveats:
            yield Gap("io.direct: a cache behind the target", "; ".join(self._background.background_caveats))
            return
        rates = {int(point.at["working_set_bytes"]): point.iops for point in points}
        yield conclusions.working_set(points)
        for point in points:
            part = conclusions.recheck_physical(point, rates)
            self._parts.append(part)
            yield estimates.validity_estimate(point.at, part)

    def _load(self, points: Sequence[PointResult]) -> ComparedLoad:
        """Return the load to compare paths and engines with: the best point of the first sweep."""
        sweep = self._settings.sweeps[0]
        best = max(points, key=lambda point: point.bytes_per_second)
        size_bytes = self._setup.target.size_bytes
        point = next(point for point in sweep.points if with_target_size(point, size_bytes).at == best.at)
        depths = (point.loads[0][1], *self._settings.more_depths) if self._settings.more_depths else ()
        window = self._budget.compared(self._settings.window)
        return ComparedLoad(point, window, self._context, self._verdict, self._paths, depths)


def _describe(point: LoadPoint, ramp: int, ramps: int) -> str:
    loads = " and ".join(f"{count} {stream.name}" for stream, count in point.loads)
    return f"{point.at['workload']}: {loads}" + (f", ramp {ramp + 1} of {ramps}" if ramps > 1 else "")
