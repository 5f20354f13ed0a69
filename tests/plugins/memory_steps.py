"""Machines, and the steps of the memory probes on them."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from declared import declaration_of, series_of
from large_machines import EIGHT, GIB, MIB, made, one_large_l3
from sizeup.model.machine import Machine
from sizeup.model.plan import SettingValue, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.probing.api import Emission
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup.session.validity import StepValidity
from sizeup.session.value import Point, StepRun
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
