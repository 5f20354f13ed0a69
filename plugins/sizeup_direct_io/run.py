"""What every step on targets has in common; and that of io.direct: prepare, check, measure the sweeps, report."""

from __future__ import annotations

import statistics
import time
from collections.abc import Generator, Iterator, Sequence

from msgspec.structs import replace

from sizeup.errors import RefusedError, SizeupError
from sizeup.model.machine import Gap
from sizeup.model.sample import Progress
from sizeup.probing.api import Context, Emission
from sizeup.units import as_percent, format_bytes, format_ns
from sizeup_direct_io import conclusions, estimates
from sizeup_direct_io.binding import IoJob
from sizeup_direct_io.call_with_timeout import CanceledError, StalledError, describe_failure
from sizeup_direct_io.cold_read import cold_estimate, cold_read
from sizeup_direct_io.comparisons import Checks, ComparedLoad, compare_engines, compare_paths, scale_threads, touch
from sizeup_direct_io.disks import PathWatch, find_path_files, several_nodes
from sizeup_direct_io.durations import FILL_SECONDS, TimeBudget, objective_seconds, windows
from sizeup_direct_io.estimates import PointResult
from sizeup_direct_io.measure import MeasuredPoint, measure_loads
from sizeup_direct_io.point_verdict import PointVerdict, overall, worse
from sizeup_direct_io.presets import SUSTAINED, WORKING_SET, Durable, Stream, Sweep, with_target_size
from sizeup_direct_io.settings import RunSettings
from sizeup_direct_io.slo import Objective, find_rate
from sizeup_direct_io.sustained import CliffWatch
from sizeup_direct_io.target import CLOSE_SECONDS_LIMIT, TargetKind, TargetSetup, TargetSpec, refuse_without_effect
from sizeup_direct_io.validity import Part
from sizeup_direct_io.window_counters import BackgroundLoad, CounterSource, measure_background

CPU_BOUND = 0.95
"""A ramp ends at this CPU utilization of the host: beyond it the scheduler would be measured."""


class TargetRun:
    """A step on some targets, which are gone when it ends, for whatever reason."""

    probe = "io.direct"

    def __init__(self, context: Context, path: str) -> None:
        self._context = context
        self._where = path
        self._setups: list[TargetSetup] = []
        self._parts: list[Part] = []
        """All checks so far."""
        self._paths = PathWatch({})

    def emissions(self) -> Iterator[Emission]:
        """Yield everything the step emits; raise what failed with the target, and with what was lost before."""
        close_seconds = CLOSE_SECONDS_LIMIT
        try:
            yield from self._emissions()
        except CanceledError:
            return
        except RefusedError:
            raise
        except (SizeupError, OSError) as error:
            yield from self._paths.gaps(self.probe, at_once=True)
            message = describe_failure(error)
            message = message if self._where in message else f"{self._where}: {message}"
            removed = filter(None, (setup.describe_loss() for setup in self._setups))
            message = "; ".join([message, *removed, *(str(change) for change in self._paths.changes if change.lost)])
            if isinstance(error, StalledError):
                close_seconds = 0.0  # the wait for it is over
                raise StalledError(message) from error
            raise SizeupError(message) from error
        finally:
            for setup in self._setups:
                setup.close(close_seconds)

    def _emissions(self) -> Generator[Emission, None, None]:
        """Yield everything that the step itself emits."""
        raise NotImplementedError

    def _start(self) -> Generator[Emission, None, tuple[CounterSource, BackgroundLoad]]:
        """Watch the paths to all targets; return where the counters of the first are, and the load of others."""
        self._paths = PathWatch(find_path_files(*(each.target.device_number for each in self._setups)))
        if self._paths.down:
            yield Gap(f"{self.probe}: paths down before the run", "; ".join(self._paths.down))
        target = self._setups[0].target
        background = yield from measure_background(target.device_number, self._context)
        return CounterSource(target.device_number, target.nfs_mount_point, self._paths), background


