"""What a step yields: samples, estimates, progress; and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntFlag

from msgspec import Struct, field

Coordinates = Mapping[str, str | int | float]
"""Where a point lies: ``{"working_set_bytes": 16384}`` or ``{"cpu_node": 0, "memory_node": 1}``."""


class Disturbance(IntFlag):
    """Why a sample is kept but left out of the estimate."""

    NONE = 0
    PREEMPTED = 1
    MIGRATED = 2
    STOLEN = 4
    """The hypervisor ran somebody else."""
    SIBLING_BUSY = 8
    LATE = 16
    OTHER = 32
    WARMUP = 64


class Samples(Struct, frozen=True):
    """A batch of one series at one point; the lists are of equal length."""

    series: str
    at: Coordinates
    t_ns: tuple[int, ...]
    """When each was taken, in nanoseconds since the run began."""
    values: tuple[float, ...]
    """In the series' unit."""
    flags: tuple[int, ...] = ()
    """``Disturbance`` bits per sample; empty when none was disturbed."""


class Estimate(Struct, frozen=True):
    """What the samples of one point say so far; a later one for the same series and point replaces it."""

    series: str
    at: Coordinates
    value: float
    """The median over replicate medians unless the series says otherwise."""
    low: float | None = None
    """95 % interval over replicates; None with too few of them."""
    high: float | None = None
    replicates: int = 0
    minimum: float | None = None
    p10: float | None = None
    p90: float | None = None
    disturbed_share: float | None = None
    converged: bool | None = None
    """False: the budget ended first. None: this series has no stop rule."""
    caveats: tuple[str, ...] = ()
    extra: Mapping[str, str | int | float] = field(default_factory=dict)
    """More figures of the same point, unit last in each name.

    A ``statement`` is a sentence that becomes a finding; ``consequence``, ``remedy`` and ``severity`` go with it.
    """


class Progress(Struct, frozen=True):
    """How far the step is."""

    done: float
    """0 to 1."""
    remaining_seconds: float | None = None
    activity: str = ""


class Status(Enum):
    """How a step ended."""

    OK = "ok"
    NOT_CONVERGED = "not-converged"
    REFUSED = "refused"
    CANCELED = "canceled"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed-out"

    @property
    def words(self) -> str:
        """The same for people: ``timed out``."""
        return self.value.replace("-", " ")

    @property
    def finished(self) -> bool:
        """Whether the step measured all it was going to."""
        return self in (Status.OK, Status.NOT_CONVERGED)


class Outcome(Struct, frozen=True):
    """The end of a step, with the reason where it is not plain success."""

    status: Status
    reason: str = ""
    signal: str | None = None
    """Such as ``SIGSEGV`` when crashed."""
    temporary_files: tuple[str, ...] | None = ()
    """The directory of each temporary file that it made, all removed; None where its worker did not report it."""
