"""The kind of memory of a node is what a driver says of it; otherwise it is unknown."""

from pathlib import Path

import msgspec
import pytest

from recordings import recorded_machine
from sizeup.discovery.numa import dax_kind, module_kind
from sizeup.model.machine import DaxDevice
from sizeup.model.numa import MemoryKind
from sizeup.report.machine import machine_text
from sizeup.views.machine.detection import detected, detection
from trees import discovered

NODES = """
/sys/devices/system/cpu/online = 0-1
/sys/devices/system/cpu/cpu{0-1}/online = 1
/sys/devices/system/node/online = 0-2
/sys/devices/system/node/node0/cpulist = 0-1
/sys/devices/system/node/node{1-2}/cpulist =
/sys/devices/system/node/node{0-2}/meminfo = Node {} MemTotal: 1048576 kB
"""
HMEM = "/sys/devices/platform/hmem.0/dax0.0"
NVDIMM = "/sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0012:00/ndbus0/region0/dax0.1/dax0.0"
CXL = "/sys/devices/platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0/dax0.0"


def dax(path: str, node: int, driver: str = "kmem") -> str:
    """A DAX device at a place under ``/sys/devices``."""
    return (
        f"{path}/target_node = {node}\n{path}/driver -> /sys/bus/dax/drivers/{driver}\n"
        f"/sys/bus/dax/devices/{path.rpartition('/')[2]} -> {path}\n"
    )


def kinds(tmp_path: Path, *more: str) -> list[MemoryKind]:
    return [node.kind for node in discovered(tmp_path, "\n".join((NODES, *more))).nodes]


U = MemoryKind.UNKNOWN


@pytest.mark.parametrize(
    ("path", "kind"), [(HMEM, MemoryKind.SPECIFIC_PURPOSE), (NVDIMM, MemoryKind.PERSISTENT), (CXL, MemoryKind.CXL)]
)
def test_the_bus_of_a_dax_device_says_what_its_memory_is(tmp_path: Path, path: str, kind: MemoryKind) -> None:
    node = discovered(tmp_path, NODES + dax(path, 2)).nodes[2]

    assert (node.kind, node.kind_source) == (kind, f"DAX device dax0.0, {path}")


def test_a_region_of_an_nvdimm_that_is_volatile_is_not_persistent(tmp_path: Path) -> None:
    region = NVDIMM.partition("/dax0.1")[0]

    assert kinds(tmp_path, dax(NVDIMM, 2), f"{region}/devtype = nd_volatile") == [U, U, U]
    assert dax_kind(NVDIMM, "nd_pmem") is MemoryKind.PERSISTENT


def test_dax_devices_and_offline_memory_are_listed(tmp_path: Path) -> None:
    blocks = "/sys/devices/system/memory"
    tree = (
        f"{NODES}{dax(NVDIMM, 2, driver='device_dax')}{NVDIMM}/size = 1073741824\n{blocks}/block_size_bytes = 8000000\n"
        f"{blocks}/memory{{0-2}}/state = online\n{blocks}/memory{{3-4}}/state = offline\n"
    )
    found = discovered(tmp_path, tree)
    text = " ".join(machine_text(found).split())

    assert found.dax_devices == (DaxDevice("dax0.0", 1 << 30, 2, "device_dax"),)
    assert "DAX devices name size node driver ------ ----- ---- ---------- dax0.0 1 GiB 2 device_dax" in text
    assert found.memory_offline_bytes == 256 << 20
    assert "offline 256 MiB (lsmem)" in text
    assert detected(msgspec.json.encode(detection(found)))[1] == found


def test_memory_that_the_kernel_does_not_use_says_nothing_of_the_node(tmp_path: Path) -> None:
    """A device of device_dax names the node it would become, or that of the nearest CPUs."""
    assert kinds(tmp_path, dax(NVDIMM, 2, driver="device_dax")) == [U, U, U]


