"""Which of several like hosts stand out, by median and MAD; the limits and their error rates are simulated.

Figures are compared as ratios (in logarithms), so that twice and half are as far from the median. The MAD of few hosts
varies much, so the fewer hosts there are, the more of them a difference has to be; and a difference that matters to
nobody is none, however small the MAD.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from msgspec import Struct

LEAST_HOSTS = 3
"""Of two hosts that differ nobody knows which one stands out."""
MAD_TO_SIGMA = 1.4826
"""The MAD of a normal distribution, times this, is its standard deviation."""
HALF_TO_SIGMA = 1.96
"""Half of a 95 % interval has so many standard deviations."""
SMALL_CHANGE = 0.10
"""The least difference that is reported, as a share of the median; with enough hosts."""
LARGE_CHANGE = 0.25
"""A difference that is reported from ``LARGE_SIGMAS``, also of few hosts."""
LARGE_SIGMAS = 5.0
FEW_HOSTS = 8
"""With fewer hosts the MAD is too coarse for a small difference."""


class Spread(Struct, frozen=True):
    """Where the hosts of one type lie in one figure."""

    hosts: int
    median: float
    sigma: float
    """Robust standard deviation of the logarithm: about the scatter as a share of the median."""

    def stands_out(self, value: float, interval: tuple[float, float] | None = None) -> bool:
        """Whether a figure is too far from the median, also at that end of its ``interval`` that is nearest to it."""
        if self.hosts < LEAST_HOSTS or value <= 0 or self.median <= 0:
            return False
        far = math.log(value) - math.log(self.median)
        if interval is not None:
            low, high = (math.log(end) - math.log(self.median) if end > 0 else -math.inf for end in interval)
            far = 0.0 if low <= 0 <= high else low if far > 0 else high
        distance = abs(far)
        large = distance >= math.log1p(LARGE_CHANGE) and distance > LARGE_SIGMAS * self.sigma
        small = distance >= math.log1p(SMALL_CHANGE) and distance > small_change_sigmas(self.hosts) * self.sigma
        return large or (small and self.hosts >= FEW_HOSTS)

    def is_far(self, value: float) -> bool:
        """Whether a figure differs by a large share of the median, however much those of the hosts scatter."""
        return value > 0 and self.median > 0 and abs(math.log(value / self.median)) >= math.log1p(LARGE_CHANGE)


def spread(values: Sequence[float], intervals: Sequence[tuple[float, float]] = ()) -> Spread:
    """Return median and robust scatter of the figures of like hosts, of which those below zero do not count.

    Hosts cannot agree better than one of them agrees with itself, so the scatter is at least that within a run, by the
    95 % ``intervals`` of the runs.
    """
    positive = [value for value in values if value > 0]
    if not positive:
        return Spread(0, 0.0, 0.0)
    middle = statistics.median(positive)
    mad = statistics.median(abs(math.log(value) - math.log(middle)) for value in positive)
    halves = [(math.log(high) - math.log(low)) / 2 for low, high in intervals if 0 < low <= high]
    within = statistics.median(halves) / HALF_TO_SIGMA if halves else 0.0
    return Spread(len(positive), middle, max(MAD_TO_SIGMA * mad, within))


def small_change_sigmas(hosts: int) -> float:
    """Return how many robust standard deviations a small difference must be.

    Of normal figures of like hosts in eight metrics, the most distant one lies nearer than this in 95 % of all fleets.
    """
    return 4.5 + 34.0 / hosts
