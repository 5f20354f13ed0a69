"""Pairs of CPUs by what they share, on made-up machines."""

from collections import Counter
from itertools import islice

import pytest
from msgspec.structs import replace

from cpu_shapes import SHAPES, eight_sockets, hybrid, power, shape, two_cpus, two_sockets
from sizeup.model.cpu_pairs import MIN_PAIRS, CpuPair, PairClass, cpu_pairs, cpu_pairs_with
from sizeup.model.machine import Machine
from sizeup.model.topology import Pu
from tiers import in_gate
from trees import large_machine

SIBLING, L3, NODE, PACKAGE, REMOTE = (
    PairClass.SMT_SIBLING,
    PairClass.SAME_L3,
    PairClass.SAME_NODE,
    PairClass.SAME_PACKAGE,
    PairClass.REMOTE,
)


def first(machine: Machine, count: int) -> list[CpuPair]:
    return list(islice(cpu_pairs(machine).in_sample_order(), count))


@pytest.mark.parametrize(
    ("machine", "totals"),
    [
        (eight_sockets(), {SIBLING: 256, L3: 3584, NODE: 4096, PACKAGE: 8192, REMOTE: 114688}),
        (two_sockets(), {SIBLING: 256, L3: 3584, NODE: 12288, PACKAGE: 49152, REMOTE: 65536}),
        (power(), {SIBLING: 672, NODE: 8448, REMOTE: 9216}),
        (hybrid(), {SIBLING: 6, L3: 184, NODE: 41}),
        (two_cpus(), {NODE: 1}),
    ],
)
def test_each_pair_has_the_class_of_what_it_shares(machine: Machine, totals: dict[PairClass, int]) -> None:
    assert cpu_pairs(machine).totals == totals


@pytest.mark.parametrize("name", in_gate("sockets", SHAPES))
def test_every_pair_comes_once(name: str) -> None:
    machine = SHAPES[name]()
    count = len(machine.allowed_cpus)
    pairs = cpu_pairs(machine)
    found = Counter[PairClass]()
    seen = set()
    for pair in pairs.in_sample_order():
        assert pair.cpu != pair.partner
        seen.add(frozenset((pair.cpu, pair.partner)))
        found[pair.shares] += 1

    assert len(seen) == count * (count - 1) // 2
    assert found == pairs.totals


@pytest.mark.parametrize("name", SHAPES)
def test_a_sample_has_three_pairs_of_every_class(name: str) -> None:
    machine = SHAPES[name]()
    totals = cpu_pairs(machine).totals
    found = Counter(pair.shares for pair in first(machine, sum(min(MIN_PAIRS, total) for total in totals.values())))

    assert found == {shares: min(MIN_PAIRS, total) for shares, total in totals.items()}


@pytest.mark.parametrize(
    "machine", [eight_sockets(), *(pytest.param(one, marks=pytest.mark.ci) for one in (two_sockets(), large_machine()))]
)
def test_a_sample_has_every_pair_of_nodes(machine: Machine) -> None:
    node_of = {cpu: node.os_id for node in machine.nodes for cpu in node.pus}
    count = len(machine.nodes)
    # Pairs within a node: one of each class.
    sample = first(machine, count * (count - 1) // 2 + 3 * count)

    found = {frozenset((node_of[pair.cpu], node_of[pair.partner])) for pair in sample}
    assert len(found) == count * (count + 1) // 2


def test_a_sample_has_both_kinds_of_cores() -> None:
    kind_of = {cpu: core.kind for core in hybrid().cores for cpu in core.pus}
    found = {
        (pair.shares, *sorted((str(kind_of[pair.cpu]), str(kind_of[pair.partner])))) for pair in first(hybrid(), 10)
    }

    efficient, performance = "efficient", "performance"
    assert found == {
        (SIBLING, performance, performance),
        (L3, performance, performance),
        (L3, efficient, performance),
        (L3, efficient, efficient),
        (NODE, efficient, performance),
        (NODE, efficient, efficient),
    }


def test_a_sample_is_spread_over_the_cores_of_a_node() -> None:
    machine = shape(cores=64)
    cpus = {cpu for pair in first(machine, 28) for cpu in (pair.cpu, pair.partner)}

    assert cpus == set(range(0, 64, 8))


def test_the_recorded_machine_has_caches_that_span_two_nodes() -> None:
    """CPUs of two nodes are of different classes even where firmware reports one cache for both."""
    totals = cpu_pairs(large_machine()).totals

    assert totals == {L3: 16 * 120, PACKAGE: 8 * 256, REMOTE: 28 * 1024}


def test_cpus_that_this_process_may_not_use_are_in_no_pair() -> None:
    machine = shape(cores=4, threads=2)
    pus = tuple(Pu(pu.cpu, online=pu.cpu != 1, allowed=pu.cpu not in {4, 6}) for pu in machine.pus)
    pairs = cpu_pairs(replace(machine, pus=pus))

    assert pairs.totals == {SIBLING: 1, L3: 9}
    assert {cpu for pair in pairs.in_sample_order() for cpu in (pair.cpu, pair.partner)} == {0, 2, 3, 5, 7}


def test_unknown_cores_are_one_cpu_each() -> None:
    machine = replace(shape(packages=2, cores=2), cores=())

    assert cpu_pairs(machine).totals == {L3: 2, REMOTE: 4}


@pytest.mark.parametrize("name", SHAPES)
def test_partners_of_one_cpu_share_the_least_first_and_cover_every_node(name: str) -> None:
    machine = SHAPES[name]()
    pairs = cpu_pairs_with(machine, machine.allowed_cpus[1])
    found = list(pairs.in_sample_order())

    assert {pair.cpu for pair in found} == {machine.allowed_cpus[1]}
    assert {pair.partner for pair in found} == {cpu for cpu in machine.allowed_cpus if cpu != machine.allowed_cpus[1]}
    assert len(found) == len(machine.allowed_cpus) - 1
    assert found[0].shares is next(iter(cpu_pairs(machine).totals))
    node_of = {cpu: node.os_id for node in machine.nodes for cpu in node.pus}
    few = 3 * len(PairClass) + len(machine.nodes)
    assert {node_of[pair.partner] for pair in found[:few]} == {node.os_id for node in machine.nodes}
