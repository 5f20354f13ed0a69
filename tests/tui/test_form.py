"""The controls of a form: what an arrow promises, and what a control is made of."""

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select

from consoles import Console, ended, settled
from sizeup.terminal.compact_select import ChosenValue
from sizeup.tui.widgets.form import AdvancedSettings
from sizeup.tui.widgets.form_field import FormField, SettingSelect

pytestmark = pytest.mark.ci


async def shown_form(console: Console, pilot: Pilot[int]) -> list[Select[str]]:
    """The lists of the form of a probe with many."""
    await console.choose(pilot, "io.direct")
    await pilot.pause(0.2)
    await settled(pilot)
    return [select for select in console.app.screen.query(SettingSelect) if select.region]


async def test_every_arrow_opens_a_list(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        lists = await shown_form(console, pilot)
        opened = []
        for key in ("enter", "space", "down"):
            for select in lists:
                select.focus()
                await settled(pilot, key)
                opened.append(select.expanded)
                await settled(pilot, "escape")

    assert len(opened) >= 15
    assert all(opened)


async def test_the_letter_in_front_of_a_list_opens_it_and_nothing_else(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        lists = await shown_form(console, pilot)
        before = [select.value for select in lists]
        opened = []
        for key in "midbp":
            await settled(pilot, key)
            opened.append([select.expanded for select in lists])
            await settled(pilot, "escape", "escape")
        after = [select.value for select in lists]

    assert opened == [[number == place for number in range(5)] for place in range(5)]
    assert after == before


@pytest.mark.parametrize(
    ("keys", "setting", "chosen", "typed"),
    [
        ("b16", "block", "16KiB", ""),
        ("d16", "depth", "16", ""),
        ("d12", "depth", "12", ""),
        ("b24", "block", "24KiB", ""),
        ("b24k", "block", "24KiB", ""),
        ("b512", "block", "512B", ""),
        ("b99999k", "block", "8KiB", "99999k"),
        ("d1299", "depth", "0", "1299"),
    ],
)
async def test_a_number_chooses_the_line_that_begins_with_it_or_is_the_value(
    console: Console, keys: str, setting: str, chosen: str, typed: str
) -> None:
    async with console.shown(120, 40) as pilot:
        await shown_form(console, pilot)
        await settled(pilot, *keys, "enter")
        field = next(one for one in console.app.screen.query(FormField) if one.setting == setting)
        text = field.query_one(Input)
        found = (field._text, text.value if text.has_focus else "")

    assert found == (chosen, typed)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["b", "1", "6", "tab"], {"block": "16KiB", "depth": "0"}),
        (["b", "1", "6", "d", "1", "6", "escape"], {"block": "16KiB", "depth": "0"}),
        (["b", "2", "4", "k", "i", "b", "d", "1", "2", "tab"], {"block": "24KiB", "depth": "12"}),
        (["d", "1", "2", "9", "backspace", "b", "escape"], {"block": "8KiB", "depth": "12"}),
        (["b", "1", "6", "escape"], {"block": "8KiB", "depth": "0"}),
    ],
)
async def test_tab_and_the_letter_of_a_field_take_a_typed_number_and_escape_does_not(
    console: Console, keys: list[str], expected: dict[str, str]
) -> None:
    async with console.shown(120, 40) as pilot:
        await shown_form(console, pilot)
        for key in keys:
            await settled(pilot, key)
        fields = console.app.screen.query(FormField)
        found = {field.setting: str(field.query_one(Select).value) for field in fields if field.setting in expected}

    assert found == expected


async def test_an_open_list_shows_the_number_that_is_typed_and_which_keys_take_it(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        lists = await shown_form(console, pilot)
        shown = []
        for key in ("d", "1", "2", "escape"):
            await settled(pilot, key)
            shown.append((lists[2].query_one(ChosenValue).render().plain.split()[0], console.keys[0]))

    assert shown == [("auto", "Take"), ("1", "Take"), ("12", "Take"), ("auto", "Measure")]


async def test_a_list_is_two_widgets_of_which_one_is_drawn(console: Console) -> None:
    """Every frame goes through all that are drawn, and a move of the focus styles all of them."""
    async with console.shown(120, 40) as pilot:
        lists = await shown_form(console, pilot)
        parts = [(len(select.children), len(select.children[0].children)) for select in lists]
        drawn = [select.children[1].display for select in lists]

    assert set(parts) == {(2, 0)}
    assert set(drawn) == {False}


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
async def test_advanced_settings_leave_room_for_the_status_and_are_folded_by_a_run(
    console: Console, columns: int, rows: int
) -> None:
    async with console.shown(columns, rows) as pilot:
        await shown_form(console, pilot)
        await settled(pilot, "s")
        about = console.app.screen.query_one("#about").region
        page = console.app.screen.query_one("#probe").region
        await console.choose(pilot, "null")
        await settled(pilot, "s")
        await pilot.press("escape")
        await console.measure(pilot)
        await console.end(pilot, ended())
        await console.choose(pilot, "null")
        await pilot.pause(0.2)
        await settled(pilot)
        status = console.app.screen.query_one("#standing").region

    assert about.height > 0
    assert about.bottom <= page.bottom
    assert status.y - page.y <= 4


async def test_what_unfolds_settings_bears_no_arrow_of_a_list(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await shown_form(console, pilot)
        advanced = next(folded for folded in console.app.screen.query(AdvancedSettings) if folded.region)
        advanced.children[0].focus()
        marks, folded = [], []
        for key in ("enter", "enter", "space", "space"):
            await settled(pilot, key)
            folded.append(advanced.collapsed)
            marks.append(str(advanced.children[0].render()).split(" ")[0])
        shown = len(advanced.query(Input))

    assert folded == [False, True] * 2
    assert marks == ["[-]", "[+]"] * 2
    assert shown > 5


async def test_escape_forgets_a_half_typed_target(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        target, *_ = await shown_form(console, pilot)
        field = target.parent
        assert isinstance(field, FormField)
        before = field._text
        typed = field.query_one(Input)
        target.display, typed.display = False, True
        typed.focus()
        await pilot.press(*"/var/t")
        await settled(pilot, "escape")

        assert (field._text, typed.value) == (before, before)
        assert (target.display, typed.display) == (True, False)
        assert not typed.has_focus
