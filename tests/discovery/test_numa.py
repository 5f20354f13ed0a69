"""Nodes are the kernel's list; locality is said apart where it is inferred."""

from pathlib import Path

from sizeup.discovery.machine import discover
from sizeup.model.numa import HugePages, MemoryKind, NodeAccess, NumaNode
from trees import discovered, machine

GIB = 1 << 30


def test_nodes_carry_memory_huge_pages_and_distances(tmp_path: Path) -> None:
    found = discover(machine(tmp_path, "2-sockets-smt"))

    assert found.nodes[0] == NumaNode(
        os_id=0,
        pus=(0, 1, 4, 5),
        packages=(0,),
        local_pus=(0, 1, 4, 5),
        memory_bytes=16 * GIB,
        free_bytes=8 * GIB,
        used_bytes=8 * GIB,
        file_bytes=4 * GIB,
        shmem_bytes=1 << 20,
        huge_pages=(HugePages(page_bytes=2 << 20, total=64, free=32, surplus=0, reserved=None),),
        distances=(10, 21),
    )


def test_columns_of_the_distance_table_follow_the_online_nodes_not_their_ids(tmp_path: Path) -> None:
    found = discovered(
        tmp_path,
        "/sys/devices/system/node/online = 2,5\n"
        "/sys/devices/system/node/node2/distance = 10 30\n"
        "/sys/devices/system/node/node5/distance = 30 10\n",
    )

    assert [(node.os_id, node.distances) for node in found.nodes] == [(2, (10, 30)), (5, (30, 10))]


def test_a_row_of_another_length_is_a_gap(tmp_path: Path) -> None:
    found = discovered(
        tmp_path, "/sys/devices/system/node/online = 0\n/sys/devices/system/node/node0/distance = 10 20 30\n"
    )

    assert found.nodes[0].distances == ()
    assert any(gap.reason == "malformed: expected 1 distances, found 3" for gap in found.gaps)


def test_a_memory_only_node_is_local_to_the_initiators_the_firmware_names(tmp_path: Path) -> None:
    found = discovered(
        tmp_path,
        "/sys/devices/system/cpu/online = 0-1\n"
        "/sys/devices/system/node/online = 0-2\n"
        "/sys/devices/system/node/node{0-1}/cpulist = {}\n"
        "/sys/devices/system/node/node2/cpulist =\n"
        "/sys/devices/system/node/node2/meminfo = Node 2 MemTotal: 1048576 kB\n"
        "/sys/devices/system/node/node2/access1/initiators/node1 -> ../../../node1\n"
        "/sys/devices/system/node/node2/access1/initiators/read_bandwidth = 25600\n"
        "/sys/devices/system/node/node2/access1/initiators/read_latency = 250\n",
    )

    node = found.nodes[2]
    assert (node.pus, node.local_pus, node.kind) == ((), (1,), MemoryKind.UNKNOWN)
    assert node.access == NodeAccess(read_latency_ns=250, read_bytes_per_second=25_600_000_000, initiators=(1,))


def test_a_pool_whose_free_pages_are_unknown_is_left_out_with_a_gap(tmp_path: Path) -> None:
    pool = "/sys/devices/system/node/node1/hugepages/hugepages-2048kB"
    found = discover(machine(tmp_path, "2-sockets-smt", f"{pool}/free_hugepages = many"))

    assert [len(node.huge_pages) for node in found.nodes] == [1, 0]
    assert "the number of free pages is unknown (pool of 64)" in {gap.reason for gap in found.gaps}
    assert "memory.exhausted-node" not in {finding.id for finding in found.findings}


def test_nodes_of_which_one_is_unknown_are_not_added_up_to_the_machine(tmp_path: Path) -> None:
    nodes = "/sys/devices/system/node/node{0-1}/cpulist = {}\n/sys/devices/system/cpu/cpu{0-1}/online = 1\n"
    known = "/sys/devices/system/node/node0/meminfo = Node 0 MemTotal:       16777216 kB\n"

    found = discovered(tmp_path, nodes + known)

    assert [node.memory_bytes for node in found.nodes] == [16 * GIB, None]
    assert found.memory_bytes is None


def test_a_node_without_a_list_has_the_cpus_that_it_links_to(tmp_path: Path) -> None:
    found = discovered(
        tmp_path,
        "/sys/devices/system/cpu/online = 0-2\n/sys/devices/system/cpu/cpu{0-2}/online = 1\n"
        "/sys/devices/system/node/node0/cpu{0-1} -> ../../cpu/cpu{}\n"
        "/sys/devices/system/node/node0/cpumap_of_another = 1\n"
        "/sys/devices/system/node/node1/cpu2 -> ../../cpu/cpu2\n",
    )

    assert [node.pus for node in found.nodes] == [(0, 1), (2,)]
