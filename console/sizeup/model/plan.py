"""Plan: the steps of a run, in order, and the ones that must not run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from fnmatch import fnmatchcase
from typing import Annotated

from msgspec import Meta, Struct, field

SettingValue = str | int | float | bool
"""One setting of a probe: sizes in bytes, times in seconds, CPU lists and paths as text."""

Settings = Mapping[str, SettingValue]


FEW = Meta(max_length=64)
"""Each is held against every point, and a session may come from a stranger."""


class Hazard(Enum):
    """What a probe may do to the machine, said before it runs."""

    CPU_LOAD = "cpu-load"
    MEMORY = "memory"
    IO_READ = "io-read"
    IO_WRITE = "io-write"
    DISK_SPACE = "disk-space"
    NETWORK_LOAD = "network-load"
    NETWORK_FILE_SYSTEM = "network-file-system"
    RAW_DEVICE_WRITE = "raw-device-write"


class Better(Enum):
    """Which direction of a series is better."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class SeriesQuantity(Struct, frozen=True, omit_defaults=True):
    """What points of a series are, by a name that other probes use as well: ``storage.random_iops``.

    The names that sizing, comparisons and charts know are listed in ``docs/reference/probe-contract.md``.
    """

    name: str
    where: Annotated[Mapping[str, Annotated[tuple[str, ...], FEW]], FEW] = field(default_factory=dict)
    """Coordinates and the values of each, as shell patterns, of the points that it is about; empty for all."""
    same: tuple[str, ...] = ()
    """Coordinates that must be equal, such as the node of the CPU and that of the memory."""
    load: str = ""
    """The coordinate that holds the offered load, such as the queue depth; empty for the axis of the series."""
    size: str = ""
    """The coordinate that holds the I/O size in bytes; empty where none does."""
    above: str = ""
    """The setting of the step that the axis has to be four times of, such as the size of the last-level cache."""
    extra: str = ""
    """The figure in the ``extra`` of an estimate that is meant; empty for the estimate itself."""
    measure_with: Settings = field(default_factory=dict)
    """Settings of the probe with which it measures this best."""

    def matches(self, at: Mapping[str, str | int | float]) -> bool:
        """Whether a point at these coordinates is of this quantity."""
        if self.same and len({at.get(name, name) for name in self.same}) > 1:
            return False
        return all(
            name in at and any(fnmatchcase(str(at[name]), pattern) for pattern in patterns)
            for name, patterns in self.where.items()
        )


class Series(Struct, frozen=True):
    """One measured quantity against one coordinate."""

    name: str
    """Unique in its probe: ``dram-thp``; the metric's full name is ``memory.latency.dram-thp``."""
    title: str
    unit: str
    """A base unit of ``quantity.Quantity``."""
    better: Better
    axis: str | None = None
    """The coordinate a chart puts on x, such as ``working_set_bytes``; None for a single value or named bars."""
    axis_unit: str | None = None
    axis_title: str | None = None
    headline: Mapping[str, str | int | float] = field(default_factory=dict)
    """Where the point lies that stands for a series whose points have no order; empty where none does."""
    quantities: Annotated[tuple[SeriesQuantity, ...], FEW] = ()
    """What its points are; of several the first that matches a point counts."""
    family: str = ""
    """What series have in common that share a chart, such as the percentiles of one latency; empty for none."""
    statistic: str = ""
    """Which of its family it is: ``mean``, ``p50``, ``p99``; empty where it is none of these."""
    samples: str = ""
    """The series or family whose samples it was worked out from; empty where it has its own, or none."""
    boundaries: str = ""
    """``memory`` where the axis is a working set, whose chart shows the sizes of caches, pages and nodes."""
    findings_by: str = ""
    """The coordinate of which each value has a finding of its own, such as the workload; empty for one in all."""
    remedies: Mapping[str, str] = field(default_factory=dict)
    """Of verdicts: what to do by the part that failed, as the end of ``run PROBE ...``.

    ``cache`` stands for figures that may come from a cache.
    """

    @property
    def title_parts(self) -> tuple[str, str]:
        """The title up to its first comma, and behind it what tells the series apart: ``Latency`` and ``p50``."""
        name, _, detail = self.title.partition(", ")
        return name, detail

    @property
    def plain_title(self) -> str:
        """The title without its remark in brackets."""
        return self.title.partition(" (")[0]

    @property
    def short_title(self) -> str:
        """The title up to its first comma or bracket."""
        return self.plain_title.partition(",")[0]

    def quantity(self, at: Mapping[str, str | int | float]) -> SeriesQuantity | None:
        """What a point at these coordinates is; None where the manifest declares nothing."""
        return next((found for found in self.quantities if found.matches(at)), None)


