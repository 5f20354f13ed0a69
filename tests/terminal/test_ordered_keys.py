"""Keys that are typed while what a key asked for is still being made."""

import asyncio

import pytest
from textual import events
from textual.screen import Screen
from textual.widgets import Input

from sizeup.terminal import app as ordered_keys
from sizeup.terminal.app import OrderedKeysApp

LOST_SECONDS = 0.01
"""After this a question is looked for, in place of half a second."""


class SlowScreen(Screen[None]):
    """Makes a field, slowly, once a key is pressed."""

    async def on_key(self, event: events.Key) -> None:
        """Make the field, or note a key that should have gone into it."""
        if event.key != "m":
            assert isinstance(self.app, SlowApp)
            self.app.lost.append(event.key)
            return
        await asyncio.sleep(LOST_SECONDS * 8)
        await self.mount(field := Input())
        field.focus()


class SlowApp(OrderedKeysApp):
    """An app with such a screen."""

    def __init__(self) -> None:
        super().__init__()
        self.lost: list[str] = []

    def get_default_screen(self) -> Screen[None]:
        """The only screen."""
        return SlowScreen()


async def typed(app: OrderedKeysApp) -> str:
    """Return what stands in the field after a path that was handed in right behind its key."""
    async with app.run_test() as pilot:
        for key in "mtap/data":
            app.post_message(events.Key(key, key))
        for _ in range(18_000):
            await pilot.pause(LOST_SECONDS)
            if app.query(Input) and len(app.query_one(Input).value) + len(app.lost) == len("tap/data"):
                break
        return app.query_one(Input).value


async def test_keys_wait_for_what_the_key_before_them_makes_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_keys, "_LOST_SECONDS", LOST_SECONDS)
    monkeypatch.setattr(ordered_keys, "_LONGEST_SECONDS", 600.0)
    app = SlowApp()

    assert await typed(app) == "tap/data"
    assert app.lost == []


async def test_a_widget_that_is_busy_for_too_long_holds_up_no_typing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_keys, "_LOST_SECONDS", LOST_SECONDS)
    monkeypatch.setattr(ordered_keys, "_LONGEST_SECONDS", LOST_SECONDS)
    app = SlowApp()

    assert await typed(app) != "tap/data"
    assert app.lost
