"""What the probe asks of the kernel: flags, engines, depths and seeds of its workers, and the calls that follow."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fakes import HandContext
from sizeup.errors import RefusedError
from sizeup.procfs.block import find_device_folder, read_block_stat
from sizeup.procfs.process import read_process_io
from sizeup_direct_io import binding
from sizeup_direct_io.binding import IoJob
from sizeup_direct_io.presets import READ_AHEAD, Durable, Stream, sweeps
from sizeup_direct_io.target import TargetSetup, TargetSpec, open_target
from sizeup_direct_io.worker import Engine, Pattern, Worker

MIB = 1 << 20
SIZE = 32 * MIB
PRESETS = (
    "oltp-read",
    "oltp-7030",
    "single-read",
    "dss-rand",
    "dss-scan",
    "normal",
    "working-set",
    "redo",
    "redo+oltp",
    "load",
    "fsync",
    "sustained",
)


def streams_of(preset: str) -> list[tuple[Stream, int]]:
    """Return each stream of a preset at each of its loads, once."""
    points = [point for sweep in sweeps(preset, depth=0, pages="both") for point in sweep.points]
    return list(dict.fromkeys(load for point in points for load in point.loads))


@pytest.fixture
def setup(folder: Path) -> Iterator[TargetSetup]:
    """An empty target that nothing was written to."""
    made = TargetSetup(HandContext(), 5.0, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TargetSetup, "fill", lambda *_: iter(()))
        spec = TargetSpec(str(folder), writes=True, size_bytes=SIZE, reserve_bytes=MIB)
        list(made.prepare(spec, "auto", [Stream("small", 8192)], remove_leftovers=False))
        yield made
    made.close()


@pytest.mark.parametrize("preset", PRESETS)
def test_workers_do_what_their_stream_says(preset: str, setup: TargetSetup) -> None:
    seeds: list[int] = []
    for stream, count in streams_of(preset):
        engine = Engine.THREADS if stream.durable is Durable.FDATASYNC else setup.choice.engine
        workers = list(setup.workers(stream, count, 3, huge_pages=False, engine=engine))
        flags = {fcntl.fcntl(worker.descriptor, fcntl.F_GETFL) for worker in workers}
        assert all(flag & os.O_DIRECT for flag in flags), "past the page cache"
        assert all(bool(flag & os.O_DSYNC) is (stream.durable is Durable.DSYNC) for flag in flags)
        assert sum(worker.depth for worker in workers) == count * (READ_AHEAD if stream.streams else 1)
        assert {worker.engine for worker in workers} == {engine}
        assert {worker.fdatasync_each for worker in workers} == {stream.durable is Durable.FDATASYNC}
        assert {worker.read_percent for worker in workers} == {stream.read_percent}
        assert {worker.block_bytes for worker in workers} == {stream.block_bytes}
        assert {worker.pattern for worker in workers} == {stream.pattern}
        assert {(worker.group, worker.huge_pages) for worker in workers} == {(3, False)}
        if stream.rate:
            assert sum(1e9 / worker.interval_ns for worker in workers) == pytest.approx(stream.rate)
        else:
            assert {worker.interval_ns for worker in workers} == {0}
        _regions_are_in_the_target(workers, stream)
        seeds += [worker.seed for worker in workers]
    assert len(seeds) == len(set(seeds)), "no offsets are visited twice in the same order"


def _regions_are_in_the_target(workers: list[Worker], stream: Stream) -> None:
    for worker in workers:
        assert worker.start_bytes % stream.block_bytes == worker.size_bytes % stream.block_bytes == 0
        assert worker.start_bytes + worker.size_bytes <= SIZE
        assert worker.first_block < worker.size_bytes // stream.block_bytes
    if stream.pattern is Pattern.SEQUENTIAL:
        assert all(a.start_bytes + a.size_bytes <= b.start_bytes for a, b in pairwise(workers)), "streams meet nowhere"
    else:
        assert all(worker.size_bytes > SIZE - stream.block_bytes for worker in workers), "all of the target is used"


@pytest.mark.parametrize("engine", [Engine.IO_URING, Engine.AIO])
def test_many_requests_are_spread_over_submitters(
    engine: Engine, setup: TargetSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    for count in (1, 7, 64, 257):
        depths = [
            worker.depth for worker in setup.workers(Stream("small", 8192), count, 0, huge_pages=True, engine=engine)
        ]
        assert sum(depths) == count
        assert max(depths) - min(depths) <= 1


def test_every_field_of_a_worker_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []

    class Library:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def sizeup_io_start(self, table: Any, count: int, handle: Any) -> int:
            fields = binding.ffi.typeof(table).item.fields
            told.extend({name: getattr(table[at], name) for name, _ in fields} for at in range(count))
            return -5

    real = binding.lib
    monkeypatch.setattr(binding, "lib", Library())
    worker = Worker(
        engine=Engine.AIO,
        descriptor=11,
        block_bytes=8192,
        start_bytes=3 * MIB,
        size_bytes=5 * MIB,
        group=2,
        pattern=Pattern.APPEND,
        first_block=17,
        seed=99,
        interval_ns=12345,
        read_percent=70,
        depth=16,
        submit_batch=3,
        error_limit=77,
        huge_pages=False,
        fdatasync_each=True,
        fresh_data=True,
    )
    with pytest.raises(OSError, match="starting the workers"):
        IoJob([worker, Worker(Engine.THREADS, 12, 4096, 0, MIB, submit_batch=5)])

    expected = [
        {
            "engine": real.SIZEUP_IO_AIO,
            "fd": 11,
            "group": 2,
            "pattern": real.SIZEUP_IO_APPEND,
            "start_bytes": 3 * MIB,
            "size_bytes": 5 * MIB,
            "block_bytes": 8192,
            "first_block": 17,
            "seed": 99,
            "interval_ns": 12345,
            "read_percent": 70,
            "depth": 16,
            "submit_batch": 3,
            "error_limit": 77,
            "huge_pages": 0,
            "fdatasync_each": 1,
            "fresh_data": 1,
        },
        {
            "engine": real.SIZEUP_IO_THREADS,
            "fd": 12,
            "group": 0,
            "pattern": real.SIZEUP_IO_RANDOM,
            "start_bytes": 0,
            "size_bytes": MIB,
            "block_bytes": 4096,
            "first_block": 0,
            "seed": 1,
            "interval_ns": 0,
            "read_percent": 100,
            "depth": 1,
            "submit_batch": 5,
            "error_limit": 1000,
            "huge_pages": 1,
            "fdatasync_each": 0,
            "fresh_data": 0,
        },
    ]
    assert [{name: found[name] for name in expected[0]} for found in told] == expected


def _filled(folder: Path) -> int:
    descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT)
    with open(f"/proc/self/fd/{descriptor}", "r+b") as buffered:
        buffered.writelines(os.urandom(MIB) for _ in range(SIZE // MIB))
        buffered.flush()
        os.fsync(buffered.fileno())
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    return descriptor


@pytest.mark.ci
@pytest.mark.parametrize("engine", list(Engine))
@pytest.mark.parametrize("read_percent", [100, 0])
def test_the_kernel_counts_the_same_bytes_and_requests(engine: Engine, read_percent: int, folder: Path) -> None:
    """Of this process, which nothing else adds to, and of the block device, which is shared with others."""
    if binding.availability(engine):
        pytest.skip(f"{engine.value} is not available: {os.strerror(binding.availability(engine))}")
    descriptor = _filled(folder)
    device = find_device_folder(os.fstat(descriptor).st_dev)
    block_bytes = 8192
    depth = 1 if engine is Engine.THREADS else 4
    worker = Worker(engine, descriptor, block_bytes, 0, SIZE, depth=depth, read_percent=read_percent)
    before, stat = read_process_io(), device and read_block_stat(device)
    if before is None:
        pytest.skip("this kernel does not account the I/O of processes")
    with IoJob([worker]) as job:
        while job.sample().requests < 200:
            time.sleep(0.01)
        job.cancel()
        while (last := job.sample()).running:
            time.sleep(0.005)
    after, later = read_process_io(), device and read_block_stat(device)
    os.close(descriptor)

    assert after is not None
    counted = last.read_bytes if read_percent else last.written_bytes
    kernel = after.read_bytes - before.read_bytes if read_percent else after.written_bytes - before.written_bytes
    assert last.errors == 0
    assert counted == last.requests * block_bytes
    assert counted <= kernel <= 1.05 * counted + MIB
    if stat and later:
        moved = later.read_bytes - stat.read_bytes if read_percent else later.written_bytes - stat.written_bytes
        assert moved >= counted


RUN = """
import sys
sys.path[:0] = {paths!r}
from pathlib import Path
from sizeup.model.sample import Estimate
from sizeup_direct_io import window_counters
from plugins.direct_io.small_runs import run, step
window_counters.BACKGROUND_SECONDS = 0.1
for one in run(step(Path({folder!r}), preset="custom", engine="threads", depth=1, **{chosen!r})):
    if isinstance(one, Estimate) and one.series == "latency-p50":
        print(one.at["direction"], one.extra["count"])
