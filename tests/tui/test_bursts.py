"""Keys that arrive in one burst (a slow line, a paste) do what they would do one by one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from consoles import Console

NAMES = {"\t": "tab", "\r": "enter", "\x1b": "escape"}


async def burst(console: Console, pilot: Pilot[int], text: str) -> None:
    """Hand in every key before any of them is looked at, as one write to the terminal does."""
    for character in text:
        key = NAMES.get(character, character)
        console.app.post_message(events.Key(key, None if character in NAMES else character))
    for _ in range(20):
        await pilot.pause()


@pytest.mark.parametrize(
    ("keys", "arguments"),
    [
        ("12\t5ms\r", ["null.samples=12", "null.interval=5ms"]),
        ("12\t5ms\t\t7\t\x1b", []),
        ("12\rr", ["null.samples=12"]),
        ("12\rs34\rr", ["null.samples=34"]),
        ("s", []),
    ],
)
async def test_each_key_lands_where_it_would_one_by_one(console: Console, keys: str, arguments: list[str]) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await burst(console, pilot, "s" + keys)
        if "r" not in keys and arguments:
            await burst(console, pilot, "r")

    words = console.runner.arguments[-1] if console.runner.arguments else []
    assert [word for flag, word in pairwise(words) if flag == "--set"] == arguments


async def test_an_option_that_the_preset_ignores_cannot_be_saved(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await pilot.press("s")
        form = console.app.screen
        form.query_one("#p-block", Input).value = "64k"
        await pilot.press("ctrl+s")
        await pilot.pause()
        refused = console.says("#h-block")
        still_open = console.app.screen is form
        form.query_one("#p-preset", Input).value = "custom"
        await pilot.press("ctrl+s")
        await pilot.pause()
        saved = dict(console.app.screen._typed["io.direct"])  # type: ignore[attr-defined]
        await pilot.press("s")
        console.app.screen.query_one("#p-preset", Input).value = "oltp-read"
        console.app.screen.query_one("#p-block", Input).value = "8KiB"
        await pilot.press("ctrl+s")
        await pilot.pause()
        restored = dict(console.app.screen._typed["io.direct"])  # type: ignore[attr-defined]

    assert still_open
    assert refused.startswith("! block has no effect with preset=oltp-read")
    assert "8KiB" in refused
    assert saved == {"block": "64k", "preset": "custom"}
    assert restored == {}
