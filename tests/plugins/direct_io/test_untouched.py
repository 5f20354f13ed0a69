"""A file that was there before is read, and nothing is done to it, to its cached pages or to what waits to be written.

The system calls themselves are watched: a filter of the kernel ends the process at the first of the others. What FIEMAP
is asked with lies behind a pointer that no filter can follow; the C test of direct_io_target watches that.
"""

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
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
PROGRAM = """
import ctypes, os, struct, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from plugins.direct_io import small_runs
from sizeup_direct_io import background
background.BACKGROUND_SECONDS = 0.1
instructions = [(0x20, 0, 0, 0)]  # load the number of the system call
for number in sys.argv[3].split(","):
    instructions += [(0x15, 0, 1, int(number)), (0x06, 0, 0, 0x80000000)]  # this one: end the process
instructions.append((0x06, 0, 0, 0x7FFF0000))
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in instructions))
program = struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
planned = small_runs.step(Path(sys.argv[2]), depth=1)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(program)):
    sys.exit(77)
print(sum(getattr(emission, "series", "") == "iops" for emission in small_runs.run(planned)))
"""


def run_under_a_filter(target: Path) -> subprocess.CompletedProcess[str]:
    assert FORBIDDEN is not None
    numbers = ",".join(str(number) for number in FORBIDDEN.values())
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(TESTS), str(target), numbers], capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        pytest.skip("no seccomp filters here")
    if "does not support O_DIRECT" in done.stderr:
        pytest.skip("no direct I/O here")
    return done


@pytest.mark.skipif(FORBIDDEN is None, reason="the numbers of the system calls are not known for this architecture")
def test_an_existing_file_is_only_read_and_its_pages_are_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(os.urandom(1 << 20) * 32)
    before = target.stat()

    done = run_under_a_filter(target)

    assert done.returncode == 0, f"ended by {done.returncode}: {done.stderr}"
    assert int(done.stdout) > 0
    after = target.stat()
    assert (after.st_mtime_ns, after.st_ctime_ns) == (before.st_mtime_ns, before.st_ctime_ns)


@pytest.mark.skipif(FORBIDDEN is None, reason="the numbers of the system calls are not known for this architecture")
def test_the_filter_sees_what_is_done_to_a_file_of_our_own(tmp_path: Path) -> None:
    done = run_under_a_filter(tmp_path)

    assert done.returncode == -signal.SIGSYS
