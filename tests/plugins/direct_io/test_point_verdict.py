"""Each check of a point gets what is known about the target and its storage."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from fakes import HandContext
from plugins.direct_io.evidence import WRITTEN
from plugins.direct_io.hand_made import edge, host, interval, window
from plugins.direct_io.test_options import plan
from plugins.direct_io.test_options import stage as stage  # noqa: PLC0414 -- a fixture
from sizeup.model.plan import SettingValue
from sizeup.model.sample import Estimate
from sizeup.procfs.block import BlockStat
from sizeup.procfs.process import ProcessIo
from sizeup_direct_io import binding, comparisons, point_verdict, validity
from sizeup_direct_io import target as target_module
from sizeup_direct_io.disks import Disks, OtherIo
from sizeup_direct_io.measure import MeasuredPoint
from sizeup_direct_io.point_verdict import PointVerdict, overall, worse
from sizeup_direct_io.presets import LARGE_BYTES, SMALL_BYTES, STREAMS, LoadPoint, Stream
from sizeup_direct_io.probe import DirectIo
from sizeup_direct_io.settings import RunSettings
from sizeup_direct_io.target import OpenTarget, TargetKind, open_target
from sizeup_direct_io.validity import Part, Reason, Validity
from sizeup_direct_io.window_counters import BackgroundLoad, Counters, Temperature, ThermalState


def reasons(folder: Path, part: str, settings: dict[str, SettingValue]) -> list[str]:
    """Return the reasons of a check at each point of a run on a stage."""
    found = DirectIo().run(plan(folder, settings), HandContext())
    return [
        str(emission.extra["reasons"])
        for emission in found
        if isinstance(emission, Estimate)
        and emission.series == "validity"
        and emission.at["part"] == part
        and "workload" in emission.at
    ]


@pytest.mark.usefixtures("stage")
def test_the_array_beneath_the_target_is_a_caveat_of_each_point_by_its_working_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validity, "storage_systems", lambda _: ("Fibre Channel array",))
    monkeypatch.setattr(validity, "is_virtual", lambda _: False)
    whole = reasons(tmp_path, "physical", {"preset": "single-read", "cache_size": 64 << 20})
    parts = reasons(tmp_path, "physical", {"preset": "working-set", "cache_size": 64 << 20})

    print(whole, parts)
    assert all("Fibre Channel array: its cache (64 MiB, cache_size) holds at most" in each for each in whole)
    assert "may serve much of the working set" in parts[0]
    assert "holds at most" in parts[-1]


@pytest.mark.usefixtures("stage")
def test_random_requests_alone_are_compared_with_the_mechanics_of_disks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validity, "rotating_disks", lambda _: 1)
    monkeypatch.setattr("sizeup_direct_io.validity.ROTATING_IOPS", 1)
    random = reasons(tmp_path, "physical", {"preset": "single-read"})
    sequential = reasons(tmp_path, "physical", {"preset": "dss-scan"})

    assert all("random IOPS exceed what a rotating disk can deliver" in each for each in random)
    assert not any("rotating" in each for each in sequential)


@pytest.mark.usefixtures("stage")
def test_each_existing_path_is_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_module, "open_target", open_target)
    data, blank = tmp_path / "data", tmp_path / "blank"
    data.write_bytes(os.urandom(16 << 20))
    blank.write_bytes(bytes(16 << 20))
    try:
        os.close(os.open(data, os.O_RDONLY | os.O_DIRECT))
    except OSError as error:
        pytest.skip(f"{tmp_path} takes no direct I/O: {error}")
    main, first, second, together, also_first, also_second = reasons(
        tmp_path, "physical", {"preset": "single-read", "ramps": 1, "path": str(data), "more_paths": str(blank)}
    )

    assert "64 blocks that were sampled before the run hold data" in main
    assert "64 blocks that were sampled before the run hold data" in first
    assert "64 of 64 sampled blocks are zero" in second
    assert f"{blank}: 64 of 64 sampled blocks are zero" in together, "the worst of all, with its path"
    assert "hold data" in also_first
    assert "64 of 64 sampled blocks are zero" in also_second


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize(
    ("writes", "disks", "caveat"),
    [(True, 0, True), (True, 2, False), (False, 0, False)],
    ids=["flash or unknown", "rotating disks", "reads"],
)
def test_writes_have_a_caveat_unless_disks_rotate(
    writes: bool, disks: int, caveat: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(point_verdict, "rotating_disks", lambda _: disks)
    if not writes:
        monkeypatch.setattr(binding.IoInterval, "written_bytes", 0, raising=False)
    found = reasons(tmp_path, "steady", {"preset": "redo"})

    assert found
    assert all(("not preconditioned" in each) is caveat for each in found)


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize("cache", ["write through", "write back"])
def test_the_cost_of_a_flush_is_judged_by_the_write_cache_of_the_target(
    cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparisons, "write_cache", lambda _: cache)
    found = DirectIo().run(plan(tmp_path, {"preset": "fsync"}), HandContext())
    (cost,) = [emission for emission in found if isinstance(emission, Estimate) and emission.series == "flush-cost"]

    assert cost.value == 0
    assert cost.extra["write_cache"] == cache
    assert bool(cost.caveats) is (cache == "write back")


GIB, MIB, MB = 1 << 30, 1 << 20, 1_000_000
HOT, COOL = (ThermalState({}, {"nvme0": Temperature(now, 80.0)}) for now in (81.0, 40.0))


def counters(read: int, written: int, others: int = 0) -> Counters:
    """What is charged is all of the reads and writes, and 30 MB of metadata is written; others read from the disk."""
    disks = Disks(("sda",), BlockStat(read + others, written), plain=True)
    charged = ProcessIo(read, written + (30 * MB if read else 0))
    return Counters(charged, BlockStat(read, written), None, disks, read, written, 0)


def measured(**changed: Any) -> MeasuredPoint:
    """80 MB read and 40 MB written in 1 s, in 200 us each."""
    known = {
        "before": edge(1.0, host=host(0, 0, 0, 0), counters=counters(0, 0), thermal=COOL),
        "after": edge(2.0, host=host(0.1, 0, 0, 0.9), counters=counters(80 * MB, 40 * MB, 10 * MB), thermal=COOL),
    }
    moved = {"small": interval({200_000: 1000}, {200_000: 500}, read_bytes=80 * MB, written_bytes=40 * MB)}
    return replace(window(1.0, moved, **known), **changed)


def checked(
    run: MeasuredPoint, earlier: tuple[MeasuredPoint, ...] = (), cached: tuple[int, int] = (0, 0), **known: Any
) -> dict[str, Part]:
    """The checks of a window on a file of 1 GiB, of which so much was in the page cache before and after it."""
    target = OpenTarget(TargetKind.MADE, "/u01", 0, 0, GIB, None, 0)
    setup = SimpleNamespace(
        target=target, alignment=(512, 512), extents=WRITTEN, content=None, cached_bytes=lambda: cached[1]
    )
    background = BackgroundLoad(5.0, 0.05, OtherIo("sda", 1e6, 2e6, 0.0))
    limits = {name: known[name] for name in ("path_limit", "cache_size") if name in known}
    verdict = PointVerdict(setup, background, RunSettings("oltp-7030", "/u01", 0.05, 5.0, **limits))  # type: ignore[arg-type]
    point = known.get("point", LoadPoint({}, ((STREAMS["mix"], 4),), share=known.get("share", 1.0)))
    return {part.name: part for part in verdict.parts(point, run, cached[0], earlier)}


def caveats(part: Part) -> list[str]:
    """What did not pass, with what to set."""
    return [caveat.text for caveat in part.caveats]


def test_a_path_carries_each_direction_apart() -> None:
    assert (
        "80 MB/s is within the bandwidth of the path (100 MB/s, path_limit)"
        in checked(measured(), path_limit=100e6)["physical"].reasons
    )
    (beyond,) = caveats(checked(measured(), path_limit=60e6)["physical"])
    assert beyond.startswith("80 MB/s exceeds the bandwidth of the path (60 MB/s, path_limit)")


def test_requests_in_flight_at_the_ends_of_a_window_are_not_missing() -> None:
    reads = {"small": interval({9_000_000: 76}, read_bytes=76 * 8192)}
    few = measured(
        intervals=reads,
        before=edge(1.0, counters=replace(counters(0, 0), in_flight=4.0)),
        after=edge(2.0, counters=replace(counters(76 * 8192, 0), accounting=ProcessIo(72 * 8192, 0))),
    )
    none_then = replace(few, before=edge(1.0, counters=counters(0, 0)))

    assert "100 % of the requested bytes were counted by the block layer" in checked(few)["direct"].reasons
    assert checked(none_then)["direct"].verdict is Validity.FAIL


def test_the_median_of_small_reads_alone_is_that_of_a_cache() -> None:
    fast = measured(intervals={"small": interval({5_000: 1000}, read_bytes=80 * MB)})
    large = LoadPoint({}, ((STREAMS["large"], 4),))

    assert "read latency p50 of 5" in str(caveats(checked(fast)["physical"]))
    assert "latency" not in str(caveats(checked(fast, point=large)["physical"]))
    assert STREAMS["large"].block_bytes == LARGE_BYTES
    some = measured(intervals={"small": interval({5_000: 400, 20_000: 600}, read_bytes=80 * MB)})
    assert "latency" not in str(caveats(checked(some)["physical"])), "less than half of them are that fast"
    for blocks, told in ((2, True), (3, False)):  # of 8 KiB: what is still small
        stream = Stream("custom", blocks * SMALL_BYTES)
        point = LoadPoint({}, ((stream, 4),))
        assert ("latency" in str(caveats(checked(fast, point=point)["physical"]))) is told


def test_bytes_are_judged_in_the_directions_that_were_requested() -> None:
    """With the writes, 150 MB of 120 are charged; of reads alone all that they are."""
    reads = {"small": interval({200_000: 1000}, read_bytes=80 * MB)}
    after = edge(2.0, counters=counters(80 * MB, 0))

    assert "125 % of the requested bytes were counted by the block layer" in checked(measured())["direct"].reasons
    alone = checked(measured(intervals=reads, after=after))
    assert "100 % of the requested bytes were counted by the block layer" in alone["direct"].reasons
    assert "100 % of the requested bytes were counted by the device" in alone["physical"].reasons
    writes = {"small": interval(writes={200_000: 1000}, written_bytes=40 * MB)}
    metadata = Counters(ProcessIo(9 * MB, 40 * MB), BlockStat(9 * MB, 40 * MB), None, None, 0, 40 * MB, 0)
    logged = checked(measured(intervals=writes, after=edge(2.0, counters=metadata)))
    assert "100 % of the requested bytes were counted by the block layer" in logged["direct"].reasons


def test_the_page_cache_is_judged_by_its_growth() -> None:
    assert "the page cache grew by 199 MiB of this file" in caveats(
        checked(measured(), cached=(MIB, 200 * MIB))["direct"]
    )
    shrunk = checked(measured(after=edge(2.0)), cached=(800 * MIB, 100 * MIB))["direct"]
    assert caveats(shrunk)[0].startswith("78 % of the file were in the page cache before the run")


def test_a_part_of_the_target_is_what_a_cache_must_hold() -> None:
    part = checked(measured(), share=0.25, cache_size=MIB)["physical"]

    assert "storage: its cache (1 MiB, cache_size) holds at most 0 % of the working set of 256 MiB" in part.reasons


def test_a_window_is_compared_with_the_first_of_its_point() -> None:
    slow, fast = (measured(seconds=seconds) for seconds in (2.0, 0.5))

    assert "throughput of this ramp +100 % relative to the first" in checked(measured(), (slow, fast))["steady"].reasons
    assert "relative to the first" not in str(checked(measured())["steady"].reasons)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, "throughput drifted +0 % from the first half to the second"),
        ({"halves": 0.9}, "throughput drifted -10 % from the first half to the second"),
        ({"halves": 1.5}, "throughput drifted +50 % from the first half to the second: burst credits"),
        ({}, "during the run: 10 MB/s read and 0 B/s written on sda; before it 1 MB/s read and 2 MB/s written on sda"),
        ({"path_changes": ("path sda went",)}, "path sda went: the figure mixes measurements from before and after"),
        (
            {"intervals": {"a": interval({9: 1}, errors=2), "b": interval({9: 1}, errors=3)}},
            "5 requests failed; they are excluded from all figures",
        ),
        ({"after": edge(2.0, thermal=HOT)}, "nvme0 reached its limit of 80 C: 40 C before, 81 C after"),
        ({"after": edge(2.0, thermal=COOL)}, "hottest sensor nvme0: 40 C before, 40 C after"),
        ({"after": edge(2.0, host=host(0.1, 0, 0, 0.7, 0.2))}, "steal time: 20 % of the CPU time"),
        ({"after": edge(2.0, host=host(0.5, 0, 0, 0.5))}, "used 50 % of the CPUs during the run, 5 % before it"),
    ],
)
def test_the_conditions_of_a_window_are_its_own(changed: dict[str, Any], reason: str) -> None:
    streams = ((STREAMS["mix"], 1),) * len(changed.get("intervals", "1"))
    part = checked(measured(**changed), point=LoadPoint({}, streams))["steady"]

    assert any(reason in each for each in part.reasons)


def test_a_limit_of_the_control_group_is_a_caveat_of_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(point_verdict, "read_limits", lambda _: ("io.max of the control group /job: riops=500",))

    assert "limited by io.max of the control group /job: riops=500" in caveats(checked(measured())["steady"])


GOOD, NONE, POOR, BAD = (
    Part("steady", (Reason(verdict, reason),))
    for verdict, reason in zip(
        (Validity.PASS, Validity.UNKNOWN, Validity.WARN, Validity.FAIL), ("good", "none", "poor", "bad"), strict=True
    )
)


@pytest.mark.parametrize(
    ("part", "changes", "severity"),
    [(GOOD, (), "info"), (POOR, (), "info"), (BAD, (), "warning"), (GOOD, ("x",), "warning")],
)
def test_a_run_warns_of_a_failed_check_and_of_a_path_that_changed(
    part: Part, changes: tuple[str, ...], severity: str
) -> None:
    *_, whole = overall("x", [part], changes)

    assert whole.extra["severity"] == severity


@pytest.mark.parametrize(
    ("one", "other"), [(GOOD, NONE), (GOOD, POOR), (GOOD, BAD), (NONE, POOR), (NONE, BAD), (POOR, BAD)]
)
def test_of_two_results_the_worse_counts_in_either_order(one: Part, other: Part) -> None:
    direct = Part("direct", (Reason(Validity.PASS, "first"),))

    assert worse([direct, one], [direct, other]) == worse([direct, other], [direct, one]) == (direct, other)
    again = Part(one.name, (Reason(one.verdict, "of the later ramp"),))
    assert worse([one], [again]) == (again,), "of two that are alike the later is told"
    cached = Reason(one.verdict, "faster than its path", cached=True)
    fast = Part(one.name, (cached, *one.found))
    for first, second in ((fast, other), (other, fast), (fast, again)):
        (found,) = worse([first], [second])
        assert found.from_cache, "whatever the other ramps show"
        assert found.found.count(cached) == 1
    for parts in ([one, other], [other, one]):
        steady, whole = list(overall("x", [direct, *parts]))[1:]
        assert steady.extra["reasons"] == other.reasons[0]
        assert whole.extra["verdict"] == other.verdict.value
