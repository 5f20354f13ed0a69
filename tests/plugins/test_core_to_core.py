"""The plan of memory.core-to-core on machines of any size, and what it reports as not measured."""

import json
import re
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from cpu_shapes import SHAPES, eight_sockets, power, shape, two_cpus, two_sockets
from fakes import HandContext
from recorded_traffic import MeasuredJob
from sizeup.model.cpu_pairs import MIN_PAIRS, cpu_pairs
from sizeup.model.machine import Gap, Machine
from sizeup.model.numa import NumaNode
from sizeup.model.plan import Plan, SettingValue, Step
from sizeup.model.sample import Estimate
from sizeup.probing import native
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup_memory import core_to_core
from sizeup_memory.core_to_core import CoreToCore
from tiers import in_gate
from trees import large_machine

NAME = "memory.core-to-core"
REGISTRY = load_registry()
PLANS = in_gate("full", ("standard", "full"))


def plan(machine: Machine, name: str = "standard", **chosen: SettingValue) -> Plan:
    return make_plan(machine, REGISTRY, name=name, probes=[NAME], settings={NAME: chosen})


def planned(machine: Machine, name: str = "standard", **chosen: SettingValue) -> Step:
    (step,) = plan(machine, name, **chosen).steps
    return step


def lines(step: Step) -> list[tuple[int, int, int | None, str]]:
    return [tuple(line) for line in json.loads(str(step.settings["pairs"]))]


def measured(step: Step) -> Counter[str]:
    """Number of pairs by class."""
    return Counter(shares for _, _, shares in {(cpu, partner, shares) for cpu, partner, _, shares in lines(step)})


def machines() -> dict[str, Machine]:
    return {**{name: make() for name, make in SHAPES.items()}, "recorded": large_machine()}


@pytest.mark.parametrize("plan_name", PLANS)
@pytest.mark.parametrize("name", in_gate("2 sockets", [*SHAPES, "recorded"]))
def test_every_class_is_measured_within_the_time_limit(name: str, plan_name: str) -> None:
    machine = machines()[name]
    step = planned(machine, plan_name)
    found = measured(step)

    for shares, total in cpu_pairs(machine).totals.items():
        assert found[shares.value] >= min(MIN_PAIRS, total)
    replicates = int(step.settings["replicates"])
    assert step.estimated_seconds >= len(lines(step)) * replicates * float(step.settings["replicate"])
    assert step.time_limit_seconds >= 1.5 * step.estimated_seconds
    assert step.time_limit_seconds <= REGISTRY.get(NAME).manifest.limits.seconds


@pytest.mark.parametrize("plan_name", PLANS)
@pytest.mark.parametrize(
    "machine", [pytest.param(eight_sockets(), marks=pytest.mark.ci), two_sockets(), large_machine()]
)
def test_every_pair_of_nodes_is_measured_with_the_line_on_both(machine: Machine, plan_name: str) -> None:
    node_of = {cpu: node.os_id for node in machine.nodes for cpu in node.pus}
    homes: dict[frozenset[int], set[int | None]] = {}
    for cpu, partner, home, _ in lines(planned(machine, plan_name)):
        homes.setdefault(frozenset((node_of[cpu], node_of[partner])), set()).add(home)

    nodes = len(machine.nodes)
    assert len(homes) == nodes * (nodes + 1) // 2
    assert all(pair <= found for pair, found in homes.items())


@pytest.mark.parametrize("machine", [two_cpus(), shape(cores=8, threads=2), shape(packages=2, cores=6)])
def test_all_pairs_are_measured_where_they_fit(machine: Machine) -> None:
    step = planned(machine)

    assert measured(step) == {shares.value: total for shares, total in cpu_pairs(machine).totals.items()}
    assert len(set(lines(step))) == len(lines(step))
    assert gaps(step) == []


def test_a_larger_budget_measures_more_pairs() -> None:
    machine = shape(cores=16, threads=2)
    some, all_of_them = planned(machine), planned(machine, budget=8.0)

    assert sum(measured(some).values()) < sum(measured(all_of_them).values()) == 496
    assert (all_of_them.estimated_seconds, all_of_them.time_limit_seconds) == (pytest.approx(53, rel=0.1), 140)


