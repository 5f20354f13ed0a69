"""Every command of every screen, one line each: what it does, what it acts on now, and its key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.widgets.option_list import Option

from sizeup.tui.dialogs import PickDialog
from sizeup.tui.widgets.lists import KeyList

_COLUMNS = 74
_AROUND = 7
"""Columns of the frame, of the scroll bar, and beside a line."""


class ConsoleCommand(Struct, frozen=True):
    """One thing that can be done now, from any screen."""

    group: str
    name: str
    value: str
    """What it acts on, or what is set now; empty where the name says all."""
    key: str
    run: Callable[[], object]


class CommandDialog(PickDialog):
    """The commands by group; what is typed narrows them, and is marked where it was found."""

    DEFAULT_CSS = f"""
    CommandDialog {{ align: center top; }}
    CommandDialog .dialog.wide {{ width: {_COLUMNS}; margin-top: 4; }}
    CommandDialog KeyList {{ max-height: 60vh; }}
    """
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (("Enter", "Run"), ("Down", "Choose"), ("Esc", "Close"))

    def __init__(self, commands: Sequence[ConsoleCommand]) -> None:
        super().__init__("Commands", [(str(number), one.name) for number, one in enumerate(commands)])
        self._commands = commands

    def _fill(self, text: str) -> None:
        words = text.lower().split()
        width = min(self.app.size.width, _COLUMNS) - _AROUND
        options, group, count = list[Option](), "", 0
        for number, one in enumerate(self._commands):
            where = f"{one.name} {one.value}".lower()
            if not all(word in where for word in words):
                continue
            if one.group != group:
                group = one.group
                options.append(Option(Content.styled(f"{group} {'─' * (width - len(group))}", "$dim"), disabled=True))
            count += 1
            options.append(Option(_line(one, words, width), id=str(number)))
        listed = self.query_one(KeyList)
        listed.set_options(options or [Option("No match.", disabled=True)])
        listed.highlighted = 1 if options else None
        self.query_one(".dialog").border_subtitle = f"{count} of {len(self._commands)}"


def _line(command: ConsoleCommand, words: Sequence[str], width: int) -> Content:
    """Return name, value and key in so many columns, the words that were typed marked in the name."""
    key = f" {command.key} "
    room = width - 1 - max(cell_len(key), 5)
    value = command.value if cell_len(command.name) + cell_len(command.value) + 2 <= room else ""
    name = Content(set_cell_size(command.name, room - cell_len(value)))
    for word in words:
        place = command.name.lower().find(word)
        if place >= 0:
            name = name.stylize("bold $acc", place, place + len(word))
    gap = " " * (width - 1 - room - cell_len(key))
    return Content.assemble(" ", name, (value, "$dim"), gap, (key, "bold $acc"))
