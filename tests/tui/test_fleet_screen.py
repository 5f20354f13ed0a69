"""The fleet in the console: the answer first, the hosts that stand out above the others, and one host in full."""

from pathlib import Path

from textual.widgets import Input

from consoles import Console, pressed, until
from fleet_sessions import Figures, made_fleet, records, server, write
from sizeup.tui.dialogs import TextDialog
from sizeup.tui.screens.fleet_screen import FleetScreen
from sizeup.tui.widgets.lists import KeyList


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
    """Whether the hosts are shown; the screen is there before its list is."""
    screen = console.app.screen
    return isinstance(screen, FleetScreen) and bool(screen.query(KeyList)) and bool(console.entries())


async def test_the_host_that_stands_out_is_named_first_and_shown(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await opened(console, pilot, fleet_folder(tmp_path / "fleet"))
        await until(pilot, lambda: listed(console))

        assert console.says("#fleet-answer").endswith("1 outlier: db07")
        hosts = list(console.entries())
        assert hosts[0] == "db07"
        assert hosts[1:] == sorted(hosts[1:])
        assert "x the median of" in console.says("#fleet-host Static")
        assert console.app.screen.query_one("#fleet-host").border_title == "db07"

        await pressed(pilot, "j")
        assert "No figure stands out" in console.says("#fleet-host Static")
        await pilot.press("escape")
        assert console.mode == "sessions"


async def test_a_host_opens_its_newest_session(console: Console, tmp_path: Path) -> None:
    folder = fleet_folder(tmp_path / "fleet")
    async with console.shown(80, 24) as pilot:
        await opened(console, pilot, folder)
        await until(pilot, lambda: listed(console))
        await pilot.press("enter")
        await until(pilot, lambda: console.app.saved_session is not None)

        session = console.app.saved_session
        assert session.header.host == "db07"


async def test_a_directory_without_sessions_is_refused_in_words(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await opened(console, pilot, tmp_path)
        await until(pilot, lambda: bool(console.app._notifications))

        assert console.mode == "sessions"
        assert any("expected session files" in note.message for note in console.app._notifications)
