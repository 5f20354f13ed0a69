"""The CPUs that the I/O takes: never more than the host used, however slowly its counters were read."""

import pytest

from sizeup.model.sample import Estimate
from sizeup_direct_io.conclusions import full_rate
from sizeup_direct_io.estimates import PointResult
from sizeup_direct_io.measure import MeasuredPoint
from sizeup_direct_io.window_counters import Counters, HostCpu, ThermalState, WindowCounters

MS, SECOND = 1_000_000, 1_000_000_000
NONE = Counters(None, None, None, None, 0, 0, 0)


def edge(time_ns: int, host: HostCpu, process_ns: int, kernel_ns: int) -> WindowCounters:
    return WindowCounters(
        host, process_ns, None, None, NONE, {"kworker": kernel_ns}, ThermalState({}, {}), SECOND + time_ns
    )


def window(counted_ms: int, user_ms: int, interrupt_ms: int, process_ms: int, kernel_ms: int) -> MeasuredPoint:
    """One window of 2 s of one CPU, of which the counters were read ``counted_ms`` apart."""
    used = HostCpu(user_ms * MS, 0, interrupt_ms * MS, (counted_ms - user_ms - interrupt_ms) * MS, 0, 0, 0)
    return MeasuredPoint(
        at={"queue_depth": 8},
        intervals={},
        blocks=(1.0,),
        halves=1.0,
        before=edge(0, HostCpu(0, 0, 0, 0, 0, 0, 0), 0, 0),
        after=edge(counted_ms * MS, used, process_ms * MS, kernel_ms * MS),
        seconds=2.0,
        converged=True,
        huge_page_bytes=None,
    )


def cpus(run: MeasuredPoint) -> Estimate:
    found = full_rate("oltp-read", [PointResult(run.at, (run,), ())], "1/s")
    assert isinstance(found, Estimate)
    return found


@pytest.mark.parametrize(
    ("run", "io_ms", "used"),
    [
        (window(2980, user_ms=2980, interrupt_ms=0, process_ms=2980, kernel_ms=0), 2980, 1.0),
        (window(2000, user_ms=900, interrupt_ms=600, process_ms=1500, kernel_ms=880), 1500, 0.75),
        (window(2000, user_ms=1400, interrupt_ms=100, process_ms=500, kernel_ms=200), 800, 0.4),
    ],
    ids=["counters that were read slowly", "time that two counters hold", "less than the host used"],
)
def test_the_cpus_of_a_window_are_related_to_its_counters(run: MeasuredPoint, io_ms: int, used: float) -> None:
    """To their own time, and to no more than the host used."""
    found = cpus(run)

    assert run.io_cpu_ns == io_ms * MS
    assert found.value == pytest.approx(used)
    assert str(found.extra["statement"]).startswith(f"oltp-read: I/O costs {used:.2f} of 1 CPUs at ")
