"""Plan: the steps of a run, in order, and the ones that must not run."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct, field

SettingValue = str | int | float | bool
"""One setting of a probe: sizes in bytes, times in seconds, CPU lists and paths as text."""

Settings = Mapping[str, SettingValue]


class Hazard(Enum):
    """What a probe may do to the machine, said before it runs."""

    CPU_LOAD = "cpu-load"
    MEMORY = "memory"
    IO_READ = "io-read"
    IO_WRITE = "io-write"
    DISK_SPACE = "disk-space"
    NETWORK_FILE_SYSTEM = "network-file-system"
    RAW_DEVICE_WRITE = "raw-device-write"


class Better(Enum):
    """Which direction of a series is better."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


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
    touches: str = "nothing"
    """In words: what the step touches, such as ``512 MiB of memory on node 0``."""
    cpus: tuple[int, ...] = ()
    """The CPUs it measures on, which the console keeps away from; empty when it does not matter."""
    reach: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The least and greatest value of a coordinate that it may measure, so that a live axis stands still.

    Only of coordinates of which it is known beforehand; a ramp may well end earlier.
    """


class Refusal(Struct, frozen=True):
    """A step that must not, or cannot, run here."""

    step: str
    probe: str
    reason: str


class Plan(Struct, frozen=True):
    """What a run will do."""

    name: str
    """``quick``, ``standard``, ``full`` or ``custom``."""
    steps: tuple[Step, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    settings: Mapping[str, Settings] = field(default_factory=dict)
    """What the user set, by probe."""
