"""The lines around every screen: the machine above, the run and the keys below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from sizeup.charts.share_bar import ScreenLook
from sizeup.text import cell_len
from sizeup.tui.actions import pressed_key

MOST_KEYS = 9
"""In the last line; the palette has all."""


class TextLine(Widget):
    """One line of text; a part of it may be clicked."""

    DEFAULT_CSS = """
    TextLine { height: 1; width: 1fr; background: $raise; color: $foreground; text-wrap: nowrap; }
    """
    auto_links = False


def frame_title(title: str, note: str, columns: int) -> Content:
    """Return the upper edge of a frame of so many columns: its title, and at the right a note."""
    gap = columns - cell_len(title) - cell_len(note) - 10
    if not note or gap < 2:
        return Content.styled(title, "bold $hi")
    return Content.assemble((title, "bold $hi"), (f" {'─' * gap} ", "not bold $line"), (note, "not bold $dim"))


class NoticeLine(TextLine):
    """What a user must know besides the screen; absent where there is nothing."""

    text = reactive("")
    style = "$dim"

    def show(self, text: str, *, wrong: bool) -> None:
        """Put the text in one line, bold where something is wrong."""
        self.style, self.text = "bold" if wrong else "$dim", text
        self.display = bool(text)

    def render(self) -> Content:
        """The line, cut at the edge."""
        return Content.styled(f"  {self.text}", self.style).truncate(self.size.width, ellipsis=True)


class Header(Struct, frozen=True):
    """What the first line says of the machine and of the run."""

    host: str
    size: str = ""
    """``64 cores · 1.5 TiB``."""
    states: tuple[str, ...] = ()
    """What it does or what it is held against, the longest text first."""
    running: bool = False


class ModeLine(TextLine):
    """The logo, the modes with their keys, and what the machine is and does, as far as it fits."""

    _shown: reactive[tuple[tuple[tuple[str, str], ...], str, Header]] = reactive(((), "", Header("")))
    look: reactive[ScreenLook] = reactive(ScreenLook.COLOR)

    def show(self, modes: Sequence[tuple[str, str]], current: str, header: Header, look: ScreenLook) -> None:
        """Put key and label of each mode, and what is known of the machine."""
        self._shown, self.look = (tuple(modes), current, header), look

    @property
    def state(self) -> str:
        """What the machine does, as it is shown where there is room."""
        return next(iter(self._shown[2].states), "")

    def render(self) -> Content:
        """The modes, then the name of the machine, which stays longest, its size and its state.

        What does not fit whole goes: half a name would be another machine's.
        """
        width = self.size.width
        modes, current, header = self._shown
        plain = self.look in (ScreenLook.PLAIN, ScreenLook.ASCII)
        logo = Content.styled(" ▁▄█", "bold $acc")
        tabs = [self._tab(key, label, is_here=label == current, plain=plain) for key, label in modes]
        free = width - sum(tab.cell_length for tab in tabs) - 1
        name = " sizeup " if free >= cell_len(header.host) + 24 else " "
        left = logo + Content.styled(name, "bold $hi") if free >= 5 else Content("")
        if free < 0:
            tabs = [tab for tab, (_, label) in zip(tabs, modes, strict=True) if label == current]
        left = Content.assemble(left, *tabs)
        free = width - left.cell_length - 2
        sign = "● " if header.running else ""
        hosts = [(header.host, f" {header.size}" if header.size else ""), (header.host, "")]
        found = [(host, size, f"   {sign}{state}") for host, size in hosts for state in header.states]
        # Where there is room for one of them, how a run stands goes before the name.
        alone = [("", "", f"{sign}{state}") for state in header.states] if header.running else []
        for host, size, state in (*found, *alone, *((*one, "") for one in hosts)):
            if cell_len(host + size + state) <= free:
                right = Content.assemble(
                    (host, "bold $hi"), (size, "$dim"), (state, "$acc" if header.running else "$dim")
                )
                return left + Content(" " * (free - right.cell_length + 1)) + right + Content(" ")
        return left.truncate(width, pad=True)

    @staticmethod
    def _tab(key: str, label: str, *, is_here: bool, plain: bool) -> Content:
        before, behind = (("[", "]") if plain else ("▌", " ")) if is_here else (" ", " ")
        tab = Content.assemble(
            (before, "$acc" if is_here else ""),
            (key, "bold $acc"),
            (f" {label}{behind}", "bold $hi" if is_here else "$dim"),
        )
        return _pressing(tab.stylize("on $background") if is_here and not plain else tab, key)


class KeyLine(TextLine):
    """The keys that matter: those of this mode as far as they fit, those that hold everywhere always."""

    _keys: reactive[tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]] = reactive(((), ()))

    def show(self, here: Sequence[tuple[str, str]], everywhere: Sequence[tuple[str, str]]) -> None:
        """Show key and label of some actions."""
        self._keys = (tuple(here)[: MOST_KEYS - len(everywhere)], tuple(everywhere))

    def render(self) -> Content:
        """Key and label, the key bold so that it needs no color."""
        here, everywhere = self._keys
        free = self.size.width - sum(_width(entry) for entry in everywhere)
        left = Content("")
        for entry in here:
            if left.cell_length + _width(entry) > free:
                break
            left += _entry(entry)
        gap = Content(" " * max(free - left.cell_length, 0))
        return Content.assemble(left, gap, *map(_entry, everywhere)).truncate(self.size.width)


def _width(entry: tuple[str, str]) -> int:
    return cell_len(entry[0]) + cell_len(entry[1]) + 3


def _entry(entry: tuple[str, str]) -> Content:
    return _pressing(Content.assemble(" ", (entry[0], "bold $acc"), f" {entry[1]} "), entry[0])


def _pressing(content: Content, key: str) -> Content:
    """Return a content, a click on which does what the key does."""
    return content.stylize(Style.from_meta({"@click": f"app.simulate_key({pressed_key(key)!r})"}))


_BEFORE, _BEHIND = "<", ">"
"""In place of the tabs that there is no room for."""
_PADDING = 2


def tabs_text(names: Iterable[str], chosen: str) -> Content:
    """Return tabs in one line, each a name that a click on it chooses, the chosen one with an edge."""
    parts = []
    for name in names:
        edge = ("▌", "$acc") if name == chosen else " "
        content = Content.assemble(edge, (f"{name} ", "bold $hi" if name == chosen else "$dim"))
        link = Style.from_meta({"@click": f"screen.view({name!r})"})
        parts.append(content if name == chosen else content.stylize(link))  # a link has the color of one
    return Content.assemble(*parts)


def visible_tabs(names: Sequence[str], chosen: str, width: int) -> tuple[str, ...]:
    """Return the names that fit into a width, in pages of which the one with the chosen name is shown."""
    if sum(cell_len(name) + _PADDING for name in names) <= width:
        return tuple(names)
    free_columns = width - 2 * (1 + _PADDING)
    pages: list[list[str]] = [[]]
    for name in names:
        if pages[-1] and sum(cell_len(one) + _PADDING for one in (*pages[-1], name)) > free_columns:
            pages.append([])
        pages[-1].append(name)
    number = next((number for number, page in enumerate(pages) if chosen in page), 0)
    before, behind = (_BEFORE,) * bool(number), (_BEHIND,) * (number < len(pages) - 1)
    return (*before, *pages[number], *behind)
