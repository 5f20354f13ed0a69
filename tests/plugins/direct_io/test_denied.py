"""Where io_uring is denied, then AIO too, the same concurrency runs on what is left, and the cause is named."""

import errno
import json
import platform
from pathlib import Path

import pytest

from plugins.direct_io.filtered import FAIL_WITH, run_under_a_filter

pytestmark = pytest.mark.ci
IO_URING_SETUP = 425
IO_SETUP = {"x86_64": 206, "aarch64": 0}.get(platform.machine())
ONE_AT_A_TIME = 2
"""Without concurrency a sample has at most so many in flight; with it, fewer than 16 while the CPU is taken away."""
FOUND = """
found, deepest = {}, 0
for emission in run(planned):
    if isinstance(emission, Samples) and emission.series == "in-flight":
        deepest = max(deepest, *emission.values)
    if isinstance(emission, Estimate) and emission.series == "iops":
        found = dict(emission.extra)
print(json.dumps([found["engine"], found["engine_reason"], deepest]))
"""


def measured_with(denied: list[tuple[int, int]], folder: Path) -> tuple[str, str, float]:
    answers = [(number, FAIL_WITH | error) for number, error in denied]
    done = run_under_a_filter(answers, folder, FOUND, preset="custom", depth=16)
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
    assert ONE_AT_A_TIME < deepest <= 16


@pytest.mark.skipif(IO_SETUP is None, reason="the number of io_setup is not known for this architecture")
def test_threads_take_over_where_both_are_denied(tmp_path: Path) -> None:
    denied = [(IO_URING_SETUP, errno.EPERM), (IO_SETUP or 0, errno.EPERM)]
    engine, reason, deepest = measured_with(denied, tmp_path)

    assert engine == "threads"
    assert "Linux AIO is not available (EPERM" in reason
    assert ONE_AT_A_TIME < deepest <= 16