"""
CALL = re.compile(r"(?:\d+ +)?(?P<name>pread64|pwrite64|fdatasync)\((?P<arguments>.*)\) += (?P<result>-?\d+)")


def observed(folder: Path, **chosen: Any) -> tuple[dict[str, int], list[tuple[str, str, int, int]]]:
    """Return the requests that a run reports by direction; and name, file, size and offset of each call."""
    tracer = shutil.which("strace")
    if tracer is None:
        pytest.skip("no strace to observe system calls with")
    log = folder.parent / "calls"
    code = RUN.format(paths=sys.path, folder=str(folder), chosen=chosen)
    traced = [tracer, "-f", "-qq", "-y", "-e", "trace=pread64,pwrite64,fdatasync", "-e", "signal=none", "-s", "0"]
    done = subprocess.run(
        [*traced, "-o", log, sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    if "ptrace" in done.stderr and done.returncode:
        pytest.skip(f"strace may not observe: {done.stderr.strip()[:200]}")
    assert done.returncode == 0, done.stderr
    reported = {direction: int(count) for direction, count in map(str.split, done.stdout.splitlines())}
    # With -f a call that another thread interrupts is written in two parts.
    pending: dict[str, str] = {}
    calls = []
    for line in log.read_text().splitlines():
        thread = line.partition(" ")[0]
        if line.endswith("<unfinished ...>"):
            pending[thread] = line.removesuffix("<unfinished ...>").rstrip()
            continue
        text = line
        if " resumed>" in line:
            text = pending.pop(thread, "") + line.partition(" resumed>")[2]
        if (match := CALL.search(text)) and str(folder) in match["arguments"]:
            numbers = match["arguments"].rsplit(", ", 2)
            where = (0, 0) if match["name"] == "fdatasync" else (int(numbers[-2]), int(numbers[-1]))
            calls.append((match["name"], match["arguments"].partition(">")[0], *where))
    return reported, calls


@pytest.mark.ci
def test_a_run_makes_the_reads_and_writes_that_it_reports(folder: Path) -> None:
    target = folder / "target"
    target.mkdir()
    reported, calls = observed(target, read_percent=50, block=8192)

    small = [call for call in calls if call[2] == 8192]
    for direction, name in (("read", "pread64"), ("write", "pwrite64")):
        offsets = [offset for called, _, _, offset in small if called == name]
        assert reported[direction] <= len(offsets), "none is reported that was not made"
        assert reported[direction] >= len(offsets) / 20, "and those of the window are, beside warm-up and checks"
        assert all(offset % 8192 == 0 and offset < SIZE for offset in offsets)
        assert len(set(offsets)) > 0.7 * min(len(offsets), SIZE / 8192 / 4), "at random"
    assert not [call for call in calls if call[0] == "fdatasync"]


@pytest.mark.ci
def test_each_write_that_is_to_last_is_flushed(folder: Path) -> None:
    target = folder / "target"
    target.mkdir()
    reported, calls = observed(target, read_percent=0, block=8192, sync="fdatasync", pattern="sequential")

    # The checks of the target write as well, at random and without a flush.
    flushed = [
        offset for (name, _, _, offset), (then, *_) in pairwise(calls) if (name, then) == ("pwrite64", "fdatasync")
    ]
    assert len(flushed) == sum(name == "fdatasync" for name, *_ in calls), "each flush follows a write"
    assert len(flushed) >= reported["write"], "none is reported that was not flushed"
    assert all(b - a == 8192 or b == 0 for a, b in pairwise(flushed)), "one block after the other"


def test_space_is_kept_free_unless_told_otherwise(folder: Path) -> None:
    try:
        target = open_target(TargetSpec(str(folder), writes=True, size_bytes=SIZE))
    except RefusedError as error:
        pytest.skip(f"too little space here: {error}")
    target.close()

    assert target.reserve_bytes >= 5 << 30
