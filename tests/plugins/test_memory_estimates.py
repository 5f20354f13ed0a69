"""How long the steps of the memory probes take."""

import json

import pytest
from msgspec.structs import replace

from large_machines import GIB, KIB, MIB, eight_sockets, made
from plugins.memory_steps import PROBES, steps
from sizeup_memory import durations
from sizeup_memory.binding import Pages, StopRule
from sizeup_memory.durations import allocating_seconds, measuring_seconds


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
    rule = StopRule(0.1, 0.02, budget, 5, replicates_max, 0.05, 1)
    assert measuring_seconds(rule, 10, 0.08) == pytest.approx(seconds)


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

    assert durations.rounds_seconds(1.0, StopRule(0.1, 0.0, budget, 3, 8, 0.05, 1)) == pytest.approx(
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


def test_loops_that_were_set_count_in_the_estimate() -> None:
    (usual,), (long,) = (steps(made(1, 4, 1, MIB), "memory.hammer", loops=loops) for loops in (0, 1000))

    assert long.estimated_seconds > usual.estimated_seconds + 3 * 5 * 1000 * 131_072 * 10e-9
    assert long.time_limit_seconds >= 1.5 * long.estimated_seconds
