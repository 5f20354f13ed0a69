"""Every figure of a point over three windows, and of a window over its counters, worked out by hand."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes import HandContext
from plugins.direct_io.hand_made import NOTHING, edge, host, interval, window
from plugins.direct_io.test_options import FakeSetup, plan
from plugins.direct_io.test_options import stage as stage  # noqa: PLC0414 -- a fixture
from sizeup.model.plan import SettingValue
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Emission
from sizeup.procfs.block import BlockStat
from sizeup.procfs.mounts import NfsBytes
from sizeup.procfs.process import ProcessIo
from sizeup_direct_io import binding
from sizeup_direct_io import measure as measure_module
from sizeup_direct_io import run as run_module
from sizeup_direct_io.disks import Disks
from sizeup_direct_io.estimates import PointResult, pool
from sizeup_direct_io.measure import MeasuredPoint, stream_coordinates
from sizeup_direct_io.probe import DirectIo
from sizeup_direct_io.window_counters import BackgroundLoad, Counters

MB = 1_000_000
LOST = "path sda (SCSI device) went from running to offline at 06:17:51 UTC"


def moved(read: int, written: int, others_read: int = 0, others_written: int = 0) -> Counters:
    """All of the kernel's counters after so many bytes of our own, and of others on the same disk."""
    disks = Disks(("sda",), BlockStat(read + others_read + 7, written + others_written + 7), plain=True)
    return Counters(ProcessIo(read + 7, written + 7), None, None, disks, read + 7, written + 7, 0)


# Seconds 2, 2 and 4; 4,000, 8,000 and 3,000 IOPS; 40, 10 and 100 MB/s.
FIRST = window(
    2.0,
    {"custom": interval({10: 6000}, {100: 2000}, read_bytes=60 * MB, written_bytes=20 * MB, errors=3,
                        usage_requests=8000, usage_bytes=80 * MB, user_ns=40 * MB, system_ns=80 * MB,
                        run_delay_ns=9 * MB, voluntary_switches=18_000, submit_calls=9_000)},
    before=edge(1.0, host=host(9.0, 8.0, 7.0, 6.0, 5.0, interrupts=70, switches=80), process_s=3.0,
                waited_us=(1000, 2000), counters=moved(0, 0), kernel_s={"kworker": 5.0}),
    after=edge(3.0, host=host(9.5, 8.3, 7.1, 7.1, 5.5, interrupts=1070, switches=480), process_s=3.2,
               waited_us=(101_000, 1_002_000), counters=moved(60 * MB, 20 * MB, 6 * MB, 4 * MB),
               kernel_s={"kworker": 5.1}),
)  # fmt: skip
SECOND = window(
    2.0,
    {"custom": interval({20: 12_000}, {50: 4000}, read_bytes=10 * MB, written_bytes=10 * MB,
                        usage_requests=16_000, usage_bytes=20 * MB, user_ns=30 * MB, system_ns=50 * MB,
                        voluntary_switches=10_000, submit_calls=9_000)},
    halves=0.7,
    converged=False,
    before=edge(1.0, host=host(0, 0, 0, 0, interrupts=0, switches=0), waited_us=(0, 0), counters=moved(0, 0)),
    after=edge(3.0, host=host(0.2, 0.1, 0.05, 1.65, interrupts=2000, switches=800), process_s=0.1,
               waited_us=(300_000, 0), counters=moved(10 * MB, 10 * MB),
               kernel_s={"kworker": 0.06, "loop0": 0.04}),
)  # fmt: skip
THIRD = window(
    4.0,
    {"custom": interval({30: 8700, 60: 265, 90: 31, 120: 4}, {110: 3000}, read_bytes=300 * MB,
                        written_bytes=100 * MB, errors=4, usage_requests=12_000, usage_bytes=400 * MB,
                        user_ns=50 * MB, system_ns=110 * MB, voluntary_switches=8_000)},
    before=edge(1.0, host=host(0, 0, 0, 0, interrupts=0, switches=0), waited_us=(0, 0), counters=moved(0, 0)),
    after=edge(5.0, host=host(1.0, 0.6, 0.2, 2.2, interrupts=6000, switches=2400), process_s=1.0,
               waited_us=(400_000, 0), counters=moved(300 * MB, 100 * MB), kernel_s={"loop0": 0.2}),
    path_changes=(LOST,),
)  # fmt: skip


