"""Buffers against caches: what every point of every memory plan has on large machines, which are made up here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from declared import declaration_of, series_of
from fakes import HandContext
from large_machines import EIGHT, GIB, KIB, MIB, TIB, eight_sockets, hybrid, made, one_large_l3
from recorded_traffic import RecordedTraffic, multiple_of_cache, run
from sizeup.errors import RefusedError
from sizeup.model.gap import Gap
from sizeup.model.machine import Machine
from sizeup.model.plan import Refusal, SettingValue, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.probing.api import Emission
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_class, load_registry
from sizeup.session.validity import StepValidity
from sizeup.session.value import Point, StepRun
from sizeup_memory import durations, hammer
from sizeup_memory.binding import Allocation, Pages
from sizeup_memory.buffers import SharedCache, bytes_for_all, bytes_per_thread, cache_multiple, fitted, shared_caches
from sizeup_memory.durations import allocating_seconds, measuring_seconds
from trees import large_machine

PROBES = ("memory.bandwidth", "memory.numa", "memory.loaded", "memory.hammer", "memory.shm")
REGISTRY = load_registry()


MACHINES = {
    **EIGHT,
    "1.1 GB of L3 per socket in one": one_large_l3,
    "few cores on a large L3": lambda: made(2, 8, 1, 504 * MIB),
}


def steps(machine: Machine, probe: str, **chosen: SettingValue) -> Iterator[Step]:
    plan = make_plan(machine, REGISTRY, name="full", probes=[probe], settings={probe: chosen})
    assert plan.steps or len(machine.nodes) == 1, plan.refusals
    assert plan.refusals == () or (probe == "memory.numa" and len(machine.nodes) == 1), plan.refusals
    return iter(plan.steps)


def invalid_figures(step: Step, emissions: Sequence[Emission]) -> list[Estimate]:
    """The figures that do not count, as a session judges them."""
    points = {}
    for one in emissions:
        if isinstance(one, Estimate):
            point = Point(one.series, one.at)
            point.estimate = one
            points[(one.series, tuple(one.at.items()))] = point
    run = StepRun(step, "", series_of(step.probe), "", 0, outcome=Outcome(Status.OK))
    run.declaration = declaration_of(step.probe)
    run.points.update(points)  # type: ignore[arg-type]  # keys do not matter here
    validity = StepValidity(run)
    return [point.estimate for point in points.values() if point.estimate and validity.of(point) is not None]


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("shape", MACHINES)
def test_every_point_exceeds_the_caches_of_its_active_threads(
    shape: str, probe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = MACHINES[shape]()
    for step in steps(machine, probe):
        emissions, points, gaps = run(machine, step, monkeypatch)

        assert points
        assert [gap for gap in gaps if "cells of the matrix" not in gap.subject] == []
        assert min(multiple_of_cache(machine, point.groups) for point in points) >= 4, step.id
        assert not any(isinstance(one, Estimate) and one.series == "validity" for one in emissions)
        assert all(size % (2 * MIB) == 0 for point in points for group in point.groups for size in group.values())


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("shape", MACHINES)
def test_the_time_limit_of_a_step_exceeds_its_estimate_by_half(shape: str, probe: str) -> None:
    for plan in ("standard", "full"):
        for step in make_plan(MACHINES[shape](), REGISTRY, name=plan, probes=[probe], settings={}).steps:
            assert step.time_limit_seconds >= 1.5 * step.estimated_seconds, step.id


def test_the_estimate_follows_the_machine() -> None:
    """Work of the minimum: 5 replicates of each cell or point, of 0.15 or 0.125 s, beside the allocation."""
    machine = eight_sockets()
    planned = {step.id: step for probe in PROBES for step in steps(machine, probe)}
    seconds = {name: step.estimated_seconds for name, step in planned.items()}
    cells = {name: len(json.loads(str(step.settings.get("cells", "[]")))) for name, step in planned.items()}

    assert seconds["memory.bandwidth.matrix.thp"] >= cells["memory.bandwidth.matrix.thp"] * 2 * 5 * 0.125
    assert seconds["memory.numa.matrix.thp"] >= cells["memory.numa.matrix.thp"] * 5 * 0.15
    assert seconds["memory.bandwidth.scaling.thp"] >= 9 * 2 * 5 * 0.125
    assert seconds["memory.loaded"] >= 14
    assert seconds["memory.shm.node0"] >= cells["memory.shm.node0"] * 5 * 448 * MIB / 4e9
    assert seconds["memory.hammer"] >= 10 * 5 * 0.5


@pytest.mark.parametrize(
    ("budget", "replicates_max", "seconds"),
    [
        (1.0, 8, 10 * 5 * 0.2),
        (9.5, 8, 9.5 + 10 * 0.2),
        (12.0, 8, 12 + 10 * 0.2),
        (100.0, 8, 10 * 8 * 0.2),
        (9.5, 128, 9.5 + 10 * 0.2),
        (100.0, 128, 10 * durations.EXPECTED_REPLICATES * 0.2),
    ],
)
def test_points_take_their_minimum_then_the_budget_with_a_round_and_no_more_than_is_expected(
    budget: float, replicates_max: int, seconds: float
) -> None:
    settings: dict[str, SettingValue] = {
        "warm_up": 0.02,
        "replicate": 0.1,
        "replicates": 5,
        "replicates_max": replicates_max,
        "budget": budget,
    }
    assert measuring_seconds(settings, 10, 0.08) == pytest.approx(seconds)


def simulated_seconds(points: int, each: float, fewest: int, most: int, budget: float) -> float:
    """How long replicates take that never converge, one of each point in turn, as the native code runs them."""
    seconds, number, waiting = 0.0, 0, points
    finished = [False] * points
    while waiting:
        number += 1
        for point in range(points):
            if not finished[point]:
                seconds += each
                finished[point] = number >= most or (number >= fewest and seconds > budget)
        waiting = points - sum(finished)
    return seconds


@pytest.mark.parametrize("points", [1, 4, 20])
@pytest.mark.parametrize("budget", [0.0, 0.9, 2.05, 2.7, 4.0, 9.0, 100.0])
def test_the_estimate_of_rounds_is_what_they_take(points: int, budget: float) -> None:
    each = 1.0 / points

    assert durations.rounds_seconds(1.0, 3, 8, budget) == pytest.approx(
        simulated_seconds(points, each, 3, 8, budget), abs=1.01 * each
    )


def test_threads_allocate_together_on_each_node_and_the_longest_counts() -> None:
    assert allocating_seconds([]) == 0
    one = allocating_seconds([10**9])
    assert allocating_seconds([4 * 10**9, 10**9]) == pytest.approx(4 * one)
    assert allocating_seconds([10**9] * 64) == pytest.approx(16 * one)
    assert allocating_seconds([10**9] * 64, nodes=8) == pytest.approx(2 * one)


@pytest.mark.parametrize("probe", ["memory.bandwidth", "memory.loaded"])
def test_the_host_of_a_guest_has_to_find_its_memory(probe: str) -> None:
    machine = made(1, 2, 1, 480 * MIB)
    guest = replace(machine, platform=replace(machine.platform, is_guest=True))
    bare, virtual = next(steps(machine, probe)), next(steps(guest, probe))

    assert virtual.estimated_seconds - bare.estimated_seconds == pytest.approx(0.7 * 1.92 * GIB / 1e9, rel=0.1)


@pytest.mark.parametrize(("page_bytes", "seconds"), [(4 * KIB, 0.1 + 0.2), (64 * KIB, 0.1 + 0.2 / 16)])
def test_larger_pages_are_allocated_faster(page_bytes: int, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durations, "_BASE_PAGE_BYTES", page_bytes)

    assert allocating_seconds([10**9]) == pytest.approx(seconds, rel=0.05)
    assert allocating_seconds([10**9], pages=Pages.THP) < 0.15


def with_memory(machine: Machine, node_bytes: int) -> Machine:
    """The same machine with less free memory."""
    nodes = tuple(replace(node, free_bytes=node_bytes) for node in machine.nodes)
    return replace(machine, nodes=nodes, memory_available_bytes=node_bytes * len(nodes))


def uneven(machine: Machine, *free: int) -> Machine:
    """The same machine with other free memory on each node."""
    nodes = tuple(replace(node, free_bytes=size) for node, size in zip(machine.nodes, free, strict=True))
    return replace(machine, nodes=nodes, memory_available_bytes=sum(free))


SCARCE = {
    "one L3 of 1.1 GB, 6 GiB per node": lambda: with_memory(made(2, 96, 1, 1152 * MIB), 6 * GIB),
    "one L3 of 504 MiB, 3 GiB per node": lambda: with_memory(made(2, 128, 1, 504 * MIB, nodes=4), 3 * GIB),
    "the second node is nearly full": lambda: uneven(made(2, 16, 1, 504 * MIB), 64 * GIB, 3 * GIB),
    "memory limited to 5 GiB": lambda: replace(made(2, 16, 1, 504 * MIB), memory_available_bytes=5 * GIB),
    "recorded guest of 256 cores, 5 GiB": large_machine,
}


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("shape", SCARCE)
def test_a_figure_that_may_come_from_a_cache_does_not_count(
    shape: str, probe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = SCARCE[shape]()
    reasons: list[str] = []
    for step in steps(machine, probe):
        try:
            emissions, points, gaps = run(machine, step, monkeypatch)
        except RefusedError as error:
            reasons.append(str(error))
            continue
        cached = {id(point) for point in points if multiple_of_cache(machine, point.groups) < 4}
        invalid = invalid_figures(step, emissions)

        assert points or gaps
        assert bool(invalid) is bool(cached), step.id
        assert all(any("may come from L" in caveat for caveat in one.caveats) for one in invalid)
        assert not any(
            "may come from" in caveat
            for one in emissions
            if isinstance(one, Estimate) and one not in invalid and one.series != "validity"
            for caveat in one.caveats
        )
    assert all("not enough memory" in reason for reason in reasons)


def test_only_the_points_whose_threads_have_too_little_are_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = made(1, 4, 1, 512 * MIB)
    (step,) = steps(machine, "memory.hammer", pages=GIB // (4 * KIB))
    emissions, _, gaps = run(machine, step, monkeypatch)

    invalid = invalid_figures(step, emissions)
    assert {(one.series, one.at["processes"]) for one in invalid} == {("random-store", 1), ("throughput", 1)}
    assert [gap.subject for gap in gaps] == ["memory.hammer: scaling"], "S(n) has no valid base"
    assert invalid[0].caveats == (
        ("stores may come from L3: 1 active thread has 1 GiB, 2 times the share of 512 MiB; expected at least 4 times"),
    )


def test_processes_that_cannot_have_enough_have_the_usual_memory_and_do_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = with_memory(made(1, 2, 1, 512 * MIB), 3 * GIB)
    (step,) = steps(machine, "memory.hammer")
    emissions, points, gaps = run(machine, step, monkeypatch)

    assert {size for point in points for group in point.groups for size in group.values()} == {512 * MIB}
    assert {one.at["processes"] for one in invalid_figures(step, emissions)} == {1, 2}
    assert [gap.subject for gap in gaps] == ["memory.hammer: scaling"]


def speedups(emissions: Sequence[Emission]) -> dict[int, Estimate]:
    return {int(one.at["processes"]): one for one in emissions if isinstance(one, Estimate) and one.series == "scaling"}


@pytest.mark.parametrize(("l3", "cores"), [(504 * MIB, 8), (96 * MIB, 256)])
def test_the_speedup_is_of_processes_with_the_same_memory(l3: int, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = made(1, cores, 1, l3, node_bytes=TIB)
    (step,) = steps(machine, "memory.hammer")
    emissions, points, gaps = run(machine, step, monkeypatch)

    assert len({size for point in points for group in point.groups for size in group.values()}) == 1
    assert [one.caveats for one in speedups(emissions).values()] == [()] * len(hammer_counts(cores))
    assert gaps == []


def hammer_counts(cores: int) -> list[int]:
    return [1 << power for power in range(cores.bit_length()) if 1 << power < cores] + [cores]


def test_a_number_of_processes_with_two_sizes_links_the_speedups_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 2 GiB a store takes twice as long as with 512 MiB; S(n) does not change with it."""
    machine = made(1, 256, 1, 504 * MIB, node_bytes=TIB)
    (step,) = steps(machine, "memory.hammer")

    def result(pages: int, processes: int) -> SimpleNamespace:
        rate = 1e6 * (1 if pages > 131_072 else 2) * (1 if processes <= 16 else 16 / processes)
        return SimpleNamespace(
            ops=9, start_ns=0, end_ns=9, wall_us=9000, cpu_ns=9, cpu=0, ops_per_second=rate, cpu_share=1.0
        )

    recorder = RecordedTraffic(machine, monkeypatch)

    def hammered(pages: int, loops: int, cpus: Sequence[int], memory: Allocation) -> Any:
        call = recorder._hammer(pages, loops, cpus, memory)
        call.results = lambda: [result(pages, len(cpus))] * len(cpus)
        return call

    monkeypatch.setattr(hammer, "Hammer", hammered)
    emissions = list(load_class(REGISTRY.get(step.probe).target).run(step, HandContext()))
    found = speedups(emissions)

    assert {count: one.value for count, one in found.items()} == pytest.approx(
        {count: min(count, 16) for count in hammer_counts(256)}
    )
    assert {count for count, one in found.items() if one.caveats} == {8, 16, 32, 64, 128, 256}
    assert found[256].caveats == (
        "by way of 4 processes that ran with 1.97 GiB and 512 MiB each: not all can have as much as one",
    )
    assert not [one for one in emissions if isinstance(one, Gap)]
    figures = [one for one in emissions if isinstance(one, Estimate) and one.series == "throughput"]
    assert [one.at["processes"] for one in figures] == hammer_counts(256)
    assert [one.value for one in figures][:3] == [1e6, 2e6, 8e6], "4 processes: with the memory of the larger numbers"


