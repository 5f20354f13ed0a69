"""Dialogs: help, leaving, settings of a probe, and consent before something is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.events import DescendantFocus
from textual.screen import ModalScreen
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sizeup.errors import SizeupError
from sizeup.model.finding import Finding
from sizeup.model.plan import SettingValue
from sizeup.probing.devices import Device
from sizeup.probing.manifest import Manifest, Parameter
from sizeup.probing.settings import expectation, how_used, parse_value, why_unused
from sizeup.tui.actions import ACTIONS, SCOPES, bindings, key_text
from sizeup.tui.widgets.facts import FactsGrid, finding_text
from sizeup.tui.widgets.lists import KeyList, hanging
from sizeup.units import format_bytes

Answer = TypeVar("Answer")
_MOST_ANSWERS = 14
"""Rows of answers; of more the list scrolls."""


class Dialog(ModalScreen[Answer | None]):
    """Escape closes it, and closing means nothing was done."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("dialog")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (81, "-normal")]  # noqa: RUF012  Textual's own

    def action_dismiss_dialog(self) -> None:
        """Close without an answer."""
        self.dismiss(None)


class HelpDialog(Dialog[None]):
    """The keys that hold here, drawn from the registry."""

    BINDINGS: ClassVar[list[BindingType]] = [("question_mark,q", "screen.dismiss_dialog", "Close")]

    def __init__(self, scopes: Sequence[str], keymap: Mapping[str, str]) -> None:
        super().__init__()
        self._scopes = tuple(scopes)
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        """Headings and keys."""
        with VerticalScroll(classes="dialog wide") as box:
            box.border_title = "Keys"
            box.border_subtitle = "Esc closes, arrows scroll"
            yield Static(help_text(self._scopes, self._keymap), markup=False)


def help_text(scopes: Sequence[str], keymap: Mapping[str, str]) -> Text:
    """The actions of some scopes, a line each."""
    text = Text()
    for scope in scopes:
        if not ACTIONS[scope]:
            continue
        text.append(f"{SCOPES[scope]}\n", style="bold underline")
        for action in ACTIONS[scope]:
            keys = " ".join(key_text(key) for key in keymap.get(action.id, action.keys).split(","))
            text.append(f"  {keys:<14} ", style="bold")
            text.append(f"{action.help}\n")
        text.append("\n")
    text.rstrip()
    return text


