"""The settings of a run, as the probe reads them from a step."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sizeup_direct_io.measured_point import Window
from sizeup_direct_io.path_bandwidth import TargetBandwidth
from sizeup_direct_io.presets import Stream, Sweep
from sizeup_direct_io.target import TargetSpec


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
