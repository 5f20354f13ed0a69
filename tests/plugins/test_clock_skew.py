"""Which CPUs clock.skew compares."""

import json

import pytest
from msgspec.structs import replace

from cpu_shapes import SHAPES, eight_sockets, shape
from fakes import HandContext
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import SettingValue, Step
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup_clock import skew
from trees import large_machine

NAME = "clock.skew"
REGISTRY = load_registry()


def planned(machine: Machine, **chosen: SettingValue) -> Step:
    (step,) = make_plan(machine, REGISTRY, name="standard", probes=[NAME], settings={NAME: chosen}).steps
    return step


def compared(step: Step) -> set[int]:
    return {int(step.settings["cpu"]), *json.loads(str(step.settings["partners"]))}


def gaps(step: Step) -> list[Gap]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skew, "leave_cpus", lambda _: True)
        context = HandContext()
        context.cancel()
        return [emission for emission in skew.ClockSkew().run(step, context) if isinstance(emission, Gap)]


@pytest.mark.parametrize("name", [*SHAPES, "recorded"])
def test_every_node_and_package_is_compared(name: str) -> None:
    machine = large_machine() if name == "recorded" else SHAPES[name]()
    step = planned(machine)

    for part in (*machine.nodes, *machine.packages):
        assert compared(step) & set(part.pus)
    assert len(compared(step)) == min(64, len(machine.allowed_cpus))
    assert gaps(step) == []


def test_most_reads_are_of_two_packages() -> None:
    machine = shape(packages=2, cores=4, threads=2)
    step = planned(machine)

    first = json.loads(str(step.settings["partners"]))[0]
    assert first in machine.packages[1].pus


def test_packages_of_one_node_are_covered() -> None:
    """Where NUMA is switched off, one node holds all packages."""
    machine = shape(packages=8, cores=16)
    node = replace(machine.nodes[0], pus=machine.allowed_cpus)
    step = planned(replace(machine, nodes=(node,)), partners=10)

    assert all(compared(step) & set(package.pus) for package in machine.packages)


def test_nodes_and_packages_for_which_there_are_too_few_partners_are_a_gap() -> None:
    (gap,) = gaps(planned(eight_sockets(), partners=3))

    assert gap.subject.startswith(f"{NAME}: node ")
    assert gap.subject.count("node ") == 12
    assert gap.subject.count("package ") == 4
    assert gap.reason == "not compared: partners=3 is too few for every node and package. Raise it"
    assert gaps(planned(eight_sockets(), partners=0)) == []
