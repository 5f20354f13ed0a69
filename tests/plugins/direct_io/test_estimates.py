"""What a point's windows come to."""

import math
import random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from plugins.direct_io.hand_made import interval
from sizeup.compare import statistics
from sizeup_direct_io.binding import half_width, median_interval
from sizeup_direct_io.conclusions import RampPoint, find_knee, median_knee, ramp_order, stopped_paying
from sizeup_direct_io.estimates import ONE_RAMP, histogram_text, latencies, throughput
from tiers import one_in

SEED = 20260131
DEPTHS = [1 << power for power in range(9)]


def window(iops: float, *blocks: float) -> Any:
    return cast(
        "Any", SimpleNamespace(blocks=blocks or (iops,), iops=iops, bytes_per_second=8192 * iops, converged=True)
    )


@pytest.mark.parametrize(("count", "t95"), [(4, 3.182), (20, 2.093), (40, 2.023)])
def test_the_width_is_that_of_students_t_however_many_blocks(count: int, t95: float) -> None:
    assert half_width([0.0, 2.0] * (count // 2)) == pytest.approx(t95 / (count - 1) ** 0.5, rel=0.001)


@pytest.mark.parametrize(
    ("ramps", "low", "high"),
    [
        ([99.0, 101.0], 100 - 12.706, 100 + 12.706),
        ([99.0, 100.0, 101.0], 100 - 4.303 / 3**0.5, 100 + 4.303 / 3**0.5),
        ([10.0, 100.0], 0.0, 55 + 12.706 * 45),
        ([98.0, 100.0, 101.0, 103.0, 99.0, 97.0], 97.0, 103.0),
    ],
    ids=["two ramps", "three", "a rate is never below nothing", "six by order"],
)
def test_the_interval_of_a_rate_is_over_ramps(ramps: list[float], low: float, high: float) -> None:
    """The windows' own parts have no effect on it."""
    iops, rate = throughput({}, [window(value, 1.0, 1000.0) for value in ramps], (), {})

    assert (iops.low, iops.high) == (pytest.approx(low), pytest.approx(high))
    assert (rate.low, rate.high) == (pytest.approx(8192 * low), pytest.approx(8192 * high))
    assert "no_interval" not in iops.extra


def test_the_quantiles_of_a_latency_are_those_of_their_names() -> None:
    """Of 2,000 reads as many took 1 to 100 ns each."""
    found = {one.series: one for one in latencies({}, {"small": interval(dict.fromkeys(range(1, 101), 20))}, ())}
    values = {name: one.value for name, one in found.items()}

    assert values == {
        "latency-mean": 50.5,
        "latency-p50": 50.0,
        "latency-p90": 90.0,
        "latency-p99": 99.0,
        "latency-p999": 100.0,
    }
    assert found["latency-p99"].extra == {"minimum_ns": 1.0, "p99_99_ns": 100.0, "maximum_ns": 100.0, "count": 2000}


def test_one_ramp_has_no_interval_and_says_so() -> None:
    for estimate in throughput({}, [window(100.0, 99.0, 100.0, 101.0)], (), {"engine": "aio"}):
        assert (estimate.low, estimate.high, estimate.replicates) == (None, None, 1)
        assert estimate.extra == {"engine": "aio", "no_interval": ONE_RAMP}


def test_the_interval_of_a_median_is_the_same_for_points_and_for_runs() -> None:
    """The native rule and the comparison's cut off the same number of values."""
    for count in range(6, 130):
        values = [float(value) for value in range(count)]
        assert median_interval(values) == statistics.median_interval(values)
    assert statistics.median_interval([1.0] * 5) is None
    assert median_interval([1.0]) is None


def ramps_of(source: random.Random, ramps: int, deviation: float, drift: float) -> list[list[tuple[int, float]]]:
    """Deviations from the truth as factors, by ramp and point: half of their variance is common to a ramp."""
    share, turns, time = deviation / math.sqrt(2), ramps * len(DEPTHS), 0
    found = []
    for ramp in range(ramps):
        common = source.gauss(0, share)
        factors = []
        for index in ramp_order(ramp, len(DEPTHS)):
            drifted = drift * (time / (turns - 1) - 0.5)
            factors.append((index, math.exp(common + source.gauss(0, share) + drifted)))
            time += 1
        found.append(sorted(factors))
    return found


@pytest.mark.parametrize("drift", [0.0, -0.1], ids=["steady", "falling by a tenth"])
@pytest.mark.parametrize("deviation", [0.02, 0.04])
@pytest.mark.parametrize("ramps", one_in(4, [2, 3, 4, 6, 8]))
def test_nine_of_ten_intervals_hold_the_truth(ramps: int, deviation: float, drift: float) -> None:
    source = random.Random(SEED)
    held = points = 0
    for _ in range(100):
        sessions = ramps_of(source, ramps, deviation, drift)
        for index in range(len(DEPTHS)):
            # Parts of one window resemble each other; their number does not help.
            runs = [window(1000 * factors[index][1], *[1000 * factors[index][1]] * 10) for factors in sessions]
            iops, _ = throughput({}, runs, (), {})
            assert iops.low is not None
            assert iops.high is not None
            held += iops.low <= 1000 <= iops.high
            points += 1

    assert held / points >= 0.9


@pytest.mark.parametrize("drift", [-0.2, 0.0, 0.2])
@pytest.mark.parametrize("ramps", [2, 3])
def test_the_knee_stays_within_one_doubling_of_the_true_one(ramps: int, drift: float) -> None:
    """With the gain of each doubling a little less than the one before: the hardest curve."""
    source = random.Random(SEED)
    truth = [RampPoint(depth, 400 * depth / (depth + 7)) for depth in DEPTHS]
    true_knee = find_knee(truth)
    assert true_knee is not None
    near = 0
    for _ in range(200):
        measured = [
            [
                RampPoint(point.queue_depth, point.throughput * factor)
                for point, (_, factor) in zip(truth, one, strict=True)
            ]
            for one in ramps_of(source, ramps, 0.03, drift)
        ]
        ends = next((end for end in range(len(DEPTHS)) if stopped_paying(measured[0][:end])), len(DEPTHS))
        found = median_knee([one[:ends] for one in measured])
        near += found is not None and 0.5 <= found[0].queue_depth / true_knee.queue_depth <= 2

    assert near / 200 >= 0.95


def test_a_recorded_histogram_keeps_every_request_near_its_time() -> None:
    counts = dict.fromkeys((7, 40, 127, 130, 1000, 1012, 65536, 1000003, 2**40), 3)

    pairs = [pair.split(":") for pair in histogram_text(counts).split()]
    found = {int(middle): int(count) for middle, count in pairs}

    assert sum(found.values()) == sum(counts.values())
    assert found[1_008] == 6, "both are in the bucket from 992 to 1,023"
    assert all(min(abs(middle - ns) / ns for middle in found) <= 1 / 32 for ns in counts)
    assert len(found) == len(counts) - 1
