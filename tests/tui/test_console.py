"""The console by keys and content, in 80 columns and 24 rows."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from consoles import PlayedRunner, ended, machine, records, screen_text
from sizeup.errors import ExitStatus
from sizeup.model.machine import Machine
from sizeup.tui.actions import ACTIONS
from sizeup.tui.console import ConsoleApp
from sizeup.tui.options import Options
from sizeup.tui.runs import Runs
from sizeup.tui.widgets.lists import KeyList

_OPTIONS = Options()


class Console:
    """A console under test, with the runner it believes in."""

    def __init__(self, tmp_path: Path, found: Machine | None = None, options: Options = _OPTIONS) -> None:
        self.runner = PlayedRunner(tmp_path / "run.sizeup.jsonl")
        self.runs = Runs(str(self.runner.path), launcher=self.runner.launch)
        self.app = ConsoleApp(self.runs, machine() if found is None else found, options)

    @property
    def text(self) -> str:
        return screen_text(self.app)

    def tick(self) -> None:
        """What the timer does twice a second."""
        self.app._tick()

    @asynccontextmanager
    async def shown(self, columns: int = 80, rows: int = 24) -> AsyncIterator[Pilot[int]]:
        async with self.app.run_test(size=(columns, rows)) as pilot:
            await pilot.pause()
            try:
                yield pilot
            finally:
                self.runs.close()

    async def choose(self, pilot: Pilot[int], probe: str) -> None:
        """Go to the probes and put the cursor on one, whatever else is installed."""
        await pilot.press("2")
        await pilot.pause()
        listed = self.app.screen.query_one(KeyList)
        listed.highlighted = listed.get_option_index(probe)
        await pilot.pause()


async def test_the_first_screen_says_what_the_machine_is_and_what_it_needs(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown():
        lines = console.text.splitlines()

        assert len(lines) == 24
        assert lines[0] == " sizeup  db01: 2 sockets, 8 cores, 16 threads, 2.66 GHz       I/O need 266 MB/s"
        assert "Socket 0: 4 cores" in console.text
        assert "Node 0: 4 cores, 64 GiB" in console.text
        assert "eth0: physical, 10 Gbit/s, up" in console.text


async def test_hardware_names_that_look_like_markup_are_shown_as_they_are(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown() as pilot:
        assert console.app.screen.query_one("#tree").reveal("disk:sda")  # type: ignore[attr-defined]
        await pilot.pause()
        await pilot.pause()

        assert "[none] [/dev/sda] \\[red]" in console.text


async def test_a_probe_runs_by_keys_alone_and_its_chart_moves(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        arguments = console.runner.arguments[0]
        console.runner.write(records()[:8])
        console.tick()
        await pilot.pause()
        first = console.text
        console.runner.write(records()[8:])
        console.tick()
        await pilot.pause()

        assert arguments[:3] == ["--batch", "--control", "--quiet"]
        assert arguments[-2:] == ["-o", str(console.runner.path)] or "-p" in arguments
        assert "Latency (ns)" in first
        assert "Working set" in first
        assert console.text != first
        assert "L1 32 KiB" in console.text
        assert "running null step 1/1" in console.text
        assert "50%, needs 5 s more" in console.text


async def test_a_run_survives_a_change_of_mode_and_is_cancelled_by_a_key(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.write(records())
        await pilot.press("1")
        console.tick()
        await pilot.pause()
        assert "running null step 1/1" in console.text
        await pilot.press("2", "x")

        assert console.runner.stdin.words == ["cancel"]
        console.runner.write(ended())
        console.runner.end(130)
        console.tick()
        await pilot.pause()
        assert "idle, last null" in console.text


async def test_leaving_during_a_run_asks_and_can_let_it_go_on(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r", "q")
        await pilot.pause()
        assert "A run is going on." in console.text
        await pilot.press("down", "enter")
        await pilot.pause()

    assert console.runner.stdin.words == ["keep"]
    assert console.app.return_value == ExitStatus.OK
    assert str(console.runner.path) in console.app.farewell


async def test_staying_is_what_enter_does(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r", "q", "enter")
        await pilot.pause()

        assert console.app.is_running
        assert console.runner.stdin.words == []


async def test_a_failed_run_says_why(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.end(2, "sizeup: cannot write the session [/tmp]\n")
        console.tick()
        await pilot.pause()

        assert "! sizeup: cannot write the session [/tmp]" in console.text


async def test_settings_are_checked_as_they_are_typed_and_reach_the_run(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("s", "end", "x")
        await pilot.pause()
        assert "! samples: expected a whole number" in console.text
        await pilot.press("backspace", "0", "enter", "r")
        await pilot.pause()

    assert console.runner.arguments[0][-2:] == ["--set", "null.samples=1000"]


async def test_help_lists_every_action_that_holds_here(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown(100, 60) as pilot:
        await pilot.press("2", "question_mark")
        await pilot.pause()

        for scope in ("app", "probes", "chart", "list"):
            for action in ACTIONS[scope]:
                assert action.help in console.text


async def test_the_palette_offers_the_same_actions(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown() as pilot:
        await pilot.press("colon")
        await pilot.pause(0.3)
        await pilot.press(*"Probes")
        await pilot.pause(0.5)
        await pilot.press("enter", "enter")
        await pilot.pause(0.3)

        assert console.app.current_mode == "probes"


async def test_the_readout_names_the_value_under_the_cursor_with_its_unit(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.write(records())
        console.tick()
        await pilot.press("enter", "home")
        await pilot.pause()

        assert "16 KiB: Latency 1.02 ns" in console.text


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 20), (120, 40), (200, 60)])
async def test_no_size_of_terminal_is_too_odd(tmp_path: Path, size: tuple[int, int]) -> None:
    console = Console(tmp_path)
    async with console.shown(*size) as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.write(records())
        console.tick()
        await pilot.press("question_mark", "escape", "1")
        await pilot.resize_terminal(80, 24)
        await pilot.resize_terminal(*size)
        await pilot.pause()

        assert len(console.text.splitlines()) <= size[1]


async def test_every_key_of_the_registry_is_safe_on_every_screen(tmp_path: Path) -> None:
    keys = sorted({key for actions in ACTIONS.values() for action in actions for key in action.keys.split(",")})
    harmless = [key for key in keys if key not in ("ctrl+z", "q", "ctrl+q", "ctrl+c")]
    console = Console(tmp_path)
    async with console.shown() as pilot:
        for mode in ("1", "2"):
            for key in harmless:
                await pilot.press(mode, key, "escape")
        await pilot.pause()

        assert console.app.is_running


async def test_without_a_numa_kernel_cores_stand_under_their_socket(tmp_path: Path) -> None:
    console = Console(tmp_path, machine(nodes=()))
    async with console.shown():
        assert "L3 32 MiB shared by 4 cores" in console.text
