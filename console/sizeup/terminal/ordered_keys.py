"""One key at a time: what is typed waits until all that the key before it did is done.

Textual hands a key to the widget that has the focus at that moment, and the widget takes it from its queue later.
A key that moves the focus or closes a dialog is therefore too late for the keys right behind it: typed in one burst,
as a slow line or a paste delivers them, they go to the field or the dialog that was left.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

from textual import events
from textual.app import App
from textual.dom import DOMNode

_ROUNDS = 3
"""The key itself, what its widget posted, what the dialog did with that."""
_LOST_SECONDS = 0.5
"""A widget that goes away takes the question whether it is done along; that is looked for each time after this."""
_LONGEST_SECONDS = 10.0
"""A widget that is busy for longer holds up no typing: what it does may be waiting for a key."""


class OrderedKeysApp(App[int]):
    """An app whose keys and pastes are handled one after the other, however fast they arrive."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._waiting: deque[events.Key | events.Paste] = deque()
        self._turn = 0
        """Counts keys: an answer that comes too late is not taken for one about the next key."""
        self._handling = False
        self._asked: DOMNode = self
        """Where the question is now."""

    async def on_event(self, event: events.Event) -> None:
        """Handle an event; a key that comes while another one is being handled waits for it."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._handling:
            self._waiting.append(event)
            if len(self._waiting) == 1:
                self._limit_turn()
        else:
            await self._handle(event)

    async def _handle(self, event: events.Key | events.Paste) -> None:
        self._handling = True
        self._turn += 1
        await super().on_event(event)
        await self._ask(self._turn, _ROUNDS)

    async def _ask(self, turn: int, rounds: int) -> None:
        """Send a question from the focus up to the app, behind all that is queued on this way."""
        if rounds and self.screen_stack:
            self._pass_on(self.focused or self.screen, turn, rounds)
        else:
            await self._next(turn)

    def _pass_on(self, node: DOMNode | None, turn: int, rounds: int) -> None:
        while node is not None and node is not self:
            above = node.parent
            self._asked = node
            if node.call_later(self._pass_on, above, turn, rounds):
                return
            node = above
        self._asked = self
        self.call_later(self._ask, turn, rounds - 1)

    async def _next(self, turn: int) -> None:
        if turn != self._turn:
            return
        if not self._waiting:
            self._handling = False
            return
        event = self._waiting.popleft()
        await self._handle(event)
        if self._waiting:
            self._limit_turn()

    def _limit_turn(self, seconds: float = _LOST_SECONDS) -> None:
        self.set_timer(_LOST_SECONDS, partial(self._check_turn, self._turn, seconds))

    async def _check_turn(self, turn: int, seconds: float) -> None:
        """Go on with the next key where the question is lost; a widget that is still busy is waited for."""
        if turn == self._turn and self._asked.is_running and seconds < _LONGEST_SECONDS:
            self._limit_turn(seconds + _LOST_SECONDS)
        else:
            await self._next(turn)
