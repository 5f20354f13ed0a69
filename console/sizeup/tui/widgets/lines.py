"""The lines around every screen: the machine above, the run and the keys below."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from sizeup.tui.actions import pressed_key


class TextLine(Widget):
    """One line of text; a part of it may be clicked."""

    DEFAULT_CSS = """
    TextLine { height: 1; width: 1fr; background: $panel; color: $foreground; }
    """
    auto_links = False


class StatusLine(TextLine):
    """Finished text, cut at the edge, redrawn only when it changes."""

    DEFAULT_CSS = """
    StatusLine { background: $surface; }
    """

    _parts = reactive(("", ""))

    def show(self, left: str, right: str = "") -> None:
        """Put ``left`` and, flush with the other edge, ``right`` as far as there is room for both."""
        self._parts = (left, right)

    def render(self) -> Text:
        """Both parts in one line."""
        left, right = self._parts
        width = self.size.width
        # The left part is the status of a run; on the right a value may be left out, and a name goes as a whole.
        for shorter in (right.partition(" at ")[0], ""):
            if cell_len(left) + cell_len(right) + 1 > width:
                right = shorter
        free = width - cell_len(right) - (1 if right else 0)
        text = Text(left, no_wrap=True, end="")
        text.truncate(max(free, 0), overflow="ellipsis", pad=True)
        if right:
            text.append(" " + right)
        text.truncate(width)
        return text


class ModeLine(TextLine):
    """The modes with their keys, the one that is shown reversed; what the machine is, as far as it fits."""

    _shown: reactive[tuple[tuple[tuple[str, str], ...], str, tuple[str, str, str]]] = reactive(((), "", ("", "", "")))

    def show(self, modes: Sequence[tuple[str, str]], current: str, facts: tuple[str, str, str]) -> None:
        """Put key and label of each mode, and of the machine its name, its parts and what it should carry."""
        self._shown = (tuple(modes), current, facts)

    def render(self) -> Text:
        """The modes, then the name of the machine, which stays longest, its parts, and its need at the other edge.

        What does not fit whole goes: half a name would be another machine's.
        """
        width = self.size.width
        modes, current, (host, parts, need) = self._shown
        text = Text(no_wrap=True, end="")
        fits = sum(_width(mode) for mode in modes) <= width
        for key, label in modes:
            here = label == current
            if here or fits:
                text.append(f" {key} {label} ", _pressing(key, "reverse bold" if here else ""))
        free = width - text.cell_len - 1
        right = next((shown for shown in (f"{host}  {need}", host) if cell_len(shown) <= free), "")
        left = f"{host}: {parts}"
        # Whole facts go rather than half a number: "2.6" of 2.66 GHz would be a wrong one.
        while cell_len(left) + cell_len(need) + 3 > free and ", " in left:
            left = left.rpartition(", ")[0]
        if cell_len(left) + cell_len(need) + 3 <= free:
            text.append(f"  {left}", "bold")
            right = need
        text.append(" " * max(width - text.cell_len - cell_len(right) - 1, 0) + right)
        text.truncate(width)
        return text


class KeyLine(TextLine):
    """The keys that matter: those of this mode as far as they fit, those that hold everywhere always."""

    _keys: reactive[tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]] = reactive(((), ()))

    def show(self, here: Sequence[tuple[str, str]], everywhere: Sequence[tuple[str, str]]) -> None:
        """Show key and label of some actions."""
        self._keys = (tuple(here), tuple(everywhere))

    def render(self) -> Text:
        """Key and label, the key reversed so that it needs no color."""
        here, everywhere = self._keys
        free = self.size.width - sum(_width(entry) for entry in everywhere)
        text = Text(no_wrap=True, end="")
        for entry in here:
            if cell_len(text.plain) + _width(entry) > free:
                break
            _append(text, entry)
        text.append(" " * max(free - cell_len(text.plain), 0))
        for entry in everywhere:
            _append(text, entry)
        text.truncate(self.size.width)
        return text


def _width(entry: tuple[str, str]) -> int:
    return cell_len(entry[0]) + cell_len(entry[1]) + 3


def _append(text: Text, entry: tuple[str, str]) -> None:
    text.append(f" {entry[0]} ", _pressing(entry[0], "reverse bold"))
    text.append(f"{entry[1]} ", _pressing(entry[0]))


def _pressing(key: str, style: str = "") -> Style:
    """Return a style, a click on which does what the key does."""
    return Style.parse(style) + Style(meta={"@click": f"app.simulate_key({pressed_key(key)!r})"})
