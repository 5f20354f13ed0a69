"""Drift of what is read from two trees that differ in one file each, and what one of them lacks."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from sizeup.cli import run
from sizeup.compare.drift import drift
from sizeup.compare.parts import MISSING, PRESENT
from sizeup.discovery.machine import discover
from sizeup.discovery.numa import SMBIOS_TABLE
from sizeup.model.machine import Machine
from smbios_tables import END, SYSTEM, dimm, empty_slot
from tiers import one_in
from trees import machine

CPU = "/sys/devices/system/cpu"
ETH0 = "/sys/devices/pci0000:00/0000:00:03.0/net/eth0"
PORT = "/sys/devices/pci0000:00/0000:00:07.0/host1/fc_host/host1"
QUEUE = "/sys/block/sda/queue"
POOL = "/proc/spl/kstat/zfs/tank/state"
MOUNT = (
    "36 35 0:42 / /u02 rw - nfs4 filer:/u02 rw,{},noac,rsize={},wsize=8192,vers=4.{},proto=tcp,addr=192.0.2.7"
    "\\n40 1 0:50 / /u01 rw - zfs tank/u01 rw"
)
LPARCFG = (
    "partition_entitled_capacity={}\\ncapped={}\\nshared_processor_mode=1\\npartition_max_entitled_capacity=400\\n"
    "system_active_processors=16"
)
LINK = "/sys/devices/pci0000:00/0000:00:03.0/{}_link_{}"

CASES = {
    "swap": ("settings", "/proc/swaps", "Filename Type Size Used Priority", "8 GiB in 2 areas", "none"),
    "vm.swappiness": ("settings", "/proc/sys/vm/swappiness", "10", "60", "10"),
    "vm.dirty_ratio": ("settings", "/proc/sys/vm/dirty_ratio", "40", "20", "40"),
    "vm.dirty_background_ratio": ("settings", "/proc/sys/vm/dirty_background_ratio", "5", "10", "5"),
    "vm.zone_reclaim_mode": ("settings", "/proc/sys/vm/zone_reclaim_mode", "0", "1", "0"),
    "vm.overcommit_memory": ("settings", "/proc/sys/vm/overcommit_memory", "2", "0", "2"),
    "vm.max_map_count": ("settings", "/proc/sys/vm/max_map_count", "262144", "65530", "262144"),
    "transparent_hugepage": (
        "settings", "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never", "always", "madvise",
    ),
    "THP defrag": (
        "settings", "/sys/kernel/mm/transparent_hugepage/defrag", "always [defer] madvise never", "defer+madvise",
        "defer",
    ),
    "kernel.numa_balancing": ("settings", "/proc/sys/kernel/numa_balancing", "0", "on", "off"),
    "governor": ("settings", f"{CPU}/cpufreq/policy0/scaling_governor", "performance", "powersave", "performance"),
    "energy preference": (
        "settings", f"{CPU}/cpufreq/policy0/energy_performance_preference",
        "performance", "balance_power", "performance",
    ),
    "energy_perf_bias": ("settings", f"{CPU}/cpu0/power/energy_perf_bias", "0", "6", "0"),
    "min_perf_pct": ("settings", f"{CPU}/intel_pstate/min_perf_pct", "100", "25", "100"),
    "boost": ("settings", f"{CPU}/intel_pstate/no_turbo", "0", "off", "on"),
    "mitigation mds": (
        "settings", f"{CPU}/vulnerabilities/mds", "Mitigation: Clear CPU buffers",
        "Vulnerable: Clear CPU buffers attempted, no microcode", "Mitigation: Clear CPU buffers",
    ),
    "microcode": ("settings", f"{CPU}/cpu0/microcode/version", "0xd0003d1", "0xd0003a5", "0xd0003d1"),
    "tuned": ("settings", "/etc/tuned/active_profile", "mssql", "throughput-performance", "mssql"),
    "open files": (
        "settings", "/proc/self/limits", "Limit Soft Limit Hard Limit Units\\nMax open files  65536  524288  files",
        "1024", "65536",
    ),
    "memory module mc0 dimm0 size": (
        "settings", "/sys/devices/system/edac/mc/mc0/dimm0/size", "4096", "8 GiB", "4 GiB",
    ),
    "sda scheduler": ("settings", f"{QUEUE}/scheduler", "none [mq-deadline] bfq", "bfq", "mq-deadline"),
    "sda read_ahead_kb": ("settings", f"{QUEUE}/read_ahead_kb", "4096", "128", "4096"),
    "sda nr_requests": ("settings", f"{QUEUE}/nr_requests", "64", "256", "64"),
    "sda max_sectors_kb": ("settings", f"{QUEUE}/max_sectors_kb", "512", "1280", "512"),
    "sda write_cache": ("settings", f"{QUEUE}/write_cache", "write through", "write back", "write through"),
    "sda size": ("settings", "/sys/block/sda/size", "2000000", "512 MB", "1.02 GB"),
    "eth0 link": ("networks", f"{ETH0}/operstate", "down", "up", "down"),
    "eth0 speed": ("networks", f"{ETH0}/speed", "10000", "25 Gb/s", "10 Gb/s"),
    "eth0 MTU": ("networks", f"{ETH0}/mtu", "1500", "9000", "1500"),
    "bond0 bond mode": ("networks", "/sys/class/net/bond0/bonding/mode", "802.3ad 4", "active-backup", "802.3ad"),
    "RDMA port mlx5_0/1 rate": (
        "networks", "/sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)", "25 Gb/s", "100 Gb/s",
    ),
    "RDMA port mlx5_0/1 firmware": (
        "fabric-and-pools", "/sys/class/infiniband/mlx5_0/fw_ver", "22.32", "22.31", "22.32",
    ),
    "adapter host1 state": ("paths-and-disks", f"{PORT}/port_state", "Linkdown", "Online", "Linkdown"),
    "adapter host1 speed": ("paths-and-disks", f"{PORT}/speed", "8 Gbit", "16 Gb/s", "8 Gb/s"),
    "adapter host7 firmware": ("fabric-and-pools", "/sys/class/scsi_host/host7/firmware_version", "5.7", "5.61", "5.7"),
    "map mpatha paths in use": (
        "paths-and-disks",
        "/sys/devices/pci0000:00/0000:00:07.1/host2/rport-2:0-0/target2:0:0/2:0:0:0/state", "running", "1", "2",
    ),
    "nvme0 firmware": ("fabric-and-pools", "/sys/class/nvme/nvme0/firmware_rev", "F2", "F1", "F2"),
    "nvme0 state": ("fabric-and-pools", "/sys/class/nvme/nvme0/state", "connecting", "live", "connecting"),
    "nvme0n1 block": (
        "fabric-and-pools", "/sys/class/nvme-subsystem/nvme-subsys0/nvme0n1/queue/logical_block_size", "512", "4 KiB",
        "512 B",
    ),
    "accelerator 0000:03:00.0 firmware": (
        "fabric-and-pools", "/proc/driver/nvidia/gpus/0000:03:00.0/information",
        "Model: NVIDIA A100\\nGPU Firmware: 550.2", "535.1", "550.2",
    ),
    "CXL mem0 volatile": (
        "fabric-and-pools", "/sys/bus/cxl/devices/mem0/ram/size", "0x2000000000", "256 GiB", "128 GiB",
    ),
    "pool zfs tank state": ("fabric-and-pools", POOL, "ONLINE", "DEGRADED", "ONLINE"),
    "kernel": ("settings", "/proc/sys/kernel/osrelease", "6.1.1", "6.1.0", "6.1.1"),
    "firmware": ("settings", "/sys/class/dmi/id/bios_version", "2.2", "2.1", "2.2"),
    "clock source": (
        "settings", "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet", "tsc", "hpet",
    ),
    "entitled cores": (
        "power-partition", "/proc/ppc64/lparcfg", LPARCFG.format(200, 0), "1.5", "2",
    ),
    "LPAR cap": (
        "power-partition", "/proc/ppc64/lparcfg", LPARCFG.format(150, 1), "uncapped", "capped",
    ),
    "settings": ("settings", "/proc/cmdline", "quiet mitigations=off", "isolcpus=2", "mitigations=off"),
}  # fmt: skip
"""By the fact that drifts: the tree, the file, what it holds now, and the fact on both sides."""

ADDED = (
    "/proc/sys/kernel/osrelease = 6.1.0", "/sys/class/dmi/id/bios_version = 2.1", "/proc/cmdline = quiet isolcpus=2",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource = tsc",
)  # fmt: skip
NEVER_UNKNOWN = {
    "mitigation mds", "sda size", "settings", "eth0 link", "pool zfs tank state", "governor", "energy preference",
}  # fmt: skip
"""Without its file, the fact is read elsewhere, is another or none."""


@pytest.fixture(scope="module")
def baselines(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Machine]:
    """The machine that is read from a tree with nothing changed."""
    return cache(lambda tree: discover(machine(tmp_path_factory.mktemp(tree), tree, *ADDED)))


@pytest.mark.parametrize("fact", one_in(4, CASES))
def test_one_file_that_changed_is_one_fact_with_both_values(
    tmp_path: Path, baselines: Callable[[str], Machine], fact: str
) -> None:
    tree, path, text, before, after = CASES[fact]
    was = baselines(tree)
    now = discover(machine(tmp_path / "now", tree, *ADDED, f"{path} = {text}"))

    drifted = {one.fact: (one.baseline, one.now) for one in drift(was, now).drifted}

    assert drifted[fact] == (before, after)
    assert len(drifted) <= 3, drifted  # a port without a link has no speed, and a map a path less


@pytest.mark.ci
@pytest.mark.parametrize("fact", sorted(CASES.keys() - NEVER_UNKNOWN))
def test_a_file_that_one_side_lacks_leaves_its_fact_undecided(
    tmp_path: Path, baselines: Callable[[str], Machine], fact: str
) -> None:
    tree, path, *_ = CASES[fact]
    root = machine(tmp_path / "now", tree, *ADDED)
    (tmp_path / "now" / path.lstrip("/")).unlink()

    found = drift(baselines(tree), discover(root))

    words = [one.fact for one in found.undecided]
    assert any(fact.startswith(word) or word.startswith(fact.rsplit(" ", 1)[0]) for word in words), words


def test_an_nfs_mount_that_was_mounted_otherwise_drifts_in_each_option(tmp_path: Path) -> None:
    mount = "/proc/self/mountinfo = " + MOUNT
    was = discover(machine(tmp_path / "was", "fabric-and-pools", mount.format("hard", 65536, 1)))
    now = discover(machine(tmp_path / "now", "fabric-and-pools", mount.format("soft", 8192, 2)))

    drifted = {one.fact: (one.baseline, one.now) for one in drift(was, now).drifted}

    assert drifted == {
        "mount /u02 hard": ("hard", "soft"), "mount /u02 rsize": ("64 KiB", "8 KiB"),
        "mount /u02 version": ("4.1", "4.2"),
    }  # fmt: skip


def test_a_mount_that_went_and_one_that_moved_to_another_device_drift(tmp_path: Path) -> None:
    line = "/proc/self/mountinfo = 30 1 8:0 / {} rw - xfs /dev/sda rw\\n31 1 9:0 / /u02 rw - xfs /dev/{} rw"
    more = ("/sys/block/sda/dev = 8:0", "/sys/block/sdz/size = 8", "/sys/block/sdz/dev = 9:0")
    moved = ("/sys/block/sdz/dev = 9:1", "/sys/block/sdy/size = 8", "/sys/block/sdy/dev = 9:0")
    was = discover(machine(tmp_path / "was", "settings", *more, line.format("/u01", "sdz")))
    now = discover(machine(tmp_path / "now", "settings", *more, *moved, line.format("/u03", "sdy")))

    drifted = {one.fact: (one.baseline, one.now) for one in drift(was, now).drifted}

    assert drifted == {
        "mount /u01": (PRESENT, MISSING), "mount /u03": (MISSING, PRESENT), "mount /u02 device": ("sdz", "sdy"),
        "disk sdy": (MISSING, PRESENT),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "fact", "after"),
    [
        ("30 1 8:0 / /u01 rw,noatime - xfs /dev/sda rw", None, None),
        ("30 1 8:0 / /u01 ro,noatime - xfs /dev/sda rw", "options", "noatime,ro,rw"),
        ("30 1 8:0 / /u01 rw,relatime - xfs /dev/sda rw", "options", "relatime,rw"),
        ("30 1 8:0 / /u01 rw,noatime - ext4 /dev/sda rw", "type", "ext4"),
    ],
)
def test_options_of_a_local_mount_drift(tmp_path: Path, entry: str, fact: str | None, after: str | None) -> None:
    table = "/proc/self/mountinfo = {}\n"
    more = ("/sys/block/sda/dev = 8:0",)
    was = machine(tmp_path / "was", "settings", *more, table.format("30 1 8:0 / /u01 rw,noatime - xfs /dev/sda rw"))
    now = machine(tmp_path / "now", "settings", *more, table.format(entry))

    drifted = {one.fact: one.now for one in drift(discover(was), discover(now)).drifted}

    assert drifted == ({} if fact is None else {f"mount /u01 {fact}": after})


def test_a_link_that_was_trained_slower_drifts(tmp_path: Path) -> None:
    links = [f"{LINK.format(end, what)} = {{}}" for end in ("max", "current") for what in ("speed", "width")]
    more = "/sys/bus/pci/devices/0000:00:03.0 -> /sys/devices/pci0000:00/0000:00:03.0"
    ends = ("16.0 GT/s PCIe", "8", "{}", "8")

    def grown(name: str, speed: str) -> str:
        lines = [line.format(text.format(speed)) for line, text in zip(links, ends, strict=True)]
        return machine(
            tmp_path / name, "networks", more, *lines, "/sys/devices/pci0000:00/0000:00:03.0/class = 0x020000"
        )

    found = drift(discover(grown("was", "16.0 GT/s PCIe")), discover(grown("now", "8.0 GT/s PCIe")))

    assert [(one.fact, one.baseline, one.now) for one in found.drifted] == [
        ("PCI 0000:00:03.0 link", "16 GT/s x8", "8 GT/s x8")
    ]


def with_table(root: Path, *slots: bytes) -> str:
    made = machine(root, "settings")
    path = root / SMBIOS_TABLE.lstrip("/")
    path.parent.mkdir(parents=True)
    path.write_bytes(SYSTEM + b"".join(slots) + END)
    return made


def test_a_module_that_runs_slower_or_is_gone_drifts(tmp_path: Path) -> None:
    module = "32 GiB DDR4 M393A4K40DB3"
    was = discover(with_table(tmp_path / "was", dimm(), dimm("DIMM_B1", "P0 CHANNEL B")))
    now = discover(with_table(tmp_path / "now", dimm(configured=2133), empty_slot("DIMM_B1", "P0 CHANNEL B")))

    assert [(one.fact, one.baseline, one.now) for one in drift(was, now).drifted] == [
        ("memory slot P0 CHANNEL A DIMM_A1", f"{module} at 2933 MT/s", f"{module} at 2133 MT/s"),
        ("memory slot P0 CHANNEL B DIMM_B1", f"{module} at 2933 MT/s", "empty"),
    ]  # fmt: skip


def test_adapters_are_known_by_their_port_names_whatever_number_they_come_up_with(tmp_path: Path) -> None:
    fc = "/sys/class/fc_host/host{}/{} = {}"
    lines = [("port_name", "0x1000000000000001"), ("speed", "16 Gbit")]
    was = machine(tmp_path / "was", "2-sockets-smt", *(fc.format(6, *line) for line in lines))
    now = machine(tmp_path / "now", "2-sockets-smt", *(fc.format(9, *line) for line in lines))

    assert drift(discover(was), discover(now)).drifted == ()


@pytest.mark.parametrize(
    ("path", "text", "status"),
    [
        ("/proc/sys/vm/swappiness", "60", 0),
        ("/proc/sys/vm/swappiness", "1", 5),
        ("/sys/block/sda/queue/nr_requests", None, 6),
    ],
)
def test_the_exit_status_says_which(tmp_path: Path, path: str, text: str | None, status: int) -> None:
    was = machine(tmp_path / "was", "settings")
    now = machine(tmp_path / "now", "settings", *([] if text is None else [f"{path} = {text}"]))
    if text is None:
        (tmp_path / "now" / path.lstrip("/")).unlink()

    assert run(["drift", "--against", was, "--sysroot", now]) == status


def test_a_side_on_which_no_disk_was_read_does_not_make_them_all_new(tmp_path: Path) -> None:
    was, now = discover(machine(tmp_path / "was", "networks")), discover(machine(tmp_path / "now", "settings"))

    found = drift(was, now)

    undecided = {one.fact: (one.baseline, one.now) for one in found.undecided}
    assert undecided["disks"] == (None, "1 listed")
    assert not [one.fact for one in found.drifted if one.fact.startswith("disk ")]


@pytest.mark.parametrize(("class_code", "drifts"), [("0x020000", True), ("0x030200", False), ("0x120000", False)])
def test_a_gpu_that_lowers_its_link_while_idle_has_not_drifted(tmp_path: Path, class_code: str, drifts: bool) -> None:
    base = "/sys/bus/pci/devices/0000:01:00.0"
    lines = (f"{base}/class = {class_code}", f"{base}/current_link_width = 16", f"{base}/max_link_width = 16")

    def grown(name: str, speed: str) -> Machine:
        return discover(machine(tmp_path / name, "settings", *lines, f"{base}/current_link_speed = {speed}"))

    found = drift(grown("was", "16.0 GT/s PCIe"), grown("now", "2.5 GT/s PCIe"))

    assert bool(found.drifted) is drifts
