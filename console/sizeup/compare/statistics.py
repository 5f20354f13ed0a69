"""Exact rank statistics over few runs, shifts beside a trend, and corrections for many questions at once.

Samples of one run depend on each other, so that a test over raw samples finds differences between two
runs of one machine nearly always. Everything here works on one figure per run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from msgspec import Struct

POWER = 0.8
"""How often so many runs shall find a change that is there."""
MOST_RUNS = 100
"""More runs a side than that are not worth to be named."""
_RANK_TEST_COST = math.pi / 3
"""How many runs a rank test takes for each one of a t test, where both are right."""
EXACT_LIMIT = 40
"""Runs on both sides together up to which the distribution is counted out; above, it is close to normal."""


def median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two middle ones."""
    import statistics  # costs every start of the console otherwise

    return statistics.median(values)


def geometric_mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """The mean of ratios, or of positive values; their order of magnitude counts, not their size."""
    weights = [1.0] * len(values) if weights is None else weights
    logs = (weight * math.log(value) for value, weight in zip(values, weights, strict=True))
    return math.exp(math.fsum(logs) / math.fsum(weights))


def smallest_p(first: int, second: int) -> float:
    """The smallest two-sided p that so many runs a side can reach: above the level, they cannot decide."""
    if not first or not second:
        return 1.0
    return min(1.0, 2 / math.comb(first + second, first))


def rank_sum_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided p of the rank-sum test: how often a random split of these runs lies as far from the middle.

    Exact, ties included, up to ``EXACT_LIMIT`` runs (Wilcoxon 1945; Mann and Whitney 1947).
    """
    if not first or not second:
        return 1.0
    ranks = _doubled_midranks([*first, *second])
    observed = sum(ranks[: len(first)])
    total = len(ranks)
    center = len(first) * (total + 1)  # of doubled ranks
    if total > EXACT_LIMIT:
        # The normal approximation with the variance that these ranks, ties included, really have.
        variance = squares(ranks) / total * len(first) * len(second) / (total - 1)
        # Rank sums move in steps of two here; half a step makes the discrete sum fit the continuous curve.
        distance = max(abs(observed - center) - 1, 0)
        return math.erfc(distance / math.sqrt(2 * variance)) if variance else 1.0
    counts = _rank_sums(tuple(sorted(ranks)), len(first))
    far = sum(count for rank_sum, count in counts.items() if abs(rank_sum - center) >= abs(observed - center))
    return far / math.comb(total, len(first))


def share_of_pairs(first: Sequence[float], second: Sequence[float]) -> float:
    """In which share of all pairs the first is the smaller one; a tie counts half."""
    smaller = sum((a < b) + (a == b) / 2 for a in first for b in second)
    return smaller / (len(first) * len(second))


def ratio_interval(
    first: Sequence[float], second: Sequence[float], level: float = 0.05
) -> tuple[float, float | None, float | None]:
    """Return the ratio of new to baseline, with the interval that fits the rank test.

    The estimate is the median of all pairwise ratios (Hodges and Lehmann 1963). The interval holds the
    ratios that the test would not reject, and is open (None) where there are too few runs for one.
    All values must be positive.
    """
    ratios = sorted(a / b for a in first for b in second)
    middle = median(ratios)
    if smallest_p(len(first), len(second)) > level:
        return middle, None, None
    cut = _interval_cut(len(first), len(second), level)
    return middle, ratios[cut], ratios[-1 - cut]


def median_interval(values: Sequence[float], level: float = 0.05) -> tuple[float, float] | None:
    """The exact interval of the median run, by the sign test; None for too few: below 6 at 0.05."""
    count = len(values)
    tail, cut = 0.0, 0
    for outside in range(count // 2):
        tail += math.comb(count, outside) / 2**count
        if 2 * tail > level:
            break
        cut = outside + 1
    ordered = sorted(values)
    return (ordered[cut - 1], ordered[count - cut]) if cut else None


class Shift(Struct, frozen=True):
    """By how much the logarithms of one side lie above those of the other, beside an even trend over all runs."""

    log_ratio: float
    deviation: float
    """Standard error."""
    freedom: int
    scatter: float
    """Standard deviation of a run around side and trend."""
    inflation: float
    """How many times as large the variance is as it would be without the trend: 4 for two blocks, 1 in turns."""

    @property
    def p(self) -> float:
        """Two-sided p of no shift."""
        if not self.deviation:
            return 0.0 if self.log_ratio else 1.0
        return student_p(self.log_ratio / self.deviation, self.freedom)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the ratios that a test at this level would not reject."""
        half = student_quantile(1 - level / 2, self.freedom) * self.deviation
        return math.exp(self.log_ratio - half), math.exp(self.log_ratio + half)


