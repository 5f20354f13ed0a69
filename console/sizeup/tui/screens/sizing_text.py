"""The lines of the Sizing mode, folded to their pane."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby

from rich.text import Text
from textual.content import Content
from textual.widgets.option_list import Option

from sizeup.charts.table import Table
from sizeup.model.advice import AdviceSet
from sizeup.report.text import table_lines
from sizeup.sizing.inputs.presets import Preset
from sizeup.text import capitalized
from sizeup.tui.widgets.lists import hanging
from sizeup.views.cards import lacks_workload, verdicts_first
from sizeup.views.whatif import WORKLOAD_KEYS, InputRow

_FIGURES = 36
"""Column at which the figures of inputs end, where there is room."""
WIDE = 100
"""Columns from which a page has room for wide tables."""
_LABELS = ("from  ", "rule  ", "id    ")
"""What some lines of a working begin with."""
NO_WORKLOAD = f"? {WORKLOAD_KEYS[0]}"
"""Id of the line that asks for a workload."""
WORKLOAD_HELP = (
    "No verdict yet",
    "  A verdict compares the demand of a workload with the capacity of this machine.",
    "  Type what is known of it: workload.iops with workload.read_percent and workload.io_kib, or workload.mb_s.",
    "  For a verdict on the CPU, type workload.cpu_percent; a finds every other input, such as redo.mb_s.",
    "  sizeup size --workload FILE takes the figures from an AWR, Statspack, sar or iostat report.",
)
"""Heading and text behind that line."""
_NO_WORKLOAD = "No verdict yet: no workload. Type workload.iops or workload.mb_s"


def comparison_lines(table: Table, width: int) -> list[str]:
    """A comparison as a table, or where five columns have no room in two lines a figure."""
    if width >= WIDE:
        return table_lines(table, width)
    lines = []
    for figure, here, there, above, below in table.rows:
        lines.append(hanging(figure, width, 0, 4))
        lines.append(hanging(f"{here} here, {there} there; this machine is {above}, the case {below}", width, 2, 4))
    return lines


def preset_lines(preset: Preset, compared: Table, width: int) -> list[str]:
    """Return the page of a published case: title, source, note, and its comparison with this machine."""
    heading = [f"{preset.name}: {preset.title}", f"From {preset.source}"]
    if preset.note:
        heading.append(capitalized(preset.note))
    lines = [*(hanging(line, width, 0, 2) for line in heading), ""]
    return lines + (comparison_lines(compared, width) or ["Nothing to compare: the two have no figure in common."])


def working_line(line: str, width: int) -> str:
    """A line of a working, with what does not fit under its text."""
    words = line.lstrip()
    label = next((len(label) for label in _LABELS if words.startswith(label)), 2)
    return hanging(words, width, len(line) - len(words), len(line) - len(words) + label)


def input_line(row: InputRow, width: int) -> Text:
    """Name and value: figures end in one column, and of words the end is cut where there is no room."""
    name = f"{'* ' if row.changed else '  '}{row.key.partition('.')[2]} "
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(name, style="bold" if row.changed else "")
    text.append(row.value.rjust(max(min(width, _FIGURES) - len(name), 0)), style="bold")
    return text


def input_options(rows: Iterable[InputRow], width: int) -> list[Option]:
    """Return the lines of the inputs, under a heading for each group of keys."""
    options: list[Option] = []
    for group, members in groupby(rows, lambda row: row.key.partition(".")[0]):
        options.append(Option(Text(group, style="bold underline"), disabled=True))
        options += [Option(input_line(row, width), id=row.key) for row in members]
    return options


def answer_options(
    given: AdviceSet, changes: Mapping[str, str], asked: Collection[str], label: str, width: int
) -> list[Option]:
    """Return the lines of the answers: the label if there is one, verdicts first, the other answers, each question.

    ``changes`` holds what a change did to each answer, ``asked`` the questions that it raised: these come first.
    """
    # One column for all, so that what changed and what did not stand in line.
    room = max(map(len, changes.values()), default=0)
    room = room + 3 if room else 0
    options = [Option(hanging(label, width, 0, 2), id="label", disabled=True)] if label else []
    first = len(options)
    if lacks_workload(given):
        options.append(Option(hanging(_NO_WORKLOAD, width, room, room + 2), id=NO_WORKLOAD))
    for advice, line in verdicts_first(given):
        change = changes.get(advice.id, "")
        text = hanging(line, width, room, room + 2)
        badge = Content.assemble((f" {change.rjust(room - 3)} ", "bold reverse"), " ") if change else " " * room
        options.append(Option(Content.assemble(badge, text[room:]), id=advice.id))
    for question in given.questions:
        text = hanging(f"? {question.sentence(typed=True)}", width, room, room + 2)
        # What a change asks for is the answer to it, and not the last line of a long list.
        options.insert(first if question.key in asked else len(options), Option(text, id=f"? {question.key}"))
    return options
