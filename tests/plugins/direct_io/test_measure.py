"""What a point is ended for while it is watched."""

import errno
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sizeup.errors import SizeupError
from sizeup_direct_io.call_with_timeout import StalledError
from sizeup_direct_io.measure import SAMPLING_SECONDS, _Sampler


class ScriptedJob:
    """A job whose counters are set by hand."""

    def __init__(self) -> None:
        self.now = SimpleNamespace(
            time_ns=0, requests=10, errors=0, error=None, first_error=None, idle_ns=0, running=1, in_flight=1
        )

    def sample(self, group: int) -> SimpleNamespace:
        return SimpleNamespace(**vars(self.now))

    def passes(self, seconds: float, **counters: int | None) -> None:
        vars(self.now).update(time_ns=self.now.time_ns + round(seconds * 1e9), **counters)


def test_errors_that_come_so_slowly_that_none_is_the_last_end_it_all_the_same() -> None:
    job = ScriptedJob()
    sampler = _Sampler(cast("Any", job), ("reads",), {})
    job.passes(3.0, requests=11, errors=1, first_error=errno.ETIMEDOUT)
    sampler.check(sampler.take(), 5.0)
    job.passes(4.9, errors=3)
    sampler.check(sampler.take(), 5.0)
    job.passes(0.2)

    with pytest.raises(SizeupError, match=r"no request succeeded for 5.1 s and 2 failed, .* ETIMEDOUT .*in time"):
        sampler.check(sampler.take(), 5.0)


def test_a_pause_without_errors_is_no_failure() -> None:
    job = ScriptedJob()
    sampler = _Sampler(cast("Any", job), ("reads",), {})
    job.passes(60.0)

    sampler.check(sampler.take(), 5.0)


def test_silence_with_requests_out_is_a_stall() -> None:
    job = ScriptedJob()
    sampler = _Sampler(cast("Any", job), ("reads",), {})
    job.passes(6.0, idle_ns=6_000_000_000)

    with pytest.raises(StalledError, match=r"no request completed for 6.0 s, 1 request is still in flight"):
        sampler.check(sampler.take(), 5.0)


class TwoDevices(ScriptedJob):
    """A job of two streams, of which the second may fall silent."""

    def __init__(self) -> None:
        super().__init__()
        self.silent = SimpleNamespace(**vars(self.now))

    def sample(self, group: int) -> SimpleNamespace:
        return SimpleNamespace(**vars(self.silent if group else self.now))

    def passes(self, seconds: float, **counters: int | None) -> None:
        super().passes(seconds, requests=self.now.requests + 1000)
        vars(self.silent).update(time_ns=self.now.time_ns, **counters)


def test_one_device_of_several_that_hangs_is_named_although_the_others_progress() -> None:
    job = TwoDevices()
    sampler = _Sampler(cast("Any", job), ("/disk1", "/disk2"), {})
    for _ in range(24):
        job.passes(0.2)
        sampler.check(sampler.take(), 5.0)
    job.passes(0.4)

    with pytest.raises(StalledError, match=r"stalled: /disk2 completed no request for 5.2 s, 1 are still in flight"):
        sampler.check(sampler.take(), 5.0)


def test_a_paced_stream_between_two_requests_does_not_hang() -> None:
    job = TwoDevices()
    sampler = _Sampler(cast("Any", job), ("data", "log"), {})
    for second in range(40):
        job.passes(1.0, in_flight=second % 4 == 0)
        sampler.check(sampler.take(), 5.0)
    job.passes(4.9, in_flight=1)
    sampler.check(sampler.take(), 5.0)
    job.passes(4.9, requests=11)
    sampler.check(sampler.take(), 5.0)


def test_the_limit_of_a_stall_is_looked_at_when_it_comes() -> None:
    job = ScriptedJob()
    sampler = _Sampler(cast("Any", job), ("reads",), {})
    assert sampler.next_sample_seconds(5.0) == SAMPLING_SECONDS

    job.passes(4.9, idle_ns=4_900_000_000)
    sampler.last = sampler.take()
    seconds = sampler.next_sample_seconds(5.0)
    assert 0.1 < seconds < 0.12
    job.passes(seconds, idle_ns=round((4.9 + seconds) * 1e9))
    with pytest.raises(StalledError):
        sampler.check(sampler.take(), 5.0)

    sampler.last = sampler.take()
    assert sampler.next_sample_seconds(5.0) == SAMPLING_SECONDS
