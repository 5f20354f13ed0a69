"""A screen that is styled once when it is made."""

from __future__ import annotations

from typing import Any

from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget


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
