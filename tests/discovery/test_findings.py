"""Findings are pure: one machine in, or two looks, and out what its user should know."""

import ast
import pathlib
import re

import pytest
from msgspec.structs import replace

from finding_checks import find, ids, looks_only, node, only, two_sockets
from recordings import expectations, recorded_machine
from sizeup.decoding import toml_tables
from sizeup.discovery import findings
from sizeup.model.machine import Machine, Platform
from sizeup.model.numa import HugePages
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.probing.registry import load_registry


@pytest.mark.parametrize(
    ("command", "looks"),
    [
        ("dmesg | grep -iE 'numa|srat'", True),
        ("grep . /sys/x; ip link show dev eth0", True),
        ("echo on > /sys/devices/system/cpu/smt/control", False),
        ("cat /proc/cmdline > file", False),
        ("chcpu -e 0-3", False),
        ("umount /data && mount /data", False),
        ("lscpu; numactl --interleave=all COMMAND", False),
    ],
)
def test_a_command_that_changes_something_is_told_from_one_that_looks(command: str, looks: bool) -> None:
    assert looks_only(command) is looks


def test_a_healthy_machine_has_no_findings() -> None:
    assert find(two_sockets()) == ()


def test_no_two_findings_of_one_look_have_one_identity() -> None:
    idle, taken = (HugePages(size, 4, free) for size, free in ((2 << 20, 4), (1 << 30, 0)))
    pools = (replace(idle, free=0), taken), (idle, replace(taken, free=4))
    machine = two_sockets(node(0, 100, 1, pools[0]), node(1, 100, 50, pools[1]))

    assert ids(machine) == ["memory.exhausted-node"] * 3
    assert [finding.subjects for finding in find(machine)] == [
        ("node:0",), ("pool:0:2048kB",), ("pool:0:1048576kB",),
    ]  # fmt: skip


def test_stolen_time_is_a_finding() -> None:
    assert ids(Machine(platform=Platform(is_guest=True, steal_share=0.05))) == ["cpu.steal"]


@pytest.mark.parametrize(
    "platform",
    [
        Platform(clock_source="tsc", memlock_bytes=8 << 20, smt="on"),
        Platform(clock_source="kvm-clock", is_guest=True, steal_share=0.001),
        Platform(governor="powersave", frequency_driver="intel_pstate"),
    ],
)
def test_ordinary_settings_are_no_finding(platform: Platform) -> None:
    assert ids(Machine(platform=platform)) == []


def test_a_governor_is_not_judged_without_its_driver() -> None:
    """With some drivers powersave holds the lowest frequency, with others it goes by load."""
    slow = Platform(governor="powersave", frequency_driver="acpi-cpufreq")

    assert ids(Machine(platform=slow)) == ["cpu.powersave"]
    assert ids(Machine(platform=replace(slow, frequency_driver=None))) == []


def made_findings() -> list[tuple[str, dict[str, ast.expr]]]:
    """Every place in the source that makes a finding, with each of its ids and what it states itself."""
    positional = ("id", "title", "evidence", "subjects")
    return [
        (id_, dict(zip(positional, call.args, strict=False)) | {str(one.arg): one.value for one in call.keywords})
        for module in pathlib.Path(findings.__path__[0]).glob("*.py")
        for call in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "finding"
        for id_ in endings(call.args[0])
    ]


def catalog() -> dict[str, dict[str, str]]:
    """The words that findings say on any machine."""
    text = (pathlib.Path(findings.__path__[0]) / "catalog.toml").read_text(encoding="utf-8")
    return toml_tables(text)


def endings(node: ast.expr) -> list[str]:
    """How the text of an expression may end, as far as it is written out; a value that is put in counts as a word."""
    match node:
        case ast.Constant():
            return [str(node.value)]
        case ast.JoinedStr():
            return endings(node.values[-1])
        case ast.BinOp():
            return endings(node.right)
        case ast.IfExp():
            return endings(node.body) + endings(node.orelse)
        case ast.Call() if ast.unparse(node.func) in ("for_guest", "on_host"):
            return [ending for argument in node.args[1:] for ending in endings(argument)]
    return []


