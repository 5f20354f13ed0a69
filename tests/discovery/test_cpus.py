"""Processors come from sets; the ids beside them are labels."""

from collections import Counter
from pathlib import Path

import pytest

from sizeup.discovery.caches import parse_cache_size
from sizeup.discovery.machine import discover
from sizeup.model.machine import PuCounts
from sizeup.model.topology import Core, Package
from trees import discovered, large_machine, machine


def test_two_sockets_with_threads_numbered_far_apart(tmp_path: Path) -> None:
    found = discover(machine(tmp_path, "2-sockets-smt"))

    model = "Example(R) CPU 8000 @ 2.50GHz"
    assert found.packages == (Package((0, 1, 4, 5), 0, model), Package((2, 3, 6, 7), 1, model))
    assert found.cores == tuple(Core(pus=(cpu, cpu + 4), package=cpu // 2, die=cpu // 2, os_id=cpu) for cpu in range(4))
    assert found.pu_counts == PuCounts(present=8, online=8, allowed=8)


def test_present_online_and_allowed_are_three_facts(tmp_path: Path) -> None:
    found = discover(
        machine(
            tmp_path,
            "2-sockets-smt",
            "/sys/devices/system/cpu/online = 0-6",
            "/proc/self/status = Cpus_allowed_list:\\t0-3\\nMems_allowed_list:\\t0",
        )
    )

    assert found.pu_counts == PuCounts(present=8, online=7, allowed=4)
    assert [node.allowed for node in found.nodes] == [True, False]


def test_a_cgroup_of_version_2_restricts_through_its_mount(tmp_path: Path) -> None:
    found = discover(
        machine(
            tmp_path,
            "2-sockets-smt",
            "/proc/self/cgroup = 0::/job",
            "/proc/mounts = cgroup2 /sys/fs/cgroup cgroup2 rw 0 0",
            "/sys/fs/cgroup/job/cpuset.cpus.effective = 2-3",
            "/sys/fs/cgroup/job/cpuset.mems.effective = 1",
        )
    )

    assert [pu.cpu for pu in found.pus if pu.allowed] == [2, 3]
    assert [node.allowed for node in found.nodes] == [False, True]


@pytest.mark.parametrize(
    ("limit", "quota", "expected"),
    [("1073741824", "150000", (1 << 30, 1.5)), ("9223372036854771712", "-1", (None, None))],
)
def test_the_limits_of_a_cgroup_of_version_1_are_those_of_each_controller(
    tmp_path: Path, limit: str, quota: str, expected: tuple[int | None, float | None]
) -> None:
    """Version 1 has no word for no limit: the kernel writes the largest multiple of a page, and -1."""
    cpu, memory = "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory"
    found = discover(
        machine(
            tmp_path,
            "2-sockets-smt",
            "/proc/self/cgroup = 4:memory:/job\\n3:cpu,cpuacct:/job",
            f"/proc/mounts = cgroup {memory} cgroup rw,memory 0 0\\ncgroup {cpu} cgroup rw,cpu,cpuacct 0 0",
            f"{memory}/job/memory.limit_in_bytes = {limit}",
            f"{cpu}/job/cpu.cfs_quota_us = {quota}",
            f"{cpu}/job/cpu.cfs_period_us = 100000",
        )
    )

    group = found.platform.control_group
    assert group is not None
    assert (group.memory_bytes, group.cpu_quota) == expected


def test_siblings_with_different_core_ids_are_the_cores_of_a_module(tmp_path: Path) -> None:
    found = discovered(
        tmp_path,
        """
        /sys/devices/system/cpu/online = 0-3
        /sys/devices/system/cpu/cpu{0-1}/topology/thread_siblings_list = 0-1
        /sys/devices/system/cpu/cpu{2-3}/topology/thread_siblings_list = 2-3
        /sys/devices/system/cpu/cpu{0-3}/topology/core_siblings_list = 0-3
        /sys/devices/system/cpu/cpu{0-3}/topology/core_id = {}
        """,
    )

    assert [(core.pus, core.module) for core in found.cores] == [((0,), 0), ((1,), 0), ((2,), 1), ((3,), 1)]


def test_sets_that_contradict_each_other_are_said_and_not_raised(tmp_path: Path) -> None:
    found = discovered(
        tmp_path,
        "/sys/devices/system/cpu/online = 0-1\n"
        "/sys/devices/system/cpu/cpu0/topology/package_cpus_list = 0-1\n"
        "/sys/devices/system/cpu/cpu1/topology/package_cpus_list = 1\n",
    )

    assert len(found.packages) == 1
    assert found.contradictions == ("CPU 1 lists CPUs 1 for its package, another of its CPUs 0-1",)


def cpuinfo(*sections: str) -> str:
    """A line of a tree: one section a CPU, from ``physical id, core id, siblings, cpu cores``."""
    keys = ("physical id", "core id", "siblings", "cpu cores")
    text = ""
    for cpu, section in enumerate(sections):
        text += f"processor\\t: {cpu}\\n"
        text += "".join(f"{key}\\t: {value}\\n" for key, value in zip(keys, section.split(), strict=False))
        text += "flags\\t\\t: fpu lm\\n\\n"
    return f"/proc/cpuinfo = {text}"


@pytest.mark.parametrize(
    ("sections", "sockets", "cores"),
    [
        # two sockets of 120 cores with two threads: 480 CPUs
        ([f"{cpu // 120 % 2} {cpu % 120} 240 120" for cpu in range(480)], 2, 240),
        (["0 0 8 4", "0 1 8 4", "0 2 8 4", "0 3 8 4"] * 2, 1, 4),
        # core ids start again in each die of a package; without threads every CPU is a core
        ([f"0 {cpu % 6} 12 12" for cpu in range(12)], 1, 12),
        (["0 0 1 1"], 1, 1),
        ([""], 1, 1),
    ],
)
def test_cores_without_sysfs_are_the_pairs_of_physical_id_and_core_id(
    sections: list[str], sockets: int, cores: int, tmp_path: Path
) -> None:
    found = discovered(tmp_path, cpuinfo(*sections))

    assert (found.socket_count, found.core_count, found.pu_counts.present) == (sockets, cores, len(sections))
    assert all(pu.core is not None for pu in found.pus)
    assert found.contradictions == ()


@pytest.mark.parametrize(
    ("sections", "sockets", "why"),
    [
        (["", ""], None, "no physical id in /proc/cpuinfo"),
        (["0", "0"], 1, "no physical id and core id in /proc/cpuinfo"),
        (["0 0", "0"], 1, "for CPU 1 there is no topology"),
    ],
)
def test_cores_that_nothing_tells_are_unknown_with_the_reason(
    sections: list[str], sockets: int | None, why: str, tmp_path: Path
) -> None:
    found = discovered(tmp_path, cpuinfo(*sections))

    assert (found.socket_count, found.core_count, found.pu_counts.present) == (sockets, None, 2)
    assert [pu.core for pu in found.pus] == [None, None]
    assert any(why in gap.reason for gap in found.gaps if gap.subject in ("sockets", "cores"))


def test_ids_in_sysfs_go_before_those_of_cpuinfo(tmp_path: Path) -> None:
    found = discovered(
        tmp_path,
        cpuinfo("0 0", "0 1", "0 2", "0 3") + "\n/sys/devices/system/cpu/cpu{0-3}/topology/physical_package_id = 0\n"
        "/sys/devices/system/cpu/cpu{0-1}/topology/core_id = 0\n"
        "/sys/devices/system/cpu/cpu{2-3}/topology/core_id = 1\n",
    )

    assert [core.pus for core in found.cores] == [(0, 1), (2, 3)]


def test_a_count_in_cpuinfo_that_contradicts_sysfs_is_said(tmp_path: Path) -> None:
    alone = "/sys/devices/system/cpu/cpu{0-7}/topology/thread_siblings_list = {}\n"
    together = "/sys/devices/system/cpu/cpu{0-7}/topology/core_siblings_list = 0-7\n"
    found = discovered(tmp_path, f"{alone}{together}{cpuinfo(*['0 0 8 4'] * 8)}")

    assert found.core_count == 8
    assert found.contradictions == (
        'socket 0: 8 cores by the topology in /sys/devices/system/cpu, 4 by "cpu cores" in /proc/cpuinfo',
    )
    assert [one.stated_cores for one in found.packages] == [(4,)]
    (finding,) = (finding for finding in found.findings if finding.id == "firmware.contradiction")
    assert finding.evidence == found.contradictions


def test_sockets_that_cpuinfo_counts_alike_are_one_line(tmp_path: Path) -> None:
    alone = "/sys/devices/system/cpu/cpu{0-7}/topology/thread_siblings_list = {}\n"
    sockets = "".join(
        f"/sys/devices/system/cpu/cpu{{{cpus}}}/topology/core_siblings_list = {cpus}\n"
        f"/sys/devices/system/cpu/cpu{{{cpus}}}/topology/physical_package_id = {number}\n"
        for number, cpus in enumerate(("0-3", "4-7"))
    )
    found = discovered(tmp_path, f"{alone}{sockets}{cpuinfo(*['0 0 4 2'] * 4, *['1 0 4 2'] * 4)}")

    assert found.contradictions == (
        'sockets 0-1: 4 cores each by the topology in /sys/devices/system/cpu, 2 by "cpu cores" in /proc/cpuinfo',
    )


@pytest.mark.parametrize(("listed", "said"), [(4, ()), (5, ("5 CPUs in /proc/cpuinfo, 4 in /sys/devices/system/cpu",))])
def test_cpus_of_cpuinfo_that_sysfs_lacks_are_said(tmp_path: Path, listed: int, said: tuple[str, ...]) -> None:
    tree = "/sys/devices/system/cpu/cpu{0-3}/topology/physical_package_id = 0\n"
    found = discovered(tmp_path, tree + cpuinfo(*["0 0"] * listed))

    assert found.contradictions == said


def test_modules_may_count_as_cores_in_cpuinfo(tmp_path: Path) -> None:
    found = discovered(
        tmp_path,
        "/sys/devices/system/cpu/cpu{0-1}/topology/thread_siblings_list = 0-1\n"
        "/sys/devices/system/cpu/cpu{2-3}/topology/thread_siblings_list = 2-3\n"
        "/sys/devices/system/cpu/cpu{0-3}/topology/core_siblings_list = 0-3\n"
        "/sys/devices/system/cpu/cpu{0-3}/topology/core_id = {}\n" + cpuinfo(*["0 0 4 2"] * 4),
    )

    assert (found.core_count, found.contradictions) == (4, ())


def test_a_machine_without_processors_says_so(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()

    found = discover(str(tmp_path))

    assert found.pus == ()
    assert "/sys/devices/system/cpu" in {gap.subject for gap in found.gaps}


def test_256_cores_are_counted_as_the_guests_own_lscpu_and_lstopo_counted_them() -> None:
    found = large_machine()

    assert (len(found.packages), len(found.cores), len(found.nodes)) == (8, 256, 16)
    assert found.pu_counts == PuCounts(256, 256, 256)
    assert [node.pus for node in found.nodes] == [tuple(range(16 * n, 16 * n + 16)) for n in range(16)]
    assert Counter(cache.level for cache in found.caches) == {1: 512, 2: 256, 3: 8}
    assert found.nodes[9].distances == (21, 21, 31, 31, 31, 31, 31, 31, 12, 10, 21, 21, 21, 21, 21, 21)
    assert {controller.node for controller in found.nvme_controllers} == {0, 4, 8, 12}


@pytest.mark.parametrize(("text", "size"), [("32K", 32 << 10), ("480M", 480 << 20), ("8", 8)])
def test_a_cache_has_the_size_that_the_kernel_writes(text: str, size: int) -> None:
    assert parse_cache_size(text) == size


@pytest.mark.parametrize("text", ["99999999999999999999999K", "K", "-1K", "32 K"])
def test_a_size_that_no_cache_has_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected the size of a cache such as 32K"):
        parse_cache_size(text)


def test_list_and_mask_of_a_cache_that_differ_are_a_contradiction(tmp_path: Path) -> None:
    """Both are of one set in the kernel; CPUs that are offline may be in one of them."""
    cpu = "/sys/devices/system/cpu/cpu"
    lines = (
        "/sys/devices/system/cpu/online = 0-3",
        "/sys/devices/system/cpu/present = 0-4",
        f"{cpu}4/online = 0",
        f"{cpu}{{0-3}}/topology/core_cpus_list = {{}}",
        f"{cpu}{{0-3}}/topology/package_cpus_list = 0-3",
        f"{cpu}{{0-3}}/cache/index0/level = 2",
        f"{cpu}{{0-3}}/cache/index0/type = Unified",
        f"{cpu}{{0-3}}/cache/index0/shared_cpu_list = 0-4",
    )
    same = discovered(tmp_path / "same", "\n".join((*lines, f"{cpu}{{0-3}}/cache/index0/shared_cpu_map = f")))
    modules = discovered(tmp_path / "modules", "\n".join((*lines, f"{cpu}{{0-3}}/cache/index0/shared_cpu_map = 3")))

    assert same.contradictions == ()
    assert modules.contradictions == (
        "L2 unified cache of CPU 0 is shared by CPUs 0-4 by its list, by CPUs 0-1 by its mask",
    )
    assert "firmware.contradiction" in {finding.id for finding in modules.findings}


def test_an_edited_capture_repeats_its_contradictions_at_most_256_times(tmp_path: Path) -> None:
    found = discovered(
        tmp_path,
        "/sys/devices/system/cpu/present = 0-399\n/sys/devices/system/cpu/online = 0-399",
        "/sys/devices/system/cpu/cpu{0-399}/topology/core_cpus_list = {}",
        "/sys/devices/system/cpu/cpu{1-399}/topology/package_cpus_list = {}",
        "/sys/devices/system/cpu/cpu0/topology/package_cpus_list = 0-399",
    )

    assert len(found.contradictions) == 256
    assert [len(one.evidence) for one in found.findings if one.id == "firmware.contradiction"] == [10]
