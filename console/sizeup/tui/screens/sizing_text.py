"""The lines of the Sizing mode, folded to their pane, and what it opens: licenses, published cases, factors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from msgspec.structs import replace
from textual.content import Content
from textual.widgets.option_list import Option

from sizeup.charts.chart import Axis, BarChart
from sizeup.charts.table import Table
from sizeup.compare.published_results import PREFIX
from sizeup.model.advice import AdviceSet
from sizeup.model.machine import Machine
from sizeup.report.text import table_lines
from sizeup.session.reader import read_session
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.inputs.presets import find_preset
from sizeup.sizing.recorded_inputs import session_inputs
from sizeup.sizing.rules import shipped
from sizeup.sizing.sensitivity import tornado
from sizeup.sizing.session_advice import ShownAdvice
from sizeup.sizing.sizing_comparison import compare_sizings
from sizeup.text import capitalized, cell_len
from sizeup.tui.dialogs import PageDialog
from sizeup.tui.widgets.lists import hanging
from sizeup.views.inputs.advice import advice_lines
from sizeup.views.inputs.input_names import input_label
from sizeup.views.inputs.sensitivity import FACTORS, tornado_chart
from sizeup.views.inputs.sizing_comparison import sizing_comparison_table
from sizeup.views.inputs.sizing_table import NO_WORKLOAD
from sizeup.views.inputs.whatif import ASSUMED, UNKNOWN, InputRow
from sizeup.views.result.licenses import license_table

WIDE = 100
"""Columns from which a page has room for wide tables."""
_LABELS = ("from  ", "rule  ", "id    ")
"""What some lines of a working begin with."""
WORKLOAD_HELP = (
    "No verdict yet",
    "  A verdict compares the demand of a workload with the capacity of this machine.",
    "  Enter what is known of it: Random IOPS with Share of reads and Block size, or Throughput.",
    "  For a verdict on the CPU, enter CPU utilization; a finds every other input, such as Redo rate.",
    "  {key} asks for these figures, or for a file of them: an AWR, Statspack, sar or iostat report.",
)
"""Heading and text behind the row that asks for a workload; ``{key}`` is that of the workload."""


ANSWERS = "Answers"
_CHANGED = "Answers, compared with the detected machine"


def answers_title(saved: ShownAdvice | None, *, changed: bool) -> str:
    """Return what the answers are: current, recorded, recomputed, or changed; ``saved`` are those of a session."""
    if changed:
        return _CHANGED if saved is None else f"{_CHANGED}, recomputed"
    return ANSWERS if saved is None else f"{ANSWERS}, {saved.mark or 'recorded'}"


def compared_lines(table: Table, width: int) -> list[str]:
    """A comparison as a table, or where five columns have no room in two lines a figure."""
    if width >= WIDE:
        return table_lines(table, width)
    lines = []
    for figure, here, there, above, below in table.rows:
        lines.append(hanging(figure, width, 0, 4))
        lines.append(hanging(f"{here} here, {there} there; this machine is {above}, the case {below}", width, 2, 4))
    return lines


def page_lines(heading: Sequence[str], compared: Table, width: int) -> list[str]:
    """Return the page of a comparison: what this machine is beside, and each figure that both have."""
    lines = [*(hanging(line, width, 0, 2) for line in heading), ""]
    return lines + (compared_lines(compared, width) or ["Nothing to compare: the two have no figure in common."])


def working_lines(given: AdviceSet, chosen: str, recorded: ShownAdvice | None, workload_key: str) -> list[str]:
    """Return heading and working of the chosen row; ``recorded`` is what a session recorded in its place.

    ``workload_key`` asks for the workload.
    """
    if chosen == NO_WORKLOAD:
        return [line.format(key=workload_key) for line in WORKLOAD_HELP]
    advice = given.find(chosen)
    if advice is not None:
        heading, *rest = advice_lines(advice, sources=True)
        old = "" if recorded is None else recorded.recorded_verdict(advice)
        return [heading, *([f"  Recorded: {old}"] if old else []), *rest]
    question = next((item for item in given.questions if chosen == f"? {item.key}"), None)
    if question is None:
        return [""]
    return ["Not answered", question.sentence(f"enter {input_label(question.key)}"), "", "Enter goes to the input."]


def working_line(line: str, width: int) -> str:
    """A line of a working, with what does not fit under its text."""
    words = line.lstrip()
    label = next((len(label) for label in _LABELS if words.startswith(label)), 2)
    return hanging(words, width, len(line) - len(words), len(line) - len(words) + label)


def input_line(row: InputRow, width: int) -> Content:
    """Return label and value: a dot where it was changed with what was found, a tilde where nobody chose it."""
    sign = "●" if row.changed else "~" if row.origin.startswith(ASSUMED) else " "
    value, free = row.value, width - cell_len(row.label) - 3
    was = f"{row.found.removeprefix(ASSUMED).strip()} → " if row.found not in ("", UNKNOWN) else ""
    if cell_len(was + value) > free or was == f"{value} → ":
        was = ""
    shown = Content(value).truncate(max(free, 6), ellipsis=True)
    gap = " " * max(width - 2 - cell_len(row.label) - cell_len(was) - shown.cell_length, 1)
    style = "$dim" if value == UNKNOWN else "bold $hi" if row.changed else "$foreground"
    return Content.assemble(
        (sign, "$acc" if row.changed else "$dim"), f" {row.label}{gap}", (was, "$dim"), shown.stylize(style)
    )


def input_options(rows: Iterable[InputRow], width: int) -> list[Option]:
    """Return the lines of the inputs, under a heading for each subject."""
    options: list[Option] = []
    for question, members in groupby(rows, lambda row: row.question):
        options.append(Option(Content.styled(question, "bold $acc"), disabled=True))
        options += [Option(input_line(row, width), id=row.key) for row in members]
    return options


def licenses_page(sizing: Sizing, width: int, what_if: str, in_console: Callable[[str], str]) -> PageDialog:
    """Return every vendor's licenses for a machine; ``what_if`` ends the title.

    ``in_console`` puts keys in the place of options of the command line.
    """
    table = license_table(sizing, shipped())
    table = replace(table, note=in_console(table.note))
    if width < WIDE:
        # The products name their vendors, too.
        rows = tuple(row[1:] for row in table.rows)
        table = Table(table.title, table.columns[1:], rows, note=table.note)
    return PageDialog(table.title + what_if, table_lines(table, width))


def comparison_page(name: str, sizing: Sizing, width: int, what_if: str) -> PageDialog:
    """Return a published case, ``preset:NAME``, or the machine of a session, by its path, beside a machine."""
    if name.startswith(PREFIX):
        preset = find_preset(name.removeprefix(PREFIX))
        other, called = size(preset.values()), preset.name
        heading = [f"{preset.name}: {preset.title}", f"From {preset.source}", capitalized(preset.note)]
    else:
        session = read_session(name)
        other = size(described(session.machine or Machine(), session_inputs(session)))
        called = session.header.host
        heading = [f"{called}, {session.header.started.replace('T', ' ').removesuffix('Z')} UTC", name]
    compared = sizing_comparison_table(compare_sizings(sizing, other, "this machine", called))
    lines = page_lines([line for line in heading if line], compared, width)
    return PageDialog(f"This machine{what_if} compared with {called}", lines)


def factors_chart(sizing: Sizing, answer: str, what_if: str) -> BarChart:
    """Return which inputs move an answer most."""
    advice = sizing.find(answer)
    if advice is None or advice.quantity is None:
        title, note = (
            "Not answered" if advice is None else advice.title,
            "This answer is not a number, so no input moves it.",
        )
        return BarChart(f"{FACTORS}: {title}", Axis(title, "1"), (), note)
    drawn = tornado_chart(advice, tornado(sizing.inputs, advice.id, shipped()), FACTORS)
    return replace(drawn, title=drawn.title + what_if) if what_if else drawn