def test_every_kind_of_finding_has_a_consequence_a_remedy_a_command_and_only_quantities_that_exist() -> None:
    made, words = made_findings(), catalog()

    assert len(made) > 50
    assert {id_ for id_, _ in made} == set(words)
    for id_, stated in made:
        needed = {"title", "evidence", "subjects", "consequence", "remedy", "command"}
        assert needed <= set(words[id_]) | set(stated), id_
    quantities = {each["quantity"] for each in words.values() if "quantity" in each}
    assert [quantity for quantity in quantities if load_registry().giving(quantity) is None] == []


def test_what_only_some_machines_hear_is_asked_of_the_machine() -> None:
    words = catalog()
    needs = {id_ for id_, each in words.items() if {"remedy_in_guest", "of_kernel"} & set(each)}
    asked = {id_ for id_, stated in made_findings() if "machine" in stated}

    assert needs <= asked
    assert {id_.partition("/")[0] for id_ in asked} == {id_.partition("/")[0] for id_ in needs}


def test_a_title_is_a_heading_and_consequence_and_remedy_are_sentences() -> None:
    made = made_findings()
    titles = [ending for _, stated in made if "title" in stated for ending in endings(stated["title"])]
    titles += [each["title"] for each in catalog().values() if "title" in each]
    parts = ("consequence", "remedy")
    own = [ending for _, stated in made for part in parts if part in stated for ending in endings(stated[part])]
    sentences = [ending for ending in own if ending]  # empty where a case has that of the catalog
    sentences += [each[part] for each in catalog().values() for part in (*parts, "remedy_in_guest") if part in each]

    assert len(sentences) > 2 * len(made)
    assert [title for title in titles if title.endswith(".")] == []
    assert [sentence for sentence in sentences if not sentence.endswith(".")] == []


def test_names_from_hardware_cannot_add_to_a_command() -> None:
    device = BlockDevice("md0;reboot", BlockKind.MD, 10**9, raid_level="raid1", raid_disks=2, raid_degraded=1)

    (finding,) = find(Machine(block_devices=(device,)))

    assert finding.command == "mdadm --detail /dev/'md0;reboot'"


