"""Findings are pure: one machine in, or two looks, and out what its user should know."""

import ast
import pathlib
import re
from typing import Any

import pytest
from msgspec.structs import replace

from recordings import expectations, recorded_machine
from sizeup.discovery import findings
from sizeup.discovery.findings import checks
from sizeup.discovery.findings.memory import growth_findings
from sizeup.discovery.findings.platform import contradictions
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.model.numa import HugePages, MemoryKind, NumaNode
from sizeup.model.pci import PciFunction, PciLink
from sizeup.model.platform import ControlGroup, Platform
from sizeup.model.storage import (
    BlockDevice,
    BlockKind,
    Hba,
    MultipathMap,
    NvmeController,
    Path,
    ScsiDevice,
    TargetPort,
    Transport,
)
from sizeup.model.topology import Cache, CacheKind, Package, Pu
from sizeup.probing.registry import load_registry

GIB = 1 << 30


LOOKS = re.compile(
    r"(cat|cpupower frequency-info|dmesg|dmidecode|grep|head|ip link show|lscpu|lsmem|lspci|mdadm --detail"
    r"|multipath -ll|nfsstat|numactl --hardware|numastat|nvme list-subsys|ps|vmstat)( [^<>&]*)?"
)
"""A command that changes nothing."""


def find(machine: Machine) -> tuple[Finding, ...]:
    """Return the findings of a machine; the command of each only looks."""
    found = checks.find(machine)
    assert [finding.command for finding in found if not looks_only(finding.command)] == []
    return found


def looks_only(command: str) -> bool:
    unquoted = re.sub(r"'[^']*'", "x", command)
    return all(LOOKS.fullmatch(part.strip()) for part in re.split(r"[;|\n]", unquoted))


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


def node(number: int, total: int, free: int, pools: tuple[HugePages, ...] = ()) -> NumaNode:
    cpus = (2 * number, 2 * number + 1)
    return NumaNode(
        number, cpus, (number,), cpus, memory_bytes=total * GIB, free_bytes=free * GIB, file_bytes=0, huge_pages=pools
    )


def two_sockets(*nodes: NumaNode) -> Machine:
    return Machine(
        packages=(Package((0, 1), 0), Package((2, 3), 1)),
        pus=tuple(Pu(cpu, online=True, allowed=True) for cpu in range(4)),
        nodes=nodes or (node(0, 100, 50), node(1, 100, 50)),
    )


def ids(machine: Machine) -> list[str]:
    return [finding.id for finding in find(machine)]


def test_a_healthy_machine_has_no_findings() -> None:
    assert find(two_sockets()) == ()


@pytest.mark.parametrize(
    ("free", "found"),
    [((4, 50), True), ((5, 50), False), ((4, 30), False), ((4, 31), True)],
)
def test_an_exhausted_node_is_below_5_percent_while_another_is_above_30(free: tuple[int, int], found: bool) -> None:
    machine = two_sockets(node(0, 100, free[0]), node(1, 100, free[1]))

    assert ("memory.exhausted-node" in ids(machine)) is found


def test_the_memory_of_a_gpu_is_no_room() -> None:
    gpu = replace(node(1, 100, 99), kind=MemoryKind.GPU)

    assert "memory.exhausted-node" not in ids(two_sockets(node(0, 100, 1), gpu))


def test_huge_pages_are_counted_by_size_and_a_size_of_none_never_counts() -> None:
    taken, idle, absent = HugePages(2 << 20, 64, 0), HugePages(2 << 20, 64, 40), HugePages(1 << 30, 0, 0)
    exhausted = two_sockets(node(0, 100, 50, (taken, absent)), node(1, 100, 50, (idle, absent)))
    even = two_sockets(node(0, 100, 50, (taken,)), node(1, 100, 50, (taken,)))

    (finding,) = find(exhausted)
    assert (finding.id, finding.severity) == ("memory.exhausted-node", Severity.CRITICAL)
    assert finding.evidence == ("node 0: 0 of 64 huge pages free", "node 1: 40 of 64 huge pages free")
    assert find(even) == ()


