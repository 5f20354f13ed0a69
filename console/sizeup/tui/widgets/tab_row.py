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
    TabRow Tab { padding: 0 1; }
    TabRow Tab.-active { text-style: bold reverse; color: $foreground; }
    """

    class Chosen(Message):
        """Another tab was chosen, by a key or a click."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._names: tuple[str, ...] = ()
        self._wanted = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tabs, in their order."""
        return self._names

    def show_tabs(self, names: Sequence[str], chosen: str) -> None:
        """Show tabs of these names, one of them as the chosen one."""
        self._wanted = chosen
        if tuple(names) != self._names:
            self._names = tuple(names)
            self.run_worker(self._renew(), exclusive=True)
        else:
            self._activate()

    async def _renew(self) -> None:
        listed = self.query_one("#tabs-list")
        self.active = ""
        await listed.remove_children()
        await listed.mount_all(_made(name) for name in self._names)
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
        if event.tab is self.active_tab and name != self._wanted:
            self._wanted = name
            self.post_message(self.Chosen(name))


def _made(name: str) -> Tab:
    return Tab(Content(name), id="t-" + "".join(f"{ord(character):x}" for character in name))
