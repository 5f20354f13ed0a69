"""Whole runs on a small file: what is yielded, and what is concluded from it."""

import errno
import math
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from declared import series_of
from plugins.direct_io.small_runs import MANIFEST, run, step
from sizeup.errors import SizeupError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Refusal
from sizeup.model.sample import Estimate, Samples
from sizeup.probing.api import Emission
from sizeup.procfs.process import read_mount
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.sizing.input_value import UnusedMeasurement
from sizeup.sizing.inputs.measured import measured
from sizeup_direct_io import run as run_module
from sizeup_direct_io import target as target_module
from sizeup_direct_io import window_counters
from sizeup_direct_io.call_with_timeout import StalledError
from sizeup_direct_io.probe import DirectIo
from sizeup_direct_io.target import TargetSetup


def test_without_a_path_there_is_nothing_to_do() -> None:
    defaults = {parameter.name: parameter.default for parameter in MANIFEST.parameter}
    (refusal,) = DirectIo().plan(Machine(), {name: value for name, value in defaults.items() if value is not None})

    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("no target")


def test_a_ramp_yields_live_samples_estimates_and_a_verdict_and_leaves_no_file(folder: Path) -> None:
    emissions = list(run(step(folder)))

    estimates = [emission for emission in emissions if isinstance(emission, Estimate)]
    declared = {series.name for series in MANIFEST.series}
    assert {emission.series for emission in emissions if isinstance(emission, Samples | Estimate)} <= declared
    # On a host that is busy to the brim the ramp may end early.
    assert [e.at["queue_depth"] for e in estimates if e.series == "iops"] in ([1], [1, 2])
    verdicts = {e.at["part"]: e.extra["verdict"] for e in estimates if e.series == "validity"}
    assert verdicts.keys() >= {"direct", "physical", "steady"}
    assert verdicts["direct"] in {"pass", "fail"}, "of a file that was written it is known"
    assert any(isinstance(emission, Samples) for emission in emissions)
    assert list(folder.iterdir()) == []
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    mount = read_mount(descriptor)
    os.close(descriptor)
    assert {e.extra["mount_point"] for e in estimates if e.series in {"iops", "rate"}} == {mount.point}


def test_latency_bands_are_live_four_times_a_second_for_reads_and_writes_apart(folder: Path) -> None:
    emissions = list(run(step(folder, preset="custom", read_percent=50, depth=2, seconds=2.0)))
    live = [emission for emission in emissions if isinstance(emission, Samples)]

    bands = {f"latency-{band}" for band in ("p50", "p90", "p99", "p999")}
    assert {(s.series, s.at["direction"]) for s in live if s.series in bands} == {
        (band, direction) for band in bands for direction in ("read", "write")
    }
    assert {s.series for s in live} == bands | {"iops", "rate", "in-flight", "cpu"}
    times_ns = sorted({s.t_ns[0] for s in live if s.series == "latency-p999" and s.at["direction"] == "read"})
    apart_ns = [later - earlier for earlier, later in pairwise(times_ns)]
    assert min(apart_ns) < 0.4e9, "a busy host lengthens some, and shortens none"
    by_time = {band: [s.values[0] for s in live if s.series == band and s.at["direction"] == "read"] for band in bands}
    assert all(
        p50 <= p90 <= p99 <= p999
        for p50, p90, p99, p999 in zip(
            *(by_time[f"latency-{band}"] for band in ("p50", "p90", "p99", "p999")), strict=True
        )
    )


@pytest.mark.parametrize(
    ("preset", "conclusion"),
    [
        ("oltp-7030", "latency-p99"),
        ("single-read", "iops"),
        ("dss-rand", "page-gain"),
        ("dss-scan", "page-gain"),
        ("simple", "knee"),
        ("normal", "matrix-rate"),
        ("redo", "redo-p50"),
        ("redo+oltp", "redo-slowdown"),
        ("load", "rate"),
        ("fsync", "flush-cost"),
        ("calibrate", "calibrate-iops"),
        ("custom", "iops"),
    ],
)
def test_every_preset_answers_its_question(folder: Path, preset: str, conclusion: str) -> None:
    depth = 4 if preset == "dss-scan" else 2
    emissions = list(run(step(folder, preset=preset, size=64 << 20, warmup=0.2, depth=depth)))

    declared = {series.name for series in MANIFEST.series}
    found = {emission.series for emission in emissions if isinstance(emission, Samples | Estimate)}
    withheld = {emission.subject for emission in emissions if isinstance(emission, Gap)}
    assert found <= declared
    assert conclusion in found or any(conclusion in subject for subject in withheld)
    assert list(folder.iterdir()) == []
    if preset == "redo+oltp":  # alone at the first point, beside the data at the second
        bands = [s for s in emissions if isinstance(s, Samples) and s.series == "latency-p99"]
        assert {s.at.get("stream") for s in bands} == {None, "log", "small"}


def test_a_ramp_ends_at_the_limit_of_its_99th_percentile_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "CPU_BOUND", math.inf)  # a busy host ends a ramp too, with another reason
    emissions = list(run(step(folder, depth=8, p99_limit=1e-9)))

    assert {e.at["queue_depth"] for e in emissions if isinstance(e, Estimate) and e.series == "iops"} == {1}
    (gap,) = [e for e in emissions if isinstance(e, Gap) and "queue depth" in e.subject]
    assert "exceeds p99_limit" in gap.reason


