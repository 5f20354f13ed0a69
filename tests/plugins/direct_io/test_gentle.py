"""A gentle step keeps its caps over all workers of a job, fills and reads within them, and concludes nothing."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from plugins.direct_io.small_runs import run, step
from sizeup.model.machine import Gap
from sizeup.model.plan import Gentle
from sizeup.model.sample import Estimate
from sizeup_direct_io import binding
from sizeup_direct_io.binding import IoJob
from sizeup_direct_io.target import fill_block_bytes
from sizeup_direct_io.worker import Engine, Worker
from terminal import PATIENCE_SECONDS


@pytest.fixture(autouse=True)
def _full_load_again() -> Iterator[None]:
    yield
    IoJob.gentle = None


@pytest.mark.parametrize(
    ("block", "workers", "caps", "least_ns"),
    [
        (8192, 1, Gentle(iops=500.0), 2_000_000),
        (8192, 4, Gentle(iops=500.0), 8_000_000),
        (1 << 20, 1, Gentle(bytes_per_second=1 << 20), 1_000_000_000),
        (1 << 20, 2, Gentle(iops=1000.0, bytes_per_second=2 << 20), 1_000_000_000),
    ],
)
def test_workers_share_the_cap_that_binds(block: int, workers: int, caps: Gentle, least_ns: int) -> None:
    assert caps.interval_ns(block, workers) == least_ns


@pytest.mark.parametrize(
    ("caps", "block"),
    [
        (None, 1 << 20),
        (Gentle(), 32 << 10),
        (Gentle(iops=100.0), 128 << 10),
        (Gentle(iops=10.0, bytes_per_second=64e6), 1 << 20),
    ],
)
def test_a_target_is_filled_in_small_writes_where_the_caps_allow(caps: Gentle | None, block: int) -> None:
    """A quarter of the rate is 25 kB a write at 500 IOPS and 50 MB/s, 125 kB at 100 IOPS, 1.6 MB at 10 and 64 MB/s."""
    assert fill_block_bytes(caps) == block


@pytest.mark.parametrize("engine", [engine for engine in Engine if not binding.availability(engine)])
@pytest.mark.parametrize(("caps", "block"), [(Gentle(iops=40.0), 4096), (Gentle(bytes_per_second=20 << 20), 1 << 20)])
def test_no_job_exceeds_its_caps(tmp_path: Path, engine: Engine, caps: Gentle, block: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(4 << 20))
    with file.open("rb") as opened:
        depth = 1 if engine is Engine.THREADS else 8
        workers = [Worker(engine, opened.fileno(), block, 0, 4 << 20, depth=depth, seed=n + 1) for n in range(2)]
        IoJob.gentle = caps
        with IoJob(workers) as job:
            start = job.sample()
            end = time.monotonic() + PATIENCE_SECONDS
            time.sleep(0.6)
            while (done := job.sample()).requests == start.requests and time.monotonic() < end:
                time.sleep(0.1)
    seconds = (done.time_ns - start.time_ns) / 1e9
    most = min(caps.iops, caps.bytes_per_second / block) * seconds

    assert 0 < done.requests - start.requests <= most + 2 * len(workers)


@pytest.mark.ci
def test_a_gentle_run_measures_and_concludes_nothing_from_its_caps(folder: Path) -> None:
    planned = replace(step(folder, preset="oltp-read", depth=2), gentle=Gentle(iops=50.0, bytes_per_second=64e6))
    emitted = list(run(planned))
    found = [emission for emission in emitted if isinstance(emission, Estimate)]
    rates = [one.value for one in found if one.series == "iops"]

    assert len(rates) == 2
    assert max(rates) <= 50 * 1.25  # with what a stall before a window left to complete in it
    assert {"knee", "full-rate-cpus"}.isdisjoint(one.series for one in found)
    assert not any("knee" in emission.subject for emission in emitted if isinstance(emission, Gap))
