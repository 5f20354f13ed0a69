"""Measures the points of a sweep, ramp by ramp."""

from __future__ import annotations

import statistics
import time
from collections.abc import Generator, Iterator, Sequence

from msgspec.structs import replace

from sizeup.model.machine import Gap
from sizeup.model.sample import Progress
from sizeup.probing.api import Context, Emission
from sizeup.units import format_ns
from sizeup_direct_io import conclusions, estimates, knee
from sizeup_direct_io.binding import IoJob
from sizeup_direct_io.disks import PathWatch, path_gaps
from sizeup_direct_io.durations import TimeBudget
from sizeup_direct_io.estimates import PointResult
from sizeup_direct_io.measure import measure
from sizeup_direct_io.measured_point import MeasuredPoint, Watch, Window
from sizeup_direct_io.point_verdict import PointVerdict, worse
from sizeup_direct_io.presets import LoadPoint, Sweep, with_target_size
from sizeup_direct_io.settings import RunSettings
from sizeup_direct_io.window_counters import CounterSource

CPU_BOUND = 0.95
"""A ramp ends at this CPU utilization of the host: beyond it the scheduler would be measured."""


class SweepRunner:
    """Measures the sweeps of one target."""

    def __init__(
        self,
        settings: RunSettings,
        context: Context,
        budget: TimeBudget,
        verdict: PointVerdict,
        counter_source: CounterSource,
        watch: Watch | None = None,
    ) -> None:
        self._settings, self._context, self._budget = settings, context, budget
        self._verdict, self._counter_source, self._watch = verdict, counter_source, watch
        self._setup, self._background = verdict.setup, verdict.background
        self._paths = counter_source.paths or PathWatch({})
        self._measured_seconds: list[float] = []
        """Of each window so far, warm-up included."""

    def measure(self, sweep: Sweep, later: int) -> Generator[Emission, None, list[PointResult]]:
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
                yield from path_gaps(self._paths)
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
        if sweep.rising and len(sized) > 1 and IoJob.gentle is None:
            yield self._knee(sweep, ramps, ended.get(True, ended.get(False, "the preset's maximum was reached")))
        return list(latest.values())

    def _why_to_stop(self, measured: MeasuredPoint) -> str:
        """Return why a ramp must end at this point; empty if it may continue."""
        host = measured.host_cpu
        if host is not None and host.busy_share > CPU_BOUND and not self._background.background_caveats:
            return f"host CPU utilization was {host.busy_share:.0%}"
        slowest = max(
            interval.quantile_ns(kind, 0.99) for interval in measured.intervals.values() for kind in ("read", "write")
        )
        limit = self._settings.p99_limit * 1e9
        if limit and slowest > limit:
            return f"latency p99 of {format_ns(slowest)} exceeds p99_limit ({format_ns(limit)})"
        return ""

    def _knee(self, sweep: Sweep, ramps: Sequence[Sequence[knee.RampPoint]], ended: str) -> Emission:
        unit = sweep.points[0].unit
        found = conclusions.knee_estimate(sweep.workload, ramps, unit, ended)
        if found is None or self._background.background_caveats:
            why = "; ".join(self._background.background_caveats) or (
                f"throughput falls before a knee is reached, or the ramp was too short: {ended}"
            )
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
                self._watch,
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
            **estimates.other_load(result.runs),
        }
        yield from estimates.throughput(result.at, result.runs, result.caveats, extra)
        yield from estimates.latencies(result.at, pooled, result.caveats)
        yield from estimates.costs(result.at, result.runs, pooled, self._background, self._settings.clock_hz)
        for part in result.parts:
            yield estimates.validity_estimate(result.at, part)


def _describe(point: LoadPoint, ramp: int, ramps: int) -> str:
    loads = " and ".join(f"{count} {stream.name}" for stream, count in point.loads)
    return f"{point.at['workload']}: {loads}" + (f", ramp {ramp + 1} of {ramps}" if ramps > 1 else "")
