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

from consoles import Console, MakeConsole, PlayedRunner, ended, machine, records, until, within
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
from sizeup.tui.actions import ACTIONS
from sizeup.tui.console import ConsoleApp
from sizeup.tui.live_source import LiveSource
from sizeup.tui.options import Options
from sizeup.tui.widgets.lists import KeyList


async def test_the_first_screen_says_what_the_machine_is_and_what_it_needs(console: Console) -> None:
    async with console.shown() as pilot:
        lines = console.text.splitlines()
        await pilot.press("2")
        await pilot.pause()

        assert len(lines) == 24
        assert "nothing wrong was found" in "\n".join(lines)
        assert lines[0] == " 1 Overview  2 Topology  3 Probes  4 Sizing  5 Sessions   db01  demand 266 MB/s"
        assert "2 sockets, 8 cores, 16 threads, 2.66 GHz, 128 GiB, 2 nodes" in lines[2]
        assert "Socket 0: 4 cores" in console.text
        assert "Node 0: 4 cores, 64 GiB" in console.text
        assert "eth0: physical, 10 Gbit/s, up" in console.text


async def test_hardware_names_that_look_like_markup_are_shown_as_they_are(console: Console) -> None:
    async with console.shown() as pilot:
        await pilot.press("2")
        await pilot.pause()
        assert console.app.screen.query_one("#tree").reveal("disk:sda")  # type: ignore[attr-defined]
        await pilot.pause()
        await pilot.pause()

        assert "[none] [/dev/sda] \\[red]" in console.text


async def test_a_probe_runs_by_keys_alone_and_its_chart_moves(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot, records()[:8])
        arguments = console.runner.arguments[0]
        first = console.text
        await console.feed(pilot, records()[8:])

        assert arguments[:3] == ["--batch", "--quiet", "--control"]
        assert arguments[-2:] == ["-o", str(console.runner.path)] or "-p" in arguments
        assert "Latency (ns)" in first
        assert "Working set" in first
        assert console.text != first
        assert "L1 32 KiB" in console.text
        assert "running null step 1/1" in console.text
        assert "50%, 5 s left" in console.text


