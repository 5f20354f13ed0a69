"""Buffers against caches: what every point of every memory plan has on large machines, which are made up here."""

import json

import pytest

from large_machines import GIB, KIB, MIB, hybrid, made
from plugins.memory_steps import MACHINES, PROBES, REGISTRY, SCARCE, invalid_figures, steps, with_memory
from recorded_traffic import multiple_of_cache, run
from sizeup.errors import RefusedError
from sizeup.model.plan import Refusal, SettingValue
from sizeup.model.sample import Estimate
from sizeup.probing.planner import make_plan
from sizeup_memory.buffers import SharedCache, bytes_for_all, bytes_per_thread, cache_multiple, fitted, shared_caches
from tiers import in_gate


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("shape", in_gate("^[1-6]:", MACHINES))
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
@pytest.mark.parametrize("shape", in_gate("recorded", SCARCE))
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
