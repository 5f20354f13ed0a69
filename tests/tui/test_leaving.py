"""What the console says when it is left: where the session is, and which inputs are in none."""

import shlex
from pathlib import Path

import pytest

from consoles import Console, ended, pressed
from sizeup.tui.screens.measure import MeasureScreen
from sizeup.tui.widgets.lists import KeyList
from tui.sizing_inputs import CPU_DEMAND, MEASURED
from tui.stored_sessions import stored


async def test_quitting_says_where_the_session_is(console: Console) -> None:
    async with console.shown() as pilot:
        await pilot.press("r", "enter")
        await console.feed(pilot, MEASURED)
        await console.end(pilot, ended("io.direct.scan"))
        await pilot.press("q")

    assert console.app.exit_message == (
        f"Session saved in {console.runner.path}\nOpen it with: sizeup {console.runner.path}"
    )


async def test_quitting_says_that_typed_inputs_are_not_saved_and_how_to_repeat_them(console: Console) -> None:
    console.app.stated = CPU_DEMAND
    async with console.shown(keys="q") as pilot:
        asked = console.says(".text Static")
        running = console.app.is_running
        await pilot.press("down", "enter")

    assert "Inputs entered in the console are not saved: CPU utilization." in " ".join(asked.split())
    assert running
    assert console.app.exit_message == (
        "Inputs entered in the console are not saved. Repeat them with: sizeup size --set workload.cpu_percent=97%"
    )


async def test_quitting_after_a_run_names_the_session_that_typed_inputs_belong_to(console: Console) -> None:
    async with console.shown() as pilot:
        await pilot.press("r", "enter")
        await console.feed(pilot, MEASURED)
        await console.end(pilot, ended("io.direct.scan"))
        console.app.stated = CPU_DEMAND
        await pressed(pilot, "q")
        await pilot.press("down", "enter")

    path = console.runner.path
    assert console.app.exit_message.splitlines()[-1] == (
        "Inputs entered in the console are not saved. Repeat them with: "
        f"sizeup size --machine {shlex.quote(str(path))} --set workload.cpu_percent=97%"
    )


@pytest.mark.parametrize(
    ("answer", "saved", "message"),
    [
        ("Save the inputs, quit, and keep the run going", True, "The run continues"),
        ("Lose the inputs, cancel the run, and quit", False, "Canceled."),
    ],
)
async def test_a_run_and_unsaved_inputs_are_asked_about_in_one_dialog(
    console: Console, monkeypatch: pytest.MonkeyPatch, answer: str, saved: bool, message: str
) -> None:
    saves: list[str] = []

    async def save_inputs(path: str = "") -> bool:
        saves.append(path)
        console.app.stated = {}
        return True

    monkeypatch.setattr(console.app, "save_inputs", save_inputs)
    async with console.shown() as pilot:
        await pilot.press("r", "enter")
        await console.feed(pilot, MEASURED)
        console.app.stated = CPU_DEMAND
        await pressed(pilot, "q")
        asked = console.says(".text Static")
        offered = [str(option.prompt) for option in console.app.screen.query_one(KeyList).options]
        await pressed(pilot, *["down"] * offered.index(answer), "enter")

    assert asked.startswith("A run is in progress.")
    assert "CPU utilization" in asked
    assert bool(saves) is saved
    assert console.app.exit_message.startswith(message)


async def test_an_interrupted_run_says_how_to_measure_what_is_missing(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pressed(pilot, "ctrl+c", "ctrl+c")

    path = console.runner.path
    assert console.app.exit_message.splitlines() == [
        f"Session saved in {path}",
        f"Open it with: sizeup {path}",
        f"Measure what is missing with: sizeup run --resume {path}",
    ]


async def test_what_was_read_of_stored_sessions_is_not_shown_any_more_while_the_console_ends(
    console: Console, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its widgets are removed before the worker that reads is told."""
    async with console.shown() as pilot:
        await console.measure(pilot)
        screen = console.app.screen
        assert isinstance(screen, MeasureScreen)
        shown: list[bool] = []
        monkeypatch.setattr(screen, "show_run", lambda: shown.append(console.app.is_running))
        await screen._read_earlier().wait()
        assert not shown, "what is shown already is drawn again"
        stored(folder, "another")
        await screen._read_earlier().wait()
        assert shown == [True]

        monkeypatch.setattr(console.app, "_running", False)
        stored(folder, "a third")
        await screen._read_earlier().wait()
        monkeypatch.undo()

    assert shown == [True]


async def test_a_form_that_was_to_be_shown_is_not_looked_for_when_the_console_has_ended(console: Console) -> None:
    async with console.shown(keys="3"):
        measure = console.app.screen
        assert isinstance(measure, MeasureScreen)
        assert measure.chosen is not None

    assert measure.chosen is None
