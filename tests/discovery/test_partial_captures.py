"""What a capture lacks is unknown, with the reason in the text and in the gaps; what it has in one place is used."""

from pathlib import Path

import pytest

from sizeup.compare.drift import drift
from sizeup.compare.machines import machine_differences
from sizeup.discovery.machine import discover
from sizeup.discovery.sysroot import MANIFEST
from sizeup.model.cpu_pairs import PairClass, cpu_pairs
from sizeup.model.machine import Machine
from sizeup.model.storage import BlockKind
from sizeup.report.machine import machine_text
from sizeup.sizing.inputs.detected import detected
from sizeup.views.machine.detection import detection
from sizeup.views.machine.facts import machine_facts
from sizeup.views.machine.topology import topology
from trees import discovered

CPU = "/sys/devices/system/cpu"
NO_PACKAGES = f"""
{CPU}/present = 0-3
{CPU}/online = 0-3
{CPU}/cpu{{0-3}}/topology/physical_package_id = -1
{CPU}/cpu{{0-1}}/topology/thread_siblings_list = 0-1
{CPU}/cpu{{2-3}}/topology/thread_siblings_list = 2-3
{CPU}/cpu{{0-1}}/topology/core_siblings_list = 0-1
{CPU}/cpu{{2-3}}/topology/core_siblings_list = 2-3
{CPU}/cpu{{0-1}}/topology/core_id = 0
{CPU}/cpu{{2-3}}/topology/core_id = 4
"""
PCI = "/sys/devices/pci0000:00/0000:00:1c.4/0000:04:00.0"
PARTIAL_DISK = f"""
/proc/partitions = major minor  #blocks  name\\n\\n 259 0 250059096 nvme0n1\\n 8 0 1048576 sda\\n 8 1 524288 sda1
/sys/block/nvme0n1/wwid = eui.002538
/sys/class/nvme/nvme0 -> ../..{PCI.removeprefix("/sys")}/nvme/nvme0
{PCI}/nvme/nvme0/state = dead
{PCI}/nvme/nvme0/nvme0n1/size = 500118192
{PCI}/nvme/nvme0/nvme0n1/queue/scheduler = [none]
/sys/block/sda/device/wwid = naa.5000
/sys/block/sdz/removable = 1
"""


def words(machine: Machine, part: str | None = None) -> str:
    return " ".join(machine_text(machine, only=part).split())


def test_package_minus_one_leaves_sockets_unknown_and_cores_known(tmp_path: Path) -> None:
    machine = discovered(tmp_path, NO_PACKAGES)

    assert (machine.socket_count, machine.core_count, machine.dies) == (None, 2, ())
    assert [core.package for core in machine.cores] == [None, None]
    assert "physical_package_id of CPU 0 is -1" in dict(machine_facts(machine))["Sockets"]
    assert "counts sockets unknown, 2 cores, 4 threads" in words(machine)
    assert not {"machine.sockets", "machine.cores_per_socket"} & set(detected(machine))
    assert detected(machine)["machine.cores"].value == 2
    labels = [item.label for item in topology(machine).children]
    assert not [label for label in labels if label.startswith("Socket")]
    assert len([label for label in labels if label.startswith("Core")]) == 2


@pytest.mark.parametrize(
    ("more", "sockets"),
    [
        ("/proc/cpuinfo = processor : 0\\nphysical id : 0\\n\\nprocessor : 2\\nphysical id : 1", 2),
        ("/proc/cpuinfo = processor : 0\\n\\nprocessor : 2", None),
    ],
)
def test_physical_id_of_cpuinfo_names_the_sockets_that_sysfs_does_not(
    tmp_path: Path, more: str, sockets: int | None
) -> None:
    assert discovered(tmp_path, NO_PACKAGES + more).socket_count == sockets


def test_a_single_cpu_is_one_socket_whatever_its_number(tmp_path: Path) -> None:
    alone = (
        f"{CPU}/present = 0\n{CPU}/cpu0/topology/physical_package_id = -1\n{CPU}/cpu0/topology/core_siblings_list = 0"
    )

    assert discovered(tmp_path, alone).socket_count == 1


def test_cpus_of_unknown_packages_share_a_node_at_most(tmp_path: Path) -> None:
    nodes = "/sys/devices/system/node/node0/cpulist = 0-1\n/sys/devices/system/node/node1/cpulist = 2-3\n"
    machine = discovered(tmp_path, NO_PACKAGES + nodes)

    assert set(cpu_pairs(machine).totals) == {PairClass.SMT_SIBLING, PairClass.REMOTE}


