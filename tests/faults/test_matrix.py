"""Every fault at every stage of a run: it ends in time and with words, loses nothing and leaves nothing."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.scenes import CELLS, FAULTS, STAGES, Scene, compiled, namespaces, own_tests, said, sessions

pytestmark = pytest.mark.ci
STATUSES = {0, 1, 2, 3, 129, 130, 143}
SECONDS = 30


def _in_gate(cell: tuple[str, str]) -> bool:
    """One cell of six; the others take as long as a gate may."""
    stage, fault = cell
    return fault != "clock set back 1 h" and (list(STAGES).index(stage) + list(FAULTS).index(fault)) % 6 == 0


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not namespaces():
        pytest.skip("this kernel lets nobody make a namespace")
    return compiled(tmp_path_factory.mktemp("calls"))


@pytest.fixture
def scene(tmp_path: Path, library: Path) -> Iterator[Scene]:
    made = Scene(tmp_path / "scene", library)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("stage", "fault"), [pytest.param(*cell, marks=[] if _in_gate(cell) else pytest.mark.long) for cell in CELLS]
)
def test_a_fault_at_a_stage(scene: Scene, stage: str, fault: str) -> None:
    at, made = STAGES[stage], FAULTS[fault]
    at.before(scene)

    scene.go(at, made.action, made.make)

    told = scene.output + scene.errors
    print(scene.status, f"{scene.seconds:.1f} s", told)
    assert "Traceback" not in told
    assert scene.left() == []
    assert scene.seconds < SECONDS
    killed = made.kills_runner or (made.kills_held and not at.in_worker)
    of_run = stage not in ("export", "export written")
    if killed:
        assert scene.status == -signal.SIGKILL
    elif of_run:
        assert scene.status in STATUSES
    elif not set(scene.out.iterdir()) <= {scene.out / "page"} or scene.status:
        assert list(scene.out.iterdir()) == []
    assert all(malformed <= killed for malformed in sessions(scene))
    if made.words and scene.status > 0:
        assert said(scene, made.words)
    if scene.status > 0 and (of_run or scene.status < 128):
        assert told.strip(), "a failure that says nothing"


def test_tests_of_other_stages_are_there() -> None:
    root = Path(__file__).parents[2]
    for test in own_tests():
        path, _, name = test.partition("::")
        assert re.search(rf"^def {name}\(", (root / path).read_text(), re.MULTILINE), test
