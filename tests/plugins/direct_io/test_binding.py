"""What the binding makes of what the native code answers: results, refusals of the kernel and errors, and who frees."""

import errno
from collections.abc import Callable
from typing import Any

import pytest

from plugins.direct_io.hand_made import SECOND, interval, sample_of
from sizeup_direct_io import binding
from sizeup_direct_io.binding import Extents, IoJob, IoSample
from sizeup_direct_io.call_with_timeout import StalledError
from sizeup_memory import binding as memory


class Native:
    """The library of a probe, of which some functions are replaced; what these are told is kept."""

    def __init__(self, module: Any, **answers: Callable[..., Any]) -> None:
        self._lib, self._answers = module.lib, answers
        self.told: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        if name not in self._answers:
            return getattr(self._lib, name)

        def answer(*arguments: Any) -> Any:
            self.told.append((name, arguments))
            return self._answers[name](*arguments)

        return answer


def extents_answer(status: int) -> Callable[..., int]:
    def answer(_descriptor: int, _size: int, _flush: bool, native: Any) -> int:
        for number, field in enumerate(Extents.__struct_fields__, 1):
            setattr(native, field, number)
        return status

    return answer


def alignment_answer(status: int) -> Callable[..., int]:
    def answer(_descriptor: int, memory_bytes: Any, offset_bytes: Any) -> int:
        memory_bytes[0], offset_bytes[0] = 4, 512
        return status

    return answer


@pytest.mark.parametrize("what", ["extents", "alignment", "allocate"])
def test_what_the_kernel_cannot_do_is_no_error_and_what_fails_is(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call: Callable[[], Any] = {
        "extents": lambda: binding.extents(3, 4096, flush=False),
        "alignment": lambda: binding.alignment(3),
        "allocate": lambda: binding.allocate(3, 4096),
    }[what]

    def answering(status: int) -> Any:
        answers = {
            "sizeup_io_extents": extents_answer(status),
            "sizeup_io_alignment": alignment_answer(status),
            "sizeup_io_allocate": lambda *_: status,
        }
        monkeypatch.setattr(binding, "lib", Native(binding, **answers))
        try:
            return call()
        finally:
            monkeypatch.undo()

    done = {"extents": Extents(1, 2, 3, 4, 5), "alignment": (4, 512), "allocate": True}[what]
    assert answering(0) == done
    assert answering(-errno.EOPNOTSUPP) == {"extents": None, "alignment": None, "allocate": False}[what]
    with pytest.raises(OSError, match="Input/output error") as failed:
        answering(-errno.EIO)
    assert failed.value.errno == errno.EIO
    with pytest.raises(PermissionError):
        answering(-errno.EPERM)


@pytest.mark.parametrize(("status", "freed"), [(0, True), (-errno.ETIMEDOUT, False), (-errno.EIO, False)])
def test_the_memory_of_a_job_is_freed_where_its_workers_have_ended_and_nowhere_else(
    status: int, freed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {name: lambda *_: 0 for name in ("sizeup_io_start", "sizeup_io_cancel", "sizeup_io_free")}
    native = Native(binding, **answers, sizeup_io_wait=lambda *_: status)
    monkeypatch.setattr(binding, "lib", native)
    job = IoJob([], drain_seconds=2.5)
    error = {0: None, -errno.ETIMEDOUT: StalledError, -errno.EIO: OSError}[status]
    if error is None:
        with job:
            pass
    else:
        with pytest.raises(error), job:
            pass

    called = [name for name, _ in native.told]
    assert called == ["sizeup_io_start", "sizeup_io_cancel", "sizeup_io_wait", *["sizeup_io_free"] * freed]
    assert native.told[2][1][1] == 2_500_000_000
    job.cancel()
    assert len(native.told) == len(called), "the job is gone"


def test_a_sample_tells_its_silence_and_its_errors() -> None:
    native = sample_of({}, {}, {}, time_ns=5 * SECOND, last_progress_ns=2 * SECOND, status=-5, first_error=-28)

    assert (IoSample(native).idle_ns, IoSample(native).error, IoSample(native).first_error) == (3 * SECOND, 5, 28)
    native.last_progress_ns, native.status, native.first_error = 5 * SECOND + 1, 0, 0
    assert (IoSample(native).idle_ns, IoSample(native).error, IoSample(native).first_error) == (0, None, None)


def test_intervals_add_up_and_two_values_have_no_interval() -> None:
    one, other = interval({10: 3}, {20: 2}, time_ns=SECOND), interval({10: 1, 30: 4}, errors=1, time_ns=SECOND)
    pooled = one.pooled_with(other)

    assert (pooled.requests, pooled.errors, pooled.transferred_bytes) == (10, 1, 10 * 8192)
    assert (pooled.histogram("read"), pooled.histogram("write")) == ({10: 4, 30: 4}, {20: 2})
    assert (one.requests, other.requests, pooled.seconds) == (5, 5, 2.0)
    assert binding.half_width([1.0, 2.0]) is None
    # s is 1, t(2) is 4.303: 4.303 / sqrt(3).
    assert binding.half_width([1.0, 2.0, 3.0]) == pytest.approx(2.484, abs=1e-3)


def test_a_process_of_random_stores_that_took_no_time_or_made_none_has_figures() -> None:
    one = memory.HammerResult(ops=1, start_ns=5, end_ns=5, wall_us=3, cpu_ns=1, cpu=0)
    none = memory.HammerResult(ops=0, start_ns=5, end_ns=9, wall_us=3, cpu_ns=1, cpu=0)

    assert (one.ns_per_op, one.cpu_share) == (3000.0, 1.0)
    assert (none.ns_per_op, none.cpu_share) == (3000.0, 0.25)


@pytest.mark.parametrize(("cpu", "core_hz", "found"), [(2, 3e9, 3e9), (1, 3e9, None), (2, 0.0, None)])
def test_the_clock_of_a_core_is_that_of_the_cpu_that_measured_last(
    cpu: int, core_hz: float, found: float | None
) -> None:
    points = [memory.ChasePoint(1 << 20, 64, 1), memory.ChasePoint(1 << 21, 64, 1), memory.ChasePoint(1 << 22, 64, 2)]
    rule = memory.StopRule(0.1, 0.0, 1.0, 3, 5, 0.05, 1)
    latency = memory.Latency(points, rule)
    latency._rates.cpu, latency._rates.core_hz = cpu, core_hz

    assert latency.core_hz == found


def test_without_nodes_the_memory_of_the_whole_machine_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for module, call in (
        (binding, binding.available_bytes),
        (memory, lambda: memory.available_bytes(memory.Allocation())),
    ):
        native = Native(module, sizeup_available_bytes=lambda *_: 7)
        monkeypatch.setattr(module, "lib", native)
        assert call() == 7
        told += native.told

    assert told == [("sizeup_available_bytes", (0, 0))] * 2
