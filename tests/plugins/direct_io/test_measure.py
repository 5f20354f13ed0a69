"""What a point is ended for while it is watched."""

import errno
from collections.abc import Callable, Generator, Sequence
from types import SimpleNamespace
from typing import Any, Self, cast

import pytest
from msgspec.structs import replace

from fakes import HandContext
from plugins.direct_io.hand_made import NOTHING, SECOND, edge, host, sample_of, window
from sizeup.errors import SizeupError
from sizeup.model.sample import Samples
from sizeup.probing.api import Emission
from sizeup.procfs.block import BlockStat
from sizeup.procfs.mounts import NfsBytes
from sizeup.procfs.process import ProcessIo
from sizeup_direct_io import measure as measure_module
from sizeup_direct_io.binding import IoSample, WorkerUsage
from sizeup_direct_io.call_with_timeout import StalledError
from sizeup_direct_io.disks import PathWatch
from sizeup_direct_io.measure import (
    SAMPLING_SECONDS,
    MeasuredPoint,
    Next,
    Watch,
    Window,
    _idle_seconds,
    _mark,
    _Sampler,
    measure,
)
from sizeup_direct_io.window_counters import CounterSource, HostCpu, WindowCounters


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


@pytest.mark.parametrize(
    ("errors", "words"), [(1, "a request failed with ENOSPC"), (3, "3 requests failed, the last with ENOSPC")]
)
def test_an_error_that_ended_a_worker_ends_the_point(errors: int, words: str) -> None:
    job = ScriptedJob()
    sampler = _Sampler(cast("Any", job), ("reads",), {})
    job.passes(0.2, errors=errors, error=errno.ENOSPC)

    with pytest.raises(SizeupError, match=f"^{words} "):
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
    job.passes(0.0, in_flight=2)
    with pytest.raises(StalledError, match="2 requests are still in flight"):
        sampler.check(sampler.take(), 5.0)


def test_of_streams_that_go_on_the_one_that_completed_last_tells_the_silence() -> None:
    def at(idle_s: float, running: int) -> Any:
        return SimpleNamespace(idle_ns=round(idle_s * SECOND), running=running)

    assert _idle_seconds({"a": at(3.0, 1), "b": at(2.0, 1), "c": at(1.0, 0)}) == 2.0
    assert _idle_seconds({"a": at(3.0, 0), "b": at(2.0, 0)}) == 0.0
    assert _idle_seconds({"a": at(3.0, 0)}) == 3.0


def test_a_mark_is_the_time_of_a_sample_or_that_of_the_last_request_of_a_full_file() -> None:
    def at(idle_s: float, running: int) -> Any:
        return SimpleNamespace(time_ns=9 * SECOND, idle_ns=round(idle_s * SECOND), running=running, requests=5)

    assert _mark({"a": at(3.0, 1)}) == (9.0, 5)
    assert _mark({"a": at(3.0, 0)}) == (6.0, 5)
    assert _mark({"a": at(3.0, 0), "b": at(2.0, 0)}) == (7.0, 10)


def counted(scale: int, *, nfs: bool = False, accounting: bool = True) -> WindowCounters:
    """Counters at an end of a window, every one of them another number."""
    process = ProcessIo(100 * scale, 30 * scale) if accounting else None
    bytes_ = NfsBytes(1000 * scale, 400 * scale, 2000 * scale, 700 * scale) if nfs else None
    return edge(1.0, counters=replace(NOTHING, accounting=process, device=BlockStat(7 * scale, 5 * scale), nfs=bytes_))


@pytest.mark.parametrize(
    ("reads", "writes", "local", "nfs"),
    [
        (True, False, (200, 14), (2000, 4000)),
        (False, True, (60, 10), (800, 1400)),
        (True, True, (260, 24), (2800, 5400)),
    ],
)
def test_the_bytes_that_are_charged_are_those_of_the_directions_of_a_point(
    reads: bool, writes: bool, local: tuple[int, int], nfs: tuple[int, int]
) -> None:
    found = window(1.0, {}, before=counted(1), after=counted(3))
    mount = window(1.0, {}, before=counted(1, nfs=True), after=counted(3, nfs=True))
    late = window(1.0, {}, before=counted(1), after=counted(3, nfs=True))
    own = window(1.0, {}, before=counted(1, accounting=False), after=counted(3))

    assert found.charged_bytes(reads=reads, writes=writes) == local
    assert mount.charged_bytes(reads=reads, writes=writes) == nfs
    assert late.charged_bytes(reads=reads, writes=writes) == local
    assert own.charged_bytes(reads=reads, writes=writes) == (None, local[1])


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


