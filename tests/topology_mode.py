"""What tests of the Topology mode share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from consoles import Console, pressed
from sizeup.tui.screens.topology import MapView


@asynccontextmanager
async def in_topology(console: Console, *keys: str, columns: int = 80, rows: int = 24) -> AsyncIterator[Pilot[int]]:
    """The console in this mode, and after some more keys, once it stands still."""
    async with console.shown(columns, rows) as pilot:
        await pressed(pilot, "2", *keys)
        await pilot.pause()
        await console.app.workers.wait_for_complete()
        yield pilot


def map_of(console: Console) -> list[str]:
    """The rows of the map as it is drawn."""
    return ["".join(row).rstrip() for row in console.app.screen.query_one(MapView).drawing.rows]


def tree_of(console: Console) -> list[str]:
    """The rows of the tree, without its border and what stands beside it."""
    place = console.app.screen.query_one("#tree").region
    lines = console.text.splitlines()[place.y + 1 : place.bottom - 1]
    return [line[place.x + 1 : place.right - 1].rstrip() for line in lines]
