"""Findings about settings: only where every vendor that says something says something else, each with its source."""

import re

import pytest

from finding_checks import GIB, ids, node, only, two_sockets
from sizeup.discovery.findings.settings import recommendations, source_lines
from sizeup.discovery.setting_facts import DISK_SETTINGS, setting_facts
from sizeup.model.machine import ControlGroup, IdleState, Machine, OsSettings, Platform, SwapArea, Vulnerability
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.model.topology import Package
from sizeup.report.machine import finding_lines

DISK = SwapArea("/dev/sda3", "partition", 8 * GIB, 0, -2)
USED = SwapArea("/dev/sda3", "partition", 8 * GIB, 2 * GIB, -2)
ZRAM = SwapArea("/dev/zram0", "partition", 8 * GIB, 2 * GIB, 100)


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        (OsSettings(swap_areas=(DISK,), swappiness=60), ["swap.swappiness"]),
        (OsSettings(swap_areas=(DISK,), swappiness=1), []),
        (OsSettings(swap_areas=(DISK,), swappiness=0), []),
        (OsSettings(swap_areas=(), swappiness=60), []),
        (OsSettings(swap_areas=None, swappiness=60), []),
        (OsSettings(swap_areas=(ZRAM,), swappiness=180), []),
        (OsSettings(swap_areas=(USED,), swappiness=1), ["swap.used"]),
        (OsSettings(swap_areas=(DISK,), swappiness=None), []),
    ],
)
def test_swap(settings: OsSettings, found: list[str]) -> None:
    assert ids(Machine(memory_bytes=100 * GIB, settings=settings)) == found


@pytest.mark.parametrize(
    ("settings", "platform", "found"),
    [
        (OsSettings(zone_reclaim_mode=1), Platform(), ["memory.zone-reclaim"]),
        (OsSettings(zone_reclaim_mode=0), Platform(), []),
        (OsSettings(), Platform(numa_balancing=True), ["numa.balancing"]),
        (OsSettings(), Platform(numa_balancing=False), []),
        (OsSettings(), Platform(transparent_huge_pages="always"), ["memory.transparent-huge-pages"]),
        (OsSettings(), Platform(transparent_huge_pages="madvise"), []),
        (OsSettings(energy_preference="balance_power"), Platform(), ["cpu.energy-preference"]),
        (OsSettings(energy_preference="balance_performance"), Platform(), []),
        (OsSettings(), Platform(turbo=False), ["cpu.boost-off"]),
        (OsSettings(), Platform(turbo=False, is_guest=True), []),
        (OsSettings(), Platform(turbo=None), []),
    ],
)
def test_settings_of_two_nodes(settings: OsSettings, platform: Platform, found: list[str]) -> None:
    base = two_sockets()

    assert ids(Machine(packages=base.packages, pus=base.pus, nodes=base.nodes, settings=settings, platform=platform)) \
        == found  # fmt: skip


def test_one_node_has_nothing_to_balance_or_reclaim() -> None:
    single = Machine(
        nodes=(node(0, 100, 50),), settings=OsSettings(zone_reclaim_mode=1), platform=Platform(numa_balancing=True)
    )

    assert ids(single) == []


def states(*microseconds: int | None, disabled: bool = False) -> tuple[IdleState, ...]:
    return tuple(
        IdleState(f"C{number}", None if each is None else each * 1000, disabled if number else False)
        for number, each in enumerate(microseconds)
    )


@pytest.mark.parametrize(
    ("idle", "guest", "found"),
    [
        (states(0, 2, 133), None, ["cpu.deep-idle"]),
        (states(0, 2, 99), None, []),
        (states(0, 2, 133, disabled=True), None, []),
        (states(0, None), None, []),
        (states(0, 2, 133), True, []),
        ((), None, []),
    ],
)
def test_an_idle_state_counts_if_it_is_enabled_and_slow(
    idle: tuple[IdleState, ...], guest: bool | None, found: list[str]
) -> None:
    platform = Platform(is_guest=guest, chassis_type=23)

    assert ids(Machine(settings=OsSettings(idle_states=idle), platform=platform)) == found


@pytest.mark.parametrize(
    ("chassis", "model", "sockets", "found"),
    [
        (10, "12th Gen Intel(R) Core(TM) i7-1270P", 1, False),
        (None, "Cortex-A710", 1, False),
        (None, None, 0, False),
        (23, None, 0, True),
        (3, "Intel(R) Xeon(R) CPU X5560 @ 2.80GHz", 1, True),
        (None, "AMD EPYC 7451 24-Core Processor", 1, True),
        (None, None, 2, True),
    ],
)
def test_a_slow_idle_state_matters_on_a_server(
    chassis: int | None, model: str | None, sockets: int, found: bool
) -> None:
    machine = Machine(
        cpu_model=model,
        packages=tuple(Package((number,), number) for number in range(sockets)),
        settings=OsSettings(idle_states=states(0, 2, 133)),
        platform=Platform(chassis_type=chassis),
    )

    assert ids(machine) == (["cpu.deep-idle"] if found else [])


def test_a_mitigation_without_microcode_is_advised_where_the_microcode_is() -> None:
    settings = OsSettings(
        vulnerabilities=(
            Vulnerability("mds", "Vulnerable: Clear CPU buffers attempted, no microcode; SMT Host state unknown"),
            Vulnerability("srbds", "Not affected"),
        )
    )

    outside = only(Machine(settings=settings), "cpu.microcode")
    assert outside.title == "The kernel finds no microcode for 1 mitigation"
    assert outside.remedy.startswith("Install")
    guest = only(Machine(settings=settings, platform=Platform(is_guest=True)), "cpu.microcode")
    assert guest.remedy.startswith("Update the microcode of the host")


