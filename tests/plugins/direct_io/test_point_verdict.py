"""Each check of a point gets what is known about the target and its storage."""

import os
from pathlib import Path

import pytest

from fakes import HandContext
from plugins.direct_io.test_options import plan
from plugins.direct_io.test_options import stage as stage  # noqa: PLC0414 -- a fixture
from sizeup.model.plan import SettingValue
from sizeup.model.sample import Estimate
from sizeup_direct_io import binding, checks, point_verdict, target_setup
from sizeup_direct_io.probe import DirectIo
from sizeup_direct_io.target import open_target


def reasons(folder: Path, part: str, settings: dict[str, SettingValue]) -> list[str]:
    """Return the reasons of a check at each point of a run on a stage."""
    found = DirectIo().run(plan(folder, settings), HandContext())
    return [
        str(emission.extra["reasons"])
        for emission in found
        if isinstance(emission, Estimate)
        and emission.series == "validity"
        and emission.at["part"] == part
        and "workload" in emission.at
    ]


@pytest.mark.usefixtures("stage")
def test_the_array_beneath_the_target_is_a_caveat_of_each_point_by_its_working_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(point_verdict, "storage_systems", lambda _: ("Fibre Channel array",))
    monkeypatch.setattr(point_verdict, "is_virtual", lambda _: False)
    whole = reasons(tmp_path, "physical", {"preset": "single-read", "cache_size": 64 << 20})
    parts = reasons(tmp_path, "physical", {"preset": "working-set", "cache_size": 64 << 20})

    print(whole, parts)
    assert all("Fibre Channel array: its cache (64 MiB, cache_size) holds at most" in each for each in whole)
    assert "may serve much of the working set" in parts[0]
    assert "holds at most" in parts[-1]


@pytest.mark.usefixtures("stage")
def test_random_requests_alone_are_compared_with_the_mechanics_of_disks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(point_verdict, "rotating_disks", lambda _: 1)
    monkeypatch.setattr("sizeup_direct_io.validity.ROTATING_IOPS", 1)
    random = reasons(tmp_path, "physical", {"preset": "single-read"})
    sequential = reasons(tmp_path, "physical", {"preset": "dss-scan"})

    assert all("random IOPS exceed what a rotating disk can deliver" in each for each in random)
    assert not any("rotating" in each for each in sequential)


@pytest.mark.usefixtures("stage")
def test_each_existing_path_is_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_setup, "open_target", open_target)
    data, blank = tmp_path / "data", tmp_path / "blank"
    data.write_bytes(os.urandom(16 << 20))
    blank.write_bytes(bytes(16 << 20))
    try:
        os.close(os.open(data, os.O_RDONLY | os.O_DIRECT))
    except OSError as error:
        pytest.skip(f"{tmp_path} takes no direct I/O: {error}")
    main, first, second, together, also_first, also_second = reasons(
        tmp_path, "physical", {"preset": "single-read", "ramps": 1, "path": str(data), "more_paths": str(blank)}
    )

    assert "64 blocks that were sampled before the run hold data" in main
    assert "64 blocks that were sampled before the run hold data" in first
    assert "64 of 64 sampled blocks are zero" in second
    assert f"{blank}: 64 of 64 sampled blocks are zero" in together, "the worst of all, with its path"
    assert "hold data" in also_first
    assert "64 of 64 sampled blocks are zero" in also_second


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize(
    ("writes", "disks", "caveat"),
    [(True, 0, True), (True, 2, False), (False, 0, False)],
    ids=["flash or unknown", "rotating disks", "reads"],
)
def test_writes_have_a_caveat_unless_disks_rotate(
    writes: bool, disks: int, caveat: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(point_verdict, "rotating_disks", lambda _: disks)
    if not writes:
        monkeypatch.setattr(binding.IoInterval, "written_bytes", 0, raising=False)
    found = reasons(tmp_path, "steady", {"preset": "redo"})

    assert found
    assert all(("not preconditioned" in each) is caveat for each in found)


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize("cache", ["write through", "write back"])
def test_the_cost_of_a_flush_is_judged_by_the_write_cache_of_the_target(
    cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "write_cache", lambda _: cache)
    found = DirectIo().run(plan(tmp_path, {"preset": "fsync"}), HandContext())
    (cost,) = [emission for emission in found if isinstance(emission, Estimate) and emission.series == "flush-cost"]

    assert cost.value == 0
    assert cost.extra["write_cache"] == cache
    assert bool(cost.caveats) is (cache == "write back")
