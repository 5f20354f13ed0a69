"""The mouse, where the screen looks as if it should work."""

import pytest
from textual.content import Content
from textual.widgets import Button, Select

from consoles import Console, records, settled
from sizeup.tui.actions import ACTIONS, key_text, pressed_key
from sizeup.tui.screens.probe_page import PointTable, ProbePage
from sizeup.tui.widgets.lines import KeyLine, ModeLine


def test_every_key_that_is_shown_can_be_pressed() -> None:
    keys = {key for actions in ACTIONS.values() for action in actions for key in action.keys.split(",")}

    assert [key for key in keys if pressed_key(key_text(key)) != key] == []


@pytest.mark.parametrize("columns", [80, 120])
async def test_a_click_on_a_mode_or_a_key_does_what_it_says(console: Console, columns: int) -> None:
    async with console.shown(columns, 24) as pilot:
        line = console.app.screen.query_one(ModeLine)
        at = line.render().plain.index("3 Measure")
        await pilot.click(ModeLine, offset=(at + 2, 0))
        await settled(pilot)
        mode = console.mode
        at = console.app.screen.query_one(KeyLine).render().plain.index("Help")
        await pilot.click(KeyLine, offset=(at, 0))
        await settled(pilot)

        assert mode == "measure"
        assert type(console.app.screen).__name__ == "HelpDialog"


async def test_a_click_between_the_keys_does_nothing(console: Console) -> None:
    async with console.shown(120, 24) as pilot:
        words = console.app.screen.query_one(KeyLine).render().plain
        await pilot.click(KeyLine, offset=(words.rindex("     "), 0))
        await settled(pilot)

        assert len(console.app.screen_stack) == 1


async def test_tabs_headings_lists_and_the_button_take_clicks(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot, records())
        await settled(pilot)
        views = console.app.screen.query_one("#views")
        title = Content.from_markup(str(views.border_title)).plain
        await pilot.click(views, offset=(title.index("Table") + 2, 0))
        await settled(pilot)
        points = console.app.screen.query_one(PointTable)
        chosen = console.app.screen.query_one(ProbePage).shown_tab
        await pilot.click(points, offset=(4, 0))
        await pilot.click(points, offset=(4, 0))
        await settled(pilot)
        largest = str(points.get_row_at(0)[0])
        await console.choose(pilot, "clock.cost")
        await pilot.pause(0.2)
        await settled(pilot)
        shown = [button for button in console.app.screen.query(Button) if button.region]
        await pilot.click(shown[0])
        await settled(pilot)
        queued = [spec.probes for spec in console.runs.queue]

    assert chosen == "Table"
    assert largest == "64 MiB"
    assert queued == [("clock.cost",)]


async def test_a_list_of_the_form_opens_under_the_pointer(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await pilot.pause(0.2)
        await settled(pilot)
        field = next(select for select in console.app.screen.query(Select) if select.region)
        await pilot.click(field)
        await settled(pilot)

        assert field.expanded
