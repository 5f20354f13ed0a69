"""Dialogs: help, a choice, one of many, a page, a line of text, and consent before something is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.visual import VisualType
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sizeup.model.finding import Finding
from sizeup.probing.devices import Device
from sizeup.tui.actions import ACTIONS, SCOPES, bindings, key_text
from sizeup.tui.widgets.facts import facts_grid, finding_text
from sizeup.tui.widgets.lines import KeyLine
from sizeup.tui.widgets.lists import KeyList, hanging

Answer = TypeVar("Answer")
_MOST_ANSWERS = 14
"""Rows of answers; of more the list scrolls."""


class Dialog(ModalScreen[Answer | None]):
    """Escape closes it, and closing means nothing was done."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("dialog")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (81, "-normal")]  # noqa: RUF012  Textual's own
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (("Enter", "Choose"), ("Esc", "Close"))
    """What the last line shows, which stays."""
    HINT: ClassVar[str] = ""
    """What the line below the fields says while nothing is wrong."""

    def on_mount(self) -> None:
        """Put the keys into the last line."""
        line = KeyLine()
        self.mount(line)
        line.show(self.KEYS, ())

    def say(self, problem: str) -> None:
        """Show a problem below the fields, or the hint if there is none."""
        message = self.query_one("#message", Static)
        message.update(f"! {problem}" if problem else self.HINT)
        message.set_class(bool(problem), "-wrong")

    def action_dismiss_dialog(self) -> None:
        """Close without an answer."""
        self.dismiss(None)


def ask(app: App[Any], dialog: Dialog[Answer], take: Callable[[Answer], object]) -> None:
    """Show a dialog, and hand its answer on; closed, or left empty, it does nothing."""

    def answered(answer: Answer | None) -> None:
        if answer:
            take(answer)

    app.push_screen(dialog, answered)


def ask_which(app: App[Any], dialog: Dialog[str], ways: Mapping[str, Callable[[], object]]) -> None:
    """Show a dialog, and do what its answer stands for, where it stands for something."""
    ask(app, dialog, lambda answer: ways.get(answer, lambda: None)())


class HelpDialog(Dialog[None]):
    """The keys that hold here, drawn from the registry."""

    KEYS = (("Esc", "Close"),)
    BINDINGS: ClassVar[list[BindingType]] = [("question_mark,q", "screen.dismiss_dialog", "Close")]

    def __init__(self, scopes: Sequence[str], keymap: Mapping[str, str]) -> None:
        super().__init__()
        self._scopes = tuple(scopes)
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        """Headings and keys."""
        with VerticalScroll(classes="dialog wide") as box:
            box.border_title = "Keys"
            width = min(self.app.size.width, 76) - 5  # its frame, its edges and the scroll bar
            yield Static(help_text(self._scopes, self._keymap, width), markup=False, classes="text")
            yield Static("Documentation, in a shell: sizeup help; for the console: sizeup help keys", classes="hint")


