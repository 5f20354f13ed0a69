"""The check of a steady state: drift, other load, steal time, limits and changes of paths during the run."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sizeup_direct_io.background import BackgroundLoad
from sizeup_direct_io.disks import OtherIo
from sizeup_direct_io.validity import Part, Reason, fail, passed, unknown, warn

DRIFT, LARGE_DRIFT = 0.05, 0.20
BACKGROUND_CHANGE = 0.10
"""Of all CPU time: if other processes use this much more than before the run, they affect its figures."""


class Conditions(Struct, frozen=True):
    """What else went on during a measurement."""

    drift: float
    """Throughput of the second half over the first, minus one."""
    background: BackgroundLoad
    """Before it."""
    stolen_share: float | None
    """None where it cannot be read."""
    errors: int
    others_share: float | None = None
    """Share of CPU time that other processes used during the measurement; None if it was not read."""
    other_io: OtherIo | None = None
    """I/O of other processes on the same disks; None if the target is on no disk."""
    thermal_caveats: tuple[str, ...] = ()
    thermal_summary: str = ""
    ramp_change: float | None = None
    """Throughput of this ramp over that of the first, minus one; None in the first."""
    limits: tuple[str, ...] = ()
    """Limits of this process's control groups on the device, as text."""
    path_changes: tuple[str, ...] = ()
    """Paths to the target that changed state during the measurement, as text."""
    not_preconditioned: bool = False
    """The requests write, to disks that may be flash: nothing has brought it to its steady state."""


def _check_background(conditions: Conditions) -> Iterator[Reason]:
    """Yield what other processes did on the CPUs and disks during the measurement."""
    others, background_busy = conditions.others_share, conditions.background.busy_share
    if others is not None and background_busy is not None and others > background_busy + BACKGROUND_CHANGE:
        yield warn(f"other processes used {others:.0%} of the CPUs during the run, {background_busy:.0%} before it")
    if conditions.other_io is not None:
        before = f"; before it {conditions.background.io}" if conditions.background.io else ""
        text = f"other I/O, or the file system's own, during the run: {conditions.other_io}{before}"
        yield warn(text) if conditions.other_io.significant else passed(text)


def mixed_paths(change: str) -> str:
    """Return what a path change means for a figure measured across it."""
    return f"{change}: the figure mixes measurements from before and after it"


def check_steady(conditions: Conditions) -> Part:
    """Check whether the throughput was steady, on a host without much other load."""
    return Part.of("steady", _check_steady(conditions))


def _check_steady(conditions: Conditions) -> Iterator[Reason]:
    change = f"throughput drifted {conditions.drift:+.0%} from the first half to the second"
    if abs(conditions.drift) > LARGE_DRIFT:
        yield fail(f"{change}: burst credits, a write cache, throttling or another tenant")
    else:
        yield warn(change) if abs(conditions.drift) > DRIFT else passed(change)
    if conditions.ramp_change is not None:
        ramp = f"throughput of this ramp {conditions.ramp_change:+.0%} relative to the first"
        yield warn(ramp) if abs(conditions.ramp_change) > LARGE_DRIFT else passed(ramp)
    yield from map(warn, conditions.background.background_caveats)
    yield from _check_background(conditions)
    yield from map(warn, conditions.thermal_caveats)
    if conditions.thermal_summary and not conditions.thermal_caveats:
        yield passed(conditions.thermal_summary)
    if conditions.stolen_share is None:
        yield unknown("CPU time of other processes and of the hypervisor: /proc/stat cannot be read")
    elif conditions.stolen_share > 0.05:
        yield warn(f"steal time: {conditions.stolen_share:.0%} of the CPU time")
    if conditions.not_preconditioned:
        text = "flash with erased blocks writes faster than it can sustain; not a steady-state figure"
        yield warn(f"not preconditioned: {text}")
    yield from map(warn, map(mixed_paths, conditions.path_changes))
    yield from (warn(f"limited by {limit}") for limit in conditions.limits)
    if conditions.errors:
        yield warn(f"{conditions.errors} requests failed; they are excluded from all figures")