def test_loops_that_were_set_count_in_the_estimate() -> None:
    (usual,), (long,) = (steps(made(1, 4, 1, MIB), "memory.hammer", loops=loops) for loops in (0, 1000))

    assert long.estimated_seconds > usual.estimated_seconds + 3 * 5 * 1000 * 131_072 * 10e-9
    assert long.time_limit_seconds >= 1.5 * long.estimated_seconds


def test_a_run_takes_half_a_second_whatever_the_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = made(1, 4, 1, MIB)
    (step,) = steps(machine, "memory.hammer")
    planned: list[tuple[int, float]] = []
    store_ns = {1: 10.0, 2: 12.0, 4: 40.0}

    def hammered(pages: int, loops: int, cpus: Sequence[int], _: Allocation) -> Any:
        ops = pages * loops
        planned.append((len(cpus), ops * store_ns[len(cpus)] / 1e9))
        one = SimpleNamespace(ops=ops, start_ns=0, end_ns=9, wall_us=max(1, round(planned[-1][1] * 1e6)), cpu_ns=9)
        one.cpu, one.ops_per_second, one.cpu_share = 0, ops * 1e6 / one.wall_us, 1.0
        return SimpleNamespace(call=lambda _: lambda: 0, results=lambda: [one] * len(cpus))

    RecordedTraffic(machine, monkeypatch)
    monkeypatch.setattr(hammer, "Hammer", hammered)
    list(load_class(REGISTRY.get(step.probe).target).run(step, HandContext()))
    _, *runs = planned

    assert runs[:3] == [(1, pytest.approx(0.5, 0.01)), (2, pytest.approx(0.6, 0.01)), (4, pytest.approx(1.7, 0.03))]
    assert all(seconds == pytest.approx(0.5, 0.01) for _, seconds in runs[3:])


