"""The app as far as it deals with the terminal: few bytes for a frame, keys in their order, the screen as text."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from rich.console import RenderableType
from textual import events, on
from textual._compositor import CompositorUpdate
from textual.app import App
from textual.dom import DOMNode
from textual.driver import Driver
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from sizeup.terminal.row_diff import RowDiffer, RowUpdate, rows_of

if TYPE_CHECKING:
    from sizeup.terminal.driver import ConsoleDriver

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


def console_driver() -> type[ConsoleDriver] | None:
    """Return our driver; None on a system that is no Unix, where Textual chooses its own."""
    try:
        from sizeup.terminal.driver import ConsoleDriver
    except ImportError:
        return None
    return ConsoleDriver


class TerminalApp(OrderedKeysApp):
    """An app that sends only cells that differ from what the terminal shows."""

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        self._console_driver = console_driver()
        super().__init__(driver_class=self._console_driver, ansi_color=ansi_color)
        self._frames = RowDiffer()

    @property
    def _terminal(self) -> ConsoleDriver | None:
        """The driver; None if it is another one, as in a test, which runs without a terminal."""
        ours = self._console_driver
        return self._driver if ours is not None and isinstance(self._driver, ours) else None

    @property
    def link_busy(self) -> bool:
        """Whether what was drawn last is still on its way; drawing more would only make the screen older."""
        return self._terminal is not None and self._terminal.busy

    @property
    def bytes_sent(self) -> int:
        """To the terminal, since the start."""
        return 0 if self._terminal is None else self._terminal.bytes_sent

    @property
    def copies(self) -> bool:
        """Whether what is copied is sent to the terminal."""
        return self._terminal is None or self._terminal.copies

    @property
    def screen_text(self) -> str:
        """The screen as it stands."""
        return "\n".join("".join(segment.text for segment in row).rstrip() for row in rows_of(self.screen))

    @on(Driver.SignalResume)
    def action_redraw(self) -> None:
        """Draw all of it again: the shell, or another program, may have drawn on this terminal meanwhile."""
        self._frames.forget()
        self.screen.refresh()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        # The one place that every frame passes; Textual's own take four to eight times as many bytes.
        if isinstance(renderable, CompositorUpdate):
            renderable = cast("Any", RowUpdate(self._frames, screen, renderable))  # Textual asks it for segments alone
        super()._display(screen, renderable)


class OnceStyledScreen(Screen[Any]):
    """A screen that does without Textual's second look at every style sheet."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """The widget with the focus. Only it and the one before are styled and drawn again; Textual would draw all."""

    def __init__(self) -> None:
        super().__init__()
        # Textual reads every style sheet anew for a new mode, though its widgets are styled when they are mounted. All
        # that is needed is that the app, which the first mode is made before, has its own colors. Without this a start
        # takes 12 ms of CPU more, and each mode that is shown for the first time 35 to 50 ms.
        self.app.stylesheet.apply(self.app)
        self._css_update_count = self.app._css_update_count  # noqa: SLF001
