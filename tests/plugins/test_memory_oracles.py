"""What the memory probes tell the native code and make of its figures; and these beside loops written apart from it."""

import json
import os
from itertools import pairwise

import pytest
from msgspec.structs import replace

from fakes import HandContext
from plugins.told import CPUS, MACHINE, Told, median_of
from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.model.plan import SettingValue, Step
from sizeup.model.sample import Estimate
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_class, load_registry
from sizeup_memory import binding, hammer, latency, shm
from sizeup_memory.binding import (
    Allocation,
    ChasePoint,
    Hammer,
    HammerResult,
    Handoff,
    Latency,
    Member,
    Pages,
    Pair,
    PlacementPolicy,
    StopRule,
    Traffic,
    TrafficPoint,
    new_job,
)

ffi, lib = binding.ffi, binding.lib
MIB, GIB = 1 << 20, 1 << 30
REGISTRY = load_registry()
RULE = StopRule(
    replicate_seconds=0.3,
    warm_up_seconds=0.4,
    budget_seconds=5.5,
    replicates_min=7,
    replicates_max=33,
    target=0.2,
    seed=99,
    batch_seconds=0.002,
)
RULE_TOLD = {
    "batch_ns": 2_000_000,
    "replicate_ns": 300_000_000,
    "warm_up_ns": 400_000_000,
    "budget_ns": 5_500_000_000,
    "replicates_min": 7,
    "replicates_max": 33,
    "target": 0.2,
    "seed": 99,
}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    stand_in = Told()
    monkeypatch.setattr(binding, "lib", stand_in)
    return stand_in


def run(probe: str, machine: Machine = MACHINE, name: str = "standard", **chosen: SettingValue) -> list[Estimate]:
    """Return the final estimates of all steps."""
    registered = REGISTRY.get(probe)
    steps = make_plan(machine, REGISTRY, name=name, probes=[probe], settings={probe: chosen}).steps
    return [
        emission
        for step in steps
        for emission in load_class(registered.target).run(step, HandContext())
        if isinstance(emission, Estimate) and emission.converged is not False and emission.series != "validity"
    ]


def test_every_field_of_a_chase_arrives(told: Told) -> None:
    memory = Allocation(Pages.HUGE2M, PlacementPolicy.BIND, (1, 3), 6)
    Latency([ChasePoint(1 << 20, 64, 5, 4096, 9, memory), ChasePoint(2 << 20, 128, 6)], RULE).call(new_job())()

    ((_, points, count, rule, *_),) = told.of("sizeup_latency_run")
    assert points == [
        {
            "span_bytes": 1 << 20,
            "stride_bytes": 64,
            "block_bytes": 4096,
            "cpu": 5,
            "sibling": 9,
            "pages": Pages.HUGE2M,
            "placement": PlacementPolicy.BIND,
            "nodes": 0b1010,
            "touch_cpu": 6,
        },
        {
            "span_bytes": 2 << 20,
            "stride_bytes": 128,
            "block_bytes": 0,
            "cpu": 6,
            "sibling": -1,
            "pages": Pages.THP,
            "placement": PlacementPolicy.FIRST_TOUCH,
            "nodes": 0,
            "touch_cpu": -1,
        },
    ]
    assert (count, rule) == (2, RULE_TOLD)


