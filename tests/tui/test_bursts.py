"""Keys that arrive in one burst (a slow line, a paste) do what they would do one by one."""

import asyncio
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from consoles import Console, settled, until
from sizeup.session.store import StoredSession
from sizeup.tui.screens import sessions
from sizeup.tui.screens.probe_forms import RunFormView
from tui.stored_sessions import stored

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
        ("12\t5ms\t\t7\x1b", []),
        ("12\r", ["null.samples=12"]),
        ("", []),
    ],
)
async def test_each_key_lands_where_it_would_one_by_one(console: Console, keys: str, arguments: list[str]) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "null")
        await settled(pilot, "s")
        await burst(console, pilot, keys)
        await settled(pilot)

    words = console.runner.arguments[-1] if console.runner.arguments else []
    assert [word for flag, word in pairwise(words) if flag == "--set"] == arguments


async def test_an_option_that_the_workload_ignores_changes_the_workload_where_it_is_seen(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "b", "down", "tab")
        view = next(view for view in console.app.screen.query(RunFormView) if view.display)
        shown = [view.field(name) for name in ("preset", "block")]
        values = [field.control.value for field in shown if field is not None]
        hint, typed = console.hint, view.form.typed
        await settled(pilot, "escape", "b", "up", "tab")
        back = view.form.typed

    assert values == ["custom", "16KiB"]
    assert hint == "Workload is now Custom, block size and mix as set: pattern random, reads 100 %, sync no"
    assert typed == {"preset": "custom", "block": "16KiB"}
    assert back == {"preset": "custom"}


async def test_values_can_be_shown_at_any_moment_while_fields_are_made(console: Console) -> None:
    moments = 0
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await until(pilot, lambda: any(view.display for view in console.app.screen.query(RunFormView)))
        view = next(view for view in console.app.screen.query(RunFormView) if view.display)
        unfolding = asyncio.create_task(view.unfold())
        while not unfolding.done():
            view.sync()
            moments += 1
            await asyncio.sleep(0)
        field = view.field("warmup")
        shown = None if field is None else field.control.value

    assert moments > 10
    assert shown == view.form.text("warmup")


async def test_what_is_typed_behind_a_key_that_leads_to_another_screen_arrives_there(
    console: Console, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = sessions.entries

    def slow(**known: Any) -> list[StoredSession]:
        time.sleep(0.5)
        return listed(**known)

    monkeypatch.setattr(sessions, "entries", slow)
    path = stored(folder, "one")
    async with console.shown(120, 40) as pilot:
        console.app.show_session(str(path))
        await settled(pilot, "4")
        await burst(console, pilot, "nfirst")
        await settled(pilot)
        typed = console.app.screen.query_one(Input).value

    assert typed == "first"
