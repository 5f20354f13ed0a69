"""Each cache level of the measured CPU has two working sets inside it, and a latency of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from fakes import HandContext
from recorded_traffic import MeasuredJob
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import SettingValue, Step
from sizeup.model.sample import Estimate
from sizeup.model.topology import Cache, CacheKind, Core, Pu
from sizeup.probing import native
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup_memory import binding, latency
from sizeup_memory.binding import ChasePoint, Placement, StopRule
from sizeup_memory.chase_patterns import (
    CHASE_PATTERNS,
    CurveConditions,
    Level,
    cache_levels,
    level_estimate,
    sizes_at_steps,
)
from sizeup_memory.host_load import OthersUse

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
THP = CHASE_PATTERNS["dram-thp"]
REGISTRY = load_registry()
SHAPES = {
    "32K 1M 32M": (32 * KIB, 1 * MIB, 32 * MIB),
    "48K 2M 480M": (48 * KIB, 2 * MIB, 480 * MIB),
    "32K 1M 19.25M": (32 * KIB, 1 * MIB, 19 * MIB + 256 * KIB),
    "64K 1M, no L3": (64 * KIB, 1 * MIB),
    "guest": (32 * KIB, 4 * MIB, 16 * MIB),
    "1 GiB of L3": (48 * KIB, 2 * MIB, 1152 * MIB),
}


def caches(*sizes: int | None, cpus: tuple[int, ...] = (0,)) -> tuple[Cache, ...]:
    return tuple(
        Cache(level, CacheKind.DATA if level == 1 else CacheKind.UNIFIED, size, 64, cpus)
        for level, size in enumerate(sizes, start=1)
    )


def machine(*found: Cache, cpus: int = 1) -> Machine:
    return Machine(
        pus=tuple(Pu(cpu, online=True, allowed=True, core=cpu) for cpu in range(cpus)),
        cores=tuple(Core((cpu,), 0, 0, cpu) for cpu in range(cpus)),
        caches=found,
        memory_available_bytes=64 * GIB,
    )


def step(host: Machine, **chosen: SettingValue) -> Step:
    settings = {"memory.latency": chosen}
    (planned,) = make_plan(host, REGISTRY, name="quick", probes=["memory.latency"], settings=settings).steps
    return planned


def sizes(planned: Step) -> list[int]:
    found: list[int] = json.loads(str(planned.settings["working_sets"]))
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pattern", ["dram-thp", "dram-4k"])
def test_the_quick_plan_has_two_working_sets_inside_each_level(shape: str, pattern: str) -> None:
    reported = SHAPES[shape]
    planned = sizes(step(machine(*caches(*reported)), patterns=pattern))

    for below, size in zip((0, *reported), reported, strict=False):
        inside = [span for span in planned if below + (size - below) // 5 <= span <= size * 3 // 4]
        assert len(inside) >= 2, f"{size} has {inside} of {planned}"
    assert planned[-1] >= 4 * reported[-1], "DRAM is judged beyond four times the last-level cache"


def test_the_levels_are_those_of_the_measured_cpu() -> None:
    host = machine(
        *caches(48 * KIB, 2 * MIB),
        *caches(32 * KIB, 4 * MIB, cpus=(1, 2, 3, 4)),
        Cache(1, CacheKind.INSTRUCTION, 64 * KIB, 64, (1,)),
        Cache(3, CacheKind.UNIFIED, 30 * MIB, 64, tuple(range(5))),
        cpus=5,
    )

    assert sizes(step(host, cpu=0))[:4] == [12 * KIB, 24 * KIB, 640 * KIB, 1 * MIB]
    assert sizes(step(host, cpu=1))[:4] == [8 * KIB, 16 * KIB, 1280 * KIB, 2 * MIB]


def test_a_cpu_without_the_cache_of_others_has_no_such_level_but_memory_lies_beyond_that_cache() -> None:
    host = machine(*caches(32 * KIB, 2 * MIB), Cache(3, CacheKind.UNIFIED, 24 * MIB, 64, (1,)), cpus=2)

    levels, left_out = cache_levels(host, 0, THP)

    assert ([level.name for level in levels], left_out) == (["L1", "L2"], ())
    assert sizes(step(host, cpu=0))[-1] == 96 * MIB


@pytest.mark.parametrize(
    ("reported", "names", "reasons"),
    [
        ((32 * KIB, 32 * KIB, 16 * MIB), ["L1", "L3"], ["L2: reported with 32 KiB, no more than the level below it"]),
        ((32 * KIB, 1 * MIB, 64 * KIB), ["L1", "L2"], ["L3: reported with 64 KiB, no more than the level below it"]),
        ((4 * KIB, 1 * MIB), ["L2"], ["L1: 4 KiB is too small for a working set of its own"]),
        ((32 * KIB, None, 8 * MIB), ["L1", "L3"], []),
        ((32 * KIB, 0, 8 * MIB), ["L1", "L3"], []),
        ((), [], []),
    ],
)
def test_a_level_that_cannot_be_is_left_out_with_the_reason(
    reported: tuple[int | None, ...], names: list[str], reasons: list[str]
) -> None:
    levels, left_out = cache_levels(machine(*caches(*reported)), 0, THP)

    assert [level.name for level in levels] == names
    assert list(left_out) == reasons


def test_steps_inside_a_level_are_located_first_and_only_as_finely_as_stated() -> None:
    levels = (Level("L1", 8 * KIB, 16 * KIB, 24 * KIB, 1), Level("L2", 256 * KIB, 512 * KIB, 768 * KIB, 1))
    measured = {8 * KIB: 1.0, 16 * KIB: 1.0, 256 * KIB: 4.0, 512 * KIB: 8.0}

    assert sizes_at_steps(measured, levels, THP, list(measured)) == [320 * KIB, 64 * KIB]
    assert sizes_at_steps(measured, levels, THP, [*measured, 320 * KIB]) == [64 * KIB]
    assert sizes_at_steps({600 * KIB: 4.0, 750 * KIB: 8.0}, levels, THP, []) == []
    assert sizes_at_steps({600 * KIB: 4.0, 760 * KIB: 8.0}, levels, THP, []) == [640 * KIB]
    assert sizes_at_steps({8 * KIB: 1.0, 512 * KIB: 1.4}, levels, THP, []) == []


LEVEL = Level("L3", 8 * MIB, 16 * MIB, 24 * MIB, 8)


def point(value: float, *caveats: str, spread: float = 0.02, **more: Any) -> Estimate:
    ends = value * (1 - spread), value * (1 + spread)
    return Estimate("s", {}, value, *ends, 5, value, converged=True, caveats=caveats, **more)


def level(*points: tuple[int, Estimate], conditions: CurveConditions | None = None, of: Level = LEVEL) -> Estimate:
    found = level_estimate("s-level", of, points, conditions or CurveConditions())
    assert found is not None
    return found


def test_a_level_is_made_of_the_working_sets_inside_it_and_of_no_others() -> None:
    found = level((1 * MIB, point(4.0)), (8 * MIB, point(20.0)), (16 * MIB, point(22.0)), (32 * MIB, point(90.0)))

    assert (found.at, found.value) == ({"level": "L3"}, 21.0)
    assert (found.low, found.high) == pytest.approx((19.6, 22.44))
    assert found.extra["working_sets"] == "8 MiB, 16 MiB"
    assert (found.caveats, "range_cause" in found.extra) == ((), False)
    assert level_estimate("s", LEVEL, [(1 * MIB, point(4.0)), (32 * MIB, point(90.0))], CurveConditions()) is None


def test_a_level_with_one_working_set_says_so() -> None:
    (caveat,) = level((8 * MIB, point(20.0))).caveats

    assert caveat == "L3: one working set only, so that a step inside the level would not be seen"
    assert level((128 * MIB, point(90.0)), of=Level("DRAM", 128 * MIB, 128 * MIB)).caveats == ()


def test_a_level_is_as_sure_as_the_least_sure_of_its_working_sets() -> None:
    unsure = Estimate("s", {}, 21.0, 10.0, 40.0, 5, 9.0, disturbed_share=0.4, converged=False, caveats=("so",))

    found = level((8 * MIB, point(20.0)), (16 * MIB, unsure))

    assert (found.converged, found.disturbed_share, found.caveats) == (False, 0.4, ("so",))
    assert (found.low, found.high) == (10.0, 40.0)


def test_a_working_set_without_an_interval_adds_none_to_its_level() -> None:
    alone = Estimate("s", {}, 21.0)

    found = level((8 * MIB, point(20.0)), (16 * MIB, alone))
    assert (found.low, found.high, found.minimum, found.disturbed_share) == (19.6, 20.4, 20.0, 0.0)
    found = level((8 * MIB, alone), (16 * MIB, alone))
    assert (found.low, found.high, found.minimum, found.converged) == (None, None, None, True)
    # A factor of 1.5 is not yet a step.
    assert "range_cause" not in level((8 * MIB, point(20.0)), (16 * MIB, point(30.0))).extra


@pytest.mark.parametrize(
    ("conditions", "cause"),
    [
        (CurveConditions(), "cause unknown"),
        (
            CurveConditions(guest=True),
            "cause unknown: in a virtual machine it cannot be read what else uses the L3 of the host",
        ),
        (CurveConditions(OthersUse(0.05, 0.0), tlb_reach_bytes=4 * MIB), "cause unknown"),
        (CurveConditions(OthersUse(0.4, 0.0)), "8 CPUs share the L3, and other processes used 40 % of the CPUs"),
        (
            CurveConditions(OthersUse(0.0, 0.12), guest=True),
            "the hypervisor ran something else for 12 % of the time (steal)",
        ),
        (CurveConditions(tlb_reach_bytes=8 * MIB), "the TLB reaches 8 MiB"),
        (CurveConditions(tlb_reach_bytes=16 * MIB), "cause unknown"),  # which holds both
        (CurveConditions(OthersUse(0.1, 0.01)), "cause unknown"),
        (CurveConditions(huge_shares={8 * MIB: 0.95}), "cause unknown"),
        (
            CurveConditions(huge_shares={8 * MIB: 1.0, 16 * MIB: 0.25}),
            "at 16 MiB, 25 % of the memory was on transparent huge pages",
        ),
    ],
)
def test_a_level_that_is_not_one_figure_is_a_range_with_the_cause_that_was_read(
    conditions: CurveConditions, cause: str
) -> None:
    found = level((8 * MIB, point(12.0, "shared", "busy")), (16 * MIB, point(40.0)), conditions=conditions)

    told = f"the latencies at 8 MiB and 16 MiB differ by a factor of 3.3; {cause}"
    assert (found.low, found.high) == (12.0, 40.0)
    assert found.extra["range_cause"] == told
    assert found.caveats == (f"L3 has no single latency: {told}", "shared", "busy")
    assert "core_cycles" not in found.extra


def test_load_of_others_is_no_cause_in_a_cache_of_one_cpu() -> None:
    own = Level("L2", 256 * KIB, 512 * KIB, 768 * KIB, 1)

    found = level(
        (256 * KIB, point(4.0)), (512 * KIB, point(9.0)), of=own, conditions=CurveConditions(OthersUse(0.4, 0.0))
    )

    assert str(found.extra["range_cause"]).endswith("; cause unknown")


def test_memory_is_of_all_cpus_and_their_load_a_cause_of_its_range() -> None:
    found = level(
        (128 * MIB, point(90.0)),
        (256 * MIB, point(180.0)),
        of=Level("DRAM", 128 * MIB, 128 * MIB),
        conditions=CurveConditions(OthersUse(0.4, 0.0), guest=True),
    )

    assert str(found.extra["range_cause"]).endswith(
        "; DRAM is shared by all CPUs, and other processes used 40 % of the CPUs"
    )


@pytest.mark.parametrize(("latency_ns", "text"), [(1.5, "4.5"), (647.0, "1,940"), (4000.0, "12,000")])
def test_cycles_are_whole_numbers_without_an_exponent(latency_ns: float, text: str) -> None:
    both = (8 * MIB, point(latency_ns)), (16 * MIB, point(latency_ns))

    assert level(*both, conditions=CurveConditions(core_hz=3e9)).extra["note"] == f"{text} core cycles"


def test_cycles_are_stated_only_where_the_clock_was_measured() -> None:
    both = (8 * MIB, point(20.0)), (16 * MIB, point(22.0))

    assert level(*both, conditions=CurveConditions(core_hz=3e9)).extra["core_cycles"] == pytest.approx(63.0)
    assert level(*both, conditions=CurveConditions(core_hz=3e9)).extra["note"] == "63 core cycles"
    assert not {"core_cycles", "note"} & level(*both).extra.keys()


class Curve(MeasuredJob):
    """Native code whose latencies are a function of the working set; it notes what was measured."""

    def __init__(self, nanoseconds: Callable[[int], float], monkeypatch: pytest.MonkeyPatch) -> None:
        self.passes: list[list[int]] = []
        self._nanoseconds = nanoseconds
        monkeypatch.setattr(binding, "Latency", self._start)
        monkeypatch.setattr(binding, "new_job", lambda: self)
        monkeypatch.setattr(native, "leave_cpus", lambda _: True)
        monkeypatch.setattr(binding, "available_bytes", lambda _: 64 * GIB)
        monkeypatch.setattr(latency, "HostLoad", lambda: SimpleNamespace(others=OthersUse))
        monkeypatch.setattr(binding, "tlb_reach_bytes", lambda _: 0)
        self.core_hz = 2e9

    def _start(self, points: list[Any], rule: Any) -> Curve:
        assert rule.budget_seconds > 0
        self.passes.append([one.span_bytes for one in points])
        return self

    def call(self, _: object) -> None:
        """Nothing is called."""

    def placement(self, _: int) -> Placement:
        return Placement(1, {0: 1}, 0, 1.0, verified=True, bound=True)

    def value_of(self, index: int, point: Any) -> float:
        return self._nanoseconds(point.at["working_set_bytes"])

    def run(self, planned: Step) -> tuple[dict[str, Estimate], list[Gap]]:
        """The levels and the gaps."""
        emissions = list(latency.MemoryLatency().run(planned, HandContext()))
        levels = [one for one in emissions if isinstance(one, Estimate) and one.series == "dram-thp-level"]
        return {str(one.at["level"]): one for one in levels}, [one for one in emissions if isinstance(one, Gap)]


def steps(*levels: tuple[int, float], dram: float = 90.0) -> Callable[[int], float]:
    return lambda span: next((value for size, value in levels if span <= size), dram)


HOST = machine(*caches(32 * KIB, 1 * MIB, 32 * MIB, cpus=(0, 1)), cpus=2)


def test_each_level_gets_its_own_latency_and_the_steps_between_them_are_located(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    curve = Curve(steps((32 * KIB, 1.0), (1 * MIB, 4.0), (32 * MIB, 20.0)), monkeypatch)

    levels, gaps = curve.run(step(HOST))

    assert {name: one.value for name, one in levels.items()} == {"L1": 1.0, "L2": 4.0, "L3": 20.0, "DRAM": 90.0}
    assert {name: one.extra["core_cycles"] for name, one in levels.items()}["L2"] == 8.0
    assert gaps == []
    measured = sorted(span for one in curve.passes for span in one)
    for size in (32 * KIB, 1 * MIB, 32 * MIB):
        below, beyond = max(s for s in measured if s <= size), min(s for s in measured if s > size)
        assert beyond / below < 1.6, f"the step at {size} is located"
    assert len(measured) == len(set(measured)) <= 20


def test_no_working_set_is_added_without_a_step_or_without_time(monkeypatch: pytest.MonkeyPatch) -> None:
    flat = Curve(steps(dram=5.0), monkeypatch)
    flat.run(step(HOST))
    assert len(flat.passes) == 1

    late = Curve(steps((32 * KIB, 1.0)), monkeypatch)
    clock = iter(range(0, 10_000, 100))
    monkeypatch.setattr(latency.time, "monotonic", lambda: float(next(clock)))
    late.run(step(HOST))
    assert len(late.passes) == 1


def test_a_cache_smaller_than_reported_makes_its_level_a_range(monkeypatch: pytest.MonkeyPatch) -> None:
    curve = Curve(steps((32 * KIB, 1.0), (1 * MIB, 4.0), (10 * MIB, 20.0)), monkeypatch)

    levels, _ = curve.run(step(HOST))

    assert (levels["L3"].low, levels["L3"].high) == (20.0, 90.0)
    assert "range_cause" in levels["L3"].extra
    assert "range_cause" not in levels["DRAM"].extra


def test_what_is_no_more_than_the_cache_is_not_the_latency_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    curve = Curve(steps((32 * KIB, 1.0), (1 * MIB, 4.0), (32 * MIB, 20.0)), monkeypatch)

    levels, gaps = curve.run(step(HOST, largest=127 * MIB))

    assert "DRAM" not in levels
    (gap,) = gaps
    assert gap.subject == "memory.latency: DRAM latency of dram-thp"
    assert gap.reason == "unknown: no working set of at least 128 MiB was measured"


def test_without_known_caches_the_latency_of_memory_says_what_was_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    curve = Curve(steps((32 * KIB, 1.0), (1 * MIB, 4.0), (32 * MIB, 20.0)), monkeypatch)

    levels, _ = curve.run(step(machine()))

    assert list(levels) == ["DRAM"]
    assert levels["DRAM"].caveats == (
        "the cache sizes of this CPU are unknown: 32 MiB was assumed for the last-level cache",
    )


def test_a_level_that_is_left_out_is_told_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    curve = Curve(steps((32 * KIB, 1.0), (32 * MIB, 20.0)), monkeypatch)

    levels, (gap,) = curve.run(step(machine(*caches(32 * KIB, 16 * KIB, 32 * MIB))))

    assert list(levels) == ["L1", "L3", "DRAM"]
    assert gap.subject == "memory.latency: cache level"
    assert gap.reason == "left out: L2: reported with 16 KiB, no more than the level below it"


def test_the_estimate_follows_what_must_be_populated_and_linked() -> None:
    usual, large = step(HOST), step(machine(*caches(48 * KIB, 2 * MIB, 480 * MIB)))
    budget = float(usual.settings["budget"])

    assert budget <= float(usual.settings["planned_seconds"]) < usual.estimated_seconds < 4
    populated, linked = 1920 * MIB / 1e9, 1920 * MIB / 64 * 30e-9
    replicates = 7 * 3 * (float(large.settings["replicate"]) + float(large.settings["warm_up"]))
    assert populated + linked + replicates + 0.4 * budget < large.estimated_seconds < 10


def test_the_clock_of_another_cpu_is_not_that_of_the_measured_one() -> None:
    one = binding.Latency([ChasePoint(16 * KIB, 64, cpu=3)], StopRule(0.01, 0.0, 0.1, 1, 1, 0.5, 1))
    assert one.core_hz is None, "nothing was measured"

    one._rates.core_hz = 2e9
    for cpu, hertz in ((2, None), (3, 2e9)):
        one._rates.cpu = cpu
        assert one.core_hz == hertz
