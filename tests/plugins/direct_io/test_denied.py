"""Where io_uring is denied, then AIO too, the same concurrency runs on what is left, and the cause is named."""

import errno
import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.ci
IO_URING_SETUP = 425
IO_SETUP = {"x86_64": 206, "aarch64": 0}.get(platform.machine())
TESTS = Path(__file__).parents[2]
PROGRAM = """
import ctypes, json, struct, sys
sys.path.insert(0, sys.argv[1])
denied = json.loads(sys.argv[3])
instructions = [(0x20, 0, 0, 0)]  # load the number of the system call
for number, error in denied:
    instructions += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error)]
instructions.append((0x06, 0, 0, 0x7FFF0000))
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in instructions))
program = struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(program)):
    sys.exit(77)
from pathlib import Path
from plugins.direct_io.small_runs import run, step
from sizeup.model.sample import Estimate, Samples
found = {}
deepest = 0
for emission in run(step(Path(sys.argv[2]), preset="custom", depth=16)):
    if isinstance(emission, Samples) and emission.series == "in-flight":
        deepest = max(deepest, *emission.values)
    if isinstance(emission, Estimate) and emission.series == "iops":
        found = dict(emission.extra)
print(json.dumps([found["engine"], found["engine_reason"], deepest]))
"""


def measured_with(denied: list[tuple[int, int]], folder: Path) -> tuple[str, str, float]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(TESTS), str(folder), json.dumps(denied)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("no seccomp filters here")
    if "does not support O_DIRECT" in done.stderr:
        pytest.skip("no direct I/O here")
    assert done.returncode == 0, done.stderr
    engine, reason, deepest = json.loads(done.stdout)
    return engine, reason, deepest


@pytest.mark.parametrize(
    ("error", "cause"),
    [(errno.EPERM, "seccomp filter or security module"), (errno.ENOSYS, "this kernel has no io_uring")],
)
def test_linux_aio_takes_over_with_the_cause_named(tmp_path: Path, error: int, cause: str) -> None:
    engine, reason, deepest = measured_with([(IO_URING_SETUP, error)], tmp_path)

    assert engine == "aio"
    assert cause in reason
    assert 12 <= deepest <= 16


@pytest.mark.skipif(IO_SETUP is None, reason="the number of io_setup is not known for this architecture")
def test_threads_take_over_where_both_are_denied(tmp_path: Path) -> None:
    denied = [(IO_URING_SETUP, errno.EPERM), (IO_SETUP or 0, errno.EPERM)]
    engine, reason, deepest = measured_with(denied, tmp_path)

    assert engine == "threads"
    assert "Linux AIO is not available (EPERM" in reason
    assert 12 <= deepest <= 16
