"""A list to choose from that takes one row: what is chosen, and an arrow that says that it opens.

Textual has a widget each for the value and for two arrows, and offers no other parts for its list. Every frame goes
through all of them and a move of the focus styles them anew: with them, a key between two fields of a form takes 30 %
more calls.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.geometry import Size
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


class CompactSelect(Select[str]):
    """A list that takes one row while it is closed."""

    def compose(self) -> ComposeResult:
        """The value, and the list in front of the screen while it is open."""
        yield ChosenValue(self.prompt)
        yield SelectOverlay().data_bind(compact=Select.compact)

    def watch_expanded(self, expanded: bool) -> None:  # noqa: FBT001  Textual passes it so
        """Turn the arrow."""
        self.query_one(ChosenValue).show_open(is_open=expanded)
