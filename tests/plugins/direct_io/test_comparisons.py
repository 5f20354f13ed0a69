"""Whole runs that compare: several paths, and two engines."""

from pathlib import Path

import pytest

from plugins.direct_io.small_runs import run, step
from sizeup.model.machine import Gap
from sizeup.model.plan import SettingValue
from sizeup.model.sample import Estimate
from sizeup_direct_io.disks import read_disks

pytestmark = pytest.mark.ci


def test_several_paths_are_measured_alone_and_together(folder: Path) -> None:
    for name in ("a", "b", "c"):
        (folder / name).mkdir()

    emissions = [
        e
        for e in run(step(folder / "a", more_paths=f"{folder / 'b'}:{folder / 'c'}", depth=1))
        if isinstance(e, Estimate)
    ]
    (scaling,) = [e for e in emissions if e.series == "scaling"]
    alone = {e.at["path"]: e.value for e in emissions if e.series == "iops" and "path" in e.at}
    checked = {e.at["path"] for e in emissions if e.series == "validity" and "path" in e.at}

    together = alone.pop("all together")
    assert scaling.at["paths"] == 3
    assert list(alone) == [str(folder / name) for name in ("a", "b", "c")]
    assert scaling.value == pytest.approx(together / sum(alone.values()))
    assert checked == {*alone, "all together"}
    assert "The paths share disks" in str(scaling.extra["consequence"]) or not read_disks(folder.stat().st_dev)
    assert str(scaling.extra["statement"]).startswith("3 paths together reach")


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
