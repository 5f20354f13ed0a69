"""What this machine should carry, and what it would if it were another one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sizeup.analysis.measured import measured
from sizeup.errors import SizeupError
from sizeup.model.machine import Machine
from sizeup.quantity import Origin
from sizeup.report.text import table_lines
from sizeup.sizing.advise import Sizing, size, whatif
from sizeup.sizing.against import against
from sizeup.sizing.keys import KEYS, Value
from sizeup.sizing.presets import find_preset, shipped_presets
from sizeup.sizing.rules import shipped
from sizeup.sizing.sensitivity import tornado
from sizeup.tui.actions import bindings
from sizeup.tui.screens.dialogs import ChoiceDialog, PageDialog
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lists import KeyList, hanging
from sizeup.views.advice import advice_lines, comparison_lines, licence_table, tornado_chart
from sizeup.views.whatif import UNKNOWN, InputRow, effect, input_rows, stepped


class SizingScreen(ModeScreen):
    """Inputs on the left, answers on the right, the working of the chosen answer below."""

    SCOPE = "sizing"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sizing")]

    def __init__(self) -> None:
        super().__init__()
        self._changed: dict[str, Value] = {}
        self._sizing: Sizing | None = None
        self._rows: tuple[InputRow, ...] = ()
        self._editing = ""
        self._sized: Machine | None = None
        self._measured: dict[str, Value] = {}
        self._before: dict[str, str] = {}
        """How each answer differs from that on the machine as found."""

    def body(self) -> Iterable[Widget]:
        """Inputs, answers, working."""
        with Horizontal(id="body"):
            with Vertical(id="inputs-pane"):
                yield KeyList(id="inputs")
                yield Static(id="input-help", markup=False)
                yield Input(id="input-value", compact=True)
            with Vertical(id="answers-pane"):
                yield KeyList(id="answers")
                with VerticalScroll(id="working-pane", can_focus=False):
                    yield Static(id="working", markup=False)
                yield ChartView(self.host.glyphs, id="tornado")

    def on_mount(self) -> None:
        """Show the answers; what is edited and what matters most wait for their keys."""
        self.query_one(Input).display = False
        self.query_one(ChartView).display = False
        for pane, title in (("#inputs-pane", "Inputs"), ("#answers-pane", "Answers")):
            self.query_one(pane).border_title = title
        super().on_mount()

    def show_machine(self) -> None:
        """Size the machine anew."""
        super().show_machine()
        # A dialog that closes brings the screen back too, and must not wipe what it put there.
        if self._sizing is None or self._sized is not self.host.machine or self._measured != self._known({}):
            self._calculate()

    def show_target(self, target: str) -> None:
        """Put the cursor on an answer, or on an input."""
        for name in ("#answers", "#inputs"):
            listed = self.query_one(name, KeyList)
            if target and any(option.id == target for option in listed.options):
                listed.highlighted = listed.get_option_index(target)
                listed.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Explain an input, or show the working of an answer."""
        if event.option_list.id == "inputs":
            self._explain_input(event.option_id)
        else:
            self._show_working(event.option_id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Edit an input; for an answer, show what moves it most."""
        if event.option_list.id == "inputs":
            self._edit(event.option_id or "")
        else:
            self.action_tornado()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the new value, or say what is wrong with it."""
        key = self._editing
        try:
            value = KEYS[key].parse(event.value, Origin.USER, "what-if")
            self._check({**self._changed, key: value})
        except SizeupError as error:
            self.query_one("#input-help", Static).update(f"! {error}")
            return
        self._changed[key] = value
        self.leave_input()
        self._calculate()

    def leave_input(self) -> None:
        """Stop editing without a change."""
        field = self.query_one(Input)
        if field.display:
            field.display = False
            self.query_one("#inputs", KeyList).focus()
            self._explain_input(self._editing)

    def action_step(self, steps: int) -> None:
        """Move the chosen input up or down."""
        key = self._chosen_input()
        if key is None or self._sizing is None:
            return
        value = stepped(key, self._sizing.inputs.get(key), steps)
        if value is None:
            return
        changed = {**self._changed, key: value}
        try:
            self._check(changed)
        except SizeupError as error:
            self.query_one("#input-help", Static).update(f"! {error}")
            return
        self._changed = changed
        self._calculate()

    def action_reset(self) -> None:
        """Take back the change of the chosen input; where it has none, of all."""
        key = self._chosen_input()
        if key in self._changed:
            del self._changed[key]
        else:
            self._changed.clear()
        self._calculate()

    def action_tornado(self) -> None:
        """Show which input moves the chosen answer most, or its working again."""
        chart = self.query_one(ChartView)
        chart.display = not chart.display
        self.set_class(chart.display, "-tornado")
        self.query_one("#answers" if chart.display else "#inputs").focus()
        self.call_after_refresh(self._fill_answers)
        self.query_one("#working-pane").display = not chart.display
        self._show_tornado()

    def action_licences(self) -> None:
        """Show every vendor's licences for this machine."""
        if self._sizing is None:
            return
        table = licence_table(self._sizing, shipped())
        width = min(self.app.size.width, 130) - 6
        self.app.push_screen(PageDialog(table.title, [*table_lines(table, width), "", table.note]))

    def action_presets(self) -> None:
        """Put a published case beside this machine."""
        answers = [(name, f"{name}: {preset.title}") for name, preset in shipped_presets().items()]

        def answered(name: str | None) -> None:
            if name is None or self._sizing is None:
                return
            other = size(find_preset(name).values())
            lines = comparison_lines(against(self._sizing, other, "this machine", name))
            self.app.push_screen(PageDialog(f"This machine beside {name}", lines))

        self.app.push_screen(ChoiceDialog("Which published case?", answers), answered)

    def _machine(self) -> Machine:
        return Machine() if self.host.machine is None else self.host.machine

    def _check(self, changed: dict[str, Value]) -> None:
        whatif(self._machine(), self._known(changed))

    def _calculate(self) -> None:
        self._sizing = whatif(self._machine(), self._known(self._changed))
        self._sized = self.host.machine
        self._measured = self._known({})
        before = whatif(self._machine(), self._measured)
        self._rows = input_rows(self._sizing, self._changed)
        inputs, answers = self.query_one("#inputs", KeyList), self.query_one("#answers", KeyList)
        chosen, place = self._chosen_input(), answers.highlighted or 0
        options: list[Option] = []
        for group, rows in groupby(self._rows, lambda row: row.key.partition(".")[0]):
            options.append(Option(Text(group, style="bold underline"), disabled=True))
            options += [Option(_input_line(row), id=row.key) for row in rows]
        inputs.set_options(options)
        self._before = {advice.id: effect(advice, before.find(advice.id)) for advice in self._sizing.advice}
        self._fill_answers()
        inputs.highlighted = inputs.get_option_index(chosen or self._rows[0].key) if self._rows else None
        answers.highlighted = min(place, answers.option_count - 1) if answers.option_count else None
        self._show_tornado()

    def on_resize(self, event: events.Resize) -> None:
        """Fold the answers anew once their list has its new width."""
        del event
        self.call_after_refresh(self._fill_answers)

    def _fill_answers(self) -> None:
        answers = self.query_one("#answers", KeyList)
        if self._sizing is None:
            return
        place, width = answers.highlighted, answers.scrollable_content_region.width
        lines = []
        for advice in self._sizing.advice:
            change = self._before[advice.id] if self._changed else ""
            badge = f" {change} " if change else ""
            indent = len(badge) + 1 if badge else 0
            text = hanging(advice.verdict, width, indent, 2)
            lines.append(Option(Content.assemble((badge, "bold reverse"), text[len(badge) :]), id=advice.id))
        lines += [
            Option(hanging(f"? {question.sentence()}", width, 0, 2), id=f"? {question.key}")
            for question in self._sizing.questions
        ]
        answers.set_options(lines)
        answers.highlighted = place

    def _known(self, changed: dict[str, Value]) -> dict[str, Value]:
        """What was measured in the session, with what was changed in its place."""
        session = self.host.runs.session
        return changed if session is None else {**measured(session), **changed}

    def _chosen_input(self) -> str | None:
        option = self.query_one("#inputs", KeyList).highlighted_option
        return None if option is None else option.id

    def _edit(self, key: str) -> None:
        self._editing = key
        field = self.query_one(Input)
        row = next(row for row in self._rows if row.key == key)
        field.value = "" if row.value == UNKNOWN else row.value.replace(",", "")
        field.display = True
        field.focus()

    def _explain_input(self, key: str | None) -> None:
        row = next((row for row in self._rows if row.key == key), None)
        if row is not None:
            self.query_one("#input-help", Static).update(f"{row.key}: {row.help}\nFrom: {row.origin}")

    def _show_working(self, advice_id: str | None) -> None:
        if self._sizing is None or advice_id is None:
            return
        advice = self._sizing.find(advice_id)
        if advice is None:
            question = next(item for item in self._sizing.questions if advice_id == f"? {item.key}")
            text = Group(Text("Not answered", style="bold"), Text(question.sentence()))
        else:
            heading, *rest = advice_lines(advice, sources=True)
            text = Group(Text(heading, style="bold"), *map(Text, rest))
        self.query_one("#working", Static).update(text)
        self._show_tornado()

    def _show_tornado(self) -> None:
        chart, option = self.query_one(ChartView), self.query_one("#answers", KeyList).highlighted_option
        if chart.display and self._sizing is not None and option is not None and option.id is not None:
            advice = self._sizing.find(option.id)
            if advice is not None and advice.quantity is not None:
                chart.show(tornado_chart(advice, tornado(self._sizing.inputs, advice.id, shipped())))


def _input_line(row: InputRow) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    # The value first: what is cut on a narrow screen is the end of a name, never of a figure.
    text.append("* " if row.changed else "  ", style="bold")
    text.append(f"{row.value:>9} ", style="bold")
    text.append(row.key.partition(".")[2], style="bold" if row.changed else "")
    return text