def test_shared_memory_is_no_page_cache() -> None:
    full = replace(node(0, 100, 4), file_bytes=90 * GIB, shmem_bytes=80 * GIB)
    machine = two_sockets(full, replace(node(1, 100, 50), file_bytes=30 * GIB, shmem_bytes=None))

    (finding,) = find(machine)

    assert full.page_cache_bytes == 10 * GIB
    assert finding.evidence == (
        "node 0: 4 GiB of 100 GiB free (4.0%), page cache 10 GiB, shared memory 80 GiB",
        "node 1: 50 GiB of 100 GiB free (50.0%), page cache and shared memory 30 GiB together",
    )


def test_an_exhausted_node_of_mostly_page_cache_is_a_warning() -> None:
    cached = replace(node(0, 100, 1), file_bytes=90 * GIB, shmem_bytes=1 * GIB)

    warned = only(two_sockets(cached, node(1, 100, 50)), "memory.exhausted-node")
    critical = only(two_sockets(replace(cached, shmem_bytes=80 * GIB), node(1, 100, 50)), "memory.exhausted-node")
    unknown = only(two_sockets(replace(cached, file_bytes=None), node(1, 100, 50)), "memory.exhausted-node")

    assert (warned.severity, critical.severity, unknown.severity) == (
        Severity.WARNING, Severity.CRITICAL, Severity.CRITICAL,
    )  # fmt: skip
    assert "page cache" in warned.consequence
    assert "page cache" not in critical.consequence


def test_no_two_findings_of_one_look_have_one_identity() -> None:
    idle, taken = (HugePages(size, 4, free) for size, free in ((2 << 20, 4), (1 << 30, 0)))
    pools = (replace(idle, free=0), taken), (idle, replace(taken, free=4))
    machine = two_sockets(node(0, 100, 1, pools[0]), node(1, 100, 50, pools[1]))

    assert ids(machine) == ["memory.exhausted-node"] * 3
    assert [finding.subjects for finding in find(machine)] == [
        ("node:0",), ("pool:0:2048kB",), ("pool:0:1048576kB",),
    ]  # fmt: skip


def test_growth_on_one_node_is_named_with_its_share() -> None:
    before = two_sockets(node(0, 100, 90), node(1, 100, 90))
    after = two_sockets(node(0, 100, 10), node(1, 100, 89))

    (finding,) = growth_findings(before, after)

    assert looks_only(finding.command)
    assert finding.id == "memory.one-sided-growth"
    assert finding.title == "98.8% of newly used memory is on NUMA node 0"
    assert finding.evidence == ("node 0: +80 GiB", "node 1: +1 GiB")


def test_growth_inside_a_pool_of_huge_pages_counts_though_free_memory_stays() -> None:
    idle, taken = HugePages(2 << 20, 4096, 4096), HugePages(2 << 20, 4096, 0)
    before = two_sockets(node(0, 100, 50, (idle,)), node(1, 100, 50, (idle,)))
    after = two_sockets(node(0, 100, 50, (taken,)), node(1, 100, 50, (idle,)))

    assert [finding.id for finding in growth_findings(before, after)] == ["memory.one-sided-growth"]


@pytest.mark.parametrize("free", [(80, 80), (90, 90), (95, 95)])
def test_even_or_no_growth_is_no_finding(free: tuple[int, int]) -> None:
    before = two_sockets(node(0, 100, 90), node(1, 100, 90))

    assert growth_findings(before, two_sockets(node(0, 100, free[0]), node(1, 100, free[1]))) == ()


def test_several_sockets_behind_one_node_are_suma_but_never_in_a_guest() -> None:
    machine = replace(two_sockets(node(0, 100, 50)), platform=Platform(is_guest=False))

    assert ids(machine) == ["numa.suma"]
    assert ids(replace(machine, platform=Platform(is_guest=True))) == []
    assert ids(replace(machine, platform=Platform(is_guest=None))) == []
    assert ids(replace(machine, platform=Platform(hypervisor="xen-dom0"))) == []
    assert ids(replace(machine, nodes=(), platform=Platform(kernel_settings=("numa=off",)))) == ["numa.suma"]


