"""What a window counts: nothing of the warm-up, and it goes on while its blocks disagree."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from fakes import HandContext
from sizeup_direct_io import measure as measure_module
from sizeup_direct_io.binding import IoJob, IoSample
from sizeup_direct_io.comparisons import without_progress
from sizeup_direct_io.measure import MeasuredPoint, Window, measure
from sizeup_direct_io.window_counters import CounterSource
from sizeup_direct_io.worker import Engine, Worker

pytestmark = pytest.mark.ci

Requests = Callable[[float], float]
WARM_UP = 0.1


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Requests, Window], MeasuredPoint]:
    """Measures a worker that has made as many requests as a function of the seconds since its start says."""
    (tmp_path / "file").write_bytes(bytes(1 << 20))
    real = IoJob.sample

    def run(requests: Requests, window: Window) -> MeasuredPoint:
        start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)

        def sample(job: IoJob, group: int = 0) -> IoSample:
            native = real(job, group).native
            native.time_ns = native.last_progress_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            native.reads = round(requests((native.time_ns - start_ns) / 1e9))
            native.read_bytes = native.reads * 4096
            return IoSample(native)

        monkeypatch.setattr(IoJob, "sample", sample)
        descriptor = os.open(tmp_path / "file", os.O_RDONLY)
        worker = Worker(Engine.THREADS, descriptor, 4096, 0, 1 << 20, interval_ns=1_000_000)
        source = CounterSource(os.fstat(descriptor).st_dev)
        steps = measure([worker], ("small",), {"queue_depth": 1}, window, HandContext(), source)
        try:
            return without_progress(steps)
        finally:
            os.close(descriptor)

    monkeypatch.setattr(measure_module, "SAMPLING_SECONDS", 0.01)
    return run


def test_the_warm_up_is_not_in_the_window(measured: Callable[[Requests, Window], MeasuredPoint]) -> None:
    """Ten times as fast at first: all of it together would be several times the rate that lasts."""
    window = Window(WARM_UP, 0.15, 0.0, 1.0, 10.0)

    # So many that a request more or less is nothing in a block that a busy host makes short.
    found = measured(lambda t: 1e8 * min(t, 0.8 * WARM_UP) + 1e7 * max(0.0, t - 0.8 * WARM_UP), window)

    assert 0.9e7 < found.iops < 1.1e7
    assert all(block < 1.1e7 for block in found.blocks)
    assert found.seconds > 0.1


def test_a_steady_rate_is_enough_and_an_unsteady_one_is_not(
    measured: Callable[[Requests, Window], MeasuredPoint],
) -> None:
    window = Window(0.0, 0.1, 0.2, 0.05, 10.0)

    unsteady = measured(lambda t: 10_000 * t + 1_000 * (int(t * 25) % 2), window)

    assert not unsteady.converged
    assert unsteady.seconds >= 0.3, "it goes on for as long as it may"
    assert measured(lambda t: 10_000 * t, Window(0.0, 0.1, 5.0, 0.2, 10.0)).converged


@pytest.mark.parametrize(("running", "seconds"), [(1, 2.0), (0, 1.5)])
def test_the_time_after_the_last_request_of_a_full_file_does_not_count(running: int, seconds: float) -> None:
    opening = SimpleNamespace(time_ns=1_000_000_000)
    closing = SimpleNamespace(time_ns=3_000_000_000, idle_ns=500_000_000, running=running)

    assert measure_module._working_seconds(opening, closing) == seconds
