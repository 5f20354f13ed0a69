"""Many devices in one run: each alone at its own queue depth, then all at once, with the figures of each."""

import errno
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fakes import HandContext
from plugins.direct_io.hand_made import interval, window
from plugins.direct_io.small_runs import run, step
from plugins.direct_io.test_options import FakeSetup, plan
from plugins.direct_io.test_options import stage as stage  # noqa: PLC0414 -- a fixture
from sizeup.model.machine import Gap
from sizeup.model.plan import SettingValue
from sizeup.model.sample import Estimate, Samples
from sizeup.procfs.block import BlockStat
from sizeup.procfs.process import list_threads
from sizeup_direct_io import binding, comparisons, window_counters
from sizeup_direct_io import measure as measure_module
from sizeup_direct_io import target as target_module
from sizeup_direct_io.disks import Disks, read_disks
from sizeup_direct_io.probe import DirectIo
from sizeup_direct_io.window_counters import Counters, CounterSource
from sizeup_direct_io.worker import Engine, EnginePolicy

NVME = [f"/nvme{index}" for index in range(24)]


def estimates(folder: Path, chosen: dict[str, SettingValue]) -> tuple[list[Estimate], list[Gap]]:
    """Return what a step yields on a stage."""
    found = list(DirectIo().run(plan(folder, chosen), HandContext()))
    return [e for e in found if isinstance(e, Estimate)], [e for e in found if isinstance(e, Gap)]


def many(depths: Sequence[int] = ()) -> dict[str, SettingValue]:
    return {
        "preset": "oltp-read",
        "depth": 8,
        "ramps": 1,
        "more_paths": ":".join(NVME[1:]),
        "more_depths": ":".join(map(str, depths)),
    }


def joint(found: list[Estimate], series: str) -> dict[object, Estimate]:
    return {e.at["path"]: e for e in found if e.series == series}


def test_the_joint_figure_is_the_sum_of_those_of_each_device(stage: FakeSetup, tmp_path: Path) -> None:
    found, _ = estimates(tmp_path, many())

    for single, each in (("iops", "joint-iops"), ("rate", "joint-rate")):
        together = [e.value for e in found if e.series == single and e.at.get("path") == "all together"]
        assert len(joint(found, each)) == len(NVME)
        assert [sum(e.value for e in joint(found, each).values())] == pytest.approx(together)
    assert list(joint(found, "joint-iops"))[1:] == NVME[1:]
    assert len([e for e in found if e.series == "joint-latency-p99"]) == 2 * len(NVME)
    assert len([told for told in stage.told if isinstance(told, tuple) and len(told[0]) >= len(NVME)]) == 1


