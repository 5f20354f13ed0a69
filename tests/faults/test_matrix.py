"""Every fault at every stage of a run: it ends in time and with words, loses nothing and leaves nothing."""

import itertools
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.scenes import FAULTS, STAGES, Scene, compiled, said, sessions

pytestmark = pytest.mark.ci
STATUSES = {0, 1, 2, 3, 129, 130, 143}
SECONDS = 30


def _namespaces() -> bool:
    return subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0


CELLS = [
    (stage, fault)
    for stage, fault in itertools.product(STAGES, FAULTS)
    if STAGES[stage].in_worker or not FAULTS[fault].in_worker_only
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not _namespaces():
        pytest.skip("this kernel lets nobody make a namespace")
    return compiled(tmp_path_factory.mktemp("calls"))


@pytest.fixture
def scene(tmp_path: Path, library: Path) -> Iterator[Scene]:
    made = Scene(tmp_path / "scene", library)
    yield made
    made.close()


@pytest.mark.parametrize(("stage", "fault"), CELLS)
def test_a_fault_at_a_stage(scene: Scene, stage: str, fault: str) -> None:
    at, made = STAGES[stage], FAULTS[fault]
    at.before(scene)

    scene.go(at, made.action, made.make)

    told = scene.output + scene.errors
    print(scene.status, f"{scene.seconds:.1f} s", told)
    assert "Traceback" not in told
    assert scene.left() == []
    assert scene.seconds < SECONDS
    assert scene.status in ({-signal.SIGKILL} if made.kills_runner else STATUSES)
    assert all(malformed <= made.kills_runner for malformed in sessions(scene))
    if made.words and scene.status != 0:
        assert said(scene, made.words)
    if scene.status not in (0, -signal.SIGKILL):
        assert told.strip(), "a failure that says nothing"
