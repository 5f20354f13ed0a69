"""The fleet in the console: the answer first, the hosts that stand out above the others, and where each host lies."""

import re
from pathlib import Path

from textual.widgets import Input

from consoles import Console, pressed, until
from fleet_sessions import Figures, made_fleet, records, server, with_port_down, write
from sizeup.charts.drawing import GROUND
from sizeup.fleet.fleet import build_fleet, fleet_paths, read_fleet
from sizeup.fleet.heat import fleet_band, heat_cell
from sizeup.tui.dialogs import TextDialog
from sizeup.tui.screens.compare_screen import CompareScreen
from sizeup.tui.screens.fleet_screen import FleetScreen, HeatTable, StripPlots


def fleet_folder(folder: Path) -> Path:
    folder.mkdir()
    made_fleet(folder)
    slow = Figures()
    write(folder, "db07", records("db07", Figures(dram_ns=slow.dram_ns * 1.6), server()))
    return folder


async def opened(console: Console, pilot, folder: Path) -> None:
    await pilot.press("5", "f")
    await until(pilot, lambda: isinstance(console.app.screen, TextDialog))
    console.app.screen.query_one(Input).value = str(folder)
    await pilot.press("enter")


def listed(console: Console) -> bool:
    """Whether the hosts are shown; the screen is there before its table is."""
    screen = console.app.screen
    return isinstance(screen, FleetScreen) and bool(screen.query(HeatTable)) and bool(table(console).drawing.height)


def strips(console: Console) -> StripPlots:
    return console.app.screen.query_one(StripPlots)


def table(console: Console) -> HeatTable:
    return console.app.screen.query_one(HeatTable)


async def test_the_host_that_stands_out_is_named_first_and_every_cell_has_its_value(
    console: Console, tmp_path: Path
) -> None:
    async with console.shown(120, 40) as pilot:
        await opened(console, pilot, fleet_folder(tmp_path / "fleet"))
        await until(pilot, lambda: listed(console))
        told = [note.message for note in console.app._notifications]
        await pilot.pause()
        band, drawing = console.app.screen.band(), table(console).drawing
        hosts = [host.name for host in table(console).hosts]
        strips = console.app.screen.query_one(StripPlots).drawing.text()
        (row,) = [line for line in drawing.text().splitlines() if "db07" in line]
        await pressed(pilot, "t")
        said = console.says("#fleet-host Static")
        await pressed(pilot, "j")
        other = console.says("#fleet-host Static")
        await pilot.press("escape")

        assert told == [], "nothing lies over the plots"
        assert (band.word, band.number.text, band.number.name) == ("1 OUTLIER", "1", "of 12 hosts")
        assert band.sentence == "db07 stands out in 2 figures: 59 % longer than its 11 peers in DRAM."
        assert hosts[0] == "db07"
        assert hosts[1:] == sorted(hosts[1:])
        assert re.search(r"▼ *\d+ ns +\+59 %", row)
        assert row.rstrip().endswith("▲ OUTLIER")
        assert re.search(r"Host +DRAM .*IOPS .*Status", drawing.text().splitlines()[0]), "what stands out most"
        assert any(f"{GROUND}s2" in role for role in drawing.roles[1])
        assert "db07" in strips
        assert "x the median of" in said
        assert "No figure stands out" in other
        assert console.mode == "sessions"


async def test_a_host_opens_its_newest_session_and_is_compared_with_a_normal_one(
    console: Console, tmp_path: Path
) -> None:
    folder = fleet_folder(tmp_path / "fleet")
    async with console.shown(80, 24) as pilot:
        await opened(console, pilot, folder)
        await until(pilot, lambda: listed(console))
        last_line = console.text.splitlines()[-1]
        await pressed(pilot, "c")
        compared = isinstance(console.app.screen, CompareScreen), console.app.screen.header().host
        await pressed(pilot, "escape", "enter")
        await until(pilot, lambda: console.app.saved_session is not None)

        assert compared[0]
        assert "db07" in compared[1]
        assert "Compare" in last_line
        assert console.app.saved_session.header.host == "db07"


