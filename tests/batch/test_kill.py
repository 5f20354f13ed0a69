"""A run killed at any moment leaves a file that opens, holds what was written, and can be completed."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sizeup.session.log import Session, read_session


def samples(session: Session) -> int:
    runs = [*session.steps.values(), *session.earlier_attempts]
    return sum(len(point.values) for run in runs for point in run.points.values())


@pytest.mark.ci
@pytest.mark.parametrize("seed", range(50))
def test_kill_9_at_a_random_moment_loses_nothing_that_was_written(
    tmp_path: Path, environment: dict[str, str], seed: int
) -> None:
    path = tmp_path / "run"
    command = [sys.executable, "-m", "sizeup", "--batch", "-q"]
    plan = ["-p", "null", "--set", "null.samples=100", "--set", "null.interval=0.5ms", "--repeat", "3"]
    process = subprocess.Popen([*command, *plan, "-o", path], env=environment, stdout=subprocess.DEVNULL)
    time.sleep(random.Random(seed).uniform(0.02, 0.9))

    process.kill()
    process.wait()

    if not path.exists() or not path.stat().st_size:
        return  # killed before its first record
    whole_lines = path.read_bytes().count(b'"kind":"samples"')
    before = read_session(str(path))
    assert before.damage.malformed == 0
    assert (samples(before) > 0) == (whole_lines > before.damage.torn)
    if before.plan is None:
        return  # killed while it looked at the machine: there is nothing to complete
    subprocess.run([*command, "--resume", path], env=environment, check=True, stdout=subprocess.DEVNULL)
    after = read_session(str(path))
    assert [run.finished for run in after.steps.values()] == [True] * 3
    assert after.missing_steps == ()
    assert samples(after) >= samples(before)
