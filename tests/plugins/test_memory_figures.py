"""What the memory probes make of the figures and of the places of pages that the native code reports.

Each thread, pair and process has figures of its own, so that none can be taken for another.
"""

import os
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from fakes import HandContext
from large_machines import made
from plugins.told import MACHINE, Told, median_of
from recorded_traffic import MeasuredJob
from sizeup.errors import RefusedError
from sizeup.model.machine import Machine
from sizeup.model.plan import SettingValue, Step
from sizeup.model.sample import Estimate, Samples
from sizeup.model.topology import Cache, CacheKind
from sizeup.probing import native
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_class, load_registry
from sizeup_memory import binding, core_to_core, hammer, latency, memhammer, numa, shm
from sizeup_memory.binding import HammerResult, Placement, PlacementPolicy
from sizeup_memory.buffers import SharedCache, cache_caveats, reduced_caveats, shared_caches
from sizeup_memory.chase_patterns import CurveConditions, Level, level_estimate
from sizeup_memory.cpu_selection import line_bytes, placement_figures

MIB, GIB = 1 << 20, 1 << 30
REGISTRY = load_registry()
L3_512 = replace(MACHINE, caches=tuple(Cache(3, CacheKind.UNIFIED, 512 * MIB, 64, cpus) for cpus in ((0, 1), (2, 3))))
"""Two nodes of two CPUs: one active CPU needs 2 GiB to exceed the L3, two need 1 GiB each."""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    stand_in = Told()
    monkeypatch.setattr(binding, "lib", stand_in)
    return stand_in


def steps(probe: str, machine: Machine = MACHINE, **chosen: SettingValue) -> tuple[Step, ...]:
    return make_plan(machine, REGISTRY, name="standard", probes=[probe], settings={probe: chosen}).steps


def final(step: Step) -> list[Estimate]:
    emissions = load_class(REGISTRY.get(step.probe).target).run(step, HandContext())
    return [one for one in emissions if isinstance(one, Estimate) and one.series != "validity"]


def at(*on_node: int, huge_share: float = 1.0) -> Placement:
    """100 pages, so many on each node."""
    return Placement(100, dict(enumerate(on_node)), 0, huge_share, verified=True, bound=True)


UNSEEN = Placement(0, {}, 0, 0.0, verified=False, bound=True)


def placed(monkeypatch: pytest.MonkeyPatch, kind: type, *placements: Placement) -> None:
    """The members or points of every call have their pages where ``placements`` say, in turn."""
    monkeypatch.setattr(kind, "placement", lambda _, index: placements[index % len(placements)])


