"""A target whose requests take a known time: what is reported is that time, and the rate that follows from it."""

import os
import time

import pytest

from plugins.direct_io import faulty
from plugins.direct_io.staging import MIB, Faulty
from sizeup_direct_io.binding import IoJob, IoSample, availability
from sizeup_direct_io.worker import Engine, Worker

pytestmark = [pytest.mark.ci, pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")]

DELAY_MS = 50
REQUESTS = 12


def measured(descriptor: int, engine: Engine, *, read_percent: int) -> tuple[IoSample, IoSample]:
    """Return the samples before the first request and after the last one of a few, one at a time."""
    worker = Worker(engine, descriptor, 8192, 0, MIB, read_percent=read_percent)
    with IoJob([worker]) as job:
        first = job.sample()
        while (last := job.sample()).requests < REQUESTS:
            assert last.running, os.strerror(last.error or 0)
            time.sleep(0.005)
    return first, last


@pytest.mark.parametrize("engine", list(Engine))
@pytest.mark.parametrize("read_percent", [100, 0])
def test_each_request_takes_what_the_target_takes(engine: Engine, read_percent: int, file_system: Faulty) -> None:
    """Never less; and what the host adds is small beside it."""
    if availability(engine):
        pytest.skip(f"{engine.value} is not available: {os.strerror(availability(engine))}")
    descriptor = os.open(file_system.point / "file", os.O_CREAT | os.O_RDWR | os.O_DIRECT)
    os.ftruncate(descriptor, MIB)
    file_system.ask(faulty.DELAYED + DELAY_MS)
    try:
        first, last = measured(descriptor, engine, read_percent=read_percent)
    finally:
        file_system.ask(0)
        os.close(descriptor)
    interval = last.since(first)
    kind = "read" if read_percent else "write"

    assert interval.requests == interval.count(kind) >= REQUESTS
    assert interval.quantile_ns(kind, 0.0) > 0.99 * DELAY_MS * 1e6
    assert interval.quantile_ns(kind, 0.5) < 1.5 * DELAY_MS * 1e6
    assert interval.mean_ns(kind) > DELAY_MS * 1e6
    assert interval.seconds > 0.99 * interval.requests * DELAY_MS / 1e3
    assert interval.requests / interval.seconds < 1.01e3 / DELAY_MS
