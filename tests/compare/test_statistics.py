"""The rank test is exact, its interval fits it, and corrections hold what they promise."""

import itertools
import math
import random

import pytest

from sizeup.compare.statistics import (
    false_discovery,
    geometric_mean,
    holm,
    median_interval,
    rank_sum_p,
    ratio_interval,
    share_of_pairs,
    smallest_p,
)


def counted_out(first: list[float], second: list[float]) -> float:
    """The same p by trying every split."""
    values = [*first, *second]
    ranks = [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values
    ]
    center = len(first) * (len(values) + 1) / 2
    observed = abs(sum(ranks[: len(first)]) - center)
    sums = [sum(split) for split in itertools.combinations(ranks, len(first))]
    return sum(abs(total - center) >= observed - 1e-9 for total in sums) / len(sums)


@pytest.mark.parametrize("seed", range(20))
def test_p_equals_the_share_of_splits_as_far_from_the_middle(seed: int) -> None:
    source = random.Random(seed)
    # Few distinct values, so that ties are common.
    first = [source.randrange(6) / 2 for _ in range(source.randint(1, 6))]
    second = [source.randrange(6) / 2 for _ in range(source.randint(1, 6))]

    assert rank_sum_p(first, second) == pytest.approx(counted_out(first, second))


def test_three_runs_a_side_cannot_decide_and_four_can() -> None:
    assert smallest_p(3, 3) == rank_sum_p([1, 2, 3], [4, 5, 6]) == 0.1
    assert smallest_p(4, 4) == rank_sum_p([1, 2, 3, 4], [5, 6, 7, 8]) == pytest.approx(2 / 70)
    assert smallest_p(1, 30) > 0.05
    assert smallest_p(0, 6) == 1.0


def test_equal_values_are_no_difference() -> None:
    assert rank_sum_p([5.0] * 6, [5.0] * 6) == 1.0
    assert rank_sum_p([5.0] * 30, [5.0] * 30) == 1.0


def test_many_runs_are_judged_by_the_normal_curve_as_few_are_by_counting() -> None:
    source = random.Random(1)
    first = [source.gauss(0, 1) for _ in range(20)]
    second = [source.gauss(0.7, 1) for _ in range(20)]
    exact = rank_sum_p(first, second)

    assert rank_sum_p([*first, -9.0], second) == pytest.approx(rank_sum_p([*first], second), abs=0.02)
    assert exact == pytest.approx(rank_sum_p([*first, source.gauss(0.3, 1)], [*second, source.gauss(0.3, 1)]), abs=0.03)


def test_the_interval_excludes_one_exactly_when_the_test_rejects() -> None:
    source = random.Random(7)
    for _ in range(200):
        first = [math.exp(source.gauss(0.1, 0.1)) for _ in range(6)]
        base = [math.exp(source.gauss(0.0, 0.1)) for _ in range(6)]
        ratio, low, high = ratio_interval(first, base)
        assert low is not None
        assert high is not None
        assert low <= ratio <= high
        assert (low > 1 or high < 1) == (rank_sum_p(first, base) <= 0.05)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    source = random.Random(11)
    inside = 0
    for _ in range(1000):
        first = [1.5 * math.exp(source.gauss(0, 0.2)) for _ in range(6)]
        base = [math.exp(source.gauss(0, 0.2)) for _ in range(6)]
        _, low, high = ratio_interval(first, base)
        assert low is not None
        assert high is not None
        inside += low <= 1.5 <= high
    assert 940 <= inside <= 985


def test_too_few_runs_have_a_ratio_and_no_interval() -> None:
    assert ratio_interval([2.0, 4.0], [1.0]) == (3.0, None, None)


def test_holm_multiplies_the_smallest_most_and_keeps_the_order() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_false_discovery_is_gentler_than_holm_and_no_gentler_than_nothing() -> None:
    values = [0.005, 0.01, 0.03, 0.2]

    corrected = false_discovery(values)

    assert corrected == pytest.approx([0.02, 0.02, 0.04, 0.2])
    assert all(raw <= soft <= hard for raw, soft, hard in zip(values, corrected, holm(values), strict=True))


def test_means_and_shares() -> None:
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert share_of_pairs([1, 2], [2, 3]) == pytest.approx(3.5 / 4)


@pytest.mark.parametrize("count", range(1, 30))
def test_the_interval_of_the_median_holds_it_as_often_as_it_says(count: int) -> None:
    """Each value lies above the true median or below it with equal chance: so many of them on each side."""
    values = [float(number) for number in range(count)]
    interval = median_interval(values)
    if interval is None:
        assert 2 / 2**count > 0.05
        return
    below = int(interval[0])
    assert interval[1] == count - 1 - below
    missed = 2 * sum(math.comb(count, few) for few in range(below + 1)) / 2**count
    narrower = 2 * sum(math.comb(count, few) for few in range(below + 2)) / 2**count
    assert missed <= 0.05 < narrower
