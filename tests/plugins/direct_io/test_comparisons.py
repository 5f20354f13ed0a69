"""Whole runs that compare: several paths, and two engines."""

from pathlib import Path

import pytest

from plugins.direct_io.small_runs import run, step
from sizeup.model.machine import Gap
from sizeup.model.plan import SettingValue
from sizeup.model.sample import Estimate

pytestmark = pytest.mark.ci


def test_another_engine_is_held_against_the_runs_own(folder: Path) -> None:
    emissions = list(run(step(folder, engine="aio", compare_engine="threads", depth=1)))

    (gain,) = [e for e in emissions if isinstance(e, Estimate) and e.series == "engine-gain"]
    assert (gain.at["engines"], gain.replicates) == ("aio over threads", 5)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"engine": "aio", "compare_engine": "threads", "preset": "load"}, "a growing file cannot be measured twice"),
        ({"engine": "aio", "compare_engine": "threads", "preset": "fsync"}, "the run itself used this engine"),
    ],
)
def test_engines_that_cannot_be_compared_are_a_gap_and_no_failure(
    folder: Path, settings: dict[str, SettingValue], reason: str
) -> None:
    emissions = list(run(step(folder, depth=1, **settings)))

    assert [e.reason for e in emissions if isinstance(e, Gap) and "compared with" in e.subject] == [reason]


def test_paths_are_compared_by_files_that_grow_too(folder: Path) -> None:
    (folder / "b").mkdir()

    emissions = list(run(step(folder, preset="load", more_paths=str(folder / "b"), depth=1)))

    (scaling,) = [e for e in emissions if isinstance(e, Estimate) and e.series == "scaling"]
    assert scaling.value > 0
