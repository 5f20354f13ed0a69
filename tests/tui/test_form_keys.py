"""Keys in the fields of a form: paths that are typed, values that are stepped, and where the focus is afterwards."""

from pathlib import Path

import pytest
from textual import events
from textual.widgets import OptionList

from consoles import Console, MakeConsole, fill, pressed, settled
from sizeup.tui.options import Options
from sizeup.tui.screens.measure import ProbeList
from sizeup.tui.screens.probe_forms import FormField, RunFormView

pytestmark = pytest.mark.ci


def field(console: Console, name: str) -> FormField:
    view = next(view for view in console.app.screen.query(RunFormView) if view.display)
    found = view.field(name)
    assert found is not None
    return found


async def test_a_path_is_typed_in_the_dialog_of_targets(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "m", *str(tmp_path), "enter")
        asked = console.answers
        await settled(pilot, "escape")

        assert asked == ["no", "yes"]
        assert field(console, "path").control.value == str(tmp_path)


async def test_a_path_pasted_into_the_dialog_of_targets_is_the_target(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "m")
        console.app.post_message(events.Paste(f"{tmp_path}\n"))
        await settled(pilot)
        await settled(pilot, "enter")

        assert console.answers == ["no", "yes"]


@pytest.mark.parametrize(("preset", "question"), [("oltp-read", []), ("redo", ["no", "yes"])])
async def test_a_run_without_a_target_takes_a_typed_path_and_asks_only_before_it_writes_more_than_its_file(
    console: Console, tmp_path: Path, preset: str, question: list[str]
) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        fill(console, "io.direct", {"preset": preset})
        await settled(pilot, "r")
        title = str(console.app.screen.query_one(".dialog").border_title)
        await settled(pilot, *str(tmp_path), "enter")

        assert "In a directory: a temporary file" in title
        assert console.answers == question
        assert len(console.runner.arguments) == (not question)


async def test_a_target_that_is_chosen_before_a_run_is_asked_for_is_no_agreement(
    console: Console, tmp_path: Path
) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "r", "escape", "m", *str(tmp_path), "enter")

        assert console.answers == ["no", "yes"]


async def test_another_depth_and_block_size_and_the_run_take_five_keys(console: Console, tmp_path: Path) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "m", *str(tmp_path), "enter")
        await settled(pilot, "escape")
        before = [field(console, name).text for name in ("block", "depth")]
        for key in ("d", "down", "tab", "down", "enter"):
            await settled(pilot, key)
        asked = console.answers
        await settled(pilot, "escape")
        after = [field(console, name).text for name in ("block", "depth")]

    assert asked == ["no", "yes"]
    assert (before, after) == (["8KiB", "auto"], ["16KiB", "1"])


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


@pytest.mark.parametrize("key", ["i", "p"])
async def test_without_color_the_line_under_the_cursor_of_an_open_list_is_underlined(
    make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = make_console(options=Options(no_color=True))
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, key)
        await settled(pilot, "down")
        overlay = console.app.focused
        assert isinstance(overlay, OptionList)
        parts = [part for row in range(overlay.size.height) for part in overlay.render_line(row) if part.text.strip()]
        marked = "".join(part.text for part in parts if part.style and part.style.underline)

        assert overlay.highlighted is not None
        prompt = str(overlay.get_option_at_index(overlay.highlighted).prompt)
        assert "".join(marked.split()) == "".join(prompt.split())  # a target of this host may take two lines
