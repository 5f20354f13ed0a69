"""The controls of a form: what an arrow promises, and what a control is made of."""

from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select

from consoles import Console, ended, pressed, records, settled, until
from declared import declaration_of, series_of
from sizeup.model.plan import Plan, Step
from sizeup.session.records import PlanRecord, StepStartRecord
from sizeup.tui.screens.probe_forms import AdvancedButton, FormField

pytestmark = pytest.mark.ci


async def shown_form(console: Console, pilot: Pilot[int]) -> list[FormField]:
    """The fields of the form of a probe with many."""
    await console.choose(pilot, "io.direct")
    await pilot.pause(0.2)
    await settled(pilot)
    return [field for field in console.app.screen.query(FormField) if field.region]


async def test_every_arrow_opens_a_list(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        lists = [field.control for field in await shown_form(console, pilot) if isinstance(field.control, Select)]
        opened = []
        for key in ("enter", "space", "down"):
            for select in lists:
                select.focus()
                await settled(pilot, key)
                opened.append(select.expanded)
                await settled(pilot, "escape")

    assert len(opened) >= 6
    assert all(opened)


@pytest.mark.parametrize(
    ("name", "rows", "drawn"), [("io.direct", 40, True), ("io.direct", 24, False), ("clock.cost", 40, False)]
)
async def test_what_is_not_measured_shows_why_it_matters_where_rows_are_left(
    console: Console, name: str, rows: int, *, drawn: bool
) -> None:
    async with console.shown(120, rows) as pilot:
        await console.choose(pilot, name)
        await settled(pilot)

        assert "NOT YET" in console.text
        assert ("CPU can use" in console.text) is drawn


async def test_the_letter_in_front_of_a_field_goes_to_it_and_changes_nothing(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        fields = await shown_form(console, pilot)
        before = [field.text for field in fields]
        reached = []
        for key in "idbp":
            await settled(pilot, key)
            reached.append([field.control.has_focus_within for field in fields].index(True))
            await settled(pilot, "escape", "escape")
        after = [field.text for field in fields]

    assert reached == [1, 2, 3, 4]
    assert after == before


@pytest.mark.parametrize(
    ("keys", "setting", "taken", "problem"),
    [
        ("b16", "block", "16KiB", ""),
        ("d16", "depth", "16", ""),
        ("d12", "depth", "12", ""),
        ("dauto", "depth", "auto", ""),
        ("b24k", "block", "24KiB", ""),
        ("b512", "block", "512B", ""),
        ("b99999k", "block", "8KiB", "! Block: expected a size"),
        ("d1299", "depth", "auto", "! Depth: expected a whole number"),
    ],
)
async def test_a_typed_value_is_taken_by_tab_or_refused_with_the_reason(
    console: Console, keys: str, setting: str, taken: str, problem: str
) -> None:
    async with console.shown(120, 40) as pilot:
        fields = await shown_form(console, pilot)
        await settled(pilot, *keys)
        hint = console.hint
        await settled(pilot, "tab")
        found = next(field.text for field in fields if field.setting == setting)

    assert found == taken
    assert hint.startswith(problem) if problem else not hint.startswith("!")


async def test_up_and_down_go_through_the_suggested_values_and_escape_takes_them_back(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        fields = await shown_form(console, pilot)
        await settled(pilot, "b")
        block = fields[3].control
        shown = [(block.value, console.keys[0])]
        for key in ("down", "down", "up", "end", "escape"):
            await settled(pilot, key)
            shown.append((block.value, console.keys[0]))

    assert [value for value, _ in shown] == ["8KiB", "16KiB", "32KiB", "16KiB", "16KiB", "8KiB"]
    assert [key for _, key in shown] == ["Suggested"] * 5 + ["Measure"]


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
        advanced = next(button for button in console.app.screen.query(AdvancedButton) if button.region)
        advanced.focus()
        marks = []
        for key, unfolds in (("enter", True), ("enter", False), ("space", True), ("space", False)):
            await pressed(pilot, key)
            await until(pilot, partial(_is, console, unfolded=unfolds))
            await settled(pilot)
            marks.append(str(advanced.label).split(" ")[0])
        shown = len(console.app.screen.query_one(".more").query(Input))

    assert marks == ["[-]", "[+]"] * 2
    assert shown > 5


def _is(console: Console, *, unfolded: bool) -> bool:
    return any(settings.display for settings in console.app.screen.query(".more")) is unfolded


@pytest.mark.parametrize("there", [True, False])
async def test_the_target_of_the_run_that_is_shown_stands_in_the_form_while_it_exists(
    console: Console, tmp_path: Path, there: bool
) -> None:
    path = str(tmp_path if there else tmp_path / "gone")
    step = Step("io.direct", "io.direct", "Direct I/O", {"path": path}, 1.0, 2.0)
    series = tuple(series_of("io.direct").values())
    start = StepStartRecord(3, step, "sizeup 0", series, "curve", 0, declaration_of("io.direct"))
    console.save([*records()[:2], PlanRecord(2, Plan("custom", (step,))), start, *ended("io.direct")])
    async with console.shown(120, 40) as pilot:
        target, *_ = await shown_form(console, pilot)

        assert target.text == (path if there else "")


async def test_escape_forgets_a_half_typed_target(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        target, *_ = await shown_form(console, pilot)
        target.control.focus()
        await pilot.press(*"/var/t")
        await settled(pilot, "escape")

        assert (target.text, target.control.value) == ("", "")
        assert not target.control.has_focus
