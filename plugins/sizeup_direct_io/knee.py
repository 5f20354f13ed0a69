"""Finds the knee: the queue depth beyond which throughput hardly increases."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

PAYS = 1.10
"""Minimum throughput ratio of a doubling of the queue depth that is worth it."""


class RampPoint(Struct, frozen=True):
    """One point of a ramp."""

    queue_depth: int
    throughput: float
    """IOPS or bytes per second."""


class Knee(Struct, frozen=True):
    """The knee over one or more ramps."""

    queue_depth: int
    """Queue depth of the last doubling with enough gain, the median over ramps."""
    throughput: float
    """Throughput at the knee, the median over ramps."""
    per_ramp: tuple[int, ...]

    @property
    def agreed(self) -> bool:
        """Return whether three quarters of the ramps are within one doubling of the median."""
        near = sum(0.5 <= ramp / self.queue_depth <= 2 for ramp in self.per_ramp)
        return near >= math.ceil(0.75 * len(self.per_ramp))


def ramp_order(ramp: int, points: int) -> Sequence[int]:
    """Return the order in which a ramp measures its points: every second one backward.

    Otherwise the deepest queue would always be measured last, and drift would look like an effect of queue depth. The
    first one rises, because it finds where to end.
    """
    return range(points) if ramp % 2 == 0 else range(points - 1, -1, -1)


def order_text(ramps: int) -> str:
    """Return the order of this many ramps for the record."""
    return ", ".join("forward" if ramp % 2 == 0 else "backward" for ramp in range(ramps))


def gain_per_doubling(before: RampPoint, after: RampPoint) -> float:
    """Return the throughput ratio per doubling of the queue depth between two points."""
    doublings = math.log2(after.queue_depth / before.queue_depth)
    return float((after.throughput / before.throughput) ** (1 / doublings))


def stopped_paying(ramp: Sequence[RampPoint]) -> bool:
    """Return whether the last two doublings both gained too little to continue."""
    pairs = list(pairwise(ramp))[-2:]
    return len(pairs) == 2 and all(gain_per_doubling(before, after) < PAYS for before, after in pairs)


def find_knee(ramp: Sequence[RampPoint]) -> RampPoint | None:
    """Return the point of the last doubling with enough gain; None for fewer than two points.

    Of several rules tried on four ramps on an idle host (tangent, Kneedle, share of the maximum) this was
    the only one that found the same point each time.
    """
    if len(ramp) < 2:
        return None
    best = ramp[0]
    misses = 0
    for before, after in pairwise(ramp):
        if gain_per_doubling(before, after) >= PAYS:
            best, misses = after, 0
        else:
            misses += 1
        if misses == 2:
            break
    return best


def median_ramp(ramps: Sequence[Sequence[RampPoint]]) -> list[RampPoint]:
    """Return the median throughput over ramps at each queue depth, by rising depth."""
    reached: dict[int, list[float]] = {}
    for load in (load for ramp in ramps for load in ramp):
        reached.setdefault(load.queue_depth, []).append(load.throughput)
    return [RampPoint(depth, statistics.median(rates)) for depth, rates in sorted(reached.items())]


def maximum(ramps: Sequence[Sequence[RampPoint]]) -> RampPoint:
    """Return the point with the highest throughput, the median over ramps at each queue depth."""
    return max(median_ramp(ramps), key=lambda load: load.throughput)


def falls(ramp: Sequence[RampPoint]) -> bool:
    """Return whether some point is slower than one of lower queue depth by as much as counts as a gain."""
    highest = itertools.accumulate((load.throughput for load in ramp), max)
    return any(load.throughput * PAYS < most for load, most in zip(ramp, highest, strict=True))


def agree(ramps: Sequence[Sequence[RampPoint]]) -> Knee | None:
    """Return the knee of several ramps; None if no ramp has one, and if throughput falls before it is reached.

    After a fall, the rise that leads to the knee only makes up for it: fewer requests reached as much before. What
    falls beyond the knee leaves it where it is.
    """
    knees = [knee for ramp in ramps if (knee := find_knee(ramp)) is not None]
    if not knees:
        return None
    found = Knee(
        statistics.median_low([knee.queue_depth for knee in knees]),
        statistics.median(knee.throughput for knee in knees),
        tuple(knee.queue_depth for knee in knees),
    )
    rise = [load for load in median_ramp(ramps) if load.queue_depth <= found.queue_depth]
    return None if falls(rise) else found
