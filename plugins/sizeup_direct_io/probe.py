"""The entry point: plans a step from the settings, and runs it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.probing.api import Context, Emission
from sizeup_direct_io import cold_read, durations
from sizeup_direct_io.measured_point import Window
from sizeup_direct_io.path_bandwidth import TargetBandwidth, find_path_bandwidth, lies_under
from sizeup_direct_io.presets import READ_AHEAD, Custom, Durable, Sweep, sweeps
from sizeup_direct_io.run import Run
from sizeup_direct_io.sweep import RunSettings
from sizeup_direct_io.target import TargetSpec
from sizeup_direct_io.worker import Pattern

NAME = "io.direct"
MOST_DEPTH = 1024
_SAME_ENGINE = {"aio": ("aio", "oracle-like")}


def _sweeps(settings: Settings) -> tuple[Sweep, ...]:
    preset = str(settings["preset"])
    custom = None
    if preset == "custom":
        custom = Custom(
            block_bytes=int(settings["block"]),
            pattern=Pattern(str(settings["pattern"])),
            read_percent=int(settings["read_percent"]),
            durable=Durable(str(settings["sync"])),
            rate=float(settings["rate"]),
        )
    # Options that a preset does not use are not among the settings of its step.
    depth, pages = int(settings.get("depth", 0)), str(settings.get("pages", "both"))
    return sweeps(preset, depth=depth, pages=pages, custom=custom, coarse=bool(settings.get("budget")))


def _without_effect(settings: Settings, wanted: Sequence[Sweep]) -> str:
    """Return why a value has no effect, where the manifest cannot express it; empty if all values have one."""
    depth, threads = int(settings.get("depth", 0)), int(settings.get("threads", 0))
    if settings["preset"] == "dss-scan" and 0 < depth < READ_AHEAD:
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
    if float(settings.get("p99_limit", 0.0)) and not climbs:
        return (
            f"p99_limit has no effect with depth={depth}: it ends a ramp, and this is a single point; remove p99_limit"
        )
    writes = any(sweep.writes for sweep in wanted)
    if settings.get("sync", "no") != "no" and not writes:
        return f"sync={settings['sync']} has no effect with read_percent=100: nothing is written; remove one of the two"
    if settings.get("allow_write_to") and not writes:
        return "allow_write_to has no effect with read_percent=100: nothing is written; remove one of the two"
    other = str(settings.get("compare_engine", "none"))
    if other != "none" and settings["engine"] in _SAME_ENGINE.get(other, (other,)):
        return f"compare_engine={other} has no effect with engine={settings['engine']}: it is the same engine"
    return ""


def _axis_ranges(wanted: Iterable[Sweep]) -> dict[str, tuple[float, float]]:
    """Return the range of every numeric coordinate of a run."""
    values_by_name: dict[str, list[float]] = {}
    for sweep in wanted:
        for point in sweep.points:
            for key, value in point.at.items():
                if not isinstance(value, str):
                    values_by_name.setdefault(key, []).append(value)
    return {key: (min(values), max(values)) for key, values in values_by_name.items()}


def _more_paths(settings: Settings) -> list[str]:
    return [path for path in str(settings["more_paths"]).split(":") if path]


def _more_depths(settings: Settings) -> list[str]:
    return [depth for depth in str(settings.get("more_depths", "")).split(":") if depth]


def _refuse_depths(settings: Settings) -> str:
    """Return why the queue depths of further targets are refused; empty if they are not."""
    depths, paths = _more_depths(settings), _more_paths(settings)
    shown = f"more_depths={settings.get('more_depths', '')}"
    if depths and not paths:
        return f"{shown} has no effect without more_paths; remove more_depths"
    if depths and (len(depths) != len(paths) or not all(d.isdecimal() and 0 < int(d) <= MOST_DEPTH for d in depths)):
        return f"{shown}: expected one queue depth from 1 to {MOST_DEPTH} for each of the {len(paths)} more_paths"
    return ""


def _refuse_budget(settings: Settings, wanted: Sequence[Sweep]) -> str:
    """Return that the time budget is too short for the preset; empty if it is not."""
    budget, least = float(settings.get("budget", 0.0)), durations.least_seconds(settings, wanted)
    if not budget or budget >= least:
        return ""
    return (
        f"budget={budget:g}: expected at least {math.ceil(least)} s for {settings['preset']} with "
        f"ramps={settings['ramps']}; increase budget, or decrease ramps or warmup"
    )


def _as_settings(name: str, path_bandwidth: TargetBandwidth | None) -> Settings:
    """Return a path bandwidth as step settings, which hold plain values only."""
    return {
        f"{name}_bytes_per_second": path_bandwidth.bytes_per_second if path_bandwidth else 0.0,
        f"{name}_source": path_bandwidth.source if path_bandwidth else "",
    }


def _path_bandwidth(settings: Settings, name: str) -> TargetBandwidth | None:
    source = str(settings[f"{name}_source"])
    return TargetBandwidth(float(settings[f"{name}_bytes_per_second"]), source) if source else None


class DirectIo:
    """Reads and writes past the page cache, at rising queue depth, with a verdict on the validity of the figures."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """One step: the preset named."""
        preset, path = str(settings["preset"]), str(settings["path"])
        step = f"{NAME}.{preset}"
        if not path:
            yield Refusal(step, NAME, "no target: set path to a directory, an existing file or a device")
            return
        wanted = _sweeps(settings)
        reason = _without_effect(settings, wanted) or _refuse_depths(settings) or _refuse_budget(settings, wanted)
        if reason:
            yield Refusal(step, NAME, reason)
            return
        estimated = durations.estimated_seconds(settings, wanted, 1 + len(_more_paths(settings)))
        writes = any(sweep.writes for sweep in wanted)
        hazards = [Hazard.IO_READ, Hazard.CPU_LOAD]
        allowed = str(settings.get("allow_write_to", ""))
        if writes:
            hazards += [Hazard.IO_WRITE, Hazard.DISK_SPACE]
        if allowed:
            hazards.append(Hazard.RAW_DEVICE_WRITE)
        if any(lies_under(path, mount.mount_point) for mount in machine.nfs_mounts):
            hazards.append(Hazard.NETWORK_FILE_SYSTEM)
        yield Step(
            id=step,
            probe=NAME,
            title=f"Direct I/O, {preset}, on {path}",
            settings={
                **settings,
                "clock_hz": machine.base_clock.value if machine.base_clock else 0.0,
                **_as_settings("path_bandwidth", find_path_bandwidth((path,), machine)),
                **_as_settings("combined_bandwidth", find_path_bandwidth((path, *_more_paths(settings)), machine)),
            },
            estimated_seconds=estimated,
            time_limit_seconds=estimated * 3 + 120,
            hazards=tuple(hazards),
            touches=f"{path}: in a directory a temporary file, removed after the run; a file or device is only read"
            + (f", but {allowed} is overwritten" if allowed else "")
            + (f"; {cold_read.TOUCHES}" if settings.get("cold_read") else "")
            + ("" if settings.get("budget") else f"; {durations.ASSUMPTION}"),
            axis_ranges=_axis_ranges(wanted),
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure; see ``run.Run``."""
        settings = step.settings
        wanted = _sweeps(settings)
        seconds = float(settings["seconds"])
        spec = TargetSpec(
            path=str(settings["path"]),
            writes=any(sweep.writes for sweep in wanted),
            size_bytes=int(settings["size"]),
            reserve_bytes=int(settings["reserve"]),
            most_bytes=int(settings.get("largest_file", 0)),
            allow_write_to=str(settings.get("allow_write_to", "")),
        )
        run_settings = RunSettings(
            preset=str(settings["preset"]),
            spec=spec,
            more_targets=tuple(replace(spec, path=path) for path in _more_paths(settings)),
            sweeps=wanted,
            engine=str(settings.get("engine", "auto")),
            threads=int(settings.get("threads", 0)),
            window=Window(
                warmup_seconds=float(settings.get("warmup", 0.0)),
                seconds=seconds,
                extra_seconds=seconds,
                precision=float(settings["precision"]),
                stall_seconds=float(settings["stall"]),
            ),
            ramps=int(settings["ramps"]),
            budget_seconds=float(settings.get("budget", 0.0)),
            path_limit=float(settings["path_limit"]) or None,
            path_bandwidth=_path_bandwidth(settings, "path_bandwidth"),
            stated_cache_bytes=int(settings.get("cache_size", 0)),
            remove_leftovers=bool(settings["remove_leftovers"]),
            max_latency_ns=float(settings.get("max_latency", 0.0)) * 1e9,
            clock_hz=float(settings["clock_hz"]),
            check_concurrency=bool(settings.get("check_concurrency", False)),
            p99_limit_ns=float(settings.get("p99_limit", 0.0)) * 1e9,
            compare_engine=str(settings.get("compare_engine", "none")),
            more_depths=tuple(map(int, _more_depths(settings))),
            scale_threads=bool(settings.get("scale_threads", False)),
            combined_bandwidth=_path_bandwidth(settings, "combined_bandwidth"),
            cold_read=bool(settings.get("cold_read", False)),
        )
        return Run(run_settings, context).emissions()
