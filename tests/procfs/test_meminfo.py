"""Memory in bytes, of the machine and of one node."""

import pytest

from sizeup.procfs.meminfo import parse_meminfo


@pytest.mark.parametrize("start", ["", "Node 0 "])
def test_sizes_are_bytes_and_counts_stay_counts(start: str) -> None:
    text = f"{start}MemFree:  123 kB\n{start}Active(anon):  1 kB\n{start}HugePages_Total:  4\n{start}Odd: x kB\n"

    assert parse_meminfo(text) == {"MemFree": 123 * 1024, "Active(anon)": 1024, "HugePages_Total": 4}
