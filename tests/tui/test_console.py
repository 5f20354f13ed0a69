"""The console by keys and content, in 80 columns and 24 rows."""

import pytest

from consoles import Console, MakeConsole, ended, machine, pressed, records, until
from sizeup.charts.chart import BarChart
from sizeup.charts.share_bar import ScreenLook
from sizeup.model.finding import Finding, Severity
from sizeup.tui.actions import ACTIONS, modes
from sizeup.tui.console import ConsoleApp
from sizeup.tui.options import Options
from sizeup.tui.runs import LiveSource
from sizeup.tui.screens.topology import ItemTree
from sizeup.tui.themes import TEXTUAL_NAMES
from sizeup.tui.widgets.lists import KeyList
from tui.sizing_inputs import choose_input


async def test_the_first_screen_says_what_the_machine_is_and_what_it_needs(console: Console) -> None:
    async with console.shown() as pilot:
        entries = console.entries()

        assert len(console.text.splitlines()) == 24
        assert "NO WORKLOAD" in console.says("#band")
        assert "rules of thumb" not in console.says("#band")
        assert entries["cpu"].startswith("CPU 8 cores, 2.66 GHz")
        assert entries["memory"].startswith("Memory 128 GiB, 2 nodes")
        assert console.status == "idle"
        for part in ("db01", *(f"{key} {label}" for key, label in modes({}))):
            assert part in console.says("#header")
        await pressed(pilot, "2")

        assert {"package:0", "node:0", "cache:3:0", "core:7", "nic:eth0", "disk:sda"} <= console.parts.keys()


async def test_hardware_names_that_look_like_markup_are_shown_as_they_are(console: Console) -> None:
    async with console.shown(keys="2") as pilot:
        assert console.app.screen.query_one(ItemTree).reveal("disk:sda")
        await pilot.pause()
        await pilot.pause()

        assert "[none] [/dev/sda] \\[red]" in console.says("#detail")


@pytest.mark.parametrize("size", [(20, 5), (39, 24), (80, 7)])
async def test_a_screen_too_small_for_a_mode_says_so_and_how_the_run_stands(
    console: Console, size: tuple[int, int]
) -> None:
    async with console.shown(*size) as pilot:
        await console.measure(pilot)
        small, needs = console.app.screen.has_class("-small"), console.says("#small")
        seen = console.text
        await pilot.resize_terminal(40, 8)
        await pilot.pause()

        assert small
        assert "40 x 8" in needs
        assert "●" in seen
        assert not console.app.screen.has_class("-small")
        assert console.app.screen.query_one("#body").region.height > 0


LIVING = LiveSource(lambda told: lambda: None, machine, lambda found: found, dict)


@pytest.mark.parametrize(
    ("options", "live_source", "told"),
    [
        (Options(readonly=True), LIVING, "sizeup was started read-only"),
        (Options(), LIVING, "no session can be kept"),
        (Options(), None, "a capture is shown, not this machine"),
    ],
)
async def test_where_nothing_can_be_measured_the_reason_is_the_one_that_holds(
    make_console: MakeConsole, options: Options, live_source: LiveSource | None, told: str
) -> None:
    console = make_console(options=options, live_source=live_source)
    console.app.measures = False
    console.runs.problem = "" if options.readonly or not live_source else "no session can be kept"
    async with console.shown(120, 40) as pilot:
        shown = " ".join(console.text.replace("│", "").split())
        await console.choose(pilot, "null")
        await pressed(pilot, "r")

        assert told in shown
        assert told in console.says("#about")
        assert console.runner.arguments == []


@pytest.mark.parametrize(("low_bandwidth", "frames"), [(False, 3), (True, 2)])
async def test_a_run_is_drawn_every_one_and_a_half_seconds_a_step_that_ends_at_once_and_never_into_a_full_line(
    make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch, low_bandwidth: bool, frames: int
) -> None:
    console = make_console(options=Options(low_bandwidth=low_bandwidth))
    busy = [False]
    monkeypatch.setattr(ConsoleApp, "link_busy", property(lambda self: busy[0]))
    monkeypatch.setattr(ConsoleApp, "_watch", lambda self: None)  # ticks by hand alone
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.write(records())
        drawn: list[str] = []
        monkeypatch.setattr(console.app, "_refresh_modes", drawn.append)
        for busy[0] in [True] * 4 + [False] * 8:
            console.app._tick()
        assert len(drawn) == frames

        outcome, end = ended()
        console.runner.write([outcome])
        console.app._tick()
        assert len(drawn) == frames + 1
        console.runner.write([end])  # after which the process ends, and that is drawn
        console.app._tick()
        assert len(drawn) == frames + 1
        console.runner.end(0)
        console.app._tick()
        assert len(drawn) == frames + 2


