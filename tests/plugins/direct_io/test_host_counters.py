"""Kernel text to values."""

from __future__ import annotations

import pytest

from sizeup.procfs.stat import HostStat
from sizeup_direct_io.host_counters import (
    Accounting,
    DeviceCounters,
    HostCpu,
    NfsBytes,
    host_cpu,
    kernel_thread_family,
    parse_accounting,
    parse_device_counters,
    parse_nfs_bytes,
)


def test_host_time_is_in_nanoseconds_and_subtracts() -> None:
    first = host_cpu(HostStat(10, 2, 5, 100, 3, 1, 2, 4, interrupts=500, switches=900), 100)
    later = host_cpu(HostStat(20, 2, 9, 150, 3, 1, 4, 4, interrupts=700, switches=1000), 100)

    assert first == HostCpu(120_000_000, 50_000_000, 30_000_000, 1_030_000_000, 40_000_000, 500, 900)
    assert later.since(first) == HostCpu(100_000_000, 40_000_000, 20_000_000, 500_000_000, 0, 200, 100)
    assert later.since(first).busy_ns == 160_000_000


def test_accounting_and_device_counters_are_bytes() -> None:
    assert parse_accounting("rchar: 1\nread_bytes: 8192\nwrite_bytes: 512\n") == Accounting(8192, 512)
    assert parse_device_counters("10 0 16 0 5 0 8 0 0 0 0") == DeviceCounters(8192, 4096)


@pytest.mark.parametrize(
    ("name", "family"), [("kworker/3:2-events", "kworker"), ("loop0", "loop0"), ("xfs-conv/vda1", "xfs-conv")]
)
def test_kernel_threads_are_joined_by_family(name: str, family: str) -> None:
    assert kernel_thread_family(name) == family


def test_nfs_bytes_are_those_of_the_one_mount() -> None:
    text = (
        "device rootfs mounted on / with fstype rootfs\n"
        "device srv:/a mounted on /mnt/a with fstype nfs statvers=1.1\n\tbytes:\t1 2 3 4 5 6 7 8\n"
        "device srv:/b mounted on /mnt/b with fstype nfs4 statvers=1.1\n\tbytes:\t10 20 30 40 50 60 70 80\n"
    )

    assert parse_nfs_bytes(text, "/mnt/b") == NfsBytes(30, 40, 50, 60)
    assert parse_nfs_bytes(text, "/mnt") is None