class Run(TargetRun):
    """Executes one step."""

    def __init__(self, settings: RunSettings, context: Context) -> None:
        super().__init__(context, settings.path)
        self._settings = settings
        self._sweeps = settings.sweeps
        self._setup = self._new_setup()
        self._budget = TimeBudget(settings.budget - objective_seconds(settings))
        self._measured_seconds: list[float] = []
        """Of each window so far, warm-up included."""

    def _new_setup(self) -> TargetSetup:
        self._setups.append(TargetSetup(self._context, self._settings.stall, self._settings.threads))
        return self._setups[-1]

    def _emissions(self) -> Generator[Emission, None, None]:
        settings, setup = self._settings, self._setup
        self._watch = CliffWatch(settings, setup) if settings.preset == SUSTAINED else None
        streams = list(settings.streams)
        first, *others = specs = [replace(settings.spec, path=path) for path in (settings.path, *settings.other_paths)]
        setup.call_with_timeout(
            f"checking {settings.path}",
            lambda: refuse_without_effect(specs, remove_leftovers=settings.remove_leftovers),
        )
        yield from self._prepare(setup, first, streams)
        start = time.monotonic()
        for spec in others:
            self._where = spec.path
            yield from self._prepare(self._new_setup(), spec, streams)
        self._budget.extend(time.monotonic() - start)
        self._where = settings.path
        yield from self._leave_out_unaligned()
        for each in self._setups:
            if not each.near_cpus.groups and several_nodes():
                yield Gap(f"io.direct: CPUs near {each.target.path}", each.near_cpus.description)
        self._counter_source, background = yield from self._start()
        self._verdict = PointVerdict(setup, background, settings)
        yield from self._checks(streams)
        cold = None
        if settings.cold_read:
            depth = max(count for point in self._sweeps[0].points for _, count in point.loads)
            cold = yield from cold_read(setup, depth, self._context, self._counter_source)
        results = []
        for number, sweep in enumerate(self._sweeps, start=1):
            later = sum(len(other.points) for other in self._sweeps[number:]) * settings.ramps
            points = yield from self._measure_sweep(sweep, later)
            self._parts += [part for result in points for part in result.parts]
            results.append(points)
        yield from self._watch.results(results[0][0]) if self._watch else ()
        if cold is not None:
            yield cold_estimate(setup, cold, results[0])
        if IoJob.gentle is None:  # capped figures show neither what a device reaches nor what that costs
            yield from self._conclusions(results)
            if objective_seconds(settings):
                yield from self._objective(results)
        if settings.other_paths:
            self._where = ""  # what fails there names its own path
            yield from compare_paths(self._load(results[0]), self._setups, settings.bandwidth("combined_bandwidth"))
            self._where = settings.path
        if settings.scale_threads:
            yield from scale_threads(self._load(results[0]))
        if settings.compare_engine != "none":
            yield from compare_engines(self._load(results[0]), settings.compare_engine)
        yield from self._paths.gaps(at_once=True)
        yield from overall(f"{settings.preset} on {settings.path}", self._parts, [*map(str, self._paths.changes)])
        yield Progress(1.0, 0.0, "done")

    def _prepare(
        self, setup: TargetSetup, spec: TargetSpec, streams: Sequence[Stream]
    ) -> Generator[Emission, None, None]:
        settings = self._settings
        after = windows(settings) * (settings.warmup + settings.seconds)
        leftovers, limit = settings.remove_leftovers, FILL_SECONDS if self._budget.limited else None
        for emission in setup.prepare(spec, settings.engine, streams, remove_leftovers=leftovers, fill_seconds=limit):
            if isinstance(emission, Progress) and emission.remaining_seconds is not None:
                whole = self._budget.left_seconds if self._budget.limited else emission.remaining_seconds + after
                yield replace(emission, remaining_seconds=whole)
            else:
                yield emission

    def _leave_out_unaligned(self) -> Iterator[Gap]:
        """Leave out points with a block size that a target does not accept, such as 512 bytes on 4 KiB sectors."""
        setup = max(self._setups, key=lambda each: each.unit_bytes)
        unit, path = setup.unit_bytes, setup.target.path
        sweeps = []
        for sweep in self._sweeps:
            points = tuple(point for point in sweep.points if not any(s.block_bytes % unit for s, _ in point.loads))
            left_out = {s.block_bytes for point in sweep.points for s, _ in point.loads if s.block_bytes % unit}
            reason = f"direct I/O to {path} needs a multiple of {unit} bytes"
            if not points:
                raise RefusedError(f"{sweep.workload}: {reason}")
            if left_out:
                sizes = ", ".join(map(format_bytes, sorted(left_out)))
                yield Gap(f"io.direct: {sweep.workload} with blocks of {sizes}", f"not measured: {reason}")
            sweeps.append(replace(sweep, points=points))
        self._sweeps = tuple(sweeps)

    def _checks(self, streams: Sequence[Stream]) -> Generator[Emission, None, None]:
        checks = Checks(self._setup, self._counter_source, self._context, self._settings.reserve)
        for setup in self._setups:
            times = None if setup.target.kind is TargetKind.MADE else (yield from touch(setup))
            if times is not None and setup is self._setup:
                yield conclusions.first_touch(*times)
        parts = yield from checks.concurrent(wanted=self._settings.check_concurrency, extends=self._settings.extends)
        for part in parts:
            yield estimates.validity_estimate({}, part)
        self._parts.append(parts[0])  # extending writes are reported separately and are no caveat about the figures
        if self._setup.target.writable and any(stream.durable is not Durable.NO for stream in streams):
            yield from checks.flush_cost()

    def _measure_sweep(self, sweep: Sweep, later: int) -> Generator[Emission, None, list[PointResult]]:
        """Measure all ramps, every second one backward; ``later`` windows of other sweeps follow.

        Later ones end where the first did, so that all points have the same number of windows.
        """
        settings = self._settings
        sized = [with_target_size(point, self._setup.target.size_bytes) for point in sweep.points]
        latest: dict[int, PointResult] = {}
        ramps: list[list[conclusions.RampPoint]] = []
        ended: dict[bool, str] = {}
        for ramp in range(settings.ramps):
            climbed: dict[bool, list[conclusions.RampPoint]] = {True: [], False: []}
            order = conclusions.ramp_order(ramp, len(sized))
            for turn, index in enumerate(order):
                point = sized[index]
                loads = climbed[point.huge_pages]
                if ramp == 0 and sweep.rising and point.huge_pages not in ended and conclusions.stopped_paying(loads):
                    ended[point.huge_pages] = "two doublings in a row gained less than 10 % each"
                if (ramp == 0 and point.huge_pages in ended) or (ramp and index not in latest):
                    continue
                now = sum(i in latest if ramp else sized[i].huge_pages not in ended for i in order[turn:])
                each = len(latest) if ramp else len(latest) + now
                left = now + (settings.ramps - ramp - 1) * each + later
                loaded = " and ".join(f"{count} {stream.name}" for stream, count in point.loads)
                turns = f", ramp {ramp + 1} of {settings.ramps}" if settings.ramps > 1 else ""
                yield self._progress(left, f"{point.at['workload']}: {loaded}{turns}")
                cached = self._setup.cached_bytes()
                start = time.monotonic()
                streams = {stream.name: (self._setup, stream, count) for stream, count in point.loads}
                window, huge, share = self._budget.window(settings.window, left), point.huge_pages, point.share
                around = window, self._context, self._counter_source, self._watch
                measured = yield from measure_loads(streams, point.at, *around, huge_pages=huge, share=share)
                self._measured_seconds.append(time.monotonic() - start)
                yield from self._paths.gaps()
                earlier = latest.get(index, PointResult(point.at, (), ()))
                parts = self._verdict.parts(point, measured, cached, earlier.runs)
                parts = worse(earlier.parts, parts) if earlier.runs else parts
                latest[index] = PointResult(point.at, (*earlier.runs, measured), parts)
                yield from self._point_estimates(latest[index])
                if sweep.rising:
                    loads.append(conclusions.RampPoint(int(point.at["queue_depth"]), measured.throughput(point.unit)))
                    if ramp == 0 and (why := self._why_to_stop(measured)):
                        ended[point.huge_pages] = why
                        yield Gap(
                            f"io.direct: {sweep.workload} beyond queue depth {point.at['queue_depth']}",
                            f"the ramp ended: {why}",
                        )
            ramps.append(sorted(climbed[True] or climbed[False], key=lambda load: load.queue_depth))
        if sweep.rising and len(sized) > 1 and IoJob.gentle is None:
            end = ended.get(True, ended.get(False, "the preset's maximum was reached"))
            why = "; ".join(self._verdict.background.background_caveats)
            found = None if why else conclusions.knee_estimate(sweep.workload, ramps, sweep.points[0].unit, end)
            why = why or f"throughput falls before a knee is reached, or the ramp was too short: {end}"
            yield found or Gap(f"io.direct: knee of {sweep.workload}", why)
        return list(latest.values())

    def _why_to_stop(self, measured: MeasuredPoint) -> str:
        """Return why a ramp must end at this point; empty if it may continue."""
        host = measured.host_cpu
        if host is not None and host.busy_share > CPU_BOUND and not self._verdict.background.background_caveats:
            return f"host CPU utilization was {as_percent(host.busy_share)}"
        slowest = max(
            each.quantile_ns(kind, 0.99) for each in measured.intervals.values() for kind in ("read", "write")
        )
        limit = self._settings.p99_limit * 1e9
        if limit and slowest > limit:
            return f"latency p99 of {format_ns(slowest)} exceeds p99_limit ({format_ns(limit)})"
        return ""

    def _progress(self, left: int, activity: str) -> Progress:
        """Return how far the run is, with ``left`` windows to come, which may end later or earlier than set."""
        done, window = len(self._measured_seconds), self._settings.window
        each = statistics.fmean(self._measured_seconds or [window.warmup_seconds + window.seconds])
        seconds = self._budget.left_seconds if self._budget.limited else left * each
        return Progress(done / (done + left), max(0.0, seconds), activity)

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
            "ramp_order": ", ".join(("forward", "backward")[ramp % 2] for ramp in range(len(result.runs))),
            "errors": sum(interval.errors for interval in pooled.values()),
            **estimates.location(self._setup.target),
            **estimates.other_load(result.runs),
        }
        yield from estimates.throughput(result.at, result.runs, result.caveats, extra)
        yield from estimates.latencies(result.at, pooled, result.caveats)
        yield from estimates.costs(result.at, result.runs, pooled, self._verdict.background, self._settings.clock_hz)
        for part in result.parts:
            yield estimates.validity_estimate(result.at, part)

    def _conclusions(self, results: list[list[PointResult]]) -> Iterator[Emission]:
        """Yield the results of the preset beyond its curves."""
        for sweep, points in zip(self._sweeps, results, strict=True):
            yield from conclusions.page_gains(points)
            if sweep.rising:
                yield conclusions.full_rate(sweep.workload, points, sweep.points[0].unit)
        match self._settings.preset:
            case "calibrate":
                yield from conclusions.calibration(results[0], results[1], self._settings.max_latency * 1e9)
            case "redo":
                yield from conclusions.redo(results[0])
            case "redo+oltp":
                yield conclusions.redo_under_load(results[0][0], results[0][1])
            case "normal":
                yield from conclusions.matrix(results[0])
            case str(preset) if preset == WORKING_SET:  # what the sweep implies about a cache
                if caveats := self._verdict.background.background_caveats:
                    yield Gap("io.direct: a cache behind the target", "; ".join(caveats))
                    return
                rates = {int(point.at["working_set_bytes"]): point.iops for point in results[0]}
                yield conclusions.working_set(results[0])
                for point in results[0]:
                    self._parts.append(conclusions.recheck_physical(point, rates))
                    yield estimates.validity_estimate(point.at, self._parts[-1])

    def _objective(self, results: Sequence[Sequence[PointResult]]) -> Iterator[Emission]:
        """Find the rate that keeps the objective, of the mix where one was measured."""
        settings, number = self._settings, max(range(len(self._sweeps)), key=lambda at: self._sweeps[at].writes)
        sweep, most = self._sweeps[number], max(point.iops for point in results[number])
        wanted = Objective(settings.objective * 1e9, settings.search, settings.confirm)
        stream, window, source = sweep.points[0].loads[0][0], settings.window, self._counter_source
        yield from find_rate(self._setup, stream, sweep.workload, most, wanted, window, self._context, source)

    def _load(self, points: Sequence[PointResult]) -> ComparedLoad:
        """Return the load to compare paths and engines with: the best point of the first sweep."""
        sweep = self._sweeps[0]
        best = max(points, key=lambda point: point.bytes_per_second)
        size_bytes = self._setup.target.size_bytes
        point = next(point for point in sweep.points if with_target_size(point, size_bytes).at == best.at)
        others = [int(depth) for depth in self._settings.other_depths]
        depths = (point.loads[0][1], *others) if others else ()
        window = self._budget.compared(self._settings.window)
        return ComparedLoad(point, window, self._context, self._verdict, self._counter_source, depths)