def test_a_link_is_degraded_only_against_the_lesser_of_its_two_ends() -> None:
    port = PciFunction("0000:00:01.0", 0x060400, 1, 1, link_limit=PciLink(8, 16))
    card = PciFunction(
        "0000:01:00.0", 0x010802, 1, 1, parent=port.address, link=PciLink(8, 4), link_limit=PciLink(16, 4),
        common_link_limit=PciLink(8, 4),
    )  # fmt: skip
    worse = replace(card, link=PciLink(8, 2))
    graphics = replace(worse, class_code=0x030000)

    assert ids(Machine(pci=(port, card))) == []
    assert ids(Machine(pci=(port, worse))) == ["pci.degraded-link"]
    assert ids(Machine(pci=(port, graphics))) == []


def test_a_bond_over_two_sockets_with_unlike_members_says_both() -> None:
    nics = (
        Nic("bond0", "bond", up=True, lower=("a", "b")),
        Nic("a", "physical", up=True, speed_bits_per_second=10**10, node=0, master="bond0"),
        Nic("b", "physical", up=True, speed_bits_per_second=10**9, node=1, master="bond0"),
    )

    assert ids(replace(two_sockets(), nics=nics)) == ["bond.uneven-speed", "bond.across-packages"]


def test_what_is_unknown_of_a_member_is_said_to_be_unknown() -> None:
    nics = (
        Nic("bond0", "bond", up=True, lower=("a", "b", "c")),
        Nic("a", "physical", up=False),
        Nic("b", "physical", up=True),
        Nic("c", "physical", up=None, speed_bits_per_second=10**10),
    )

    (finding,) = find(Machine(nics=nics))

    assert finding.evidence == (
        "a: NUMA node unknown, down",
        "b: NUMA node unknown, speed unknown",
        "c: NUMA node unknown, state unknown, 10 Gb/s",
    )


def test_a_node_of_unknown_memory_is_not_listed_with_none() -> None:
    unknown = replace(node(0, 1, 1), memory_bytes=None, free_bytes=None)
    machine = replace(two_sockets(unknown, node(1, 50, 25)), nodes=(unknown, node(1, 50, 25), node(2, 100, 50)))

    (finding,) = find(machine)

    assert (finding.id, finding.subjects) == ("memory.uneven-nodes", ("node:1",))
    assert finding.evidence == ("node 1: 50 GiB", "node 2: 100 GiB")


def test_numbers_that_no_node_has_are_named() -> None:
    machine = two_sockets(node(0, 50, 25), node(3, 100, 50))

    assert only(machine, "memory.uneven-nodes").evidence[-1] == "the kernel lists no nodes 1-2"


def test_paths_of_which_only_the_state_is_known_are_one_line() -> None:
    bare = [replace(path(name), hba=None, node=None, speed_bits_per_second=None) for name in ("sda", "sdb", "sdc")]
    found = MultipathMap("a", "dm-0", 1, None, False, (*bare[:2], replace(bare[2], state="offline")))
    known = replace(found, paths=(*bare[:2], path("sdc", "offline")))

    assert only(Machine(maps=(found,)), "multipath.dead-path").evidence == (
        "sda, sdb: running; sdc: offline (adapters, speeds and NUMA nodes could not be read)",
    )
    assert only(Machine(maps=(known,)), "multipath.dead-path").evidence == (
        "sda: running, adapter unknown, speed unknown, NUMA node unknown",
        "sdb: running, adapter unknown, speed unknown, NUMA node unknown",
        "sdc: offline, adapter host0, 16 Gb/s, NUMA node 0",
    )


def path(device: str, state: str = "running", node: int | None = 0, gigabits: int = 16) -> Path:
    return Path(device, None, "host0", Transport.FC, "i", "t", None, node, state, gigabits * 10**9)


def test_maps_are_held_against_their_like() -> None:
    whole = MultipathMap("a", "dm-0", 1, None, False, (path("sda"), path("sdb")))
    poorer = MultipathMap("b", "dm-1", 1, None, False, (path("sdc"),))
    mixed = MultipathMap("c", "dm-2", 1, None, False, (path("sdd", "offline"), path("sde", node=1, gigabits=8)))

    assert ids(replace(two_sockets(), maps=(whole,))) == []
    found = find(replace(two_sockets(), maps=(whole, poorer, mixed)))
    assert [(finding.id, finding.subjects) for finding in found] == [
        ("multipath.few-paths", ("map:b",)),
        ("multipath.dead-path", ("map:c",)),
        ("multipath.uneven-speed", ("map:c",)),
        ("multipath.across-packages", ("map:c",)),
    ]


