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
    """The keys that matter here; as many as fit, the last ones going first."""

    DEFAULT_CSS = """
    KeyLine { height: 1; width: 1fr; background: $panel; color: $foreground; }
    """

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._keys = tuple(keys)

    def show(self, keys: Sequence[tuple[str, str]]) -> None:
        """Show other keys."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self.refresh()

    def render(self) -> Text:
        """Key and label, the key reversed so that it needs no colour."""
        text = Text(no_wrap=True, end="")
        for key, label in self._keys:
            entry = f" {key} {label} "
            if cell_len(text.plain) + cell_len(entry) > self.size.width:
                break
            text.append(f" {key} ", "reverse bold")
            text.append(f"{label} ")
        return text
