"""A run killed at any moment leaves a file that opens, holds what was written, and can be completed."""

import random
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from sizeup.session.reader import read_session
from sizeup.session.records import ENCODER, AnyRecord
from sizeup.session.value import Session


def samples(session: Session) -> int:
    runs = [*session.steps.values(), *session.earlier_attempts]
    return sum(len(point.values) for run in runs for point in run.points.values())


def read(path: Path) -> tuple[Session, list[object]]:
    """The session, and each record that the reader accepted, as the JSON value it stands for (2 and 2.0 are one)."""
    kept: list[AnyRecord] = []
    session = read_session(str(path), kept.append)
    return session, [msgspec.json.decode(ENCODER.encode(record)) for record in kept]


@pytest.mark.parametrize(
    "seed",
    [
        *(pytest.param(seed, marks=pytest.mark.ci) for seed in range(8)),
        *(pytest.param(seed, marks=pytest.mark.long) for seed in range(8, 200)),
    ],
)
def test_kill_9_at_a_random_moment_loses_nothing_that_was_written(
    tmp_path: Path, environment: dict[str, str], seed: int
) -> None:
    path = tmp_path / "run"
    command = [sys.executable, "-m", "sizeup", "--batch", "-q"]
    plan = ["-p", "null", "--set", "null.samples=100", "--set", "null.interval=0.5ms", "--repeat", "3"]
    process = subprocess.Popen([*command, *plan, "-o", path], env=environment, stdout=subprocess.DEVNULL)
    while process.poll() is None and not (path.exists() and path.stat().st_size):
        time.sleep(0.001)  # however slow this machine is, it is killed after its first record
    time.sleep(random.Random(seed).uniform(0, 0.5))

    process.kill()
    process.wait()

    data = path.read_bytes()
    whole, _, torn = data.rpartition(b"\n")
    before, kept = read(path)
    assert before.damage.torn == bool(torn)
    assert before.damage.malformed == 0
    assert kept == [msgspec.json.decode(line) for line in whole.split(b"\n")]
    if before.plan is None:
        return  # killed while it looked at the machine: there is nothing to complete
    subprocess.run([*command, "--resume", path], env=environment, check=True, stdout=subprocess.DEVNULL)
    after, kept_after = read(path)
    assert path.read_bytes().startswith(data)
    assert kept_after[: len(kept)] == kept
    assert [run.finished for run in after.steps.values()] == [True] * 3
    assert after.missing_steps == ()
    assert samples(after) >= samples(before)