class ChoiceDialog(Dialog[str]):
    """Text above a few answers; the first one is the harmless one and has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pagedown,space", "read_on(1)", "Scroll down", priority=True),
        Binding("pageup", "read_on(-1)", "Scroll up", priority=True),
    ]

    def __init__(
        self,
        question: VisualType,
        answers: Sequence[tuple[str, str]],
        facts: Sequence[tuple[str, str]] = (),
        title: str = "",
    ) -> None:
        super().__init__()
        self._question = question
        self._answers = tuple(answers)
        self._facts = tuple(facts)
        self._title = title

    def compose(self) -> ComposeResult:
        """The question, what there is to know about it, and its answers below."""
        with Vertical(classes="dialog wide") as box:
            box.border_title = self._title
            with VerticalScroll(can_focus=False, classes="text"):
                yield Static(self._question, markup=False)
                if self._facts:
                    yield Static(FactsGrid(self._facts), classes="facts")
            yield KeyList(*(Option(hanging(label, 70, 0, 2), id=key) for key, label in self._answers))

    def on_resize(self) -> None:
        """Give the text what the answers leave; say how to read on where that is too little."""
        text, answers = self.query_one(".text"), self.query_one(KeyList)
        rows = sum(hanging(label, 70, 0, 2).count("\n") + 1 for _, label in self._answers)
        text.styles.max_height = max(self.size.height - min(rows, _MOST_ANSWERS) - 3, 1)
        answers.styles.max_height = _MOST_ANSWERS
        self.call_after_refresh(self._show_keys)

    def _show_keys(self) -> None:
        more = "PgDn scrolls, " if self.query_one(".text").max_scroll_y else ""
        self.query_one(".dialog").border_subtitle = f"{more}Enter chooses, Esc closes"

    def action_read_on(self, pages: int) -> None:
        """Scroll the text, or the answers where the text is whole."""
        text = self.query_one(".text")
        part = text if text.max_scroll_y else self.query_one(KeyList)
        part.scroll_relative(y=pages * max(part.size.height - 1, 1), animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        self.dismiss(event.option_id)


class PageDialog(Dialog[None]):
    """A page of text that wants more room than a pane has."""

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._lines = tuple(lines)

    def compose(self) -> ComposeResult:
        """The page, scrolled by the arrows."""
        with VerticalScroll(classes="dialog page") as box:
            box.border_title = self._title
            box.border_subtitle = "Esc closes"
            yield Static("\n".join(self._lines), markup=False)


class FindingDialog(ChoiceDialog):
    """A finding whole, and what can be done about it; the commands are shown and copied, never run.

    ``probe`` names the one that would confirm it, empty where none is installed; ``reason`` is why it cannot run here.
    """

    def __init__(self, finding: Finding, severity: str, *, probe: str, reason: str) -> None:
        ways = [("part", "Show it in the topology")]
        if probe:
            words = f"Go to probe {probe}, which can confirm it"
            ways.append(("probe", f"{words} (not here: {reason})" if reason else words))
        if finding.command:
            ways.append(("copy", "Copy the command"))
        super().__init__(finding_text(finding, confirmation=not probe), ways, title=severity)


class DeviceDialog(Dialog[str]):
    """Consent to overwrite a device: its name typed in full, which is the answer. Anything else writes nothing."""

    AUTO_FOCUS = "Input"

    def __init__(self, device: Device, facts: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._device = device
        self._facts = (("Device", device.path), ("Mounted", "nowhere"), *facts)

    def compose(self) -> ComposeResult:
        """What would be overwritten, and the field."""
        with Vertical(classes="dialog wide") as box:
            box.border_title = "! All data on this device will be lost"
            yield Static(FactsGrid(self._facts), markup=False)
            yield Static(f"\nTo confirm, type its full name:\n  {self._device.names[0]}", markup=False)
            yield Input(compact=True, id="name")
            yield Static("Enter starts the run when the name matches. Esc cancels.", id="message", classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the name, or say that it is another."""
        name = event.value.strip()
        if name in self._device.names:
            self.dismiss(name)
            return
        message = self.query_one("#message", Static)
        message.update("! The name does not match. Nothing was started or written.")
        message.set_class(True, "-wrong")  # noqa: FBT003  Textual's own


