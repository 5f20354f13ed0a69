"""The CPUs that the I/O takes: never more than the host used, however slowly its counters were read."""

import pytest

from sizeup.model.sample import Estimate
from sizeup_direct_io.conclusions import full_rate
from sizeup_direct_io.estimates import PointResult
from sizeup_direct_io.measured_point import MeasuredPoint
from sizeup_direct_io.window_counters import Counters, HostCpu, ThermalState, WindowCounters

MS, SECOND = 1_000_000, 1_000_000_000
NONE = Counters(None, None, None, None, 0, 0, 0)


def edge(time_ns: int, host: HostCpu, process_ns: int, kernel_ns: int) -> WindowCounters:
    return WindowCounters(
        host, process_ns, None, None, NONE, {"kworker": kernel_ns}, ThermalState({}, {}), SECOND + time_ns
    )


def window(
    *, seconds: float, counted_ns: int, user_ns: int, interrupt_ns: int, process_ns: int, kernel_ns: int
) -> MeasuredPoint:
    """One window of one CPU, of which the counters were read ``counted_ns`` apart."""
    idle_ns = counted_ns - user_ns - interrupt_ns
    return MeasuredPoint(
        at={"queue_depth": 8},
        intervals={},
        blocks=(1.0,),
        halves=1.0,
        before=edge(0, HostCpu(0, 0, 0, 0, 0, 0, 0), 0, 0),
        after=edge(counted_ns, HostCpu(user_ns, 0, interrupt_ns, idle_ns, 0, 0, 0), process_ns, kernel_ns),
        seconds=seconds,
        converged=True,
        huge_page_bytes=None,
    )


def cpus(run: MeasuredPoint) -> Estimate:
    found = full_rate("oltp-read", [PointResult(run.at, (run,), ())], "1/s")
    assert isinstance(found, Estimate)
    return found


def test_counters_that_were_read_slowly_are_related_to_their_own_time() -> None:
    slow = window(
        seconds=2.0, counted_ns=2980 * MS, user_ns=2980 * MS, interrupt_ns=0, process_ns=2980 * MS, kernel_ns=0
    )

    found = cpus(slow)

    assert found.value == pytest.approx(1.0)
    assert str(found.extra["statement"]).startswith("oltp-read: I/O costs 1.00 of 1 CPUs at ")


def test_time_that_two_counters_hold_is_not_counted_beyond_what_the_host_used() -> None:
    twice = window(
        seconds=2.0,
        counted_ns=2000 * MS,
        user_ns=900 * MS,
        interrupt_ns=600 * MS,
        process_ns=1500 * MS,
        kernel_ns=880 * MS,
    )

    assert twice.io_cpu_ns == 1500 * MS
    assert cpus(twice).value == pytest.approx(0.75)


def test_less_than_the_host_used_is_counted_in_full() -> None:
    beside = window(
        seconds=2.0,
        counted_ns=2000 * MS,
        user_ns=1400 * MS,
        interrupt_ns=100 * MS,
        process_ns=500 * MS,
        kernel_ns=200 * MS,
    )

    assert beside.io_cpu_ns == 800 * MS
    assert cpus(beside).value == pytest.approx(0.4)