def test_the_caveat_of_a_point_has_the_figures_of_its_own_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = with_memory(made(1, 4, 1, 512 * MIB), 4 * GIB)
    scaling = next(steps(machine, "memory.bandwidth"))
    emissions, _, _ = run(machine, scaling, monkeypatch)

    assert {one.at["threads"]: one.caveats for one in invalid_figures(scaling, emissions)} == {
        threads: (f"accesses may come from L3: {words}, 1.8 times the share of 512 MiB; expected at least 4 times",)
        for threads, words in (
            (1, "1 active thread has 896 MiB"),
            (2, "2 active threads have 448 MiB each"),
            (4, "4 active threads have 224 MiB each"),
        )
    }


def test_loaded_figures_that_may_be_of_a_cache_are_invalid_by_delay_and_by_bandwidth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = with_memory(made(1, 4, 1, 512 * MIB), 3 * GIB)
    (step,) = steps(machine, "memory.loaded")
    emissions, points, _ = run(machine, step, monkeypatch)

    assert {multiple_of_cache(machine, point.groups) < 4 for point in points} == {True}
    assert {one.series for one in invalid_figures(step, emissions)} == {
        "latency",
        "latency-by-delay",
        "bandwidth-by-delay",
    }


def test_a_working_set_that_the_user_chose_too_small_is_measured_and_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = made(2, 4, 1, 100 * MIB)
    matrix, *_ = steps(machine, "memory.numa", span=256 * MIB)
    emissions, _, _ = run(machine, matrix, monkeypatch)

    assert {one.series for one in invalid_figures(matrix, emissions)} == {"latency", "interleaved"}
    assert not [one for one in emissions if isinstance(one, Estimate) and one.series == "expected-interleaved"]