DESERVED = {
    "affinity.restricted": {
        "hwloc/16amd64-4n4c-cgroup-distance-merge": "cpuset of 4 of 16 CPUs",
        "hwloc/16em64t-4s2ca2c-cpusetreorder": "cpuset of 11 of 16 CPUs",
        "hwloc/32amd64-4s2n4c-cgroup2": "cpuset of 6 of 32 CPUs",
        "hwloc/4fake-4gr1nu1pu": "cpuset of 2 of 4 CPUs",
        "hwloc/nvidiagpunumanodes": "cpuset of CPUs 0-87 of 176",
    },
    "bond.member-down": {"prometheus-node_exporter/fixtures": "eth1 of int: mii_status is down"},
    "clock.slow-source": {"systemd/sys-script": "hpet in use"},
    "cpu.boost-off": {"hwloc/nvidia-dgx-gb10": "cpufreq/boost is 0"},
    "cpu.deep-idle": {
        "hwloc/40intel64-4n10c+pci-conflicts": "200 us to leave NHM-C6",
        "nri-plugins/4-socket-server-nosnc": "133 us to leave C6",
        "nri-plugins/sample2": "133 us to leave C6",
        "pcp/meminfo-root-008+links": "133 us to leave C6",
    },
    "cpu.microcode": {
        "pcp/sysfs-numa-001": "mds: attempted, no microcode",
        "prometheus-procfs/fixtures": "made up: mmio_stale_data: attempted, no microcode",
    },
    "cpu.offline": {
        "hwloc/offline-cpu0-node0": "CPUs 0-3 and 21-23 are switched off",
        "libvirt-hostcpu/ppc64-deconf-cpus": "threads switched off",
        "libvirt-hostcpu/ppc64-subcores1": "threads switched off",
        "libvirt-hostcpu/ppc64-subcores2": "threads switched off",
        "libvirt-hostcpu/ppc64-subcores3": "threads switched off",
    },
    "fc.port-unused": {
        "libvirt-fchost/fchost": "Linkdown, no remote port",
        "pcp/meminfo-root-008+links": "Linkdown, no remote port, nothing received or sent",
    },
    "firmware.contradiction": {
        "hwloc/16em64t-4s2ca2c-cpusetreorder": "cores by sysfs and by cpuinfo",
        "hwloc/40intel64-4n10c+pci-conflicts": "L3 of CPU 2 by list and by mask",
        "hwloc/64fake-4n2s2ca2c2t": "masks of caches were edited, lists were not",
        "hwloc/8em64t-2s2ca2c-buggynuma": "eight nodes of the same CPUs",
        "hwloc/nvidiagpunumanodes": "176 CPUs in cpuinfo, 32 in sysfs",
        "libvirt-hostcpu/ppc-test1": "CPU 1 is no member of its own core",
        "libvirt-hostcpu/x86_64-test1": "CPU 1 is no member of its own core",
        "prometheus-node_exporter/fixtures": "made up: cores by sysfs and by cpuinfo",
        "prometheus-procfs/fixtures": "made up: cores by sysfs and by cpuinfo",
    },
    "memory.correctable-errors": {"prometheus-node_exporter/fixtures": "made up: ce_count of mc0 is 1"},
    "memory.exhausted-node": {"nri-plugins/4-socket-server-nosnc": "node 3 has 0.1 % free, node 1 98 %"},
    "memory.node-sum": {
        "hwloc/offline-cpu0-node0": "node 0 is not listed",
        "prometheus-node_exporter/fixtures": "made up: 384 GiB in nodes, 3.57 GiB in all",
    },
    "memory.uncorrectable-errors": {"prometheus-node_exporter/fixtures": "made up: ue_count of mc0 is 5"},
    "memory.uneven-nodes": {"hwloc/48amd64-4pa2n6c-sparse": "8 and 16 GiB"},
    "multipath.dead-path": {
        "prometheus-node_exporter/fixtures": "sdl is offline",
        "prometheus-procfs/fixtures": "sdc is offline",
    },
    "nfs.udp": {
        "prometheus-node_exporter/fixtures": "/mnt/nfs/test-dupe: proto=udp",
        "prometheus-procfs/fixtures": "proto=udp",
    },
    "numa.missing-node": {
        "hwloc/offline-cpu0-node0": "node 0 is not listed, nine of its CPUs are online",
        "util-linux-lscpu/x86_64-64cpu": "four sockets, nodes 0, 2 and 3: node 0 has the CPUs of two sockets",
    },
    "numa.suma": {"libvirt-hostcpu/x86_64-test7": "two Opteron 6174, each with controllers of its own, and one node"},
    "storage.degraded-pool": {"prometheus-node_exporter/fixtures": "ZFS pools poolz1 DEGRADED and pool2 SUSPENDED"},
    "storage.degraded-array": {
        "prometheus-node_exporter/fixtures": "md5 and md6 lack members",
        "prometheus-procfs/fixtures": "md5 and md6 lack members",
        "systemd/sys-script": "md0 lacks a member",
    },
    "storage.scheduler": {
        "pcp/meminfo-root-008+links": "sda to sdc: bfq",
        "hwloc/40intel64-4n10c+pci-conflicts": "sda: cfq",
        "hwloc/fakepcilocalities": "sda: cfq",
        "pcp/scsi-map-root-001+links": "sdb to sde: bfq",
        "prometheus-node_exporter/fixtures": "sda: bfq",
        "prometheus-procfs/fixtures": "sda: bfq",
        "systemd/sys-script": "sda and sdb: cfq",
        "util-linux-lsblk/simple-lvm": "sda and sdb: cfq",
        "util-linux-lsblk/simple-nvme": "sda and sdb: cfq",
    },
    "swap.swappiness": {"prometheus-procfs/fixtures": "made up: 60, swap on dm-2"},
}
"""Every finding on the recorded machines, with why it is right."""