class TargetDeclaration(Struct, frozen=True, omit_defaults=True):
    """How a step says what it measured, such as a file system or a device."""

    setting: str
    """The setting that names it."""
    more: str = ""
    """The setting that names further ones, colons between; empty where there is none."""
    coordinate: str = ""
    """The coordinate that names the one that a point is of; empty where none does."""
    together: str = ""
    """What that coordinate says of points that were measured on all of them at once."""


class Declaration(Struct, frozen=True, omit_defaults=True):
    """What a manifest declares of a probe's results beside their series; recorded with each step."""

    card: str = ""
    """What the results are about: ``cpu``, ``memory``, ``storage``, ``network`` or ``clock``; empty for none."""
    precision: str = ""
    """The setting that holds the interval aimed at, as a share of the value; empty where none does."""
    target: TargetDeclaration | None = None
    """None where it measures nothing that its settings name."""
    title: str = ""
    """What the probe is called; empty where it is not recorded."""
    diagnostic: bool = False
    """Whether the probe tests sizeup itself."""


class Gentle(Struct, frozen=True):
    """What a step keeps to beside a live database, on one CPU at the lowest CPU and I/O priority."""

    cpu: int = -1
    """The only CPU that it runs on; -1 before one is chosen."""
    iops: float = 500.0
    bytes_per_second: float = 50e6

    def interval_ns(self, block_bytes: int, workers: int) -> int:
        """Return the least time between two requests of one of several workers that keep both caps together."""
        return math.ceil(workers * max(1 / self.iops, block_bytes / self.bytes_per_second) * 1e9)

    def __str__(self) -> str:
        return f"at most {self.iops:g} IOPS and {self.bytes_per_second / 1e6:g} MB/s"


NOT_REPORTED = "not reported"
"""What a probe touches or takes, where it does not say so."""

LEAST_LIMIT_OVER_ESTIMATE = 1.5
"""The time limit of every step is at least this many times its estimate."""


class Step(Struct, frozen=True):
    """One native job that may hold many interleaved points; it runs in a worker of its own."""

    id: str
    """Stable: the same plan on the same machine gives the same ids, so that runs can be compared and resumed."""
    probe: str
    title: str
    settings: Settings
    """Everything the worker needs; it discovers nothing."""
    estimated_seconds: float
    time_limit_seconds: float
    """The runner ends the step after this, whatever the probe says."""
    hazards: tuple[Hazard, ...] = ()
    """Those of the manifest where the probe reports none of its own."""
    touches: str = NOT_REPORTED
    """In words: what the step touches, such as ``512 MiB of memory on node 0``; by default what the manifest says."""
    cpus: tuple[int, ...] = ()
    """The CPUs it measures on, which the console keeps away from; empty when it does not matter."""
    axis_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The least and greatest value of a coordinate that it may measure, so that a live axis stands still.

    Only of coordinates of which it is known beforehand; a ramp may well end earlier.
    """
    gentle: Gentle | None = None
    """None for full load."""


class Refusal(Struct, frozen=True):
    """A step that must not, or cannot, run here."""

    step: str
    probe: str
    reason: str
    setting: str = ""
    """The setting without a value that only the user can give; empty where another reason refuses it."""


class ExperimentRun(Struct, frozen=True):
    """Which run of an experiment a plan is."""

    experiment: str
    """The id of the experiment."""
    setting: str
    """The setting that was in place: ``a`` or ``b``."""
    round: int
    """From 1; each round has one run under either setting."""


class Plan(Struct, frozen=True):
    """What a run will do."""

    name: str
    """``quick``, ``standard``, ``full`` or ``custom``."""
    steps: tuple[Step, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    settings: Mapping[str, Settings] = field(default_factory=dict)
    """What the user set, by probe."""
    experiment_run: ExperimentRun | None = None
    """None for a run that is not part of an experiment."""