def fc_port(name: str, state: str | None, **more: Any) -> Hba:
    return Hba(name, Transport.FC, "lpfc", state=state, **more)


@pytest.mark.parametrize("state", ["Linkdown", "Offline", "Error", "Blocked"])
def test_a_port_that_carried_something_and_is_down_is_a_warning(state: str) -> None:
    lost = fc_port("host7", state, received_bytes=41_000_000, sent_bytes=0)
    up = fc_port("host8", "Online", received_bytes=41_000_000)

    (finding,) = find(Machine(hbas=(lost, up)))

    assert (finding.id, finding.severity, finding.subjects) == ("fc.port-down", Severity.WARNING, ("hba:host7",))
    assert finding.title == "Fibre Channel port host7 is down"
    assert finding.evidence == (f"host7 (fc_host): {state}, no remote ports seen, 41 MB received, nothing sent",)
    assert finding.command == "grep . /sys/class/fc_host/host7/port_state"


@pytest.mark.parametrize(
    "use", [{"received_bytes": 4}, {"sent_bytes": 4}, {"targets": (TargetPort("5006"),)}, {"scsi": True}]
)
def test_each_sign_of_use_makes_a_lost_port_a_warning(use: dict[str, Any]) -> None:
    behind = (ScsiDevice("7:0:0:0", 0, hba="host7"),) if use.pop("scsi", False) else ()
    machine = Machine(hbas=(fc_port("host7", "Linkdown", **use),), scsi_devices=behind)

    assert ids(machine) == ["fc.port-down"]


def test_ports_that_were_perhaps_never_cabled_are_one_note() -> None:
    ports = (fc_port("host7", "Linkdown", received_bytes=0, sent_bytes=0), fc_port("host8", "Offline"))

    (finding,) = find(Machine(hbas=ports))

    assert (finding.id, finding.severity) == ("fc.port-unused", Severity.INFO)
    assert finding.title == "Fibre Channel ports host7, host8 have no link and no known use"
    assert finding.evidence[0] == "host7 (fc_host): Linkdown, no remote ports seen, nothing received, nothing sent"
    assert finding.evidence[1] == "host8 (fc_host): Offline, no remote ports seen, traffic counters not readable"
    assert finding.remedy.startswith("Nothing to do if it is not meant to be cabled")


@pytest.mark.parametrize(
    "port",
    [
        fc_port("host7", "Online"),
        fc_port("host7", "Unknown", received_bytes=4),
        fc_port("host7", None, received_bytes=4),
        Hba("host7", Transport.ISCSI, state="Offline", targets=(TargetPort("iqn"),)),
    ],
)
def test_a_port_whose_state_is_unknown_is_not_called_down(port: Hba) -> None:
    assert ids(Machine(hbas=(port,))) == []


def test_nfs_wants_a_connection_for_each_ten_gigabits() -> None:
    nic = Nic("eth0", "physical", up=True, speed_bits_per_second=25 * 10**9)
    mount = NfsMount("/data", "filer:/data", transports=2, nic="eth0")

    (finding,) = find(Machine(nics=(nic,), nfs_mounts=(mount,)))

    assert finding.title == "/data uses 2 connections, too few for the speed of eth0 (25 Gb/s)"
    assert find(Machine(nics=(nic,), nfs_mounts=(replace(mount, transports=3),))) == ()


def test_a_device_on_a_node_outside_the_allowed_cpus_is_remote() -> None:
    machine = two_sockets()
    pinned = replace(
        machine,
        pus=tuple(replace(pu, allowed=pu.cpu < 2) for pu in machine.pus),
        nvme_controllers=(NvmeController("nvme0", "pcie", "x", node=1), NvmeController("nvme1", "pcie", "y", node=0)),
    )

    assert [f.subjects for f in find(pinned) if f.id == "device.remote"] == [("nvme:nvme0",)]
    assert "affinity.restricted" in ids(pinned)


