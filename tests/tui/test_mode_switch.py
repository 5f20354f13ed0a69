"""What a switch to another mode works out."""

from collections.abc import Callable
from typing import Any

import pytest

from consoles import Console, settled, until
from sizeup.tui.screens import summary as summary_screen
from sizeup.tui.screens.measure import ProbeList
from sizeup.tui.screens.probe_forms import ProbeForms


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
        await settled(pilot, mode)
        if mode == "3":  # its form comes a moment later, and has the list filled again
            await until(pilot, lambda: console.app.screen.query_one(ProbeForms).shown is not None)
        await settled(pilot, "2")
        monkeypatch.setattr(owner, name, counted)
        await settled(pilot, mode)

    assert done == [name]
