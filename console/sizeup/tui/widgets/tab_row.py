"""Named tabs in one row of text: a widget for each would be laid out again whenever a run brings a tab more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

_BEFORE, _BEHIND = "<", ">"
"""In place of the tabs that there is no room for."""
_PADDING = 2


class TabRow(Static):
    """Tabs by name, the chosen one reversed; a click on one does ``screen.view`` with its name."""

    DEFAULT_CSS = """
    TabRow { height: 1; link-color: $foreground; link-style: none; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.names: tuple[str, ...] = ()
        """The names of all tabs, in their order."""
        self.chosen = ""
        """The name of the tab that is shown; empty where there is none."""

    def show_tabs(self, names: Sequence[str], chosen: str) -> None:
        """Show tabs of these names, one of them as the chosen one, and of too many those around it."""
        if (tuple(names), chosen) != (self.names, self.chosen):
            self.names, self.chosen = tuple(names), chosen
            self.on_resize()

    def on_resize(self) -> None:
        """Show as many as there is room for now."""
        shown = visible_tabs(self.names, self.chosen, self.size.width)
        at = [self.names.index(name) for name in shown if name in self.names]
        leads = {_BEFORE: self.names[at[0] - 1], _BEHIND: self.names[(at[-1] + 1) % len(self.names)]} if at else {}
        self.update(tabs_text(((name, leads.get(name, name)) for name in shown), self.chosen), layout=False)


def tabs_text(tabs: Iterable[tuple[str, str]], chosen: str) -> Content:
    """Return tabs in one line, each a text and the name that a click on it chooses, the chosen one reversed."""
    parts = []
    for text, name in tabs:
        style = Style.parse("reverse bold" if name == chosen else "")
        parts.append(Content(f" {text} ").stylize(style + Style.from_meta({"@click": f"screen.view({name!r})"})))
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
