"""``sizeup detect --json`` equals what four publishers and more say of recorded machines."""

import json
from typing import Any

import pytest

from recordings import published, recorded
from sizeup.cli import run
from sizeup.procfs.lists import parse_cpulist

TEN = {
    # cpu0 and its node are offline
    ("hwloc/offline-cpu0-node0", "hwloc"): ("sockets", "cores", "threads", "cpus", "nodes"),
    # node ids 0-2, 33, 34, 45, 72, 73
    ("hwloc/48amd64-4pa2n6c-sparse", "hwloc"): ("sockets", "cores", "threads", "cpus", "nodes", "distances"),
    # masks only; a node without CPUs
    ("hwloc/128ia64-17n4s2c", "hwloc"): ("sockets", "cores", "threads", "cpus", "nodes", "distances"),
    # no node directory
    ("util-linux-lscpu/armv7", "lscpu"): ("sockets", "cores", "threads", "cpus", "cpus_present", "nodes"),
    # node 1 is missing, lists carry strides
    ("util-linux-lscpu/x86_64-64cpu", "lscpu"): ("sockets", "cores", "threads", "cpus", "cpus_present", "nodes"),
    # books and drawers above the sockets
    ("util-linux-lscpu/s390-nested-virt", "lscpu"): ("sockets", "cores", "threads", "cpus", "cpus_present", "nodes"),
    # AMD modules: 64 cores, of which pairs share a front end
    ("libvirt-hostcpu/x86_64-test8", "libvirt-nodeinfo"): ("threads", "cpus_present", "cores_per_machine"),
    # one thread of eight is online
    ("libvirt-hostcpu/x86_64-test4", "libvirt-nodeinfo"): ("cores", "threads", "cpus_present", "node_count"),
    ("libvirt-caps/aarch64-basic", "libvirt-caps"): ("sockets", "cores", "threads", "nodes"),
    ("ghw/linux-amd64-8581cf3a529e5d8b97ea876eade2f60d", "ghw topology_linux_test.go/pci_linux_test.go (xeon-L5640)"): (
        "node_count",
    ),
    ("pcp/sysfs-numa-001", "pcp qa/747.out"): ("cpu_online", "node_online"),
}


def _ours(document: dict[str, Any], key: str) -> Any:
    """The same fact in our document; a key that is missing there fails the test."""
    counts = document["counts"]
    if key in ("sockets", "cores"):
        return counts["packages" if key == "sockets" else "cores"]
    if key == "threads":
        return counts["pus"]["allowed"]
    if key == "cpus_present":
        return counts["pus"]["present"]
    if key == "node_count":
        return counts["numa_nodes"]
    if key == "cores_per_machine":
        return counts["cores"]
    if key == "cpus":
        return [pu["cpu"] for pu in document["pus"] if pu["allowed"]]
    if key == "nodes":
        return {node["os_id"]: node["pus"] for node in document["numa"]["nodes"]}
    if key == "distances":
        return document["numa"]["distances"]
    if key == "cpu_online":
        return {f"cpu{pu['cpu']}": int(pu["online"]) for pu in document["pus"]}
    return {f"node{node['os_id']}": 1 for node in document["numa"]["nodes"]}


def _theirs(entry: dict[str, Any], key: str) -> Any:
    if key == "cores_per_machine":
        return entry["cores_per_socket"] * entry["sockets_per_node"] * entry["node_count"]
    value = entry[key]
    if key == "cpus":
        return list(parse_cpulist(value))
    if key == "nodes":
        return {int(n): list(parse_cpulist(node.get("locality", node.get("cpus")))) for n, node in value.items()}
    return value["matrix"] if key == "distances" else value


@pytest.mark.parametrize(("name", "by"), TEN, ids=lambda part: part.replace(" ", "-"))
def test_counts_equal_the_published_ones(name: str, by: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    root, entry = recorded(name), published(name, by)

    assert run(["detect", "--json", "--sysroot", root]) == 0

    document = json.loads(capfdbinary.readouterr().out)
    keys = TEN[name, by]
    assert {key: _ours(document, key) for key in keys} == {key: _theirs(entry, key) for key in keys}


def test_the_list_has_ten_machines_of_four_publishers() -> None:
    assert len({name for name, _ in TEN}) >= 10
    assert len({by.split()[0].split("-")[0] for _, by in TEN}) >= 4
