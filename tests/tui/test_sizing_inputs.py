"""The inputs of the Sizing mode: choosing, typing, stepping, and taking them from a file."""

from pathlib import Path

import pytest
from textual.widgets import Input

from consoles import Console, pressed, settled, until
from importers.workload_samples import AWR
from sizeup.quantity import Origin, Quantity
from sizeup.tui.dialogs import PickDialog
from sizeup.tui.screens.workload_form import FIELDS
from sizeup.tui.widgets.lists import KeyList
from tui.sizing_inputs import choose_input, set_input


async def test_a_workload_file_gives_the_inputs_and_moves_the_verdict(console: Console, tmp_path: Path) -> None:
    file = tmp_path / "awr.txt"
    file.write_text(AWR)
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "w", *["tab"] * len(FIELDS), *str(file), "enter")
        await until(
            pilot, lambda: console.app.screen.query("#inputs") and "workload.iops" in console.entries("#inputs")
        )
        listed = console.entries("#inputs")["workload.iops"]
        await pressed(pilot, "1")

        assert listed.startswith("● ")
        assert "NO WORKLOAD" not in console.says("#band")


@pytest.mark.parametrize(
    ("content", "words"), [("Dear diary\n", "expected an AWR or Statspack report"), (None, "there is no such file")]
)
async def test_a_file_that_is_no_workload_is_refused_with_the_reason(
    console: Console, tmp_path: Path, content: str | None, words: str
) -> None:
    file = tmp_path / "diary.txt"
    if content is not None:
        file.write_text(content)
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "w", *["tab"] * len(FIELDS), *str(file), "enter")
        await until(pilot, lambda: console.says("#message").startswith("!"))

        assert words in " ".join(console.says("#message").split())
        assert not console.app.stated


@pytest.mark.parametrize(("columns", "rows", "blank"), [(120, 40, 0), (200, 60, 4)])
async def test_subjects_of_inputs_stand_apart_where_there_is_room(
    console: Console, columns: int, rows: int, blank: int
) -> None:
    async with console.shown(columns, rows, keys="4"):
        options = console.app.screen.query_one("#inputs", KeyList).options

        assert sum(not str(option.prompt) for option in options) == blank


