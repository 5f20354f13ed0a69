"""Settings that are in force, each from its file; what cannot be read is unknown."""

from pathlib import Path

import msgspec
import pytest

from sizeup.discovery.machine import discover
from sizeup.discovery.os_settings import read_limits, read_os_settings
from sizeup.discovery.setting_facts import DISK_SETTINGS, disk_setting, setting_facts
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import IdleState, Limits, Machine, OsSettings, SwapArea, Vulnerability
from sizeup.views.machine.detection import detected, detection
from trees import discovered, grow, machine

LIMITS = """
Limit                     Soft Limit           Hard Limit           Units
Max processes             30000                unlimited            processes
Max open files            1024                 524288               files
Max locked memory         8388608              8388608              bytes
""".strip().replace("\n", "\\n")

SETTINGS = f"""
/proc/sys/vm/swappiness = 60
/proc/sys/vm/dirty_ratio = 20
/proc/sys/vm/dirty_background_ratio = 10
/proc/sys/vm/dirty_bytes = 0
/proc/sys/vm/dirty_background_bytes = 0
/proc/sys/vm/zone_reclaim_mode = 0
/proc/sys/vm/overcommit_memory = 0
/proc/sys/vm/max_map_count = 65530
/proc/swaps = Filename Type Size Used Priority\\n/dev/sda3 partition 8388604 1024 -2\\n/swap\\040file file 1024 0 -3
/sys/kernel/mm/transparent_hugepage/enabled = always [madvise] never
/sys/kernel/mm/transparent_hugepage/defrag = always defer [defer+madvise] madvise never
/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor = powersave
/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference = balance_performance
/sys/devices/system/cpu/cpu0/power/energy_perf_bias = 6
/sys/devices/system/cpu/intel_pstate/min_perf_pct = 25
/sys/devices/system/cpu/cpuidle/current_driver = intel_idle
/sys/devices/system/cpu/cpu0/cpuidle/state0/name = POLL
/sys/devices/system/cpu/cpu0/cpuidle/state0/latency = 0
/sys/devices/system/cpu/cpu0/cpuidle/state1/name = C6
/sys/devices/system/cpu/cpu0/cpuidle/state1/latency = 133
/sys/devices/system/cpu/cpu0/cpuidle/state{{0-1}}/disable = 0
/sys/devices/system/cpu/vulnerabilities/mds = Mitigation: Clear CPU buffers; SMT vulnerable
/sys/devices/system/cpu/vulnerabilities/srbds = Not affected
/sys/devices/system/cpu/cpu0/microcode/version = 0xd0003a5
/etc/tuned/active_profile = throughput-performance
/proc/self/limits = {LIMITS}
"""

READ = OsSettings(
    swap_areas=(
        SwapArea("/dev/sda3", "partition", 8388604 << 10, 1 << 20, -2), SwapArea("/swap file", "file", 1 << 20, 0, -3),
    ),
    swappiness=60, dirty_ratio=20, dirty_background_ratio=10, dirty_bytes=0, dirty_background_bytes=0,
    zone_reclaim_mode=0, overcommit_memory=0, max_map_count=65530, transparent_huge_page_defrag="defer+madvise",
    energy_preference="balance_performance", energy_bias=6, lowest_performance_percent=25, idle_driver="intel_idle",
    idle_states=(IdleState("POLL", 0, disabled=False), IdleState("C6", 133_000, disabled=False)),
    vulnerabilities=(
        Vulnerability("mds", "Mitigation: Clear CPU buffers; SMT vulnerable"), Vulnerability("srbds", "Not affected"),
    ),
    microcode="0xd0003a5", tuned_profile="throughput-performance", open_files=1024, open_files_hard=524288,
    processes=30000,
)  # fmt: skip


def test_each_setting_is_read_from_its_file(tmp_path: Path) -> None:
    assert read_os_settings(Sysroot(grow(tmp_path, SETTINGS)), 0) == READ