@pytest.mark.parametrize(
    ("platform", "found"),
    [
        (Platform(clock_source="hpet"), "clock.slow-source"),
        (Platform(governor="powersave", frequency_driver="acpi-cpufreq"), "cpu.powersave"),
        (Platform(smt="off"), "cpu.smt-off"),
        (Platform(is_guest=True, steal_share=0.05), "cpu.steal"),
    ],
)
def test_the_platform_speaks_for_itself(platform: Platform, found: str) -> None:
    assert ids(Machine(platform=platform)) == [found]


def test_a_raised_memlock_is_a_finding_where_the_kernel_has_huge_pages_to_reserve() -> None:
    raised = Platform(memlock_unlimited=True)
    none = HugePages(2 << 20, 0, 0)

    assert ids(Machine(platform=raised, huge_pages=(none,))) == ["memory.memlock-without-huge-pages"]
    assert ids(Machine(platform=raised, huge_pages=(replace(none, total=1),))) == []
    assert ids(Machine(platform=raised)) == []


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


def test_an_array_that_lacks_a_member_is_critical() -> None:
    array = BlockDevice("md0", BlockKind.MD, GIB, raid_level="raid5", raid_disks=3, raid_degraded=1)

    assert [(f.id, f.severity) for f in find(Machine(block_devices=(array,)))] == [
        ("storage.degraded-array", Severity.CRITICAL)
    ]


def test_what_could_not_be_read_of_an_array_is_not_said_to_be_none() -> None:
    array = BlockDevice("md0", BlockKind.MD, GIB, raid_level="raid5", raid_disks=3, raid_degraded=1, state="clean")
    bare = replace(array, raid_level=None, raid_disks=None, state=None, members=("sda", "sdb"))

    found, unknown = (only(Machine(block_devices=(each,)), "storage.degraded-array") for each in (array, bare))

    assert found.title == "/dev/md0 (RAID 5) is degraded: 1 of 3 members missing"
    assert found.evidence == (
        "array state: clean (no writes pending; members may be missing)", "members found: could not be read",
    )  # fmt: skip
    assert unknown.title == "/dev/md0 (RAID level unknown) is degraded: 1 member missing"
    assert unknown.evidence == ("array state: unknown", "members found: sda, sdb")


@pytest.mark.parametrize(
    ("level", "disks", "missing", "words"),
    [
        ("raid1", 2, 1, "loses data"),
        ("raid1", 3, 1, "survives 1 more failure"),
        ("raid5", 4, 1, "loses data"),
        ("raid6", 6, 1, "survives 1 more failure"),
        ("raid6", 6, 2, "loses data"),
        ("raid10", 4, 1, "can lose data"),
        (None, None, 1, "can lose data"),
    ],
)
def test_what_the_next_failure_does_goes_by_the_level(
    level: str | None, disks: int | None, missing: int, words: str
) -> None:
    array = BlockDevice("md0", BlockKind.MD, 10**12, raid_level=level, raid_disks=disks, raid_degraded=missing)

    assert words in only(Machine(block_devices=(array,)), "storage.degraded-array").consequence


def test_a_governor_is_not_judged_without_its_driver() -> None:
    """With some drivers powersave holds the lowest frequency, with others it goes by load."""
    slow = Platform(governor="powersave", frequency_driver="acpi-cpufreq")

    assert ids(Machine(platform=slow)) == ["cpu.powersave"]
    assert ids(Machine(platform=replace(slow, frequency_driver=None))) == []


def test_one_node_for_two_sockets_is_shown_without_a_cause_that_nothing_told() -> None:
    """The firmware may interleave, or the kernel may have no NUMA: the counts are the same."""
    one = replace(two_sockets(node(0, 100, 50)), platform=Platform(is_guest=False))

    assert only(one, "numa.suma").evidence == ("2 sockets, 1 NUMA node",)