def test_memory_added_to_a_node_with_cpus_is_not_all_that_it_has(tmp_path: Path) -> None:
    assert kinds(tmp_path, dax(NVDIMM, 0)) == [U, U, U]


def test_two_kinds_in_one_node_are_unknown(tmp_path: Path) -> None:
    assert kinds(tmp_path, dax(HMEM, 1), dax(CXL.replace("dax0.0", "dax1.0"), 1)) == [U, U, U]


def test_nothing_is_said_of_a_node_with_cpus_without_its_modules(tmp_path: Path) -> None:
    """A processor with memory in its package can run without any module."""
    machine = discovered(tmp_path, NODES)

    assert [node.kind for node in machine.nodes] == [U, U, U]
    assert "kind          unknown: no driver reports it" in machine_text(machine)


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("Registered-DDR5", "Unbuffered-DDR4", MemoryKind.DRAM),
        ("High-bandwidth-memory-Gen2", "High-bandwidth-memory-Gen2", MemoryKind.HBM),
        ("Registered-DDR4", "Non-volatile-RAM", U),
        ("Registered-DDR4", "Unknown", U),
    ],
)
def test_modules_of_one_kind_are_the_memory_of_nodes_with_cpus(
    tmp_path: Path, first: str, second: str, kind: MemoryKind
) -> None:
    controller = "/sys/devices/system/edac/mc/mc"
    modules = f"{controller}0/dimm0/dimm_mem_type = {first}\n{controller}1/rank3/dimm_mem_type = {second}"

    assert kinds(tmp_path, modules) == [kind, U, U]


def test_names_of_modules() -> None:
    assert module_kind("Non-volatile-RAM") is MemoryKind.PERSISTENT
    assert module_kind("Wide-IO-DRAM") is MemoryKind.DRAM
    assert module_kind("Reserved") is U


def test_kind_tier_cache_and_figures_of_the_firmware_are_in_the_text(tmp_path: Path) -> None:
    access = "/sys/devices/system/node/node2/access1/initiators"
    machine = discovered(
        tmp_path,
        NODES + dax(CXL, 2) + "/sys/devices/virtual/memory_tiering/memory_tier4/nodelist = 0-1\n"
        "/sys/devices/virtual/memory_tiering/memory_tier22/nodelist = 2\n"
        "/sys/devices/system/node/node0/memory_side_cache/index1/size = 17179869184\n"
        f"{access}/node0 -> ../../../node0\n{access}/read_latency = 250\n{access}/write_latency = 300\n"
        f"{access}/read_bandwidth = 25600\n{access}/write_bandwidth = 25600\n",
    )

    lines = machine_text(machine, width=200).splitlines()
    assert [node.tier for node in machine.nodes] == [4, 4, 22]
    assert "  kind          nodes 0-1: unknown; node 2: CXL memory" in lines
    assert "  tiers         nodes 0-1: tier 4; node 2: tier 22" in lines
    assert "  HMAT          node 2: 250 ns read, 300 ns write, 25.6 GB/s (of the nearest CPUs, not measured)" in lines
    beyond = "what is used beyond the cache runs at the speed of that memory"
    assert f"  memory cache  node 0: 16 GiB in front of slower memory: {beyond}" in lines


def test_kinds_of_recorded_machines() -> None:
    found = {
        name: {node.os_id: node.kind.value for node in recorded_machine(name).nodes if node.kind is not U}
        for name in (
            "hwloc/fakememinitiators-1np2c+1npp+gi", "hwloc/nvidiagpunumanodes", "hwloc/memorysidecaches",
            "pcp/meminfo-root-008+links",
        )
    }  # fmt: skip

    assert found == {
        "hwloc/fakememinitiators-1np2c+1npp+gi": {
            **dict.fromkeys(range(5), "none"), 7: "persistent", 10: "persistent",
        },
        "hwloc/nvidiagpunumanodes": dict.fromkeys(range(250, 256), "gpu"),
        "hwloc/memorysidecaches": {},
        "pcp/meminfo-root-008+links": {0: "dram", 1: "dram"},
    }  # fmt: skip
