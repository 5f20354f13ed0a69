"""The search for a write cliff: by hand, in simulated series, and in a run on a small file."""

import os
import random
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from fakes import HandContext
from plugins.direct_io.hand_made import interval, window
from plugins.direct_io.small_runs import run, step
from plugins.direct_io.staging import MakeMount, watched
from sizeup.errors import RefusedError
from sizeup.model.machine import Gap
from sizeup.model.plan import Gentle
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Emission
from sizeup_direct_io import sustained
from sizeup_direct_io.binding import IoJob
from sizeup_direct_io.estimates import PointResult
from sizeup_direct_io.measure import Next
from sizeup_direct_io.presets import sweeps
from sizeup_direct_io.settings import RunSettings
from sizeup_direct_io.sustained import AFTER, FEWEST, CliffWatch, find_cliff

((POINT,),) = (sweep.points for sweep in sweeps("sustained", depth=0, pages="both"))
SETUP: Any = SimpleNamespace(
    keep_reserve=lambda: None,
    target=SimpleNamespace(mount=SimpleNamespace(point="/u01"), device_number=0, size_bytes=1 << 30),
)
BLOCK = 8192


class Watched:
    """What a watch makes of one rate a second, sampled once a second; it ends where the watch says so."""

    def __init__(self, rates: Sequence[float], *, most: int = 1 << 50, precision: float = 0.1) -> None:
        settings = RunSettings(
            "sustained", "/u01", precision, stall=5.0, most_written=most, most_seconds=len(rates) + 1.0
        )
        self.watch, self.said, self.yielded = CliffWatch(settings, SETUP), list[Next](), list[Emission]()
        for second, done in enumerate(accumulate(map(round, rates), initial=0)):
            self.said.append(self._sample(float(second), done, len(rates) - second))
            if self.said[-1] == "end":
                break

    def _sample(self, at: float, done: int, left: float) -> Next:
        def sampled() -> Iterator[Emission]:
            said.append((yield from self.watch(at, done, left)))

        said: list[Next] = []
        self.yielded += sampled()
        return said[0]

    @property
    def results(self) -> list[Emission]:
        return list(self.watch.results(PointResult(POINT.at, (window(1.0, {"small": interval()}),), ())))

    def estimates(self) -> dict[str, Estimate]:
        return {one.series: one for one in self.results if isinstance(one, Estimate)}


def noisy(rng: random.Random, noise: float, seconds: int, cliff: int | None = None) -> list[float]:
    """Return rates with a noise and up to five stalls of a second, half as high from the cliff on."""
    rates = [
        10_000 * max(0.02, rng.gauss(1, noise)) / (1 + (cliff is not None and second >= cliff))
        for second in range(seconds)
    ]
    for _ in range(rng.randrange(6)):
        rates[rng.randrange(seconds)] = 0.0
    return rates


