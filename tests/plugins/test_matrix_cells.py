"""Cells of large matrices: which are measured, and what is told of the others."""

import json
from collections import Counter
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from large_machines import EIGHT, GIB, MIB, eight_sockets, made, memory_only
from recorded_traffic import run
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import SettingValue, Step
from sizeup.model.sample import Estimate
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup_memory.matrix_cells import MatrixCell, all_cells, sampled
from tiers import one_in

REGISTRY = load_registry()


def with_cpus(machine: Machine) -> list[int]:
    return [node.os_id for node in machine.nodes if node.pus]


def seconds_of(cells: Sequence[MatrixCell]) -> float:
    return float(len(cells))


def sample(machine: Machine, most: float) -> tuple[MatrixCell, ...]:
    return sampled(all_cells(machine, with_cpus(machine), interleaved=True), seconds_of, most)


def kinds(cells: Sequence[MatrixCell]) -> Counter[str]:
    return Counter(cell.kind for cell in cells)


def test_the_class_of_a_cell_is_what_lies_between_its_nodes() -> None:
    assert kinds(all_cells(eight_sockets(), range(16), interleaved=True)) == {
        "local": 16,
        "same package, distance 12": 16,
        "remote, distance 21": 96,
        "remote, distance 31": 128,
        "interleaved": 16,
    }
    assert kinds(all_cells(memory_only(), (0, 1))) == {
        "local": 2,
        "remote, distance 21": 2,
        "node without CPUs, distance 16": 2,
        "node without CPUs, distance 25": 2,
    }


def test_without_distances_and_packages_local_and_remote_are_left() -> None:
    machine = made(2, 4, 1, MIB)
    nodes = tuple(replace(node, distances=()) for node in machine.nodes)

    assert kinds(all_cells(replace(machine, nodes=nodes, packages=()), (0, 1))) == {"local": 2, "remote": 2}


@pytest.mark.parametrize("name", EIGHT)
def test_all_cells_that_fit_are_measured_in_their_order(name: str) -> None:
    machine = EIGHT[name]()
    cells = all_cells(machine, with_cpus(machine), interleaved=True)

    assert sampled(cells, seconds_of, len(cells)) == cells


@pytest.mark.parametrize("name", EIGHT)
@pytest.mark.parametrize("most", one_in(3, [0.0, 40.0, 100.0]))
def test_a_sample_has_every_local_cell_row_column_and_class(name: str, most: float) -> None:
    machine = EIGHT[name]()
    cells = all_cells(machine, with_cpus(machine), interleaved=True)
    found = sample(machine, most)
    totals = kinds(cells)

    assert len(set(found)) == len(found)
    assert all(kinds(found)[kind] >= min(3, total) for kind, total in totals.items())
    assert kinds(found)["local"] == totals["local"]
    assert {cell.cpu_node for cell in found} == {cell.cpu_node for cell in cells}
    assert {cell.memory_node for cell in found} == {cell.memory_node for cell in cells}
    least = len(sample(machine, 0.0))
    assert len(found) == max(least, min(len(cells), int(most)))


def test_nodes_without_memory_or_without_cpus_are_in_a_sample() -> None:
    machine = made(4, 4, 1, MIB, memory_only=[GIB] * 16)
    nodes = (replace(machine.nodes[0], memory_bytes=0), *machine.nodes[1:])
    found = sample(replace(machine, nodes=nodes), 0.0)

    assert {cell.cpu_node for cell in found} == {0, 1, 2, 3}
    assert {cell.memory_node for cell in found} == {*range(1, 20), None}


def test_a_sample_is_spread_over_the_nodes() -> None:
    found = [cell for cell in sample(eight_sockets(), 100.0) if cell.memory_node is not None]

    for of in (Counter(cell.cpu_node for cell in found), Counter(cell.memory_node for cell in found)):
        assert max(of.values()) - min(of.values()) <= 4, of


def planned(probe: str, **chosen: SettingValue) -> list[Step]:
    return list(make_plan(eight_sockets(), REGISTRY, name="standard", probes=[probe], settings={probe: chosen}).steps)


@pytest.mark.parametrize("probe", ["memory.numa", "memory.bandwidth", "memory.shm"])
def test_the_chosen_cells_are_measured_and_the_others_are_gaps(probe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step for step in planned(probe) if "cells" in step.settings]
    measured: set[tuple[int, int | None]] = set()
    chosen: set[tuple[int, int | None]] = set()
    missing = 0
    for step in steps:
        emissions, _, gaps = run(eight_sockets(), step, monkeypatch)
        figures = [one for one in emissions if isinstance(one, Estimate) and "cpu_node" in one.at]
        measured |= {
            (int(one.at["cpu_node"]), None if one.series == "interleaved" else int(one.at["memory_node"]))
            for one in figures
            if one.series != "expected-interleaved"
        }
        chosen |= {(row, column) for row, column, _ in json.loads(str(step.settings["cells"]))}
        missing += sum(int(gap.subject.split(": ")[-1].split(" of ")[0]) for gap in gaps)

    total = 256 + 16 * (probe == "memory.numa")
    assert measured == chosen
    assert 0 < missing == total - len(chosen)


def test_a_gap_names_the_class_its_number_and_what_measures_more(monkeypatch: pytest.MonkeyPatch) -> None:
    step, _ = planned("memory.numa", matrix_time=10.0)
    _, _, gaps = run(eight_sockets(), step, monkeypatch)

    assert gaps[0] == Gap(
        "memory.numa: 13 of 16 cells of the matrix (same package, distance 12)",
        "not measured: all would take longer than matrix_time=10 s. 3 were measured, spread over the nodes. "
        "A larger matrix_time measures more",
    )


def test_no_mean_of_a_row_is_made_of_a_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = made(2, 4, 1, MIB, nodes=2)
    expected = []
    for most in (40.0, 1.0):
        chosen: dict[str, SettingValue] = {"pages": "thp", "matrix_time": most}
        step, _ = make_plan(
            machine, REGISTRY, name="full", probes=["memory.numa"], settings={"memory.numa": chosen}
        ).steps
        emissions, _, _ = run(machine, step, monkeypatch)
        expected.append(
            [one for one in emissions if isinstance(one, Estimate) and one.series == "expected-interleaved"]
        )
        complete = Counter(row for row, column, _ in json.loads(str(step.settings["cells"])) if column is not None)

    assert len(expected[0]) == 4
    assert len(expected[1]) == sum(count == 4 for count in complete.values()) < 4


@pytest.mark.parametrize("probe", ["memory.numa", "memory.bandwidth", "memory.shm"])
@pytest.mark.parametrize("most", one_in(3, [20.0, 60.0, 150.0]))
def test_a_matrix_takes_its_time_and_no_longer(probe: str, most: float) -> None:
    matrix = [step for step in planned(probe, matrix_time=most, budget=60.0) if "cells" in step.settings]
    least = [step for step in planned(probe, matrix_time=1.0) if "cells" in step.settings]
    seconds = sum(step.estimated_seconds for step in matrix)

    assert seconds <= max(most, sum(step.estimated_seconds for step in least)) * 1.1
    assert sum(len(json.loads(str(step.settings["cells"]))) for step in matrix) > 16