async def test_a_host_is_found_and_hosts_are_sorted_by_a_figure(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await opened(console, pilot, fleet_folder(tmp_path / "fleet"))
        await until(pilot, lambda: listed(console))
        await pressed(pilot, "slash", *"db11", "enter")
        found = table(console).chosen.name
        await pressed(pilot, "S")
        kept, first = table(console).chosen.name, table(console).hosts[0].name

    assert (found, kept, first) == ("db11", "db11", "db07")


async def test_a_directory_without_sessions_is_refused_in_words(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await opened(console, pilot, tmp_path)
        await until(pilot, lambda: bool(console.app._notifications))

        assert console.mode == "sessions"
        assert any("expected session files" in note.message for note in console.app._notifications)


def test_of_two_like_hosts_the_answer_says_so_and_no_cell_is_compared(tmp_path: Path) -> None:
    for host, dram in (("db01", 95.0), ("db02", 150.0)):
        write(tmp_path, host, records(host, Figures(dram_ns=dram), server()))
    fleet = build_fleet(read_fleet(fleet_paths([str(tmp_path)])))

    assert fleet_band(fleet).word == "NOT COMPARED"
    assert "Fewer than 3 like hosts" in fleet_band(fleet).sentence
    cells = [heat_cell(fleet, host, name) for host in fleet.hosts for name in fleet.names]
    assert not [cell for cell in cells if cell.compared or cell.difference]


def test_like_hosts_are_all_normal_and_a_worse_figure_has_a_negative_level(tmp_path: Path) -> None:
    made_fleet(tmp_path, 8)
    assert fleet_band(build_fleet(read_fleet(fleet_paths([str(tmp_path)])))).word == "ALL NORMAL"
    write(tmp_path, "db03", records("db03", Figures(iops=100_000.0, clock_ns=15.0), with_port_down(server())))
    fleet = build_fleet(read_fleet(fleet_paths([str(tmp_path)])))
    (host,) = [host for host in fleet.hosts if host.name == "db03"]
    cells = {name: heat_cell(fleet, host, name) for name in fleet.names}
    slow = next(cell for name, cell in cells.items() if name.startswith("storage.random_iops"))
    quick = next(cell for name, cell in cells.items() if name.startswith("clock.read_cost"))

    assert fleet_band(fleet).word == "1 OUTLIER"
    assert (slow.level, slow.stands_out, slow.difference) == (-3, True, "-33 %")
    assert quick.level == 3


def test_the_heading_of_short_names_has_room(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path, name, records(name, Figures(), server()))
    fleet = build_fleet(read_fleet(fleet_paths([str(tmp_path)])))
    shown = HeatTable(fleet)
    shown._groups = [("", list(fleet.hosts))]

    assert shown._first > len("  Host")


async def test_the_strips_take_what_the_hosts_leave_and_share_a_scale(console: Console, tmp_path: Path) -> None:
    folder = fleet_folder(tmp_path / "fleet")
    async with console.shown(200, 60) as pilot:
        await opened(console, pilot, folder)
        await until(pilot, lambda: listed(console) and bool(strips(console).drawing.height))
        await pilot.pause()
        hosts, plots = table(console), strips(console)
        text, rows, below = plots.drawing.text(), hosts.size.height, plots.region.y == hosts.region.bottom
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: table(console).size.width < 80)
        narrow = table(console).names

    assert rows == len(hosts.hosts) + 1 + 1 + 2, "the head, the medians and the legend"
    assert below
    assert all(name in text for name in ("IOPS", "Memory read", "Clock read")), "every figure has a strip"
    assert re.search(r"^ +90 % of the median\. .* 160 %$", text, re.MULTILINE), "one scale, and its ends"
    places = {
        line[:18].strip(): [at for at, sign in enumerate(line) if sign in "○●23456789"] for line in text.splitlines()
    }
    near, far = (max(places[name][:-1]) - min(places[name]) for name in ("IOPS", "DRAM"))
    assert max(near, far) < 12 < places["DRAM"][-1] - places["DRAM"][-2], "like hosts lie together in every strip"
    assert len(narrow) == 3, "as many columns as fit beside the status words that are there"