def test_missing_disks_interfaces_and_memory_are_unknown_with_the_reason(tmp_path: Path) -> None:
    machine = discovered(tmp_path, "/proc/mounts = /dev/sda5 / ext4 rw 0 0\\nproc /proc proc rw 0 0")

    reasons = {gap.subject: gap.reason for gap in machine.gaps}
    assert set(reasons) >= {"/sys/block", "/sys/class/net", "/proc/meminfo"}
    assert "disks unknown (/sys/block: missing, and neither" in words(machine, "storage")
    assert "mounted /dev/sda5 on /" in words(machine, "storage")
    assert "interfaces unknown (/sys/class/net: missing)" in words(machine, "network")
    assert "memory unknown (/proc/meminfo: missing, and no node" in words(machine, "numa")


def test_empty_directories_are_known_to_be_empty(tmp_path: Path) -> None:
    for directory in ("sys/block", "sys/class/net"):
        (tmp_path / directory).mkdir(parents=True)
    machine = discover(str(tmp_path))

    assert not {"/sys/block", "/sys/class/net"} & {gap.subject for gap in machine.gaps}
    assert words(machine, "network") == "This machine has nothing to show under network."


def test_a_disk_of_which_a_capture_has_a_part_is_shown_with_size_and_kind(tmp_path: Path) -> None:
    machine = discovered(tmp_path, PARTIAL_DISK)
    disks = {disk.name: disk for disk in machine.block_devices}

    nvme = disks["nvme0n1"]
    assert (nvme.kind, nvme.size_bytes, nvme.wwn) == (BlockKind.NVME, 500118192 * 512, "eui.002538")
    assert (nvme.scheduler, nvme.pci_address) == ("none", "0000:04:00.0")
    assert (disks["sda"].size_bytes, disks["sda"].devno) == (1 << 30, "8:0")
    assert disks["sdz"].size_bytes is None
    text = words(machine, "storage")
    assert "nvme0n1 nvme 256 GB" in text
    assert "sdz other unknown" in text


def test_an_empty_drive_is_not_shown_and_no_finding_names_it(tmp_path: Path) -> None:
    empty = "/sys/block/sdb/size = 0\n/sys/block/sdb/queue/scheduler = mq-deadline [bfq]\n"
    machine = discovered(tmp_path, empty)

    assert "sdb" not in words(machine)
    assert machine.findings == ()


def test_paths_of_a_map_that_were_not_recorded_are_unknown(tmp_path: Path) -> None:
    bare = "/sys/block/dm-3/size = 204800\n/sys/block/dm-3/dm/uuid = mpath-3333\n/sys/block/dm-3/dm/name = mpathb"

    assert "mpathb dm-3 paths unknown: no slaves listed" in words(discovered(tmp_path, bare), "storage")


@pytest.mark.parametrize(("number", "kind"), [("65534", "tunnel"), ("772", "loopback"), ("1", "virtual")])
def test_what_is_under_devices_virtual_is_no_port_whatever_its_device(tmp_path: Path, number: str, kind: str) -> None:
    tree = (
        f"/sys/devices/virtual/net/x0/type = {number}\n/sys/devices/virtual/net/x0/operstate = up\n"
        "/sys/devices/virtual/net/x0/carrier = 1\n/sys/devices/virtual/net/x0/speed = 10\n"
        "/sys/devices/virtual/net/x0/device -> ../..\n/sys/class/net/x0 -> ../../devices/virtual/net/x0\n"
    )
    machine = discovered(tmp_path, tree)

    assert [(nic.kind, nic.speed_bits_per_second) for nic in machine.nics] == [(kind, None)]
    assert "net.links" not in detected(machine)
    assert [one.fact for one in drift(machine, machine).drifted] == []


@pytest.mark.parametrize(("siblings", "sockets"), [(("0-1", "2-3"), 2), (("0", "1", "2", "3"), None)])
def test_sockets_of_ibm_z_without_numbers_are_known_unless_each_core_has_its_own(
    tmp_path: Path, siblings: tuple[str, ...], sockets: int | None
) -> None:
    tree = f"{CPU}/online = 0-3\n{CPU}/cpu{{0-3}}/topology/physical_package_id = -1\n"
    tree += f"{CPU}/cpu{{0-3}}/topology/thread_siblings_list = {{}}\n{CPU}/cpu{{0-3}}/topology/book_siblings = f\n"
    for cpus in siblings:
        tree += f"{CPU}/cpu{{{cpus[0]}-{cpus[-1]}}}/topology/core_siblings_list = {cpus}\n"
    machine = discovered(tmp_path, tree)

    assert (machine.socket_count, machine.core_count) == (sockets, 4)


