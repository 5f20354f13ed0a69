"""Keys in the lists of a form: paths that are typed, letters that lead on, and where the focus is afterwards."""

from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input, Select

from consoles import Console, MakeConsole, pressed, settled
from sizeup.terminal.compact_select import ChoiceOverlay
from sizeup.tui.options import Options
from sizeup.tui.screens.probe_list import ProbeList
from sizeup.tui.widgets.form import RunFormView
from sizeup.tui.widgets.form_field import FormField

pytestmark = pytest.mark.ci


def field(console: Console, name: str) -> FormField:
    view = next(view for view in console.app.screen.query(RunFormView) if view.display)
    found = view.field(name)
    assert found is not None
    return found


async def test_a_slash_in_the_list_of_targets_begins_a_path(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "m")
        await settled(pilot, *str(tmp_path))
        typed = field(console, "path").query_one(Input).value
        await settled(pilot, "enter")
        await settled(pilot, "escape")
        chosen = field(console, "path").query_one(Select).value

    assert (typed, chosen) == (str(tmp_path), str(tmp_path))


async def test_tab_behind_a_typed_path_leaves_a_list_with_it(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "m", *str(tmp_path), "tab")
        select = field(console, "path").query_one(Select)

        assert (select.value, select.display) == (str(tmp_path), True)
        assert not field(console, "path").query_one(Input).display


async def test_a_path_pasted_into_the_open_list_of_targets_is_the_target(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "m")
        console.app.post_message(events.Paste(f"{tmp_path}\n"))
        await settled(pilot)
        await settled(pilot, "enter")

        assert console.answers == ["no", "yes"]


async def test_a_run_without_a_target_takes_a_typed_path_and_then_asks(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "r")
        await settled(pilot, *str(tmp_path), "enter")

        assert console.answers == ["no", "yes"]


async def test_j_and_k_move_in_a_list(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "b")
        overlay = field(console, "block").query_one("ChoiceOverlay")
        before = overlay.highlighted  # type: ignore[attr-defined]
        moved = []
        for key in "jjk":
            await settled(pilot, key)
            moved.append(overlay.highlighted - before)  # type: ignore[attr-defined]

        assert moved == [1, 2, 1]


async def test_another_block_size_and_depth_and_the_run_take_five_keys(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "m")
        await settled(pilot, *str(tmp_path), "enter")
        await settled(pilot, "escape")
        before = [field(console, name).query_one(Select).value for name in ("block", "depth")]
        for key in ("b", "down", "d", "down", "r"):
            await settled(pilot, key)
        asked = console.answers
        await settled(pilot, "escape")
        after = [field(console, name).query_one(Select).value for name in ("block", "depth")]

    assert asked == ["no", "yes"]
    assert [one != other for one, other in zip(before, after, strict=True)] == [True, True], (before, after)


async def test_the_focus_is_on_the_list_of_probes_again_once_a_list_is_left(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        found = []
        for key in ("escape", "enter"):
            await settled(pilot, "p")
            await settled(pilot, key)
            found.append(isinstance(console.app.screen.focused, ProbeList))

    assert found == [True, True]


async def test_escape_during_a_run_names_the_key_that_cancels(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pressed(pilot, "escape", "escape")

        assert console.runner.stdin.words == []
        assert console.app.runs.running


@pytest.mark.parametrize("key", ["m", "b", "d"])
async def test_without_color_the_line_under_the_cursor_of_an_open_list_is_reversed(
    make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = make_console(options=Options(no_color=True))
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, key)
        await settled(pilot, "down")
        overlay = console.app.focused
        assert isinstance(overlay, ChoiceOverlay)
        parts = [part for row in range(overlay.size.height) for part in overlay.render_line(row) if part.text.strip()]
        reversed_text = "".join(part.text for part in parts if part.style and part.style.reverse)

        assert overlay.highlighted is not None
        prompt = str(overlay.get_option_at_index(overlay.highlighted).prompt)
        assert "".join(reversed_text.split()) == "".join(prompt.split())  # a target of this host may take two lines
