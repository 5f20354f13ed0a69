"""io.commit: its points, files and workers, whole small runs, and what ends one."""

import errno
import fcntl
import os
from collections.abc import Generator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from declared import series_of
from fakes import HandContext
from sizeup.errors import RefusedError, SizeupError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Hazard, Refusal, SettingValue, Step
from sizeup.model.sample import Estimate, Samples
from sizeup.probing.manifest_file import parse_manifest
from sizeup_direct_io import binding, commit, conclusions
from sizeup_direct_io.commit import FEW, OWN_BYTES, Commit, LogFiles, LogPoint, Method, log_points
from sizeup_direct_io.measure import MeasuredPoint, measure
from sizeup_direct_io.presets import Durable, Stream
from sizeup_direct_io.target import TargetSetup, TargetSpec
from sizeup_direct_io.worker import Engine

MIB = 1 << 20
SIZE = 16 * MIB
MANIFEST = next(
    one
    for one in parse_manifest((files("sizeup_direct_io") / "probe.toml").read_text(encoding="utf-8"), "probe.toml")
    if one.name == "io.commit"
)
SMALL = {
    "size": SIZE,
    "reserve": MIB,
    "seconds": 0.3,
    "rounds": 2,
    "most_committers": 8,
    "record": 8192,
    "precision": 1.0,
}


def planned(path: str | Path, **settings: SettingValue) -> Step | Refusal:
    defaults = {parameter.name: parameter.default for parameter in MANIFEST.parameter}
    (found,) = Commit().plan(Machine(), {**defaults, **SMALL, "path": str(path), **settings})
    return found


def run(path: str | Path, context: HandContext | None = None, **settings: SettingValue) -> list[object]:
    step = planned(path, **settings)
    assert isinstance(step, Step)
    return list(Commit().run(step, context or HandContext()))


def figures(emissions: list[object], series: str) -> dict[tuple[object, object], Estimate]:
    found = [one for one in emissions if isinstance(one, Estimate) and one.series == series and "method" in one.at]
    return {(one.at["method"], one.at["committers"]): one for one in found}


def test_each_number_of_committers_is_a_point_and_other_methods_have_few() -> None:
    recycled = [LogPoint(Method.FDATASYNC, count) for count in (1, 8, 64, 512)]
    others = [LogPoint(method, FEW) for method in (Method.GROWING, Method.DSYNC, Method.IO_URING)]

    assert log_points("all", 512) == (*recycled, *others, *(LogPoint(Method.INDEPENDENT, count) for count in (1, 8)))
    assert log_points("fdatasync", 64) == tuple(recycled[:3])
    assert [point.committers for point in log_points("fdatasync", 30)] == [1, 8, 30]
    assert [point.committers for point in log_points("all", 1)] == [1, 1, 1, 1, 1]


def test_a_plan_says_what_it_writes_and_needs_a_directory(tmp_path: Path) -> None:
    step = planned("/data", methods="fdatasync")

    assert isinstance(step, Step)
    assert "temporary files of 16 MiB" in step.touches
    assert "at most 80 MiB are written" in step.touches, "the file, and two windows of two points"
    assert {Hazard.IO_WRITE, Hazard.DISK_SPACE} <= set(step.hazards)
    assert step.axis_ranges == {"committers": (1, 8)}
    assert "temporary files of 160 MiB" in planned("/data", methods="all").touches
    assert isinstance(planned(""), Refusal)
    (tmp_path / "file").write_bytes(bytes(SIZE))
    for path in (tmp_path / "file", tmp_path / "missing", "/dev/null"):
        with pytest.raises(RefusedError, match="expected a directory"):
            run(path)
    assert (tmp_path / "file").read_bytes() == bytes(SIZE)


def test_the_quick_plan_of_a_mount_is_short_and_writes_little() -> None:
    quick = planned("/data", **MANIFEST.mount_plans["quick"])

    assert isinstance(quick, Step)
    assert quick.estimated_seconds <= 8
    assert "at most 640 MiB are written" in quick.touches
    assert MANIFEST.estimated_seconds["quick"] == pytest.approx(quick.estimated_seconds, abs=0.1)


@pytest.fixture
def setup(folder: Path, monkeypatch: pytest.MonkeyPatch) -> TargetSetup:
    """A log that nothing was written to."""
    monkeypatch.setattr(TargetSetup, "fill", lambda *_: iter(()))
    made = TargetSetup(HandContext(), 5.0, 0)
    stream = Stream("commit", 4096, read_percent=0, durable=Durable.FDATASYNC)
    spec = TargetSpec(str(folder), writes=True, size_bytes=SIZE, reserve_bytes=MIB)
    list(made.prepare(spec, "auto", [stream], remove_leftovers=False))
    yield made
    made.close()


