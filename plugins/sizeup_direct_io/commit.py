"""The probe io.commit: how many transactions a second the log of a database can make durable on a file system."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Generator, Iterable, Iterator, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import RefusedError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.model.sample import Coordinates, Estimate, Progress, Samples
from sizeup.probing.api import Context, Emission
from sizeup.procfs.mounts import is_below
from sizeup.text import plural
from sizeup.units import as_percent, format_bytes
from sizeup_direct_io import binding, conclusions, durations, estimates
from sizeup_direct_io.call_with_timeout import describe_error, describe_failure
from sizeup_direct_io.disks import write_cache
from sizeup_direct_io.measure import QUANTILES, MeasuredPoint, Window, measure
from sizeup_direct_io.point_verdict import check_steady, overall
from sizeup_direct_io.presets import Durable, Stream
from sizeup_direct_io.run import TargetRun
from sizeup_direct_io.target import TargetSetup, TargetSpec
from sizeup_direct_io.validity import Part
from sizeup_direct_io.window_counters import BACKGROUND_SECONDS, BackgroundLoad, CounterSource
from sizeup_direct_io.worker import Engine, Pattern, Worker

COMMITTERS = (1, 8, 64, 512)
MOST_BUSY_SHARE = 0.8
"""Of the CPUs; beyond it they decide what a database reaches, and the log can only bound it."""
FEW = 8
"""Committers of the methods other than fdatasync; and the most that flush on their own, as each has a thread."""
BUFFER_BYTES = 1 << 20  # a flush of more is several writes
PAGE_BYTES = 8192
"""What is flushed is padded to whole pages."""
OWN_BYTES = 16 << 20
"""The file of each committer that flushes on its own."""


class Method(Enum):
    """How a log is made durable."""

    FDATASYNC = "fdatasync"
    GROWING = "fdatasync, growing file"
    DSYNC = "O_DIRECT, O_DSYNC"
    IO_URING = "O_DIRECT, io_uring with linked fsync"
    INDEPENDENT = "fdatasync, a file each"
    """No log: every committer writes to a file of its own and flushes it, so that none waits for another."""


_FLAGS = {Method.DSYNC: os.O_RDWR | os.O_DIRECT | os.O_DSYNC, Method.IO_URING: os.O_RDWR | os.O_DIRECT}


class LogPoint(Struct, frozen=True):
    """One measured point."""

    method: Method
    committers: int


def log_points(methods: str, most: int) -> tuple[LogPoint, ...]:
    """Return the points up to ``most`` committers: with fdatasync at each, and with ``all`` methods at a few."""
    counts = (*(count for count in COMMITTERS if count < most), most)
    points = [LogPoint(Method.FDATASYNC, count) for count in counts]
    if methods == "all":
        points += [LogPoint(method, min(FEW, most)) for method in (Method.GROWING, Method.DSYNC, Method.IO_URING)]
        points += [LogPoint(Method.INDEPENDENT, count) for count in counts if count <= FEW]
    return tuple(points)


class LogFiles:
    """The open files of all methods; they are closed, and gone, with the target."""

    def __init__(self, setup: TargetSetup, log_bytes: int, reserve_bytes: int) -> None:
        self._setup = setup
        self._log_bytes = log_bytes
        self._reserve_bytes = reserve_bytes
        self._descriptors: dict[Method, list[int]] = {}

    def open(self, point: LogPoint) -> Generator[Emission, None, None]:
        """Create what a point needs; raise RefusedError or OSError with the reason where that cannot be had."""
        setup, method, known = self._setup, point.method, self._descriptors.get(point.method, [])
        if method is Method.IO_URING and (denied := binding.availability(Engine.IO_URING)):
            raise RefusedError(f"this process may not use io_uring: {describe_error(denied)}")
        if method in {Method.GROWING, Method.INDEPENDENT}:
            growing = method is Method.GROWING
            count, size = (1, self._log_bytes) if growing else (point.committers - len(known), OWN_BYTES)
            made = yield from setup.more_files(count, size, self._reserve_bytes)
            known = [*known, *(setup.reopen(os.O_RDWR, one) for one in made)]
        self._descriptors[method] = known or [setup.reopen(_FLAGS.get(method, os.O_RDWR))]

    def workers(self, point: LogPoint, record_bytes: int, work_ns: int, cpus: int) -> list[Worker]:
        """Return the threads of a point: the log writer, or each committer that flushes on its own.

        Each writes its file at most once, so that a fast device takes a known number of bytes in each window.
        """
        descriptors, method = self._descriptors[point.method], point.method
        if method is Method.INDEPENDENT:
            padded = -(-record_bytes // PAGE_BYTES) * PAGE_BYTES
            return [self._worker(one, padded, OWN_BYTES) for one in descriptors[: point.committers]]
        if method is Method.GROWING:
            self._setup.empty(descriptors[0])
        linked = method is Method.IO_URING
        log = replace(
            self._worker(descriptors[0], BUFFER_BYTES, self._log_bytes),
            engine=Engine.IO_URING if linked else Engine.THREADS,
            depth=2 if linked else 1,  # the write and its fsync
            fdatasync_each=method is not Method.DSYNC,
            committers=point.committers,
            record_bytes=record_bytes,
            work_ns=work_ns,
            work_cpus=cpus,
        )
        return [log]

    def _worker(self, descriptor: int, block_bytes: int, size_bytes: int) -> Worker:
        # No database goes on behind a log that failed.
        more = {"pattern": Pattern.ONCE, "error_limit": 1, "fdatasync_each": True}
        return self._setup.writer(descriptor, block_bytes, size_bytes, **more)


NAME = "io.commit"
_STREAM = Stream("commit", PAGE_BYTES, read_percent=0, durable=Durable.FDATASYNC)
_LIVE = {"iops": "commits", "rate": "rate", "cpu": "cpu"} | {f"latency-{name}": f"latency-{name}" for name in QUANTILES}
"""The live series of a measurement, as this probe names them."""


class Commit:
    """Commits of a log with group commit by the number of committers, with the flush methods of databases."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """One step: all points."""
        path, size, most = str(settings["path"]), int(settings["size"]), int(settings["most_committers"])
        least = 4 * most * int(settings["record"])  # a window is to be full of commits
        refused = "" if size >= least else f"size={size}: expected at least {least} for {most} records; increase size"
        if refused or not path:
            yield Refusal(NAME, NAME, refused or "no target: set path to a directory")
            return
        files = 2 * size + FEW * OWN_BYTES if settings["methods"] == "all" else size
        windows = len(log_points(str(settings["methods"]), most)) * int(settings["rounds"])
        seconds = durations.START_SECONDS + BACKGROUND_SECONDS + files / durations.ASSUMED_FILL_RATE
        seconds += windows * (float(settings["seconds"]) + durations.WINDOW_EXTRA_SECONDS) + durations.ENDING_SECONDS
        remote = is_below(path, (mount.mount_point for mount in machine.nfs_mounts))
        yield Step(
            id=NAME,
            probe=NAME,
            title=f"Commits, on {path}",
            settings=settings,
            estimated_seconds=seconds,
            time_limit_seconds=seconds * 3 + 120,
            hazards=(Hazard.IO_WRITE, Hazard.DISK_SPACE, Hazard.CPU_LOAD, *[Hazard.NETWORK_FILE_SYSTEM] * remote),
            touches=f"{path}: temporary files of {format_bytes(files)}, removed after the run; at most "
            f"{format_bytes(files + windows * size)} are written in all",
            axis_ranges={"committers": (1, most)},
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure; see ``CommitRun``."""
        return CommitRun(step.settings, context).emissions()


