"""What a switch to another mode works out."""

from collections.abc import Callable
from typing import Any

import pytest

from consoles import Console, settled
from sizeup.tui.screens import summary as summary_screen
from sizeup.tui.screens.measure import ProbeList


@pytest.mark.parametrize(("mode", "owner", "name"), [("1", summary_screen, "summary"), ("3", ProbeList, "show_runs")])
async def test_a_mode_that_is_shown_again_works_its_view_out_once(
    console: Console, monkeypatch: pytest.MonkeyPatch, mode: str, owner: object, name: str
) -> None:
    work: Callable[..., Any] = getattr(owner, name)
    done: list[str] = []

    def counted(*given: Any) -> Any:
        done.append(name)
        return work(*given)

    async with console.shown(120, 40) as pilot:
        for key in (mode, "2"):
            await settled(pilot, key)
            await settled(pilot)  # a list that was laid out is filled once more
        monkeypatch.setattr(owner, name, counted)
        await settled(pilot, mode)

    assert done == [name]