def test_contradictions_between_caches_sockets_and_nodes_are_listed() -> None:
    everywhere = (0, 1, 2, 3)
    machine = replace(
        two_sockets(replace(node(0, 1, 1), pus=everywhere), replace(node(1, 1, 1), pus=everywhere)),
        caches=(Cache(3, CacheKind.UNIFIED, 1, 64, (1, 2)), Cache(3, CacheKind.UNIFIED, 1, 64, (2, 3))),
    )

    assert contradictions(machine) == (
        "L3 unified caches of CPUs 1-2 and CPUs 2-3 overlap",
        "cache of CPUs 1-2 partly overlaps socket of CPUs 0-1",
        "cache of CPUs 1-2 partly overlaps socket of CPUs 2-3",
        "all 2 NUMA nodes list the same CPUs, 0-3",
    )


def test_nodes_that_do_not_add_up_to_the_machine_are_said_with_both_figures() -> None:
    machine = two_sockets()

    assert ids(replace(machine, memory_bytes=198 * GIB)) == []
    (finding,) = find(replace(machine, memory_bytes=400 * GIB))
    assert finding.title == "All NUMA nodes together have 200 GiB, but total memory is 400 GiB"


def made_findings() -> list[ast.Call]:
    """Every place in the source that makes a finding."""
    return [
        call
        for module in pathlib.Path(findings.__path__[0]).glob("*.py")
        for call in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Finding"
    ]


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


def test_every_kind_of_finding_has_evidence_a_remedy_a_command_and_only_probes_that_exist() -> None:
    made = made_findings()
    keywords = [{keyword.arg: keyword.value for keyword in call.keywords} for call in made]
    probes = {ast.literal_eval(each["probe"]) for each in keywords if "probe" in each}

    assert len(made) > 20
    assert all(len(call.args) == 7 for call in made)
    assert all("command" in each for each in keywords)
    assert probes <= set(load_registry().probes)


def test_a_title_is_a_heading_and_consequence_and_remedy_are_sentences() -> None:
    made = made_findings()
    titles = [ending for call in made for ending in endings(call.args[2])]
    sentences = [ending for call in made for part in call.args[4:6] for ending in endings(part)]

    assert len(sentences) > 2 * len(made)
    assert [title for title in titles if title.endswith(".")] == []
    assert [sentence for sentence in sentences if not sentence.endswith(".")] == []


def test_names_from_hardware_cannot_add_to_a_command() -> None:
    device = BlockDevice("md0;reboot", BlockKind.MD, 10**9, raid_level="raid1", raid_disks=2, raid_degraded=1)

    (finding,) = find(Machine(block_devices=(device,)))

    assert finding.command == "mdadm --detail /dev/'md0;reboot'"


def only(machine: Machine, kind: str) -> Finding:
    (found,) = (finding for finding in find(machine) if finding.id == kind)
    return found


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


def test_a_map_is_looked_at_with_the_tool_of_its_driver() -> None:
    def lost(device: str, transport: Transport | None) -> Machine:
        ways = tuple(replace(path("x", state, at), transport=transport) for state, at in (("dead", 0), ("live", 1)))
        return replace(two_sockets(), maps=(MultipathMap("a", device, 1, None, None, ways),))

    mapped, native = lost("dm-3", Transport.FC), lost("nvme1n1", None)

    assert {finding.command for finding in find(mapped)} == {"multipath -ll a"}
    assert {finding.command for finding in find(native)} == {"nvme list-subsys /dev/nvme1n1"}
    assert [finding.id for finding in find(mapped)] == [finding.id for finding in find(native)]
    assert not any("multipath" in finding.remedy for finding in find(native))
    assert any("iopolicy" in finding.remedy for finding in find(native))
    assert not any("iopolicy" in finding.remedy for finding in find(mapped))


@pytest.mark.parametrize(
    ("device", "transport", "words"),
    [("dm-0", Transport.FC, "zoning"), ("dm-0", Transport.ISCSI, "iscsiadm"), ("nvme0n1", None, "controllers")],
)
def test_missing_paths_are_looked_for_where_they_could_be(device: str, transport: Transport, words: str) -> None:
    alone = MultipathMap("a", device, 1, None, None, (replace(path("x"), transport=transport),))

    assert words in only(Machine(maps=(alone,)), "multipath.few-paths").remedy


