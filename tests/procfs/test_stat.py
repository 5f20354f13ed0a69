"""CPU time of the host and of processes in ticks, pressure, and which CPUs are offline."""

from pathlib import Path

import pytest

from sizeup.procfs.stat import (
    HostStat,
    Pressure,
    ProcessStat,
    find_offline,
    parse_pressure,
    parse_process_stat,
    parse_stat,
)
from trees import grow

PROCESS = "S 1 1 1 0 -1 {flags} 0 0 0 0 30 12 0 0 20 0 1 0 5 0 0"


def test_the_host_is_the_line_of_all_cpus() -> None:
    stat = parse_stat("cpu  10 2 5 100 3 1 2 4 0 0\ncpu0 1 1 1 1 1 1 1 1\nintr 500 1 2\nctxt 900\n")

    assert stat == HostStat(10, 2, 5, 100, 3, 1, 2, 4, interrupts=500, switches=900)
    assert (stat.idle_total, stat.total) == (103, 127)


@pytest.mark.parametrize(
    "text",
    ["", "cpu  1 0 1 1\n", "cpu0 1 1 1 1 1 1 1 1\n", "cpu  1 0 x 1 1 1 1 1\n", f"cpu  {'9' * 5000} 0 1 1 1 1 1 1\n"],
)
def test_a_state_that_is_missing_is_not_0(text: str) -> None:
    assert parse_stat(text) is None


def test_a_name_may_hold_blanks_and_parentheses() -> None:
    stat = parse_process_stat("78 (a (b) c) " + PROCESS.format(flags=0x00400000))

    assert stat == ProcessStat("a (b) c", 0x00400000, 42, 5)
    assert not stat.kernel_thread


def test_a_kernel_thread_is_told_by_its_flag() -> None:
    stat = parse_process_stat("77 (kworker/3:2-events) " + PROCESS.format(flags=0x00208060))

    assert stat.kernel_thread


@pytest.mark.parametrize("text", ["", "78", "78 (x) S 1 1", "78 (x) " + PROCESS.format(flags="x")])
def test_what_is_no_process_is_none(text: str) -> None:
    assert parse_process_stat(text) is None


FULL = "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"


def test_pressure_is_the_some_line() -> None:
    text = f"some avg10=12.50 avg60=3.00 avg300=1.00 total=123456\n{FULL}"

    assert parse_pressure(text) == Pressure(12.5, 123456)


@pytest.mark.parametrize(
    "text", ["", FULL, "some avg10=nan total=1", f"some avg10={'9' * 400} total=1", "some avg10=1"]
)
def test_what_is_no_pressure_is_none(text: str) -> None:
    assert parse_pressure(text) is None


def test_a_cpu_is_offline_by_its_file_or_when_it_was_removed(tmp_path: Path) -> None:
    root = grow(
        tmp_path,
        """
        /sys/devices/system/cpu/cpu0/topology/core_id = 0
        /sys/devices/system/cpu/cpu1/online = 1
        /sys/devices/system/cpu/cpu2/online = 0
        /sys/devices/system/cpu/cpu1500/online = 0
        """,
    )

    assert find_offline(range(4), f"{root}/sys") == (2, 3), "the first CPU has no such file and is online"
    assert find_offline((1, 1500), f"{root}/sys") == (1500,)


def test_without_the_kernels_files_nothing_is_claimed(tmp_path: Path) -> None:
    assert find_offline((0, 1), str(tmp_path)) == ()
    root = grow(tmp_path, "/sys/devices/system/cpu/online = 0-1")
    assert find_offline((0, 1), f"{root}/sys") == ()
