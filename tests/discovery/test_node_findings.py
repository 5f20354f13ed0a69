"""A list of NUMA nodes that lacks CPUs, or that gives several sockets one node."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from finding_checks import ids, node, only, two_sockets
from sizeup.model.machine import Machine, Platform
from sizeup.model.topology import Package, Pu
from trees import discovered


def four_sockets(*numbers: int) -> Machine:
    """Four sockets of two CPUs each; the third shares node 0, so that three nodes are left."""
    nodes = [replace(node(number, 100, 50), packages=(socket,)) for socket, number in enumerate(numbers)]
    nodes[0] = replace(nodes[0], pus=(0, 1, 6, 7), packages=(0, 3))
    return Machine(
        packages=tuple(Package((2 * socket, 2 * socket + 1), socket) for socket in range(4)),
        pus=tuple(Pu(cpu, online=True, allowed=True) for cpu in range(8)),
        nodes=(nodes[0], *(replace(one, pus=(2 * at, 2 * at + 1)) for at, one in enumerate(nodes[1:], 1))),
    )


def test_a_node_of_two_sockets_beside_nodes_of_one_is_found_with_the_number_that_is_missing() -> None:
    found = only(four_sockets(0, 2, 3), "numa.missing-node")

    assert found.title == "NUMA node 0 with the CPUs of several sockets, while other nodes have one each"
    assert found.evidence == (
        "4 sockets, 3 NUMA nodes with CPUs",
        "node 0: CPUs 0-1,6-7 of 2 sockets", "node 2: CPUs 2-3 of 1 socket", "node 3: CPUs 4-5 of 1 socket",
        "the kernel lists no node 1",
    )  # fmt: skip
    assert found.subjects == ("node:0",)


def test_neither_a_cause_nor_a_missing_number_is_stated_that_was_not_read() -> None:
    found = only(four_sockets(0, 1, 2), "numa.missing-node")

    assert not any("no node" in line for line in found.evidence)
    assert "memory modules" not in found.title + found.consequence


@pytest.mark.parametrize("guest", [True, False, None])
def test_a_hypervisor_may_put_sockets_where_it_likes(guest: bool | None) -> None:
    machine = replace(four_sockets(0, 2, 3), platform=Platform(is_guest=guest))

    assert ("numa.missing-node" in ids(machine)) is not guest


def test_sockets_that_contradict_the_nodes_are_one_finding_and_not_two(tmp_path: Path) -> None:
    cpu, nodes = "/sys/devices/system/cpu", "/sys/devices/system/node"
    tree = f"{cpu}/online = 0-7\n{nodes}/online = 0-2\n"
    for first, last, label, theirs in ((0, 1, 36, "0-1"), (2, 5, 2047, "2-5"), (6, 7, 4095, "4-7")):
        tree += f"{cpu}/cpu{{{first}-{last}}}/topology/physical_package_id = {label}\n"
        tree += f"{cpu}/cpu{{{first}-{last}}}/topology/package_cpus_list = {theirs}\n"
    for number, cpus in enumerate(("0-5", "6", "7")):
        tree += f"{nodes}/node{number}/cpulist = {cpus}\n"
    machine = discovered(tmp_path, tree)

    assert [node.packages for node in machine.nodes] == [(0, 1), (2,), (2,)]
    assert ids(machine) == ["firmware.contradiction"]


def test_gaps_in_the_numbers_alone_are_no_finding() -> None:
    nodes = tuple(replace(each, os_id=16 * each.os_id) for each in two_sockets().nodes)

    assert ids(two_sockets(*nodes)) == []


def test_nodes_that_all_hold_two_sockets_are_alike() -> None:
    nodes = (
        replace(node(0, 100, 50), pus=(0, 1, 2, 3), packages=(0, 1)),
        replace(node(1, 100, 50), pus=(4, 5, 6, 7), packages=(2, 3)),
    )
    machine = replace(four_sockets(0, 1, 2), nodes=nodes, platform=Platform(is_guest=False))

    assert "numa.missing-node" not in ids(machine)


def test_online_cpus_in_no_node_are_named() -> None:
    found = only(two_sockets(node(0, 100, 50)), "numa.missing-node")

    assert found.title == "2 online CPUs in no NUMA node"
    assert found.evidence == ("in no node: CPUs 2-3", "node 0: CPUs 0-1 of 1 socket")


@pytest.mark.parametrize("online", [True, False])
def test_cpus_that_are_offline_need_no_node(online: bool) -> None:
    machine = two_sockets(node(0, 100, 50))
    pus = tuple(replace(pu, online=pu.cpu < 2 or online) for pu in machine.pus)

    assert ("numa.missing-node" in ids(replace(machine, pus=pus))) is online


@pytest.mark.parametrize("nodes", [(), (replace(node(0, 100, 50), pus=(), packages=()),)])
def test_where_no_node_has_cpus_nothing_is_said(nodes: tuple[object, ...]) -> None:
    assert "numa.missing-node" not in ids(replace(two_sockets(), nodes=nodes))