def test_threads_that_nothing_switches_on_before_a_reboot_are_not_to_be_switched_on() -> None:
    off = only(Machine(platform=Platform(smt="off")), "cpu.smt-off")
    assert "(echo on > /sys/devices/system/cpu/smt/control)" in off.remedy
    assert off.command == "cat /sys/devices/system/cpu/smt/control"
    forced = only(Machine(platform=Platform(smt="forceoff")), "cpu.smt-off")
    assert "nosmt=force" in forced.remedy
    assert "echo on" not in forced.remedy
    assert forced.command == "cat /proc/cmdline"


@pytest.mark.parametrize(
    ("cpuset", "online", "there", "command"),
    [
        (None, True, True, "numactl --hardware"),
        ((0, 1, 2, 3), True, True, "numactl --hardware"),
        ((0, 1), True, False, "grep Cpus_allowed_list /proc/$$/status; cat /proc/$$/cgroup"),
        (None, False, False, "numactl --hardware"),
    ],
)
def test_work_is_sent_to_a_node_only_where_its_cpus_can_be_had(
    cpuset: tuple[int, ...] | None, online: bool, there: bool, command: str
) -> None:
    machine = replace(
        two_sockets(),
        pus=tuple(Pu(cpu, online=online or cpu < 2, allowed=cpu < 2) for cpu in range(4)),
        platform=Platform(control_group=ControlGroup(cpus=cpuset)),
        nvme_controllers=(NvmeController("nvme0", "pcie", None, node=1),),
    )

    found = only(machine, "device.remote")
    assert found.command == command
    assert ("(numactl --all --cpunodebind=1 --localalloc COMMAND)" in found.remedy) is there


@pytest.mark.parametrize(
    ("platform", "command", "words"),
    [
        (Platform(architecture="x86_64", is_guest=False), "dmidecode --type memory", "modules"),
        (Platform(architecture="aarch64", firmware="1.2", is_guest=False), "dmidecode --type memory", "modules"),
        (Platform(architecture="ppc64le"), "grep MemTotal /sys/devices/system/node/node*/meminfo", "modules"),
        (
            Platform(architecture="x86_64", is_guest=True),
            "grep MemTotal /sys/devices/system/node/node*/meminfo",
            "hypervisor",
        ),
    ],
)
def test_memory_modules_are_listed_only_where_firmware_lists_real_ones(
    platform: Platform, command: str, words: str
) -> None:
    found = only(replace(two_sockets(node(0, 100, 50), node(1, 50, 25)), platform=platform), "memory.uneven-nodes")

    assert found.command == command
    assert words in found.remedy


def test_numa_off_is_a_setting_and_interleaving_is_the_firmwares() -> None:
    one = replace(two_sockets(node(0, 100, 50)), platform=Platform(architecture="x86_64", is_guest=False))
    off = replace(one, platform=replace(one.platform, kernel_settings=("numa=off",)))

    assert only(one, "numa.suma").remedy.startswith("Check the firmware setup for node interleaving")
    assert only(one, "numa.suma").command == "numactl --hardware; dmesg | grep -iE 'numa|srat'"
    assert only(off, "numa.suma").remedy.startswith("Remove numa=off")
    assert only(off, "numa.suma").command == "cat /proc/cmdline"


def test_a_mount_keeps_its_options_and_old_kernels_are_not_told_one_that_they_lack() -> None:
    nic = Nic("eth0", "physical", up=True, speed_bits_per_second=25 * 10**9)
    options = ("rw", "vers=4.2", "hard", "nconnect=2", "sec=krb5", "clientaddr=192.0.2.1", "addr=192.0.2.7")
    mount = NfsMount("/my data", "filer:/data", transports=2, nic="eth0", options=options)
    machine = Machine(nics=(nic,), nfs_mounts=(mount,), platform=Platform(kernel="6.1.0-13-amd64"))

    assert (
        "(umount '/my data' && mount -t nfs -o rw,vers=4.2,hard,sec=krb5,nconnect=3 filer:/data '/my data')"
        in only(machine, "nfs.few-transports").remedy
    )
    old = replace(machine, platform=Platform(kernel="4.12.14-122-default"))
    assert "umount" not in only(old, "nfs.few-transports").remedy
    assert "on a kernel that has it" in only(old, "nfs.few-transports").remedy


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
