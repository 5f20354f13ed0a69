"""Named tabs in one row."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.message import Message
from textual.widgets import Tab, Tabs


class TabRow(Tabs, can_focus=False):
    """Tabs by name."""

    DEFAULT_CSS = """
    TabRow { height: 1; }
    TabRow Underline { display: none; }
    TabRow Tab { padding: 0 1; color: $foreground; }
    TabRow Tab:hover { text-style: underline; }
    TabRow Tab.-active { text-style: bold reverse; color: $foreground; }
    TabRow Tab:ansi { text-style: not dim; }
    TabRow Tab.-active:ansi { text-style: not dim bold reverse; }
    """

    class Chosen(Message):
        """Another tab was chosen, by a key or a click."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._names: tuple[str, ...] = ()
        self._fitting: tuple[str, ...] = ()
        self._wanted = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tabs, in their order."""
        return self._names

    def show_tabs(self, names: Sequence[str], chosen: str) -> None:
        """Show tabs of these names, one of them as the chosen one, and of too many those around it."""
        self._wanted, self._names = chosen, tuple(names)
        fitting = tabs_around(self._names, chosen, self.size.width)
        if fitting != self._fitting:
            self._fitting = fitting
            self.run_worker(self._renew(), exclusive=True)
        else:
            self._activate()

    def on_resize(self) -> None:
        """Show as many as there is room for now."""
        self.show_tabs(self._names, self._wanted)

    async def _renew(self) -> None:
        listed = self.query_one("#tabs-list")
        self.active = ""
        await listed.remove_children()
        await listed.mount_all(_made(name) for name in self._fitting)
        self._activate()

    def _tab(self, name: str) -> Tab | None:
        return next((tab for tab in self.query(Tab) if tab.label_text == name), None)

    def _activate(self) -> None:
        tab = self._tab(self._wanted)
        if tab is not None and tab.id:
            self.active = tab.id

    def on_tabs_tab_activated(self, event: Tabs.TabActivated) -> None:
        """Tell the page by name."""
        event.stop()
        name = event.tab.label_text
        if event.tab is not self.active_tab or name == self._wanted:
            return
        if name in (_BEFORE, _BEHIND):
            shown = [one for one in self._fitting if one not in (_BEFORE, _BEHIND)]
            end = self._names.index(shown[0]) - 1 if name == _BEFORE else self._names.index(shown[-1]) + 1
            name = self._names[end]
        self._wanted = name
        self.post_message(self.Chosen(name))


_BEFORE, _BEHIND = "<", ">"
"""In place of the tabs that there is no room for."""
_PADDING = 2


def tabs_around(names: Sequence[str], chosen: str, width: int) -> tuple[str, ...]:
    """Return the names that fit into a width, in pages of which the one with the chosen name is shown."""
    if sum(len(name) + _PADDING for name in names) <= width:
        return tuple(names)
    room = width - 2 * (1 + _PADDING)
    pages: list[list[str]] = [[]]
    for name in names:
        if pages[-1] and sum(len(one) + _PADDING for one in (*pages[-1], name)) > room:
            pages.append([])
        pages[-1].append(name)
    number = next((number for number, page in enumerate(pages) if chosen in page), 0)
    before, behind = (_BEFORE,) * bool(number), (_BEHIND,) * (number < len(pages) - 1)
    return (*before, *pages[number], *behind)


def _made(name: str) -> Tab:
    return Tab(Content(name), id="t-" + "".join(f"{ord(character):x}" for character in name))
