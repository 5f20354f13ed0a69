"""The Topology mode: tree and map side by side, one selection in both."""

import pytest

from consoles import Console, MakeConsole, machine, pressed
from sizeup.model.machine import Machine
from sizeup.tui.live_source import LiveSource
from sizeup.tui.widgets.map import MapView
from topology_mode import in_topology, map_of


def chosen(console: Console) -> str:
    return console.app.screen.query_one(MapView).chosen


async def test_the_cursor_of_the_tree_is_on_the_map_and_that_of_the_map_on_the_tree(console: Console) -> None:
    async with in_topology(console, "j", columns=120, rows=40) as pilot:
        seen = [(console.part, chosen(console))]
        for keys in (["t", "down"], ["down", "down"], ["right"], ["left", "up"]):
            await pressed(pilot, *keys)
            await pilot.pause()
            seen.append((console.part, chosen(console)))
        focused = console.app.screen.query_one(MapView).has_focus
        await pressed(pilot, "t")
        back = console.app.screen.query_one("#tree").has_focus

    assert seen == [
        ("package:0", "package:0"),
        ("node:0", "node:0"),
        ("core:0", "core:0"),
        ("core:1", "core:1"),
        ("cache:3:0", "cache:3:0"),
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
        await pilot.click("#map", offset=(rows[y].index("Node 1") + 2, y + 1))  # the border is a row
        await pilot.pause()
        await pilot.pause()

        assert (console.part, chosen(console)) == ("node:1", "node:1")
        assert "Threads" in console.says("#detail")


@pytest.mark.parametrize(("columns", "both"), [(80, False), (119, False), (120, True), (200, True)])
async def test_tree_and_map_are_both_visible_from_120_columns(console: Console, columns: int, both: bool) -> None:
    async with in_topology(console, columns=columns, rows=40) as pilot:
        shown = [console.app.screen.query_one(name).region.area > 0 for name in ("#tree", "#map")]
        await pressed(pilot, "t")
        after = [console.app.screen.query_one(name).region.area > 0 for name in ("#tree", "#map")]

    assert shown == [True, both]
    assert after == [both, True]


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
    async with in_topology(console, columns=120, rows=40) as pilot:
        await pressed(pilot, "j", "j")
        await pilot.pause()
        drawing = console.app.screen.query_one(MapView).drawing
        y = next(place for place, row in enumerate(drawing.rows) if "Node 0" in "".join(row))
        name = "".join(drawing.rows[y]).index("Node 0")
        bars = [role for row, roles in zip(drawing.rows, drawing.roles, strict=True)
                for character, role in zip(row, roles, strict=True) if character in "█·"]  # fmt: skip

        assert chosen(console) == "node:0"
    assert drawing.roles[y][name] == "cursor"
    assert "cursor" not in bars
