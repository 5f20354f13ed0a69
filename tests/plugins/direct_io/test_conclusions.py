"""What the points come to: knees, caches, paths, engines, first touches."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sizeup_direct_io.conclusions import (
    cache_size_bytes,
    engine_gain,
    first_touch,
    flush_cost,
    knee_estimate,
    largest_cached_set,
    scaling,
    working_set,
)
from sizeup_direct_io.knee import RampPoint
from sizeup_direct_io.path_bandwidth import TargetBandwidth

GIB = 1 << 30
US = 1000.0


def test_the_knee_and_the_most_stand_side_by_side_with_why_the_ramp_ended() -> None:
    ramp = [RampPoint(1, 17e3), RampPoint(2, 30e3), RampPoint(4, 50e3), RampPoint(8, 52e3), RampPoint(16, 53e3)]
    found = knee_estimate("oltp-read", [ramp, ramp], "1/s", "it was enough")

    assert (found.value, found.extra["maximum"], found.extra["maximum_queue_depth"]) == (4.0, 53e3, 16)
    assert found.extra["statement"] == "oltp-read: knee 50 k/s at QD 4, maximum 53 k/s at QD 16"
    assert found.extra["consequence"] == "The ramp ended: it was enough."


@pytest.mark.parametrize(
    ("path_bandwidth", "cap"),
    [
        (None, "Whether they share an adapter or interface is unknown."),
        (
            TargetBandwidth(342e6, "eth0: link"),
            "Bandwidth of the paths together: 342 MB/s (eth0: link), not the bottleneck.",
        ),
        (
            TargetBandwidth(330e6, "eth0: link"),
            "Bottleneck: the paths carry 330 MB/s together (eth0: link), less than the sum of each alone.",
        ),
    ],
)
def test_three_paths_of_the_published_case_scale_to_96_2_percent_and_name_their_cap(
    path_bandwidth: TargetBandwidth | None, cap: str
) -> None:
    found = scaling({"/a": 114e6, "/b": 114e6, "/c": 114e6}, 329e6, "bytes/s", path_bandwidth)

    assert found.value == pytest.approx(0.962, abs=5e-4)
    assert found.extra["statement"] == "3 paths together reach 96.2% of the sum of each alone"
    assert found.extra["consequence"] == f"329 MB/s of 114 MB/s + 114 MB/s + 114 MB/s. {cap}"


def test_paths_to_the_same_disk_are_told_so() -> None:
    found = scaling({"/a": 1e9, "/b": 1e9}, 1e9, "bytes/s", TargetBandwidth(9e9, "nvme0: link"), ("nvme0n1",))

    assert str(found.extra["consequence"]).endswith("The paths share disks: nvme0n1.")


@pytest.mark.parametrize(
    ("rates", "cached_set", "held"),
    [
        ({GIB // 4: 60e3, GIB // 2: 58e3, GIB: 57e3}, None, GIB),
        ({GIB // 4: 90e3, GIB // 2: 88e3, GIB: 57e3}, GIB // 2, GIB // 2),
        ({GIB // 4: 90e3, GIB // 2: 60e3, GIB: 40e3}, GIB // 2, GIB // 4),
    ],
    ids=["even", "half", "a quarter, which answers half of the reads within a half"],
)
def test_a_cache_shows_as_the_parts_that_run_faster_than_the_whole(
    rates: dict[int, float], cached_set: int | None, held: int
) -> None:
    assert (largest_cached_set(rates), cache_size_bytes(rates)) == (cached_set, held)


def test_a_cache_that_was_found_tells_the_size_that_exceeds_it() -> None:
    rates = {GIB // 4: 90e3, GIB // 2: 60e3, GIB: 40e3}
    points = [SimpleNamespace(at={"working_set_bytes": size}, iops=rate) for size, rate in rates.items()]
    found = working_set(cast("Any", points))

    assert found.extra["cache_bytes"] == GIB // 4
    assert str(found.extra["consequence"]).endswith("Set size to 1 GiB or more to measure the storage without it.")


def test_a_volume_that_loads_at_the_first_touch_is_told_from_one_that_does_not() -> None:
    second = [90 * US] * 20
    lazy = first_touch([90 * US] * 12 + [9000 * US] * 8, second)
    plain = first_touch([110 * US] * 18 + [400 * US] * 2, second)
    noisy = first_touch([90 * US] * 12 + [9000 * US] * 8, [90 * US] * 15 + [5000 * US] * 5)

    assert lazy.value == 0.4
    assert lazy.extra["statement"] == "40% of first reads took 9 ms, second reads 90 us"
    assert lazy.extra["severity"] == "warning"
    assert "statement" not in plain.extra
    assert "statement" not in noisy.extra


def test_engines_are_held_against_each_other_by_the_median_of_pairs() -> None:
    found = engine_gain("oltp-read", 16, [1.1, 0.9, 1.2], ("io_uring", "aio"))

    assert found.value == 1.1
    # mean 1.0667, s 0.1528, t(2) 4.303
    assert (found.low, found.high) == (pytest.approx(0.6872, abs=1e-3), pytest.approx(1.4461, abs=1e-3))
    assert found.extra["consequence"] == "3 alternating pairs: 0.90 to 1.20."
    assert found.extra["statement"] == "oltp-read at QD 16: io_uring has 1.10 times the throughput of aio"


@pytest.mark.parametrize(
    ("write_cache", "cost_ns", "suspicious"),
    [
        ("write back", 8_000, True),
        (None, 8_000, True),
        ("write through", 8_000, False),
        ("write through", 0, False),
        ("write back", 60_000, False),
    ],
)
def test_a_fast_flush_is_suspicious_unless_the_device_needs_none(
    write_cache: str | None, cost_ns: float, suspicious: bool
) -> None:
    found = flush_cost(56_000, 56_000 + cost_ns, write_cache)

    assert found.value == cost_ns
    assert bool(found.caveats) is suspicious
    assert found.extra["write_cache"] == (write_cache or "unknown")
