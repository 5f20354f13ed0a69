"""Many CPUs and nodes: what is chosen on made-up machines, and what runs on this one."""

import json
import os

import pytest
from msgspec.structs import replace

from fakes import HandContext
from sizeup.errors import RefusedError
from sizeup.model.machine import Gap, Machine
from sizeup.model.numa import NumaNode
from sizeup.model.plan import Refusal, SettingValue, Step
from sizeup.model.sample import Estimate, Samples
from sizeup.model.topology import Cache, CacheKind, Core, Pu
from sizeup.probing.api import Emission
from sizeup.probing.registry import load_class, load_registry
from sizeup.probing.settings import resolve
from sizeup_memory.binding import Pages, Placement, PlacementPolicy
from sizeup_memory.core_to_core import two_modes
from sizeup_memory.cpu_selection import core_first_cpus, cores_by_node, memory_nodes, node_memory, placement_figures
from sizeup_memory.numa import expected_interleaved
from sizeup_memory.shm import taken_share

MIB = 1 << 20
GIB = 1 << 30
CACHE = Cache(3, CacheKind.UNIFIED, 8 * MIB, 64, tuple(range(8)))
TWO_NODES = Machine(
    pus=tuple(Pu(cpu, online=True, allowed=cpu != 5, core=cpu % 4) for cpu in range(8)),
    cores=tuple(Core((core, core + 4), core // 2, 0, core) for core in range(4)),
    caches=(CACHE,),
    nodes=(
        NumaNode(0, (0, 1, 4, 5), memory_bytes=4 * GIB, free_bytes=3 * GIB),
        NumaNode(1, (2, 3, 6, 7), memory_bytes=4 * GIB, free_bytes=3 * GIB),
        NumaNode(2, (), memory_bytes=1 * GIB, free_bytes=1 * GIB),
        NumaNode(3, (), memory_bytes=0),
    ),
    memory_available_bytes=6 * GIB,
)
HERE_CPUS = tuple(sorted(os.sched_getaffinity(0)))
HERE = Machine(
    pus=tuple(Pu(cpu, online=True, allowed=True) for cpu in HERE_CPUS),
    caches=(Cache(3, CacheKind.UNIFIED, 1 * MIB, 64, HERE_CPUS),),
    nodes=(NumaNode(0, HERE_CPUS, memory_bytes=GIB),),
    memory_available_bytes=256 * MIB,
)
BRIEF: dict[str, SettingValue] = {
    "replicates": 2,
    "replicates_max": 2,
    "replicate": 0.01,
    "warm_up": 0.0,
    "budget": 0.1,
}


def plan(name: str, machine: Machine, **chosen: SettingValue) -> list[Step | Refusal]:
    registered = load_registry().get(name)
    known = {parameter.name for parameter in registered.manifest.parameter}
    settings = resolve(registered.manifest, None, {key: value for key, value in chosen.items() if key in known})
    return list(load_class(registered.target).plan(machine, settings))


def run(name: str, context: HandContext, **chosen: SettingValue) -> list[Emission]:
    registered = load_registry().get(name)
    (step,) = plan(name, HERE, **{**BRIEF, **chosen})
    if isinstance(step, Refusal):
        pytest.skip(step.reason)
    return list(load_class(registered.target).run(step, context))


def test_cores_come_first_node_by_node_and_siblings_last() -> None:
    assert core_first_cpus(TWO_NODES) == (0, 1, 2, 3, 4, 6, 7)
    assert cores_by_node(TWO_NODES, TWO_NODES.nodes)[1] == (2, 3)
    assert cores_by_node(TWO_NODES, TWO_NODES.nodes)[2] == ()


def test_a_memory_only_node_is_measured_and_a_memoryless_one_is_not() -> None:
    assert [node.os_id for node in memory_nodes(TWO_NODES)] == [0, 1, 2]
    cores = cores_by_node(TWO_NODES, TWO_NODES.nodes)
    near, far = (node_memory(node, cores, Pages.BASE) for node in (1, 2))
    assert (near.policy, near.nodes, near.touch_cpu) == (PlacementPolicy.BIND, (1,), 2)
    assert far.touch_cpu is None, "no CPU to touch it from"


def test_one_node_has_nothing_to_compare() -> None:
    with pytest.raises(RefusedError, match="fewer than two NUMA nodes with memory: there is nothing to compare"):
        plan("memory.numa", HERE)


def test_nodes_without_cpus_have_no_matrix_and_no_placements() -> None:
    """As firmware that lists memory by node and CPUs by none."""
    machine = replace(TWO_NODES, nodes=tuple(replace(node, pus=()) for node in TWO_NODES.nodes))

    (scaling,) = plan("memory.bandwidth", machine)
    assert isinstance(scaling, Step)
    assert scaling.id == "memory.bandwidth.scaling.thp"
    with pytest.raises(RefusedError, match="no NUMA node has a CPU that sizeup may use"):
        plan("memory.numa", machine)


def test_the_matrix_is_planned_from_every_node_with_cpus_to_every_node_with_memory() -> None:
    matrix, placements = plan("memory.numa", TWO_NODES)

    assert isinstance(matrix, Step)
    assert isinstance(placements, Step)
    assert (matrix.id, placements.id) == ("memory.numa.matrix.thp", "memory.numa.placements")
    assert json.loads(str(matrix.settings["nodes"])) == {"0": [0, 1], "1": [2, 3], "2": []}
    assert json.loads(str(matrix.settings["memory_nodes"])) == [0, 1, 2]


def test_every_pair_has_its_line_at_home_on_both_ends_and_on_a_third_node() -> None:
    (step,) = plan("memory.core-to-core", TWO_NODES)

    assert isinstance(step, Step)
    pairs = [tuple(pair) for pair in json.loads(str(step.settings["pairs"]))]
    assert (0, 1, 0, "same L3") in pairs
    assert {home for cpu, partner, home, _ in pairs if (cpu, partner) == (0, 2)} == {0, 1, 2}


def test_interleaving_is_expected_to_cost_the_mean_of_a_row() -> None:
    measured: dict[tuple[str, int, int | None], float] = {
        ("latency", 0, 0): 80.0,
        ("latency", 0, 1): 140.0,
        ("interleaved", 0, None): 121.0,
    }
    (estimate,) = expected_interleaved(measured)

    assert estimate == Estimate(
        "expected-interleaved",
        {"cpu_node": 0},
        110.0,
        extra={"local_ns": 80.0, "measured_ns": 121.0, "measured_over_expected": 1.1},
    )


def test_pages_elsewhere_are_doubted() -> None:
    placement = Placement(pages=200, on_node={0: 150, 1: 50}, elsewhere=0, huge_share=0.0, verified=True, bound=True)

    extra, caveats = placement_figures(placement, (0,))
    assert extra["share_where_asked"] == 0.75
    assert extra["pages_on_nodes"] == "0:150,1:50"
    assert caveats == ["only 75.0 % of the pages are on the requested node"]


def test_two_modes_are_seen_where_a_pair_moved_and_nowhere_else() -> None:
    moved = [28.0 + index % 3 for index in range(40)] + [173.0 + index % 5 for index in range(30)]
    smeared = [28.0 + index * 0.5 for index in range(70)]

    assert two_modes(moved) == (29.0, 175.0)
    assert two_modes(smeared) is None
    assert two_modes([28.0] * 69 + [500.0]) is None, "one outlier is no mode"
    assert two_modes([100.0 * 1.04**step for step in range(30)]) is None, "one wide group has no gap"
    assert two_modes([100.0] * 10 + [150.0] * 10) == (100.0, 150.0), "half as long again is apart"
    assert two_modes([100.0] * 10 + [149.0] * 10) is None
    assert two_modes([100.0] * 2 + [200.0] * 2) is None, "too few to tell"
    assert two_modes([100.0] * 2 + [200.0] * 3) == (100.0, 200.0)
    assert two_modes([100.0] * 8 + [200.0] * 2) == two_modes([100.0] * 2 + [200.0] * 8) == (100.0, 200.0)
    assert two_modes([]) is None


def test_the_node_that_gave_the_memory_is_told_from_free_memory() -> None:
    megabyte = 10**6
    before = {0: 3587 * megabyte, 1: 3956 * megabyte}
    after = {0: 1331 * megabyte, 1: 3951 * megabyte}

    assert round(taken_share(before, after, 0), 3) == 0.998
    assert taken_share(before, before, 0) == 0.0


def test_random_stores_give_a_cost_a_throughput_and_a_verdict(context: HandContext) -> None:
    emissions = run("memory.hammer", context, pages=1024, loops=50, replicates=1)

    estimates = [entry for entry in emissions if isinstance(entry, Estimate)]
    assert {entry.series for entry in estimates} == {"random-store", "throughput", "scaling"}
    first = next(entry for entry in estimates if entry.series == "random-store")
    assert str(first.extra["line"]).startswith("Total ops 51200 ")


@pytest.mark.ci
@pytest.mark.parametrize("name", ["memory.bandwidth", "memory.loaded"])
def test_streams_give_a_figure_or_say_what_disturbed_them(name: str, context: HandContext) -> None:
    emissions = run(name, context)

    values = [entry.value for entry in emissions if isinstance(entry, Estimate)]
    assert values or [entry for entry in emissions if isinstance(entry, Gap)]
    assert all(value > 0 for value in values)


@pytest.mark.ci
def test_a_line_takes_some_nanoseconds_from_core_to_core(context: HandContext) -> None:
    emissions = run("memory.core-to-core", context)

    values = [entry.value for entry in emissions if isinstance(entry, Estimate)]
    assert values or [entry for entry in emissions if isinstance(entry, Gap)]
    assert all(1 < value < 1e8 for value in values)


def test_shm_is_written_and_left_empty(context: HandContext) -> None:
    if not os.path.isdir("/dev/shm"):
        pytest.skip("/dev/shm is not mounted here")
    before = os.listdir("/dev/shm")
    emissions = run("memory.shm", context, bytes=16 * MIB, replicates=2)

    values = [value for entry in emissions if isinstance(entry, Samples) for value in entry.values]
    assert len(values) >= 2
    assert all(value > 1e6 for value in values)
    estimates = [entry for entry in emissions if isinstance(entry, Estimate)]
    assert estimates or [entry for entry in emissions if isinstance(entry, Gap)], (
        "neither a figure nor what disturbed it"
    )
    # An estimate on the way, which a busy host sees more of, knows the figure alone; the last one of a point says all.
    last = {(estimate.series, tuple(estimate.at.items())): estimate for estimate in estimates}
    assert all(estimate.extra["file_bytes"] == 16 * MIB for estimate in last.values())
    assert os.listdir("/dev/shm") == before


def test_clocks_are_compared_between_cpus_with_the_bound(context: HandContext) -> None:
    emissions = run("clock.skew", context, reads=20_000)

    estimates = [entry for entry in emissions if isinstance(entry, Estimate)]
    steps = {str(entry.at["method"]): entry for entry in estimates if entry.series == "smallest-step"}
    assert steps["clock_gettime-monotonic"].extra["backwards"] == 0
    for entry in estimates:
        if entry.series == "skew":
            assert entry.low is not None
            assert entry.high is not None
            assert entry.low <= entry.value <= entry.high
