"""The console by keys and content, in 80 columns and 24 rows."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from textual.command import CommandList
from textual.pilot import Pilot

from consoles import Console, MakeConsole, PlayedRunner, ended, machine, records, until
from sizeup.charts.chart import BarChart, LineChart
from sizeup.errors import ExitStatus
from sizeup.model.finding import Finding, Severity
from sizeup.model.plan import Plan
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.session.reader import read_session
from sizeup.session.records import (
    EndRecord,
    EstimateRecord,
    OutcomeRecord,
    PlanRecord,
    ProgressRecord,
    Record,
    SamplesRecord,
    StepStartRecord,
)
from sizeup.session.value import point_key
from sizeup.tui.actions import ACTIONS, modes
from sizeup.tui.console import ConsoleApp
from sizeup.tui.live_source import LiveSource
from sizeup.tui.options import Options
from sizeup.tui.screens.dialogs import SettingsDialog
from sizeup.tui.screens.probe_text import INTERRUPTED
from sizeup.tui.widgets.lists import KeyList
from sizeup.tui.widgets.rows import TextRows
from sizeup.tui.widgets.table import TableView
from sizeup.tui.widgets.tree import ItemTree


async def test_the_first_screen_says_what_the_machine_is_and_what_it_needs(console: Console) -> None:
    async with console.shown() as pilot:
        entries = console.entries()

        assert len(console.text.splitlines()) == 24
        assert "2 sockets, 8 cores, 16 threads, 2.66 GHz, 128 GiB, 2 nodes" in entries["machine"]
        assert entries["io.demand.headline"].startswith("No verdict yet: no workload.")
        for part in ("db01", "no workload", *(f"{key} {label}" for key, label in modes({}))):
            assert part in console.says("#header")
        await pilot.press("2")
        await pilot.pause()

        assert {"package:0", "node:0", "cache:3:0", "core:7", "nic:eth0", "disk:sda"} <= console.parts.keys()


async def test_hardware_names_that_look_like_markup_are_shown_as_they_are(console: Console) -> None:
    async with console.shown() as pilot:
        await pilot.press("2")
        await pilot.pause()
        assert console.app.screen.query_one(ItemTree).reveal("disk:sda")
        await pilot.pause()
        await pilot.pause()

        assert "[none] [/dev/sda] \\[red]" in console.says("#detail")


async def test_a_probe_runs_by_keys_alone_and_its_chart_moves(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot, records()[:8])
        arguments = console.runner.arguments[0]
        first = console.chart
        await console.feed(pilot, records()[8:])
        chart = console.chart

        assert arguments[:3] == ["--batch", "--quiet", "--control"]
        assert arguments[-2:] == ["-o", str(console.runner.path)] or "-p" in arguments
        assert isinstance(first, LineChart)
        assert isinstance(chart, LineChart)
        assert ((chart.x.title, chart.x.unit), chart.y.unit) == (("Working set", "bytes"), "ns")
        assert [len(shown.lines[0].points) for shown in (first, chart)] == [4, 13]
        assert [boundary.x for boundary in chart.boundaries][:2] == [32 << 10, 1 << 20]
        for part in ("null", "1/1", "50%", "5 s"):
            assert part in console.status


async def test_a_run_survives_a_change_of_mode_and_is_canceled_by_a_key(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pilot.press("1")
        console.tick()
        await pilot.pause()
        assert "running null" in console.status
        await pilot.press("3", "x")

        assert console.runner.stdin.words == ["cancel"]
        assert console.runner.stdin.costs[-1].cpu_seconds > 0
        await console.end(pilot, ended(), 130)
        assert "idle, last null" in console.status


async def test_leaving_during_a_run_asks_and_can_let_it_go_on(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r", "q")
        await pilot.pause()
        assert console.answers == ["stay", "keep", "cancel"]
        await pilot.press("down", "enter")
        await pilot.pause()

    assert console.runner.stdin.words == ["keep"]
    assert console.app.return_value == ExitStatus.OK
    assert str(console.runner.path) in console.app.farewell


async def test_staying_is_what_enter_does(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r", "q", "enter")
        await pilot.pause()

        assert console.app.is_running
        assert console.runner.stdin.words == []


async def test_a_failed_run_says_why(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.end(2, f"sizeup: {console.runs.path}: cannot write the session [/tmp]\n")
        console.tick()
        await pilot.pause()

        assert console.status == " ! cannot write the session [/tmp]"


@pytest.mark.parametrize(
    ("status", "written", "told"),
    [
        (3, [*records(), *ended()], " idle, last null"),
        (3, [*records()[:2], PlanRecord(2, Plan("custom", ())),
             OutcomeRecord(3, "null.huge", Outcome(Status.REFUSED, "no free huge pages"))],
         " ! null.huge refused: no free huge pages"),
        (1, [*records(), *ended(status=Status.CRASHED)], " ! null crashed"),
        (9, [*records(), *ended()], " ! the run ended with status 9"),
    ],
)  # fmt: skip
async def test_a_run_that_falls_short_says_of_what_in_the_words_of_its_file(
    console: Console, status: int, written: list[Record], told: str
) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot, written)
        console.runner.end(status)
        console.tick()
        await pilot.pause()

        assert console.status.startswith(told)


async def test_a_step_whose_run_ended_without_a_word_was_cut_short_and_is_not_running(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        running = [console.entries()["null"], console.says("#standing")]
        console.runner.end(2, "sizeup: cannot write the session any further: No space left on device")
        console.tick()
        await pilot.pause()
        stopped = [console.entries()["null"], console.says("#standing")]

        assert ["running" in words for words in (*running, *stopped, console.status)] == [True, True, *[False] * 3]
        assert [INTERRUPTED in words for words in (*running, *stopped)] == [False, False, True, True]
        assert "65 ns at 64 MiB" in stopped[1]


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
        assert " running null" in seen
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
        (shown,) = [
            str(option.prompt)
            for option in console.app.screen.query_one(KeyList).options
            if option.id == "empty Measured"
        ]
        await console.choose(pilot, "null")
        await pilot.press("r")
        await pilot.pause()

        assert told in shown
        assert told in console.says("#about")
        assert console.runner.arguments == []


async def test_a_key_on_a_slow_line_does_not_stretch_the_time_between_frames(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = [False]
    monkeypatch.setattr(ConsoleApp, "link_busy", property(lambda self: busy[0]))
    monkeypatch.setattr(ConsoleApp, "_watch", lambda self: None)  # ticks by hand alone
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.write(records())
        for busy[0] in (False, True, True, True, False, True):  # a frame, and later the answer to a key
            console.tick()
        console.app.screen.show_run()  # type: ignore[attr-defined]
        await pilot.pause()

        assert "drawn every 3 s" in console.status


async def test_settings_are_checked_as_they_are_typed_and_reach_the_run(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("s", "end", "x")
        await pilot.pause()
        assert console.app.screen.query_one("#h-samples").has_class("-wrong")
        assert "expected a whole number" in console.says("#h-samples")
        await pilot.press("backspace", "0", "enter", "r")
        await pilot.pause()

    assert ["--set", "null.samples=1000"] in [list(pair) for pair in pairwise(console.runner.arguments[0])]


async def test_help_lists_every_action_that_holds_here(console: Console) -> None:
    async with console.shown() as pilot:
        await pilot.press("3", "question_mark")
        await pilot.pause()

        for scope in ("app", "probes", "chart", "list"):
            for action in ACTIONS[scope]:
                assert action.help in console.says("Static")


async def test_the_palette_offers_the_same_actions(console: Console) -> None:
    async with console.shown() as pilot:
        await pilot.press("colon", *"Probes")
        listed = console.app.screen.query_one(CommandList)
        await until(pilot, lambda: listed.option_count == 1 and listed.highlighted == 0)
        await pilot.press("enter", "enter")
        await until(pilot, lambda: console.app.current_mode == "probes")

        assert console.app.current_mode == "probes"


async def test_the_readout_names_the_value_under_the_cursor_with_its_unit(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pilot.press("enter", "home")
        await pilot.pause()

        assert console.point == point_key("latency", {"working_set_bytes": 16 << 10})
        assert console.readout == "16 KiB: Latency 1.02 ns"


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 20), (120, 40), (200, 60)])
async def test_no_size_of_terminal_is_too_odd(console: Console, size: tuple[int, int]) -> None:
    async with console.shown(*size) as pilot:
        await console.measure(pilot)
        await pilot.press("question_mark", "escape", "1")
        await pilot.resize_terminal(80, 24)
        await pilot.resize_terminal(*size)
        await pilot.pause()

        assert len(console.text.splitlines()) <= size[1]


async def test_every_key_of_the_registry_is_safe_on_every_screen(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    # After each key Textual's pilot watches twice for a fiftieth of a second whether the process has come to rest.
    monkeypatch.setattr("textual._wait.SLEEP_GRANULARITY", 0.002)
    monkeypatch.setattr("textual._wait.SLEEP_IDLE", 0.0002)
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
    async with console.shown() as pilot:
        await pilot.press("2")
        await pilot.pause()
        assert list(console.parts)[:4] == ["machine", "package:0", "cache:3:0", "core:0"]


async def test_a_finding_leads_to_the_part_it_is_about(make_console: MakeConsole) -> None:
    finding = Finding("n", Severity.WARNING, "Node 1 is short", ("1 GiB free",), "It swaps.", "sysctl x", ("node:1",))
    console = make_console(machine(findings=(finding,)))
    async with console.shown() as pilot:
        assert console.entries()["n node:1"] == "! warning Node 1 is short"
        await pilot.press("down", "enter")
        await pilot.pause()
        assert console.answers[0] == "part"
        assert "1 GiB free" in console.says(".text Static")
        await pilot.press("enter")
        await pilot.pause()
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
    async with console.shown() as pilot:
        await pilot.press("down", "enter")
        await pilot.pause()
        shown, answers = console.says(".text Static"), console.answers
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        copied, arguments = console.app.clipboard, list(console.runner.arguments)
        await pilot.press("enter", "down", "enter")
        await pilot.pause()
        await pilot.pause()
        assert (console.mode, console.entry) == ("probes", "null")

    assert all(words in shown for words in ("1 GiB free", "It swaps.", "Free some.", " free"))
    assert answers == ["part", "probe", "copy"]
    assert (copied, arguments) == ("free", [])


async def test_without_color_the_cursor_is_reversed(make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = make_console()
    async with console.shown() as pilot:
        await pilot.pause()
        (line, other) = (console.app.screen.query_one(KeyList).render_line(y) for y in (0, 2))

    assert all(segment.style is not None and segment.style.reverse for segment in line)
    assert not any(segment.style is not None and segment.style.reverse for segment in other)


async def test_r_on_the_overview_runs_the_quick_plan_and_stays(console: Console) -> None:
    async with console.shown() as pilot:
        before = console.entries()
        await pilot.press("r")
        await console.feed(pilot, records("memory.latency"))
        (measured,) = [words for name, words in console.entries().items() if name.startswith("memory.latency")]

        assert console.mode == "overview"
        assert "-p" not in console.runner.arguments[0]
        assert measured not in before.values()
        assert "65 ns at 64 MiB" in measured


async def test_a_what_if_shows_its_difference_and_takes_it_back(console: Console) -> None:
    async with console.shown() as pilot:
        await pilot.press("4", "right")
        await pilot.pause()
        changed = console.entries("#answers")["license.units"]
        await pilot.press("backspace")
        await pilot.pause()
        as_found = console.entries("#answers")["license.units"]

        assert ["+50.0%" in changed, ": 12 licenses" in changed] == [True, True]
        assert ["%" in as_found, ": 8 licenses" in as_found] == [False, True]


async def test_an_input_takes_units_and_says_what_is_wrong_with_a_value(console: Console) -> None:
    async with console.shown(200, 40) as pilot:
        await pilot.press("4", "down", "down", "enter", "ctrl+u", *"3.2GHz", "enter")
        await pilot.pause()
        assert "per license: 3.2 GHz" in console.entries("#answers")["value.ghz-per-license"]
        await pilot.press("enter", "ctrl+u", *"fast", "enter")
        await pilot.pause()
        assert "expected a number of GHz" in console.says("#input-help")
        await pilot.press("escape")
        assert console.app.focused is not None
        assert console.app.focused.id == "inputs"


async def test_the_tornado_names_the_inputs_that_move_the_figure(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "a", *"workload.cpu_percent", "enter", *"40", "enter", "t")
        await pilot.pause()
        await pilot.pause()
        assert isinstance(console.chart, BarChart)
        assert console.chart.title.startswith("Factors: ")
        assert [bar.label.split()[0] for bar in console.chart.bars] == ["workload.cpu_percent", "machine.cores"]


def _store(folder: Path, *names: str) -> list[Path]:
    paths = [folder / "sizeup" / "sessions" / f"{name}.sizeup.jsonl" for name in names]
    paths[0].parent.mkdir(parents=True)
    for number, path in enumerate(paths):
        runner = PlayedRunner(path)
        lines = [*records(), *ended()]
        runner.write([msgspec.structs.replace(lines[0], id=path.stem, started=f"2026-01-0{number + 1}"), *lines[1:]])
    return paths


async def test_sessions_are_listed_opened_and_left_again(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    _store(tmp_path, "old", "new")
    async with console.shown() as pilot:
        await pilot.press("5")
        await pilot.pause()
        assert [Path(path).name for path in console.entries()] == ["new.sizeup.jsonl", "old.sizeup.jsonl"]
        await pilot.press("enter")
        await until(pilot, lambda: console.app.runs is not console.runs)
        assert Path(console.app.runs.path).name == "new.sizeup.jsonl"
        assert console.mode == "overview"
        await pilot.press("5", "u")
        await pilot.pause()
        assert console.app.runs is console.runs


async def test_an_unfinished_session_is_spoken_of_and_resumed(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    _store(tmp_path, "whole")
    path = tmp_path / "sizeup" / "sessions" / "cut.sizeup.jsonl"
    header, *lines = records()
    PlayedRunner(path).write([msgspec.structs.replace(header, host=os.uname().nodename), *lines])
    async with console.shown() as pilot:
        await pilot.pause()
        # The pilot shows no notifications, but they are kept.
        assert [note.message.partition(" of ")[0] for note in console.app._notifications] == ["Unfinished session"]
        await pilot.press("5", "down", "R")
        await pilot.pause()
        whole = list(console.runner.arguments)
        await pilot.press("up", "R")
        await pilot.pause()

        assert whole == []
        assert console.runner.arguments == []
        assert "1 step, about 10 s" in console.says(".text Static")
        await pilot.press("down", "enter")
        await pilot.pause()
        assert console.runner.arguments == [["--batch", "--quiet", "--control", "--resume", str(path)]]
        assert console.runs.path == str(path)
        assert console.app.current_mode == "overview"


async def test_a_note_and_a_baseline_are_written_into_the_session(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (path,) = _store(tmp_path, "one")
    async with console.shown() as pilot:
        await pilot.press("5", "n")
        await pilot.pause()
        await pilot.press(*"quiet", "enter", "m")
        await pilot.pause()
        assert "#baseline" in console.entries()[str(path)]

    session = read_session(str(path))
    assert [note.text for note in session.notes] == ["quiet", ""]
    assert session.tags == ("baseline",)


async def test_a_session_is_compared_with_the_baseline_in_words_and_picture(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    _store(tmp_path, "old", "new")
    async with console.shown(120, 40) as pilot:
        await pilot.press("5", "down", "m", "up", "c")
        await pilot.pause()
        await pilot.pause()
        assert console.app.screen.has_class("-compared")
        assert isinstance(console.chart, LineChart)
        assert len(console.chart.lines) == 2


async def test_words_narrow_the_list_and_escape_brings_it_back(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    _store(tmp_path, "old", "new")
    async with console.shown() as pilot:
        await pilot.press("5", "slash", *"old")
        await pilot.pause()
        found = [Path(path).name for path in console.entries()]
        await pilot.press("escape")
        await pilot.pause()

        assert found == ["old.sizeup.jsonl"]
        assert len(console.entries()) == 2


async def test_a_session_that_goes_away_is_said_to_be_gone(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    paths = _store(tmp_path, "old", "new")
    async with console.shown() as pilot:
        await pilot.press("5")
        await pilot.pause()
        paths[0].unlink()
        await pilot.press("down")
        await pilot.pause()
        assert "! expected a session file, but there is no such file" in console.says("#detail")


def _written(folder: Path, ending: str) -> str:
    return "".join(path.read_text() for path in folder.glob(f"sizeup-overview-*.{ending}"))


async def test_the_screen_is_kept_as_text_and_as_a_picture(console: Console, tmp_path: Path) -> None:
    async with console.shown() as pilot:
        await pilot.press("y", "P")
        await pilot.pause()

    text, picture = (_written(tmp_path, ending) for ending in ("txt", "svg"))
    assert "2 sockets, 8 cores" in text
    assert picture.startswith("<svg")
    assert "url(" not in picture.replace("url(#", "")


async def test_in_ascii_the_text_is_kept_as_it_was_seen(make_console: MakeConsole, tmp_path: Path) -> None:
    console = make_console(options=Options(ascii=True))
    async with console.shown() as pilot:
        await pilot.press("y")
        await pilot.pause()

    assert "2 sockets, 8 cores" in _written(tmp_path, "txt")
    assert _written(tmp_path, "txt").isascii()


@pytest.mark.parametrize("folder", ["removed", "/proc"])
async def test_a_folder_that_takes_no_file_is_said_in_words(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    place = tmp_path / folder
    place.mkdir(exist_ok=True)
    monkeypatch.chdir(place)
    if folder == "removed":
        place.rmdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    _store(tmp_path, "one")
    async with console.shown() as pilot:
        await pilot.press("y", "P", "5", "e")
        await pilot.pause()
        if folder == "/proc":  # which cannot be told beforehand to take no file
            await pilot.press("enter")
        await console.app.workers.wait_for_complete()

        refusals = [words for words in console.told if not words.startswith("Writing ")]  # said where it takes long
        assert len(refusals) == 3
        for words in refusals:
            assert re.search("current folder has gone|cannot be written to|cannot write", words)
            assert " -o" not in words
    assert _written(tmp_path, "*") == ""


async def test_readonly_writes_nothing(make_console: MakeConsole, tmp_path: Path) -> None:
    console = make_console(options=Options(readonly=True))
    async with console.shown() as pilot:
        await pilot.press("y", "P")
        await pilot.pause()

    assert _written(tmp_path, "*") == ""


async def test_zoom_gives_the_chart_the_screen_and_escape_gives_it_back_before_it_cancels(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pilot.press("z")
        await pilot.pause()
        screen = console.app.screen
        zoomed = [screen.query_one(name).region.height for name in ("#chart", "#status", "#probes")]
        await pilot.press("right")
        await pilot.pause()
        assert console.point == point_key("latency", {"working_set_bytes": 16 << 10})
        await pilot.press("escape")
        await pilot.pause()

        assert zoomed == [23, 1, 0]
        assert screen.query_one("#probes").region.height > 0
        assert console.runner.stdin.words == []
        await pilot.press("escape")
        assert console.runner.stdin.words == ["cancel"]


def _rows(table: TableView) -> list[str]:
    """The rows of a table that are in sight, without how many there are."""
    return ["".join(row).strip() for row in table.drawing.rows][:-1]


async def test_the_points_stand_in_a_table_that_scrolls(console: Console) -> None:
    async with console.shown(120, 16) as pilot:
        disturbed = Estimate(
            "latency", {"working_set_bytes": 1 << 14}, 2.0, 1.0, 3.0, replicates=7, disturbed_share=0.6, converged=False
        )
        await console.measure(pilot, [*records(), EstimateRecord(101, "null", disturbed)])
        await pilot.press("t", "enter")
        await pilot.pause()
        table = console.app.screen.query_one(TableView)
        first, top = table._table.rows[0], _rows(table)
        await pilot.press("G")
        await pilot.pause()

        assert first[:4] == ("16 KiB", "2 ns", "1 ns to 3 ns", "7")
        assert "60%" in first[4]
        assert [rows[-1].startswith("64 MiB") for rows in (top, _rows(table))] == [False, True]
        await pilot.press("v")
        await pilot.pause()
        assert (table.display, console.chart is None) == (False, False)


async def test_a_reason_too_long_for_a_line_is_folded_once_the_step_is_over(console: Console) -> None:
    reason = "the file system of /var/lib/database went away after 12 s: input/output error; look at dmesg"
    async with console.shown(80, 24) as pilot:
        failed = OutcomeRecord(200, "null", Outcome(Status.FAILED, reason))
        await console.measure(pilot, [*records(), failed, EndRecord(201, "complete")])
        await pilot.pause()

        rows = console.app.screen.query_one(TextRows).drawing.rows
        assert reason in " ".join("".join(row).strip() for row in rows)


async def test_the_next_picture_is_shown_and_the_one_before_again(console: Console) -> None:
    async with console.shown() as pilot:
        await _with_samples(console, pilot)
        places, charts = [console.says("#standing")], [console.chart]
        for keys in ("vv", "V"):
            await pilot.press(*keys)
            await pilot.pause()
            places.append(console.says("#standing"))
            charts.append(console.chart)

        assert [words.partition("view ")[2][:3] for words in places] == ["1/4", "3/4", "2/4"]
        assert "3 samples, ! 1 disturbed" in places[0]
        assert [type(chart).__name__ for chart in charts] == ["LineChart", "BarChart", "LineChart"]
        assert [chart.x.title for chart in charts if isinstance(chart, LineChart)] == [
            "Working set",
            "Time since the step began",
        ]


async def test_a_probe_that_waits_says_so_and_is_taken_back(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await console.choose(pilot, "clock.cost")
        await pilot.press("r")
        await pilot.pause()
        assert "queued" in console.entries()["clock.cost"]
        assert "1 queued" in console.status
        await pilot.press("x")
        await pilot.pause()

        assert console.runs.queue == []
        assert console.runs.running
        assert console.runner.stdin.words == []


async def _with_samples(console: Console, pilot: Pilot[int]) -> None:
    """A running step of 13 figures, of which that at 16 KiB has three samples."""
    at = {"working_set_bytes": 1 << 14}
    samples = SamplesRecord("null", "latency", at, (110, 120, 130), (1.0, 2.0, 3.0), (0, 1, 0))
    await console.measure(pilot, [*records(), samples])


async def test_a_chosen_point_leads_to_its_samples_and_escape_leads_back_to_it(console: Console) -> None:
    async with console.shown() as pilot:
        await _with_samples(console, pilot)
        await pilot.press("enter", "home")
        await pilot.pause()
        point, chosen, readout, keys = console.point, console.chart, console.readout, console.keys
        charts = []
        for key in ("enter", "v"):
            await pilot.press(key)
            await pilot.pause()
            charts.append((type(console.chart).__name__, "view 1/3" in console.says("#standing")))
        await pilot.press("escape")
        await pilot.pause()

        assert point == point_key("latency", {"working_set_bytes": 16 << 10})
        assert "Enter" in readout
        assert keys[0] == "Samples"
        assert charts == [("BarChart", True), ("LineChart", False)]
        assert (console.chart, console.point) == (chosen, point)
        assert console.runner.stdin.words == []


async def test_a_figure_without_samples_says_so_and_stays(console: Console) -> None:
    async with console.shown() as pilot:
        await _with_samples(console, pilot)
        await pilot.press("enter", "enter", "enter")
        await pilot.pause()

        assert [note.message for note in console.app._notifications] == ["no samples were recorded for this point"]
        assert console.point == point_key("latency", {"working_set_bytes": 64 << 20})
        assert console.readout == "64 MiB: Latency 65 ns"


async def test_the_last_line_has_the_keys_that_do_something_in_80_columns(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        before = console.keys, console.text.splitlines()[-1]
        await console.measure(pilot)
        during = console.keys, console.text.splitlines()[-1]
        await console.end(pilot, ended())
        after = console.keys, console.text.splitlines()[-1]

    assert before[0] == ["Run", "Plan", "Settings"]
    assert during[0] == ["Settings", "Pause", "Cancel", "View", "Table", "Zoom"]
    assert after[0] == ["Run", "Plan", "Settings", "View", "Table", "Zoom"]
    assert all(label in line for keys, line in (before, during, after) for label in (*keys, "Help", "Quit"))


async def test_a_run_that_has_no_sample_yet_says_so(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        await pilot.pause()
        starting = console.says("#about")
        begun = [*records()[:4], ProgressRecord(5, "null", 0.0, 5.0, "filling the file")]
        await console.feed(pilot, begun)

        assert "no samples yet" in starting
        assert all(words in console.says("#standing") for words in ("no samples yet", "filling the file"))


async def test_every_step_of_a_probe_can_be_looked_at(console: Console) -> None:
    async with console.shown() as pilot:
        start, *figures = records()[3:]
        assert isinstance(start, StepStartRecord)
        step = msgspec.structs.replace(start.step, id="null.second", title="Second")
        again = [msgspec.structs.replace(figure, step=step.id) for figure in figures[:1]]
        await console.measure(pilot, [*records(), msgspec.structs.replace(start, step=step), *again])
        assert "step 2/2" in console.says("#standing")
        await pilot.press("n")
        await pilot.pause()
        assert "step 1/2" in console.says("#standing")


async def test_a_refused_wish_says_why_where_the_probe_stands(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot, [])
        refused = OutcomeRecord(5, "null", Outcome(Status.REFUSED, "no room on /data"))
        await console.end(pilot, [*records()[:3], refused, EndRecord(6, "complete")], 3)

        assert "! refused: no room on /data" in console.says("#about")


async def test_before_a_file_is_written_its_mount_size_and_time_are_told(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        console.app.screen._typed["io.direct"] = {"path": str(tmp_path), "size": "256MiB"}  # type: ignore[attr-defined]
        await pilot.press("r")
        await pilot.pause()
        asked, answers = console.says(".facts"), console.answers
        await pilot.press("enter")
        await pilot.pause()

    assert answers == ["no", "yes"]
    assert str(tmp_path) in asked.replace(" ", "")  # a long path is folded
    assert re.search(r"Mounted /.* on .*[kMGT]?B free", asked)
    assert re.search(r"Space 256MiB, .* Takes about \d+ min", asked)
    assert console.runner.arguments == []


async def test_a_probe_without_its_target_is_not_asked_about_but_given_its_form(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "io.direct")
        await pilot.press("r")
        await pilot.pause()

        assert isinstance(console.app.screen, SettingsDialog)
        assert "no target" in console.says(".why")
        assert console.app.focused is not None
        assert console.app.focused.id == "p-path"


async def test_a_pause_is_called_one_once_the_step_is_over(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pilot.press("space")
        await pilot.pause()
        during = console.status
        await console.feed(pilot, ended()[:1])

        assert during.startswith(" pausing null ")
        assert console.status.startswith(" paused null ")


async def test_a_run_that_starts_does_not_show_the_step_of_the_one_before(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.write([*records(), *ended()])
        console.runner.end()
        console.tick()
        await pilot.press("r")
        console.tick()
        await pilot.pause()
        starting = console.status
        await console.feed(pilot, records()[2:])

        assert starting.startswith(" running, starting")
        assert console.status.startswith(" running null ")
