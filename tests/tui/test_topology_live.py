"""The Topology mode: load and memory that move while it is shown."""

import re

import pytest
from msgspec.structs import replace
from textual.geometry import Region

from consoles import GIB, Console, MakeConsole, machine, pressed
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.network import Nic
from sizeup.tui.console import ConsoleApp
from sizeup.tui.runs import LiveSource
from sizeup.tui.screens.topology import ItemTree, MapView, TopologyScreen
from topology_mode import in_topology, map_of


async def look(console: Console) -> TopologyScreen:
    """What the timer does once a second, to its end."""
    screen = console.app.screen
    assert isinstance(screen, TopologyScreen)
    screen.look()
    await console.app.workers.wait_for_complete()
    return screen


class ChangingMachine:
    """A machine whose memory, links and load a test moves."""

    def __init__(self, found: Machine) -> None:
        self.now, self.load = found, 35.0
        self.looks = self.loads_asked = 0

    def refreshed(self, known: Machine) -> Machine:
        self.looks += 1
        return self.now

    def loads(self) -> dict[int, float]:
        self.loads_asked += 1
        return {pu.cpu: self.load for pu in self.now.pus}

    @property
    def live_source(self) -> LiveSource:
        return LiveSource(lambda listener: None, lambda: self.now, self.refreshed, self.loads)

    def free(self, node: int, gibibytes: int) -> None:
        nodes = [replace(one, free_bytes=gibibytes * GIB) if one.os_id == node else one for one in self.now.nodes]
        self.now = replace(self.now, nodes=tuple(nodes))


async def test_load_and_memory_move_on_the_map_while_it_is_shown(make_console: MakeConsole) -> None:
    watched = ChangingMachine(machine())
    watched.load = 5.0
    console = make_console(watched.now, live_source=watched.live_source)
    async with in_topology(console) as pilot:
        view = console.app.screen.query_one(MapView)
        await look(console)
        before, cold = "\n".join(map_of(console)), {role for row in view.drawing.roles for role in row}
        watched.load = 35.0
        watched.free(1, 16)
        await look(console)
        await pilot.pause()

        after = "\n".join(map_of(console))
        used = [re.findall(r" (\d+) of 64 GiB used", drawn) for drawn in (before, after)]
        assert used == [["16", "16"], ["16", "48"]]
        warm = {role for row in view.drawing.roles for role in row}
        assert [role in cold for role in ("ramp-0", "ramp-1")] == [True, False]
        assert [role in warm for role in ("ramp-0", "ramp-1")] == [False, True]


async def test_a_look_repaints_only_the_rows_that_differ(
    make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = ChangingMachine(machine(32, 4, 1))
    console = make_console(watched.now, live_source=watched.live_source)
    repainted: list[Region] = []

    def refresh(view: MapView, *regions: Region, **how: object) -> MapView:
        repainted.extend(regions or [view.region])
        return view

    async with in_topology(console) as pilot:
        await look(console)
        await pilot.pause()
        monkeypatch.setattr(MapView, "refresh", refresh)
        await look(console)
        still = list(repainted)
        watched.free(1, 50)
        await look(console)

        assert still == []
        assert [region.height for region in repainted] == [1]


async def test_a_full_line_is_spared_and_a_look_is_drawn_once(
    make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = ChangingMachine(machine())
    console = make_console(watched.now, live_source=watched.live_source)
    shown: list[object] = []
    async with in_topology(console):
        monkeypatch.setattr(MapView, "show", lambda view, drawn: shown.append(drawn))
        asked = watched.loads_asked
        for busy in (True, True, False):
            monkeypatch.setattr(ConsoleApp, "link_busy", busy)
            await look(console)

        assert watched.loads_asked - asked == len(shown) == 1


async def test_the_free_memory_of_the_node_under_the_cursor_moves(make_console: MakeConsole) -> None:
    watched = ChangingMachine(machine())
    console = make_console(watched.now, live_source=watched.live_source)
    async with in_topology(console) as pilot:
        console.app.screen.query_one(ItemTree).reveal("node:0")
        await pilot.pause()
        watched.free(0, 3)
        await look(console)
        await pilot.pause()

        assert "3 GiB (5 %)" in console.says("#detail")


async def test_nobody_looks_while_another_mode_is_shown_and_nothing_is_read_during_a_run(
    make_console: MakeConsole,
) -> None:
    watched = ChangingMachine(machine())
    console = make_console(watched.now, live_source=watched.live_source)
    async with in_topology(console) as pilot:
        timer = console.app.screen._timer  # type: ignore[attr-defined]
        shown = timer._active.is_set()
        await pressed(pilot, "1")
        hidden = timer._active.is_set()
        await console.choose(pilot, "null")
        await pressed(pilot, "r", "2")
        asked, looked = watched.loads_asked, watched.looks
        await look(console)

        assert (shown, hidden) == (True, False)
        assert (watched.loads_asked, watched.looks) == (asked + 1, looked)


async def test_a_link_that_goes_is_told_to_every_mode(make_console: MakeConsole) -> None:
    watched = ChangingMachine(machine())
    console = make_console(watched.now, live_source=watched.live_source)
    async with in_topology(console) as pilot:
        lost = Finding("bond.member-down", Severity.WARNING, "a member of bond0 is down", (), "", "", ("nic:eth0",))
        down = Nic("eth0", "physical", "ixgbe", carrier=False, up=False, node=0)
        watched.now = replace(watched.now, nics=(down,), findings=(lost,))
        await look(console)
        await pilot.pause()
        part = console.parts["nic:eth0"]
        await pressed(pilot, "1")

        assert "! DEGRADED, member down" in part
        assert "member of bond0 is down" in console.text
