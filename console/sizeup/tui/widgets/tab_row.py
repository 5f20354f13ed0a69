"""Named tabs in one row, drawn as text: a widget for each would be laid out again whenever a run brings a tab more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual import events
from textual.message import Message

from sizeup.charts.drawing import Drawing
from sizeup.tui.widgets.cells import CellView


class TabRow(CellView):
    """Tabs by name, the chosen one reversed."""

    DEFAULT_CSS = """
    TabRow { height: 1; pointer: pointer; }
    """

    class Chosen(Message):
        """Another tab was chosen by a click."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._names: tuple[str, ...] = ()
        self._chosen = ""
        self._hovered = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tabs, in their order."""
        return self._names

    @property
    def chosen(self) -> str:
        """The name of the tab that is shown; empty where there is none."""
        return self._chosen if self._chosen in self._names else ""

    def show_tabs(self, names: Sequence[str], chosen: str) -> None:
        """Show tabs of these names, one of them as the chosen one, and of too many those around it."""
        if (tuple(names), chosen) != (self._names, self._chosen):
            self._names, self._chosen = tuple(names), chosen
            self._redraw()

    def column(self, name: str) -> int | None:
        """Return the first column of a tab; None where it is not shown."""
        return next((start for start, shown in self._placed() if shown == name), None)

    def _placed(self) -> Iterator[tuple[int, str]]:
        """First column and name of each tab that there is room for."""
        x = 0
        for name in visible_tabs(self._names, self._chosen, self.size.width):
            yield x, name
            x += cell_len(name) + _PADDING

    def _redraw(self) -> None:
        drawing = Drawing(*self.size)
        for x, name in self._placed():
            role = "cursor" if name == self._chosen else "hovered" if name == self._hovered else "text"
            drawing.put(x, 0, f" {name} ", role)
        self.present(drawing)

    def on_resize(self) -> None:
        """Show as many as there is room for now."""
        self._redraw()

    def _at(self, x: int) -> str:
        return next((name for start, name in self._placed() if start <= x < start + cell_len(name) + _PADDING), "")

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Underline the tab under the pointer."""
        self._hover(self._at(event.x))

    def on_leave(self) -> None:
        """No tab is under the pointer any more."""
        self._hover("")

    def _hover(self, name: str) -> None:
        if name != self._hovered:
            self._hovered = name
            self._redraw()

    def on_click(self, event: events.Click) -> None:
        """Tell the page by name."""
        name = self._at(event.x)
        if name in (_BEFORE, _BEHIND):
            shown = [one for _, one in self._placed() if one not in (_BEFORE, _BEHIND)]
            end = self._names.index(shown[0]) - 1 if name == _BEFORE else self._names.index(shown[-1]) + 1
            name = self._names[end]
        if name and name != self._chosen:
            self.post_message(self.Chosen(name))


_BEFORE, _BEHIND = "<", ">"
"""In place of the tabs that there is no room for."""
_PADDING = 2


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
