"""Inputs entered in the console: saved by a key, when quitting and when exporting, apart for each session."""

import errno
from pathlib import Path

import pytest

from consoles import Console, ended, machine, pressed, records, until
from played_runs import PlayedRunner
from sizeup.quantity import Origin
from sizeup.session.reader import read_session
from sizeup.sizing.keys import KEYS
from sizeup.tui.options import Options
from tui.sizing_inputs import CPU_DEMAND, choose_input, set_input
from tui.stored_sessions import saved


def other(tmp_path: Path) -> str:
    path = tmp_path / "other.sizeup.jsonl"
    PlayedRunner(path).write([*records(found=machine()), *ended()])
    return str(path)


@pytest.mark.ci
async def test_what_was_typed_is_saved_by_a_key_and_stands_when_the_session_is_opened_again(tmp_path: Path) -> None:
    console = saved(tmp_path)
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "20000")
        await set_input(pilot, "capacity.iops", "50000")
        assert "Save" in console.text
        await pilot.press("s")
        await until(pilot, lambda: any("Inputs and verdict saved in" in told for told in console.told))
        await pressed(pilot, "1")
        here = console.says("#band")

    assert not console.app.typed.unsaved()
    again = Console(tmp_path / "again")
    async with again.shown(120, 40) as pilot:
        again.app.show_session(console.runs.path)
        await pilot.pause()
        reopened, notice, told = again.says("#band"), again.says("#notice"), again.app.header().states[0]
        await pressed(pilot, "4")
        listed, label = again.entries("#inputs"), again.says("#answers-label")
        title = str(again.app.screen.query_one("#answers-pane").border_title)

    assert "PASS" in reopened
    assert "20,000 IOPS" in reopened
    assert "Worked out with 2 inputs entered by the user, 20" in notice
    assert "20,000 IOPS" in here
    assert "demand 20,000 IOPS" in told
    assert listed["workload.iops"] == "● IOPS wanted 20,000 IOPS"
    assert title == "Answers, recorded"
    assert label.startswith("Worked out with 2 inputs")


async def test_the_first_answer_when_quitting_saves_the_inputs_in_a_new_session_of_this_machine(
    console: Console,
) -> None:
    console.app.stated = CPU_DEMAND
    async with console.shown(keys="q") as pilot:
        await pilot.press("enter")
        await until(pilot, lambda: not console.app.is_running)

    session = read_session(console.runs.path)
    assert [one.key for one in session.stated] == ["workload.cpu_percent"]
    assert session.advice.find("verdict.cpu") is not None
    assert console.app.exit_message.startswith(f"Session saved in {console.runs.path}")
    assert "not saved" not in console.app.exit_message


async def test_a_full_disk_keeps_the_console_and_what_was_typed(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    console.app.stated = CPU_DEMAND
    async with console.shown() as pilot:
        monkeypatch.setattr("sizeup.session.writer.Writer.write", full)
        await pilot.press("q", "enter")
        await until(pilot, lambda: any("No space left" in told for told in console.told))
        assert console.app.is_running
        assert console.app.stated == CPU_DEMAND
        assert not console.runner.path.exists()
        monkeypatch.undo()
        await pressed(pilot, "q")
        await pilot.press("enter")
        await until(pilot, lambda: not console.app.is_running)

    assert read_session(console.runs.path).stated


async def test_a_session_that_cannot_be_written_offers_the_command_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = saved(tmp_path)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    console.app.stated = CPU_DEMAND
    async with console.shown(120, 40, keys="q"):
        asked, answers = " ".join(console.says(".text Static").split()), console.entries(".dialog KeyList")

    assert "They cannot be saved." in asked
    assert "no permission to write" in asked
    assert "--set workload.cpu_percent=97%" in asked
    assert list(answers) == ["stay", "quit"]


async def test_a_read_only_console_saves_nothing(tmp_path: Path) -> None:
    console = Console(tmp_path, options=Options(readonly=True))
    console.app.stated = CPU_DEMAND
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "s")
        await until(pilot, lambda: any("Read-only: nothing is written." in told for told in console.told))

    assert not console.runner.path.exists()


