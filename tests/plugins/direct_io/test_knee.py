"""The knee is the last doubling that paid, over one ramp or several."""

from pathlib import Path

import pytest

from fakes import HandContext
from plugins.direct_io.test_options import plan
from plugins.direct_io.test_options import stage as stage  # noqa: PLC0414 -- a fixture
from sizeup.model.sample import Estimate
from sizeup_direct_io.conclusions import (
    RampPoint,
    agree,
    find_knee,
    median_knee,
    ramp_order,
    stopped_paying,
)
from sizeup_direct_io.probe import DirectIo


def ramp(*throughputs: float) -> list[RampPoint]:
    return [RampPoint(2**index, value) for index, value in enumerate(throughputs)]


@pytest.mark.parametrize(
    ("measured", "knee"),
    [
        (ramp(17, 30, 41, 50, 58, 62, 63, 64), RampPoint(16, 58)),
        (ramp(10, 10.5, 20, 20.5, 21), RampPoint(4, 20)),
        (ramp(100, 101, 102), RampPoint(1, 100)),
        ([RampPoint(1, 100), RampPoint(4, 119), RampPoint(16, 140)], RampPoint(1, 100)),
        (ramp(10), None),
    ],
    ids=["it gains a tenth", "one flat step before one that pays", "none pays", "a fifth by four times", "one point"],
)
def test_the_knee_is_the_last_doubling_that_gains_a_tenth(measured: list[RampPoint], knee: RampPoint | None) -> None:
    assert find_knee(measured) == knee


def test_no_knee_is_stated_where_throughput_falls_on_the_way_to_it() -> None:
    """Queue depth 4 reaches more than what would be the knee."""
    sweep = [RampPoint(1, 15e3), RampPoint(4, 27.9e3), RampPoint(16, 14e3), RampPoint(64, 21.1e3)]

    assert find_knee(sweep) == RampPoint(64, 21.1e3)
    assert median_knee([sweep]) is None


def test_a_fall_within_the_noise_or_beyond_the_knee_leaves_it_stated() -> None:
    within, beyond, steady = ramp(10, 20, 19, 40), ramp(10, 20, 40, 30, 20), ramp(10, 20, 40)

    assert median_knee([ramp(10)]) is None
    assert median_knee([within]) == (RampPoint(8, 40), (8,))
    assert median_knee([beyond]) == (RampPoint(4, 40), (4,))
    assert median_knee([steady, ramp(10, 5, 40), steady]) == (RampPoint(4, 40), (4, 4, 4))


def test_a_ramp_goes_on_until_two_doublings_in_a_row_gain_too_little() -> None:
    assert not stopped_paying(ramp(10, 20, 21))
    assert stopped_paying(ramp(10, 20, 21, 22))
    assert not stopped_paying(ramp(10, 20, 21, 30))


def test_ramps_agree_when_three_of_four_lie_within_one_doubling() -> None:
    knee = median_knee([ramp(1, 2, 4, 4, 4), ramp(1, 2, 4, 8, 8, 8), ramp(1, 2, 4, 4, 4), ramp(1, 1, 1)])

    assert knee == (RampPoint(4, 4.0), (4, 8, 4, 1))
    assert agree(*knee)


def test_ramps_that_lie_further_apart_disagree() -> None:
    knee = median_knee([ramp(1, 1, 1), ramp(1, 2, 4, 8, 16), ramp(1, 2, 2, 2)])

    assert knee is not None
    assert not agree(*knee)


@pytest.mark.parametrize(
    ("depths", "together"),
    [((4, 4, 8, 8), True), ((4, 4, 2, 2), True), ((4, 4, 4, 16), True), ((4, 4, 9, 9), False), ((4, 4, 1, 1), False)],
)
def test_what_is_within_one_doubling_lies_up_to_twice_or_half_as_deep(depths: tuple[int, ...], together: bool) -> None:
    assert agree(RampPoint(4, 4.0), depths) is together


def test_no_queue_depth_is_later_than_another_over_two_ramps() -> None:
    """What drifts evenly then has the same effect on all of them."""
    orders = [list(ramp_order(ramp, 5)) for ramp in range(4)]

    assert orders[0] == [0, 1, 2, 3, 4]  # it rises, and finds where to end
    assert all(sum(order.index(point) for order in orders) == 8 for point in range(5))


@pytest.mark.usefixtures("stage")
def test_a_run_leaves_out_what_follows_two_doublings_without_a_gain_on_each_size_of_pages(tmp_path: Path) -> None:
    """Every queue depth of the stage has the same throughput."""
    step = plan(tmp_path, {"preset": "dss-rand", "depth": 32, "ramps": 2})
    found = [one for one in DirectIo().run(step, HandContext()) if isinstance(one, Estimate)]

    rising = [(depth, pages) for depth in (1, 2, 4) for pages in ("huge", "4k")]
    assert [(e.at["queue_depth"], e.at["pages"]) for e in found if e.series == "iops"] == [*rising, *rising[::-1]]
    assert [(e.value, "gained less" in str(e.extra["ended"])) for e in found if e.series == "knee"] == [(1, True)]
