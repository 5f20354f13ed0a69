"""A latency is called local only where the pages lie on the node of the CPU that loads them."""

import json
import os

import pytest
from msgspec.structs import replace

from fakes import HandContext
from sizeup.model.machine import Gap, Machine
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.plan import Settings, SettingValue, Step
from sizeup.model.sample import Estimate
from sizeup.model.topology import Cache, CacheKind, Core, Pu
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup_memory import binding, latency
from sizeup_memory.binding import Placement
from sizeup_memory.cpu_selection import local_cpu, locality, without_memory
from sizeup_memory.numa import expected_interleaved

MIB, GIB = 1 << 20, 1 << 30


def machine(*nodes: NumaNode, forbidden: tuple[int, ...] = ()) -> Machine:
    cpus = sorted(cpu for node in nodes for cpu in node.pus)
    return Machine(
        pus=tuple(Pu(cpu, online=True, allowed=cpu not in forbidden, core=cpu) for cpu in cpus),
        cores=tuple(Core((cpu,), 0, 0, cpu) for cpu in cpus),
        caches=(Cache(3, CacheKind.UNIFIED, 8 * MIB, 64, tuple(cpus)),),
        nodes=nodes,
        memory_available_bytes=8 * GIB,
    )


def node(number: int, *cpus: int, free: int | None = 4 * GIB, total: int | None = 8 * GIB, **more: object) -> NumaNode:
    return NumaNode(number, cpus, memory_bytes=total, free_bytes=free, **more)  # type: ignore[arg-type]


LAST_WITHOUT = machine(node(0, 0, 1), node(1, 2, 3), node(2, 4, 5, free=0, total=0), node(3))
"""As the machine that gave 303 ns for local: its last CPUs have no memory."""


@pytest.mark.parametrize(
    ("host", "wanted", "cpu"),
    [
        (machine(node(0, 0, 1), node(1, 2, 3)), GIB, 3),
        (LAST_WITHOUT, GIB, 3),
        (machine(node(0, 0, 1), node(1, 2, 3), forbidden=(3,)), GIB, 2),
        (machine(node(0, 0, 1), node(1, 2, 3, free=MIB)), GIB, 1),
        (machine(node(0, 0, 1, free=2 * MIB), node(1, 2, 3, free=MIB)), GIB, 1),
        (machine(node(0, 0, 1), node(1, 2, 3, free=None)), GIB, 3),
        (machine(node(0, 0, 1), node(1, 2, 3, free=MIB, file_bytes=3 * GIB, shmem_bytes=0)), GIB, 3),
        (machine(node(0, 0, 1), node(1, 2, 3, free=MIB, file_bytes=3 * GIB, shmem_bytes=2 * GIB)), GIB, 1),
        (machine(node(0, 0, 1), node(1, 2, 3, allowed=False)), GIB, 1),
        (machine(node(0, free=GIB), node(1, 2, 3, free=0, total=0)), GIB, 3),
        (machine(node(0, 0, 1)), GIB, 1),
        (Machine(pus=(Pu(0, online=True, allowed=True), Pu(1, online=True, allowed=True))), GIB, 1),
        (Machine(), GIB, 0),
    ],
)
def test_the_cpu_is_the_last_one_whose_node_can_spare_the_memory(host: Machine, wanted: int, cpu: int) -> None:
    assert local_cpu(host, wanted) == cpu


def test_for_huge_pages_the_pool_of_the_node_counts() -> None:
    pool = (HugePages(2 * MIB, 64, 64),)
    host = machine(node(0, 0, 1, huge_pages=pool), node(1, 2, 3))

    assert local_cpu(host, 32 * MIB, 2 * MIB) == 1


def test_cpus_without_memory_are_known_and_unknown_nodes_are_no_such() -> None:
    assert without_memory(LAST_WITHOUT, (0, 3, 4, 5)) == (4, 5)
    assert without_memory(Machine(), (0, 1)) == ()


def placement(on_node: dict[int, int], *, verified: bool = True) -> Placement:
    return Placement(sum(on_node.values()), on_node, 0, 1.0, verified=verified, bound=True)


@pytest.mark.parametrize(
    ("found", "cpu_node", "nodes", "expected", "caveat"),
    [
        (placement({0: 100}), 0, 2, "local", ""),
        (placement({0: 995, 1: 5}), 0, 2, "local", ""),
        (placement({0: 100}), 2, 4, "remote", "not local: 100 % of the pages are on node 0, CPU 5 is on node 2"),
        (placement({0: 60, 1: 40}), 1, 2, "remote", "not local: 60 % of the pages are on node 0, CPU 5 is on node 1"),
        (placement({}, verified=False), 0, 2, "unknown", "not known to be local: it is unknown which node the pages"),
        (placement({0: 1}), None, 2, "unknown", "not known to be local: it is unknown which node CPU 5 is on"),
        (placement({}, verified=False), None, 1, "local", ""),
    ],
)
def test_only_pages_on_the_cpus_own_node_are_local(
    found: Placement, cpu_node: int | None, nodes: int, expected: str, caveat: str
) -> None:
    extra, caveats = locality(found, 5, cpu_node, nodes)

    assert extra["placement"] == expected
    assert [one.startswith(caveat) for one in caveats] == ([True] if caveat else [])


def step(host: Machine, **settings: SettingValue) -> Step:
    registry = load_registry()
    plan = make_plan(host, registry, name="quick", probes=["memory.latency"], settings={"memory.latency": settings})
    return plan.steps[0]


def test_the_plan_leaves_out_cpus_whose_node_has_no_memory() -> None:
    planned = step(LAST_WITHOUT)

    assert planned.cpus == (3,)
    assert (planned.settings["cpu"], planned.settings["cpu_node"], planned.settings["nodes"]) == (3, 1, 4)


@pytest.mark.parametrize(("pages_on", "expected"), [(0, "local"), (1, "remote")])
def test_a_figure_says_where_its_pages_were(
    pages_on: int, expected: str, context: HandContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binding.Latency, "placement", lambda *_: placement({pages_on: 512}))
    settings: Settings = {
        **step(LAST_WITHOUT).settings,
        "working_sets": json.dumps([16 << 10]),
        "largest": 16 << 10,
        "cpu": max(os.sched_getaffinity(0)),
        "cpu_node": 0,
        "replicate": 0.01,
        "warm_up": 0.0,
        "target": 0.9,
        "replicates_max": 60,
    }
    emissions = list(latency.MemoryLatency().run(replace(step(LAST_WITHOUT), settings=settings), context))
    final = [e for e in emissions if isinstance(e, Estimate) and e.converged is not None]

    assert final or [e for e in emissions if isinstance(e, Gap)], "where every batch was disturbed, it is said"
    assert {estimate.extra["placement"] for estimate in final} <= {expected}
    assert all(any(caveat.startswith("not local") for caveat in e.caveats) is (expected == "remote") for e in final)


def test_what_is_nearest_to_a_node_without_memory_is_not_called_local() -> None:
    measured: dict[tuple[str, int, int | None], float] = {("latency", 2, 0): 140.0, ("latency", 2, 1): 180.0}
    (estimate,) = expected_interleaved(measured)

    assert estimate.extra == {"nearest_ns": 140.0}


def test_pages_that_no_node_is_known_of_make_a_figure_neither_local_nor_remote() -> None:
    extra, caveats = locality(Placement(4096, {2: 1024}, 3072, 1.0, verified=True, bound=True), 5, 2, 4)

    assert extra["placement"] == "unknown"
    assert caveats == ["not known to be local: the node of 75 % of the pages is unknown"]