class CommitRun(TargetRun):
    """Executes one step."""

    probe = NAME

    def __init__(self, settings: Settings, context: Context) -> None:
        super().__init__(context, str(settings["path"]))
        self._settings = settings
        self._rounds = int(settings["rounds"])
        self._work_seconds, self._cpus = float(settings["transaction_cpu"]), os.cpu_count() or 1
        self._window = Window(0.0, float(settings["seconds"]), 0.0, 1.0, float(settings["stall"]))
        """Without a warm-up: a window writes its file once, and may be at its end before."""
        self._setup = TargetSetup(context, self._window.stall_seconds, 0)
        self._setups.append(self._setup)

    def _emissions(self) -> Generator[Emission, None, None]:
        setup, settings = self._setup, self._settings
        if not setup.call_with_timeout(f"checking {self._where}", lambda: os.path.isdir(self._where)):
            raise RefusedError(f"path={self._where}: expected a directory, in which the log is a temporary file")
        size, reserve = int(settings["size"]), int(settings["reserve"])
        spec = TargetSpec(self._where, writes=True, size_bytes=size, reserve_bytes=reserve)
        yield from setup.prepare(spec, "auto", [_STREAM], remove_leftovers=bool(settings["remove_leftovers"]))
        self._files = LogFiles(setup, size, reserve)
        points = []
        for point in log_points(str(settings["methods"]), int(settings["most_committers"])):
            try:
                yield from self._files.open(point)
            except (RefusedError, OSError) as error:  # its method is denied here
                yield Gap(f"{NAME}: {point.method.value}", describe_failure(error))
            else:
                points.append(point)
        source, background = yield from self._start()
        runs: dict[LogPoint, list[MeasuredPoint]] = {point: [] for point in points}
        windows = self._rounds * len(points)
        for number in range(windows):
            turn, index = divmod(number, len(points))
            point = points[-1 - index] if turn % 2 else points[index]  # so that drift is no effect of committers
            left = (windows - number) * self._window.seconds
            what = f"{point.method.value}, {plural(point.committers, 'committer')}"
            yield Progress(number / windows, left, what)
            measured = yield from self._measure(point, source)
            yield from self._paths.gaps(NAME)
            if self._context.canceled:  # a part of a window is no figure
                return
            if measured.requests:
                runs[point].append(measured)
                yield from self._figures(point, runs[point], background)
            else:
                yield Gap(f"{NAME}: {what}", "no commit ended in time")
        changes = tuple(map(str, self._paths.changes))
        yield from overall(f"commits on {self._where}", self._parts, changes, "Figures of commits")
        yield Progress(1.0, 0.0, "done")

    def _at(self, point: LogPoint) -> Coordinates:
        record = int(self._settings["record"])
        return {"method": point.method.value, "record_bytes": record, "committers": point.committers}

    def _measure(self, point: LogPoint, source: CounterSource) -> Generator[Emission, None, MeasuredPoint]:
        at, record = self._at(point), int(self._settings["record"])
        workers = self._files.workers(point, record, round(self._work_seconds * 1e9), self._cpus)
        running = measure(workers, (_STREAM.name,), at, self._window, self._context, source)
        while True:
            try:
                emission = next(running)
            except StopIteration as end:
                measured: MeasuredPoint = end.value
                return measured
            if isinstance(emission, Samples) and emission.series in _LIVE:
                yield replace(emission, series=_LIVE[emission.series], at=at)

    def _figures(
        self, point: LogPoint, runs: Sequence[MeasuredPoint], background: BackgroundLoad
    ) -> Iterator[Estimate]:
        """Yield what the rounds of a point say so far."""
        at, pooled = self._at(point), estimates.pool(runs)[_STREAM.name]
        half = (len(runs) + 1) // 2  # the later rounds over the earlier
        drift = statistics.median(run.iops for run in runs[-half:]) / statistics.median(run.iops for run in runs[:half])
        device = self._setup.target.device_number
        steady = Part.of("steady", check_steady(runs, drift - 1, background, device))
        flushes = "response" if pooled.count("response") else "write"  # without a log each commit is one
        flush_ns = pooled.quantile_ns(flushes, 0.5)
        flush = conclusions.flush_cost(0.0, flush_ns, write_cache(device))
        caveats = (*flush.caveats, *estimates.caveats_of([steady]))
        extra: dict[str, str | int | float] = {
            "seconds": sum(run.seconds for run in runs),
            "flush_p50_ns": flush_ns,
            "write_cache": flush.extra["write_cache"],
            **estimates.location(self._setup.target),
            **estimates.other_load(runs),
        }

        def figure(series: str, values: Sequence[float], whole: float | None = None) -> Estimate:
            ends = estimates.with_interval(values, whole)
            return Estimate(series, at, *ends, len(values), caveats=caveats, extra=extra)

        each, flushed = [run.intervals[_STREAM.name] for run in runs], [run.transferred_bytes for run in runs]
        counts = [interval.count(flushes) for interval in each]
        commits = figure("commits", [run.iops for run in runs])
        busy_share = commits.value * self._work_seconds / self._cpus
        if not 0 < busy_share <= MOST_BUSY_SHARE:
            why = f"an upper bound: transactions would keep the CPUs {as_percent(busy_share)} busy"
            known = {**extra, "upper_bound": 1, "note": "upper bound"}
            commits = replace(commits, caveats=(*caveats, *[why] * (busy_share > 0)), extra=known)
        width = math.inf if commits.low is None or commits.high is None else commits.high - commits.low
        yield replace(commits, converged=width / 2 <= float(self._settings["precision"]) * commits.value)
        yield figure("rate", [run.bytes_per_second for run in runs])
        yield figure("flushes", [count / run.seconds for count, run in zip(counts, runs, strict=True)])
        yield figure("flush-bytes", [size / count for size, count in zip(flushed, counts, strict=True)])
        yield figure("latency-mean", [interval.mean_ns("write") for interval in each], pooled.mean_ns("write"))
        for name, share in QUANTILES.items():
            values = [interval.quantile_ns("write", share) for interval in each]
            yield figure(f"latency-{name}", values, pooled.quantile_ns("write", share))
        for cost in estimates.costs(at, runs, {_STREAM.name: pooled}, background, 0.0):
            if cost.series == "cpu-per-io":
                yield replace(cost, series="cpu-per-commit")
        yield estimates.validity_estimate(at, steady)
        if len(runs) == self._rounds:
            self._parts.append(steady)
