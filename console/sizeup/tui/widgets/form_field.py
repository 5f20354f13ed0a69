"""One setting of a form: its name beside a list to choose from, or a field to type in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.validation import ValidationResult, Validator
from textual.widget import Widget
from textual.widgets import Input, OptionList, Select, Static

from sizeup.errors import SizeupError
from sizeup.probing.manifest import Parameter, parse_value
from sizeup.terminal.compact_select import ChoiceOverlay, CompactSelect
from sizeup.tui.run_form import label
from sizeup.units import format_bytes

_OTHER = "\0"
"""Value of the list entry that opens a field for any other value."""
_EXAMPLE_PATH = "such as /u01/data"
_UNITS = "kmgibt"
"""Letters of the units of sizes: KiB, MB and so on."""


class SettingValidator(Validator):
    """Accepts the values that the parameter accepts; an empty field means its default."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__()
        self._parameter = parameter

    def validate(self, value: str) -> ValidationResult:
        """Return success, or a failure with the reason."""
        if not value.strip():
            return self.success()
        try:
            parse_value(self._parameter, value, label(self._parameter))
        except SizeupError as error:
            return self.failure(str(error))
        return self.success()


class SettingSelect(CompactSelect):
    """A list whose first line says that nothing is chosen and cannot be chosen itself."""

    class Closed(Message):
        """The list is shown no more."""

    begins_blank = False
    """Whether there is such a line."""

    def watch_expanded(self, expanded: bool) -> None:  # noqa: FBT001  Textual passes it so
        """Refuse the first line while the list is shown."""
        super().watch_expanded(expanded)
        if expanded and self.begins_blank:
            self.query_one(OptionList).disable_option_at_index(0)
        if not expanded:
            self.post_message(self.Closed())


