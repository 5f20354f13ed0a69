"""The map: every core and node has its place, what is wrong stands out by sign and word."""

from typing import Any

import pytest
from msgspec.structs import replace

from consoles import GIB, machine
from large_machines import made
from sizeup.discovery.machine import assessed
from sizeup.model.machine import Machine, PciFunction, PciLink
from sizeup.model.network import NfsMount, Nic
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.storage import BlockDevice, BlockKind, Hba, MultipathMap, NvmeController, Path, Transport
from sizeup.model.topology import Package
from sizeup.views.machine.difference import compared
from sizeup.views.machine.topology import topology
from sizeup.views.machine.topology_item import find
from sizeup.views.map.map import Map, MapMaker
from trees import large_machine


def mapped(found: Machine, loads: dict[int, float], width: int) -> Map:
    return MapMaker(found).draw(found.nodes, loads, width)


def lines(found: Map) -> list[str]:
    return ["".join(cell.text for cell in row).rstrip() for row in (found.heading, *found.rows)]


def drawn(found: Machine, width: int = 76) -> str:
    return "\n".join(lines(mapped(found, {}, width)))


def test_a_band_has_cores_memory_and_huge_pages_below_headings_with_units() -> None:
    assert lines(mapped(machine(), {}, 76)) == [
        "Node  Cores     Memory used                2 MiB pages used",
        "S0 N0 ■■■■      [██········] 16 of 64 GiB  [·····] 0 of 512",
        "      eth0 10 Gb/s",
        "S1 N1 ■■■■      [██········] 16 of 64 GiB  [·····] 0 of 512",
        "      sda 1 TB",
    ]


def test_the_busiest_thread_of_a_core_is_its_load() -> None:
    found = mapped(machine(1, 4, 2), {0: 0.0, 4: 99.9, 1: 100.0, 2: 34.0, 6: 35.0}, 76)

    cells = [cell for cell in found.rows[0] if cell.role.startswith(("load", "core"))]
    assert [(cell.text, cell.role) for cell in cells] == [
        ("9", "load-9"), ("9", "load-9"), ("3", "load-3"), ("■", "core"),
    ]  # fmt: skip


def test_cores_that_are_dark_or_barred_have_signs_of_their_own() -> None:
    whole = machine(1, 4, 1)
    states = {1: {"online": False}, 2: {"allowed": False}}
    pus = tuple(replace(pu, **states.get(pu.cpu, {})) for pu in whole.pus)

    assert "S0 N0 ■x-■" in drawn(replace(whole, pus=pus))


def test_nodes_that_span_sockets_keep_their_number() -> None:
    node = NumaNode(15, tuple(range(8)), tuple(range(60, 64)), memory_bytes=GIB, free_bytes=GIB)

    assert drawn(Machine(nodes=(node,), packages=(Package((0,), 0),))).splitlines()[1].startswith("S60-63 N15 ")


def test_memory_that_is_unknown_is_no_empty_bar() -> None:
    nodes = (NumaNode(0, ()), NumaNode(1, (), memory_bytes=0), NumaNode(2, (), memory_bytes=GIB))
    text = drawn(Machine(nodes=nodes))

    assert "memory unknown" in text
    assert "no memory" in text
    assert "unknown of 1 GiB" in text
    assert "[" not in text


def test_pools_that_do_not_fit_beside_the_cores_go_below_them() -> None:
    pools = (HugePages(2 << 20, 512, 256), HugePages(1 << 30, 16, 0))
    node = NumaNode(0, (0,), (0,), memory_bytes=64 * GIB, free_bytes=16 * GIB, huge_pages=pools)

    text = drawn(Machine(nodes=(node,)), 60)

    assert "      2 MiB pages used [██···] 256 of 512" in text
    assert "1 GiB pages used [█████] 16 of 16" in text
    assert max(map(len, text.splitlines())) <= 60


def test_a_pool_that_is_used_up_is_marked_at_its_own_bar() -> None:
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

    one, other = (" ".join(drawn(found, 116).split()) for found in (pool, memory))
    assert "16 of 64 GiB [██████████] 512 of 512 ! NEARLY FULL [··········] 0 of 4" in one
    assert "63 of 64 GiB ! NEARLY FULL [··········] 0 of 512" in other
    assert find(topology(pool), "pool:0:2048kB")[-1].label == "Node 0 ! 2 MiB PAGES NEARLY FULL: 4 cores, 64 GiB"
    assert find(topology(memory), "node:0")[-1].label == "Node 0 ! NEARLY FULL: 4 cores, 64 GiB"
    assert drawn(pool, 60).count("NEARLY FULL") == drawn(memory, 60).count("NEARLY FULL") == 1