def test_limits_of_this_process_and_of_the_kernel_are_read_from_their_files(tmp_path: Path) -> None:
    tree = (
        "/proc/self/status = CapEff:\\t0000000000804000\\nCapBnd:\\t000001ffffffffff\n/proc/sys/fs/aio-max-nr = 65536\n"
        "/proc/sys/fs/aio-nr = 128\n/proc/sys/kernel/perf_event_paranoid = -1\n"
    )

    assert read_limits(Sysroot(grow(tmp_path, f"{tree}/proc/self/limits = {LIMITS}"))) == Limits(
        capabilities=frozenset({14, 23}), open_files=1024, aio_requests_max=65536, aio_requests_used=128,
        io_uring_disabled=None, perf_event_paranoid=-1,
    )  # fmt: skip


def test_a_machine_without_these_files_has_no_settings(tmp_path: Path) -> None:
    root = Sysroot(grow(tmp_path, "/proc/version = Linux version 6.1"))

    assert read_os_settings(root, 0) == OsSettings()
    assert root.gaps == []


def test_no_swap_is_not_an_unknown_swap(tmp_path: Path) -> None:
    root = grow(tmp_path, "/proc/swaps = Filename Type Size Used Priority")

    assert read_os_settings(Sysroot(root), 0).swap_areas == ()


@pytest.mark.parametrize(
    "text", ["9" * 5000, "\x00\x01\x02", "[", "-", "state", "\\n\\n\\n", "18446744073709551616", "[" + "a" * 3000 + "]"]
)
def test_hostile_values_are_unknown_or_short(tmp_path: Path, text: str) -> None:
    paths = [line.split(" = ")[0] for line in SETTINGS.splitlines() if " = " in line and "{" not in line]
    found = read_os_settings(Sysroot(grow(tmp_path, "\n".join(f"{path} = {text}" for path in paths))), 0)

    numbers = (found.swappiness, found.dirty_ratio, found.energy_bias, found.open_files, found.max_map_count)
    assert numbers == (None,) * 5
    assert [state.exit_latency_ns for state in found.idle_states] == [None, None]
    assert len(found.tuned_profile or "") <= 200
    msgspec.json.decode(msgspec.json.encode(found), type=OsSettings)


def test_the_settings_of_a_disk_are_read(tmp_path: Path) -> None:
    lines = ("scheduler = none [mq-deadline]", "read_ahead_kb = 128", "nr_requests = 256", "max_sectors_kb = 1280")
    queue = "/sys/block/sda/queue"
    tree = [f"{queue}/{line}" for line in (*lines, "write_cache = write back")]
    (disk,) = discovered(tmp_path, "\n".join(["/sys/block/sda/size = 1000", *tree])).block_devices

    assert {name: disk_setting(disk, name) for name in DISK_SETTINGS} == {
        "scheduler": "mq-deadline", "read_ahead_kb": "128", "nr_requests": "256", "max_sectors_kb": "1280",
        "write_cache": "write back",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["9" * 5000, "-1", "x", "9223372036854775807"])
def test_a_size_that_is_none_is_unknown(tmp_path: Path, text: str) -> None:
    queue = "/sys/block/sda/queue"
    tree = f"/sys/block/sda/size = 1000\n{queue}/read_ahead_kb = {text}\n{queue}/max_sectors_kb = {text}"
    (disk,) = discovered(tmp_path, tree).block_devices

    assert (disk.read_ahead_bytes, disk.largest_request_bytes) == (None, None)


def test_the_json_document_holds_them(tmp_path: Path) -> None:
    found = discover(machine(tmp_path, "2-sockets-smt", SETTINGS))

    assert found.settings == READ
    assert detected(msgspec.json.encode(detection(found)))[1] == found


def test_facts_are_unknown_of_a_machine_of_which_nothing_is_known() -> None:
    assert set(setting_facts(Machine()).values()) == {None}


def test_bytes_hold_where_they_are_set_and_percents_are_0() -> None:
    found = Machine(settings=OsSettings(dirty_ratio=0, dirty_bytes=256 << 20))

    assert setting_facts(found)["vm.dirty_ratio"] == "256 MiB"
