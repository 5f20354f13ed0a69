"""One of many: a list that is narrowed by typing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from sizeup.tui.dialogs import Dialog
from sizeup.tui.widgets.lists import KeyList, hanging


class PickDialog(Dialog[str]):
    """A field above a list; what is typed narrows the list, Enter takes what the cursor is on."""

    AUTO_FOCUS = "Input"

    def __init__(self, question: str, offered: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._question = question
        self._offered = tuple(offered)

    def compose(self) -> ComposeResult:
        """Field, list, and what the keys do."""
        with Vertical(classes="dialog wide") as box:
            box.border_title = self._question
            box.border_subtitle = "Up and Down move, Enter selects, Esc closes"
            yield Input(placeholder="type to narrow the list", compact=True)
            yield KeyList()

    def on_mount(self) -> None:
        """Offer everything."""
        self._fill("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self._fill(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what the cursor is on."""
        del event
        option = self.query_one(KeyList).highlighted_option
        if option is not None and option.id is not None:
            self.dismiss(option.id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        self.dismiss(event.option_id)

    def on_key(self, event: Key) -> None:
        """The arrows move the list while the field has the focus."""
        listed = self.query_one(KeyList)
        moves: dict[str, Callable[[], None]] = {
            "down": listed.action_cursor_down,
            "up": listed.action_cursor_up,
            "pagedown": listed.action_page_down,
            "pageup": listed.action_page_up,
        }
        if event.key in moves and not listed.has_focus:
            moves[event.key]()
            event.stop()

    def _fill(self, text: str) -> None:
        wanted = text.lower().split()
        fitting = [entry for entry in self._offered if all(word in entry[1].lower() for word in wanted)]
        fitting.sort(key=lambda entry: not all(word in entry[0].lower() for word in wanted))
        options = [Option(hanging(label, 70, 0, 2), id=name) for name, label in fitting]
        listed = self.query_one(KeyList)
        listed.set_options(options or [Option("No match.", disabled=True)])
        listed.highlighted = 0 if options else None