def link(speed: float, width: int) -> PciLink:
    return PciLink(speed, width)


def function(address: str, trained: PciLink, limit: PciLink, **more: Any) -> PciFunction:
    return PciFunction(address, 0x010802, 0x8086, 1, link=trained, link_limit=limit, common_link_limit=limit, **more)


NVME = NvmeController("nvme0", "pcie", "0000:3b:00.0", pci_address="0000:3b:00.0", node=0, state="live", serial="S1")


@pytest.mark.parametrize(
    ("trained", "words"),
    [
        (link(8, 2), "nvme0 PCIe 8 GT/s x2 of 8 GT/s x4 ! DEGRADED link"),
        (link(5, 4), "nvme0 PCIe 5 GT/s x4 of 8 GT/s x4 ! DEGRADED link"),
        (link(8, 4), "nvme0 PCIe 8 GT/s x4"),
    ],
)
def test_a_link_below_what_both_ends_can_is_marked_with_both_figures(trained: PciLink, words: str) -> None:
    port = function("0000:3a:00.0", link(8, 4), link(8, 4))
    behind = function("0000:3b:00.0", trained, link(8, 4), parent="0000:3a:00.0")
    found = assessed(machine(1, 4, 1, nvme_controllers=(NVME,), pci=(port, behind), block_devices=()))

    assert lines(mapped(found, {}, 76))[-1].endswith(words)


def test_the_second_port_of_a_card_shares_the_mark_of_its_link() -> None:
    port = function("0000:3a:00.0", link(8, 8), link(8, 8))
    card = function("0000:3b:00.0", link(8, 4), link(8, 8), parent="0000:3a:00.0")
    second = function("0000:3b:00.1", link(8, 4), link(8, 8), parent="0000:3a:00.0")
    nics = tuple(Nic(f"eth{n}", "physical", up=True, node=0, pci_address=f"0000:3b:00.{n}") for n in range(2))
    found = assessed(machine(1, 4, 1, nics=nics, pci=(port, card, second)))

    assert drawn(found).count("8 GT/s x4 of 8 GT/s x8 ! DEGRADED link") == 2


def test_a_bond_and_its_lost_member_are_marked() -> None:
    nics = (
        Nic("eth0", "physical", up=True, carrier=True, speed_bits_per_second=10**10, node=0, master="bond0"),
        Nic("eth1", "physical", up=False, carrier=False, node=1, master="bond0"),
        Nic("bond0", "bond", up=True, lower=("eth0", "eth1"), speed_bits_per_second=10**10),
    )
    text = drawn(assessed(machine(nics=nics)))

    assert "eth1 no link ! DEGRADED, no link in bond0" in text
    assert "Across bond0 of eth0 and eth1, 10 Gb/s ! DEGRADED, member down" in text
    assert "eth0 10 Gb/s\n" in text


def test_maps_with_a_dead_path_and_arrays_without_a_member_are_marked() -> None:
    def path(name: str, state: str) -> Path:
        return Path(name, None, "host1", Transport.FC, None, None, None, 0, state, None)

    maps = (
        MultipathMap("data", "dm-0", 10**12, None, None, (path("sda", "running"), path("sdb", "offline"))),
        MultipathMap("redo", "dm-1", 10**12, None, None, (path("sdc", "running"), path("sdd", "running"))),
    )
    array = BlockDevice("md0", BlockKind.MD, 10**12, raid_level="raid1", raid_disks=2, raid_degraded=1)
    text = drawn(assessed(machine(maps=maps, block_devices=(array,))))

    assert "data 2 paths, 1 usable, 1 TB ! DEGRADED, path lost" in text
    assert "redo 2 paths, 1 TB" in text
    assert "md0 raid1, 1 TB ! DEGRADED, member missing" in text
    assert text.count("!") == 2


def test_adapters_hold_their_disks_and_many_plain_disks_are_counted() -> None:
    hba = Hba("host1", Transport.FC, "qla2xxx", node=0, state="Linkdown", speed_bits_per_second=16 * 10**9)
    behind = [BlockDevice(f"sd{letter}", BlockKind.SCSI, 10**12, hctl="1:0:0:0", node=0) for letter in "abc"]
    plain = [BlockDevice(f"vd{letter}", BlockKind.VIRTIO, 10**12, node=1) for letter in "abcdefgh"]
    text = drawn(machine(hbas=(hba,), block_devices=(*behind, *plain)))

    assert "host1 fc, 16 Gb/s, 3 disks ! Linkdown" in text
    assert "vda to vdh: 8 disks" in text
    assert "sda" not in text


