"""A pane whose text is folded by hand, and has to be folded anew where the pane takes another width."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.containers import VerticalScroll


class FoldedPane(VerticalScroll, can_focus=True):
    """Calls ``fold`` with each other width that a layout gives it, however late that is."""

    def __init__(self, fold: Callable[[], None], *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._fold = fold
        self._folded_to = 0

    def on_resize(self, event: events.Resize) -> None:
        """Fold anew where the width is another; another height folds nothing."""
        if event.size.width != self._folded_to:
            self._folded_to = event.size.width
            self._fold()
