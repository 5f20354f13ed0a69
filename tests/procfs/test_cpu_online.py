"""Which CPUs are offline, by the kernel's files alone."""

from pathlib import Path

from sizeup.procfs.stat import find_offline
from trees import grow


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
