"""The chain of dependent loads: what is planned, what is measured, what is refused."""

import json
import os

import pytest
from msgspec.structs import replace

from fakes import HandContext
from sizeup.errors import RefusedError
from sizeup.model.machine import Machine
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.plan import Refusal, SettingValue, Step
from sizeup.model.sample import Estimate, Progress, Samples
from sizeup.model.topology import Cache, CacheKind, Core, Pu
from sizeup.probing.api import Emission
from sizeup.probing.registry import load_registry
from sizeup.probing.settings import resolve
from sizeup_memory import binding
from sizeup_memory.binding import Allocation, ChasePoint, StopRule, available_bytes
from sizeup_memory.chase_patterns import working_sets
from sizeup_memory.latency import MemoryLatency

MIB = 1 << 20
MACHINE = Machine(
    pus=tuple(Pu(cpu, online=True, allowed=cpu != 3, core=cpu // 2) for cpu in range(4)),
    cores=(Core((0, 1), 0, 0, 0), Core((2, 3), 0, 0, 1)),
    caches=(
        Cache(1, CacheKind.DATA, 32 << 10, 64, (0, 1)),
        Cache(1, CacheKind.DATA, 32 << 10, 64, (2, 3)),
        Cache(3, CacheKind.UNIFIED, 8 * MIB, 64, (0, 1, 2, 3)),
    ),
    nodes=(NumaNode(0, (0, 1, 2, 3), huge_pages=(HugePages(2 * MIB, 12, 12),)),),
    memory_available_bytes=4 << 30,
)


def plan(plan_name: str = "quick", **chosen: SettingValue) -> list[Step | Refusal]:
    manifest = load_registry().get("memory.latency").manifest
    return list(MemoryLatency().plan(MACHINE, resolve(manifest, plan_name, chosen)))


def quick_step(**changes: SettingValue) -> Step:
    """A step small enough for any machine, on a CPU that this process may use."""
    (step,) = plan()
    assert isinstance(step, Step)
    settings = {
        **step.settings,
        "working_sets": json.dumps([16 << 10, 1 * MIB]),
        "points": 2,
        "cpu": max(os.sched_getaffinity(0)),
        "replicate": 0.01,
        "warm_up": 0.002,
        # A busy machine disturbs many batches: more rounds are allowed than a quiet one needs.
        "target": 0.9,
        "replicates_max": 60,
        "budget": 60.0,
        **changes,
    }
    del settings["sibling"]
    return replace(step, settings=settings)


def test_the_ladder_keeps_both_ends_and_climbs_by_powers_of_two() -> None:
    assert working_sets(16, 100, 64) == (16, 32, 64, 128)
    assert working_sets(16 << 10, 256 * MIB, 5) == (16 << 10, 256 << 10, 2 * MIB, 16 * MIB, 256 * MIB)


def test_a_step_knows_all_it_needs_and_measures_beyond_the_last_cache() -> None:
    (step,) = plan("standard", patterns="dram-4k")

    assert isinstance(step, Step)
    assert step.id == "memory.latency.dram-4k"
    assert step.cpus == (2,), "the last CPU this process may use"
    assert step.settings["sibling"] == 3
    sizes = json.loads(str(step.settings["working_sets"]))
    assert sizes == [8 << 10, 16 << 10, 2 * MIB, 4 * MIB, 32 * MIB]


def test_huge_pages_decide_how_far_their_ladder_goes() -> None:
    two_mib, one_gib = plan("full", patterns="hugetlb-2m,hugetlb-1g")

    assert isinstance(two_mib, Step)
    assert json.loads(str(two_mib.settings["working_sets"]))[-1] == 16 * MIB
    assert one_gib == Refusal(
        "memory.latency.hugetlb-1g",
        "memory.latency",
        "no free huge pages of 1 GiB; reserve them with: "
        "echo 1 > /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages",
    )


def test_an_unknown_chain_and_a_forbidden_cpu_are_refused_in_words() -> None:
    (unknown,) = plan(patterns="dram")
    (forbidden,) = plan(cpu=3)

    assert isinstance(unknown, Refusal)
    assert unknown.reason.startswith("expected patterns among dram-thp, ")
    assert isinstance(forbidden, Refusal)
    assert forbidden.reason == "cpu=3: not among the CPUs that sizeup may use: [0, 1, 2]"


def test_each_working_set_has_a_latency_and_says_how_sure_it_is(context: HandContext) -> None:
    emissions: list[Emission] = []
    last: dict[object, Estimate] = {}
    for _ in range(5):  # where others leave no batch of a size undisturbed, it has no latency
        emissions = list(MemoryLatency().run(quick_step(), context))
        curve = [entry for entry in emissions if isinstance(entry, Estimate) and entry.series == "dram-thp"]
        last = {entry.at["working_set_bytes"]: entry for entry in curve}
        if len(last) == 2:
            break
    assert set(last) == {16 << 10, 1 * MIB}
    assert all(0.2 < estimate.value < 5000 for estimate in last.values())
    for estimate in last.values():
        assert estimate.replicates >= 1
        assert estimate.minimum is not None
        assert estimate.minimum <= estimate.value
    samples = [entry for entry in emissions if isinstance(entry, Samples)]
    assert {entry.series for entry in samples} == {"dram-thp"}
    assert all(len(entry.t_ns) == len(entry.values) for entry in samples)
    times = [t for entry in samples if entry.at["working_set_bytes"] == 16 << 10 for t in entry.t_ns]
    assert times == sorted(times)
    planned = float(quick_step().settings["planned_seconds"])
    progress = [(entry.done, entry.remaining_seconds) for entry in emissions if isinstance(entry, Progress)]
    assert all(done >= min(1 - left / planned, 0.99) - 1e-6 for done, left in progress if left)


def test_canceling_ends_a_long_step_early(context: HandContext) -> None:
    run = iter(MemoryLatency().run(quick_step(replicate=100.0), context))
    next(run)
    context.cancel()
    list(run)

    assert context.now_ns() < 60e9, "two hundred seconds of replicates were asked for"


def test_what_this_machine_cannot_give_is_refused_with_the_reason(context: HandContext) -> None:
    with pytest.raises(RefusedError, match="at most half of it is used"):
        list(MemoryLatency().run(quick_step(working_sets=json.dumps([1 << 50])), context))
    with pytest.raises(RefusedError, match="cannot run on CPU 8000"):
        list(MemoryLatency().run(quick_step(cpu=8000), context))


@pytest.mark.ci
def test_a_large_working_set_has_memory_of_its_own() -> None:
    if available_bytes(Allocation()) < 1 << 30:
        pytest.skip("too little memory is available")
    spans = (8 * MIB, 64 * MIB, 256 * MIB)
    cpu = max(os.sched_getaffinity(0))
    chase = binding.Latency([ChasePoint(span, 64, cpu) for span in spans], StopRule(0.005, 0.0, 0.01, 4, 4, 0.9, 1))
    job = binding.new_job()

    assert chase.call(job)() == 0
    page = os.sysconf("SC_PAGE_SIZE")
    assert [chase.placement(index).pages * page for index in range(3)] == [64 * MIB, 64 * MIB, 256 * MIB]
    large = job.estimate(2)
    assert large.replicates or large.disturbed_share, "it was measured"
    assert not large.replicates or large.minimum > 0.2
