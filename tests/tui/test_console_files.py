"""Files of the console: saved sessions, which it lists, opens and compares, and screens that are kept."""

import re
from pathlib import Path

import pytest
from textual.widgets import Input

from consoles import Console, MakeConsole, pressed, until
from sizeup.charts.chart import LineChart
from sizeup.session.reader import read_session
from sizeup.tui.options import Options
from tui.stored_sessions import stored


def old_and_new(folder: Path) -> tuple[Path, Path]:
    return stored(folder, "old"), stored(folder, "new", day=2)


async def test_sessions_are_listed_opened_and_left_again(console: Console, folder: Path) -> None:
    old_and_new(folder)
    async with console.shown(keys="5") as pilot:
        assert [Path(path).name for path in console.entries()] == ["new.sizeup.jsonl", "old.sizeup.jsonl"]
        await pilot.press("enter")
        await until(pilot, lambda: console.app.runs is not console.runs)
        assert Path(console.app.runs.path).name == "new.sizeup.jsonl"
        assert console.mode == "summary"
        await pressed(pilot, "5", "u")
        assert console.app.runs is console.runs


async def test_an_unfinished_session_is_spoken_of_and_resumed(console: Console, folder: Path) -> None:
    stored(folder, "whole")
    path = stored(folder, "cut", day=2, done=False)
    async with console.shown() as pilot:
        await pilot.pause()
        assert "was interrupted; R runs its missing steps" in console.says("#notice")
        await pressed(pilot, "5", "down", "R")
        whole = list(console.runner.arguments)
        await pressed(pilot, "1", "R")

        assert whole == []
        assert console.runner.arguments == []
        assert "1 step, about 10 s" in console.says(".text Static")
        await pressed(pilot, "down", "enter")
        assert console.runner.arguments == [["--batch", "--quiet", "--control", "--resume", str(path)]]
        assert console.runs.path == str(path)
        assert console.app.current_mode == "summary"


async def test_a_note_and_a_baseline_are_written_into_the_session(console: Console, folder: Path) -> None:
    path = stored(folder, "one")
    async with console.shown(keys="5n") as pilot:
        await pressed(pilot, *"quiet", "enter", "b")
        assert console.entries()[str(path)].startswith("* ")

    session = read_session(str(path))
    assert [note.text for note in session.notes] == ["quiet", ""]
    assert session.tags == ("baseline",)


async def test_a_session_is_compared_with_the_baseline_in_words_and_picture(console: Console, folder: Path) -> None:
    old_and_new(folder)
    async with console.shown(120, 40, keys=("5", "down", "b", "up", "c")) as pilot:
        await pilot.pause()
        assert isinstance(console.chart, LineChart)
        assert len(console.chart.lines) == 2


async def test_words_narrow_the_list_and_escape_brings_it_back(console: Console, folder: Path) -> None:
    old_and_new(folder)
    async with console.shown() as pilot:
        await pressed(pilot, "5", "slash", *"old")
        found = [Path(path).name for path in console.entries()]
        await pressed(pilot, "escape")

        assert found == ["old.sizeup.jsonl"]
        assert len(console.entries()) == 2


async def test_a_session_that_goes_away_is_said_to_be_gone(console: Console, folder: Path) -> None:
    path, _ = old_and_new(folder)
    async with console.shown(keys="5") as pilot:
        path.unlink()
        await pressed(pilot, "down")
        assert "! expected a session file, but there is no such file" in console.says("#detail")


def _written(folder: Path, ending: str) -> str:
    return "".join(path.read_text() for path in folder.glob(f"sizeup-summary-*.{ending}"))


async def test_the_screen_is_kept_as_text_and_as_a_picture(console: Console, tmp_path: Path) -> None:
    async with console.shown() as pilot:
        await pressed(pilot, "y", "P")

    text, picture = (_written(tmp_path, ending) for ending in ("txt", "svg"))
    assert "8 cores, 2.66 GHz" in text
    assert picture.startswith("<svg")
    assert "url(" not in picture.replace("url(#", "")


async def test_in_ascii_the_text_is_kept_as_it_was_seen(make_console: MakeConsole, tmp_path: Path) -> None:
    console = make_console(options=Options(ascii=True))
    async with console.shown() as pilot:
        await pressed(pilot, "y")

    assert "8 cores, 2.66 GHz" in _written(tmp_path, "txt")
    assert _written(tmp_path, "txt").isascii()


@pytest.mark.parametrize("current", ["removed", "/proc"])
async def test_a_folder_that_takes_no_file_is_said_in_words(
    console: Console, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, current: str
) -> None:
    stored(folder, "one")
    place = tmp_path / current
    place.mkdir(exist_ok=True)
    monkeypatch.chdir(place)
    if current == "removed":
        place.rmdir()
    async with console.shown(keys="yP5e") as pilot:
        console.app.screen.query_one("#folder", Input).value = "."
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()
        await pilot.pause()
        said = " ".join(console.says("#message").split())

        refusals = [words for words in console.told if not words.startswith("Writing ")]  # said where it takes long
        assert len(refusals) >= 2
        for words in refusals:
            assert re.search("current folder has gone|cannot be written to|cannot write", words)
            assert " -o" not in words
        assert re.search("no such folder|you may not write there|cannot write", said)
    assert _written(tmp_path, "*") == ""


async def test_readonly_writes_nothing(make_console: MakeConsole, tmp_path: Path) -> None:
    console = make_console(options=Options(readonly=True))
    async with console.shown() as pilot:
        await pressed(pilot, "y", "P")

    assert _written(tmp_path, "*") == ""