@pytest.mark.parametrize(
    ("kind", "scheduler", "found"),
    [
        (BlockKind.SCSI, "cfq", True),
        (BlockKind.SCSI, "bfq", True),
        (BlockKind.SCSI, "mq-deadline", False),
        (BlockKind.NVME, "none", False),
        (BlockKind.OPTICAL, "bfq", False),
        (BlockKind.LOOP, "bfq", False),
        (BlockKind.SCSI, None, False),
    ],
)
def test_schedulers(kind: BlockKind, scheduler: str | None, found: bool) -> None:
    disk = BlockDevice("sda", kind, 10**9, scheduler=scheduler)

    assert ids(Machine(block_devices=(disk,))) == (["storage.scheduler"] if found else [])


def test_one_finding_names_all_disks_and_a_dozen_in_words() -> None:
    disks = tuple(BlockDevice(f"sd{number}", BlockKind.SCSI, 10**9, scheduler="bfq") for number in range(40))

    found = only(Machine(block_devices=disks), "storage.scheduler")

    assert len(found.subjects) == 40
    assert found.evidence[0].endswith("sd11 bfq and 28 more")


@pytest.mark.parametrize(("limit", "found"), [(50, True), (100, False), (200, False), (None, False)])
def test_a_memory_limit_below_the_machine(limit: int | None, found: bool) -> None:
    group = ControlGroup("/db", memory_bytes=None if limit is None else limit * GIB)

    machine = Machine(memory_bytes=100 * GIB, platform=Platform(control_group=group))

    assert ids(machine) == (["cgroup.memory-limit"] if found else [])


CHANGED = Machine(
    memory_bytes=100 * GIB,
    nodes=two_sockets().nodes,
    block_devices=(BlockDevice("sda", BlockKind.SCSI, 10**9, scheduler="cfq"),),
    platform=Platform(numa_balancing=True, transparent_huge_pages="always", chassis_type=23),
    settings=OsSettings(
        swap_areas=(DISK,), swappiness=60, zone_reclaim_mode=1, energy_preference="power", idle_states=states(0, 200)
    ),
)


@pytest.mark.parametrize(
    "kind",
    ["swap.swappiness", "memory.zone-reclaim", "memory.transparent-huge-pages", "numa.balancing",
     "cpu.energy-preference", "cpu.deep-idle", "storage.scheduler"],
)  # fmt: skip
def test_a_setting_that_can_be_changed_is_advised_with_its_reverse(kind: str) -> None:
    remedy = only(CHANGED, kind).remedy

    assert "as root (" in remedy
    assert "To undo" in remedy


def test_the_value_that_was_read_is_the_one_to_return_to() -> None:
    assert only(CHANGED, "swap.swappiness").remedy.endswith("To undo: sysctl -w vm.swappiness=60.")
    assert only(CHANGED, "storage.scheduler").remedy.endswith("To undo: echo cfq > /sys/block/sda/queue/scheduler.")


@pytest.mark.parametrize(
    ("kind", "setting"),
    [("swap.swappiness", "vm.swappiness"), ("memory.zone-reclaim", "vm.zone_reclaim_mode"),
     ("memory.transparent-huge-pages", "transparent_hugepage"), ("numa.balancing", "kernel.numa_balancing"),
     ("cpu.deep-idle", "idle states"), ("storage.scheduler", "scheduler")],
)  # fmt: skip
def test_a_recommendation_stands_in_the_evidence_with_its_source(kind: str, setting: str) -> None:
    lines = source_lines(setting)

    assert lines
    assert set(lines) <= set(only(CHANGED, kind).evidence)
    assert all(re.search(r" recommends .+ \(https://\S+", line) for line in lines)


def test_every_recommendation_is_of_a_setting_that_is_shown_and_has_a_source() -> None:
    known = set(setting_facts(Machine())) | set(DISK_SETTINGS)

    assert set(recommendations()) <= known
    for setting, each in recommendations().items():
        for one in each:
            assert re.fullmatch(r"https://[\w./-]+(#[\w-]+)?", one.source.url), setting
            assert re.fullmatch(r"undated|\d{4}-\d\d-\d\d", one.source.doc_date), setting
            assert one.accepts


@pytest.mark.parametrize(
    ("setting", "value", "agrees"),
    [("vm.swappiness", "1", True), ("vm.swappiness", "10", True), ("vm.swappiness", "11", False),
     ("vm.swappiness", "9" * 5000, False),
     ("vm.max_map_count", "262144", True), ("vm.max_map_count", "65530", False), ("scheduler", "none", True),
     ("scheduler", "bfq", False), ("read_ahead_kb", "16", True), ("read_ahead_kb", "128", False)],
)  # fmt: skip
def test_a_value_is_held_against_what_is_recommended(setting: str, value: str, agrees: bool) -> None:
    assert any(one.agrees(value) for one in recommendations()[setting]) is agrees


def test_the_address_of_a_source_stays_whole_and_the_rest_fits_a_terminal() -> None:
    lines = [line for kind in ("memory.transparent-huge-pages", "storage.scheduler")
             for line in finding_lines(only(CHANGED, kind), 80)]  # fmt: skip
    addresses = {one.source.url for name in ("transparent_hugepage", "scheduler") for one in recommendations()[name]}

    assert {url for url in addresses if any(url in line for line in lines)} == addresses
    assert [line for line in lines if len(line) > 80 and "https://" not in line] == []