def test_what_is_wrong_is_the_last_that_a_narrow_map_cuts() -> None:
    mount = NfsMount("/" + "long" * 40, "filer:/vol", version="3", protocol="tcp", transports=1, nic="eth0")
    found = assessed(machine(nfs_mounts=(mount,)))
    fast = assessed(replace(found, nics=(Nic("eth0", "physical", up=True, speed_bits_per_second=40 * 10**9, node=0),)))

    text = drawn(fast, 60)

    assert "! FEW CONNECTIONS" in text
    assert max(map(len, text.splitlines())) <= 60


@pytest.mark.parametrize("width", [40, 76, 116, 196])
def test_no_row_of_the_large_machine_is_wider_than_the_screen(width: int) -> None:
    found = large_machine()
    rows = lines(mapped(found, {}, width))

    assert max(map(len, rows)) <= max(width, 45)
    assert "".join(rows).count("■") == 256
    assert sum("nvme" in row for row in rows) >= 4


def test_a_finding_leads_to_what_sits_at_a_pci_address() -> None:
    port = function("0000:3a:00.0", link(8, 4), link(8, 4))
    behind = function("0000:3b:00.0", link(8, 2), link(8, 4), parent="0000:3a:00.0")
    found = assessed(machine(1, 4, 1, nvme_controllers=(NVME,), pci=(port, behind)))

    subject = next(finding for finding in found.findings if finding.id == "pci.degraded-link").subjects[0]
    item = find(topology(found), subject)[-1]

    assert item.label == "nvme0 ! DEGRADED link: NVMe, PCIe 8 GT/s x2 of 8 GT/s x4"
    assert ("Link capability", "8 GT/s x4") in item.facts


def test_the_legend_explains_the_signs_that_are_there_and_no_others() -> None:
    pus = tuple(replace(pu, online=pu.cpu != 1) for pu in machine(1, 4, 1).pus)
    dark = mapped(machine(1, 4, 1, pus=pus), {}, 76).legend

    assert dark == "S socket, N node, ■ core, x offline, █ used, · free"
    assert mapped(machine(1, 4, 1), {0: 5.0, 1: 5.0, 2: 5.0, 3: 5.0}, 76).legend == (
        "S socket, N node, 0-9 tenths of load, █ used, · free"
    )
    assert mapped(machine(1, 4, 1), {}, 30).legend == "S socket, N node, ■ core"
    assert mapped(large_machine(), {}, 76).legend.endswith("PCIe: GT/s of a lane x lanes")


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
    drawing = MapMaker(now, compared(now, before)).draw(now.nodes, {}, 76)
    text = "\n".join(lines(drawing))

    assert "eth0 10 Gb/s ~ changed" in text
    assert "eth2 1 Gb/s + added" in text
    assert "sda 1 TB ~ changed" in text  # it hung on the third node
    fewer = MapMaker(machine(2, 4), compared(machine(2, 4), machine(2, 8))).draw(machine(2, 4).nodes, {}, 116)
    assert all("GiB ~ changed" in line for line in lines(fewer) if line.startswith("S"))
    assert "Missing eth1 1 Gb/s - removed   Socket 2: 4 cores - removed" in text
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
    drawn = MapMaker(made(8, 16, 8, 32 << 20, nodes=8)).draw(made(8, 16, 8, 32 << 20, nodes=8).nodes, {}, 80, 36)
    lines = ["".join(cell.text for cell in row) for row in drawn.rows]

    assert len(lines) < 38
    assert [line.split()[1] for line in lines[:32]] == [f"N{number}" for number in range(32)]
    assert all(f" N{number + 32} " in f" {lines[number]} " for number in range(32))
    assert all(len(line) <= 80 + 2 for line in lines)


def test_frames_without_a_load_are_no_wider_than_their_caches() -> None:
    found = made(1, 6, 2, 8 << 20)
    drawn = MapMaker(found).draw(found.nodes, {}, 82, 36)
    titles = [cell.text for row in drawn.rows for cell in row if "Core 1" in cell.text]

    assert titles
    assert all(len(title) <= 46 for title in titles)