@pytest.mark.parametrize("point", log_points("all", 8), ids=lambda point: f"{point.method.name}-{point.committers}")
def test_each_method_asks_the_kernel_for_what_it_is_called(setup: TargetSetup, point: LogPoint) -> None:
    if point.method is Method.IO_URING and binding.availability(Engine.IO_URING):
        pytest.skip("no io_uring here")
    opened = LogFiles(setup, SIZE, MIB)
    list(opened.open(point))
    workers = opened.workers(point, 512, 7, 3)
    alone = point.method is Method.INDEPENDENT
    numbers = {os.fstat(worker.descriptor).st_ino for worker in workers}
    flags = {fcntl.fcntl(worker.descriptor, fcntl.F_GETFL) for worker in workers}
    direct = os.O_DIRECT if point.method in {Method.DSYNC, Method.IO_URING} else 0
    (found,) = {flag & (os.O_DIRECT | os.O_DSYNC) for flag in flags}

    assert found == direct | (os.O_DSYNC if point.method is Method.DSYNC else 0)
    assert len(numbers) == len(workers) == (point.committers if alone else 1), "a file each"
    for worker in workers:
        assert worker.engine is (Engine.IO_URING if point.method is Method.IO_URING else Engine.THREADS)
        assert worker.fdatasync_each is (point.method is not Method.DSYNC)
        assert worker.depth == (2 if point.method is Method.IO_URING else 1), "a write, and its fsync"
        assert (worker.error_limit, worker.read_percent) == (1, 0)
        whole = (0, 0, 0, 1) if alone else (point.committers, 512, 7, 3)
        assert (worker.committers, worker.record_bytes, worker.work_ns, worker.work_cpus) == whole
        assert (worker.block_bytes, worker.size_bytes) == ((8192, OWN_BYTES) if alone else (MIB, SIZE))
    assert (os.fstat(workers[0].descriptor).st_size == 0) is (point.method is Method.GROWING)
    assert (numbers == {os.fstat(setup.target.descriptor).st_ino}) is not (alone or point.method is Method.GROWING)


