"""The map: every core and node has its place, what is wrong stands out by sign and word."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from consoles import GIB, machine
from large_machines import made
from sizeup.discovery.machine import assessed
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import DimmSlot, Machine, PciFunction, PciLink
from sizeup.model.network import NfsMount, Nic
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.storage import BlockDevice, BlockKind, Hba, MultipathMap, NvmeController, Path, Transport
from sizeup.model.topology import Package, Pu
from sizeup.views.machine.difference import compared
from sizeup.views.machine.topology import topology
from sizeup.views.machine.topology_item import find
from sizeup.views.map.cells import memory_used
from sizeup.views.map.cores import legend
from sizeup.views.map.details import details
from sizeup.views.map.map import Map, MapMaker
from sizeup.views.map.node_matrix import node_matrices
from trees import large_machine


def mapped(found: Machine, loads: dict[int, float], width: int, height: int = 35) -> Map:
    return MapMaker(found).draw(found.nodes, loads, width, height)


def lines(found: Map) -> list[str]:
    return ["".join(cell.text for cell in row).rstrip() for row in found.rows]


def legend_of(pus: Sequence[Pu], width: int) -> str:
    return "".join(cell.text for cell in legend(pus, width))


def drawn(found: Machine, width: int = 118) -> str:
    return "\n".join(lines(mapped(found, {}, width)))


def test_a_socket_has_its_memory_cores_caches_and_devices() -> None:
    found = mapped(machine(1, 2, 2), {0: 0.0, 2: 100.0, 1: 40.0, 3: 60.0}, 60, 24)

    assert lines(found)[:12] == [
        "╭─ Socket 0 ──── 2 cores, 4 threads · Test CPU · 2.66 GHz ─╮",
        "│ Node 0 ▄▄▄▄▄▄▄▄······················· 16 of 64 GiB used │",
        "│ 2 MiB pages: 0 of 512 used                               │",
        "│                                                          │",
        "│ ············· █████████████  ············· ············· │",
        "│ ············· █████████████  ············· ▃▃▃▃▃▃▃▃▃▃▃▃▃ │",
        "│ ············· █████████████  ▅▅▅▅▅▅▅▅▅▅▅▅▅ █████████████ │",
        "│ ▁▁▁▁▁▁▁▁▁▁▁▁▁ █████████████  █████████████ █████████████ │",
        "│        core 0  100 %                core 1  60 %         │",
        "│                                                          │",
        "│ L3 32 MiB; each core L2 1 MiB, L1d 32 KiB                │",
        "╰──────────────────────────────────────────────────────────╯",
    ]


def test_two_sockets_stand_side_by_side_with_a_cell_for_each_thread() -> None:
    found = mapped(machine(2, 2, 2), {pu: 95.0 if pu == 2 else 5.0 for pu in range(8)}, 90)
    cells = [(cell.role, cell.key) for row in found.rows for cell in row if cell.role.startswith("load")]

    assert re.match("╭─ Socket 0 .*╭─ Socket 1 ", lines(found)[0])
    assert cells.count(("load-9", "core:2")) == 1
    assert {key for _, key in cells} == {f"core:{number}" for number in range(4)}
    assert len(cells) == 8


def test_the_busiest_thread_of_a_core_is_its_load_on_a_band() -> None:
    loads = {0: 0.0, 36: 99.9, 1: 100.0, 2: 34.0, 38: 35.0}
    found = mapped(machine(9, 4, 2), loads, 100)

    row = next(row for row in found.rows if any(cell.text.startswith("S0 N0") for cell in row))
    cells = [(cell.text, cell.role) for cell in row if cell.role.startswith(("load", "core"))]
    assert cells == [("▆ ", "load-9"), ("▆ ", "load-9"), ("▆ ", "load-3"), ("■ ", "core")]


def test_cores_that_are_dark_or_barred_have_signs_of_their_own() -> None:
    whole = machine(9, 4, 1)
    states = {1: {"online": False}, 2: {"allowed": False}}
    pus = tuple(replace(pu, **states.get(pu.cpu, {})) for pu in whole.pus)
    found = mapped(replace(whole, pus=pus), {}, 100)

    assert any(line.startswith("│ S0 N0 ■ x - ■ ") for line in lines(found))
    assert "x offline" in legend_of(pus, 100)
    assert "- not allowed" in legend_of(pus, 100)
    assert "offline" not in legend_of(whole.pus, 100)


def test_nodes_that_span_sockets_keep_their_number() -> None:
    node = NumaNode(15, tuple(range(8)), tuple(range(60, 64)), memory_bytes=GIB, free_bytes=GIB)
    text = drawn(Machine(nodes=(node,), packages=(Package((0,), 0),)))

    assert "Sockets 60-63" in text
    assert "Node 15 " in text


def test_memory_that_is_unknown_is_no_empty_bar() -> None:
    nodes = (NumaNode(0, ()), NumaNode(1, (), memory_bytes=0), NumaNode(2, (), memory_bytes=GIB))
    text = drawn(Machine(nodes=nodes))

    assert "memory unknown" in text
    assert "no memory" in text
    assert "unknown of 1 GiB" in text
    assert not set("▄▖·") & set(text)


def test_pools_stand_below_the_memory_of_their_node_with_their_size() -> None:
    pools = (HugePages(2 << 20, 512, 256), HugePages(1 << 30, 16, 0))
    node = NumaNode(0, (0,), (0,), memory_bytes=64 * GIB, free_bytes=16 * GIB, huge_pages=pools)

    text = drawn(Machine(nodes=(node,)), 60)

    assert "2 MiB pages: 256 of 512 used " in text
    assert "1 GiB pages: 16 of 16 used " in text
    assert max(map(len, text.splitlines())) <= 60


def test_many_nodes_have_no_words_for_pools_of_which_nothing_is_used() -> None:
    for count, width in ((16, 60), (16, 118), (8, 196)):
        assert "2 MiB pages" not in drawn(machine(count, 16, 2), width)
    assert drawn(machine(2, 16, 2), 118).count("2 MiB pages: 0 of 512 used") == 2


def test_no_device_stands_between_two_bands() -> None:
    found = lines(mapped(large_machine(), {}, 118))
    bands = [number for number, row in enumerate(found) if "■ ■" in row]
    devices = [number for number, row in enumerate(found) if re.match(r"│ S\d N\d+ +(nvme|eth)\d", row)]

    assert bands == list(range(1, 17))
    assert len(devices) == 6
    assert min(devices) > max(bands)


def test_the_memory_of_the_one_node_that_is_fullest_is_bright() -> None:
    found = machine(9, 4, 1)
    fuller = (replace(found.nodes[0], free_bytes=GIB), *found.nodes[1:])
    roles = [
        [cell.role for row in mapped(replace(found, nodes=nodes), {}, 118).rows for cell in row if " GiB" in cell.text]
        for nodes in (fuller, found.nodes)
    ]

    assert [one[:9].count("name") for one in roles] == [1, 0]


@pytest.mark.parametrize(("count", "width", "height", "across"), [(4, 118, 35, 2), (8, 196, 56, 4)])
def test_sockets_that_have_room_stand_in_several_rows_of_frames(
    count: int, width: int, height: int, across: int
) -> None:
    heads = [row.count("─ Socket ") for row in lines(mapped(machine(count, 16, 1), {}, width, height))]

    assert [heads.count(number) for number in (across,)] == [count // across]
    assert sum(heads) == count


def test_a_pool_that_is_used_up_is_marked_at_its_own_figure() -> None:
    def nodes(memory_free: int, pool_free: int) -> tuple[NumaNode, ...]:
        full = NumaNode(
            0, (0, 1, 2, 3), (0,), memory_bytes=64 * GIB, free_bytes=memory_free,
            huge_pages=(HugePages(2 << 20, 512, pool_free), HugePages(1 << 30, 4, 4)),
        )  # fmt: skip
        roomy = NumaNode(
            1, (4, 5, 6, 7), (1,), memory_bytes=64 * GIB, free_bytes=60 * GIB,
            huge_pages=(HugePages(2 << 20, 512, 512), HugePages(1 << 30, 4, 4)),
        )  # fmt: skip
        return full, roomy

    pool, memory = (assessed(machine(nodes=nodes(*free))) for free in ((48 * GIB, 0), (GIB, 512)))

    one, other = (" ".join(drawn(found, 150).split()) for found in (pool, memory))
    assert "2 MiB pages: 512 of 512 used ! NEARLY FULL 1 GiB pages: 0 of 4 used" in one
    assert "16 of 64 GiB used │" in one
    assert "63 of 64 GiB used ! NEARLY FULL │" in other
    assert "2 MiB pages: 0 of 512 used 1 GiB" in other
    assert find(topology(pool), "pool:0:2048kB")[-1].label == "Node 0 ! 2 MiB PAGES NEARLY FULL: 4 cores, 64 GiB"
    assert find(topology(memory), "node:0")[-1].label == "Node 0 ! NEARLY FULL: 4 cores, 64 GiB"
    assert drawn(pool, 80).count("NEARLY FULL") == drawn(memory, 80).count("NEARLY FULL") == 1


def link(speed: float, width: int) -> PciLink:
    return PciLink(speed, width)


def function(address: str, trained: PciLink, limit: PciLink, **more: Any) -> PciFunction:
    return PciFunction(address, 0x010802, 0x8086, 1, link=trained, link_limit=limit, common_link_limit=limit, **more)


NVME = NvmeController("nvme0", "pcie", "0000:3b:00.0", pci_address="0000:3b:00.0", node=0, state="live", serial="S1")


@pytest.mark.parametrize(
    ("trained", "words"),
    [
        (link(8, 2), "▲ nvme0 PCIe 8 GT/s x2 of 8 GT/s x4 WARN DEGRADED link"),
        (link(5, 4), "▲ nvme0 PCIe 5 GT/s x4 of 8 GT/s x4 WARN DEGRADED link"),
        (link(8, 4), "● nvme0 PCIe 8 GT/s x4"),
    ],
)
def test_a_link_below_what_both_ends_can_is_marked_with_both_figures(trained: PciLink, words: str) -> None:
    port = function("0000:3a:00.0", link(8, 4), link(8, 4))
    behind = function("0000:3b:00.0", trained, link(8, 4), parent="0000:3a:00.0")
    found = assessed(machine(1, 4, 1, nvme_controllers=(NVME,), pci=(port, behind), block_devices=()))

    assert words.split() in [line.split()[1 : len(words.split()) + 1] for line in drawn(found).splitlines()]


def test_the_second_port_of_a_card_shares_the_mark_of_its_link() -> None:
    port = function("0000:3a:00.0", link(8, 8), link(8, 8))
    card = function("0000:3b:00.0", link(8, 4), link(8, 8), parent="0000:3a:00.0")
    second = function("0000:3b:00.1", link(8, 4), link(8, 8), parent="0000:3a:00.0")
    nics = tuple(Nic(f"eth{n}", "physical", up=True, node=0, pci_address=f"0000:3b:00.{n}") for n in range(2))
    found = assessed(machine(1, 4, 1, nics=nics, pci=(port, card, second)))

    assert drawn(found).count("8 GT/s x4 of 8 GT/s x8 WARN DEGRADED link") == 2


def test_a_bond_and_its_lost_member_are_marked() -> None:
    nics = (
        Nic("eth0", "physical", up=True, carrier=True, speed_bits_per_second=10**10, node=0, master="bond0"),
        Nic("eth1", "physical", up=False, carrier=False, node=1, master="bond0"),
        Nic("bond0", "bond", up=True, lower=("eth0", "eth1"), speed_bits_per_second=10**10),
    )
    text = " ".join(drawn(assessed(machine(nics=nics)), 160).split())

    assert "▲ eth1 no link, in bond0 WARN DEGRADED, no link in bond0" in text
    assert "Across the machine" in text
    assert "▲ bond0 of eth0 and eth1, 10 Gb/s WARN DEGRADED, member down" in text
    assert "● eth0 10 Gb/s, in bond0 │" in text


def test_maps_with_a_dead_path_and_arrays_without_a_member_are_marked() -> None:
    def path(name: str, state: str) -> Path:
        return Path(name, None, "host1", Transport.FC, None, None, None, 0, state, None)

    maps = (
        MultipathMap("data", "dm-0", 10**12, None, None, (path("sda", "running"), path("sdb", "offline"))),
        MultipathMap("redo", "dm-1", 10**12, None, None, (path("sdc", "running"), path("sdd", "running"))),
    )
    array = BlockDevice("md0", BlockKind.MD, 10**12, raid_level="raid1", raid_disks=2, raid_degraded=1)
    shown = drawn(assessed(machine(maps=maps, block_devices=(array,))))
    text = " ".join(shown.split())

    assert "▲ data 2 paths, 1 usable, 1 TB WARN DEGRADED, path lost" in text
    assert "● redo 2 paths, 1 TB" in text
    assert "▼ md0 raid1, 1 TB, md FAIL DEGRADED, member missing" in text
    assert "Across the machine" in text
    assert "1 OK 1 WARN 1 FAIL" in text


def test_adapters_hold_their_disks_and_many_plain_disks_are_counted() -> None:
    hba = Hba("host1", Transport.FC, "qla2xxx", node=0, state="Linkdown", speed_bits_per_second=16 * 10**9)
    behind = [BlockDevice(f"sd{letter}", BlockKind.SCSI, 10**12, hctl="1:0:0:0", node=0) for letter in "abc"]
    plain = [BlockDevice(f"vd{letter}", BlockKind.VIRTIO, 10**12, node=1) for letter in "abcdefgh"]
    text = drawn(machine(hbas=(hba,), block_devices=(*behind, *plain)), 140)

    assert "▲ host1 fc, 16 Gb/s, 3 disks" in text
    assert "WARN Linkdown" in text
    assert "● vda to vdh 8 disks" in text
    assert "sda" not in text


def test_what_is_wrong_is_the_last_that_a_narrow_map_cuts() -> None:
    mount = NfsMount("/" + "long" * 40, "filer:/vol", version="3", protocol="tcp", transports=1, nic="eth0")
    found = assessed(machine(1, nfs_mounts=(mount,)))
    fast = assessed(replace(found, nics=(Nic("eth0", "physical", up=True, speed_bits_per_second=40 * 10**9, node=0),)))

    text = drawn(fast, 60)

    assert "WARN FEW CONNECTIONS" in text
    assert max(map(len, text.splitlines())) <= 60


@pytest.mark.parametrize("width", [40, 76, 116, 150])
def test_no_row_of_the_large_machine_is_wider_than_the_screen(width: int) -> None:
    found = large_machine()
    rows = lines(mapped(found, {}, width))

    assert max(map(len, rows)) <= width
    assert "".join(rows[1:]).count("■") == 256
    assert "■ core" in rows[0]
    assert rows[0].endswith("▄ memory used ─╮")
    assert sum("nvme" in row for row in rows) >= 4


def test_a_finding_leads_to_what_sits_at_a_pci_address() -> None:
    port = function("0000:3a:00.0", link(8, 4), link(8, 4))
    behind = function("0000:3b:00.0", link(8, 2), link(8, 4), parent="0000:3a:00.0")
    found = assessed(machine(1, 4, 1, nvme_controllers=(NVME,), pci=(port, behind)))

    subject = next(finding for finding in found.findings if finding.id == "pci.degraded-link").subjects[0]
    item = find(topology(found), subject)[-1]

    assert item.label == "nvme0 ! DEGRADED link: NVMe, PCIe 8 GT/s x2 of 8 GT/s x4"
    assert ("Link capability", "8 GT/s x4") in item.facts


def test_a_device_without_a_link_is_neither_in_order_nor_wrong() -> None:
    nics = (Nic("eth0", "physical", up=True, carrier=True, node=0), Nic("eth1", "physical", carrier=False, node=0))
    text = drawn(machine(1, nics=nics, block_devices=()))

    assert "○ eth1 no link" in text
    assert "1 OK 1 down" in text


def test_what_differs_from_another_machine_is_marked_where_it_is_and_what_went_is_listed() -> None:
    before = machine(
        3,
        nics=(
            Nic("eth0", "physical", speed_bits_per_second=10**9, node=0),
            Nic("eth1", "physical", speed_bits_per_second=10**9, node=1),
        ),
    )
    now = machine(
        nics=(
            Nic("eth0", "physical", speed_bits_per_second=10**10, node=0),
            Nic("eth2", "physical", speed_bits_per_second=10**9, node=1),
        )
    )
    drawing = MapMaker(now, compared(now, before)).draw(now.nodes, {}, 118, 35)
    text = " ".join("\n".join(lines(drawing)).split())

    assert "● eth0 10 Gb/s ~ changed" in text
    assert "● eth2 1 Gb/s + added" in text
    assert re.search("● sda 1 TB.* ~ changed", text)  # it hung on the third node
    fewer = MapMaker(machine(2, 4), compared(machine(2, 4), machine(2, 8))).draw(machine(2, 4).nodes, {}, 118, 35)
    assert "\n".join(lines(fewer)).count("GiB used ~ changed") == 2
    assert re.search("Missing .* eth1 1 Gb/s - removed .* Socket 2 4 cores - removed", text)
    assert {cell.role for row in drawing.rows for cell in row} >= {"added", "removed", "changed"}
    assert "changed" not in drawn(now)


def test_a_detail_that_is_not_known_is_left_out_or_said_to_be_unknown_and_a_figure_has_its_unit() -> None:
    nics = (Nic("ib0", "physical", receive_queues=1, node=0), Nic("eth0", "physical", node=0))
    disk = BlockDevice("sda", BlockKind.SCSI, None, queue_depth_limit=32, node=0)
    root = topology(machine(1, nics=nics, block_devices=(disk,)))
    ib0, eth0, sda = (dict(find(root, key)[-1].facts) for key in ("nic:ib0", "nic:eth0", "disk:sda"))

    assert (ib0["Queues"], ib0["Speed"]) == ("1 receive", "not reported")
    assert "Queues" not in eth0
    assert (sda["Size"], sda["Queue limit"]) == ("unknown: not reported by the kernel", "32 requests")


def test_more_nodes_than_rows_stand_in_columns_and_none_is_torn_apart() -> None:
    drawn = mapped(made(8, 16, 8, 32 << 20, nodes=8), {}, 80, 50)
    bands = [line.strip("│ ") for line in lines(drawn) if line.startswith("│ S")]

    assert len(drawn.rows) < 50
    assert [line.split()[1] for line in bands] == [f"N{number}" for number in range(32)]
    assert all(f" N{number + 32} " in f" {bands[number]} " for number in range(32))
    assert all(len(line) <= 80 for line in bands)


@pytest.mark.parametrize(("width", "height", "whole"), [(196, 56, True), (118, 35, False)])
def test_the_distances_of_many_nodes_are_a_table_where_there_is_room(width: int, height: int, *, whole: bool) -> None:
    found = large_machine()
    matrices = node_matrices(found, None)
    chosen = topology(found)
    drawn = MapMaker(found, None, matrices).draw(found.nodes, {}, width, height, chosen)

    assert len(drawn.rows) == height
    assert any(re.search("N0 +N1 +N2", line) or "N14 N15" in line for line in lines(drawn)) is whole
    assert any("10 local" in line for line in lines(drawn)) is not whole


@pytest.mark.ci
def test_bands_stand_in_no_more_columns_than_save_rows() -> None:
    """In three columns the cores of a node would take two rows."""
    found = mapped(made(8, 128, 8, 32 << 20, nodes=8), {}, 120, 30)

    assert sum(line.startswith("│ S") for line in lines(found)) == 32
    assert not any(line.startswith("│  ") for line in lines(found))


@pytest.mark.parametrize("cores", [1, 2, 6, 16, 48, 96, 200])
def test_the_cores_of_one_socket_use_the_width(cores: int) -> None:
    found = mapped(machine(1, cores, 2), dict.fromkeys(range(2 * cores), 50.0), 118)
    drawn = {cell.key for row in found.rows for cell in row if cell.role.startswith("load")}
    widest = max(len("".join(cell.text for cell in row).rstrip(" │")) for row in found.rows
                 if any(cell.role.startswith("load") for cell in row))  # fmt: skip

    assert len(drawn) == cores
    assert widest >= min(118 * 2 // 3, cores * 16)


def test_a_load_that_is_not_known_yet_leaves_its_column_its_place_and_claims_no_load() -> None:
    found = machine(1, 2, 1)
    before, after = (MapMaker(found, live=True).draw(found.nodes, loads, 118, 35) for loads in ({}, {0: 50.0, 1: 0.0}))
    roles = {cell.role for row in before.rows for cell in row if cell.key.startswith("core")}

    assert "free" in roles
    assert not any(role.startswith("load") for role in roles)
    assert len(before.rows) == len(after.rows)


def test_the_channels_of_one_socket_stand_beside_its_cores_and_an_empty_one_is_marked() -> None:
    slots = tuple(
        DimmSlot(f"DIMM_{name}", channel=f"CHANNEL {name}", size_bytes=size)
        for name, size in (("A", 64 * GIB), ("B", 0), ("C", 32 * GIB))
    )
    text = drawn(machine(1, 4, 2, dimm_slots=slots))

    assert "CHANNEL A ▄▄▄▄▄▄▄▄ 64 GiB" in text
    assert "CHANNEL B ········ ▲ empty" in text
    assert "CHANNEL C ▄▄▄▄···· 32 GiB" in text
    assert "CHANNEL" not in drawn(machine(2, 4, 2, dimm_slots=slots))


@pytest.mark.parametrize(("width", "height"), [(118, 35), (80, 19)])
def test_what_is_known_of_the_selected_part_stays_in_sight(width: int, height: int) -> None:
    port = function("0000:3a:00.0", link(8, 4), link(8, 4))
    behind = function("0000:3b:00.0", link(8, 2), link(8, 4), parent="0000:3a:00.0")
    disks = tuple(BlockDevice(f"md{number}", BlockKind.MD, 10**12) for number in range(20))
    found = assessed(machine(2, 4, 1, nvme_controllers=(NVME,), pci=(port, behind), block_devices=disks))
    item = find(topology(found), "nvme:nvme0")[-1]
    shown = MapMaker(found).draw(found.nodes, {}, width, height, item)
    text = "\n".join("".join(cell.text for cell in row) for row in (*shown.rows[:height], *shown.below))

    assert "─ nvme0 ─" in text
    assert "▲ WARN" in text
    assert "Why care" in text
    assert len(shown.rows) + len(shown.below) <= height or shown.below


def test_the_machine_as_a_whole_lists_what_is_wrong_where() -> None:
    array = BlockDevice("md0", BlockKind.MD, 10**12, raid_level="raid1", raid_disks=2, raid_degraded=1)
    found = assessed(machine(1, 4, 1, block_devices=(array,)))
    root = topology(found)
    rows = ["".join(cell.text for cell in row) for row in details(root, found.findings, 60, 9)]

    assert any(row.startswith("▼ FAIL ") and "md0" in row for row in rows)
    assert re.fullmatch(r"\d+ more facts: t", rows[-1].strip())
    assert len(rows) == 9


def test_page_cache_is_not_used_memory() -> None:
    node = NumaNode(0, (0,), memory_bytes=64 << 30, free_bytes=8 << 30, file_bytes=50 << 30, shmem_bytes=2 << 30)

    assert memory_used(node) == (0.125, "8 of 64 GiB used")


@pytest.mark.parametrize(("count", "told"), [(1, True), (30, False)])
def test_devices_are_told_with_their_facts_where_the_settings_leave_room(count: int, *, told: bool) -> None:
    disks = [BlockDevice(f"sd{at}", BlockKind.SCSI, size_bytes=1 << 40, scheduler="mq-deadline") for at in range(count)]
    found = machine(1, 4, 2, block_devices=tuple(disks))
    text = "\n".join(lines(MapMaker(found).draw(found.nodes, {}, 196, 50, topology(found))))

    assert ("Scheduler mq-deadline" in text) is told


def test_several_findings_are_told_with_what_to_do_where_there_is_room() -> None:
    found = [
        Finding(name, Severity.WARNING, f"{name} is wrong", (), "It costs time.", f"Mend {name}.") for name in "ab"
    ]
    roomy, full = (
        "\n".join("".join(cell.text for cell in row) for row in details(topology(machine(1)), found, 70, rows))
        for rows in (30, 9)
    )

    assert re.search(r"A is wrong\nWhy care +It costs time.\nDo +Mend a.\n.*B is wrong", roomy)
    assert "Mend" not in full
    assert "B is wrong" in full


def test_mounts_that_are_in_order_are_counted_by_server() -> None:
    """Seven of one server, one of another, and one with a finding, which stands by itself."""
    mounts = [NfsMount(f"/u{number}", f"filer:/u{number}", version="3") for number in range(7)]
    mounts += [NfsMount("/v", "other:/v", version="3"), NfsMount("/w", "filer:/w", version="3")]
    soft = Finding("nfs.soft-mount", Severity.WARNING, "soft", (), "", "", ("nfs:/w",))
    text = drawn(machine(1, nfs_mounts=tuple(mounts), findings=(soft,)))

    assert re.search("● filer +7 mounts OK", text)
    assert re.search("● /v +NFS 3, other:/v", text)
    assert re.search("▲ /w .*WARN SOFT", text)
    assert "8 OK 1 WARN" in text
    assert "/u3" not in text
