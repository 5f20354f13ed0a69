"""The lines around every screen: the machine above, the run and the keys below."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text
from textual.widget import Widget


class Line(Widget):
    """One line of finished text, cut at the edge, redrawn only when it changes."""

    DEFAULT_CSS = """
    Line { height: 1; width: 1fr; }
    Line.header { background: $panel; color: $foreground; text-style: bold; }
    Line.status { background: $surface; color: $foreground; }
    Line.keys { background: $panel; color: $foreground; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._parts: tuple[str, str] = ("", "")

    def show(self, left: str, right: str = "") -> None:
        """Put ``left`` and, flush with the other edge, ``right``; the right part survives a narrow screen."""
        if (left, right) != self._parts:
            self._parts = (left, right)
            self.refresh()

    def render(self) -> Text:
        """Both parts in one line."""
        left, right = self._parts
        width = self.size.width
        room = width - cell_len(right) - (1 if right else 0)
        # Whole parts go rather than half a number: "2.6" of 2.66 GHz would be a wrong one.
        while cell_len(left) > room and ", " in left:
            left = left.rpartition(", ")[0]
        text = Text(left, no_wrap=True, end="")
        text.truncate(max(room, 0), overflow="ellipsis", pad=True)
        if right:
            text.append(" " + right)
        text.truncate(width)
        return text


class KeyLine(Widget):
    """The keys that matter: those of this mode as far as they fit, those that hold everywhere always."""

    DEFAULT_CSS = """
    KeyLine { height: 1; width: 1fr; background: $panel; color: $foreground; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._keys: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] = ((), ())

    def show(self, here: Sequence[tuple[str, str]], everywhere: Sequence[tuple[str, str]]) -> None:
        """Show key and label of some actions."""
        keys = (tuple(here), tuple(everywhere))
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def render(self) -> Text:
        """Key and label, the key reversed so that it needs no colour."""
        here, everywhere = self._keys
        room = self.size.width - sum(_width(entry) for entry in everywhere)
        text = Text(no_wrap=True, end="")
        for entry in here:
            if cell_len(text.plain) + _width(entry) > room:
                break
            _append(text, entry)
        text.append(" " * max(room - cell_len(text.plain), 0))
        for entry in everywhere:
            _append(text, entry)
        text.truncate(self.size.width)
        return text


def _width(entry: tuple[str, str]) -> int:
    return cell_len(entry[0]) + cell_len(entry[1]) + 3


def _append(text: Text, entry: tuple[str, str]) -> None:
    text.append(f" {entry[0]} ", "reverse bold")
    text.append(f"{entry[1]} ")