@pytest.mark.ci
async def test_inputs_belong_to_the_machine_that_they_were_typed_for(tmp_path: Path) -> None:
    console = Console(tmp_path)
    path = other(tmp_path)
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "1000")
        console.app.show_session(path)
        await pilot.pause()
        assert not console.app.stated
        await pilot.press("4")
        await set_input(pilot, "capacity.iops", "6000")
        assert list(console.app.stated) == ["capacity.iops"]
        console.app.show_live()
        await pilot.pause()
        live, header = list(console.app.stated), console.app.header().states[0]
        await pressed(pilot, "4")
        listed = console.entries("#inputs")
        console.app.show_session(path)
        await pilot.pause()
        back = list(console.app.stated)
        await pressed(pilot, "q")
        asked = " ".join(console.says(".text Static").split())
        await pilot.press("enter")
        await until(pilot, lambda: not console.app.is_running)

    assert live == ["workload.iops"]
    assert "recomputed" not in header
    assert "6,000" not in listed.get("capacity.iops", "")
    assert back == ["capacity.iops"]
    assert "IOPS wanted, IOPS available" in asked
    assert [one.key for one in read_session(path).stated] == ["capacity.iops"]
    assert [one.key for one in read_session(console.app.typed._own.path).stated] == ["workload.iops"]


@pytest.mark.ci
async def test_undoing_a_saved_input_is_a_change_that_can_be_saved(tmp_path: Path) -> None:
    console = saved(tmp_path)
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "20000")
        await pilot.press("s")
        await until(pilot, lambda: not console.app.typed.unsaved())
        await choose_input(pilot, "workload.iops")
        await pressed(pilot, "backspace")
        assert console.app.typed.unsaved()
        await pilot.press("s")
        await until(pilot, lambda: not console.app.typed.unsaved())

    assert not read_session(console.runs.path).stated


@pytest.mark.ci
async def test_undo_without_a_change_takes_back_the_chosen_recorded_input_alone(tmp_path: Path) -> None:
    console = saved(tmp_path)
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        for key, text in (("workload.iops", "20000"), ("redo.mb_s", "5")):
            await set_input(pilot, key, text)
        await pilot.press("s")
        await until(pilot, lambda: not console.app.typed.unsaved())
        console.app.typed._before.clear()  # as in a console that opens the session again
        await choose_input(pilot, "machine.ghz")
        await pressed(pilot, "backspace")
        kept = set(console.app.stated)
        await choose_input(pilot, "workload.iops")
        await pressed(pilot, "backspace")

        assert kept == {"workload.iops", "redo.mb_s"}
        assert set(console.app.stated) == {"redo.mb_s"}


@pytest.mark.ci
async def test_undo_brings_back_what_a_file_states_in_a_session_that_was_opened_again(tmp_path: Path) -> None:
    """A second undo finds no change: what the file states stays."""
    console = saved(tmp_path)
    stated = {"sga.mb": KEYS["sga.mb"].parse("65536", Origin.IMPORTED, "awr.txt")}
    async with console.shown(120, 40) as pilot:
        console.app.stated = stated
        await pilot.press("4")
        await set_input(pilot, "sga.mb", "8192")
        await pilot.press("s")
        await until(pilot, lambda: not console.app.typed.unsaved())
    again = Console(tmp_path / "again")
    async with again.shown(120, 40) as pilot:
        again.app.show_session(console.runs.path)
        await pilot.press("4")
        await choose_input(pilot, "sga.mb")
        for _ in range(2):
            await pressed(pilot, "backspace")
            assert again.app.stated == stated
            assert again.entries("#inputs")["sga.mb"].endswith("65,536 MiB")
        assert "No change to undo." in again.told


@pytest.mark.ci
async def test_an_export_carries_the_inputs_that_were_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = tmp_path / "sizeup" / "sessions"
    folder.mkdir(parents=True)
    path = folder / "one.sizeup.jsonl"
    PlayedRunner(path).write([*records(found=machine()), *ended()])
    console = Console(tmp_path)
    console.app._own_runs = console.runs
    async with console.shown(120, 40) as pilot:
        console.app.show_session(str(path))
        await pilot.pause()
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "20000")
        await set_input(pilot, "capacity.iops", "50000")
        await pressed(pilot, "5", "e")
        assert "With the inputs entered in the console" in console.text
        await pilot.press("down", "down", "down", "enter")
        await until(pilot, lambda: any(told.startswith("Wrote") for told in console.told))

    text = (folder / "one.md").read_text()
    assert "PASS" in text
    assert "20,000 IOPS" in text
    assert "Worked out with 2 inputs entered by the user" in text


async def test_sessions_judges_with_what_was_entered_and_is_not_saved(tmp_path: Path) -> None:
    console = saved(tmp_path)
    async with console.shown(120, 40, keys="5") as pilot:
        before = console.says("#band")
        console.app.stated = CPU_DEMAND
        await pressed(pilot, "1", "5")
        after = console.says("#band")

    assert "NO WORKLOAD" in before
    assert "WARN" in after
