"""What the points come to: knees, caches, paths, engines, first touches."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from plugins.direct_io.hand_made import Times, edge, host, interval, window
from sizeup.model.machine import Gap
from sizeup.model.sample import Estimate
from sizeup_direct_io import conclusions
from sizeup_direct_io.conclusions import (
    RampPoint,
    cache_size_bytes,
    calibration,
    engine_gain,
    first_touch,
    flush_cost,
    full_rate,
    knee_estimate,
    largest_cached_set,
    matrix,
    page_gains,
    recheck_physical,
    redo,
    redo_under_load,
    scaling,
    working_set,
)
from sizeup_direct_io.estimates import PointResult
from sizeup_direct_io.settings import TargetBandwidth
from sizeup_direct_io.validity import Part, Reason, Validity

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
    assert found.extra["statement"] == "3 paths together reach 96.2 % of the sum of each alone"
    assert found.extra["consequence"] == f"329 MB/s of 114 MB/s + 114 MB/s + 114 MB/s. {cap}"


def test_iops_are_not_held_against_a_bandwidth() -> None:
    found = scaling({"/a": 1e3, "/b": 1e3}, 1e3, "1/s", TargetBandwidth(8e8, "host0: link"))

    assert str(found.extra["consequence"]).endswith(" Bandwidth of the paths together: 800 MB/s (host0: link).")


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
    assert lazy.extra["statement"] == "40 % of first reads took 9 ms, second reads 90 us"
    assert lazy.extra["severity"] == "warning"
    assert "statement" not in plain.extra
    assert "statement" not in noisy.extra


@pytest.mark.parametrize(
    ("slow", "times", "again", "told"),
    [
        (5, 3.1, 0, True),
        (5, 3.0, 0, False),
        (4, 9.0, 0, False),
        (7, 9.0, 2, True),
        (7, 9.0, 3, False),
    ],
    ids=["a quarter, thrice as long", "not longer", "a fifth", "more than thrice as many", "fewer"],
)
def test_limits_of_what_is_said_to_load_at_the_first_touch(slow: int, times: float, again: int, told: bool) -> None:
    first = [90 * US] * (20 - slow) + [90 * US * times] * slow
    second = [90 * US] * (20 - again) + [9000 * US] * again

    assert ("statement" in first_touch(first, second).extra) is told


def test_a_share_is_of_its_own_reads_and_against_the_median_of_the_second() -> None:
    """Half of 8 first reads, of which one of the 4 second ones was slow: three times as many, not five."""
    found = first_touch([90 * US] * 4 + [9000 * US] * 4, [90 * US] * 3 + [9000 * US])

    assert (found.value, found.extra["slow_second_share"], found.extra["second_ns"]) == (0.5, 0.25, 90 * US)
    assert "statement" not in found.extra


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


def point(at: dict[str, str | int | float], *rates: float, parts: tuple[Part, ...] = (), **streams: Any) -> PointResult:
    """A point of windows at so many IOPS of 8 KiB; its ``streams`` are the times of reads, else 100 reads of 10 ns."""
    known = {name: times if isinstance(times, tuple) else (times,) for name, times in streams.items()}
    reads = known or {"small": ({10: 100},)}
    runs = []
    for rate in rates or (100.0,):
        each = {name: interval(*times) for name, times in reads.items()}
        runs.append(window(sum(one.requests for one in each.values()) / rate, each, huge_page_bytes=2 << 20))
    return PointResult(at, tuple(runs), parts)


def at(depth: int, **more: str | int) -> dict[str, str | int | float]:
    return {"workload": "w", "queue_depth": depth, **more}


def extra(found: Estimate, *names: str) -> list[object]:
    return [found.extra.get(name) for name in names]


FAST: Times = {10: 98, 100: 2}
"""Mean 11.8, p50 10, p99 100."""


def test_calibration_takes_the_most_iops_whose_mean_latency_is_within_the_limit() -> None:
    """QD 4 has more than QD 2 and a mean of 11.8; QD 8 the most, but a mean of 20."""
    small = [
        point(at(1), 900.0, small={10: 100}),
        point(at(2), 1000.0, small={11: 100}),
        point(at(4), 1500.0, 2100.0, 1700.0, small=FAST),
        point(at(8), 3000.0, small={20: 100}),
    ]
    large = [point(at(1), 300.0), point(at(2), 500.0, 800.0, 100.0), point(at(4), 400.0)]
    iops, latency, rate = calibration(small, large, 12.0)

    assert (iops.series, iops.value, latency.series) == ("calibrate-iops", 1700, "calibrate-latency")
    assert latency.value == pytest.approx(11.8)
    assert extra(iops, "queue_depth", "limit_ns", "iops_with_p99_in_limit") == [4, 12.0, 1000]
    assert (rate.series, rate.value, rate.extra["queue_depth"]) == ("calibrate-rate", 500 * 8192, 2)
    assert [one.value for one in calibration(small, [], 10.0)] == [900, 10]
    assert list(calibration(small, [], 9.0)) == []
    slow_tail, *_ = calibration([small[2]], [], 12.0)
    assert "iops_with_p99_in_limit" not in slow_tail.extra
    one_slow, *_ = calibration([point(at(1), 900.0, small={10: 199, 100: 1})], [], 12.0)
    assert one_slow.extra["iops_with_p99_in_limit"] == 900


@pytest.mark.parametrize(
    ("median_ms", "grade"), [(0.5, "good"), (0.99, "good"), (1.1, "watch"), (4.9, "watch"), (5.2, "poor")]
)
def test_log_writes_are_graded_by_their_median(median_ms: float, grade: str) -> None:
    ns = round(median_ms * 1e6) // 8192 * 8192  # below the middle of its bucket
    p50, p99 = redo([point({"block_bytes": 4096}, small=({}, {ns: 97, 40_000_000: 3}))])

    assert (p50.series, p50.at["block_bytes"], p50.extra["grade"]) == ("redo-p50", 4096, grade)
    assert p50.value == pytest.approx(ns, rel=0.01)
    assert (p99.series, p99.value) == ("redo-p99", pytest.approx(40e6, rel=0.01))


@pytest.mark.parametrize(("limit", "grade"), [("REDO_GOOD_NS", "good"), ("REDO_WATCH_NS", "watch")])
def test_a_median_at_a_limit_has_the_better_grade(limit: str, grade: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log = point({"block_bytes": 4096}, small=({}, {2_000_000: 1}))
    monkeypatch.setattr(conclusions, "REDO_GOOD_NS", 1.0)
    monkeypatch.setattr(conclusions, limit, log.pooled.quantile_ns("write", 0.5))

    assert next(redo([log])).extra["grade"] == grade


@pytest.mark.parametrize(("small", "slow"), [(151, True), (149, False), (60, False)])
def test_a_small_log_write_that_is_slow_shows_large_sectors(small: int, slow: bool) -> None:
    points = [point({"block_bytes": size}, small=({}, {ns * 1000: 100})) for size, ns in ((512, small), (4096, 100))]
    caveats = [found.caveats for found in redo(points) if found.series == "redo-p50"]

    assert [bool(each) for each in caveats] == [slow, False]


@pytest.mark.parametrize(("loaded", "slow"), [(30, False), (31, True)])
def test_the_log_beside_the_load_is_compared_with_the_log_alone(loaded: int, slow: bool) -> None:
    alone = point({}, log=({}, {1: 100}, {10: 100}))
    both = point({}, log=({}, {1: 100}, {9: 50, loaded: 50}), small=({}, {1: 1000}, {90: 1000}))
    found = redo_under_load(alone, both)

    assert (found.value, extra(found, "alone_ns", "loaded_ns")) == (loaded / 10, [10, loaded])
    assert ("the log waits for data I/O: put the redo log on separate storage" in found.caveats) is slow
    assert redo_under_load(point({}, log=({}, {1: 100})), both).value == 1.0, "nothing is known of the log alone"


def test_the_matrix_has_each_stream_over_the_time_of_all_windows() -> None:
    mixed = point({"small": 4, "large": 2}, 200.0, 100.0, small={10: 60, 20: 20}, large={50: 20})
    found = {
        (one.series, tuple(one.at.values())): one.value
        for one in matrix([mixed, point({"small": 0, "large": 2}, large={50: 100})])
    }

    # 0.5 and 1 s: 160 small reads and 40 large ones in 1.5 s.
    assert found == pytest.approx(
        {
            ("matrix-iops", (4, 2)): 160 / 1.5,
            ("matrix-latency", (4, 2)): 12.5,
            ("matrix-rate", (4, 2)): 40 * 8192 / 1.5,
            ("matrix-rate", (0, 2)): 100 * 8192,
        }
    )


def test_pages_are_compared_at_each_depth_and_stated_at_the_best() -> None:
    """1.5 times at QD 1, 1.25 at QD 2, which is the fastest; QD 4 has one kind only."""
    points = [
        *(point(at(1, pages="huge"), 300.0), point(at(1, pages="4k"), 200.0)),
        *(point(at(2, pages="huge"), 500.0), point(at(2, pages="4k"), 400.0)),
        *(point(at(4, pages="huge"), 900.0), point(at(8), 1000.0)),
    ]
    first, second = page_gains(points)

    assert [(one.series, one.at["queue_depth"], one.value) for one in (first, second)] == [
        ("page-gain", 1, pytest.approx(1.5)), ("page-gain", 2, pytest.approx(1.25)),
    ]  # fmt: skip
    assert extra(second, "huge_bytes_per_second", "small_bytes_per_second", "huge_page_bytes") == [
        500 * 8192, 400 * 8192, 2 << 20,
    ]  # fmt: skip
    assert "statement" not in first.extra
    assert second.extra["statement"] == "w: buffers on huge pages give 1.25 times the throughput of 4 KiB pages"
    assert str(second.extra["consequence"]).startswith("4.1 MB/s against 3.28 MB/s at QD 2. A database with its")


@pytest.mark.parametrize(("pages", "told"), [((None, 2 << 20), 2 << 20), ((2 << 20, None), 0)])
def test_a_small_gain_of_pages_brings_no_advice_and_their_size_is_that_of_the_last_window(
    pages: tuple[int | None, ...], told: int
) -> None:
    runs = tuple(window(100 / 108, {"small": interval({10: 100})}, huge_page_bytes=size) for size in pages)
    (found,) = page_gains([PointResult(at(1, pages="huge"), runs, ()), point(at(1, pages="4k"), 100.0)])

    assert found.value == pytest.approx(1.08)
    assert str(found.extra["consequence"]).endswith("at QD 1.")
    assert extra(found, "huge_page_bytes") == [told]


def test_working_sets_are_compared_with_the_whole_target() -> None:
    points = [point({"working_set_bytes": size * GIB}, rate) for size, rate in ((1, 120.0), (2, 150.0), (4, 100.0))]

    assert working_set(points).value == 1.5


@pytest.mark.parametrize(
    ("size", "before", "verdict", "from_cache", "words"),
    [
        (1, Validity.PASS, Validity.WARN, True, "1.6 times the IOPS of the whole target (4 GiB): probably a cache"),
        (2, Validity.FAIL, Validity.FAIL, True, "1.4 times the IOPS of the whole target (4 GiB): probably a cache"),
        (4, Validity.PASS, Validity.WARN, False, "a cache of at least 2 GiB serves part of it"),
    ],
)
def test_a_point_within_a_cache_is_not_physical(
    size: int, before: Validity, verdict: Validity, from_cache: bool, words: str
) -> None:
    rates = {GIB: 160.0, 2 * GIB: 140.0, 4 * GIB: 100.0}
    parts = tuple(Part(name, (Reason(before, name),)) for name in ("direct", "physical", "steady"))
    found = recheck_physical(point({"working_set_bytes": size * GIB}, parts=parts), rates)

    assert (found.name, found.verdict, found.from_cache) == ("physical", verdict, from_cache)
    assert found.reasons[-1].startswith(words)
    assert tuple(caveat.text for caveat in found.caveats)[-1:] == found.reasons[1:]
    even = recheck_physical(point({"working_set_bytes": size * GIB}, parts=parts), dict.fromkeys(rates, 100.0))
    assert (even.verdict, even.caveats) == (before, parts[1].caveats)


def test_the_cpus_of_the_highest_rate_are_those_of_all_its_windows() -> None:
    """1 and 2 s of 2 CPUs: 0.5 + 1 s of the process, 0.25 + 0.25 in interrupts; a faster point came from a cache."""
    runs = []
    for seconds, process in ((1.0, 0.5), (2.0, 1.0)):
        after = edge(1.0 + seconds, process_s=process, host=host(process, 0.1, 0.25, 2 * seconds - process - 0.35))
        run = window(seconds, {"small": interval({10: 1000})}, before=edge(1.0, host=host(0, 0, 0, 0)), after=after)
        runs.append(run)
    cached = point(at(8), 9000.0, parts=(Part("physical", (Reason(Validity.WARN, "a cache", cached=True),)),))
    points = [point(at(1), 100.0), PointResult(at(4), tuple(runs), ()), cached]
    found = full_rate("w", points, "1/s")

    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(2.0 / 3)
    assert extra(found, "queue_depth", "host_ns_per_request") == [4, 1e6]
    assert found.extra["host_kernel_percent"] == pytest.approx(100 * 0.7 / 6)
    assert str(found.extra["statement"]) == "w: I/O costs 0.67 of 2 CPUs at 750 /s"
    assert isinstance(full_rate("w", [cached], "1/s"), Gap), "nothing else to take, and its CPU time is unknown"