def test_bandwidth_is_that_of_the_thread_whose_pages_are_farthest(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    placed(monkeypatch, binding.Traffic, at(100, huge_share=0.9), at(60, 40, huge_share=0.3))
    scaling, matrix = steps("memory.bandwidth", pages="thp")

    cell = next(one for one in final(matrix) if one.at == {"cpu_node": 0, "memory_node": 0})
    assert (cell.extra["share_where_asked"], cell.extra["pages_on_nodes"]) == (0.6, "0:60,1:40")
    assert "only 60.0 % of the pages are on the requested node" in cell.caveats
    assert all("only 30 % of the memory is on transparent huge pages" in one.caveats for one in final(scaling))


def test_the_memory_of_a_thread_is_the_least_that_an_active_one_has(told: Told) -> None:
    scaling, _ = steps("memory.bandwidth", L3_512)

    sizes = {one.at["threads"]: one.extra["bytes_per_thread"] for one in final(scaling)}
    assert sizes == {1: 2 * GIB, 2: 1 * GIB, 4: 1 * GIB}


def test_threads_without_memory_on_their_node_are_told(told: Told) -> None:
    nodes = (MACHINE.nodes[0], replace(MACHINE.nodes[1], memory_bytes=0, free_bytes=0))
    for probe in ("memory.bandwidth", "memory.loaded"):
        first = steps(probe, replace(MACHINE, nodes=nodes))[0]
        caveat = "CPUs 2, 3 have no memory on their own node: their accesses were remote"
        assert all(caveat in one.caveats for one in final(first)), probe


def test_loaded_latency_is_measured_from_a_cpu_with_memory_of_its_own(told: Told) -> None:
    nodes = (replace(MACHINE.nodes[0], memory_bytes=0, free_bytes=0), MACHINE.nodes[1])
    (step,) = steps("memory.loaded", replace(MACHINE, nodes=nodes))

    assert step.cpus == (2, 3, 0, 1)


def test_a_point_of_loaded_latency_has_the_figures_and_the_place_of_its_chase(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed(monkeypatch, binding.Traffic, at(70, 30), *[at(100)] * 3)
    first = next(one for one in final(*steps("memory.loaded", L3_512)) if one.series == "latency")

    assert (first.value, first.low, first.high) == (median_of(0), median_of(0) - 30, median_of(0) + 50)
    assert first.at["bytes_per_second"] == median_of(1)
    assert (first.extra["share_local"], first.extra["placement"]) == (0.7, "remote")
    # The chase has an L3 of 512 MiB alone; a stream shares it with one more, or with none.
    assert (first.extra["chase_bytes"], first.extra["stream_bytes"]) == (2 * GIB, 1 * GIB)


def test_each_placement_has_its_memory_where_its_name_says(told: Told) -> None:
    (placements,) = [step for step in steps("memory.numa") if step.id.endswith("placements")]
    names = [str(one.at["placement"]) for one in final(placements) if one.series == "placement"]

    memories = [
        [(member["cpu"] // 2, member["memory"]["nodes"], member["memory"]["placement"]) for member in call[1]]
        for call in told.of("sizeup_traffic_run")
    ]
    bind, interleave = PlacementPolicy.BIND, PlacementPolicy.INTERLEAVE
    assert dict(zip(names, memories, strict=True)) == {
        "local": [(0, 0b01, bind)] * 2 + [(1, 0b10, bind)] * 2,
        "remote": [(0, 0b10, bind)] * 2 + [(1, 0b01, bind)] * 2,
        "interleaved": [(0, 0b11, interleave)] * 2 + [(1, 0b11, interleave)] * 2,
        "cyclops": [(0, 0b01, bind)] * 2 + [(1, 0b01, bind)] * 2,
    }


def test_all_threads_share_half_of_what_the_host_has(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 256 MiB, as of a container, in nodes of 64 GiB: four threads have 64 MiB each, and use 7/8 of half of it.

    The two nodes of a matrix and their interleaved memory have a third each, of which 7/8 of half are 36 MiB.
    """
    free = {(0, PlacementPolicy.FIRST_TOUCH): 256 * MIB}
    monkeypatch.setattr(told, "sizeup_available_bytes", lambda *asked: free.get(asked, 64 * GIB), raising=False)

    matrix, *_, placements = steps("memory.numa")
    assert {one.extra["bytes_per_thread"] for one in final(placements)} == {28 * MIB}
    assert {one.extra["working_set_bytes"] for one in final(matrix) if one.series == "latency"} == {36 * MIB}


def test_no_cell_is_begun_after_the_step_was_canceled(told: Told) -> None:
    context = HandContext()
    context.cancel()
    list(load_class(REGISTRY.get("memory.bandwidth").target).run(steps("memory.bandwidth")[1], context))

    assert told.calls == []


def test_a_placement_is_that_of_the_thread_whose_pages_are_farthest(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed(monkeypatch, binding.Traffic, at(100, 0), at(75, 25), at(0, 100), at(0, 100))
    local = final(steps("memory.numa")[-1])[0]

    assert (local.extra["share_where_asked"], local.extra["pages_on_nodes"]) == (0.75, "0:175,1:225")
    assert "a thread had only 75.0 % of its pages on the requested node" in local.caveats


def test_cells_whose_pages_are_elsewhere_are_in_no_mean_of_a_row(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """The points are node 0 and 1 to memory 0, then to memory 1, then both interleaved; the second is remote alone."""
    placed(monkeypatch, binding.Latency, at(100), at(40, 60), at(0, 100), at(0, 100), at(50, 50), at(50, 50))
    found = final(steps("memory.numa")[0])

    assert [one.extra["share_where_asked"] for one in found if one.series == "latency"] == [1.0, 0.4, 1.0, 1.0]
    (expected,) = [one for one in found if one.series == "expected-interleaved"]
    assert (expected.at, expected.value) == ({"cpu_node": 0}, (median_of(0) + median_of(2)) / 2)
    assert expected.extra["measured_ns"] == median_of(4)


def test_a_row_with_a_cell_whose_pages_are_elsewhere_has_no_mean(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four nodes, the memory of node 2 is on node 1 as node 3 chases through it."""
    machine = made(4, 2, 1, MIB, node_bytes=8 * GIB)
    right = [at(*(100 * (node == memory) for node in range(4))) for memory in range(4) for _ in range(4)]
    placed(monkeypatch, binding.Latency, *right[:11], at(0, 100), *right[12:], *[at(25, 25, 25, 25)] * 4)
    found = final(steps("memory.numa", machine, pages="thp")[0])

    expected = {one.at["cpu_node"]: one.value for one in found if one.series == "expected-interleaved"}
    assert expected == {node: sum(median_of(node + 4 * memory) for memory in range(4)) / 4 for node in range(3)}


@pytest.mark.parametrize("name", ["latency", "numa", "bandwidth", "loaded", "core-to-core"])
def test_a_figure_tells_that_the_console_had_no_cpu_of_its_own(
    name: str, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "leave_cpus", lambda _: False)
    found = [one for step in steps(f"memory.{name}") for one in final(step) if one.converged is not None]

    assert found
    assert [one for one in found if not any(each.startswith("the console shared ") for each in one.caveats)] == []


def test_a_chase_has_the_lines_the_sibling_and_the_pages_of_its_machine(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = (replace(MACHINE.cores[0], pus=(0, 1)), replace(MACHINE.cores[2], pus=(2, 3)))
    caches = tuple(replace(cache, line_bytes=128) for cache in MACHINE.caches)
    (step,) = steps("memory.latency", replace(MACHINE, cores=shared, caches=caches), patterns="dram-thp", cpu=1)
    placed(monkeypatch, binding.Latency, at(100, huge_share=0.25), at(0, 100), at(100))
    found = [one for one in final(step) if one.series == "dram-thp"]

    ((_, points, *_),) = told.of("sizeup_latency_run")
    assert {(point["cpu"], point["sibling"], point["stride_bytes"]) for point in points} == {(1, 0, 128)}
    assert [one.extra["huge_page_share"] for one in found[:3]] == [0.25, 1.0, 1.0]
    assert [one.extra["placement"] for one in found[:3]] == ["local", "remote", "local"]


def test_what_was_read_beside_a_curve_is_that_of_its_step(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    guest = replace(MACHINE, platform=replace(MACHINE.platform, is_guest=True))
    monkeypatch.setattr(binding, "tlb_reach_bytes", lambda page_bytes: 3 * page_bytes)
    monkeypatch.setattr(binding.Latency, "core_hz", 2e9)
    shares = (0.25, 0.5, 0.75)
    placed(monkeypatch, binding.Latency, *(at(100, huge_share=share) for share in shares))
    seen: list[tuple[int, object]] = []
    monkeypatch.setattr(latency.chase_patterns, "level_estimate", lambda *given: seen.append(given[-1]))
    (step,) = steps("memory.latency", guest, patterns="dram-thp")
    found = [one for one in final(step) if one.series == "dram-thp"]

    conditions = seen[0]
    assert isinstance(conditions, CurveConditions)
    assert (conditions.guest, conditions.core_hz, conditions.tlb_reach_bytes) == (True, 2e9, 6 * MIB)
    assert [conditions.huge_shares[int(one.at["working_set_bytes"])] for one in found] == [
        one.extra["huge_page_share"] for one in found
    ]
    assert {one.extra["tlb_reach_bytes"] for one in found} == {6 * MIB}


def test_a_level_has_the_least_minimum_and_all_replicates_of_its_working_sets() -> None:
    level = Level("L3", 8 * MIB, 16 * MIB, 24 * MIB)
    points = [Estimate("s", {}, 20.0, 19.0, 24.0, 5, 18.0), Estimate("s", {}, 21.0, 20.0, 22.0, 7, 19.0)]
    found = level_estimate("s-level", level, list(zip((8 * MIB, 16 * MIB), points, strict=True)), CurveConditions())

    assert found is not None
    assert (found.minimum, found.replicates, found.low, found.high) == (18.0, 12, 19.0, 24.0)


def test_pages_that_are_not_known_or_not_bound_are_told() -> None:
    unknown = Placement(100, {}, 0, 0.0, verified=False, bound=True)
    touched = Placement(100, {0: 100}, 0, 0.5, verified=True, bound=False)

    assert placement_figures(unknown, (0,))[1] == ["page placement not verified: move_pages and numa_maps are denied"]
    extra, caveats = placement_figures(touched, (0,))
    assert (extra["huge_page_share"], caveats) == (0.5, ["placed by first touch: mbind is forbidden"])


def test_what_the_native_code_says_of_pages_arrives() -> None:
    native = binding.ffi.new("struct sizeup_placement *", {"pages": 8, "elsewhere": 1, "huge_share": 0.5})
    native.on_node[1] = 7
    call = binding.NativeCall("sizeup_shm_fill", placements=native)
    for verified, bound in ((0, 1), (1, 0)):
        native.verified, native.bound = verified, bound
        assert call.placement() == Placement(8, {1: 7}, 1, 0.5, verified=bool(verified), bound=bool(bound))


def test_what_a_process_did_arrives(told: Told) -> None:
    stores = binding.Hammer(16, 10, [2], binding.Allocation())
    stores.call(binding.new_job())()
    (native,) = stores._results
    native.start_ns, native.cpu_ns = 500, 1_500_000

    assert stores.results() == (HammerResult(1000, 500, 2_000_000, 2000, 1_500_000, 0),)


def test_the_two_modes_are_those_of_one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pair moves between 30 and 170 ns, the others stay at 90."""

    class Moving(MeasuredJob):
        def follow(self, *given: object) -> object:  # type: ignore[override]
            points = given[1]
            assert isinstance(points, tuple)
            for index, point in enumerate(points):
                values = (30.0, 170.0) * 10 if not index else (90.0,) * 20
                yield Samples(point.series, point.at, tuple(range(20)), values)

    monkeypatch.setattr(core_to_core, "new_job", Moving)
    found = final(*steps("memory.core-to-core"))

    moved = [one for one in found if "mode_low_ns" in one.extra]
    assert [(one.at, one.extra["mode_low_ns"], one.extra["mode_high_ns"]) for one in moved] == [
        (found[0].at, 30.0, 170.0)
    ]
    assert moved[0].caveats[-1] == "two modes, 30 and 170 ns, as if a hypervisor migrates CPUs"


def result(ops: int, wall_us: int, cpu_share: float = 1.0, start_ns: int = 0) -> HammerResult:
    wall_ns = wall_us * 1000
    return HammerResult(ops, start_ns, start_ns + wall_ns, wall_us, round(cpu_share * wall_ns), 0)


def test_random_stores_are_the_median_of_their_runs() -> None:
    """1000 stores in 1, 2 and 4 ms: 1000, 2000 and 4000 ns, and 1, 0.5 and 0.25 million a second."""
    runs = [(result(1000, wall),) for wall in (1000, 2000, 4000)]
    cost, total = hammer._estimates(hammer.HammerPoint(1, 16), runs, ())

    assert (cost.value, cost.minimum) == (2000.0, 1000.0)
    assert (total.value, total.low, total.high) == (5e5, 2.5e5, 1e6)


def test_processes_tell_who_waited_and_who_began_late() -> None:
    two = [(result(1000, 1000, 0.5, start_ns=900), result(1000, 1000, 1.0, start_ns=1000))]
    cost, _ = hammer._estimates(hammer.HammerPoint(2, 16), two, ())

    assert (cost.extra["cpu_share"], cost.extra["start_spread_ns"]) == (0.5, 100)


def test_processes_without_memory_on_their_node_are_told(told: Told) -> None:
    nodes = (MACHINE.nodes[0], replace(MACHINE.nodes[1], memory_bytes=0, free_bytes=0))
    found = [one for one in final(*steps("memory.hammer", replace(MACHINE, nodes=nodes), loops=3)) if one.minimum]

    far = {one.at["processes"]: [text for text in one.caveats if "no memory" in text] for one in found}
    assert far == {1: [], 2: [], 4: ["CPUs 2, 3 have no memory on their own node: their accesses were remote"]}


def test_the_slowest_process_counts_the_stores_of_a_run(told: Told) -> None:
    """Each process takes 2 ms, the first one for 1,000 stores and the last for 4,000: 0.5 s are 250,000 of 2 us."""
    final(*steps("memory.hammer", pages=16))

    assert {call[2] for call in told.of("sizeup_hammer_run")[1:]} == {250_000 // 16}


def test_one_number_of_processes_with_two_sizes_links_the_speedups() -> None:
    """Large memory: 1 and 2 processes, 10 and 15; small memory: 2 and 4 processes, 30 and 40."""
    large, small = (lambda count: hammer.HammerPoint(count, 64)), (lambda count: hammer.HammerPoint(count, 16))
    found = list(hammer.scaling({large(1): 10.0, large(2): 15.0, small(2): 30.0, small(4): 40.0}))

    assert [one.value for one in found if isinstance(one, Estimate)] == [1.0, 1.5, 2.0]


ODD = 40 * MIB + 4096


@pytest.mark.parametrize(
    ("mount", "node", "host", "size"),
    [
        (64 * MIB, GIB, GIB, 32 * MIB),
        (GIB, 65 * MIB, GIB, 32 * MIB),
        (GIB, GIB, 66 * MIB, 33 * MIB),
        (2 * ODD, 2 * ODD, 2 * ODD, ODD),
        (2 * ODD - 2, GIB, GIB, 40 * MIB),
        (32 * MIB, GIB, GIB, 16 * MIB),
        (GIB, GIB, 31 * MIB, 0),
        (GIB, -22, GIB, 0),
    ],
)
def test_a_file_is_half_of_what_mount_node_and_host_have(
    mount: int, node: int, host: int, size: int, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whole MiB where it is less than wanted, and none below 16 MiB."""
    free = {(0b10, PlacementPolicy.BIND): node, (0, PlacementPolicy.FIRST_TOUCH): host}
    monkeypatch.setattr(told, "sizeup_available_bytes", lambda *asked: free[asked], raising=False)
    monkeypatch.setattr(shm.os, "statvfs", lambda _: SimpleNamespace(f_bavail=mount // 2, f_frsize=2))
    if size:
        assert shm._fitting(ODD, 1) == size
        return
    has = "0 B" if node < 0 else "31 MiB"
    with pytest.raises(RefusedError, match=f"^not enough memory: /dev/shm and node 1 have {has} available; 16 MiB are"):
        shm._fitting(ODD, 1)


def test_the_smallest_file_is_one_of_16_mib() -> None:
    assert [step.settings["bytes"] for step in steps("memory.shm", bytes=16 * MIB)] == [16 * MIB] * 2
    assert steps("memory.shm", bytes=16 * MIB - 1) == ()


@pytest.mark.parametrize(("left", "told"), [(100, False), (101, True)])
def test_nine_tenths_of_what_was_taken_have_to_be_of_the_node(left: int, told: bool) -> None:
    """Others take memory at the same time, so that the share of the free memory is a guess."""
    _, caveats = shm._placed(UNSEEN, 0, {0: 1000, 1: 1000}, {0: left, 1: 1000 - left + (left > 100)})

    assert len(caveats) == 1 + told


def test_memory_is_taken_from_the_nodes_whose_free_memory_fell() -> None:
    assert shm.taken_share({0: 900, 1: 900, 2: 900}, {0: 700, 1: 300, 2: 950}, 0) == 0.25
    assert shm.taken_share({1: 900}, {1: 300}, 0) == 0.0
    assert shm.taken_share({0: 900}, {0: 900}, 0) == 0.0


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="/dev/shm is not mounted here")
@pytest.mark.parametrize(
    ("placement", "share", "known", "caveat"),
    [
        (at(99, 1), 0.99, 0.99, ""),
        (at(75, 25), 0.75, 0.75, "only 75 % of the file's pages are on node 0"),
        (UNSEEN, 0.8, None, "only 80 % of the consumed memory came from node 0"),
    ],
    ids=["just as required", "by its pages", "by the free memory of the nodes"],
)
def test_a_file_has_the_share_of_its_node(
    placement: Placement, share: float, known: float | None, caveat: str, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that are known to be elsewhere make a figure invalid by ``share_where_asked``; an estimate is a caveat."""
    free = iter([{0: 900, 1: 900}, {0: 100, 1: 700}])
    monkeypatch.setattr(shm, "read_free_by_node", lambda: next(free))
    monkeypatch.setattr(binding.ShmFill, "placement", lambda _: placement)
    first = final(steps("memory.shm", bytes=32 * MIB)[0])[0]

    assert (first.extra["share_from_home_node"], first.extra.get("share_where_asked")) == (share, known)
    assert (first.extra["node0_free_before_bytes"], first.extra["node0_free_after_bytes"]) == (900, 100)
    assert caveat in first.caveats if caveat else first.caveats == ()


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="/dev/shm is not mounted here")
def test_a_file_that_was_reduced_and_the_cache_of_each_writer_are_told(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The L3 of node 0 is 8 MiB, that of node 1 is 64 MiB: of 32 MiB the former holds a quarter."""
    monkeypatch.setattr(shm, "read_free_by_node", dict)
    monkeypatch.setattr(shm, "_fitting", lambda *_: 32 * MIB)
    caches = (MACHINE.caches[0], replace(MACHINE.caches[1], size_bytes=64 * MIB))
    near, far = final(steps("memory.shm", replace(MACHINE, caches=caches), bytes=64 * MIB)[0])

    reduced = "file size reduced from 64 MiB to 32 MiB: at most half of the available memory is used"
    assert [reduced in one.caveats for one in (near, far)] == [True, True]
    assert ["writes may come from L3" in " ".join(one.caveats) for one in (near, far)] == [False, True]


def test_the_thread_that_exceeds_its_cache_least_decides() -> None:
    caches = (SharedCache(3, 100 * MIB, (0, 1)), SharedCache(2, 32 * MIB, (0,)))
    (caveat,), cached = cache_caveats(caches, [{0: 800 * MIB}, {1: 200 * MIB}])

    assert cached
    assert caveat.startswith("reads may come from L3: 1 active thread has 200 MiB, 2 times the share of 100 MiB;")
    assert cache_caveats(caches, [{0: 400 * MIB}]) == ([], False)


def test_caches_count_from_l2_up_and_with_the_longest_line() -> None:
    machine = made(1, 2, 1, 8 * MIB, l2=(32 * MIB, 1))
    first, *others = machine.caches

    assert {(cache.level, cache.bytes) for cache in shared_caches(machine, (0, 1))} == {(2, 32 * MIB), (3, 8 * MIB)}
    assert line_bytes(replace(machine, caches=(replace(first, line_bytes=128), *others))) == 128


def test_a_working_set_that_was_reduced_is_told() -> None:
    assert reduced_caveats(64 * MIB, 64 * MIB) == []
    assert reduced_caveats(256 * MIB, 64 * MIB) == [
        "working set reduced from 256 MiB to 64 MiB: not enough available memory"
    ]


def test_the_nearest_memory_is_that_of_the_shortest_distance() -> None:
    base = made(2, 2, 1, 8 * MIB, nodes=2)
    nodes = (replace(base.nodes[0], memory_bytes=0), *base.nodes[1:])

    assert nodes[0].distances == (10, 12, 21, 21)
    assert numa._nearest(replace(base, nodes=nodes)) == {0: 1}


def test_a_tlb_reaches_its_entries_times_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "lib", SimpleNamespace(sizeup_tlb_entries=lambda _: 1536))

    assert binding.tlb_reach_bytes(2 * MIB) == 3 * GIB


def test_the_command_runs_one_process_on_each_cpu(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    assert memhammer.main(["16", "10", "--cpus", "0,2-3"]) == 0

    assert [call[3] for call in told.of("sizeup_hammer_run")] == [[0, 2, 3]]
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()] == ["1000", "2000", "3000"]
