"""The entry point: plans a step from the settings, and runs it."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.probing.api import Context, Emission
from sizeup.procfs.mounts import is_below
from sizeup.units import format_bytes
from sizeup_direct_io import cold_read, durations
from sizeup_direct_io.binding import IoJob
from sizeup_direct_io.presets import READ_AHEAD, SUSTAINED, Durable
from sizeup_direct_io.run import Run
from sizeup_direct_io.settings import RunSettings, bandwidth_settings
from sizeup_direct_io.worker import Pattern

NAME = "io.direct"
MOST_DEPTH = 1024
_SAME_ENGINE = {"aio": ("aio", "oracle-like")}


def _refused(settings: RunSettings) -> str:
    """Return why the settings are refused, where the manifest cannot express it; empty if they are not."""
    depth, threads, wanted = settings.depth, settings.threads, settings.sweeps
    if settings.preset == "dss-scan" and 0 < depth < READ_AHEAD:
        return f"depth={depth}: each stream of dss-scan has queue depth {READ_AHEAD}; set depth to {READ_AHEAD} or more"
    shared = [
        count
        for sweep in wanted
        for point in sweep.points
        for stream, count in point.loads
        if stream.pattern is Pattern.RANDOM and not stream.streams
    ]
    if threads > max(shared, default=threads):
        return (
            f"threads={threads}: the queue depth is at most {max(shared)}, and each thread needs at least 1; decrease "
            "threads or increase depth"
        )
    climbs = any(sweep.rising and len({point.at["queue_depth"] for point in sweep.points}) > 1 for sweep in wanted)
    if settings.p99_limit and not climbs:
        return (
            f"p99_limit has no effect with depth={depth}: it ends a ramp, and this is a single point; remove p99_limit"
        )
    unwritten = "no effect with read_percent=100: nothing is written; remove one of the two"
    if settings.sync is not Durable.NO and not settings.writes:
        return f"sync={settings.sync.value} has {unwritten}"
    if settings.allow_write_to and not settings.writes:
        return f"allow_write_to has {unwritten}"
    other = settings.compare_engine
    if other != "none" and settings.engine in _SAME_ENGINE.get(other, (other,)):
        return f"compare_engine={other} has no effect with engine={settings.engine}: it is the same engine"
    depths, paths = settings.other_depths, settings.other_paths
    if len({settings.path, *paths}) <= len(paths):
        return f"more_paths={settings.more_paths}: expected other paths than {settings.path}, each once"
    shown = f"more_depths={settings.more_depths}"
    if depths and not paths:
        return f"{shown} has no effect without more_paths; remove more_depths"
    if depths and (len(depths) != len(paths) or not all(d.isdecimal() and 0 < int(d) <= MOST_DEPTH for d in depths)):
        return f"{shown}: expected one queue depth from 1 to {MOST_DEPTH} for each of the {len(paths)} more_paths"
    least = durations.least_seconds(settings)
    if settings.budget and settings.budget < least:
        return (
            f"budget={settings.budget:g}: expected at least {math.ceil(least)} s for {settings.preset} with "
            f"ramps={settings.ramps}; increase budget, or decrease ramps or warmup"
        )
    return ""


class DirectIo:
    """Reads and writes past the page cache, at rising queue depth, with a verdict on the validity of the figures."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """One step: the preset named."""
        run = msgspec.convert(settings, RunSettings)
        step, path = f"{NAME}.{run.preset}", run.path
        reason = _refused(run) if path else "no target: set path to a directory, an existing file or a device"
        if reason:
            yield Refusal(step, NAME, reason)
            return
        coordinates = dict[str, list[float]]()
        for key, value in (item for sweep in run.sweeps for point in sweep.points for item in point.at.items()):
            if not isinstance(value, str):
                coordinates.setdefault(key, []).append(value)
        estimated, written = durations.estimated_seconds(run), format_bytes(run.most_written)
        hazards = [Hazard.IO_READ, Hazard.CPU_LOAD]
        if run.writes:
            hazards += [Hazard.IO_WRITE, Hazard.DISK_SPACE]
        if run.allow_write_to:
            hazards.append(Hazard.RAW_DEVICE_WRITE)
        if is_below(path, (mount.mount_point for mount in machine.nfs_mounts)):
            hazards.append(Hazard.NETWORK_FILE_SYSTEM)
        yield Step(
            id=step,
            probe=NAME,
            title=f"Direct I/O, {run.preset}, on {path}",
            settings={
                **settings,
                "clock_hz": machine.base_clock.value if machine.base_clock else 0.0,
                **bandwidth_settings("path_bandwidth", (path,), machine),
                **bandwidth_settings("combined_bandwidth", (path, *run.other_paths), machine),
            },
            estimated_seconds=estimated,
            time_limit_seconds=estimated * 3 + 120,
            hazards=tuple(hazards),
            touches=f"{path}: in a directory a temporary file, removed after the run; a file or device is only read"
            + (f", but {run.allow_write_to} is overwritten" if run.allow_write_to else "")
            + (f"; {cold_read.TOUCHES}" if run.cold_read else "")
            + (f"; up to {written} are written over it in {run.most_seconds:g} s" if run.preset == SUSTAINED else "")
            + ("" if run.budget or run.preset == SUSTAINED else f"; {durations.ASSUMPTION}"),
            axis_ranges={key: (min(values), max(values)) for key, values in coordinates.items()},
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure; see ``run.Run``."""
        IoJob.gentle = step.gentle
        return Run(msgspec.convert(step.settings, RunSettings), context).emissions()
