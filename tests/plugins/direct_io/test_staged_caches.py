"""A cache behind the target, staged: a loop device whose backing file lies in the page cache in part; needs root.

pytest -m lab tests/plugins/direct_io/test_staged_caches.py
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plugins.direct_io.small_runs import run, step
from plugins.direct_io.staging import MIB, command
from sizeup.model.machine import Gap
from sizeup.model.sample import Estimate

pytestmark = [pytest.mark.lab, pytest.mark.skipif(os.geteuid() != 0, reason="loop devices need root")]
SIZE_BYTES = 256 * MIB


@pytest.fixture
def device(place: Path) -> Iterator[tuple[str, Path]]:
    """A loop device that reads through the page cache of its backing file, as an array reads through its own."""
    file = place / "disk"
    with file.open("wb") as disk:
        for _ in range(SIZE_BYTES // MIB):
            disk.write(os.urandom(MIB))
        disk.flush()
        os.fsync(disk.fileno())
    name = command("losetup", "--find", "--show", str(file))
    yield name, file
    command("losetup", "--detach", name)


def forget(file: Path, start_bytes: int = 0) -> None:
    with file.open("rb") as backing:
        os.posix_fadvise(backing.fileno(), start_bytes, SIZE_BYTES - start_bytes, os.POSIX_FADV_DONTNEED)


KEEPER = """
import os, sys, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
file, start, size = os.open(sys.argv[1], os.O_RDONLY), int(sys.argv[2]), int(sys.argv[3])
while True:
    os.posix_fadvise(file, start, size - start, os.POSIX_FADV_DONTNEED)
    time.sleep(0.002)
"""
"""Before all others that want the CPU: on a busy host the cache would grow while it waits."""


@contextmanager
def holding(file: Path, cache_bytes: int) -> Iterator[None]:
    """Only the first bytes of a backing file stay in the cache, whatever is read."""
    keeper = subprocess.Popen([sys.executable, "-S", "-c", KEEPER, file, str(cache_bytes), str(SIZE_BYTES)])
    try:
        yield
        assert keeper.poll() is None, "it kept the cache small to the end"
    finally:
        keeper.kill()
        keeper.wait()


def test_a_cache_of_a_quarter_of_the_target_is_found_by_its_step_and_kept_out_of_sizing(
    device: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sizeup_direct_io.window_counters.BackgroundLoad.background_caveats", ())
    name, file = device
    planned = step(Path(name), preset="working-set", size=0, seconds=1.0, warmup=1.0, ramps=2)
    with holding(file, SIZE_BYTES // 4):
        found = [e for e in run(planned) if isinstance(e, Estimate)]
    rates = {e.at["working_set_bytes"]: e.value for e in found if e.series == "iops"}
    print({size: round(rate) for size, rate in rates.items()})

    (said,) = [e for e in found if e.series == "working-set-gain"]
    left_out = {
        e.at["working_set_bytes"]: e.extra.get("sizing") == "left out"
        for e in found
        if e.series == "validity" and e.at["part"] == "physical" and "working_set_bytes" in e.at
    }
    print(said.extra)
    assert str(said.extra["statement"]).startswith("a cache of about")
    # Of what the cache holds any may be the fastest: those reads take CPU time, which others want too.
    assert int(said.extra["cache_bytes"]) in {SIZE_BYTES // 16, SIZE_BYTES // 8, SIZE_BYTES // 4}
    assert left_out[SIZE_BYTES // 8]
    assert not left_out[SIZE_BYTES]


def test_blocks_that_are_slow_at_the_first_touch_alone_are_a_finding(
    device: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sizeup_direct_io.window_counters.BACKGROUND_SECONDS", 0.1)
    name, file = device
    cold, warm = (_touch(name, file, cold=cold) for cold in (True, False))
    print(f"slow first reads: cold {cold.value:.0%}, warm {warm.value:.0%}; {cold.extra}")

    assert "of first reads took" in str(cold.extra["statement"])
    assert "statement" not in warm.extra


def _touch(name: str, file: Path, *, cold: bool) -> Estimate:
    if cold:
        forget(file)
    else:
        file.read_bytes()
    found = list(run(step(Path(name), size=0, depth=1, preset="single-read")))
    assert not [e for e in found if isinstance(e, Gap) and "first" in e.subject]
    (touch,) = [e for e in found if isinstance(e, Estimate) and e.series == "first-touch"]
    return touch
