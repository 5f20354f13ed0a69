"""CPU time of the host and of processes, in ticks."""

import pytest

from sizeup.procfs.stat import HostStat, ProcessStat, parse_process_stat, parse_stat

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
