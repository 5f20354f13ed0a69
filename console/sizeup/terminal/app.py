"""The app as far as it deals with the terminal: few bytes for a frame, keys in their order, the screen as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from rich.console import RenderableType
from textual import on
from textual._compositor import CompositorUpdate
from textual.driver import Driver
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from sizeup.terminal.ordered_keys import OrderedKeysApp
from sizeup.terminal.row_diff import RowDiffer, RowUpdate, rows_of

if TYPE_CHECKING:
    from sizeup.terminal.driver import ConsoleDriver


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
            renderable = cast("RenderableType", RowUpdate(self._frames, screen))  # Textual asks it for segments alone
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
