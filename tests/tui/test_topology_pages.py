"""The pages beside the map: what discovery knows of a machine, each a key or a click away."""

import pytest

from consoles import Console, MakeConsole, machine, until
from sizeup.model.machine import DimmSlot, Machine
from sizeup.tui.screens.topology import PAGES, MachinePage, page_lines
from sizeup.views.machine.machine import PARTS
from topology_mode import in_topology


def page_of(console: Console) -> str:
    shown = console.app.screen.query_one(MachinePage)
    return "\n".join("".join(row).rstrip() for row in shown.drawing.rows) if shown.region.area else ""


def with_modules() -> Machine:
    slots = (
        DimmSlot("DIMM_A1", size_bytes=32 << 30, kind="DDR4", rated_transfers_per_second=3200 * 10**6,
                 configured_transfers_per_second=2933 * 10**6),
        DimmSlot("DIMM_A2", size_bytes=0),
    )  # fmt: skip
    return machine(dimm_slots=slots)


@pytest.mark.parametrize("columns", [80, 120])
async def test_a_key_shows_the_next_page_and_another_one_the_map_again(console: Console, columns: int) -> None:
    async with in_topology(console, "v", columns=columns, rows=40) as pilot:
        await until(pilot, lambda: page_of(console).startswith("Processor"))
        await pilot.press("V")
        await until(pilot, lambda: console.app.screen.query_one("#map").region.area > 0 and not page_of(console))


async def test_modules_with_their_speeds_stand_on_the_page_of_memory(make_console: MakeConsole) -> None:
    console = make_console(with_modules())
    async with in_topology(console, "v", "v", columns=120, rows=40) as pilot:
        await until(pilot, lambda: "1 of 2 populated" in page_of(console))
        shown = page_of(console)

    assert "2,933 MT/s (rated 3,200 MT/s)" in shown or "2933 MT/s (rated 3200 MT/s)" in shown


async def test_a_click_on_its_name_shows_a_page(console: Console) -> None:
    async with in_topology(console, columns=120, rows=40) as pilot:
        row = console.text.splitlines()[console.app.screen.query_one("#tabs").region.y]
        x = row.index("Platform") - console.app.screen.query_one("#tabs").region.x
        await pilot.click("#tabs", offset=(x + 1, 0))
        await until(pilot, lambda: page_of(console).startswith("Platform"))


async def test_the_name_of_every_page_stands_above_the_map(console: Console) -> None:
    async with in_topology(console, columns=80, rows=40) as pilot:
        for columns in (80, 120, 200):
            await pilot.resize_terminal(columns, 40)
            await pilot.pause()
            title = console.text.splitlines()[console.app.screen.query_one("#tabs").region.y]

            assert [name for name in ("Map", *PAGES) if name not in title] == []


def test_every_part_but_findings_has_its_page() -> None:
    assert sorted(part for parts in PAGES.values() for part in parts) == sorted(set(PARTS) - {"findings"})


def test_what_a_machine_has_nothing_of_is_told() -> None:
    assert page_lines(Machine(), "Devices", 80) == [("Nothing of this kind was found on this machine.", "text")]
