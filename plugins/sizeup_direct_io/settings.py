"""The settings of a run by their names in the manifest, and what a run takes from them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from sizeup.model.plan import Settings
from sizeup_direct_io.measured_point import Window
from sizeup_direct_io.path_bandwidth import TargetBandwidth
from sizeup_direct_io.presets import Durable, Stream, Sweep, sweeps
from sizeup_direct_io.target import TargetSpec
from sizeup_direct_io.worker import Pattern


class RunSettings(Struct, frozen=True):
    """The settings of a step; one that its preset does not use is not among them and has a value without effect."""

    preset: str
    path: str
    precision: float
    stall: float
    seconds: float = 0.0
    ramps: int = 1
    size: int = 0
    largest_file: int = 0
    reserve: int = 0
    allow_write_to: str = ""
    remove_leftovers: bool = False
    more_paths: str = ""
    more_depths: str = ""
    engine: str = "auto"
    threads: int = 0
    scale_threads: bool = False
    compare_engine: str = "none"
    budget: float = 0.0
    warmup: float = 0.0
    depth: int = 0
    pages: str = "both"
    block: int = 0
    pattern: Pattern = Pattern.RANDOM
    read_percent: int = 100
    sync: Durable = Durable.NO
    rate: float = 0.0
    max_latency: float = 0.0
    p99_limit: float = 0.0
    objective: float = 0.0
    search: float = 0.0
    confirm: float = 0.0
    most_written: int = 0
    most_seconds: float = 0.0
    path_limit: float = 0.0
    cache_size: int = 0
    check_concurrency: bool = False
    cold_read: bool = False
    clock_hz: float = 0.0
    """0 if unknown; as what follows, from discovery."""
    path_bandwidth_bytes_per_second: float = 0.0
    path_bandwidth_source: str = ""
    combined_bandwidth_bytes_per_second: float = 0.0
    """Of all paths together."""
    combined_bandwidth_source: str = ""

    @property
    def spec(self) -> TargetSpec:
        """The target."""
        return TargetSpec(self.path, self.writes, self.size, self.reserve, self.largest_file, self.allow_write_to)

    @property
    def other_paths(self) -> list[str]:
        """Further paths, measured alone and all together."""
        return [path for path in self.more_paths.split(":") if path]

    @property
    def other_depths(self) -> list[str]:
        """The queue depth of each of them; empty: that of the first one's best point."""
        return [depth for depth in self.more_depths.split(":") if depth]

    @property
    def window(self) -> Window:
        """The window of a point without a time budget."""
        return Window(self.warmup, self.most_seconds or self.seconds, self.seconds, self.precision, self.stall)

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """What the preset measures."""
        custom = Stream("custom", self.block, self.pattern, self.read_percent, self.sync, rate=self.rate)
        return sweeps(self.preset, depth=self.depth, pages=self.pages, custom=custom, coarse=self.budget > 0)

    @property
    def streams(self) -> Iterator[Stream]:
        """Every stream of every point."""
        return (stream for sweep in self.sweeps for point in sweep.points for stream, _ in point.loads)

    @property
    def writes(self) -> bool:
        """Whether any point writes."""
        return any(sweep.writes for sweep in self.sweeps)

    @property
    def extends(self) -> bool:
        """Whether any point extends the file."""
        return any(sweep.extends for sweep in self.sweeps)

    @property
    def path_bandwidth(self) -> TargetBandwidth | None:
        """Of the path; None if unknown."""
        return _bandwidth(self.path_bandwidth_bytes_per_second, self.path_bandwidth_source)

    @property
    def combined_bandwidth(self) -> TargetBandwidth | None:
        """Of all paths together; None if unknown."""
        return _bandwidth(self.combined_bandwidth_bytes_per_second, self.combined_bandwidth_source)


def _bandwidth(bytes_per_second: float, source: str) -> TargetBandwidth | None:
    return TargetBandwidth(bytes_per_second, source) if source else None


def bandwidth_settings(name: str, path_bandwidth: TargetBandwidth | None) -> Settings:
    """Return a bandwidth as the settings above: those of a step hold plain values only."""
    if path_bandwidth is None:
        return {}
    return {f"{name}_bytes_per_second": path_bandwidth.bytes_per_second, f"{name}_source": path_bandwidth.source}


def run_settings(settings: Settings) -> RunSettings:
    """Return the settings of a step."""
    return msgspec.convert(settings, RunSettings)