def shift_beside_trend(first: Sequence[float], second: Sequence[float], times: Sequence[float]) -> Shift | None:
    """Return the shift by least squares with a linear trend over the order of ``times``, first side first.

    None where too few runs, or none of different times, tell a trend.
    """
    logs = [math.log(value) for value in (*first, *second)]
    sides = [1.0] * len(first) + [0.0] * len(second)
    freedom = len(logs) - 3
    if freedom < 1 or not first or not second:
        return None
    logs, sides, order = (centered(values) for values in (logs, sides, _doubled_midranks(times)))
    by_time, by_side, common = _dot(order, order), _dot(sides, sides), _dot(order, sides)
    determinant = by_time * by_side - common**2
    if determinant <= 1e-9 * by_time * by_side:
        return None
    shift = (_dot(sides, logs) * by_time - _dot(order, logs) * common) / determinant
    slope = (_dot(order, logs) * by_side - _dot(sides, logs) * common) / determinant
    left = math.fsum((y - slope * t - shift * side) ** 2 for y, t, side in zip(logs, order, sides, strict=True))
    scatter = math.sqrt(left / freedom)
    inflation = by_time * by_side / determinant
    return Shift(shift, scatter * math.sqrt(inflation / by_side), freedom, scatter, inflation)


def scatter_of(*sides: Sequence[float]) -> float | None:
    """Return the standard deviation of the logarithms within the sides; None where no side has two values."""
    freedom = sum(len(side) - 1 for side in sides)
    within = math.fsum(squares([math.log(value) for value in side]) for side in sides)
    return math.sqrt(within / freedom) if freedom > 0 else None


def runs_needed(scatter: float, change: float, level: float, inflation: float = 1.0) -> int | None:
    """Return how many runs a side find such a change in ``POWER`` of all cases; None for more than ``MOST_RUNS``."""
    distance = math.log(1 + change)
    for count in range(2, MOST_RUNS + 1):
        if smallest_p(count, count) > level:
            continue
        found = detectable_errors(level, 2 * count - 2)
        if found * scatter * math.sqrt(2 * _RANK_TEST_COST * inflation / count) <= distance:
            return count
    return None


def detectable_errors(level: float, freedom: int) -> float:
    """Return the size, in standard errors, of a change that a t test finds in ``POWER`` of all cases."""
    return student_quantile(1 - level / 2, freedom) + _normal_quantile(POWER)


def student_p(t: float, freedom: int) -> float:
    """Two-sided p of Student's t, in closed form for whole degrees of freedom."""
    angle = math.atan(abs(t) / math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term = total = 0.0 if freedom == 1 else cosine if odd else 1.0
    for degree in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine**2 * (degree - 1) / degree
        total += term
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return max(0.0, 1 - inside)


@lru_cache(maxsize=256)
def student_quantile(share: float, freedom: int) -> float:
    """Return the quantile of Student's t above the middle, by bisection."""
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if student_p(middle, freedom) > 2 * (1 - share) else (low, middle)
    return high


def centered(values: Sequence[float]) -> list[float]:
    """Return the distances from the mean."""
    mean = math.fsum(values) / len(values) if values else 0.0
    return [value - mean for value in values]


def squares(values: Sequence[float]) -> float:
    """Return the sum of the squared distances from the mean."""
    return math.fsum(value**2 for value in centered(values))


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def holm(values: Sequence[float]) -> list[float]:
    """p-values corrected so that the chance of any false alarm among them stays what one alone would have."""
    order = sorted(range(len(values)), key=values.__getitem__)
    stepped = accumulate((min(1.0, values[index] * (len(values) - rank)) for rank, index in enumerate(order)), max)
    corrected = dict(zip(order, stepped, strict=True))
    return [corrected[index] for index in range(len(values))]


def false_discovery(values: Sequence[float]) -> list[float]:
    """p-values corrected so that of those below the level no larger share is false (Benjamini and Hochberg 1995)."""
    order = sorted(range(len(values)), key=values.__getitem__, reverse=True)
    count = len(values)
    stepped = accumulate((min(1.0, values[index] * count / (count - rank)) for rank, index in enumerate(order)), min)
    corrected = dict(zip(order, stepped, strict=True))
    return [corrected[index] for index in range(count)]


def _doubled_midranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each value, so that the mean rank of ties is whole."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for position in range(start, end + 1):
            ranks[order[position]] = start + end + 2
        start = end + 1
    return ranks


@lru_cache(maxsize=256)
def _rank_sums(ranks: tuple[int, ...], chosen: int) -> dict[int, int]:
    """How many ways there are to choose so many of these ranks, by their sum."""
    ways: list[dict[int, int]] = [{0: 1}, *({} for _ in range(chosen))]
    for rank in ranks:
        for taken in range(chosen, 0, -1):
            target = ways[taken]
            for rank_sum, count in ways[taken - 1].items():
                target[rank_sum + rank] = target.get(rank_sum + rank, 0) + count
    return ways[chosen]


@lru_cache(maxsize=256)
def _interval_cut(first: int, second: int, level: float) -> int:
    """How many pairwise ratios lie outside the interval on each side."""
    total = first + second
    if total > EXACT_LIMIT:
        spread = math.sqrt(first * second * (total + 1) / 12)
        return max(0, math.floor((first * second - 1) / 2 - _normal_quantile(1 - level / 2) * spread))
    counts = _rank_sums(tuple(range(2, 2 * total + 1, 2)), first)
    # U, the number of pairs in which the first is smaller, is the rank sum without its smallest value.
    smallest = first * (first + 1)
    allowed = math.comb(total, first) * level / 2
    cumulative, cut = 0, 0
    for pairs in range(first * second + 1):
        cumulative += counts.get(smallest + 2 * pairs, 0)
        if cumulative > allowed:
            break
        cut = pairs
    return cut


def _normal_quantile(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)
