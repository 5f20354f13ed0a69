"""How long runs take: the estimate is what a run with a made-up engine takes, by a made-up clock."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from consoles import machine
from fakes import HandContext
from plugins.direct_io.test_options import FakeSetup, edge, interval
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Plan, SettingValue, Step
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Emission
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup.tui.screens.summary import MEASURE_SECONDS
from sizeup_direct_io import durations, window_counters
from sizeup_direct_io import run as run_module
from sizeup_direct_io import target as target_module
from sizeup_direct_io.durations import ENDING_SECONDS, LEAST_SECONDS, WINDOW_EXTRA_SECONDS, TimeBudget
from sizeup_direct_io.measure import MeasuredPoint, Window
from sizeup_direct_io.probe import DirectIo
from sizeup_direct_io.settings import RunSettings
from sizeup_direct_io.slo import Objective
from sizeup_direct_io.target import DEFAULT_BYTES, OpenTarget, TargetSpec, new_file_size
from sizeup_direct_io.window_counters import CounterSource
from sizeup_direct_io.worker import Worker
from tiers import one_in

REGISTRY = load_registry()
PRESETS = next(one.choices for one in REGISTRY.get("io.direct").manifest.parameter if one.name == "preset")
MOST_SECONDS = 25.0
MIB = 1 << 20


@pytest.mark.parametrize(
    ("preset", "budget", "seconds"), [("slo", 0.0, 9.0), ("slo", 5.0, 0.0), ("oltp-read", 0.0, 0.0)]
)
def test_a_rate_is_searched_where_the_preset_does_and_the_budget_allows(
    preset: str, budget: float, seconds: float
) -> None:
    settings = RunSettings(preset, "/u01", 0.1, stall=5.0, budget=budget, search=7.0, confirm=2.0)

    assert durations.objective_seconds(settings) == seconds


class Clocked(FakeSetup):
    """A disk whose throughput rises with the queue depth, and whose time is counted and not waited for."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, patch)
        self.now = 0.0
        self.bytes_per_second = durations.ASSUMED_FILL_RATE
        self.filled: list[tuple[int, int]] = []
        self.windows: list[Window] = []
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self.spend)
        for module in (run_module, window_counters, target_module, durations):
            patch.setattr(module, "time", clock)
        patch.setattr(window_counters, "BACKGROUND_SECONDS", durations.BACKGROUND_SECONDS)
        patch.setattr(run_module, "cold_read", self.cold_read)

    def spend(self, seconds: float) -> None:
        self.now += seconds

    def open_target(self, wish: TargetSpec) -> OpenTarget:
        if not self.told:
            self.spend(durations.START_SECONDS)
        target = super().open_target(wish)
        return OpenTarget(
            target.kind, wish.path, target.descriptor, 0, wish.size_bytes or DEFAULT_BYTES, target.mount, 0
        )

    def cold_read(self, *_: object) -> Generator[Emission, None, None]:
        self.spend(durations.COLD_SECONDS)
        yield Progress(0.0)

    def find_rate(self, *given: object) -> Generator[Emission, None, None]:
        objective = next(one for one in given if isinstance(one, Objective))
        self.spend(objective.seconds + objective.confirm_seconds)
        yield Progress(0.0)

    def fill(self, *which: object) -> Iterator[Emission]:
        start, size = map(int, map(str, which[1:]))
        self.filled.append((start, size))
        self.spend(size / self.bytes_per_second)
        yield Progress(0.0, size / self.bytes_per_second, "filling")

    def measure(
        self,
        workers: Sequence[Worker],
        streams: Sequence[str],
        at: Mapping[str, str | int | float],
        window: Window,
        context: HandContext,
        place: CounterSource,
        watch: object = None,
    ) -> Generator[Emission, None, MeasuredPoint]:
        del context, place, watch
        self.windows.append(window)
        self.spend(window.warmup_seconds + window.seconds + window.extra_seconds / 2 + WINDOW_EXTRA_SECONDS)
        yield from ()
        each = {
            name: interval(100 * sum(worker.depth for worker in workers), workers[0].block_bytes) for name in streams
        }
        return MeasuredPoint(
            at, each, (1.0,), 1.0, edge(0.0), edge(1.0), window.seconds, converged=True, huge_page_bytes=None
        )