@pytest.mark.ci
def test_every_finding_on_a_recorded_machine_is_deserved() -> None:
    found: dict[str, set[str]] = {}
    for name in expectations():
        for finding in recorded_machine(name).findings:
            found.setdefault(finding.id, set()).add(name)

    if not found:
        pytest.skip("the recorded machines are not here: set SIZEUP_CORPUS to their folder")
    assert found == {finding: set(machines) for finding, machines in DESERVED.items()}


CLOCK = "/sys/devices/system/clocksource/clocksource0"
CLOCK_LOG = "dmesg | grep -iE 'clocksource|tsc'"


@pytest.mark.parametrize(
    ("current", "available", "faster", "command"),
    [
        ("hpet", ("hpet", "acpi_pm"), "", CLOCK_LOG),
        ("hpet", ("tsc", "hpet", "acpi_pm"), "tsc", CLOCK_LOG),
        ("acpi_pm", ("kvm-clock", "acpi_pm"), "kvm-clock", CLOCK_LOG),
        ("jiffies", ("arch_sys_counter", "jiffies"), "arch_sys_counter", CLOCK_LOG),
        ("hpet", (), "", f"cat {CLOCK}/available_clocksource"),
    ],
)
def test_only_a_clock_source_that_is_available_is_suggested(
    current: str, available: tuple[str, ...], faster: str, command: str
) -> None:
    found = only(Machine(platform=Platform(clock_source=current, clock_sources=available)), "clock.slow-source")

    assert found.command == command
    assert ("(echo " in found.remedy) is bool(faster)
    assert f"(echo {faster} > {CLOCK}/current_clocksource)" in found.remedy or not faster


def test_threads_that_nothing_switches_on_before_a_reboot_are_not_to_be_switched_on() -> None:
    off = only(Machine(platform=Platform(smt="off")), "cpu.smt-off")
    assert "(echo on > /sys/devices/system/cpu/smt/control)" in off.remedy
    assert off.command == "cat /sys/devices/system/cpu/smt/control"
    forced = only(Machine(platform=Platform(smt="forceoff")), "cpu.smt-off")
    assert "nosmt=force" in forced.remedy
    assert "echo on" not in forced.remedy
    assert forced.command == "cat /proc/cmdline"


def test_a_container_is_told_that_its_host_holds_the_settings() -> None:
    platform = Platform(
        container="docker", clock_source="hpet", clock_sources=("tsc", "hpet"), smt="off",
        governor="powersave", frequency_driver="acpi-cpufreq", memlock_unlimited=True,
    )  # fmt: skip
    inside = find(Machine(platform=platform, huge_pages=(HugePages(2 << 20, 0, 0),)))

    assert len(inside) == 4
    assert [finding.id for finding in inside if not finding.remedy.startswith("On the container's host: ")] == []
    outside = find(Machine(platform=replace(platform, container=None)))
    assert not any("container" in finding.remedy for finding in outside)


@pytest.mark.parametrize("name", sorted(expectations()))
def test_commands_fit_the_recorded_machine(name: str) -> None:
    machine = recorded_machine(name)
    mapped = {found.name for found in machine.maps if found.device.startswith("dm-")}

    for finding in find(machine):
        command = finding.command
        switch = re.search(r"\(echo (\S+) > \S+current_clocksource\)", finding.remedy)
        if switch is not None:
            assert switch[1] in machine.platform.clock_sources
        node = re.search(r"--cpunodebind=(\d+)", finding.remedy)
        if node is not None:
            assert any(each.pus for each in machine.nodes if each.os_id == int(node[1]))
        if command.startswith("multipath"):
            assert {subject.removeprefix("map:") for subject in finding.subjects} <= mapped
        if command.startswith("dmidecode"):
            assert (machine.platform.architecture or "").startswith("x86") or machine.platform.firmware
