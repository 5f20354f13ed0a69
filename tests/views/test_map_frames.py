"""The map with room: a frame for each node, cache, core and device, as large as the screen allows."""

import pytest
from msgspec.structs import replace

from consoles import GIB, machine
from sizeup.discovery.machine import assessed
from sizeup.model.machine import Machine
from sizeup.model.network import Nic
from sizeup.model.numa import MemoryKind, NumaNode
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.views.machine.devices import Devices
from sizeup.views.map.map import Map, MapMaker
from sizeup.views.map.tiles import CorePart, CpuStates, Tile, TileSize, tiles


def mapped(found: Machine, width: int = 82, height: int = 35, **more: dict[int, str]) -> Map:
    return MapMaker(found, **more).draw(found.nodes, {pu.cpu: 34.0 for pu in found.pus}, width, height)


def lines(drawn: Map) -> list[str]:
    return ["".join(cell.text for cell in row).rstrip() for row in (drawn.title, *drawn.rows)]


def test_a_small_machine_is_drawn_as_frames_in_frames() -> None:
    shown = lines(mapped(machine(1, 2, 2)))
    text = "\n".join(shown)
    names = ["─ Socket 0", "┌ Node 0", "16 of 64 GiB used", "┌ L3 32 MiB, 2 cores", "┌ L2 1 MiB", "┌ L1d 32 KiB",
             "┌ Core 0", " 34 %", "┌ eth0", "10 Gb/s"]  # fmt: skip

    assert [text.index(name) for name in names] == sorted(text.index(name) for name in names)
    assert any(line.count("┌ Core ") == 2 for line in shown)


@pytest.mark.parametrize(("width", "height"), [(82, 35), (146, 55), (76, 30), (60, 34)])
@pytest.mark.parametrize("cores", [1, 2, 4, 8])
def test_frames_are_closed_and_fit(width: int, height: int, cores: int) -> None:
    shown = lines(mapped(machine(1, cores, 2), width, height))
    text = "\n".join(shown)

    assert len(shown) + 1 <= height
    assert {len(line) for line in shown if line[0] in "╭│╰"} == {width}
    assert text.count("┌") == text.count("┐") == text.count("└─") == text.count("┘")


def test_a_machine_of_one_socket_takes_most_of_the_rows() -> None:
    assert len(lines(mapped(machine(1, 2, 1)))) >= 0.6 * 35


def test_a_node_says_what_its_memory_is_and_does() -> None:
    node = NumaNode(
        0, (0, 1), (0,), memory_bytes=64 * GIB, free_bytes=16 * GIB, file_bytes=41 * GIB, shmem_bytes=GIB,
        kind=MemoryKind.DRAM,
    )  # fmt: skip
    text = "\n".join(lines(mapped(machine(1, 2, 1, nodes=(node,)), measured={0: "measured: 92 ns local"})))

    assert "free 16 GiB; used includes page cache 40 GiB, shared memory 1 GiB" in text
    assert "DRAM" in text
    assert "measured: 92 ns local" in text


def test_a_device_has_its_fault_first_and_no_more_lines_than_there_are() -> None:
    disk = BlockDevice("md0", BlockKind.MD, 10**12, raid_level="raid1", raid_disks=2, raid_degraded=1)
    found = assessed(machine(1, 2, 1, block_devices=(disk,)))
    shown = lines(mapped(found))
    at = next(number for number, line in enumerate(shown) if "┌ md0" in line)

    assert "! DEGRADED, member missing" in shown[at + 1]


def test_virtual_interfaces_are_last_in_the_tree_and_not_on_the_map() -> None:
    nics = (Nic("dummy0", "dummy"), Nic("eth0", "physical"), Nic("ifb0", "virtual"))
    found = replace(machine(1, 2, 1), nics=nics)
    names = [item.key for item in Devices(found).on(None)]

    assert names == ["nic:eth0", "nic:dummy0", "nic:ifb0"]
    assert "ifb0" not in "\n".join(lines(mapped(found)))


def test_many_cores_are_drawn_smaller() -> None:
    text = "\n".join(lines(mapped(machine(1, 64, 2))))

    assert "┌ L2" not in text
    assert "Node 0" in text


def test_no_size_of_a_cache_is_cut() -> None:
    core = CorePart("core:0", "0", (0,), ((2, "L2 512 KiB"), (1, "L1d 64 KiB"), (1, "L1i 64 KiB")))
    shown = {
        width: "".join(cell.text for row in tiles((core,), CpuStates({}, {}), TileSize(Tile.FRAME, width), width)
                       for cell in row)
        for width in (19, 24, 36)
    }  # fmt: skip

    assert "│L2 512 KiB       │" in shown[19]
    assert "│L2 512 KiB L1d 64 KiB │" in shown[24]
    assert "│L2 512 KiB L1d 64 KiB L1i 64 KiB  │" in shown[36]


@pytest.mark.parametrize(("width", "names"), [(26, {"L1d", "L1i"}), (32, {"L1d 48 KiB", "L1i 64 KiB"})])
def test_a_first_cache_is_named_without_its_size_where_that_would_be_cut(width: int, names: set[str]) -> None:
    core = CorePart("core:0", "0", (0,), ((2, "L2 2 MiB"), (1, "L1d 48 KiB"), (1, "L1i 64 KiB")))
    rows = tiles((core,), CpuStates({}, {}), TileSize(Tile.NEST, 26, 9), width)

    assert {cell.text.strip() for row in rows for cell in row if cell.text.startswith("L1")} == names
