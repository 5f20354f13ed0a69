"""The Topology mode: the map, the tree in its place, and one selection in both."""

import pytest

from consoles import Console, MakeConsole, machine, pressed
from sizeup.discovery.machine import assessed
from sizeup.model.machine import Machine
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.tui.runs import LiveSource
from sizeup.tui.screens.topology import MapView
from sizeup.tui.widgets.band import BandView
from topology_mode import in_topology, map_of


def chosen(console: Console) -> str:
    return console.app.screen.query_one(MapView).chosen


async def test_the_cursor_of_the_tree_is_on_the_map_and_that_of_the_map_on_the_tree(console: Console) -> None:
    async with in_topology(console, "t", "j", columns=120, rows=40) as pilot:
        await pilot.pause()
        seen = [(console.part, chosen(console))]
        focused = console.app.screen.query_one("#tree").has_focus
        for keys in (["t", "down"], ["down"], ["right"], ["left", "up"]):
            await pressed(pilot, *keys)
            await pilot.pause()
            await pilot.pause()
            seen.append((console.part, chosen(console)))
        back = console.app.screen.query_one(MapView).has_focus

    assert seen == [
        ("package:0", "package:0"),
        ("node:0", "node:0"),
        ("core:0", "core:0"),
        ("core:1", "core:1"),
        ("node:0", "node:0"),
    ]
    assert (focused, back) == (True, True)


async def test_a_part_that_is_not_on_the_map_marks_what_it_is_in(console: Console) -> None:
    found = machine()
    async with in_topology(console, columns=120, rows=40) as pilot:
        tree = console.app.screen.query_one("#tree")
        assert found.block_devices
        await pressed(pilot, "slash", *"sda", "enter")
        await pilot.pause()

        assert tree.has_focus
        assert chosen(console) == "disk:sda"


async def test_a_click_selects_a_part(console: Console) -> None:
    async with in_topology(console, columns=120, rows=40) as pilot:
        rows = map_of(console)
        y = next(place for place, row in enumerate(rows) if "Node 1" in row)
        await pilot.click("#map", offset=(rows[y].index("Node 1") + 2, y))
        await pilot.pause()
        await pilot.pause()

        assert (console.part, chosen(console)) == ("node:1", "node:1")
        assert "Threads" in console.says("#detail")


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
async def test_the_tree_takes_the_place_of_the_map_and_gives_it_back(console: Console, columns: int, rows: int) -> None:
    async with in_topology(console, columns=columns, rows=rows) as pilot:
        seen = []
        for _ in range(3):
            seen.append([console.app.screen.query_one(name).region.area > 0 for name in ("#map", "#tree", "#detail")])
            await pressed(pilot, "t")

    assert seen == [[True, False, False], [False, True, True], [True, False, False]]


async def test_enter_shows_all_that_is_known_of_the_selected_part(console: Console) -> None:
    async with in_topology(console, "down", "down", "enter", columns=120, rows=40) as pilot:
        await pilot.pause()

        assert console.part == chosen(console) != ""
        assert console.app.screen.query_one("#detail-pane").has_focus


async def test_a_key_goes_to_the_parts_with_findings_on_the_map(make_console: MakeConsole) -> None:
    arrays = [BlockDevice(f"md{n}", BlockKind.MD, 10**12, raid_level="raid1", raid_disks=2, raid_degraded=1)
              for n in range(2)]  # fmt: skip
    console = make_console(assessed(machine(1, 4, 1, block_devices=tuple(arrays))))
    async with in_topology(console, columns=120, rows=40) as pilot:
        band = console.app.screen.query_one(BandView).band
        places = []
        for _ in range(3):
            await pressed(pilot, "greater_than_sign")
            await pilot.pause()
            await pilot.pause()
            places.append(chosen(console))
        text = "\n".join(map_of(console))

    assert band is not None
    assert band.word == "2 FAIL"
    assert [step.key for step in band.steps] == [">"]
    assert places == ["disk:md0", "disk:md1", "disk:md0"]
    assert "─ md0 ─" in text


@pytest.mark.ci
async def test_a_machine_of_two_sockets_fills_a_large_terminal(make_console: MakeConsole) -> None:
    found = machine(2, 32, 2)

    def unchanged(known: Machine) -> Machine:
        return known

    source = LiveSource(lambda listener: None, lambda: found, unchanged, lambda: {pu.cpu: 30.0 for pu in found.pus})
    console = make_console(found, live_source=source)
    async with in_topology(console, columns=200, rows=60) as pilot:
        console.app.screen.look()  # type: ignore[attr-defined]
        await console.app.workers.wait_for_complete()
        await pilot.pause()
        ink = sum(character != " " for line in console.text.splitlines() for character in line)

    assert ink / (200 * 60) >= 1 / 3


async def test_the_cursor_does_not_turn_a_bar_into_its_opposite(console: Console) -> None:
    async with in_topology(console, "t", "j", "j", "t", columns=120, rows=40) as pilot:
        await pilot.pause()
        drawing = console.app.screen.query_one(MapView).drawing
        y = next(place for place, row in enumerate(drawing.rows) if "Node 0" in "".join(row))
        name = "".join(drawing.rows[y]).index("Node 0")
        bars = [role for row, roles in zip(drawing.rows, drawing.roles, strict=True)
                for character, role in zip(row, roles, strict=True) if character in "▄▖"]  # fmt: skip

        assert chosen(console) == "node:0"
    assert drawing.roles[y][name] == "selected-title"
    assert set(bars) == {"s1", "track"}
