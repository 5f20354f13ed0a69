"""The form of a workload: the figures that a verdict starts from, and a report that holds them."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Grid, Vertical
from textual.validation import Function, ValidationResult
from textual.widgets import Input, Static

from sizeup.errors import SizeupError
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.keys import KEYS
from sizeup.sizing.verdict import bounds_of
from sizeup.tui.actions import by_keys
from sizeup.tui.dialogs import Dialog
from sizeup.tui.screens.sizing_state import SizingState, workload_inputs
from sizeup.views.inputs.advice import value_text
from sizeup.views.inputs.input_names import input_label
from sizeup.views.inputs.whatif import parse_typed, shortened, typed

if TYPE_CHECKING:
    from sizeup.tui.console import ConsoleApp

FIELDS = (
    "workload.iops",
    "capacity.iops",
    "workload.read_percent",
    "workload.io_kib",
    "workload.cpu_percent",
    "workload.cpu_cores",
    "sga.mb",
    "redo.mb_s",
    "db.gb",
    "workload.growth_percent",
    "workload.horizon_years",
)
_FILE = "file"
_ASKED = {"capacity.iops": "not measured: enter what it can do"}
"""What to enter where nothing is known."""
_UNITLESS = ("1", "IOPS", "y")
"""Units that the label of their input already names."""
_FILE_NAME = re.compile(r"(?:/|~/|\.{1,2}/).*|.*[^\W\d].*(?:\.[^\W\d]|[/;]).*")
"""A path, a name with a suffix, or several of them."""


def _is_figure(key: str, entry: str) -> bool:
    """Return whether an input takes an entry, as the option of the command line does."""
    try:
        return bool(parse_typed(key, entry))
    except SizeupError:
        return False


def names_file(key: str, entry: str) -> bool:
    """Return whether what was entered in an input is no figure and has the form of a file's name."""
    return _FILE_NAME.fullmatch(entry.strip()) is not None and not _is_figure(key, entry)


def _accepts(key: str, entry: str) -> bool:
    """Return whether an entry is blank, a figure of its input, or the name of a file."""
    return not entry.strip() or names_file(key, entry) or _is_figure(key, entry)


class WorkloadForm(Dialog[bool]):
    """Asks for a workload, and takes it in the place of what was typed of it before."""

    AUTO_FOCUS = "Input"
    KEYS = (("Enter", "Verdict"), ("Tab", "Next field"), ("Esc", "Close"))
    HINT = "One of IOPS, CPU, SGA and redo rate is enough, or a file in any field."
    BINDINGS: ClassVar[list[BindingType]] = [
        ("down", "app.focus_next", "Next field"),
        ("up", "app.focus_previous", "Previous field"),
    ]

    def __init__(self, host: ConsoleApp) -> None:
        super().__init__()
        self._host = host
        self._state = SizingState(host)

    def compose(self) -> ComposeResult:
        """A row for each figure: its name and unit, and its field with what is assumed without it."""
        known = self._state.sizing.inputs
        with Vertical(classes="dialog wide") as box:
            box.border_title = "Workload"
            with Grid(classes="fields"):
                for key in FIELDS:
                    stated = self._state.changed.get(key)
                    value = known.get(key) if stated is None else self._state.found.get(key)
                    hint = _ASKED.get(key, "") if value is None else f"{value_text(key, value)} unless entered"
                    name, unit = input_label(key), KEYS[key].unit
                    if isinstance(value, UnusedMeasurement):
                        hint = "measured, not used: enter it"
                    elif isinstance(value, Quantity) and value.origin is Origin.MEASURED:
                        about = "about " if bounds_of(value).low < value.value else ""
                        hint = f"measured {about}{shortened(value_text(key, value))}"
                    yield Static(name if unit in _UNITLESS else f"{name}, {unit}", markup=False)
                    yield Input(
                        _entered(key, stated),
                        id=key.replace(".", "-"),
                        name=key,
                        placeholder=hint,
                        validators=[Function(partial(_accepts, key), f"{name}: enter {KEYS[key].expectation}.")],
                        validate_on=["blur", "submitted"],
                        valid_empty=True,
                        compact=True,
                    )
                yield Static("Or from a file", markup=False)
                yield Input(id=_FILE, placeholder="AWR, sar, TOML, snapshots (first;second)", compact=True)
            yield Static(self.HINT, id="message", classes="hint", markup=False)

    def on_mount(self) -> None:
        """Keep the cursor still: an idle screen sends nothing."""
        for field in self.query(Input):
            field.cursor_blink = False

    def on_input_blurred(self) -> None:
        """Say at once why a figure is refused, the first of several."""
        wrong = (field.validate(field.value) for field in self.query(Input) if not field.is_valid)
        self.say(next(filter(None, map(_problem, wrong)), ""))

    def on_input_submitted(self) -> None:
        """Work out the verdict, or show what is refused; a path in another field is that of the file."""
        for field in self.query(Input):
            if field.name and names_file(field.name, field.value):
                self.query_one(f"#{_FILE}", Input).value, field.value = field.value, ""
            if problem := _problem(field.validate(field.value)):
                self.say(problem)
                field.focus()
                return
        self._take()

    @work(exclusive=True)
    async def _take(self) -> None:
        path = self.query_one(f"#{_FILE}", Input).value.strip()
        try:
            before, entered = self._state.changed, self._typed()
            given = await asyncio.to_thread(workload_inputs, path) if path else {}
            # A file replaces what the form showed already, and not what was entered beside it.
            new = {key: value for key, value in entered.items() if value != before.get(key)}
            values = {**entered, **given, **new}
            if not values and not before:
                self.say("Enter a figure, or a file.")
                return
            self._state.put({**{k: v for k, v in before.items() if k not in FIELDS}, **values})
        except SizeupError as error:
            self.say(by_keys(str(error), self._host.keys))
            return
        self.dismiss(True)  # noqa: FBT003  Textual's own

    def _typed(self) -> dict[str, Value]:
        """Return the figures as entered; one that was left as it is keeps where it is from."""
        values = {}
        for key in FIELDS:
            text = self.query_one(f"#{key.replace('.', '-')}", Input).value.strip()
            stated = self._state.changed.get(key)
            if stated is not None and text == _entered(key, stated):
                values[key] = stated
            elif text:
                values[key] = parse_typed(key, text)
        return values


def _entered(key: str, value: Value | None) -> str:
    """Return a figure as it was entered, without the unit that stands in front of its field."""
    return typed(key, value).removesuffix(KEYS[key].unit)


def _problem(result: ValidationResult | None) -> str:
    return "" if result is None else "; ".join(result.failure_descriptions)