class FormField(Horizontal):
    """The name of a setting beside its control."""

    @dataclass
    class Changed(Message):
        """Another value was chosen or typed; ``run`` is whether that was confirmed by Enter."""

        name: str
        text: str
        run: bool = False

    @dataclass
    class Pressed(Message):
        """A key of the screen was pressed in the open list, whose line under the cursor is chosen."""

        character: str

    @dataclass
    class Wrong(Message):
        """The typed value is refused; an empty problem means that it is valid again."""

        problem: str

    def __init__(
        self,
        name: str,
        title: str,
        text: str,
        *,
        key: str = "",
        options: Sequence[tuple[str, str]] = (),
        parameter: Parameter | None = None,
        wide: bool = False,
        letters: str = "",
    ) -> None:
        super().__init__(id=f"f-{name}", classes="wide" if wide else "short")
        self.setting = name
        self._title, self._key, self._text = title, key, text
        self._options = tuple(options)
        self._parameter = parameter
        self._begins_blank = not text
        self._letters = letters
        """Keys of the screen that also work in the open list."""
        self._refused = False
        """Whether the field comes back with a refused value: leaving it before that does not bring the list back."""
        self._came_from: Widget | None = None
        """What had the focus when a key opened the list; it gets it back."""
        self._offered: list[str] = []
        """The values in the list as it stands, but for the first line of one without a choice."""

    def compose(self) -> ComposeResult:
        """The key that changes it, its name, and a list or a field."""
        key = ((self._key, "bold $acc"), " ") if self._key else ()
        yield Static(Content.assemble(*key, (f"{self._title} ", "$dim")), classes="label")
        if self._options:
            select = SettingSelect(
                self._listed(self._text),
                value=self._text or Select.NULL,
                allow_blank=self._begins_blank,
                prompt=f"choose a {self._title.lower()}",
                compact=True,
            )
            select.begins_blank = self._begins_blank
            select.letters = self._letters + ("/" if self._is_path else "")
            select.units = _UNITS if self._parameter is not None and self._parameter.type == "bytes" else ""
            yield select
        validators = [] if self._parameter is None else [SettingValidator(self._parameter)]
        field = Input(
            self._text,
            placeholder=_EXAMPLE_PATH if self._is_path else "",
            compact=True,
            validators=validators,
            validate_on=["changed"],
        )
        field.cursor_blink = False  # an idle screen sends nothing
        field.display = not self._options
        yield field

    @property
    def _is_path(self) -> bool:
        return self._parameter is not None and self._parameter.type == "path"

    def _listed(self, text: str) -> list[tuple[Text, str]]:
        listed = [(Text(shown), value) for shown, value in self._options]
        if text and text not in {value for _, value in self._options}:
            listed.append((Text(self._shown(text)), text))
        if self._parameter is not None and self._parameter.type != "choice" and self._parameter.type != "bool":
            listed.append((Text("other ..."), _OTHER))
        self._offered = [value for _, value in listed]
        return listed

    def _shown(self, text: str) -> str:
        """Return a value that was typed as the list shows it."""
        if self._parameter is None or self._parameter.type != "bytes" or self._problem(text):
            return text
        return format_bytes(int(parse_value(self._parameter, text, self.setting)))

    @property
    def control(self) -> Select[str] | Input:
        """What has the focus here."""
        selects = [select for select in self.query(Select) if select.display]
        return selects[0] if selects else self.query_one(Input)

    def open(self) -> None:
        """Give the control the focus; a list opens, and when it closes the focus goes back."""
        self._show_list()
        focused = self.screen.focused
        self._came_from = None if isinstance(focused, OptionList) and focused in self.query(OptionList) else focused
        control = self.control
        control.focus()
        if isinstance(control, Select):
            control.action_show_overlay()
            overlay = control.query_one(OptionList)
            if control.is_blank() and overlay.option_count > 1:
                overlay.highlighted = 1  # behind the words that nothing is chosen

    def show(self, text: str, *, unused: bool) -> None:
        """Show another value, which was not chosen here; ``unused`` is whether it has no effect."""
        self.set_class(unused, "-unused")
        if not self.is_mounted or not self.query(Input):
            self._text = text
            return
        field = self.query_one(Input)
        for select in self.query(Select):
            with select.prevent(Select.Changed):
                if (text or Select.NULL) == select.value:
                    continue
                if text and text not in self._offered:
                    select.set_options(self._listed(text))
                if text or self._begins_blank:
                    select.value = text or Select.NULL
        if field.value != text and not field.has_focus:
            with field.prevent(Input.Changed):
                field.value = text
        self._text = text

    @on(Select.Changed)
    def _chosen(self, event: Select.Changed) -> None:
        event.stop()
        if event.value == _OTHER:
            self._show_input()
        elif isinstance(event.value, str) and event.value != self._text:
            self._text = event.value
            self.post_message(self.Changed(self.setting, event.value))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        result = event.validation_result
        problem = "; ".join(result.failure_descriptions) if result is not None and not result.is_valid else ""
        self.post_message(self.Wrong(problem))

    @on(ChoiceOverlay.Typed)
    def _typed_in_list(self, event: ChoiceOverlay.Typed) -> None:
        """Begin a path; or take the typed number or the line under the cursor, and let the key do what it does."""
        event.stop()
        if event.number and _OTHER not in self._offered:
            return
        select = self.query_one(SettingSelect)
        came_from, self._came_from = self._came_from, None  # what the key does may take the focus
        (select if came_from is None or event.key == "tab" else came_from).focus()
        select.expanded = False
        number = self._with_unit(event.number)
        if event.key == "/" or (number and self._problem(number)):
            self._show_input(number or event.key)
            return
        index = -1 if event.index is None else event.index - self._begins_blank
        chosen = self._offered[index] if 0 <= index < len(self._offered) else _OTHER
        chosen = number or chosen
        if chosen not in (_OTHER, self._text):
            if chosen in self._offered:
                with select.prevent(Select.Changed):
                    select.value = chosen
                self._text = chosen
            self.post_message(self.Changed(self.setting, chosen))
        if event.key == "tab":
            self.screen.focus_next()
        elif event.key != "enter":
            # Once the focus has moved: what the key opens takes it.
            self.call_after_refresh(self.post_message, self.Pressed(event.key))

    def on_paste(self, event: events.Paste) -> None:
        """Take a value that is pasted while the list is open into the field."""
        words = event.text.splitlines()
        select = next((select for select in self.query(Select) if select.expanded), None)
        if not words or select is None or _OTHER not in self._offered:
            return
        event.stop()
        self._came_from = None
        select.focus()
        select.expanded = False
        self._show_input(words[0].strip())

    def _with_unit(self, number: str) -> str:
        """Return a number with the unit of the list, KiB, where it is refused as a number of bytes."""
        with_unit = f"{number}KiB"
        is_size = self._parameter is not None and self._parameter.type == "bytes" and number.isdecimal()
        return with_unit if is_size and self._problem(number) and not self._problem(with_unit) else number

    def _problem(self, text: str) -> str:
        """Return why the parameter refuses a value; empty where it takes it."""
        result = None if self._parameter is None else SettingValidator(self._parameter).validate(text)
        return "" if result is None or result.is_valid else "; ".join(result.failure_descriptions)

    def type_again(self, text: str) -> None:
        """Go back to the field with a value that was refused."""
        self._refused = True
        with self.query_one(Input).prevent(Input.Changed):
            self._show_input(text)

    def _show_input(self, begin: str = "") -> None:
        """Put the field for any value in place of the list."""
        self.query_one(SettingSelect).display = False
        field = self.query_one(Input)
        field.display = True
        if begin:
            field.value, field.cursor_position = begin, len(begin)
        field.select_on_focus = not begin
        field.focus()

    @on(SettingSelect.Closed)
    def _list_closed(self, event: SettingSelect.Closed) -> None:
        """Give the focus back to where it was when a key opened the list."""
        event.stop()
        came_from, self._came_from = self._came_from, None
        select = self.query_one(SettingSelect)
        if (
            came_from is not None
            and came_from.is_mounted
            and select.display
            and (select.has_focus or select.query_one(OptionList).has_focus)
        ):
            came_from.focus()

    def _show_list(self) -> None:
        """Put the list back in place of the field for any value."""
        field = self.query_one(Input)
        for select in self.query(Select):
            if not select.display:
                select.display, field.display = True, False
                select.focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._show_list()
        self.post_message(self.Changed(self.setting, event.value, run=True))

    @on(Input.Blurred)
    def _left(self, event: Input.Blurred) -> None:
        event.stop()
        if event.value != self._text:
            self.post_message(self.Changed(self.setting, event.value))
        if self.app.app_focus:  # else the terminal lost the focus, and gives it back to the field
            self.call_after_refresh(self._put_list_back)

    def on_key(self, event: events.Key) -> None:
        """Escape forgets what was typed: the value from before holds."""
        field = self.query_one(Input)
        if event.key != "escape" or not field.has_focus:
            return
        with field.prevent(Input.Changed):
            field.value = self._text
        self.post_message(self.Wrong(""))
        self.call_after_refresh(self._put_list_back)

    def _put_list_back(self) -> None:
        """Show the list in place of the field, which the focus has left."""
        field = self.query_one(Input)
        refused, self._refused = self._refused, False
        for select in self.query(Select):
            if not field.has_focus and not refused:
                select.display, field.display = True, False