def test_a_file_that_the_user_chose_too_small_is_measured_and_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = made(2, 4, 1, 100 * MIB)
    first, _ = steps(machine, "memory.shm", bytes=256 * MIB)
    emissions, _, _ = run(machine, first, monkeypatch)

    assert len(invalid_figures(first, emissions)) == 2


@pytest.mark.parametrize(
    ("probe", "chosen", "reason"),
    [
        ("memory.shm", {"bytes": MIB}, "bytes=1048576: expected at least 16 MiB, or 0 for four times the L3"),
        ("memory.hammer", {"pages": 15}, "pages=15: expected at least 16, or 0 to exceed the L3"),
    ],
)
def test_a_size_that_is_too_small_to_measure_is_refused(
    probe: str, chosen: dict[str, SettingValue], reason: str
) -> None:
    plan = make_plan(made(1, 4, 1, MIB), REGISTRY, name=None, probes=[probe], settings={probe: chosen})

    assert plan.steps == ()
    assert plan.refusals == (Refusal(probe, probe, reason),)


def test_only_active_threads_share_a_cache() -> None:
    two = (SharedCache(3, 96 * MIB, (0, 1, 2, 3)), SharedCache(3, 32 * MIB, (4, 5)))

    assert bytes_per_thread(two, [0]) == {0: 384 * MIB}
    assert bytes_per_thread(two, [0, 1, 4]) == {0: 192 * MIB, 1: 192 * MIB, 4: 128 * MIB}
    assert bytes_per_thread(two, [0, 1, 2]) == dict.fromkeys((0, 1, 2), 128 * MIB)
    assert bytes_for_all(two, [[0], [0, 1], [0, 1, 2, 3]]) == {0: 384 * MIB, 1: 192 * MIB, 2: 96 * MIB, 3: 96 * MIB}
    assert cache_multiple(two, {0: 384 * MIB, 4: 32 * MIB}) == (1.0, two[1])
    assert cache_multiple(two, {0: 96 * MIB, 1: 192 * MIB}) == (2.0, two[0])


