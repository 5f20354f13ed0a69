"""What is made of the host's counters."""

import pytest

from sizeup.procfs.stat import HostStat
from sizeup_direct_io.window_counters import HostCpu, host_cpu, kernel_thread_family


def test_host_time_is_in_nanoseconds_and_subtracts() -> None:
    first = host_cpu(HostStat(10, 2, 5, 100, 3, 1, 2, 4, interrupts=500, switches=900), 100)
    later = host_cpu(HostStat(20, 2, 9, 150, 3, 1, 4, 4, interrupts=700, switches=1000), 100)

    assert first == HostCpu(120_000_000, 50_000_000, 30_000_000, 1_030_000_000, 40_000_000, 500, 900)
    assert later.since(first) == HostCpu(100_000_000, 40_000_000, 20_000_000, 500_000_000, 0, 200, 100)
    assert later.since(first).busy_ns == 160_000_000


@pytest.mark.parametrize(
    ("name", "family"), [("kworker/3:2-events", "kworker"), ("loop0", "loop0"), ("xfs-conv/vda1", "xfs-conv")]
)
def test_kernel_threads_are_joined_by_family(name: str, family: str) -> None:
    assert kernel_thread_family(name) == family