def test_a_node_without_cpus_says_what_it_has(tmp_path: Path) -> None:
    base = "/sys/devices/system/node"
    tree = (
        f"{NO_PACKAGES}{base}/online = 0-3\n{base}/node0/cpulist = 0-3\n"
        f"{base}/node0/meminfo = Node 0 MemTotal: 1024 kB\n{base}/node1/meminfo = Node 1 MemTotal: 0 kB\n"
        f"{base}/node2/meminfo = Node 2 MemTotal: 2048 kB\n{base}/node3/distance = 20 20 20 10\n"
        f"{base}/node0/memory_side_cache/index1/size = 512\n"
    )
    machine = discovered(tmp_path, tree)
    text = words(machine, "numa")

    assert "no CPUs node 1: no memory; node 2: memory only; node 3: memory unknown" in text
    assert "memory cache node 0: 512 B in front of slower memory: what is used beyond" in text
    assert ("memory of node 3", f"unknown: no MemTotal in meminfo of {base}/nodeN") in [
        (gap.subject, gap.reason) for gap in machine.gaps
    ]


RAID_PATH = "/sys/devices/pci0000:00/0000:00:03.0/host0/target0:2:0"
RAID = f"""
/sys/class/scsi_host/host0 -> ../../devices/pci0000:00/0000:00:03.0/host0/scsi_host/host0
/sys/devices/pci0000:00/0000:00:03.0/host0/scsi_host/host0/proc_name = megaraid_sas
/sys/block/sda -> ../devices/pci0000:00/0000:00:03.0/host0/target0:2:0/0:2:0:0/block/sda
{RAID_PATH}/0:2:0:0/block/sda/size = 2048
/sys/block/sdb -> ../devices/pci0000:00/0000:00:03.0/host0/target0:2:0/0:2:1:0/block/sdb
{RAID_PATH}/0:2:1:0/block/sdb/size = 2048
/sys/class/scsi_host/host7 -> ../../devices/pci0000:00/0000:00:04.0/host7/scsi_host/host7
/sys/devices/pci0000:00/0000:00:04.0/host7/scsi_host/host7/proc_name = lpfc
/sys/class/fc_host/host7 -> ../../devices/pci0000:00/0000:00:04.0/host7/fc_host/host7
/sys/devices/pci0000:00/0000:00:04.0/host7/fc_host/host7/port_state = Online
/proc/self/cgroup = 4:memory:/user.slice\\n0::/user.slice
/proc/mounts = cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
"""


def test_what_a_recording_left_out_is_unknown_and_not_absent(tmp_path: Path) -> None:
    machine = discovered(tmp_path, f"{NO_PACKAGES}{RAID}")
    text = words(machine)

    assert "huge pages unknown (/sys/kernel/mm/hugepages: missing)" in text
    assert "NUMA unknown: no node in /sys/devices/system/node" in text
    assert (machine.node_count, detection(machine)["counts"].numa_nodes) == (None, None)
    assert dict(machine_facts(machine))["NUMA nodes"] == "unknown: no node in /sys/devices/system/node"
    assert "NUMA nodes" not in {one.what for one in machine_differences([machine], [machine])}
    assert "host0 raid megaraid_sas unknown - - - 2 -" in text  # its disks are its LUNs; the list of all is missing
    assert "host7 fc lpfc Online - - - - -" in text
    assert "cgroup" not in words(machine, "settings")
    assert {"NUMA", "/sys/kernel/mm/hugepages", "/sys/bus/scsi/devices"} <= {gap.subject for gap in machine.gaps}


def test_what_a_whole_capture_lacks_the_machine_lacks(tmp_path: Path) -> None:
    machine = discovered(tmp_path, f"{NO_PACKAGES}{RAID}\n/{MANIFEST} = {{}}")
    text = words(machine)

    assert "huge pages none in use NUMA not NUMA" in text
    assert machine.node_count == 0
    assert "cgroup memory none" in words(machine, "settings")
    assert "host7 fc lpfc Online - - 0 0 -" in text


def test_a_pool_that_could_not_be_read_is_not_none(tmp_path: Path) -> None:
    pool = "/sys/kernel/mm/hugepages/hugepages-2048kB"
    text = words(discovered(tmp_path, f"{NO_PACKAGES}{pool}/nr_hugepages = 10"), "numa")

    assert f"huge pages unknown ({pool}: the number of free pages is unknown (pool of 10))" in text


def test_the_partition_of_ibm_z_below_a_hypervisor_is_shown_without_its_name(tmp_path: Path) -> None:
    sysinfo = (
        "/proc/sysinfo = Manufacturer: IBM\\nType: 2817\\nLPAR Number: 41\\nLPAR Characteristics: Shared \\n"
        "LPAR Name: R17LP39\\nLPAR CPUs Configured: 4\\nVM00 Control Program: KVM/Linux"
    )
    text = words(discovered(tmp_path, sysinfo))

    assert "runs on guest under KVM" in text
    assert "LPAR shared, 4 CPUs" in text
    assert "R17LP39" not in text
