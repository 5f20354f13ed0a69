"""The settings of a run by their names in the manifest, and what a run takes from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount
from sizeup.model.plan import Settings
from sizeup.model.storage import BlockDevice
from sizeup.procfs.mounts import is_below
from sizeup_direct_io.measure import Window
from sizeup_direct_io.presets import SUSTAINED, Durable, Stream, Sweep, sweeps
from sizeup_direct_io.target import TargetSpec
from sizeup_direct_io.worker import Pattern


class TargetBandwidth(Struct, frozen=True):
    """The bandwidth of the controllers, adapters or interfaces that all data of a target passes."""

    bytes_per_second: float
    """Payload in one direction, all of them together: an upper bound if they share a link further up."""
    source: str
    """The narrowest stage of each, as text."""


def _adapters_of(path: str, machine: Machine) -> list[set[str]]:
    """Return the NVMe controllers or adapters of each disk, or of the server, beneath a path; empty if unknown."""
    mounts: list[tuple[str, BlockDevice | NfsMount]] = [(mount.mount_point, mount) for mount in machine.nfs_mounts]
    for device in machine.block_devices:
        nodes = f"/dev/{device.name}", f"/dev/mapper/{device.dm_name}"
        mounts += [(point, device) for point in (*nodes, *device.mount_points)]
    above = [(point, holder) for point, holder in mounts if is_below(path, (point,))]
    holder = max(above, key=lambda pair: len(pair[0]))[1] if above else None
    if not isinstance(holder, BlockDevice):
        return [{holder.nic} if holder is not None and holder.nic else set()]
    return [
        {name for space in machine.nvme_namespaces if space.name == leaf for name in space.controllers}
        | {device.hba for device in machine.scsi_devices if device.block_device == leaf}
        for leaf in holder.leaves or (holder.name,)
    ]


def bandwidth_settings(name: str, paths: Iterable[str], machine: Machine) -> Settings:
    """Return the bandwidth of ``paths`` together as the settings of a name below, which hold plain values only.

    A shared adapter counts once; empty if a part is unknown.
    """
    adapters = [names for path in paths for names in _adapters_of(path, machine)]
    names = {name for leaf in adapters for name in leaf}
    budgets = [budget for budget in machine.budgets if budget.device in names]
    limits = [budget.limit_bytes_per_second for budget in budgets if budget.limit_bytes_per_second is not None]
    if not all(adapters) or len(limits) < len(names):
        return {}
    source = "; ".join(f"{budget.device}: {budget.narrowest}" for budget in budgets)
    return {f"{name}_bytes_per_second": sum(limits), f"{name}_source": source}


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
        seconds = self.most_seconds if self.preset == SUSTAINED else self.seconds
        return Window(self.warmup, seconds, self.seconds, self.precision, self.stall)

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
        return any(stream.extends for stream in self.streams)

    def bandwidth(self, name: Literal["path_bandwidth", "combined_bandwidth"]) -> TargetBandwidth | None:
        """Return the one of the path, or of all paths together; None if unknown."""
        rate, source = (getattr(self, f"{name}_{part}") for part in ("bytes_per_second", "source"))
        return TargetBandwidth(rate, source) if source else None