@pytest.fixture
def figures(stage: FakeSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a preset whose windows are these, beside a background of 10 % of the CPUs, and returns its estimates."""

    def run(windows: Sequence[MeasuredPoint], busy: float = 0.1, **chosen: SettingValue) -> list[Estimate]:
        left = iter(windows)

        def background(*_: object) -> Generator[Emission, None, BackgroundLoad]:
            yield Progress(0.0)
            return BackgroundLoad(5.0, busy)

        def measure(workers: object, streams: object, at: Any, *_: object) -> Generator[Emission, None, MeasuredPoint]:
            yield Progress(0.0)
            return replace(next(left), at=at)

        monkeypatch.setattr(run_module, "measure_background", background)
        monkeypatch.setattr(measure_module, "measure", measure)
        chosen = {"check_concurrency": False, "ramps": len(windows), **chosen}
        found = DirectIo().run(plan(tmp_path, chosen), HandContext())
        return [each for each in found if isinstance(each, Estimate)]

    return run


@pytest.fixture
def mix(figures: Any) -> list[Estimate]:
    found: list[Estimate] = figures([FIRST, SECOND, THIRD], preset="custom", read_percent=75, depth=4)
    return found


def last(found: list[Estimate], series: str, **at: object) -> Estimate:
    """The estimate of a series, once all windows are measured."""
    return [e for e in found if e.series == series and at.items() <= e.at.items()][-1]


def test_a_rate_is_the_median_of_its_windows_with_all_that_was_counted(mix: list[Estimate]) -> None:
    iops, rate = last(mix, "iops"), last(mix, "rate")

    assert (iops.value, rate.value) == (4000, 40e6), "the means are 5,000 and 50 MB/s"
    assert (iops.replicates, iops.converged) == (3, False), "one window did not"
    expected = {"errors": 7, "seconds": 8.0, "ramp_order": "forward, backward, forward"}
    # 0.5 s of 2.5 were stolen; 0.8 s of user and system time less 0.3 of our own; 5 of 45 MB/s on the disk.
    expected |= {"stolen_share": 0.2, "others_share": 0.25, "others_io_share": 5 / 45}
    assert {name: iops.extra[name] for name in expected} == pytest.approx(expected)
    earlier = next(e for e in mix if e.series == "iops")
    assert (earlier.value, earlier.replicates, earlier.converged, earlier.extra["errors"]) == (4000, 1, True, 3)


@pytest.mark.parametrize(
    ("direction", "mean", "quantiles", "tail"),
    [
        # 6,000 of 10, 12,000 of 20, 8,700 of 30, 265 of 60, 31 of 90 and 4 of 120 ns: the 26,730th is one of 60.
        ("read", (60_000 + 240_000 + 261_000 + 15_900 + 2_790 + 480) / 27_000, (20, 30, 60, 90), (10, 120, 120)),
        ("write", (200_000 + 200_000 + 330_000) / 9_000, (100, 110, 110, 110), (50, 110, 110)),
    ],
)
def test_latencies_are_those_of_all_windows_together(
    mix: list[Estimate], direction: str, mean: float, quantiles: Sequence[int], tail: Sequence[int]
) -> None:
    found = [last(mix, f"latency-{name}", direction=direction) for name in ("p50", "p90", "p99", "p999")]

    assert last(mix, "latency-mean", direction=direction).value == pytest.approx(mean)
    assert [each.value for each in found] == [*quantiles]
    assert [found[0].extra[name] for name in ("minimum_ns", "p99_99_ns", "maximum_ns")] == [*tail]
    assert found[0].extra["count"] == (27_000 if direction == "read" else 9_000)


def test_the_cost_of_a_request_is_that_of_all_windows_over_all_requests(mix: list[Estimate]) -> None:
    each, megabyte = last(mix, "cpu-per-io"), last(mix, "cpu-per-mb")

    assert (each.value, megabyte.value) == (10_000, 720_000)  # 360 ms of 36,000 requests and 500 MB
    expected = {
        "user_ns": 120e6 / 36e3, "system_ns": 240e6 / 36e3, "run_delay_ns": 250.0, "voluntary_switches": 1.0,
        "submit_calls": 0.5,
        "host_ns": (3.05e9 - 0.1 * 8e9) / 36e3,  # 0.9 + 0.35 + 1.8 s busy, without a tenth of 8 s
        "host_kernel_percent": 100 * 1.35 / 8,  # 0.4 + 0.15 + 0.8 s in the kernel and interrupts
        "host_interrupts": 0.25, "host_switches": 0.1,
        "psi_cpu_some_percent": 10.0, "psi_io_some_percent": 12.5,  # 0.8 and 1 of 8 s
    }  # fmt: skip
    assert {name: each.extra[name] for name in expected} == pytest.approx(expected)
    assert each.extra["kernel_threads"] == "loop0 3 %, kworker 2 %"  # 0.24 and 0.16 of 8 s
    # 0.3 + 0.1, 0.2 + 0.05 and 1.2 + 0.2 s of this process, kernel threads and interrupts.
    assert megabyte.extra["host_io_ns_per_mb"] == pytest.approx(2.05e9 / 500)


def test_the_worst_window_of_each_check_stands_for_the_point_and_the_run(mix: list[Estimate]) -> None:
    """Of three windows the first has steal time, the second drifts, the third is only slower."""
    steady = [e for e in mix if e.series == "validity" and e.at["part"] == "steady"]
    first, second, third, run = [str(e.extra["reasons"]) for e in steady]

    assert [e.extra["verdict"] for e in steady] == ["warn", "fail", "fail", "fail"]
    assert "throughput drifted +0 % from" in first
    assert "other processes used 25 % of the CPUs during the run, 10 % before it" in first
    assert "during the run: 3 MB/s read and 2 MB/s written on sda" in first
    assert "steal time: 20 % of the CPU time" in first
    assert "3 requests failed" in first
    assert "relative to the first" not in first
    assert "throughput drifted -30 % from" in second
    assert "throughput of this ramp +100 % relative to the first" in second
    assert second == third == run
    direct = last(mix, "validity", part="direct")
    assert "100 % of the requested bytes were counted by the block layer" in str(direct.extra["reasons"])
    assert [e.extra["verdict"] for e in mix if e.at == {"part": "all"}] == ["fail"]
    caveats = last(mix, "iops").caveats
    assert f"steady: {LOST}: the figure mixes measurements from before and after it" in caveats
    assert not any(LOST in caveat for caveat in [e for e in mix if e.series == "iops"][1].caveats)


def test_a_rising_ramp_ends_by_its_worst_direction_and_its_knee_is_over_all_ramps(figures: Any) -> None:
    """QD 1, 2, 4 and 8 twice, the second time backward; p99 of the writes at QD 4 is 110 ns."""
    ramp = [
        window(1.0, {"small": interval({10: 99, 90: 1}, {10: 98, slow: 2}, read_bytes=1, written_bytes=1)})
        for slow in (50, 60, 110)
    ]
    rates = [replace(one, seconds=200 / iops) for one, iops in zip(ramp, (1000, 1500, 1800), strict=True)]
    again = [replace(one, seconds=200 / iops) for one, iops in zip(ramp, (1200, 1700, 1820), strict=True)]
    chosen = {"preset": "oltp-7030", "depth": 8, "p99_limit": 105e-9, "ramps": 2}
    found = figures([*rates, *reversed(again)], **chosen)

    assert [e.at["queue_depth"] for e in found if e.series == "iops"] == [1, 2, 4, 4, 2, 1]
    knee = last(found, "knee")
    # 1.5 and 1.2 in the first ramp; 1.417 and 1.07 in the second: 4 and 2, of which the lower counts.
    assert (knee.value, knee.extra["per_ramp"]) == (2, "4 2")
    assert (knee.extra["throughput"], knee.extra["maximum"]) == pytest.approx((1750, 1810))
    assert str(knee.extra["ended"]) == "latency p99 of 110 ns exceeds p99_limit (105 ns)"
    assert not any(e.series == "knee" for e in figures([*rates, *reversed(again)], busy=0.6, **chosen)), (
        "others load it"
    )


def test_a_point_reads_its_share_and_is_judged_by_what_the_page_cache_held_before_it(
    stage: FakeSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page cache grows by 300 MiB with each window."""
    windows: list[object] = []
    measure = vars(measure_module)["measure"]

    def measure_cached(*told: Any) -> Generator[Emission, None, MeasuredPoint]:
        windows.append(told)
        measured: MeasuredPoint = yield from measure(*told)
        return measured

    monkeypatch.setattr(measure_module, "measure", measure_cached)
    monkeypatch.setattr(binding, "cached_bytes", lambda *_: 300 * len(windows) << 20)
    found = list(DirectIo().run(plan(tmp_path, {"preset": "working-set", "ramps": 1}), HandContext()))

    direct = [e for e in found if isinstance(e, Estimate) and e.at.get("part") == "direct" and "workload" in e.at]
    assert len(direct) == 5
    assert all("the page cache grew by 300 MiB of this file" in str(e.extra["reasons"]) for e in direct)
    told = [each[0] for each in stage.told if isinstance(each, tuple) and each[2]]
    assert [max(worker["size_bytes"] for worker in each) for each in told] == [
        1 << 30 >> less for less in (4, 3, 2, 1, 0)
    ]


def test_all_streams_and_windows_are_pooled() -> None:
    runs = [
        window(1.0, {"small": interval({10: 1}), "log": interval({}, {40: 2})}),
        window(1.0, {"small": interval({20: 3}), "log": interval({}, {50: 4})}),
        window(1.0, {"small": interval({30: 5}), "log": interval({}, {60: 6})}),
    ]
    by_stream = pool(runs)
    together = PointResult({}, tuple(runs), ()).pooled

    assert by_stream["small"].histogram("read") == together.histogram("read") == {10: 1, 20: 3, 30: 5}
    assert by_stream["log"].histogram("write") == together.histogram("write") == {40: 2, 50: 4, 60: 6}
    assert (by_stream["small"].requests, together.requests, runs[0].requests) == (9, 21, 3)


def test_streams_are_told_apart_by_their_name_where_there_are_several() -> None:
    assert stream_coordinates({"queue_depth": 1}, "small", 1) == {"queue_depth": 1}
    assert stream_coordinates({"queue_depth": 1}, "small", 2) == {"queue_depth": 1, "stream": "small"}
    assert stream_coordinates({"small": 1, "large": 0}, "small", 1)["stream"] == "small"


def counted(read: int, written: int, *, kernel: bool = True, nfs: bool = False) -> Counters:
    """Bytes of the workers, which the kernel charges and the device counts five times, with others since boot."""
    return Counters(
        ProcessIo(read + 11, written + 13) if kernel else None,
        BlockStat(5 * read + 17, 5 * written + 19) if kernel else None,
        NfsBytes(2 * read, 2 * written, 3 * read, 3 * written) if nfs else None,
        None,
        read,
        written,
        5,
    )


@pytest.mark.parametrize(
    ("reads", "writes", "plain", "by_nfs"),
    [
        (True, True, (1300, 5 * 1300), (2 * 1300, 3 * 1300)),
        (True, False, (1000, 5000), (2000, 3000)),
        (False, True, (300, 1500), (600, 900)),
    ],
)
def test_the_bytes_of_a_window_are_those_between_its_ends_in_each_direction(
    reads: bool, writes: bool, plain: tuple[int, int], by_nfs: tuple[int, int]
) -> None:
    local = window(1.0, {}, before=edge(0.0, counters=counted(50, 70)), after=edge(1.0, counters=counted(1050, 370)))
    nfs = window(
        1.0,
        {},
        before=edge(0.0, counters=counted(50, 70, kernel=False, nfs=True)),
        after=edge(1.0, counters=counted(1050, 370, nfs=True)),
    )

    assert local.charged_bytes(reads=reads, writes=writes) == plain
    assert nfs.charged_bytes(reads=reads, writes=writes) == by_nfs
    assert window(1.0, {}).charged_bytes(reads=reads, writes=writes) == (None, None)
    assert (local.requested_bytes, local.uncertainty_bytes, local.other_io()) == (1300, 10, None)


def test_the_time_of_the_host_is_that_of_others_where_it_is_not_ours() -> None:
    busy = window(
        2.0,
        {"a": interval({10: 100}), "b": interval({10: 50}, {10: 50})},
        before=edge(1.0, host=host(1.0, 1.0, 1.0, 1.0), process_s=0.5, kernel_s={"loop0": 1.0}),
        after=edge(3.5, host=host(2.0, 1.5, 1.25, 1.75), process_s=1.0, kernel_s={"loop0": 1.25, "kworker": 0.25}),
    )

    assert busy.counter_seconds == 2.5
    assert (busy.iops, busy.bytes_per_second) == (100, 200 * 8192 / 2)
    assert busy.host_cpu == host(1.0, 0.5, 0.25, 0.75)
    assert busy.io_cpu_ns == 1.25e9  # 0.5 s of the process, 0.5 of kernel threads, 0.25 of interrupts
    assert busy.others_busy_share == 0.2  # 1.5 s less 1 of 2.5
    assert window(2.0, {}).io_cpu_ns is window(2.0, {}).others_busy_share is None


def test_one_of_several_targets_has_its_own_streams_and_the_counters_of_its_device() -> None:
    both = window(1.0, {"/a": interval({10: 1}), "/b": interval({20: 2})}, before=edge(0.0), after=edge(1.0))
    one = both.of_target("/b", ["/b"])

    assert (one.requests, one.after.counters.accounting, one.after.counters) == (2, None, NOTHING)
