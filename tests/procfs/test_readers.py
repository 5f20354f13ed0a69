"""Each reader finds its file under the directory that it is given; what is not there is unknown, not nothing."""

import fcntl
import os
import threading
from pathlib import Path

import pytest

from sizeup.procfs import meminfo
from sizeup.procfs.block import BlockStat, read_block_stat
from sizeup.procfs.kernel_file import Unreadable, read_sysctl, read_zone_celsius
from sizeup.procfs.meminfo import (
    parse_meminfo,
    parse_swap_areas,
    read_free_by_node,
    read_huge_page_bytes,
    read_swaps,
)
from sizeup.procfs.mounts import read_mountinfo, read_nfs_bytes
from sizeup.procfs.process import (
    descriptor_path,
    list_threads,
    make_first_oom_victim,
    open_again,
    parse_flock_writers,
    read_cgroups,
    read_flock_writer,
    read_mount,
    read_process_io,
    read_scheduling,
)
from sizeup.procfs.stat import (
    parse_load_average,
    read_load_average,
    read_pressure,
    read_process_stat,
    read_processes,
    read_stat,
)


def put(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return str(root)


def test_without_files_everything_is_unknown(tmp_path: Path) -> None:
    root = str(tmp_path)

    for unknown in (
        read_stat(root), read_process_stat(1, root), read_pressure("cpu", root), read_process_io(proc=root),
        read_load_average(root), read_mountinfo(root), read_mount(0, root), read_nfs_bytes("/data", root),
        read_huge_page_bytes(root), read_sysctl("fs.aio-nr", root), read_block_stat(root),
        read_flock_writer(tmp_path.stat(), root),
    ):  # fmt: skip
        assert unknown is None
    for empty in (read_processes(root), read_free_by_node(root), read_zone_celsius(root), read_scheduling(1, root)):
        assert empty == {}
    assert read_cgroups(root) == list_threads("self", root) == ()


def test_files_of_proc_are_read_where_they_are(tmp_path: Path) -> None:
    proc = put(
        tmp_path,
        {
            "loadavg": "1.25 0.90 0.80 2/345 6789\n",
            "sys/fs/aio-nr": "128\n",
            "self/io": "read_bytes: 4096\nwrite_bytes: 8192\n",
            "self/smaps_rollup": "00400000-7fff0000 ---p 00000000 00:00 0 [rollup]\nAnonHugePages:      2048 kB\n",
            "self/fdinfo/7": "pos:\t0\nmnt_id:\t2\n",
            "self/mountinfo": "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:2 / /data rw - xfs /dev/sda2 rw\n",
            "12/task/12/status": "State:\tD (disk sleep)\nvoluntary_ctxt_switches:\t3\n",
            "12/task/13/status": "State:\tS (sleeping)\n",
        },
    )
    mount, moved = read_mount(7, proc), read_process_io(proc=proc)

    assert (read_load_average(proc), read_sysctl("fs.aio-nr", proc)) == (1.25, 128)
    assert (moved.read_bytes, moved.written_bytes) == (4096, 8192)
    assert read_huge_page_bytes(proc) == 2 << 20
    assert mount.point == "/data"
    assert read_scheduling(12, proc) == {12: ("D", 3), 13: ("S", 0)}


def test_files_of_sysfs_are_read_where_they_are(tmp_path: Path) -> None:
    sysfs = put(
        tmp_path,
        {
            "devices/system/node/node0/meminfo": "Node 0 MemFree: 1024 kB\n",
            "devices/system/node/node10/meminfo": "Node 10 MemFree: 2048 kB\n",
            "devices/system/node/node11/meminfo": "",
            "devices/system/node/online": "0,10-11\n",
            "class/thermal/thermal_zone0/temp": "41000\n",
            "class/thermal/thermal_zone1/temp": "",
            "class/thermal/cooling_device0/temp": "99000\n",
            "block/sda/stat": "9 0 100 0 9 0 200 0 0 0 0\n",
        },
    )

    assert read_free_by_node(sysfs) == {0: 1 << 20, 10: 2 << 20}
    assert read_zone_celsius(sysfs) == {"thermal_zone0": 41.0}
    assert read_block_stat(f"{sysfs}/block/sda") == BlockStat(51200, 102400)


def test_this_process_and_its_threads_are_among_all() -> None:
    assert os.getpid() in read_processes()
    assert threading.get_native_id() in list_threads()


@pytest.mark.parametrize("text", ["", "x\n", "nan 1 1\n", f"{'9' * 5000} 1 1\n"])
def test_a_load_that_is_no_number_is_unknown(text: str) -> None:
    assert parse_load_average(text) is None


def test_who_writes_a_locked_file_is_read_from_the_kernel() -> None:
    # In memory: btrfs gives a file another device number than the kernel lists its lock under.
    with open(os.memfd_create("session"), "w+b") as file:
        assert read_flock_writer(os.fstat(file.fileno())) is None
        fcntl.flock(file, fcntl.LOCK_EX)

        assert read_flock_writer(os.fstat(file.fileno())) == os.getpid()


def test_waiters_readers_and_processes_beyond_this_namespace_write_nothing() -> None:
    text = (
        "1: FLOCK  ADVISORY  WRITE 708 08:01:1234 0 EOF\n"
        "1: -> FLOCK  ADVISORY  WRITE 709 08:01:1234 0 EOF\n"
        "2: FLOCK  ADVISORY  READ 710 08:01:1235 0 EOF\n"
        "3: POSIX  ADVISORY  WRITE 711 08:01:1236 0 EOF\n"
        "4: FLOCK  ADVISORY  WRITE 0 08:01:1237 0 EOF\n"
    )

    assert parse_flock_writers(text) == {"08:01:1234": 708}


def test_swap_is_none_without_the_file_and_unknown_where_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Filename\t\t\t\tType\t\tSize\n/dev/sda2 partition 1 0 -2\n/swap\\040file file 1 0 -3\n"

    assert tuple(area.path for area in parse_swap_areas(text)) == ("/dev/sda2", "/swap file")
    assert parse_swap_areas("") == ()
    assert read_swaps(str(tmp_path)) == ()
    monkeypatch.setattr(meminfo, "read_file", lambda _: Unreadable(13))
    assert read_swaps(str(tmp_path)) is None


def test_a_file_without_a_name_is_opened_again(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w+b") as file:
        file.write(b"kept")
        file.flush()
        os.unlink(tmp_path / "file")
        again = open_again(file.fileno(), os.O_RDONLY)
        try:
            assert os.read(again, 10) == b"kept"
        finally:
            os.close(again)
        assert Path(descriptor_path(file.fileno())).read_bytes() == b"kept"


def test_the_first_to_go_says_so_and_one_that_may_not_goes_on(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()

    make_first_oom_victim(str(tmp_path))
    make_first_oom_victim(str(tmp_path / "absent"))

    assert (tmp_path / "self/oom_score_adj").read_text() == "1000"


@pytest.mark.parametrize("start", ["", "Node 0 "])
def test_sizes_are_bytes_and_counts_stay_counts(start: str) -> None:
    text = f"{start}MemFree:  123 kB\n{start}Active(anon):  1 kB\n{start}HugePages_Total:  4\n{start}Odd: x kB\n"

    assert parse_meminfo(text) == {"MemFree": 123 * 1024, "Active(anon)": 1024, "HugePages_Total": 4}


def test_of_swap_areas_as_many_are_read_as_a_kernel_has() -> None:
    text = "Filename Type Size Used Priority\n" + "/swapfile file 4 0 -2\n" * 100_000

    assert len(parse_swap_areas(text)) == 32