class TimedJob:
    """A job whose requests, CPU time and path depend on the time alone, which passes while nobody works."""

    def __init__(self, *streams: Callable[[float], dict[str, int]], ends_s: float = 1e9) -> None:
        self.now_ns, self.drain_seconds, self._asked = 0, 0.0, 0
        self._streams, self._ends_s = streams, ends_s

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is running."""

    def seconds(self) -> float:
        return self.now_ns / SECOND

    def wait(self, seconds: float) -> bool:
        self.now_ns += round(seconds * SECOND)
        return False

    def sample(self, group: int) -> IoSample:
        """One read in 20 ns each after the first second; before it, reads took 10 ns."""
        until_s = self._ends_s if group == len(self._streams) - 1 else FOREVER
        until = min(self.seconds(), until_s)
        reads = {10: self._streams[group](min(until, 1.0))["reads"]}
        reads[20] = self._streams[group](until)["reads"] - reads[10]
        native = sample_of(reads, {}, {}, time_ns=self.now_ns, last_progress_ns=round(until * SECOND))
        native.running, native.in_flight = self.seconds() < until_s, 3 + group
        return IoSample(native)

    def usage(self) -> tuple[WorkerUsage, ...]:
        """One thread that is busy for all of the warm-up and half of the rest, and an idle one."""
        busy = min(self.seconds(), 1.0) + max(0.0, self.seconds() - 1.0) / 2
        return WorkerUsage(1 + self.now_ns, round(busy * SECOND), 0), WorkerUsage(1 + self.now_ns, 0, 1)

    def path_state(self, _: str) -> str:
        """Blocked until the job begins, and offline from the second to the third second."""
        self._asked += 1
        if self._asked == 1:
            return "blocked"
        return "running" if self.seconds() < 2.0 or self.seconds() > 3.0 else "offline"


def busy_host(seconds: float) -> HostCpu:
    return host(10 + seconds / 2, seconds / 4, 0.0, seconds / 4)


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Callable[[TimedJob, Window], tuple[MeasuredPoint, list[Samples]]]:
    """Measures a job of made-up time; what is yielded on the way comes with the result."""

    def run(job: TimedJob, window: Window, ending: Watch | None = None) -> tuple[MeasuredPoint, list[Samples]]:
        ends = iter((edge(1.0), *[edge(2.0)] * (ending is not None), edge(9.0)))
        monkeypatch.setattr(measure_module, "IoJob", lambda *_, **__: job)
        monkeypatch.setattr(measure_module, "time", SimpleNamespace(monotonic=job.seconds))
        event = SimpleNamespace(set=lambda: None, wait=job.wait)
        monkeypatch.setattr(measure_module, "threading", SimpleNamespace(Event=lambda: event))
        # The host is busy for three quarters of each sample, and was for ten seconds before.
        monkeypatch.setattr(measure_module.window_counters, "read_host_cpu", lambda: busy_host(job.seconds()))
        for name in ("read_opening", "read_closing"):
            monkeypatch.setattr(measure_module, name, lambda *_: next(ends))
        watch = PathWatch({"sda": "state"}, now=job.seconds, read=job.path_state)
        names = ("small", "log")[: len(job._streams)]
        steps = measure([], names, {"queue_depth": 1}, window, HandContext(), CounterSource(0, None, watch), ending)
        seen = []
        while True:
            try:
                seen.append(next(steps))
            except StopIteration as end:
                return end.value, [each for each in seen if isinstance(each, Samples)]

    return run


def at_rates(*rates: tuple[float, float]) -> Callable[[float], dict[str, int]]:
    """Reads at rates, each until a time."""

    def done(seconds: float) -> dict[str, int]:
        began = total = 0.0
        for until, rate in rates:
            total += rate * max(0.0, min(seconds, until) - began)
            began = until
        return {"reads": round(total)}

    return done


FOREVER = 1e9
FAST_AT_FIRST = at_rates((1.0, 1000.0), (3.0, 100.0), (FOREVER, 150.0))
RISING = at_rates((1.0, 1000.0), (3.0, 100.0), (3.8, 120.0), (FOREVER, 170.0))
LOG = at_rates((FOREVER, 10.0))


def values(seen: Sequence[Samples], series: str) -> list[float]:
    return [each.values[0] for each in seen if each.series == series]


def test_a_window_holds_what_is_done_between_its_ends_alone(timed: Any) -> None:
    """1,000/s for the warm-up of 1 s, then 100/s and 150/s for 2 s each, beside 10/s of a second stream."""
    job = TimedJob(FAST_AT_FIRST, LOG)
    found, seen = timed(job, Window(1.0, 4.0, 0.0, 1.0, 9.0))

    assert job.drain_seconds == 9.0, "for what is in flight at the end"
    assert {name: each.requests for name, each in found.intervals.items()} == {"small": 500, "log": 40}
    assert found.intervals["small"].histogram("read") == {20: 500}, "none of the warm-up"
    assert (found.seconds, found.iops) == (4.0, 135)
    assert found.blocks == pytest.approx([110.0] * 5 + [160.0] * 5)
    assert found.halves == pytest.approx(160 / 110)
    assert (found.threads, found.busiest_thread) == (2, pytest.approx(0.5)), "not that of the warm-up"
    assert (found.before.time_ns, found.after.time_ns) == (SECOND, 9 * SECOND)
    changes = [change.split(" at ")[0] for change in found.path_changes]
    assert changes == ["path sda went from running to offline", "path sda went from offline to running"]
    assert not found.ended_early
    warming_up = [bool(each.flags and each.flags[0]) for each in seen if each.series == "iops"]
    assert warming_up == [True] * 5 + [False] * 20
    assert values(seen, "iops") == pytest.approx([1010] * 5 + [110] * 10 + [160] * 10)
    assert values(seen, "rate") == pytest.approx([8192 * iops for iops in values(seen, "iops")])
    assert set(values(seen, "in-flight")) == {7}
    assert values(seen, "cpu") == pytest.approx([0.75] * 25)
    assert {(each.at.get("stream"), each.values[0]) for each in seen if each.series == "latency-p50"} == {
        *(("small", 10), ("small", 20), ("log", 10), ("log", 20))
    }


@pytest.mark.parametrize(
    ("precision", "seconds", "converged"),
    [
        # 5 blocks of 100/s and 5 of 150/s: s is 26.35, t(9) is 2.262, so half of the interval is 18.85 of 125.
        (0.155, 4.0, True),
        # Two seconds more of 150/s bring blocks of 0.6 s: less than 15 %, but more than 10.
        (0.145, None, True),
        (0.05, 6.0, False),
    ],
)
def test_a_window_goes_on_until_its_blocks_agree_or_its_time_is_over(
    precision: float, seconds: float | None, converged: bool, timed: Any
) -> None:
    found, _ = timed(TimedJob(FAST_AT_FIRST), Window(1.0, 4.0, 2.0, precision, 9.0))

    assert found.converged is converged
    assert 4.0 < found.seconds < 6.0 if seconds is None else found.seconds == pytest.approx(seconds)


def test_the_second_half_is_all_of_it_and_a_stream_that_goes_on_keeps_the_window_open(timed: Any) -> None:
    """100/s for 2 s, then 120/s for 0.8 and 170/s for 1.2 s; the other stream ends after 2 s of its 4."""
    found, _ = timed(TimedJob(RISING, LOG, ends_s=3.0), Window(1.0, 4.0, 0.0, 1.0, 9.0))

    assert (found.seconds, found.ended_early) == (4.0, False)
    assert {name: each.requests for name, each in found.intervals.items()} == {"small": 500, "log": 20}
    assert found.halves == pytest.approx(150 / 110)


def test_a_watch_leaves_out_what_it_calls_warm_up_and_ends_the_window(timed: Any) -> None:
    """100/s until 3 s and 150/s then: counted anew at 2 s of 10, from the sample at 2.2 s, and ended at 5 s."""
    told = list[tuple[float, int, float]]()

    def watch(at: float, done: int, left: float) -> Generator[Emission, None, Next]:
        yield from ()
        told.append((round(at, 1), done, round(left, 1)))
        return "count anew" if told[-1][0] == 2.0 else "end" if at > 4.9 else "go on"

    found, _ = timed(TimedJob(FAST_AT_FIRST), Window(0.0, 10.0, 0.0, 1.0, 9.0), watch)

    assert (told[0], told[9], told[-1]) == ((0.2, 200, 9.8), (2.0, 1100, 8.0), (5.0, 1500, 5.2))
    assert (found.requests, found.seconds, found.before.time_ns) == (380, pytest.approx(2.8), 2 * SECOND)


def test_a_file_that_is_full_early_has_the_rate_until_its_last_request(timed: Any) -> None:
    """100/s for 1.5 s, without a warm-up; the sample at 1.6 s finds it ended."""
    found, seen = timed(TimedJob(at_rates((FOREVER, 100.0)), ends_s=1.5), Window(0.0, 4.0, 0.0, 1.0, 9.0))

    assert (found.ended_early, found.seconds, found.requests) == (True, pytest.approx(1.5), 150)
    assert found.blocks == pytest.approx([100.0] * 7), "not the part of a block at its end"
    assert not any(each.flags and each.flags[0] for each in seen)
    for ends_s in (0.15, 0.35):  # in the first sample, and in the second, of which the first is counted alone
        full = TimedJob(at_rates((FOREVER, 100.0)), ends_s=ends_s)
        short, _ = timed(full, Window(0.0, 4.0, 0.0, 1.0, 9.0))
        assert (short.blocks, short.requests) == (pytest.approx([100.0]), 100 * ends_s)
        assert (short.halves, full.drain_seconds) == (1.0, 0.0), "nothing is in flight"
    with pytest.raises(SizeupError, match="increase size"):
        timed(TimedJob(at_rates((FOREVER, 100.0)), ends_s=0.5), Window(1.0, 4.0, 0.0, 1.0, 9.0))
