"""What a move of the focus draws."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import Screen

from consoles import Console, ended, settled
from sizeup.tui.screens.measure import ProbeList
from sizeup.tui.screens.probe_forms import FormField


@asynccontextmanager
async def disk_page(console: Console) -> AsyncIterator[Pilot[Any]]:
    """The console with the form of the disk probe."""
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await pilot.pause(0.2)
        await settled(pilot)
        yield pilot


async def test_a_move_of_the_focus_draws_the_two_controls_and_not_the_screen(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with disk_page(console) as pilot:
        drawn: list[object] = []
        refresh = Screen.refresh

        def count(self: Screen[Any], *regions: Any, **how: Any) -> Any:
            drawn.append(self)
            return refresh(self, *regions, **how)

        monkeypatch.setattr(Screen, "refresh", count)
        looks = []
        for _ in range(2):
            await settled(pilot, "tab")
            fields = [field for field in console.app.screen.query(FormField) if field.region]
            looks.append([field.control.has_focus for field in fields][:2])

    assert drawn == []
    assert looks == [[True, False], [False, True]]


async def test_a_dialog_that_closes_styles_nothing_behind_it_anew(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with disk_page(console) as pilot:
        behind = console.app.screen
        await settled(pilot, "question_mark")
        styled: list[DOMNode] = []
        update = Stylesheet.update_nodes

        def count(self: Stylesheet, nodes: Iterable[DOMNode], *, animate: bool = False) -> None:
            taken = list(nodes)
            styled.extend(node for node in taken if node.screen is behind)
            update(self, taken, animate=animate)

        monkeypatch.setattr(Stylesheet, "update_nodes", count)
        await settled(pilot, "escape")
        shown = console.app.screen

    assert shown is behind
    assert len(styled) < 20


async def test_a_theme_that_was_chosen_in_another_mode_is_there_when_a_mode_comes_back(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await settled(pilot, "3")
        before = console.app.screen.styles.background
        await settled(pilot, "1")
        console.app.theme = "textual-light"
        await settled(pilot)
        await settled(pilot, "3")
        after = console.app.screen.styles.background

    assert before != after


@pytest.mark.parametrize("away", ["1", ""])
async def test_the_key_of_measure_gives_the_focus_to_its_list(console: Console, away: str) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await console.end(pilot, ended())
        await settled(pilot, "t")
        table = console.app.screen.focused
        await settled(pilot, *away, "3")
        listed = console.app.screen.query_one(ProbeList)
        before = listed.highlighted
        await settled(pilot, "up")

        assert table is not listed
        assert console.app.screen.focused is listed
        assert listed.highlighted != before
