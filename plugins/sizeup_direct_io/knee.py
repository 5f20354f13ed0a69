"""Where more concurrency stops paying."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

PAYS = 1.10
"""A doubling of concurrency pays when it gains at least this factor of throughput."""


class RampPoint(Struct, frozen=True):
    """One point of a ramp."""

    queue_depth: int
    throughput: float
    """Requests or bytes a second."""


class Knee(Struct, frozen=True):
    """The knee over one or more ramps."""

    queue_depth: int
    """The concurrency of the last doubling that paid, the median over ramps."""
    throughput: float
    """There, the median over ramps."""
    per_ramp: tuple[int, ...]

    @property
    def agreed(self) -> bool:
        """Whether three quarters of the ramps lie within one doubling of the median."""
        near = sum(0.5 <= ramp / self.queue_depth <= 2 for ramp in self.per_ramp)
        return near >= math.ceil(0.75 * len(self.per_ramp))


def gain_per_doubling(before: RampPoint, after: RampPoint) -> float:
    """The factor of throughput that doubling the concurrency would have brought between two points."""
    doublings = math.log2(after.queue_depth / before.queue_depth)
    return float((after.throughput / before.throughput) ** (1 / doublings))


def stopped_paying(ramp: Sequence[RampPoint]) -> bool:
    """Whether the last two doublings both gained too little to go on."""
    pairs = list(pairwise(ramp))[-2:]
    return len(pairs) == 2 and all(gain_per_doubling(before, after) < PAYS for before, after in pairs)


def find_knee(ramp: Sequence[RampPoint]) -> RampPoint | None:
    """The point of the last doubling that paid; None for a ramp of fewer than two points.

    Of the rules tried on four calm ramps (tangent, Kneedle, share of the maximum, last paying
    doubling) this was the only one that named the same point each time.
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


def maximum(ramps: Sequence[Sequence[RampPoint]]) -> RampPoint:
    """The concurrency with the most throughput, the median over ramps at each."""
    reached: dict[int, list[float]] = {}
    for load in (load for ramp in ramps for load in ramp):
        reached.setdefault(load.queue_depth, []).append(load.throughput)
    return max(
        (RampPoint(depth, statistics.median(rates)) for depth, rates in reached.items()),
        key=lambda load: load.throughput,
    )


def agree(ramps: Sequence[Sequence[RampPoint]]) -> Knee | None:
    """The knee of several ramps; None where no ramp has one."""
    knee_estimate = [knee for ramp in ramps if (knee := find_knee(ramp)) is not None]
    if not knee_estimate:
        return None
    return Knee(
        statistics.median_low([knee.queue_depth for knee in knee_estimate]),
        statistics.median(knee.throughput for knee in knee_estimate),
        tuple(knee.queue_depth for knee in knee_estimate),
    )
