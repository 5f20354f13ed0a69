"""A small run of io.direct under a filter of the kernel that answers system calls in another way."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

END_PROCESS = 0x80000000
FAIL_WITH = 0x00050000
"""What a filter answers a call with; the number of an error is added to this one."""
_TESTS = Path(__file__).parents[2]
_PROGRAM = """
import ctypes, json, struct, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from plugins.direct_io.small_runs import run, step
from sizeup.model.sample import Estimate, Samples
from sizeup_direct_io import window_counters
window_counters.BACKGROUND_SECONDS = 0.1
instructions = [(0x20, 0, 0, 0)]  # load the number of the system call
for number, answer in json.loads(sys.argv[3]):
    instructions += [(0x15, 0, 1, number), (0x06, 0, 0, answer)]
instructions.append((0x06, 0, 0, 0x7FFF0000))
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in instructions))
program = struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
planned = step(Path(sys.argv[2]), **json.loads(sys.argv[4]))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(program)):
    sys.exit(77)
"""


def run_under_a_filter(
    answers: Iterable[tuple[int, int]], target: Path, then: str, **settings: str | int
) -> subprocess.CompletedProcess[str]:
    """Run on a target with an answer to some numbers of calls; ``then`` is what is done with ``run(planned)``."""
    given = [str(_TESTS), str(target), json.dumps([*answers]), json.dumps(settings)]
    done = subprocess.run([sys.executable, "-c", _PROGRAM + then, *given], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("no seccomp filters here")
    if "does not support O_DIRECT" in done.stderr:
        pytest.skip("no direct I/O here")
    return done