def help_text(scopes: Sequence[str], keymap: Mapping[str, str], width: int) -> Content:
    """The actions of some scopes, a line each; what is longer goes on below its own words."""
    parts: list[Content] = []
    for scope in scopes:
        parts += [*([Content()] if parts else []), Content.styled(SCOPES[scope], "bold $hi")]
        rows = [
            (" ".join(key_text(key) for key in keymap.get(one.id, one.keys).split(",")), one.help)
            for one in ACTIONS[scope]
        ]
        if scope == "measure":  # the letters are those of the probe
            rows.append(("Letter", "Go to the field of the form that has this letter in front of it."))
        for keys, words in rows:
            parts.append(Content.assemble((f"  {keys:<11} ", "bold $acc"), hanging(words, width, 14, 14).lstrip()))
    return Content("\n").join(parts)


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
        self._title, self._typed = title, False

    def compose(self) -> ComposeResult:
        """The question, what there is to know about it, and its answers below."""
        with Vertical(classes="dialog wide") as box:
            box.border_title = self._title
            with VerticalScroll(can_focus=False, classes="text"):
                yield Static(self._question, markup=False)
                if self._facts:
                    yield Static(facts_grid(self._facts), classes="facts")
            yield KeyList(*(Option(hanging(label, 70, 0, 2), id=key) for key, label in self._answers))

    def on_resize(self) -> None:
        """Give the text the rows that the answers leave, with a hint where it is cut."""
        text, answers = self.query_one(".text"), self.query_one(KeyList)
        rows = sum(hanging(label, 70, 0, 2).count("\n") + 1 for _, label in self._answers)
        text.styles.max_height = max(self.size.height - min(rows, _MOST_ANSWERS) - 4, 1)
        answers.styles.max_height = _MOST_ANSWERS
        self.call_after_refresh(self._show_keys)

    def _show_keys(self) -> None:
        more = (("PgDn", "Scroll"),) if self.query_one(".text").max_scroll_y else ()
        self.query_one(KeyLine).show((*more, *self.KEYS), ())

    def action_read_on(self, pages: int) -> None:
        """Scroll the text, or the answers where the text is whole."""
        text = self.query_one(".text")
        part = text if text.max_scroll_y else self.query_one(KeyList)
        part.scroll_relative(y=pages * max(part.size.height - 1, 1), animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        self.dismiss(event.option_id)

    def on_key(self, event: Key) -> None:
        """Take no letter for an answer, nor for a command once that is given, where a text is typed."""
        self._typed |= event.is_printable and event.key not in self.active_bindings

    def action_answer(self, answer: str) -> None:
        """Answer by a key of its own."""
        if not self._typed:
            self.dismiss(answer)


class BusyDialog(ChoiceDialog):
    """Asks before a run on a busy host; one key answers."""

    BINDINGS: ClassVar[list[BindingType]] = [("f", "screen.answer('full')", "Full load")]
    KEYS = (("Enter", "Choose"), ("f", "Full load"), ("Esc", "Cancel"))


class PageDialog(Dialog[None]):
    """A page of text that wants more room than a pane has."""

    KEYS = (("Esc", "Close"),)

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._lines = tuple(lines)

    def compose(self) -> ComposeResult:
        """The page, scrolled by the arrows."""
        with VerticalScroll(classes="dialog page") as box:
            box.border_title = self._title
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
            yield Static(facts_grid(self._facts), markup=False)
            yield Static(f"\nTo confirm, type its full name:\n  {self._device.names[0]}", markup=False)
            yield Input(compact=True, id="name")
            yield Static("Enter starts the run when the name matches. Esc cancels.", id="message", classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the name, or say that it is another."""
        name = event.value.strip()
        if name in self._device.names:
            self.dismiss(name)
        else:
            self.say("The name does not match. Nothing was started or written.")


class TextDialog(Dialog[str]):
    """One line of text."""

    KEYS = (("Enter", "OK"), ("Esc", "Cancel"))

    def __init__(self, question: str, begun: str = "") -> None:
        super().__init__()
        self._question = question
        self._begun = begun

    def compose(self) -> ComposeResult:
        """The question above its field."""
        with Vertical(classes="dialog wide"):
            yield Static(self._question, markup=False)
            yield Input(self._begun, compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        self.dismiss(event.value.strip())


class PickDialog(Dialog[str]):
    """A field above a list; what is typed narrows the list, Enter takes what the cursor is on."""

    AUTO_FOCUS = "Input"
    NO_MATCH = "No match."

    def __init__(self, question: str, offered: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._question = question
        self._offered = tuple(offered)

    def compose(self) -> ComposeResult:
        """Field, list, and what the keys do."""
        with Vertical(classes="dialog wide") as box:
            box.border_title = self._question
            yield Input(placeholder="type to narrow the list", compact=True)
            yield KeyList()

    def on_mount(self) -> None:
        """Offer everything."""
        self.fill("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self.fill(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what the cursor is on, with the value where ``KEY=VALUE`` was typed."""
        option, (_, *value) = self.query_one(KeyList).highlighted_option, event.value.partition("=")
        if option is not None and option.id is not None:
            self.dismiss(option.id + "".join(value))

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

    def fill(self, text: str) -> None:
        """Offer what holds every word of a text."""
        wanted = text.partition("=")[0].lower().split()
        fitting = [entry for entry in self._offered if all(word in entry[1].lower() for word in wanted)]
        fitting.sort(key=lambda entry: not all(word in entry[0].lower() for word in wanted))
        options = [Option(hanging(label, 70, 0, 2), id=name) for name, label in fitting]
        listed = self.query_one(KeyList)
        listed.set_options(options or [Option(self.NO_MATCH, disabled=True)])
        listed.highlighted = 0 if options else None


_COLUMNS = 84
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

    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (("Enter", "Run"), ("Down", "Choose"), ("Esc", "Close"))

    def __init__(self, commands: Sequence[ConsoleCommand]) -> None:
        super().__init__("Commands", [(str(number), one.name) for number, one in enumerate(commands)])
        self._commands = commands

    def fill(self, text: str) -> None:
        """Offer what holds every word of a text, by its group."""
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