def test_a_committer_has_one_file_at_all_points(setup: TargetSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []

    def more_files(_: TargetSetup, count: int, size: int, reserve: int) -> Generator[Any, None, list[int]]:
        made.append((count, size))
        yield from ()
        return [setup.target.descriptor] * count

    monkeypatch.setattr(TargetSetup, "more_files", more_files)
    opened = LogFiles(setup, SIZE, MIB)
    for committers in (1, 8):
        point = LogPoint(Method.INDEPENDENT, committers)
        list(opened.open(point))
        assert len(opened.workers(point, 512, 0, 1)) == committers

    assert made == [(1, OWN_BYTES), (7, OWN_BYTES)]


@pytest.mark.parametrize(("record", "block"), [(512, 8192), (8192, 8192), (8193, 16384), (131072, 131072)])
def test_a_record_that_is_flushed_alone_is_padded_to_pages(setup: TargetSetup, record: int, block: int) -> None:
    opened, point = LogFiles(setup, SIZE, MIB), LogPoint(Method.INDEPENDENT, 1)
    list(opened.open(point))

    assert [worker.block_bytes for worker in opened.workers(point, record, 0, 1)] == [block]


@pytest.mark.ci
def test_a_run_has_every_figure_of_every_point_and_leaves_nothing(folder: Path) -> None:
    emissions = run(folder, methods="all")
    commits, flushes, sizes = (figures(emissions, name) for name in ("commits", "flushes", "flush-bytes"))
    gaps = {one.subject for one in emissions if isinstance(one, Gap)}
    declared = series_of("io.commit").keys()

    points = [point for point in log_points("all", 8) if f"io.commit: {point.method.value}" not in gaps]
    assert commits.keys() == {(point.method.value, point.committers) for point in points}
    assert {one.series for one in emissions if isinstance(one, Samples | Estimate)} == declared
    assert {one.at["committers"] for one in emissions if isinstance(one, Samples) and one.series == "commits"} == {1, 8}
    for (method, count), one in commits.items():
        at_once = 1 if method == Method.INDEPENDENT.value or count == 1 else count / 2
        assert one.at["record_bytes"] == 8192
        assert one.replicates == 2
        assert one.value / flushes[method, count].value == pytest.approx(at_once, rel=0.2), "two groups take turns"
        assert sizes[method, count].value == pytest.approx(at_once * 8192, rel=0.2)
        rate = figures(emissions, "rate")[method, count].value
        assert rate == pytest.approx(one.value * 8192, rel=0.2)
    for one in emissions:
        if isinstance(one, Estimate) and one.low is not None and one.high is not None:
            assert 0 <= one.low <= one.value <= one.high
    of_eight = {name: figures(emissions, f"latency-{name}")["fdatasync", 8].value for name in ("p50", "p99", "p999")}
    assert of_eight["p50"] <= of_eight["p99"] <= of_eight["p999"]
    assert of_eight["p50"] > commits["fdatasync", 8].extra["flush_p50_ns"], (
        "a commit waits for the flush before its own"
    )
    assert any(isinstance(one, Estimate) and one.at.get("part") == "all" for one in emissions)
    assert list(folder.iterdir()) == []


@pytest.mark.ci
def test_the_figures_are_medians_of_the_rounds_and_a_drift_from_round_to_round_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100, 200, 50 and 40 commits a second: the median is 75, and later rounds have 45 where earlier ones had 150."""
    rates = iter([100.0, 200.0, 50.0, 40.0])

    def measured(*given: Any) -> Generator[Any, None, MeasuredPoint]:
        found = yield from measure(*given)
        return replace(found, seconds=found.requests / next(rates))

    monkeypatch.setattr(commit, "measure", measured)
    emissions = run(folder, methods="fdatasync", most_committers=1, rounds=4, precision=0.5)
    one = figures(emissions, "commits")["fdatasync", 1]
    verdict = figures(emissions, "validity")["fdatasync", 1]

    assert one.value == pytest.approx(75)
    assert (one.replicates, one.converged) == (4, False)
    assert verdict.extra["verdict"] == "fail"
    assert "throughput drifted -70 % from the first half to the second" in str(verdict.extra["reasons"])


def test_a_method_that_is_denied_is_a_gap(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "availability", lambda engine: errno.EPERM if engine is Engine.IO_URING else 0)
    monkeypatch.setattr(commit, "log_points", lambda *_: (LogPoint(Method.IO_URING, 1), LogPoint(Method.DSYNC, 1)))
    emissions = run(folder)
    (gap,) = [one for one in emissions if isinstance(one, Gap)]

    assert gap.subject == f"io.commit: {Method.IO_URING.value}"
    assert gap.reason.startswith("this process may not use io_uring: EPERM")
    assert figures(emissions, "commits").keys() == {(Method.DSYNC.value, 1)}


@pytest.mark.parametrize(("device", "words"), [("/dev/full", "ENOSPC"), ("/dev/null", "EINVAL")])
def test_a_write_or_a_flush_that_fails_ends_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, device: str, words: str
) -> None:
    """/dev/full takes no byte, and /dev/null takes all and cannot flush them."""
    wrong = os.open(device, os.O_RDWR)
    monkeypatch.setattr(TargetSetup, "reopen", lambda *_: wrong)
    try:
        with pytest.raises(SizeupError, match=rf"^{folder}: a request failed with {words}"):
            run(folder, methods="fdatasync")
    finally:
        os.close(wrong)
    assert list(folder.iterdir()) == []


def test_a_log_has_space_for_four_commits_of_everyone() -> None:
    assert isinstance(planned("/data", record=131072, most_committers=32), Step)
    refusal = planned("/data", record=131072, most_committers=33)

    assert isinstance(refusal, Refusal)
    assert refusal.reason == f"size={SIZE}: expected at least {4 * 33 * 131072} for 33 records; increase size"


@pytest.mark.parametrize(("cache", "doubted"), [("write back", True), (None, True), ("write through", False)])
def test_a_flush_that_no_medium_makes_is_a_caveat(
    folder: Path, monkeypatch: pytest.MonkeyPatch, cache: str | None, *, doubted: bool
) -> None:
    monkeypatch.setattr(conclusions, "FLUSH_IS_VOLATILE_NS", 1e18)
    monkeypatch.setattr(commit, "write_cache", lambda _: cache)
    (one,) = figures(run(folder, methods="fdatasync", most_committers=1), "commits").values()

    assert any("a volatile cache" in caveat for caveat in one.caveats) is doubted
    assert one.extra["write_cache"] == (cache or "unknown")


@pytest.mark.ci
def test_a_canceled_run_ends_at_once_and_leaves_nothing(folder: Path) -> None:
    context, step = HandContext(), planned(folder, seconds=600.0)
    assert isinstance(step, Step)
    running = iter(Commit().run(step, context))
    for one in running:
        if isinstance(one, Samples):
            context.cancel()
            break

    assert not [one for one in running if isinstance(one, Estimate)]
    assert list(folder.iterdir()) == []


@pytest.mark.ci
@pytest.mark.parametrize(("cpus", "bound"), [(1, True), (4, False)])
def test_the_work_of_transactions_bounds_what_eight_sessions_commit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, cpus: int, *, bound: bool
) -> None:
    """Work of 10 ms: one CPU does 100 a second for eight sessions; one session needs less than a fourth of 4 CPUs."""
    monkeypatch.setattr(os, "cpu_count", lambda: cpus)
    found = run(folder, methods="fdatasync", most_committers=8 if bound else 1, transaction_cpu=0.01, seconds=1.0)
    one = figures(found, "commits")["fdatasync", 8 if bound else 1]

    assert one.value <= 1.2 / 0.01
    assert any("upper bound: transactions would keep the CPUs" in caveat for caveat in one.caveats) is bound
    assert (one.extra.get("upper_bound"), one.extra.get("note")) == ((1, "upper bound") if bound else (None, None))


@pytest.mark.ci
def test_commits_without_the_work_of_transactions_are_an_upper_bound(folder: Path) -> None:
    (one,) = figures(run(folder, methods="fdatasync", most_committers=1), "commits").values()

    assert (one.extra["upper_bound"], one.extra["note"]) == (1, "upper bound")
    assert not any("upper bound" in caveat for caveat in one.caveats)