class TextDialog(Dialog[str]):
    """One line of text."""

    def __init__(self, question: str, begun: str = "") -> None:
        super().__init__()
        self._question = question
        self._begun = begun

    def compose(self) -> ComposeResult:
        """The question above its field."""
        with Vertical(classes="dialog wide"):
            yield Static(self._question, markup=False)
            yield Input(self._begun, compact=True, select_on_focus=False)
            yield Static("Enter saves, Esc cancels.", markup=False, classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        self.dismiss(event.value.strip())


class SettingsDialog(Dialog[dict[str, str]]):
    """A form made from a probe's manifest; the answer is what differs from the defaults, as typed."""

    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [("ctrl+s", "screen.save", "Save")]

    def __init__(
        self, manifest: Manifest, settings: Mapping[str, SettingValue], typed: Mapping[str, str], why: str = ""
    ) -> None:
        super().__init__()
        self._why = why
        self._manifest = manifest
        self._settings = settings
        self._defaults = {
            parameter.name: format_setting(parameter, settings.get(parameter.name)) for parameter in manifest.parameter
        }
        self._shown = {**self._defaults, **typed}

    def compose(self) -> ComposeResult:
        """A field for each parameter, with what it takes; above them why it is wanted, if it was not asked for."""
        with Vertical(classes="dialog wide") as box:
            box.border_title = f"Settings of {self._manifest.name}"
            if self._why:
                yield Static(self._why, markup=False, classes="why")
            with VerticalScroll(can_focus=False, classes="form"):
                for parameter in self._manifest.parameter:
                    yield Static(f"{parameter.name}: {parameter.help}", markup=False, id=f"l-{parameter.name}")
                    yield Input(self._shown[parameter.name], id=f"p-{parameter.name}", compact=True)
                    yield Static(_hint(parameter), markup=False, id=f"h-{parameter.name}", classes="hint")
                if not self._manifest.parameter:
                    yield Static("This probe has no settings.", markup=False)
            yield Static("Enter saves, Tab goes to the next field, Esc cancels.", markup=False)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Keep what a field is called, and what it takes, on the screen with it."""
        if isinstance(event.widget, Input):
            name = self._parameter(event.widget.id).name
            self.call_after_refresh(self._show_whole, name)

    def scroll_to_center(self, widget: Widget, *arguments: Any, **named: Any) -> None:
        """Bring a field that got the focus into view with its name; Textual would put the field alone in the middle."""
        if isinstance(widget, Input):
            self._show_whole(self._parameter(widget.id).name)
        else:
            super().scroll_to_center(widget, *arguments, **named)

    def _show_whole(self, name: str) -> None:
        label, hint = (self.query_one(f"#{part}-{name}") for part in ("l", "h"))
        hint.scroll_visible(animate=False, immediate=True)
        label.scroll_visible(animate=False, immediate=True)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say at once what is wrong with a value."""
        parameter = self._parameter(event.input.id)
        self._show_problem(parameter, self._problem(parameter, event.value))

    def _show_problem(self, parameter: Parameter, problem: str) -> None:
        hint = self.query_one(f"#h-{parameter.name}", Static)
        hint.update(f"! {problem}" if problem else _hint(parameter))
        hint.set_class(bool(problem), "-wrong")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Save, from any field."""
        del event
        self.action_save()

    def action_save(self) -> None:
        """Close with what differs from the defaults, unless some of it is wrong or has no effect."""
        typed = {}
        for field in self.query(Input):
            parameter = self._parameter(field.id)
            if field.value == self._defaults[parameter.name]:
                continue
            if self._problem(parameter, field.value):
                field.focus()
                return
            typed[parameter.name] = field.value
        settings = dict(self._settings)
        settings |= {name: parse_value(self._parameter(name), text, name) for name, text in typed.items()}
        for parameter in (self._parameter(name) for name in typed):
            reason = why_unused(parameter, settings)
            if reason:
                default = self._defaults[parameter.name] or "nothing"
                remedy = f"set it back to {default}, or {how_used(parameter, settings)}"
                self._show_problem(parameter, f"{parameter.name} has no effect with {reason}: {remedy}")
                self.query_one(f"#p-{parameter.name}", Input).focus()
                return
        self.dismiss(typed)

    def _parameter(self, id_: str | None) -> Parameter:
        name = (id_ or "").removeprefix("p-")
        return next(parameter for parameter in self._manifest.parameter if parameter.name == name)

    def _problem(self, parameter: Parameter, text: str) -> str:
        if text in (self._defaults[parameter.name], self._shown[parameter.name]):
            return ""
        try:
            parse_value(parameter, text, parameter.name)
        except SizeupError as error:
            return str(error)
        return ""


def _hint(parameter: Parameter) -> str:
    unit = f", {parameter.unit}" if parameter.unit and parameter.type not in ("bytes", "seconds") else ""
    needed = "" if parameter.default is not None else ", required"
    return f"  {expectation(parameter)}{unit}{needed}"


def format_setting(parameter: Parameter, value: SettingValue | None) -> str:
    """A setting as a user would type it; empty where it has no default."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if parameter.type == "bytes" and isinstance(value, int | float):
        return format_bytes(value).replace(" ", "")
    if parameter.type == "seconds" and isinstance(value, int | float):
        return _spell_seconds(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _spell_seconds(seconds: float) -> str:
    """A time in the unit that leaves it short, and exact: ``10s``, ``500ms``."""
    unit, factor = ("s", 1.0) if seconds >= 1 or not seconds else ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * factor:.12g}{unit}"