async def test_an_input_that_is_not_listed_is_chosen_by_words_and_typed(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pressed(pilot, "4", "a", *"size of the database", "enter")
        await pressed(pilot, *"2T", "enter")

        assert console.app.focused.id == "inputs"
        assert console.entries("#inputs")["db.gb"] == "● Database size 2,000 GB"
        assert "Database size (before: unknown): size of the database" in console.says("#input-help")
        assert "? array.disks" in console.entries("#answers")
        assert "missing: drives" in console.entries("#answers")["? array.disks"]


async def test_without_a_workload_the_first_line_says_what_to_type_and_enter_goes_there(console: Console) -> None:
    async with console.shown(80, 24, keys=("4", "v", "tab")) as pilot:
        first = next(iter(console.entries("#answers").values()))
        shown, behind = console.text, console.says("#working")
        await pressed(pilot, "enter", *"20000", "enter")

        assert first == "No verdict yet no workload"
        assert "IOPS wanted" in shown
        assert "A verdict compares the demand of a workload with the capacity of this machine." in behind
        assert console.entries("#inputs")["workload.iops"] == "● IOPS wanted 20,000 IOPS"
        assert not any("no workload" in line for line in console.entries("#answers").values())


async def test_a_question_leads_to_the_input_that_it_waits_for(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pressed(pilot, "4", "a", *"db.gb", "enter", *"2T", "enter", "v", "tab", "enter")
        await pressed(pilot, "8", "enter")

        assert console.entries("#inputs")["sga.mb"] == "● Shared memory (SGA) 8 MiB"


async def test_inputs_whose_names_have_the_words_are_offered_first(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        await pressed(pilot, "4", "a", *"flash")
        listed = console.app.screen.query_one(KeyList)

        assert [option.id for option in listed.options] == [
            "flash.moved",
            "flash.block_kib",
            "flash.cache_gib",
            "flash.rac",
            "sysstat.flash_hits",
            "sysstat.flash_inserts",
        ]


async def test_nothing_is_found_by_words_that_no_input_has(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pressed(pilot, "4", "a", *"zzz", "enter")
        assert isinstance(console.app.screen, PickDialog)
        assert not [option for option in console.app.screen.query_one(KeyList).options if not option.disabled]
        await pressed(pilot, "escape")
        assert not isinstance(console.app.screen, PickDialog)


async def test_enter_on_an_unchanged_value_changes_nothing(console: Console) -> None:
    async with console.shown(120, 40, keys="4") as pilot:
        await choose_input(pilot, "machine.memory_gib")
        await pressed(pilot, "enter", "enter")
        assert not any("●" in line for line in console.entries("#inputs").values())
        assert "From: detected, /proc/meminfo" in console.says("#input-help")


async def test_what_is_wrong_stands_out_and_goes_with_the_next_input(console: Console) -> None:
    async with console.shown(120, 40, keys=("4", "enter", "ctrl+u", "0", "enter")) as pilot:
        assert console.says("#input-help").startswith(
            "! IOPS wanted: expected a number of IOPS, above 0, such as 20000, found"
        )
        assert console.app.screen.query_one("#input-help").has_class("-wrong")
        await pressed(pilot, "escape", "down")
        assert not console.app.screen.query_one("#input-help").has_class("-wrong")


@pytest.mark.parametrize("key", ["machine.cpu_model", "workload.iops"])
async def test_an_input_without_steps_or_value_says_how_to_change_it(console: Console, key: str) -> None:
    async with console.shown(120, 40, keys="4") as pilot:
        await choose_input(pilot, key)
        before = console.entries("#inputs")
        await pressed(pilot, "plus")

        assert "Press Enter and type one." in console.says("#input-help")
        assert console.entries("#inputs") == before


async def test_the_selected_input_is_in_sight_on_a_small_screen(console: Console) -> None:
    async with console.shown(80, 24, keys="4") as pilot:
        for key in ("workload.iops", "workload.growth_percent"):
            await pressed(pilot, "1")
            console.app.go("sizing", key)
            await until(pilot, lambda key=key: console.mode == "sizing" and console.entry == key)  # type: ignore[misc]
            await pilot.pause()
            await pilot.pause()
            listed = console.app.screen.query_one("#inputs", KeyList)
            row, top, rows = listed.get_option_index(key), listed.scroll_offset.y, listed.size.height

            assert top <= row < top + rows


async def test_a_step_says_what_it_changed(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        await pilot.press("4")
        await choose_input(pilot, "workload.iops")
        await pressed(pilot, "enter", *"20000", "enter", "plus")
        told, footer = console.says("#input-help"), console.text
        listed = console.app.screen.query_one("#inputs", KeyList)
        row = listed.get_option_index("workload.iops")
        top, rows = listed.scroll_offset.y, listed.size.height
        await pressed(pilot, "down")

        assert told.startswith("IOPS wanted: 20,000 IOPS changed to 21,000 IOPS. Bksp undoes it.")
        assert "+ Change" in " ".join(footer.split())
        assert top <= row < top + rows
        assert "changed to" not in console.says("#input-help")


async def test_what_is_explained_of_an_input_is_never_cut(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        await pressed(pilot, "4", "a", *"path.stages", "enter", "escape")
        await pilot.pause()

        explained = console.app.screen.query_one("#input-help")
        assert any("From: not known" in strip.text for strip in explained.render_lines(explained.outer_size.region))


async def test_what_cannot_be_is_refused_in_words_and_the_field_stays_until_it_is_right(console: Console) -> None:
    expected = "expected a number of GHz, above 0 and at most 20, such as 2.5, found"
    async with console.shown(200, 40) as pilot:
        await pilot.press("4")
        await choose_input(pilot, "machine.ghz")
        await pressed(pilot, "enter")
        for text in ("1e12", "", "words", "-3"):
            console.app.screen.query_one(Input).value = text
            await pressed(pilot, "enter")

            assert f"{expected} '{text}'" in console.says("#input-help")
            assert console.app.focused is console.app.screen.query_one(Input)
        console.app.screen.query_one(Input).value = "3.2GHz"
        await pressed(pilot, "enter")

        assert "Clock rate per license 3.2 GHz" in console.entries("#answers")["value.ghz-per-license"]
        await pressed(pilot, "enter", "escape")
        assert console.app.focused.id == "inputs"


@pytest.mark.ci
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_screen_begins_with_the_verdict_of_summary(console: Console, size: tuple[int, int]) -> None:
    async with console.shown(*size) as pilot:
        await settled(pilot, "4")
        unknown = console.says("#band")
        await set_input(pilot, "workload.cpu_percent", "97")
        await settled(pilot)
        sizing, top = console.says("#band"), console.app.screen.query_one("#band").region.y
        await settled(pilot, "1")
        summary = console.says("#band")

    assert "NO WORKLOAD" in unknown
    assert "WARN" in summary
    assert top == 1
    assert sizing.partition(" WARN")[0] == summary.partition(" WARN")[0]


async def test_the_field_of_an_input_has_its_name_above_it_and_its_keys_below(console: Console) -> None:
    async with console.shown() as pilot:
        await pilot.press("4")
        await choose_input(pilot, "workload.iops")
        await settled(pilot, "enter")
        field = console.app.screen.query_one("#input-value", Input)
        pane = console.app.screen.query_one("#inputs-pane")
        rows, editing = console.text.splitlines(), str(pane.border_subtitle)
        above = rows[field.region.y][: field.region.right]
        await settled(pilot, "escape")

        assert field.border_title == "IOPS wanted"
        assert "IOPS wanted" in above
        assert editing == "Enter takes it, Esc leaves"
        assert any(editing in row for row in rows)
        assert pane.border_subtitle == "~ assumed; Enter edits"


async def test_an_input_is_added_with_its_value(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pressed(pilot, "4", "a", *"machine.memory_gib=1,256", "enter")
        taken = console.app.stated
        await pressed(pilot, "a", *"machine.memory_gib=much", "enter")
        refused = console.says("#input-help")

    assert [(key, value.value / 2**30) for key, value in taken.items()] == [("machine.memory_gib", 1256)]
    assert "much" in refused


async def test_an_answer_that_an_unknown_text_decides_says_so_beside_the_numbers_that_move_it(console: Console) -> None:
    async with console.shown(120, 45) as pilot:
        await pressed(pilot, "4", "a", *"workload.cpu_cores=8.23", "enter")
        await pilot.pause()
        decides, band = console.app.screen.query_one("#factors").border_subtitle, console.says("#band")

    assert "Processor of the present server" in decides
    assert "Processor of the present server" in band
    assert "--set" not in band + decides


async def test_undo_takes_back_one_change_at_a_time_and_says_which(console: Console) -> None:
    """Two typed values, a step and a workload of three figures are four changes, whatever input is chosen."""
    stated = {"redo.mb_s": Quantity(10, "MB/s", Origin.IMPORTED, "awr.txt")}
    async with console.shown(80, 24, keys="4") as pilot:
        app = console.app
        app.stated = stated
        await settled(pilot)
        before = []
        for text in ("8192", "20"):
            before.append(dict(app.stated))
            await set_input(pilot, "redo.mb_s", text)
        before.append(dict(app.stated))
        await pressed(pilot, "plus")
        before.append(dict(app.stated))
        await pilot.press("w", *"500", "tab", "tab", *"60", "tab", *"16", "enter")
        await until(pilot, lambda: "workload.io_kib" in app.stated)
        await choose_input(pilot, "machine.ghz")
        undone, told, chosen = [], [], []
        for _ in before:
            await pressed(pilot, "backspace")
            undone.append(dict(app.stated))
            told.append(console.says("#input-help").partition(" Redo rate (")[0])
            chosen.append(console.entry)

        assert undone == before[::-1]
        assert told[1:3] == ["Redo rate: back to 20 MB/s.", "Redo rate: back to 8,192 MB/s."]
        assert chosen == ["workload.iops", "redo.mb_s", "redo.mb_s", "redo.mb_s"]
        await pressed(pilot, "backspace")
        assert app.stated == {}


async def test_no_key_is_offered_for_an_input_that_the_cursor_is_not_on(console: Console) -> None:
    async with console.shown(120, 40, keys="4") as pilot:
        for key, text in (("workload.iops", "20000"), ("capacity.iops", "21000")):
            await set_input(pilot, key, text)
        await choose_input(pilot, "workload.horizon_years")
        sizing = console.says("#band")
        await pressed(pilot, "1")

        assert "Provide at least 28,580 IOPS" in sizing
        assert "tries it" not in sizing
        assert "4 tries it" in console.says("#band")