@pytest.mark.ci
def test_every_second_ramp_goes_backward_and_the_record_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "CPU_BOUND", math.inf)
    found = [e for e in run(step(folder, ramps=3)) if isinstance(e, Estimate)]

    points = [e for e in found if e.series == "iops"]
    assert [e.at["queue_depth"] for e in points] == [1, 2, 2, 1, 1, 2]
    assert [e.extra["ramp_order"] for e in points[-2:]] == ["forward, backward, forward"] * 2
    (knee,) = [e for e in found if e.series == "knee"] or [None]
    assert knee is None or knee.replicates == 3  # on a host that others use, it is withheld


def test_a_sweep_over_working_sets_judges_its_points_and_says_what_is_behind_the_target(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_counters.BackgroundLoad, "background_caveats", ())
    emissions = [e for e in run(step(folder, preset="working-set", depth=2)) if isinstance(e, Estimate)]

    sizes = [e.at["working_set_bytes"] for e in emissions if e.series == "iops"]
    assert sizes == [32 << 20 >> shift for shift in (4, 3, 2, 1, 0)]
    (said,) = [e for e in emissions if e.series == "working-set-gain"]
    assert "statement" in said.extra
    last = [e for e in emissions if e.series == "validity" and e.at.get("working_set_bytes") == 32 << 20][-1]
    assert "working set" in str(last.extra["reasons"]) or "a cache of at least" in str(last.extra["reasons"])


def test_a_rate_above_the_path_is_marked_and_stays_out_of_sizing(folder: Path) -> None:
    planned = step(folder, path_limit=1e3, depth=1)
    kept = StepRun(planned, "sizeup", series_of("io.direct"), "curve", 0)
    for emission in run(planned):
        if isinstance(emission, Estimate):
            key = point_key(emission.series, emission.at)
            kept.points[key] = Point(emission.series, emission.at, estimate=emission)
    header = SessionRecord(format=1, id="1", tool="sizeup", host="host", started="2026-11-20T00:00:00Z")

    assert any(point.series == "rate" for point in kept.points.values())
    found = measured(Session(header, steps={planned.id: kept}))
    assert found
    assert all(isinstance(quantity, UnusedMeasurement) for quantity in found.values())


def test_the_run_ends_with_one_verdict_on_all_of_it(folder: Path) -> None:
    emissions = [e for e in run(step(folder)) if isinstance(e, Estimate) and e.series == "validity"]

    assert emissions[-1].at == {"part": "all"}
    assert str(emissions[-1].extra["statement"]).startswith("Storage figures ")
    evidence = str(emissions[-1].extra["evidence"]).splitlines()
    concurrent = [emission for emission in emissions if emission.at == {"part": "concurrent"}][-1]
    assert "writers to one file: not checked" in str(concurrent.extra["reasons"])
    # On a busy host six graver reasons may stand before it.
    assert any(line.startswith("writers to one file: not checked") for line in evidence) or len(evidence) == 7
    assert {e.at["part"] for e in emissions if set(e.at) == {"part"}} == {
        "all",
        "concurrent",
        "direct",
        "physical",
        "steady",
        "submitters",
    }


def test_writers_to_one_file_are_compared_with_writers_to_their_own(folder: Path) -> None:
    emissions = run(step(folder, size=256 << 20, depth=1))
    verdicts = [e for e in emissions if isinstance(e, Estimate) and e.at.get("part") == "concurrent"]

    assert [verdict.extra["verdict"] for verdict in verdicts] != ["unknown"]


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (OSError(errno.ESTALE, "stale"), r": ESTALE \(.+\): .+ mount it again; .+"),
        (SizeupError("7 requests failed"), ": 7 requests failed"),
        (StalledError("stalled: nothing"), ": stalled: nothing"),
    ],
)
def test_what_fails_is_told_with_the_place_it_failed_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception, words: str
) -> None:
    def fail(*arguments: object, **settings: object) -> Iterator[Emission]:
        raise raised
        yield

    monkeypatch.setattr(TargetSetup, "prepare", fail)

    with pytest.raises(SizeupError, match=f"^{re.escape(str(tmp_path))}{words}$"):
        list(run(step(tmp_path)))


@pytest.mark.parametrize("removed", [True, False])
def test_a_device_that_was_removed_during_the_run_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, removed: bool
) -> None:
    device = folder / "sys" / "nvme3n1"
    device.mkdir(parents=True)
    monkeypatch.setattr(target_module, "find_device_folder", lambda _: str(device))

    def fail(*_: object) -> Iterator[Emission]:
        if removed:
            device.rmdir()
        raise SizeupError("no request succeeded")
        yield

    monkeypatch.setattr(run_module, "measure_background", fail)

    with pytest.raises(SizeupError) as raised:
        list(run(step(folder)))
    loss = f"; device nvme3n1 of {folder} was removed during the run; see the kernel log" if removed else ""
    assert str(raised.value) == f"{folder}: no request succeeded{loss}"
