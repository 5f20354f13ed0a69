"""What a move of the focus draws."""

from __future__ import annotations

from typing import Any

import pytest
from textual.screen import Screen
from textual.widgets import Select

from consoles import Console, settled


async def test_a_move_of_the_focus_draws_the_two_controls_and_not_the_screen(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await pilot.pause(0.2)
        await settled(pilot)
        drawn: list[object] = []
        refresh = Screen.refresh

        def count(self: Screen[Any], *regions: Any, **how: Any) -> Any:
            drawn.append(self)
            return refresh(self, *regions, **how)

        monkeypatch.setattr(Screen, "refresh", count)
        looks = []
        for _ in range(2):
            await pilot.press("tab")
            await settled(pilot)
            focused = console.app.focused
            assert isinstance(focused, Select)
            looks.append([select.children[0].styles.background for select in console.app.screen.query(Select)][:2])

    assert drawn == []
    assert looks[0][0] != looks[0][1]
    assert looks[1] == looks[0][::-1]
