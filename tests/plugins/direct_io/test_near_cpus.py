"""The threads of a target run on the nodes of its devices, as far as this process may."""

import os
from pathlib import Path

from sizeup_direct_io.disks import find_near_cpus, several_nodes


class Sysfs:
    """A made-up ``/sys``: nodes of eight CPUs, and disks on PCI functions."""

    def __init__(self, root: Path, nodes: int) -> None:
        self.root = root / "sys"
        self._numbers = 0
        for node in range(nodes):
            self.write(f"devices/system/node/node{node}/cpulist", f"{node * 8}-{node * 8 + 7}")

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(f"{text}\n")

    def block(self, folder: str) -> int:
        """Register a block device; return its number."""
        self._numbers += 1
        number = os.makedev(259, self._numbers)
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        link = self.root / f"dev/block/259:{self._numbers}"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(self.root / folder)
        return number

    def nvme(self, index: int, node: int) -> int:
        self.write(f"devices/pci0000:{index:02x}/0000:{index:02x}:00.0/numa_node", str(node))
        return self.block(self.disk(index))

    def disk(self, index: int) -> str:
        return f"devices/pci0000:{index:02x}/0000:{index:02x}:00.0/nvme/nvme{index}/nvme{index}n1"

    def over(self, name: str, *disks: int) -> int:
        """Return the number of a map over disks."""
        for index in disks:
            slave = self.root / f"devices/virtual/block/{name}/slaves/nvme{index}n1"
            slave.parent.mkdir(parents=True, exist_ok=True)
            slave.symlink_to(self.root / self.disk(index))
        return self.block(f"devices/virtual/block/{name}")


ALL = range(1024)


def test_the_threads_of_a_disk_run_on_its_node(tmp_path: Path) -> None:
    sysfs = Sysfs(tmp_path, 4)
    number = sysfs.nvme(3, node=2)

    near = find_near_cpus(number, ALL, str(sysfs.root))

    assert near.groups == (tuple(range(16, 24)),)
    assert near.description == "16-23 (node 2: nvme3n1)"
    assert near.of_worker(0) == near.of_worker(5) == tuple(range(16, 24))


def test_a_partition_is_on_the_node_of_its_disk(tmp_path: Path) -> None:
    sysfs = Sysfs(tmp_path, 2)
    sysfs.nvme(1, node=1)
    sysfs.write(f"{sysfs.disk(1)}/nvme1n1p2/partition", "2")

    near = find_near_cpus(sysfs.block(f"{sysfs.disk(1)}/nvme1n1p2"), ALL, str(sysfs.root))

    assert near.description == "8-15 (node 1: nvme1n1)"


def test_the_threads_of_a_map_take_turns_over_the_nodes_of_its_disks(tmp_path: Path) -> None:
    sysfs = Sysfs(tmp_path, 4)
    for index, node in enumerate((0, 3, 0)):
        sysfs.nvme(index, node)

    near = find_near_cpus(sysfs.over("md0", 0, 1, 2), ALL, str(sysfs.root))

    assert near.description == "0-7 (node 0: nvme0n1, nvme2n1); 24-31 (node 3: nvme1n1)"
    assert [near.of_worker(index)[0] for index in range(4)] == [0, 24, 0, 24]


def test_only_cpus_that_this_process_may_use(tmp_path: Path) -> None:
    sysfs = Sysfs(tmp_path, 4)
    number = sysfs.nvme(0, node=1)

    assert find_near_cpus(number, {0, 9, 11, 30}, str(sysfs.root)).groups == ((9, 11),)
    elsewhere = find_near_cpus(number, {0, 1}, str(sysfs.root))
    assert elsewhere.groups == ()
    assert elsewhere.description == "not pinned: this process may use no CPU of node 1, where nvme0n1 is attached"
    assert elsewhere.of_worker(0) == ()


def test_a_disk_whose_node_is_unknown_leaves_the_threads_where_they_are(tmp_path: Path) -> None:
    sysfs = Sysfs(tmp_path, 2)
    sysfs.nvme(0, node=0)
    sysfs.nvme(1, node=-1)

    near = find_near_cpus(sysfs.over("md0", 0, 1), ALL, str(sysfs.root))

    assert (near.groups, near.description) == ((), "not pinned: the node of nvme1n1 is unknown")


def test_with_one_node_there_is_nothing_to_know(tmp_path: Path) -> None:
    sysfs = Sysfs(tmp_path, 1)

    near = find_near_cpus(sysfs.nvme(0, node=-1), range(4), str(sysfs.root))

    assert (near.groups, near.description) == (((0, 1, 2, 3),), "0-3 (node 0: nvme0n1)")
    assert not several_nodes(str(sysfs.root))


def test_a_namespace_with_several_controllers_is_near_each(tmp_path: Path) -> None:
    sysfs = Sysfs(tmp_path, 4)
    subsystem = "devices/virtual/nvme-subsystem/nvme-subsys0"
    for index, node in enumerate((1, 2)):
        sysfs.nvme(index, node)
        link = sysfs.root / subsystem / f"nvme{index}"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(sysfs.root / Path(sysfs.disk(index)).parent)
    number = sysfs.block(f"{subsystem}/nvme0n1")
    (sysfs.root / subsystem / "nvme0n1/device").symlink_to(sysfs.root / subsystem)

    near = find_near_cpus(number, ALL, str(sysfs.root))

    assert near.description == "8-15 (node 1: nvme0n1); 16-23 (node 2: nvme0n1)"


def test_what_is_on_no_block_device_is_near_no_node(tmp_path: Path) -> None:
    sysfs = Sysfs(tmp_path, 2)

    near = find_near_cpus(os.makedev(0, 45), ALL, str(sysfs.root))

    assert near.description == "not pinned: the target is on no block device"
