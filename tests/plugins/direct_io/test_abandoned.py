"""Requests that do not end in time are abandoned, which is told and never hides what went wrong before."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from sizeup.errors import SizeupError
from sizeup_direct_io import binding
from sizeup_direct_io.binding import IoJob
from sizeup_direct_io.call_with_timeout import StalledError
from sizeup_direct_io.worker import Engine, Worker


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IoJob:
    """A job whose worker has ended, of which the kernel says that it has not."""
    path = tmp_path / "data"
    path.write_bytes(bytes(8192))
    descriptor = os.open(path, os.O_RDONLY)
    job = IoJob([Worker(Engine.THREADS, descriptor, 4096, 0, 8192)])
    job.cancel()
    assert binding.lib.sizeup_io_wait(job._handle, 10_000_000_000) == 0
    os.close(descriptor)
    library = SimpleNamespace(
        sizeup_io_cancel=binding.lib.sizeup_io_cancel,
        sizeup_io_free=binding.lib.sizeup_io_free,
        sizeup_io_wait=lambda _handle, _nanoseconds: -errno.ETIMEDOUT,
    )
    monkeypatch.setattr(binding, "lib", library)
    return job


def test_a_request_that_is_stuck_at_the_end_is_told(job: IoJob) -> None:
    with pytest.raises(StalledError, match="stalled: a request is stuck in the kernel; its worker was abandoned"), job:
        pass


def test_what_went_wrong_before_is_told_in_place_of_it(job: IoJob) -> None:
    with pytest.raises(SizeupError, match="ENOSPC") as raised, job:
        raise SizeupError("filling /u01 failed with ENOSPC")

    assert not isinstance(raised.value, StalledError)
