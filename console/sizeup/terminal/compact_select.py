"""A list to choose from that takes one row: what is chosen, and an arrow that says that it opens.

Textual has a widget each for the value and for two arrows, and offers no other parts for its list. Every frame goes
through all of them and a move of the focus styles them anew: with them, a key between two fields of a form takes 30 %
more calls.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style as VisualStyle
from textual.widgets import Select
from textual.widgets._select import SelectCurrent, SelectOverlay
from textual.widgets.select import NoSelection

_CLOSED, _OPEN = "▼", "▲"


class ChosenValue(SelectCurrent):
    """The chosen value and the arrow in one widget."""

    is_open = reactive(False)  # noqa: FBT003  Textual's own
    """Whether the list is shown."""
    number = reactive("")
    """A number that is being typed, in place of the value."""

    def compose(self) -> ComposeResult:
        """Nothing stands inside."""
        yield from ()

    def update(self, label: object) -> None:
        """Show another value, or the words that nothing is chosen."""
        self.label = label if isinstance(label, str | Text | NoSelection) else str(label)
        self.has_value = not isinstance(label, NoSelection)
        self.refresh()

    def render(self) -> Text:
        """The value at the left, the arrow at the right edge."""
        shown = self.placeholder if isinstance(self.label, NoSelection) else self.label
        words = self.number or (shown.plain if isinstance(shown, Text) else str(shown))
        text = Text(words, no_wrap=True, end="")
        room = self.content_size.width - cell_len(_CLOSED) - 1
        text.truncate(max(room, 0), overflow="ellipsis", pad=True)
        return text.append(f" {_OPEN if self.is_open else _CLOSED}")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One row."""
        del container, viewport, width
        return 1


_SEARCH_SECONDS = 0.7
"""What is typed within this time is one word to look for, as in Textual's list."""


class ChoiceOverlay(SelectOverlay):
    """A list in which j and k move, what is typed is looked for, and some keys take a value and lead on.

    A typed number selects the line that begins with exactly this number, and is a value itself where no line does.
    """

    @dataclass
    class Typed(Message):
        """One of those keys was pressed, with the line under the cursor, or with a number that no line begins with."""

        index: int | None
        key: str
        """A character, ``enter`` or ``tab``."""
        number: str = ""

    @dataclass
    class NumberTyped(Message):
        """A number is being typed; empty where it was taken back."""

        number: str

    def __init__(self, letters: str, units: str = "") -> None:
        super().__init__()
        self._letters, self._units = letters, units
        self._word, self._word_time = "", 0.0
        self._number = ""
        """The number that is being typed, where lines begin with numbers."""

    def get_visual_style(self, *component_classes: str, partial: bool = False) -> VisualStyle:
        """The style of a part of the list, with the reversal that Textual leaves out and a cursor may live by."""
        style = super().get_visual_style(*component_classes, partial=partial)
        reverse = any(self.get_component_styles(name).text_style.reverse for name in component_classes)
        return style + VisualStyle(reverse=True) if reverse else style

    def on_focus(self) -> None:
        """Begin without a number: the list has opened."""
        self._number = ""

    def _take_number(self, event: events.Key) -> bool:
        """Return whether a key was part of a number, or took the value."""
        typed = event.character or ""
        words = [str(option.prompt).partition(" ")[0] for option in self.options]
        digit = typed.isdecimal() and typed.isascii() and any(word.isdecimal() for word in words)
        # After the first letter of a unit the others belong to it: b of 24kib leads nowhere.
        unit = bool(self._number and typed) and typed.lower() in self._units
        unit = unit and (typed not in self._letters or not self._number[-1].isdecimal())
        if digit or unit or (self._number and event.key == "backspace"):
            self._number = self._number[:-1] if event.key == "backspace" else self._number + typed
            if self._number in words:
                self.highlighted = words.index(self._number)
            self.post_message(self.NumberTyped(self._number))
            return True
        number = "" if self._number in words else self._number
        takes = event.key == "tab" or (number and (event.key == "enter" or (typed and typed in self._letters)))
        if takes:
            self.post_message(
                self.Typed(self.highlighted, typed if number and event.is_printable else event.key, number)
            )
        if takes or event.key != "enter":
            self._number = ""
        return bool(takes)

    def on_key(self, event: events.Key) -> None:
        """Leave to Textual what begins a line, or goes on with a word that is looked for."""
        if self._take_number(event):
            event.stop()
            event.prevent_default()
            return
        typed = event.character or ""
        if not event.is_printable or not typed:
            return
        goes_on = time.monotonic() - self._word_time < _SEARCH_SECONDS and bool(self._word)
        word = (self._word + typed if goes_on else typed).lower()
        lines = [str(option.prompt).lower() for option in self.options]
        looked_for = any(word in line if goes_on else line.startswith(word) for line in lines)
        leads_on = typed in self._letters and (typed == "/" or not looked_for)
        if leads_on and not (goes_on and looked_for):
            self.post_message(self.Typed(self.highlighted, typed))
        elif typed in "jk" and not looked_for:
            (self.action_cursor_down if typed == "j" else self.action_cursor_up)()
        else:
            self._word, self._word_time = word, time.monotonic()
            return
        self._word = ""
        event.stop()
        event.prevent_default()


class CompactSelect(Select[str]):
    """A list that takes one row while it is closed."""

    letters = ""
    """What leads on from the open list to something else."""
    units = ""
    """Letters that may follow a typed number."""

    def compose(self) -> ComposeResult:
        """The value, and the list in front of the screen while it is open."""
        yield ChosenValue(self.prompt)
        yield ChoiceOverlay(self.letters, self.units).data_bind(compact=Select.compact)

    def watch_expanded(self, expanded: bool) -> None:  # noqa: FBT001  Textual passes it so
        """Turn the arrow; what was typed gives way to the value."""
        value = self.query_one(ChosenValue)
        value.is_open = expanded
        if not expanded:
            value.number = ""

    @on(ChoiceOverlay.NumberTyped)
    def _number_typed(self, event: ChoiceOverlay.NumberTyped) -> None:
        event.stop()
        self.query_one(ChosenValue).number = event.number