def test_each_device_has_its_own_queue_depth(stage: FakeSetup, tmp_path: Path) -> None:
    depths = [2 + index for index in range(23)]

    found, _ = estimates(tmp_path, many(depths))

    alone = {e.at["path"]: e.at["queue_depth"] for e in found if e.series == "iops" and e.at.get("path") in NVME}
    first, *others = (e.at["queue_depth"] for e in joint(found, "joint-iops").values())
    (all_of_them,) = [e for e in found if e.series == "iops" and e.at.get("path") == "all together"]
    assert others == depths == list(alone.values())
    assert all_of_them.at["queue_depth"] == int(first) + sum(depths)
    last: Any = next(told for told in reversed(stage.told) if isinstance(told, tuple))
    assert sum(worker["depth"] for worker in last[0]) == int(first) + sum(depths)
    assert {worker["group"] for worker in last[0]} == set(range(24))


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize("shared", [False, True], ids=["a device each", "one device"])
def test_a_target_that_is_served_from_a_cache_while_all_are_measured_fails(
    shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = vars(measure_module)["measure"]
    moved = 1 << 30
    sources: dict[tuple[str, ...], CounterSource] = {}

    def cached_together(workers: Any, names: Sequence[str], *rest: Any) -> Any:
        sources[tuple(names)] = rest[3]
        measured = yield from measure(workers, names, *rest)
        if len(names) == 1:
            return measured
        whole = len(names) * moved
        read = dict.fromkeys(names, whole if shared else moved)
        if not shared:
            read[NVME[2]] = moved // 10
        ends = [
            msgspec.structs.replace(
                edge,
                counters=msgspec.structs.replace(
                    edge.counters,
                    targets={
                        name: Counters(
                            None,
                            BlockStat(last * read[name], last * read[name]),
                            None,
                            None,
                            last * moved,
                            last * moved,
                            0,
                        )
                        for name in names
                    },
                ),
            )
            for last, edge in enumerate((measured.before, measured.after))
        ]
        return msgspec.structs.replace(measured, before=ends[0], after=ends[1])

    monkeypatch.setattr(measure_module, "measure", cached_together)
    monkeypatch.setattr(binding, "extents", lambda *_, **__: None)  # the file of the stage is empty
    if not shared:
        numbers = {path: number for number, path in enumerate((str(tmp_path), *NVME), start=1)}
        opened = target_module.open_target
        monkeypatch.setattr(
            target_module,
            "open_target",
            lambda spec: msgspec.structs.replace(opened(spec), device_number=numbers[spec.path]),
        )
    few = {**many(), "more_paths": ":".join(NVME[1:4]), "check_concurrency": False}
    found, _ = estimates(tmp_path, few)

    paths = (str(tmp_path), *NVME[1:4])
    each = [0] * 4 if shared else [1, 3, 4, 5]
    assert [(sources[path,].device_number, sources[path,].targets) for path in paths] == [(one, {}) for one in each]
    assert (sources[paths].device_number, sources[paths].targets) == (each[0], dict(zip(paths, each, strict=True)))
    physical = {
        str(e.at["path"]): e
        for e in found
        if e.series == "validity"
        and e.at["part"] == "physical"
        and ("paths" in e.at or e.at.get("path") == "all together")
    }
    verdicts = {path: e.extra["verdict"] for path, e in physical.items()}
    expected = {path: "unknown" if shared or path != NVME[2] else "fail" for path in verdicts}
    assert len(verdicts) == 5
    assert verdicts == expected | {"all together": "unknown" if shared else "fail"}
    assert shared or f"{NVME[2]}: 10 % of the requested bytes" in str(physical["all together"].extra["reasons"])
    caveats = {path: "; ".join(e.caveats) for path, e in joint(found, "joint-iops").items()}
    assert {path for path, text in caveats.items() if "10 % of the requested bytes" in text} == (
        set() if shared else {NVME[2]}
    )
    direct = [e for e in found if e.series == "validity" and e.at["part"] == "direct" and "paths" in e.at]
    assert all("not judged for each" in str(e.extra["reasons"]) for e in direct)


def test_the_time_of_a_run_counts_every_device(tmp_path: Path) -> None:
    one = plan(tmp_path, {"preset": "oltp-read"})
    all_of_them = plan(tmp_path, {"preset": "oltp-read", "more_paths": ":".join(NVME[1:])})

    added = all_of_them.estimated_seconds - one.estimated_seconds
    assert added == pytest.approx(23 * (4 << 30) / 500e6 + 25 * 17.1)
    assert all_of_them.time_limit_seconds >= 1.5 * all_of_them.estimated_seconds


@pytest.mark.usefixtures("stage")
def test_more_threads_than_a_job_has_are_a_gap_and_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "MOST_WORKERS", 100)

    found, gaps = estimates(tmp_path, {**many([8] * 23), "engine": "threads"})

    assert [gap.reason for gap in gaps if gap.subject == "io.direct: all paths together"] == [
        "192 threads are needed, and at most 100 are started; decrease the queue depths"
    ]
    assert joint(found, "joint-iops") == {}
    assert len([e for e in found if e.series == "iops" and e.at.get("path") in NVME]) == 23


@pytest.mark.usefixtures("stage")
def test_buffers_of_many_devices_leave_the_memory_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "available_bytes", lambda: 10 << 30)
    large = {"preset": "dss-rand", "depth": 1, "more_paths": "/b", "ramps": 1}

    _, fits = estimates(tmp_path, {**large, "more_depths": "1023"})
    _, gaps = estimates(tmp_path, {**large, "more_depths": "1024"})

    assert [gap for gap in fits if "together" in gap.subject] == []
    assert [gap.reason for gap in gaps if "together" in gap.subject] == [
        "the buffers take 1 GiB, more than 10 % of the available memory (10 GiB); decrease the queue depths"
    ]


