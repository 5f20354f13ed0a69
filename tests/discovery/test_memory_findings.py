"""Findings about memory, its nodes and the sockets they belong to."""

import pytest
from msgspec.structs import replace

from finding_checks import GIB, find, ids, looks_only, node, only, two_sockets
from sizeup.discovery.cpuinfo import parse_cpuinfo
from sizeup.discovery.findings.memory import growth_findings
from sizeup.discovery.findings.platform import contradictions
from sizeup.discovery.platform import shared_memory_controller
from sizeup.model.finding import Severity
from sizeup.model.machine import ControlGroup, Machine, Platform
from sizeup.model.numa import HugePages, MemoryKind
from sizeup.model.storage import NvmeController
from sizeup.model.topology import Cache, CacheKind, Pu


@pytest.mark.parametrize(("free", "found"), [((4, 50), True), ((5, 50), False), ((4, 30), False), ((4, 31), True)])
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
        "node 0: 4 GiB of 100 GiB free (4.0 %), page cache 10 GiB, shared memory 80 GiB",
        "node 1: 50 GiB of 100 GiB free (50.0 %), page cache and shared memory 30 GiB together",
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


def test_growth_on_one_node_is_named_with_its_share() -> None:
    before = two_sockets(node(0, 100, 90), node(1, 100, 90))
    after = two_sockets(node(0, 100, 10), node(1, 100, 89))

    (finding,) = growth_findings(before, after)

    assert looks_only(finding.command)
    assert finding.id == "memory.one-sided-growth"
    assert finding.title == "98.8 % of newly used memory is on NUMA node 0"
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


def one_node() -> Machine:
    """Two sockets whose CPUs are all on one node."""
    everything = replace(node(0, 100, 50), pus=(0, 1, 2, 3), packages=(0, 1))
    return replace(two_sockets(everything), platform=Platform(is_guest=False))


def test_several_sockets_behind_one_node_are_suma_but_never_in_a_guest() -> None:
    machine = one_node()

    assert ids(machine) == ["numa.suma"]
    assert ids(replace(machine, platform=Platform(is_guest=True))) == []
    assert ids(replace(machine, platform=Platform(is_guest=None))) == []
    assert ids(replace(machine, platform=Platform(hypervisor="xen-dom0"))) == []
    assert ids(replace(machine, nodes=(), platform=Platform(kernel_settings=("numa=off",)))) == ["numa.suma"]


def test_a_node_of_unknown_memory_is_not_listed_with_none() -> None:
    unknown = replace(node(0, 1, 1), memory_bytes=None, free_bytes=None)
    machine = replace(two_sockets(unknown, node(1, 50, 25)), nodes=(unknown, node(1, 50, 25), node(2, 100, 50)))

    (finding,) = find(machine)

    assert (finding.id, finding.subjects) == ("memory.uneven-nodes", ("node:1",))
    assert finding.evidence == ("node 1: 50 GiB", "node 2: 100 GiB")


def test_numbers_that_no_node_has_are_named() -> None:
    machine = two_sockets(node(0, 50, 25), node(3, 100, 50))

    assert only(machine, "memory.uneven-nodes").evidence[-1] == "the kernel lists no nodes 1-2"


def test_a_raised_memlock_is_a_finding_where_the_kernel_has_huge_pages_to_reserve() -> None:
    raised = Platform(memlock_unlimited=True)
    none = HugePages(2 << 20, 0, 0)

    assert ids(Machine(platform=raised, huge_pages=(none,))) == ["memory.memlock-without-huge-pages"]
    assert ids(Machine(platform=raised, huge_pages=(replace(none, total=1),))) == []
    assert ids(Machine(platform=raised)) == []


@pytest.mark.parametrize(
    ("shared", "severity", "line"),
    [
        (None, Severity.INFO, "memory controllers: unknown"),
        (False, Severity.WARNING, "memory controllers: one or more in each socket, by CPU family and model"),
    ],
)
def test_one_node_for_two_sockets_is_a_fault_only_where_each_has_memory(
    shared: bool | None, severity: Severity, line: str
) -> None:
    """One memory controller for all, an interleaving firmware and a kernel without NUMA give the same counts."""
    platform = Platform(is_guest=False, shared_memory_controller=shared)
    found = only(replace(one_node(), platform=platform), "numa.suma")

    assert (found.severity, found.evidence) == (severity, ("2 sockets, 1 NUMA node", line))


def test_sockets_on_a_front_side_bus_are_one_node_rightly() -> None:
    platform = Platform(is_guest=False, shared_memory_controller=True)

    assert ids(replace(one_node(), platform=platform)) == []


@pytest.mark.parametrize(
    ("vendor", "family", "model", "shared"),
    [
        ("GenuineIntel", 15, 6, True),  # Xeon MP, NetBurst
        ("GenuineIntel", 6, 15, True),  # Xeon E5345
        ("GenuineIntel", 6, 0x1D, True),  # Xeon X7460, Dunnington
        ("GenuineIntel", 6, 0x1A, False),  # Xeon X5570, Nehalem
        ("GenuineIntel", 6, 143, False),  # Sapphire Rapids
        ("GenuineIntel", 19, 1, False),  # Diamond Rapids
        ("AuthenticAMD", 6, 6, True),  # Athlon MP
        ("AuthenticAMD", 16, 9, False),  # Opteron 6174
        ("HygonGenuine", 24, 0, False),
        ("CentaurHauls", 7, 1, None),
    ],
)
def test_where_the_memory_controllers_are_is_known_by_family_and_model(
    vendor: str, family: int, model: int, shared: bool | None
) -> None:
    text = f"processor: 0\nvendor_id: {vendor}\ncpu family: {family}\nmodel: {model}\nflags: fpu\n"

    assert shared_memory_controller(parse_cpuinfo(text)) is shared
    assert shared_memory_controller(parse_cpuinfo(text.replace("flags: fpu\n", ""))) is None


def test_contradictions_between_caches_sockets_and_nodes_are_listed() -> None:
    everywhere = (0, 1, 2, 3)
    machine = replace(
        two_sockets(replace(node(0, 1, 1), pus=everywhere), replace(node(1, 1, 1), pus=everywhere)),
        caches=(Cache(3, CacheKind.UNIFIED, 1, 64, (1, 2)), Cache(3, CacheKind.UNIFIED, 1, 64, (2, 3))),
    )

    assert tuple(contradictions(machine)) == (
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
        nvme_controllers=tuple(NvmeController(f"nvme{n}", "pcie", None, node=n) for n in range(2)),
    )

    found = only(machine, "device.remote")
    assert (found.subjects, found.command) == (("nvme:nvme1",), command)
    assert ("affinity.restricted" in ids(machine)) is online
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
    platform = Platform(architecture="x86_64", is_guest=False, shared_memory_controller=False)
    one = replace(one_node(), platform=platform)
    off = replace(one, platform=replace(one.platform, kernel_settings=("numa=off",)))

    assert only(one, "numa.suma").remedy.startswith("Check the firmware setup for node interleaving")
    assert only(one, "numa.suma").command == "numactl --hardware; dmesg | grep -iE 'numa|srat'"
    assert only(off, "numa.suma").remedy.startswith("Remove numa=off")
    assert only(off, "numa.suma").command == "cat /proc/cmdline"