@pytest.mark.parametrize("count", [4, pytest.param(250, marks=pytest.mark.ci)])
@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3, 0.4])
def test_noise_and_stalls_are_no_cliff_and_half_the_rate_is_one(noise: float, count: int) -> None:
    rng = random.Random(1)
    false = sum("first-iops" in Watched(noisy(rng, noise, 150)).estimates() for _ in range(count))
    found = []
    for _ in range(count):
        cliff = rng.randrange(40, 90)
        made = Watched(noisy(rng, noise, 200, cliff)).estimates()
        assert "sustained-iops" in made
        if "first-iops" in made:
            found.append(abs(made["first-iops"].replicates - cliff))

    assert false <= count // 100
    assert len(found) >= count - count // 100
    assert sorted(found)[len(found) // 2] <= 2


def test_a_cliff_ends_the_run_with_both_levels_and_the_bytes_between() -> None:
    made = Watched([1000.0] * 40 + [400.0] * 100)
    found = made.estimates()

    assert made.said.index("count anew") == 40 + FEWEST
    assert (made.said.index("end"), len(made.said)) == (40 + AFTER, 40 + AFTER + 1)
    first, last, cliff = found["first-iops"], found["sustained-iops"], found["cliff"]
    assert (first.value, first.low, first.high, first.replicates) == (1000.0, 1000.0, 1000.0, 40)
    assert (last.value, last.replicates, last.converged) == (400.0, AFTER, True)
    assert (cliff.value, cliff.low, cliff.extra["kept_share"]) == (40_000 * BLOCK, None, 0.4)
    assert cliff.extra["statement"] == "Write cliff after 328 MB: 1,000 IOPS, then 400 IOPS"
    assert {estimate.at["workload"] for estimate in found.values()} == {"sustained"}


def test_the_live_curve_has_the_rate_of_each_window_by_the_bytes_written() -> None:
    made = Watched([1000.0] * 4, most=10_000 * BLOCK)
    curve = [(e.at["written_bytes"], e.value) for e in made.yielded if isinstance(e, Estimate)]
    done = [(e.done, e.remaining_seconds) for e in made.yielded if isinstance(e, Progress)]

    assert curve == [(BLOCK * 1000 * second, 1000.0) for second in (1, 2, 3, 4)]
    assert done == [(0.1, 3.0), (0.2, 2.0), (0.3, 1.0), (0.4, 0.0)]


def test_a_sample_that_comes_late_makes_a_longer_window() -> None:
    made = Watched([])
    made._sample(3.0, 3000, 9.0)

    assert [one.value for one in made.yielded if isinstance(one, Estimate)] == [1000.0]


def test_without_a_cliff_the_bytes_written_are_a_lower_bound_and_the_rate_is_of_all() -> None:
    found = Watched([1000.0, 1200.0] * 20).estimates()

    assert "first-iops" not in found
    assert (found["cliff"].value, found["cliff"].low, found["cliff"].high) == (44_000 * BLOCK, 44_000 * BLOCK, None)
    assert (found["cliff"].extra["note"], found["cliff"].extra["target_bytes"]) == ("or more: no cliff", 1 << 30)
    assert found["cliff"].extra["statement"] == "No write cliff within 360 MB: 1,100 IOPS"
    assert (found["sustained-iops"].value, found["sustained-iops"].replicates) == (1100.0, 40)


def test_a_level_whose_interval_is_wider_than_the_precision_did_not_converge() -> None:
    rates = [1000.0, 1400.0] * 20

    assert [Watched(rates, precision=each).estimates()["sustained-iops"].converged for each in (0.1, 0.2)] == [
        False,
        True,
    ]


def test_a_rate_that_comes_back_is_no_cliff_and_the_search_goes_on() -> None:
    dip = [1000.0] * 40 + [300.0] * 12 + [1000.0] * 40

    assert "first-iops" not in Watched(dip).estimates()
    later = Watched([*dip, *[500.0] * 60])
    assert later.said.count("count anew") == 2
    assert later.estimates()["cliff"].value == (92_000 - 12 * 700) * BLOCK


def test_a_slow_start_is_no_part_of_the_cliff() -> None:
    found = Watched([100.0] * 10 + [1000.0] * 40 + [600.0] * 40).estimates()

    assert found["first-iops"].replicates == 50


@pytest.mark.parametrize("most", [20_000, 20_500, 20_999])
def test_no_more_is_written_than_stated(most: int) -> None:
    """The next sample would be above it, if the rate stays."""
    made = Watched([1000.0] * 40, most=most * BLOCK)

    assert len(made.said) == 21
    assert made.estimates()["cliff"].value == 20_000 * BLOCK


def test_a_cliff_too_near_the_end_for_its_level_has_what_was_measured() -> None:
    found = Watched([1000.0] * 40 + [400.0] * (FEWEST + 3)).estimates()

    assert (found["sustained-iops"].value, found["sustained-iops"].replicates) == (400.0, FEWEST + 3)


def test_a_short_search_is_a_gap() -> None:
    (gap,) = Watched([1000.0] * (2 * FEWEST - 1)).results

    assert isinstance(gap, Gap)
    assert gap.reason == "15 windows were measured, and at least 16 are needed; increase most_written or most_seconds"
    assert Watched([1000.0] * (2 * FEWEST)).estimates()


@pytest.mark.parametrize("blocks", [300, 400])
def test_a_window_is_shorter_where_there_are_fewer_bytes(blocks: int) -> None:
    """A 64th of the bytes, 1,000 blocks a second, sampled five times a second."""
    made = Watched([], most=64 * blocks * BLOCK)
    for sample in range(1, 8):
        made._sample(sample * 0.2, sample * 200, 9.0)

    curve = [(e.at["written_bytes"], e.value) for e in made.yielded if isinstance(e, Estimate)]
    assert curve == [(BLOCK * done, pytest.approx(1000.0)) for done in (400, 800, 1200)]


def test_a_window_is_longer_where_there_is_more_time() -> None:
    settings = RunSettings("sustained", "/u01", 0.1, stall=5.0, most_written=1 << 40, most_seconds=3600.0)

    assert CliffWatch(settings, SETUP)._window_seconds == 6.0


def test_a_fall_that_two_levels_do_not_explain_is_none() -> None:
    assert find_cliff([1000.0] * 60) is None
    assert find_cliff([1000.0] * 30 + [750.0] * 30) is None
    assert find_cliff([1000.0] * 30 + [650.0] * 30) == 30


def test_a_gentle_run_is_refused_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IoJob, "gentle", None)  # restored when this ends
    planned = step(tmp_path, preset="sustained", most_written=1 << 30, most_seconds=20.0)
    with pytest.raises(RefusedError, match=r"500 IOPS and .* show no write cliff; run it at full load"):
        list(run(replace(planned, gentle=Gentle())))


