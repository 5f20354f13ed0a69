"""A list to choose from that takes one row: what is chosen, and an arrow that says that it opens.

Textual has a widget each for the value and for two arrows, and offers no other parts for its list. Every frame goes
through all of them and a move of the focus styles them anew: with them, a key between two fields of a form takes 30 %
more calls.
"""

from __future__ import annotations

import time

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Select
from textual.widgets._select import SelectCurrent, SelectOverlay
from textual.widgets.select import NoSelection

_CLOSED, _OPEN = "▼", "▲"


class ChosenValue(SelectCurrent):
    """The chosen value and the arrow in one widget."""

    is_open = False
    """Whether the list is shown."""

    def compose(self) -> ComposeResult:
        """Nothing stands inside."""
        yield from ()

    def update(self, label: object) -> None:
        """Show another value, or the words that nothing is chosen."""
        self.label = label if isinstance(label, str | Text | NoSelection) else str(label)
        self.has_value = not isinstance(label, NoSelection)
        self.refresh()

    def show_open(self, *, is_open: bool) -> None:
        """Turn the arrow."""
        self.is_open = is_open
        self.refresh()

    def render(self) -> Text:
        """The value at the left, the arrow at the right edge."""
        shown = self.placeholder if isinstance(self.label, NoSelection) else self.label
        text = Text(shown.plain if isinstance(shown, Text) else str(shown), no_wrap=True, end="")
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
    """A list in which j and k move, what is typed is looked for, and some letters lead on to something else.

    A typed number selects the line that begins with exactly this number; Enter on any other number leads on with it.
    """

    class Typed(Message):
        """One of those letters, or such a number, was typed, with the line under the cursor."""

        def __init__(self, index: int | None, character: str) -> None:
            super().__init__()
            self.index = index
            self.character = character

    def __init__(self, letters: str) -> None:
        super().__init__()
        self._letters = letters
        self._word, self._word_time = "", 0.0
        self._number = ""
        """The number that is being typed, where lines begin with numbers."""

    def on_focus(self) -> None:
        """Begin without a number: the list has opened."""
        self._number = ""

    def _first_words(self) -> list[str]:
        return [str(option.prompt).partition(" ")[0] for option in self.options]

    def _take_number(self, event: events.Key) -> bool:
        """Return whether a key was part of a number, or ended one that no line begins with."""
        typed = event.character or ""
        words = self._first_words()
        if typed.isdecimal() and typed.isascii() and any(word.isdecimal() for word in words):
            self._number += typed
            if self._number in words:
                self.highlighted = words.index(self._number)
            return True
        number, self._number = self._number, ""
        if event.key != "enter" or not number or number in words:
            return False
        self.post_message(self.Typed(self.highlighted, number))
        return True

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

    def compose(self) -> ComposeResult:
        """The value, and the list in front of the screen while it is open."""
        yield ChosenValue(self.prompt)
        yield ChoiceOverlay(self.letters).data_bind(compact=Select.compact)

    def watch_expanded(self, expanded: bool) -> None:  # noqa: FBT001  Textual passes it so
        """Turn the arrow."""
        self.query_one(ChosenValue).show_open(is_open=expanded)