def test_the_memory_of_a_thread_is_rounded_up_to_whole_pages() -> None:
    assert bytes_per_thread((SharedCache(3, 3 * MIB, (0, 1, 2)),), [0, 1, 2]) == dict.fromkeys(range(3), 4 * MIB)
    assert bytes_per_thread((SharedCache(3, 3 * MIB + KIB, (0,)),), [0]) == {0: 14 * MIB}


@pytest.mark.parametrize(
    ("available", "sizes"),
    [
        (None, {0: 256 * MIB, 1: 64 * MIB}),
        (640 * MIB, {0: 256 * MIB, 1: 64 * MIB}),
        (639 * MIB, {0: 256 * MIB, 1: 32 * MIB}),
        (528 * MIB, {0: 256 * MIB, 1: 8 * MIB}),
        (527 * MIB, {0: 222 * MIB, 1: 6 * MIB}),
        (6 * MIB, {}),
        (0, {}),
        (-22, {}),
    ],
)
def test_memory_fits_half_of_what_is_available(available: int | None, sizes: dict[int, int]) -> None:
    assert fitted({0: 256 * MIB, 1: 8 * MIB}, available) == sizes


def test_an_l3_that_the_kernel_does_not_report_is_assumed_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = made(2, 4, 0, 0)
    assert [cache for cache in shared_caches(machine, (0, 1, 4)) if cache.assumed] == [
        SharedCache(3, 32 * MIB, (0, 1), assumed=True),
        SharedCache(3, 32 * MIB, (4,), assumed=True),
    ]
    (step,) = steps(machine, "memory.loaded")
    emissions, _, _ = run(machine, step, monkeypatch)

    assert invalid_figures(step, emissions) == []
    assert {one.caveats for one in emissions if isinstance(one, Estimate)} == {
        ("the size of the L3 is unknown: 32 MiB per package is assumed",)
    }


def test_no_cache_of_a_core_without_l3_is_taken_for_the_l3_of_others() -> None:
    caches = shared_caches(hybrid(), (0, 8, 24))

    assert [(cache.level, cache.bytes, cache.cpus, cache.assumed) for cache in caches if cache.level == 3] == [
        (3, 36 * MIB, (0, 8), False),
        (3, 32 * MIB, (24,), True),
    ]


def test_threads_with_much_memory_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first thread of the scaling runs alone at the first point: it needs the whole L3, the others less."""
    machine = made(1, 4, 1, 512 * MIB)
    scaling = next(steps(machine, "memory.bandwidth"))
    _, points, _ = run(machine, scaling, monkeypatch)

    assert json.loads(str(scaling.settings["cpus"])) == [0, 1, 2, 3]
    assert points[-1].groups == [{0: 2 * GIB, 1: GIB, 2: 512 * MIB, 3: 512 * MIB}]
    assert scaling.touches == "4 GiB of memory"