def test_every_field_of_a_thread_group_arrives(told: Told) -> None:
    memory = Allocation(Pages.BASE, PlacementPolicy.INTERLEAVE, (0, 2), 4)
    members = [Member(3, 8 * MIB, memory, chases=True, stride_bytes=128), Member(2, 4 * MIB, Allocation())]
    Traffic(members, [TrafficPoint(1, 33, 800), TrafficPoint(0)], RULE).call(new_job())()

    ((_, threads, thread_count, points, point_count, rule, _),) = told.of("sizeup_traffic_run")
    assert threads == [
        {
            "role": lib.SIZEUP_ROLE_CHASE,
            "cpu": 3,
            "stride_bytes": 128,
            "memory": {
                "bytes": 8 * MIB,
                "pages": Pages.BASE,
                "placement": PlacementPolicy.INTERLEAVE,
                "nodes": 0b101,
                "touch_cpu": 4,
            },
        },
        {
            "role": lib.SIZEUP_ROLE_STREAM,
            "cpu": 2,
            "stride_bytes": 64,
            "memory": {
                "bytes": 4 * MIB,
                "pages": Pages.THP,
                "placement": PlacementPolicy.FIRST_TOUCH,
                "nodes": 0,
                "touch_cpu": -1,
            },
        },
    ]
    assert points == [
        {"streams": 1, "delay_ns": 800, "write_percent": 33},
        {"streams": 0, "delay_ns": 0, "write_percent": 0},
    ]
    assert (thread_count, point_count, rule) == (2, 2, RULE_TOLD)


def test_every_field_of_pairs_and_processes_arrives(told: Told) -> None:
    Handoff([Pair(0, 3, 1), Pair(1, 2)], RULE).call(new_job())()
    Hammer(512, 9, [2, 0], Allocation(Pages.BASE, PlacementPolicy.BIND, (1,), 2)).call(new_job())()

    ((_, pairs, count, rule),) = told.of("sizeup_handoff_run")
    assert pairs == [{"cpu": 0, "partner": 3, "home": 0b10}, {"cpu": 1, "partner": 2, "home": 0}]
    assert (count, rule) == (2, RULE_TOLD)
    ((_, pages, loops, cpus, processes, memory, _),) = told.of("sizeup_hammer_run")
    assert (pages, loops, cpus, processes) == (512, 9, [2, 0], 2)
    assert memory == {"bytes": 0, "pages": 0, "placement": PlacementPolicy.BIND, "nodes": 0b10, "touch_cpu": 2}