async def test_help_lists_every_action_that_holds_here(console: Console) -> None:
    async with console.shown(keys=("3", "question_mark")):
        for scope in ("app", "measure", "chart", "list"):
            for action in ACTIONS[scope]:
                assert action.help in console.says(".text")


async def test_the_palette_offers_the_same_actions(console: Console) -> None:
    async with console.shown() as pilot:
        await pressed(pilot, "2", "colon", *"measure")
        assert all("measure" in words.lower() for words in console.entries().values())
        assert str(console.app.screen.query_one(".dialog").border_subtitle).startswith(f"{len(console.entries())} of ")
        await pilot.press("enter")
        await until(pilot, lambda: console.app.current_mode == "measure")

        assert console.app.current_mode == "measure"


async def test_the_palette_switches_to_every_theme_at_once(
    make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console = make_console(
        found=machine(
            findings=(Finding("n", Severity.WARNING, "Node 1 is short", ("1 GiB free",), "It swaps.", "", ("node:1",)),)
        )
    )
    async with console.shown() as pilot:
        before = console.app.export_screenshot()
        await pressed(pilot, "colon", *"the light theme", "enter")
        await until(pilot, lambda: console.app.theme == "sizeup-light")
        await pilot.pause()
        assert console.app.export_screenshot() != before

        for name in ("ansi-light", "color-blind", "ansi-dark", "dark", "light"):
            offered = {command.name: command for command in console.app.commands()}
            offered[f"Draw in the {name} theme"].run()
            await pilot.pause()
            assert console.app.theme == TEXTUAL_NAMES[name]
            assert (console.app.look is ScreenLook.SIXTEEN) == name.startswith("ansi")


async def test_the_palette_offers_only_themes_that_the_terminal_can_show(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLORTERM", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "linux")
    async with console.shown():
        themes = [command.name for command in console.app.commands() if command.group == "Theme"]
        assert themes == ["Draw in the ansi-dark theme", "Draw in the ansi-light theme"]

        console.app.no_color = True
        assert not [command for command in console.app.commands() if command.group == "Theme"]


async def test_no_size_of_terminal_is_too_odd(console: Console) -> None:
    async with console.shown(20, 5) as pilot:
        await console.measure(pilot)
        for columns, rows in ((20, 5), (40, 10), (60, 20), (120, 40), (200, 60)):
            await pilot.resize_terminal(columns, rows)
            await pilot.press("question_mark", "escape", "1")
            await pilot.resize_terminal(80, 24)
            await pilot.resize_terminal(columns, rows)
            await pilot.pause()

            assert len(console.text.splitlines()) <= rows


async def test_every_key_of_the_registry_is_safe_on_every_screen(console: Console) -> None:
    keys = sorted({key for actions in ACTIONS.values() for action in actions for key in action.keys.split(",")})
    harmless = [key for key in keys if key not in ("ctrl+z", "q", "ctrl+q", "ctrl+c")]
    async with console.shown() as pilot:
        for mode, name in zip("12345", console.app.MODES, strict=True):
            for key in harmless:
                await pilot.press(mode)
                # Nothing that the last key opened is still open, and so takes this one instead.
                assert (console.app.current_mode, len(console.app.screen_stack)) == (name, 1)
                await pilot.press(key, "escape")
                if len(console.app.screen_stack) > 1:  # Esc leaves an input first, and asks whether to end a run
                    await pilot.press("escape")
        await pilot.pause()

        assert console.app.is_running


async def test_without_a_numa_kernel_cores_stand_under_their_socket(make_console: MakeConsole) -> None:
    console = make_console(machine(nodes=()))
    async with console.shown(keys="2"):
        assert list(console.parts)[:4] == ["machine", "package:0", "cache:3:0", "core:0"]


async def test_a_finding_leads_to_the_part_it_is_about(make_console: MakeConsole) -> None:
    finding = Finding("n", Severity.WARNING, "Node 1 is short", ("1 GiB free",), "It swaps.", "sysctl x", ("node:1",))
    console = make_console(machine(findings=(finding,)))
    async with console.shown() as pilot:
        assert console.entries("#findings")["n node:1"] == "WARN Node 1 is short sysctl x"
        await pressed(pilot, "tab", "enter")
        assert console.answers[0] == "part"
        assert "1 GiB free" in console.says(".text Static")
        await pressed(pilot, "enter")
        await pilot.pause()

        assert (console.mode, console.part) == ("topology", "node:1")
        assert "21 10" in console.says("#detail")  # its distances


async def test_a_finding_leads_to_its_probe_and_its_command_is_only_copied(make_console: MakeConsole) -> None:
    finding = Finding(
        "n",
        Severity.CRITICAL,
        "Node 1 is short",
        ("1 GiB free",),
        "It swaps.",
        "Free some.",
        ("node:1",),
        "free",
        "null",
    )
    console = make_console(machine(findings=(finding,)))
    async with console.shown(keys=("tab", "enter")) as pilot:
        shown, answers = console.says(".text Static"), console.answers
        await pressed(pilot, "down", "down", "enter")
        copied, arguments = console.app.clipboard, list(console.runner.arguments)
        await pressed(pilot, "enter", "down", "enter")
        await pilot.pause()
        assert (console.mode, console.entry) == ("measure", "null")

    assert all(words in shown for words in ("1 GiB free", "It swaps.", "Free some.", " free"))
    assert answers == ["part", "probe", "copy"]
    assert (copied, arguments) == ("free", [])


async def test_without_color_the_cursor_is_reversed(make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = make_console()
    async with console.shown() as pilot:
        await pilot.pause()
        (line, other) = (console.app.screen.query_one(KeyList).render_line(y) for y in (1, 2))

    assert all(segment.style is not None and segment.style.reverse for segment in line)
    assert not any(segment.style is not None and segment.style.reverse for segment in other)


async def test_a_what_if_shows_its_difference_and_takes_it_back(console: Console) -> None:
    async with console.shown(keys="4") as pilot:
        await choose_input(pilot, "machine.sockets")
        await pressed(pilot, "right")
        changed = console.entries("#answers")["license.units"]
        await pressed(pilot, "backspace")
        as_found = console.entries("#answers")["license.units"]

        assert ["+50.0 %" in changed, "12 licenses" in changed] == [True, True]
        assert ["+50" in as_found, "8 licenses" in as_found] == [False, True]


async def test_the_tornado_names_the_inputs_that_move_the_figure(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pressed(pilot, "4", "a", *"workload.cpu_percent", "enter", *"40", "enter", "v", "v")
        await pilot.pause()
        assert isinstance(console.chart, BarChart)
        assert console.chart.title.startswith("Factors: ")
        assert [bar.label.split()[0] for bar in console.chart.bars] == ["CPU", "Cores"]


@pytest.mark.parametrize(("columns", "rows", "undimmed"), [(120, 40, False), (200, 60, True)])
async def test_a_large_screen_is_not_sent_again_dimmed_behind_the_palette(
    console: Console, columns: int, rows: int, undimmed: bool
) -> None:
    async with console.shown(columns, rows, keys=("ctrl+p",)):
        assert console.app.screen.has_class("-undimmed") is undimmed


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
async def test_each_command_of_the_palette_has_one_row_and_the_frame_stays(
    console: Console, columns: int, rows: int
) -> None:
    async with console.shown(columns, rows, keys=("ctrl+p",)) as pilot:
        await pilot.pause()
        listed, frame = console.app.screen.query_one(KeyList), console.app.screen.query_one(".dialog")
        heights, places = [listed.virtual_size.height - listed.option_count], [frame.region]
        await pressed(pilot, *"note")
        places.append(frame.region)

        assert listed.option_count < 10
        assert heights == [0]
        assert places[0] == places[1]
        assert listed.region.bottom == frame.region.bottom - 1
