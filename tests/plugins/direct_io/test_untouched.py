"""A file that was there before is read, and nothing is done to it, to its cached pages or to what waits to be written.

The system calls themselves are watched: a filter of the kernel ends the process at the first of the others. What FIEMAP
is asked with lies behind a pointer that no filter can follow; the C test of direct_io_target watches that.
"""

import os
import platform
import signal
import subprocess
from pathlib import Path

import pytest

from plugins.direct_io.filtered import END_PROCESS, run_under_a_filter

FORBIDDEN = {
    "x86_64": {
        "fsync": 74, "fdatasync": 75, "truncate": 76, "ftruncate": 77, "sync": 162, "fadvise64": 221,
        "sync_file_range": 277, "fallocate": 285, "syncfs": 306, "pwrite64": 18, "pwritev": 296, "pwritev2": 328,
    },
    "aarch64": {
        "fsync": 82, "fdatasync": 83, "truncate": 45, "ftruncate": 46, "sync": 81, "fadvise64": 223,
        "sync_file_range": 84, "fallocate": 47, "syncfs": 267, "pwrite64": 68, "pwritev": 70, "pwritev2": 287,
    },
}.get(platform.machine())  # fmt: skip
COUNT = 'print(sum(getattr(emission, "series", "") == "iops" for emission in run(planned)))'


def run_watched(target: Path) -> subprocess.CompletedProcess[str]:
    assert FORBIDDEN is not None
    return run_under_a_filter([(number, END_PROCESS) for number in FORBIDDEN.values()], target, COUNT, depth=1)


@pytest.mark.skipif(FORBIDDEN is None, reason="the numbers of the system calls are not known for this architecture")
def test_an_existing_file_is_only_read_and_its_pages_are_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(os.urandom(1 << 20) * 32)
    before = target.stat()

    done = run_watched(target)

    assert done.returncode == 0, f"ended by {done.returncode}: {done.stderr}"
    assert int(done.stdout) > 0
    after = target.stat()
    assert (after.st_mtime_ns, after.st_ctime_ns) == (before.st_mtime_ns, before.st_ctime_ns)


@pytest.mark.skipif(FORBIDDEN is None, reason="the numbers of the system calls are not known for this architecture")
def test_the_filter_sees_what_is_done_to_a_file_of_our_own(tmp_path: Path) -> None:
    done = run_watched(tmp_path)

    assert done.returncode == -signal.SIGSYS
