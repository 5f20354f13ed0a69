"""Named tabs in one row of text, such as the edge of a frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.style import Style

_BEFORE, _BEHIND = "<", ">"
"""In place of the tabs that there is no room for."""
_PADDING = 2


def tabs_text(names: Iterable[str], chosen: str) -> Content:
    """Return tabs in one line, each a name that a click on it chooses, the chosen one with an edge."""
    parts = []
    for name in names:
        edge = ("▌", "$acc") if name == chosen else " "
        content = Content.assemble(edge, (f"{name} ", "bold $hi" if name == chosen else "$dim"))
        parts.append(content.stylize(Style.from_meta({"@click": f"screen.view({name!r})"})))
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