def test_bandwidth_is_that_of_the_point_it_is_reported_at(told: Told) -> None:
    found = run("memory.bandwidth", pages="4k")

    calls = told.of("sizeup_traffic_run")
    assert calls
    scaling = calls[0]
    by_figure = {median_of(2 * index + 1): point for index, point in enumerate(scaling[3])}
    for estimate in (one for one in found if one.series.startswith("scaling-")):
        point = by_figure[estimate.value]
        assert point["streams"] == estimate.at["threads"]
        assert point["write_percent"] == {"scaling-read": 0, "scaling-write": 100}[estimate.series]
    assert {estimate.at["threads"] for estimate in found if estimate.series == "scaling-read"} == {1, 2, 4}
    assert [member["cpu"] for member in scaling[1]] == sorted(member["cpu"] for member in scaling[1])
    for cell in calls[1:]:
        nodes = {member["cpu"] // 2 for member in cell[1]}
        assert len(nodes) == 1
        assert all(point["streams"] == 2 for point in cell[3])


def test_the_matrix_of_bandwidth_is_of_its_two_nodes(told: Told) -> None:
    found = [one for one in run("memory.bandwidth", pages="4k") if one.series == "read"]

    cells = [
        ({member["cpu"] // 2 for member in call[1]}, {member["memory"]["nodes"] for member in call[1]})
        for call in told.of("sizeup_traffic_run")[1:]
    ]
    assert [({one.at["cpu_node"]}, {1 << int(one.at["memory_node"])}) for one in found] == cells


def test_each_point_of_loaded_latency_has_its_own_latency_and_bandwidth(told: Told) -> None:
    found = run("memory.loaded")

    ((_, members, _, points, _, _, _),) = told.of("sizeup_traffic_run")
    assert [member["role"] for member in members] == [lib.SIZEUP_ROLE_CHASE, *[lib.SIZEUP_ROLE_STREAM] * (CPUS - 1)]
    assert all(point["streams"] == CPUS - 1 for point in points)
    assert len({(point["write_percent"], point["delay_ns"]) for point in points}) == len(points)
    by_delay = {
        (one.series, one.at["write_percent"], one.at["delay_ns"]): one.value for one in found if "delay_ns" in one.at
    }
    for index, point in enumerate(points):
        where = point["write_percent"], point["delay_ns"]
        assert by_delay["latency-by-delay", *where] == median_of(2 * index)
        assert by_delay["bandwidth-by-delay", *where] == median_of(2 * index + 1)
    curve = [one for one in found if one.series == "latency"]
    assert len(curve) == len(points)
    for one in curve:
        assert one.at["bytes_per_second"] == one.value + 1, "the bandwidth of the same point"
        where = one.at["write_percent"], one.extra["delay_ns"]
        assert by_delay["latency-by-delay", *where] == one.value


def test_each_pattern_of_latency_is_on_its_own_pages_and_strides(told: Told) -> None:
    for pattern, pages, stride, block in (
        ("dram-thp", Pages.THP, 64, 0),
        ("dram-4k", Pages.BASE, 64, 0),
        ("tlb-local", Pages.BASE, 256, 256 << 10),
    ):
        told.calls.clear()
        found = [one for one in run("memory.latency", patterns=pattern) if one.series == pattern]
        ((_, points, *_),) = told.of("sizeup_latency_run")
        assert {(point["pages"], point["stride_bytes"]) for point in points} == {(pages, stride)}
        assert all(point["block_bytes"] == min(block, point["span_bytes"]) for point in points)
        assert [(one.at["working_set_bytes"], one.value) for one in found] == [
            (point["span_bytes"], median_of(index)) for index, point in enumerate(points)
        ]
        assert all(a["span_bytes"] < b["span_bytes"] for a, b in pairwise(points))


def test_the_matrix_of_latency_is_of_its_two_nodes(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run("memory.numa", pages="4k")

    points = [point for call in told.of("sizeup_latency_run") for point in call[1] if len(call[1]) > 1]
    matrix = [one for one in found if one.series in {"latency", "interleaved"}]
    assert matrix
    for one, point in zip(matrix, points, strict=True):
        assert point["cpu"] // 2 == one.at["cpu_node"]
        if one.series == "latency":
            assert (point["nodes"], point["placement"]) == (1 << int(one.at["memory_node"]), PlacementPolicy.BIND)
        else:
            assert (point["nodes"], point["placement"]) == (0b11, PlacementPolicy.INTERLEAVE)


def test_pairs_are_those_they_are_reported_as(told: Told) -> None:
    found = [one for one in run("memory.core-to-core") if one.series == "handoff"]

    ((_, pairs, _, _),) = told.of("sizeup_handoff_run")
    assert len(found) == len(pairs)
    for one, pair in zip(found, pairs, strict=True):
        assert (one.at["cpu"], one.at["partner"]) == (pair["cpu"], pair["partner"])
        assert pair["home"] == (1 << int(one.at["home_node"]) if "home_node" in one.at else 0)
    assert {pair["home"] for pair in pairs} == {1, 2}


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="/dev/shm is not mounted here")
def test_a_file_gets_its_pages_from_its_own_node(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shm, "read_free_by_node", dict)
    found = [one for one in run("memory.shm", bytes=32 * MIB) if one.series == "write"]

    homes = [cpu // 2 for _, _, _, cpu, _ in told.of("sizeup_shm_fill")]
    assert homes == [0, 1]
    writers = [cpu // 2 for _, _, _, cpus, _, _ in told.of("sizeup_shm_run") for cpu in cpus]
    assert [(one.at["cpu_node"], one.at["memory_node"]) for one in found] == [
        (writer, homes[index // 2]) for index, writer in enumerate(writers)
    ]


def result(ops: int, wall_us: int, cpu_ns: int) -> HammerResult:
    return HammerResult(ops, 0, wall_us * 1000, wall_us, cpu_ns, 0)


def test_processes_together_have_the_sum_of_their_stores() -> None:
    runs = {1: [(result(1000, 1000, 1_000_000),)], 2: [(result(1000, 1000, 1_000_000), result(1000, 2000, 2_000_000))]}
    found = {
        (one.series, one.at["processes"]): one
        for count, results in runs.items()
        for one in hammer._estimates(hammer.HammerPoint(count, 16), results, ())
    }

    assert found["throughput", 1].value == 1e6
    assert found["throughput", 2].value == 1.5e6
    assert found["random-store", 2].value == 1500.0
    assert found["random-store", 2].minimum == 1000.0
    assert found["random-store", 2].extra["pages"] == 16
    assert not any(one.caveats for one in found.values())


def test_a_process_that_shared_its_cpu_is_told() -> None:
    runs = [(result(1000, 1000, 940_000),), (result(1000, 1000, 1_000_000),)]

    assert all(
        "a process had its CPU for only 94 % of the time" in one.caveats[0]
        for one in hammer._estimates(hammer.HammerPoint(1, 16), runs, ())
    )


def test_the_step_of_a_plan_measures_on_the_cpu_it_names(told: Told) -> None:
    (step,) = make_plan(
        MACHINE, REGISTRY, name="quick", probes=["memory.latency"], settings={"memory.latency": {"cpu": 1}}
    ).steps
    assert isinstance(step, Step)
    list(latency.MemoryLatency().run(step, HandContext()))

    ((_, points, *_),) = told.of("sizeup_latency_run")
    assert {point["cpu"] for point in points} == {1}
    assert json.loads(str(step.settings["working_sets"])) == [point["span_bytes"] for point in points]


def test_names_have_the_numbers_of_the_native_code() -> None:
    for kind, prefix in ((Pages, "SIZEUP_PAGES_"), (PlacementPolicy, "SIZEUP_PLACE_")):
        assert {one.name: int(one) for one in kind} == {one.name: getattr(lib, prefix + one.name) for one in kind}


def test_cpu_0_is_a_choice_and_no_default(told: Told) -> None:
    steps = make_plan(
        MACHINE, REGISTRY, name="quick", probes=["memory.latency"], settings={"memory.latency": {"cpu": 0}}
    ).steps

    assert [step.cpus for step in steps] == [(0,)]


def test_a_machine_that_reports_no_cache_is_taken_to_have_32_mib() -> None:
    for machine, expected in ((replace(MACHINE, caches=()), 32 * MIB), (MACHINE, MACHINE.last_level_cache_bytes)):
        steps = make_plan(machine, REGISTRY, name="quick", probes=["memory.latency"]).steps
        assert {step.settings["last_level_cache_bytes"] for step in steps} == {expected}


def test_local_memory_of_a_node_that_has_none_is_told(told: Told) -> None:
    nodes = (*MACHINE.nodes[:1], replace(MACHINE.nodes[1], memory_bytes=0, free_bytes=0))
    third = NumaNode(2, (), memory_bytes=64 * GIB, free_bytes=64 * GIB)
    figures = run("memory.numa", replace(MACHINE, nodes=(*nodes, third)), "full")
    found = {one.at["placement"]: one.caveats for one in figures if one.series == "placement"}

    assert len(found) > 1
    for name, caveats in found.items():
        assert any("have no memory on their own node" in caveat for caveat in caveats) is (name == "local")


def test_one_process_alone_has_a_scaling_of_1(told: Told) -> None:
    alone = replace(MACHINE, pus=MACHINE.pus[:1], cores=MACHINE.cores[:1], nodes=(replace(MACHINE.nodes[0], pus=(0,)),))
    found = [one for one in run("memory.hammer", alone, "quick", loops=3) if one.series == "scaling"]

    assert [(one.at, one.value) for one in found] == [({"processes": 1}, 1.0)]