@pytest.fixture
def clocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clocked:
    return Clocked(tmp_path, monkeypatch)


def planned(plan: str, **chosen: SettingValue) -> Plan:
    settings: dict[str, SettingValue] = {"path": "/data", **chosen}
    return make_plan(Machine(), REGISTRY, name=plan, probes=["io.direct"], settings={"io.direct": settings})


def step(plan: str, **chosen: SettingValue) -> Step:
    made = planned(plan, **chosen)
    assert made.refusals == ()
    return made.steps[0]


def emissions(of: Step) -> list[Emission]:
    return list(DirectIo().run(of, HandContext()))


@pytest.mark.parametrize("plan", ["quick", "standard"])
@pytest.mark.parametrize("preset", one_in(4, PRESETS))
def test_the_estimate_is_what_the_run_takes(preset: str, plan: str, clocked: Clocked) -> None:
    chosen = step(plan, preset=preset)

    emissions(chosen)

    assert clocked.now + ENDING_SECONDS == pytest.approx(chosen.estimated_seconds, rel=0.02)


@pytest.mark.parametrize(
    "chosen",
    [
        *({"compare_engine": "threads"}, {"more_paths": "/a:/b"}, {"seconds": 1.0, "depth": 4}, {"size": 512 * MIB}),
        {"cold_read": True},
    ],
)
@pytest.mark.parametrize("plan", one_in(2, ["quick", "standard"]))
def test_the_estimate_holds_what_options_change(plan: str, chosen: dict[str, SettingValue], clocked: Clocked) -> None:
    more = step(plan, **chosen)

    emissions(more)

    assert clocked.now + ENDING_SECONDS == pytest.approx(more.estimated_seconds, rel=0.05)


@pytest.mark.parametrize("preset", one_in(4, PRESETS))
def test_quick_is_quick_on_every_storage(preset: str, clocked: Clocked) -> None:
    chosen = step("quick", preset=preset)
    assert chosen.estimated_seconds <= MOST_SECONDS
    ramps = int(chosen.settings.get("ramps", 1))
    assert ramps >= (1 if preset == "sustained" else 3), "two ramps have an interval of a quarter of the value"

    for clocked.bytes_per_second in (20e6, 100e6, 1e9, 1e11):
        clocked.now = 0.0
        clocked.told.clear()
        clocked.windows.clear()
        found = [each for each in emissions(chosen) if isinstance(each, Estimate) and each.series == "iops"]
        assert clocked.now + ENDING_SECONDS <= MOST_SECONDS
        assert set({str(each.at): each.replicates for each in found}.values()) == {ramps}
        assert min(window.seconds for window in clocked.windows) >= LEAST_SECONDS


def test_a_file_that_takes_long_to_write_is_smaller_and_that_is_told(clocked: Clocked) -> None:
    clocked.bytes_per_second = 50e6

    found = emissions(step("quick", preset="oltp-read"))

    (told,) = [each for each in found if isinstance(each, Gap) and "size of" in each.subject]
    (used,) = {each.extra["target_bytes"] for each in found if isinstance(each, Estimate) and each.series == "iops"}
    assert 0 < int(str(used)) < DEFAULT_BYTES
    assert "instead of 4 GiB" in told.reason
    assert [start for start, _ in clocked.filled] == [
        sum(size for _, size in clocked.filled[:number]) for number in range(len(clocked.filled))
    ], "no byte is left out"
    assert sum(size for _, size in clocked.filled) == used
    assert int(str(used)) / 50e6 <= 1.1 * durations.FILL_SECONDS


def test_a_size_that_was_set_is_filled_whole(clocked: Clocked) -> None:
    clocked.bytes_per_second = 50e6

    emissions(step("quick", preset="oltp-read", size=1024 * MIB))

    assert clocked.filled == [(0, 1024 * MIB)]


