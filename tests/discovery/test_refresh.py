"""Another look at a machine: memory, huge pages and links, and nothing else."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from sizeup.discovery.machine import discover, refreshed
from trees import grow, machine

_NODE = "/sys/devices/system/node/node1"
_NIC = "/sys/devices/pci0000:00/0000:00:03.0/net/eth0"


@pytest.mark.parametrize("tree", ["networks", "fabric-and-pools"])
def test_a_machine_that_did_not_change_is_equal_to_itself(tmp_path: Path, tree: str) -> None:
    root = machine(tmp_path, tree)
    found = discover(root)

    assert refreshed(found, root) == found


def test_memory_and_huge_pages_are_those_of_now(tmp_path: Path) -> None:
    root = machine(tmp_path, "2-sockets-smt")
    found = discover(root)
    grow(
        tmp_path,
        f"{_NODE}/meminfo = Node 1 MemTotal: 16777216 kB\\nNode 1 MemFree: 262144 kB\\n\n"
        f"{_NODE}/hugepages/hugepages-2048kB/free_hugepages = 7",
    )

    now = refreshed(found, root)

    assert [node.free_bytes for node in now.nodes] == [8 << 30, 256 << 20]
    assert [node.huge_pages[0].free for node in now.nodes] == [32, 7]
    assert "memory.exhausted-node" in {finding.id for finding in now.findings}
    assert replace(now, nodes=found.nodes, findings=found.findings) == found


def test_an_interface_that_lost_its_link_says_so(tmp_path: Path) -> None:
    root = machine(tmp_path, "networks")
    found = discover(root)
    (tmp_path / _NIC.lstrip("/") / "operstate").write_text("down\n")

    before, now = (next(nic for nic in one.nics if nic.name == "eth0") for one in (found, refreshed(found, root)))

    assert (before.up, now.up) == (True, False)
    assert now.speed_bits_per_second is None
