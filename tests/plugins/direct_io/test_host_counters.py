"""Kernel text to values."""

from __future__ import annotations

from sizeup_direct_io.host_counters import (
    Accounting,
    DeviceCounters,
    HostCpu,
    NfsBytes,
    Pressure,
    parse_accounting,
    parse_device_counters,
    parse_host_cpu,
    parse_kernel_thread,
    parse_nfs_bytes,
    parse_pressure,
)


def test_pressure_is_the_some_line() -> None:
    text = "some avg10=12.50 avg60=3.00 avg300=1.00 total=123456\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"

    assert parse_pressure(text) == Pressure(12.5, 123456)
    assert parse_pressure("full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n") is None


def test_host_time_is_in_nanoseconds_and_subtracts() -> None:
    first = parse_host_cpu("cpu  10 2 5 100 3 1 2 4 0 0\ncpu0 1 1 1 1\nintr 500 1 2\nctxt 900\n", 100)
    later = parse_host_cpu("cpu  20 2 9 150 3 1 4 4 0 0\nintr 700 1 2\nctxt 1000\n", 100)

    assert first == HostCpu(120_000_000, 50_000_000, 30_000_000, 1_030_000_000, 40_000_000, 500, 900)
    assert later.since(first) == HostCpu(100_000_000, 40_000_000, 20_000_000, 500_000_000, 0, 200, 100)
    assert later.since(first).busy_ns == 160_000_000


def test_old_kernels_print_fewer_columns() -> None:
    assert parse_host_cpu("cpu  1 0 1 1\n", 100).stolen_ns == 0


def test_accounting_and_device_counters_are_bytes() -> None:
    assert parse_accounting("rchar: 1\nread_bytes: 8192\nwrite_bytes: 512\n") == Accounting(8192, 512)
    assert parse_device_counters("10 0 16 0 5 0 8 0 0 0 0") == DeviceCounters(8192, 4096)


def test_kernel_threads_are_told_from_processes_and_joined_by_family() -> None:
    tail = "0 -1 {flags} 0 0 0 0 30 12 0 0 20 0 1 0 5 0 0"
    thread = "77 (kworker/3:2-events) I 2 0 0 " + tail.format(flags=0x00208060)
    process = "78 (a (b) c) S 1 1 1 " + tail.format(flags=0x00400000)

    assert parse_kernel_thread(thread) == ("kworker", 42)
    assert parse_kernel_thread(process) is None


def test_nfs_bytes_are_those_of_the_one_mount() -> None:
    text = (
        "device rootfs mounted on / with fstype rootfs\n"
        "device srv:/a mounted on /mnt/a with fstype nfs statvers=1.1\n\tbytes:\t1 2 3 4 5 6 7 8\n"
        "device srv:/b mounted on /mnt/b with fstype nfs4 statvers=1.1\n\tbytes:\t10 20 30 40 50 60 70 80\n"
    )

    assert parse_nfs_bytes(text, "/mnt/b") == NfsBytes(30, 40, 50, 60)
    assert parse_nfs_bytes(text, "/mnt") is None