def test_what_remains_is_told_at_the_rate_that_the_disk_shows(clocked: Clocked) -> None:
    clocked.bytes_per_second = 100e6
    chosen = step("standard", preset="single-read")

    told = [each for each in emissions(chosen) if isinstance(each, Progress) and each.remaining_seconds is not None]

    windows = 2 * (2.0 + 10.0)
    assert told[0].remaining_seconds == pytest.approx(DEFAULT_BYTES / 100e6 + windows)
    assert [each.remaining_seconds for each in told if "ramp 2 of 2" in each.activity] == [
        pytest.approx(17 + WINDOW_EXTRA_SECONDS)
    ]


def test_windows_share_what_is_left(clocked: Clocked) -> None:
    window = Window(warmup_seconds=0.5, seconds=10.0, extra_seconds=10.0, precision=0.05, stall_seconds=5.0)
    budget = TimeBudget(20.0)
    clocked.now = 9.5

    first = budget.window(window, 5)
    assert (first.seconds, first.extra_seconds) == (pytest.approx(10.0 / 5 - 0.5 - WINDOW_EXTRA_SECONDS), 0.0)
    clocked.now = 19.0
    assert budget.window(window, 3).seconds == LEAST_SECONDS
    clocked.now = 0.0
    assert budget.window(window, 1).seconds == 10.0
    assert TimeBudget(0.0).window(window, 5) == window


def test_a_budget_that_is_too_short_is_refused_with_the_least() -> None:
    (refusal,) = planned("standard", preset="oltp-read", budget=5.0).refusals

    assert refusal.reason.startswith("budget=5: expected at least")


def test_a_probe_with_a_target_is_in_no_plan_and_has_its_settings_when_it_is_named() -> None:
    whole = make_plan(Machine(), REGISTRY, name="quick")

    assert "io.direct" not in {each.probe for each in (*whole.steps, *whole.refusals)}
    assert step("quick").settings["budget"] == 22.5
    assert step("quick", budget=60.0).settings["budget"] == 60.0
    assert step("standard").settings["budget"] == 0.0


def test_an_estimate_without_a_budget_states_what_it_assumes() -> None:
    assert durations.ASSUMPTION in step("standard").touches
    assert durations.ASSUMPTION not in step("quick").touches


@pytest.mark.parametrize("plan", ["quick", "standard", "full"])
def test_on_a_mount_a_plan_makes_a_bounded_file_and_rises_in_depth(plan: str) -> None:
    whole = make_plan(Machine(), REGISTRY, name=plan, mount="/u01")
    (made,) = [one for one in whole.steps if one.probe == "io.direct"]

    assert whole.steps[-1] is made  # what disturbs others most comes last
    assert made.settings["largest_file"] == 1 << 30
    assert new_file_size(0, 1 << 40, 5 << 30, "/u01", int(made.settings["largest_file"])) == 1 << 30
    assert made.settings["reserve"] == made.settings["size"] == 0
    assert made.axis_ranges["queue_depth"][1] > 8 * made.axis_ranges["queue_depth"][0]
    assert made.estimated_seconds <= 1.05 * float(made.settings["budget"])


def test_the_time_that_the_first_screen_names_is_that_of_the_quick_plan() -> None:
    seconds = sum(step.estimated_seconds for step in make_plan(machine(), REGISTRY, name="quick", mount="/u01").steps)

    assert 0.8 * MEASURE_SECONDS <= seconds <= 1.2 * MEASURE_SECONDS


def test_a_file_is_as_large_as_the_free_space_and_the_limit_allow() -> None:
    assert new_file_size(0, 4 << 30, 0, "/u01", 1 << 30) == 1 << 30
    assert new_file_size(0, 1 << 30, 0, "/u01", 1 << 30) == 512 << 20
    assert new_file_size(0, 1 << 40, 0, "/u01") == 4 << 30