@pytest.mark.parametrize("plan_name", PLANS)
@pytest.mark.parametrize("cores", [16, 32, 64])
def test_a_sample_leaves_a_core_to_the_console(cores: int, plan_name: str) -> None:
    machine = shape(cores=cores, threads=2)
    step = planned(machine, plan_name, replicate=0.03)

    free = set(machine.allowed_cpus) - set(step.cpus)
    assert any(free.issuperset(core.pus) for core in machine.cores)


def test_no_class_falls_below_three_pairs_for_a_free_core() -> None:
    step = planned(shape(cores=3, threads=2), replicate=2.0)

    assert measured(step) == {"SMT sibling": 3, "same L3": 3}


def test_a_line_is_on_nodes_with_memory_alone() -> None:
    machine = shape(packages=3, cores=2)
    nodes = (
        machine.nodes[0],
        replace(machine.nodes[1], memory_bytes=0),
        machine.nodes[2],
        NumaNode(3, (), memory_bytes=1),
    )
    homes: dict[tuple[int, int], set[int | None]] = {}
    for cpu, partner, home, _ in lines(planned(replace(machine, nodes=nodes))):
        homes.setdefault((cpu, partner), set()).add(home)

    assert homes[(0, 1)] == {0}
    assert homes[(2, 3)] == {None}, "neither CPU has memory on its node"
    assert homes[(0, 2)] == {0}
    assert homes[(0, 4)] == {0, 2, 3}, "and a third node, which has no CPUs"


def test_too_long_a_measurement_is_refused() -> None:
    (refusal,) = plan(power(), replicate=10.0).refusals

    assert re.fullmatch(
        r"it would take about \d{3} s: expected at most 400 s, as a step of memory.core-to-core is ended after 600 s; "
        "set what it measures lower",
        refusal.reason,
    )


@pytest.mark.parametrize(("replicate", "seconds"), [(1.0, 110.0), (2.0, 1.5 * 120.3872)])
def test_the_time_limit_is_that_of_the_budget_or_half_more_than_the_estimate(replicate: float, seconds: float) -> None:
    """A budget of 5 s has a limit of 110 s; 12 pairs in five replicates of 2 s take 120 s."""
    assert planned(power(), replicate=replicate, budget=5.0).time_limit_seconds == pytest.approx(seconds)


def run(step: Step) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_to_core, "new_job", MeasuredJob)
        patch.setattr(native, "leave_cpus", lambda _: True)
        patch.setattr(core_to_core.Handoff, "call", lambda *_: None)
        return list(CoreToCore().run(step, HandContext()))


def gaps(step: Step) -> list[Gap]:
    return [emission for emission in run(step) if isinstance(emission, Gap)]


@pytest.mark.parametrize(
    "machine", [pytest.param(eight_sockets(), marks=pytest.mark.ci), large_machine(), shape(cores=32, threads=2)]
)
def test_each_class_that_is_measured_in_part_is_a_gap_with_its_number(machine: Machine) -> None:
    step = planned(machine)
    found = {gap.subject: gap.reason for gap in gaps(step)}

    count = measured(step)
    expected = {
        f"{NAME}: {total - count[shares.value]:,} of {total:,} pairs of CPUs ({shares.value})": (
            f"not measured: all would exceed the time limit of the step. {count[shares.value]:,} were measured, "
            "spread over the machine. A larger budget or fewer replicates measure more pairs"
        )
        for shares, total in cpu_pairs(machine).totals.items()
        if count[shares.value] < total
    }
    assert found == expected != {}


def test_the_number_of_measurements_in_a_step_is_limited() -> None:
    step = planned(eight_sockets(), replicate=0.002, replicates=2, budget=54.0)

    assert 1022 <= len(lines(step)) <= 1024
    assert {gap.reason.split(".")[0] for gap in gaps(step)} == {"not measured: at most 1,024 measurements fit one step"}
    assert all("budget" not in gap.reason for gap in gaps(step))


def test_each_figure_says_what_the_two_cpus_share() -> None:
    step = planned(eight_sockets())
    shares = {(cpu, partner): shares for cpu, partner, _, shares in lines(step)}
    estimates = [emission for emission in run(step) if isinstance(emission, Estimate)]

    assert len(estimates) == len(lines(step))
    for estimate in estimates:
        assert estimate.extra["shares"] == shares[int(estimate.at["cpu"]), int(estimate.at["partner"])]