async def test_a_run_survives_a_change_of_mode_and_is_canceled_by_a_key(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pilot.press("1")
        console.tick()
        await pilot.pause()
        assert "running null step 1/1" in console.text
        await pilot.press("3", "x")

        assert console.runner.stdin.words == ["cancel"]
        assert console.runner.stdin.costs[-1].cpu_seconds > 0
        await console.end(pilot, ended(), 130)
        assert "idle, last null" in console.text


async def test_leaving_during_a_run_asks_and_can_let_it_go_on(console: Console) -> None:
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

        assert " ! cannot write the session [/tmp]" in console.text


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

        assert told in console.text


async def test_a_step_whose_run_ended_without_a_word_was_cut_short_and_is_not_running(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        running = console.text
        console.runner.end(2, "sizeup: cannot write the session any further: No space left on device")
        console.tick()
        await pilot.pause()

        assert "│  running " in running
        assert "│ running, 5 s left" in running
        assert "│  ! interrupted " in console.text
        assert "│ ! interrupted, 65 ns at 64 MiB" in console.text
        assert "running" not in console.text


@pytest.mark.parametrize("size", [(20, 5), (39, 24), (80, 7)])
async def test_a_screen_too_small_for_a_mode_says_so_and_how_the_run_stands(
    console: Console, size: tuple[int, int]
) -> None:
    async with console.shown(*size) as pilot:
        await console.measure(pilot)
        small = console.text
        await pilot.resize_terminal(40, 8)
        await pilot.pause()

        assert "Too small a screen:\nneeds 40 x 8" in small
        assert " running null" in small
        assert "Too small" not in console.text
        assert "╭─" in console.text


LIVING = LiveSource(lambda told: lambda: None, machine, lambda found: found, dict)


@pytest.mark.parametrize(
    ("options", "living", "told"),
    [
        (Options(readonly=True), LIVING, "sizeup was started read-only"),
        (Options(), LIVING, "no session can be kept"),
        (Options(), None, "a recording is shown, not the machine itself"),
    ],
)
async def test_where_nothing_can_be_measured_the_reason_is_the_one_that_holds(
    make_console: MakeConsole, options: Options, living: LiveSource | None, told: str
) -> None:
    console = make_console(options=options, living=living)
    console.app.measures = False
    console.runs.problem = "" if options.readonly or not living else "no session can be kept"
    async with console.shown(120, 40) as pilot:
        shown = console.text
        await console.choose(pilot, "null")
        await pilot.press("r")
        await pilot.pause()

        assert told in shown
        assert told in console.text
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

        assert "slow link, drawn every 3 s" in console.text


async def test_settings_are_checked_as_they_are_typed_and_reach_the_run(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("s", "end", "x")
        await pilot.pause()
        assert "! samples: expected a whole number" in console.text
        await pilot.press("backspace", "0", "enter", "r")
        await pilot.pause()

    assert ["--set", "null.samples=1000"] in [list(pair) for pair in pairwise(console.runner.arguments[0])]


async def test_help_lists_every_action_that_holds_here(console: Console) -> None:
    async with console.shown(100, 60) as pilot:
        await pilot.press("3", "question_mark")
        await pilot.pause()

        for scope in ("app", "probes", "chart", "list"):
            for action in ACTIONS[scope]:
                assert action.help in console.text


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

        assert "16 KiB: Latency 1.02 ns" in console.text


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
        assert "L3 32 MiB shared by 4 cores" in console.text


async def test_a_finding_leads_to_the_part_it_is_about(make_console: MakeConsole) -> None:
    finding = Finding("n", Severity.WARNING, "Node 1 is short", ("1 GiB free",), "It swaps.", "sysctl x", ("node:1",))
    console = make_console(machine(findings=(finding,)))
    async with console.shown() as pilot:
        assert "! warning Node 1 is short" in " ".join(console.text.split())
        await pilot.press("down", "enter")
        await pilot.pause()
        assert "Show the part of the machine" in console.text
        assert "1 GiB free" in console.text
        await pilot.press("enter")
        await pilot.pause()
        await pilot.pause()

        assert console.app.current_mode == "topology"
        assert "Node 1: 4 cores" in console.text
        assert "10 21" in console.text or "21 10" in console.text


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
        shown = console.text
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        copied, arguments = console.app.clipboard, list(console.runner.arguments)
        await pilot.press("enter", "down", "enter")
        await pilot.pause()
        await pilot.pause()
        assert console.app.current_mode == "probes"
        assert "Measures nothing" in console.text

    assert all(words in shown for words in ("1 GiB free", "It swaps.", "Free some.", "  free", "the probe null"))
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
        assert "Nothing yet: press r to measure" in " ".join(console.text.split())
        await pilot.press("r")
        await console.feed(pilot, records("memory.latency"))

        assert console.app.current_mode == "overview"
        assert "-p" not in console.runner.arguments[0]
        assert "Memory latency: 65 ns at 64 MiB" in console.text


async def test_a_what_if_shows_its_difference_and_takes_it_back(console: Console) -> None:
    async with console.shown() as pilot:
        await pilot.press("4", "right")
        await pilot.pause()
        assert "+50.0%  I/O demand: about 399 MB/s" in console.text
        await pilot.press("backspace")
        await pilot.pause()
        assert "I/O demand: about 266 MB/s" in console.text
        assert "+50.0%" not in console.text


async def test_an_input_takes_units_and_says_what_is_wrong_with_a_value(console: Console) -> None:
    async with console.shown(200, 40) as pilot:
        await pilot.press("4", "down", "down", "enter", "ctrl+u", *"3.2GHz", "enter")
        await pilot.pause()
        assert "320 MB/s for 8 cores at 3.2 GHz" in console.text
        await pilot.press("enter", "ctrl+u", *"fast", "enter")
        await pilot.pause()
        assert "expected a number of GHz" in " ".join(console.text.split())
        await pilot.press("escape")
        assert console.app.focused is not None
        assert console.app.focused.id == "inputs"


async def test_the_tornado_names_the_inputs_that_move_the_figure(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "t")
        await pilot.pause()
        assert "What moves: I/O demand" in console.text
        assert "machine.ghz" in console.text


async def test_a_published_case_stands_beside_this_machine(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "b")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        await pilot.pause()
        assert "This machine beside" in console.text


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
        assert "times in UTC" in console.text
        assert "2026-01-02  db01" in console.text
        await pilot.press("enter")
        await pilot.pause()
        for _ in range(50):
            if "saved session" in console.text:
                break
            await pilot.pause(0.05)
        assert "saved session" in console.text
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
        assert "Run what this session is missing? 1 step, about 10 s" in " ".join(console.text.split())
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
        assert "#baseline" in console.text

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
        assert "Verdict" in console.text
        assert "● first  ▲ base" in console.text


async def test_words_narrow_the_list_and_escape_brings_it_back(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    _store(tmp_path, "old", "new")
    async with console.shown() as pilot:
        await pilot.press("5", "slash", *"old")
        await pilot.pause()
        assert "2026-01-02" not in console.text
        await pilot.press("escape")
        await pilot.pause()
        assert "2026-01-02" in console.text


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
        assert "! " in console.text
        assert "expectedasessionfile,foundnothing" in within(console.app, "#detail")  # a long path is folded


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

        assert len(console.told) == 3
        for words in console.told:
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
        lines = console.text.splitlines()
        assert "memory.latency" not in console.text
        assert lines[0].startswith("Memory latency")
        assert "5 s left" in lines[-1]
        await pilot.press("right")
        await pilot.pause()
        assert "16 KiB: Latency 1.02 ns" in console.text
        await pilot.press("escape")
        await pilot.pause()
        assert "memory.latency" in console.text
        assert console.runner.stdin.words == []
        await pilot.press("escape")
        assert console.runner.stdin.words == ["cancel"]


async def test_the_points_stand_in_a_table_that_scrolls(console: Console) -> None:
    async with console.shown(120, 16) as pilot:
        disturbed = Estimate(
            "latency", {"working_set_bytes": 1 << 14}, 2.0, 1.0, 3.0, replicates=7, disturbed_share=0.6, converged=False
        )
        await console.measure(pilot, [*records(), EstimateRecord(101, "null", disturbed)])
        await pilot.press("t", "enter")
        await pilot.pause()
        top = " ".join(console.text.split())
        await pilot.press("G")
        await pilot.pause()

        assert "Where Value 95 % CI n Caveats" in top
        assert "16 KiB 2 ns 1 ns to 3 ns 7 did not converge; 60%" in top
        assert "64 MiB 65 ns" in " ".join(console.text.split())
        await pilot.press("v")
        await pilot.pause()
        assert "95 % CI" not in console.text


async def test_a_reason_too_long_for_a_line_is_folded_once_the_step_is_over(console: Console) -> None:
    reason = "the file system of /var/lib/database went away after 12 s: input/output error; look at dmesg"
    async with console.shown(80, 24) as pilot:
        failed = OutcomeRecord(200, "null", Outcome(Status.FAILED, reason))
        await console.measure(pilot, [*records(), failed, EndRecord(201, "complete")])
        await pilot.pause()

        rows = [line.split("││")[-1].strip(" │") for line in console.text.splitlines()]
        assert f"! failed, 65 ns at 64 MiB, not valid: {reason}" in " ".join(rows)


async def test_the_next_picture_is_shown_and_the_one_before_again(console: Console) -> None:
    async with console.shown() as pilot:
        await _with_samples(console, pilot)
        assert "view 1/4: 3 samples, ! 1 disturbed" in console.text
        await pilot.press("v", "v")
        await pilot.pause()
        assert "view 3/4" in console.text
        assert "At 16 KiB: 3 samples, ! 1 of them disturbed" in console.text
        await pilot.press("V")
        await pilot.pause()
        assert "Time since the step began" in console.text


async def test_a_probe_that_waits_says_so_and_is_taken_back(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await console.choose(pilot, "clock.cost")
        await pilot.press("r")
        await pilot.pause()
        assert "queued" in console.text.splitlines()[3]
        assert ", 1 queued" in console.text
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
        chosen = console.text
        await pilot.press("enter")
        await pilot.pause()
        histogram = console.text
        await pilot.press("v")
        await pilot.pause()
        shares = console.text
        await pilot.press("escape")
        await pilot.pause()

        assert "16 KiB: Latency 1.02 ns" in chosen
        assert "Enter: samples" in chosen
        assert chosen.splitlines()[-1].startswith(" Enter Samples")
        assert "At 16 KiB: 3 samples, ! 1 of them disturbed" in histogram
        assert "behind one point, view 1/3" in histogram
        assert "Samples at or below" in shares
        assert "16 KiB: Latency 1.02 ns" in console.text
        assert console.runner.stdin.words == []


async def test_a_figure_without_samples_says_so_and_stays(console: Console) -> None:
    async with console.shown() as pilot:
        await _with_samples(console, pilot)
        await pilot.press("enter", "enter", "enter")
        await pilot.pause()

        assert [note.message for note in console.app._notifications] == ["the probe kept no samples of this figure"]
        assert "64 MiB: Latency 65 ns" in console.text
        assert "Enter: samples" not in console.text


async def test_the_last_line_has_the_keys_that_do_something_in_80_columns(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        before = console.text.splitlines()[-1]
        await console.measure(pilot)
        during = console.text.splitlines()[-1]
        await console.end(pilot, ended())
        after = console.text.splitlines()[-1]

    def told(line: str) -> str:
        return " ".join(line.split())

    assert told(before) == "r Run p Plan s Settings ? Help q Quit"
    assert told(during) == "s Settings Space Pause x Cancel v View t Table z Zoom ? Help q Quit"
    assert told(after) == "r Run p Plan s Settings v View t Table z Zoom ? Help q Quit"


async def test_a_run_that_has_no_sample_yet_says_so(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        await pilot.pause()
        starting = console.text
        begun = [*records()[:4], ProgressRecord(5, "null", 0.0, 5.0, "filling the file")]
        await console.feed(pilot, begun)

        assert "Starting: no samples yet." in starting
        assert "no samples yet" in console.text
        assert "no samples yet: filling the file" in console.text


async def test_every_step_of_a_probe_can_be_looked_at(console: Console) -> None:
    async with console.shown() as pilot:
        start, *figures = records()[3:]
        assert isinstance(start, StepStartRecord)
        step = msgspec.structs.replace(start.step, id="null.second", title="Second")
        again = [msgspec.structs.replace(figure, step=step.id) for figure in figures[:1]]
        await console.measure(pilot, [*records(), msgspec.structs.replace(start, step=step), *again])
        assert "step 2/2: no samples" in console.text
        await pilot.press("n")
        await pilot.pause()
        assert "step 1/2: no samples yet" in console.text


async def test_a_refused_wish_says_why_where_the_probe_stands(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot, [])
        refused = OutcomeRecord(5, "null", Outcome(Status.REFUSED, "no room on /data"))
        await console.end(pilot, [*records()[:3], refused, EndRecord(6, "complete")], 3)

        assert "! refused: no room on /data" in console.text


async def test_before_a_file_is_written_its_mount_size_and_time_are_told(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        console.app.screen._typed["io.direct"] = {"path": str(tmp_path), "size": "256MiB"}  # type: ignore[attr-defined]
        await pilot.press("r")
        await pilot.pause()
        asked = within(console.app, ".dialog")  # a long path is folded
        await pilot.press("enter")
        await pilot.pause()

    assert f"Target{tmp_path}" in asked
    assert "afolder:afileismadeinit" in asked
    assert re.search(r"Mounted/.*,\w+on\S+,[\d.]+[kMGT]?Bfree", asked)
    assert "Space256MiB,removedaftertherun" in asked
    assert "Takesabout" in asked
    assert console.runner.arguments == []


async def test_a_probe_without_its_target_is_not_asked_about_but_given_its_form(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "io.direct")
        await pilot.press("r")
        await pilot.pause()

        assert "Settings of io.direct" in console.text
        assert "! no target: give path=" in console.text
        assert "path: directory (a temporary file is created" in console.text
        assert "It may write." not in console.text


async def test_a_pause_is_called_one_once_the_step_is_over(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pilot.press("space")
        await pilot.pause()
        during = console.text.splitlines()[-2]
        await console.feed(pilot, ended()[:1])

        assert during.startswith(" pausing null step 1/1")
        assert console.text.splitlines()[-2].startswith(" paused null step 1/1")


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
        starting = console.text.splitlines()[-2]
        await console.feed(pilot, records()[2:])

        assert starting.startswith(" running, starting")
        assert console.text.splitlines()[-2].startswith(" running null step 1/1")