@pytest.fixture
def short_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sustained, "WINDOW_SECONDS", 0.0)
    monkeypatch.setattr(sustained, "MOST_WINDOWS", 1000)


@pytest.mark.ci
@pytest.mark.usefixtures("short_windows")
def test_what_follows_a_cliff_is_measured_as_a_point_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate that the watch is told falls to a third after so many samples; the requests are real."""
    real, calls = CliffWatch.__call__, [0, 0]

    def told(watch: CliffWatch, at: float, requests: int, left: float) -> Any:
        calls[0] += 1
        calls[1] += 3000 if calls[0] < 12 else 1000
        return real(watch, calls[0] * 0.2, calls[1], left)

    monkeypatch.setattr(CliffWatch, "__call__", told)
    planned = step(folder, preset="sustained", most_written=1 << 40, most_seconds=60.0, check_concurrency=False)
    began = time.monotonic()
    emitted = list(run(planned, HandContext()))
    spent = time.monotonic() - began
    found = {one.series: one for one in emitted if isinstance(one, Estimate)}

    assert calls[0] == pytest.approx(12 + AFTER, abs=2)
    assert found["iops"].extra["seconds"] < spent - 12 * 0.2
    assert found["cliff"].extra["kept_share"] == pytest.approx(1 / 3)
    assert {"latency-p99", "cpu-per-io", "written-iops"} <= found.keys()


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group that can throttle."""
    root = Path("/sys/fs/cgroup/blkio")
    if not os.access(root / "blkio.throttle.write_iops_device", os.W_OK):
        pytest.skip("needs root and the control groups for block I/O of the first version")
    made = root / f"sizeup-{os.getpid()}"
    made.mkdir()
    yield made
    for _ in range(50):
        if not (made / "cgroup.procs").read_text():
            break
        time.sleep(0.1)
    made.rmdir()


@pytest.mark.lab
def test_a_device_that_is_throttled_meanwhile_has_a_cliff_there(group: Path, mounted: MakeMount, place: Path) -> None:
    point = mounted("ext4")
    number = os.stat(point).st_dev

    def limit(iops: int) -> None:
        (group / "blkio.throttle.write_iops_device").write_text(f"{os.major(number)}:{os.minor(number)} {iops}")

    limit(1500)
    told = watched(
        point, place / "session", fault=lambda: limit(600), after='"series":"written-iops"', times=20, group=group,
        preset="sustained", most_seconds=90, size="64M", depth=32,
    )  # fmt: skip
    found = {one.series: one.estimate for one in told.step.points.values() if one.estimate is not None}

    assert found["first-iops"].value == pytest.approx(1500, rel=0.05)
    assert found["sustained-iops"].value == pytest.approx(600, rel=0.05)
    assert found["cliff"].value == pytest.approx(1500 * BLOCK * 21, rel=0.15)
