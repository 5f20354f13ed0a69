"""The memory of processes that store at the same time, and their speedup."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from fakes import HandContext
from large_machines import GIB, MIB, TIB, made
from plugins.memory_steps import REGISTRY, invalid_figures, steps, with_memory
from recorded_traffic import RecordedTraffic, run
from sizeup.model.machine import Gap
from sizeup.model.sample import Estimate
from sizeup.probing.api import Emission
from sizeup.probing.registry import load_class
from sizeup_memory import hammer
from sizeup_memory.binding import Allocation, HammerResult


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

    def result(pages: int, processes: int) -> HammerResult:
        rate = 1e6 * (1 if pages > 131_072 else 2) * (1 if processes <= 16 else 16 / processes)
        return HammerResult(round(rate), 0, 10**9, 10**6, 10**9, 0)

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


def test_a_run_takes_half_a_second_whatever_the_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = made(1, 4, 1, MIB)
    (step,) = steps(machine, "memory.hammer")
    planned: list[tuple[int, float]] = []
    store_ns = {1: 10.0, 2: 12.0, 4: 40.0}

    def hammered(pages: int, loops: int, cpus: Sequence[int], _: Allocation) -> Any:
        ops = pages * loops
        planned.append((len(cpus), ops * store_ns[len(cpus)] / 1e9))
        one = HammerResult(ops, 0, 9, max(1, round(planned[-1][1] * 1e6)), 9, 0)
        return SimpleNamespace(call=lambda _: lambda: 0, results=lambda: [one] * len(cpus))

    RecordedTraffic(machine, monkeypatch)
    monkeypatch.setattr(hammer, "Hammer", hammered)
    list(load_class(REGISTRY.get(step.probe).target).run(step, HandContext()))
    _, *runs = planned

    assert runs[:3] == [(1, pytest.approx(0.5, 0.01)), (2, pytest.approx(0.6, 0.01)), (4, pytest.approx(1.7, 0.03))]
    assert all(seconds == pytest.approx(0.5, 0.01) for _, seconds in runs[3:])