def test_each_of_several_targets_has_its_own_figures(
    stage: FakeSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 reads and 300 writes of one path, 1,000 reads of the other, in 2 s; alone 100 and 500 of each in 1 s."""
    together = {
        str(tmp_path): interval({10: 90, 50: 10}, {20: 300}),
        "/b": interval({30: 950, 60: 50}),
    }

    def measure(workers: Any, names: Sequence[str], at: Any, *_: Any) -> Any:
        yield from ()
        if len(names) == 1:
            return window(1.0, {names[0]: interval({10: 500 if names[0] == "/b" else 100})}, at=at)
        return window(2.0, together, at=at)

    monkeypatch.setattr(measure_module, "measure", measure)
    monkeypatch.setattr(comparisons, "read_disks", lambda _: Disks(("sda",), BlockStat(0, 0), plain=True))
    found, _ = estimates(tmp_path, {"preset": "single-read", "more_paths": "/b", "ramps": 1})

    first, second = joint(found, "joint-iops").values()
    assert (first.value, second.value) == (200, 500)
    assert [e.value for e in joint(found, "joint-rate").values()] == [200 * 8192, 500 * 8192]
    latencies = {
        (e.series[-3:], e.at["path"], e.at["direction"]): e.value for e in found if e.series.startswith("joint-latency")
    }
    assert [latencies["p50", str(tmp_path), way] for way in ("read", "write")] == [10, 20]
    assert [latencies["p99", str(tmp_path), way] for way in ("read", "write")] == [50, 20]
    assert [latencies[name, "/b", "read"] for name in ("p50", "p99")] == [30, 60]
    assert len(latencies) == 6
    (scaling,) = [e for e in found if e.series == "scaling"]
    assert scaling.value == pytest.approx(700 / 600)
    assert str(scaling.extra["consequence"]).endswith("The paths share disks: sda.")


def test_engines_take_turns_and_the_runs_own_comes_first_in_the_ratio(
    stage: FakeSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """io_uring has 310, 310, 330, 330 and 350 IOPS, threads 200."""
    turns: list[Engine] = []

    def measure(workers: Any, names: Sequence[str], at: Any, *_: Any) -> Any:
        yield from ()
        if not at:  # of no point of the run itself
            turns.append(workers[0].engine)
        iops = 200 if workers[0].engine is Engine.THREADS else 300 + 10 * (len(turns) // 2)
        return window(1.0, {names[0]: interval({10: iops})})

    monkeypatch.setattr(measure_module, "measure", measure)
    chosen: dict[str, SettingValue] = {"compare_engine": "threads", "check_concurrency": False, "ramps": 1}
    found, _ = estimates(tmp_path, {"preset": "single-read", **chosen})

    (gain,) = [e for e in found if e.series == "engine-gain"]
    assert (gain.at["engines"], gain.value, gain.replicates) == ("io_uring over threads", 1.65, 5)
    ours, other = Engine.IO_URING, Engine.THREADS
    assert turns == [other, ours, ours, other, other, ours, ours, other, other, ours]


@pytest.mark.usefixtures("stage")
def test_threads_in_place_of_an_engine_are_not_measured_with_fewer_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    neither = EnginePolicy({Engine.IO_URING: errno.ENOSYS, Engine.AIO: errno.EAGAIN, Engine.THREADS: 0})
    monkeypatch.setattr(window_counters, "read_policy", lambda: neither)
    found, gaps = estimates(tmp_path, {"preset": "custom", "depth": 8, "scale_threads": True, "ramps": 1})

    assert not [e for e in found if e.series == "threads-iops"]
    assert any("the threads engine has one per I/O" in gap.reason for gap in gaps)


@pytest.mark.usefixtures("stage")
def test_threads_are_doubled_until_iops_stop_rising(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {1: 100.0, 2: 190.0, 4: 360.0, 8: 370.0, 16: 372.0, 32: 373.0, 64: 374.0}
    measure = vars(measure_module)["measure"]

    def saturating(workers: Any, *rest: Any) -> Any:
        measured = yield from measure(workers, *rest)
        seconds = measured.requests / rates[len(workers)]
        busiest = 0.99 if len(workers) < 4 else 0.6
        return msgspec.structs.replace(measured, seconds=seconds, threads=len(workers), busiest_thread=busiest)

    monkeypatch.setattr(measure_module, "measure", saturating)
    found, _ = estimates(tmp_path, {"preset": "custom", "depth": 128, "scale_threads": True, "ramps": 1})

    scaled = {e.at["threads"]: e for e in found if e.series == "threads-iops"}
    assert {threads: round(e.value) for threads, e in scaled.items()} == {1: 100, 2: 190, 4: 360, 8: 370, 16: 372}
    assert [bool(e.caveats) for e in scaled.values()] == [True, True, False, False, False]
    assert all(e.extra["busiest_thread"] == (0.99 if e.caveats else 0.6) for e in scaled.values())
    assert all(e.low is None for e in scaled.values()), "one window has no interval"
    (best,) = [e for e in found if e.series == "best-threads"]
    assert best.value == 4
    assert str(best.extra["statement"]) == "random read 8 KiB at QD 128: 360 /s with 4 submitting threads"


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize(
    ("rates", "best", "still"),
    [
        ((100, 190, 360), 4, " It was still rising at the limit of 4."),
        ((100, 190, 195), 2, ""),
        ((100, 101, 102), 1, ""),
    ],
    ids=["rising", "one doubling without a gain", "stopped"],
)
def test_threads_that_end_at_the_limit_while_iops_rise_are_said_to(
    rates: Sequence[float], best: int, still: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = vars(measure_module)["measure"]

    def rising(workers: Any, *rest: Any) -> Any:
        measured = yield from measure(workers, *rest)
        return msgspec.structs.replace(measured, seconds=measured.requests / rates[len(workers) // 2])

    monkeypatch.setattr(measure_module, "measure", rising)
    found, _ = estimates(tmp_path, {"preset": "custom", "depth": 4, "scale_threads": True, "ramps": 1})

    (threads,) = [e for e in found if e.series == "best-threads"]
    each = ", ".join(f"{count}: {rate} /s" for count, rate in zip((1, 2, 4), rates, strict=True))
    assert (threads.value, threads.extra["consequence"]) == (best, f"By number of threads: {each}.{still}")


@pytest.mark.ci
def test_files_on_one_disk_are_measured_alone_and_at_once(folder: Path) -> None:
    for name in ("a", "b", "c", "d"):
        (folder / name).mkdir()
    more = ":".join(str(folder / name) for name in ("b", "c", "d"))

    found = [
        e for e in run(step(folder / "a", more_paths=more, more_depths="1:2:3", depth=1)) if isinstance(e, Estimate)
    ]

    (together,) = [e for e in found if e.series == "iops" and e.at.get("path") == "all together"]
    each = joint(found, "joint-iops")
    assert [e.at["queue_depth"] for e in each.values()] == [1, 1, 2, 3]
    assert sum(e.value for e in each.values()) == pytest.approx(together.value)
    assert all(e.value > 0 for e in each.values())
    assert all("node 0" in str(e.extra["cpus"]) or "not pinned" in str(e.extra["cpus"]) for e in each.values())
    alone = {e.at["path"]: e.value for e in found if e.series == "iops" and e.at.get("path") in each}
    (scaling,) = [e for e in found if e.series == "scaling"]
    assert list(alone) == [str(folder / name) for name in ("a", "b", "c", "d")]
    assert (scaling.at["paths"], scaling.value) == (4, pytest.approx(together.value / sum(alone.values())))
    assert {e.at["path"] for e in found if e.series == "validity" and "path" in e.at} == {*alone, "all together"}
    assert "The paths share disks" in str(scaling.extra["consequence"]) or not read_disks(folder.stat().st_dev)
    assert str(scaling.extra["statement"]).startswith("4 paths together reach")


@pytest.mark.ci
def test_a_cancel_ends_all_devices_at_once(folder: Path) -> None:
    for name in ("a", "b", "c", "d"):
        (folder / name).mkdir()
    more = ":".join(str(folder / name) for name in ("b", "c", "d"))
    context = HandContext()
    after_cancel: list[object] = []

    for emission in run(step(folder / "a", more_paths=more, more_depths="8:8:8", depth=8, threads=4), context):
        if context.canceled:
            after_cancel.append(emission)
        elif isinstance(emission, Samples) and emission.at.get("path") == "all together":
            assert len(list_threads()) > 12, "four threads for each of three devices"
            context.cancel()

    assert context.canceled
    assert all(isinstance(emission, Samples) for emission in after_cancel), "no figure of a window that was cut short"
    deadline = time.monotonic() + 60.0
    while len(list_threads()) > 12:
        assert time.monotonic() < deadline, "all have ended, or do once their last requests complete"
        time.sleep(0.05)
