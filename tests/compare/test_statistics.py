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
    runs_needed,
    scatter_of,
    share_of_pairs,
    shift_beside_trend,
    smallest_p,
    student_p,
    student_quantile,
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
    assert smallest_p(1, 1) == 1.0
    assert smallest_p(0, 6) == 1.0


def test_equal_values_are_no_difference() -> None:
    assert rank_sum_p([5.0] * 6, [5.0] * 6) == 1.0
    assert rank_sum_p([5.0] * 30, [5.0] * 30) == 1.0
    assert rank_sum_p(*in_order(30, 30, 450)) == 1.0, "in the middle"


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


def in_order(first: int, second: int, smaller: int) -> tuple[list[float], list[float]]:
    """Return two sides in which in so many pairs the value of the first is the smaller one."""
    order = [1] * second + [0] * first
    for place in range(first):
        moved = min(second, smaller - place * second)
        if moved > 0:
            order.pop(second + place)
            order.insert(second + place - moved, 0)
    values = [1.01**place for place in range(len(order))]
    return tuple([value for value, side in zip(values, order, strict=True) if side == which] for which in (0, 1))


@pytest.mark.parametrize(("first", "second"), [(4, 6), (20, 20), (21, 20), (22, 22), (25, 21), (30, 40)])
@pytest.mark.parametrize("level", [0.05, pytest.param(0.02, marks=pytest.mark.ci)])
def test_the_interval_fits_the_test_at_its_limit_however_many_runs_there_are(
    first: int, second: int, level: float
) -> None:
    """Above 40 runs both are of the normal curve, with half a step between the counts of pairs."""
    sides = [in_order(first, second, smaller) for smaller in range(first * second // 2)]
    rejected = [rank_sum_p(*side) <= level for side in sides]
    low = [ratio_interval(*side, level)[1] for side in sides]

    assert share_of_pairs(*sides[7]) == pytest.approx(7 / (first * second))
    assert True in rejected
    assert [end is not None and end > 1 for end in low] == rejected


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
    assert false_discovery([0.9, 0.8]) == [0.9, 0.9]
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


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (10, 2.228), (60, 2.000)]
)
def test_students_t_as_in_the_tables(freedom: int, quantile: float) -> None:
    assert student_p(quantile, freedom) == pytest.approx(0.05, abs=2e-4)
    assert student_p(-quantile, freedom) == student_p(quantile, freedom)
    assert student_quantile(0.975, freedom) == pytest.approx(quantile, abs=1e-3)


def test_a_shift_beside_a_trend_is_that_of_least_squares() -> None:
    """Without scatter shift and trend are found exactly; blocks of six cost four times the variance."""
    times = [float(run) for run in range(12)]
    values = [math.exp(0.02 * time + (0.3 if time < 6 else 0.0)) for time in times]
    shift = shift_beside_trend(values[:6], values[6:], times)
    assert shift.log_ratio == pytest.approx(0.3)
    assert shift.scatter == pytest.approx(0.0, abs=1e-9)
    assert shift.inflation == pytest.approx(143 / 35)
    turns = shift_beside_trend(
        [math.exp(0.02 * t) for t in (0, 3, 4, 7)], [math.exp(0.02 * t) for t in (1, 2, 5, 6)], [0, 3, 4, 7, 1, 2, 5, 6]
    )
    assert (turns.log_ratio, turns.inflation) == (pytest.approx(0.0, abs=1e-9), pytest.approx(1.0))

    # In turns, which no trend explains, the shift is that of the means: it deviates by scatter / sqrt(2) here.
    logs = [0.1, -0.2, 0.0, 0.1], [0.0, 0.3, -0.1, -0.2]
    noisy = shift_beside_trend(*([math.exp(log) for log in side] for side in logs), [0, 3, 4, 7, 1, 2, 5, 6])
    assert noisy.log_ratio == pytest.approx(0.0, abs=1e-9)
    assert noisy.deviation == pytest.approx(noisy.scatter / math.sqrt(2))

    # By hand: y = 0, 1, 3, 2 with sides 1, 0, 0, 1 and times 0 to 3: slope 0.8, shift -1.0, left 0.8, freedom 1.
    logs = shift_beside_trend([1.0, math.exp(2)], [math.exp(1), math.exp(3)], [0.0, 3.0, 1.0, 2.0])
    assert (logs.log_ratio, logs.freedom) == (pytest.approx(-1.0), 1)
    assert logs.scatter == pytest.approx(math.sqrt(0.8))
    assert logs.deviation == pytest.approx(math.sqrt(0.8))
    assert logs.interval(0.05)[0] == pytest.approx(math.exp(-1 - 12.706 * math.sqrt(0.8)), rel=1e-2)


def test_two_runs_or_one_time_tell_no_trend() -> None:
    assert shift_beside_trend([1.0], [2.0, 3.0], [0.0, 1.0, 2.0]) is None
    assert shift_beside_trend([1.0, 2.0], [2.0, 3.0], [5.0] * 4) is None
    assert shift_beside_trend([1.0, 2.0], [2.0, 3.0], [0.0, 0.0, 1.0, 1.0]) is None


def test_the_interval_leaves_out_what_the_test_rejects_at_just_this_level() -> None:
    """Two of the 16 pairs are out of order: 4 of the 70 splits on each side are as far apart or farther."""
    first, second = [1.0, 2.0, 3.0, 6.0], [4.0, 5.0, 7.0, 8.0]
    level = 2 * 4 / 70

    assert rank_sum_p(first, second) == level
    assert ratio_interval(first, second, level)[2] == pytest.approx(6 / 7), "1 is rejected"
    assert ratio_interval(first, second, level - 1e-9)[2] == pytest.approx(6 / 5), "1 is not rejected"


def test_as_many_runs_are_needed_as_find_the_change_in_four_of_five_cases() -> None:
    assert scatter_of([1.0], [2.0]) is None
    assert scatter_of([1.0, math.e**2], [1.0, math.e**2]) == pytest.approx(math.sqrt(2))
    needed = runs_needed(0.08, 0.10, 0.05)
    assert needed == 13  # a t test takes 2 * (0.08 * (2.06 + 0.84) / 0.0953)^2 = 12, a rank test 1.05 times as many
    source = random.Random(20260131)
    found = 0
    for _ in range(400):
        first = [1.1 * math.exp(source.gauss(0, 0.08)) for _ in range(needed)]
        found += rank_sum_p(first, [math.exp(source.gauss(0, 0.08)) for _ in range(needed)]) <= 0.05
    assert found / 400 == pytest.approx(0.8, abs=0.05)
    assert runs_needed(0.0, 0.10, 0.05) == 4
    assert runs_needed(0.0, 0.10, 0.02) == 5
    assert runs_needed(0.0, 0.10, 0.10) == 3, "2 of the 20 orders of 3 and 3 are as far apart as can be"
    assert runs_needed(1.0, 0.10, 0.05) is None


def test_the_normal_curve_has_the_variance_of_the_ranks() -> None:
    """40 and 30 runs without a tie: U has a mean of 600 and a deviation of sqrt(40 * 30 * 71 / 12) = 84.26."""
    first, second = [float(value) for value in range(40)], [value + 19.5 for value in range(30)]
    smaller = sum(one < other for one in first for other in second)
    z = (abs(smaller - 600) - 0.5) / math.sqrt(40 * 30 * 71 / 12)

    assert rank_sum_p(first, second) == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-9)
