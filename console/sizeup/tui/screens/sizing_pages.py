"""What the Sizing mode opens: every vendor's licenses, a published case or a session beside this machine, factors."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from sizeup.charts.chart import BarChart
from sizeup.charts.table import Table
from sizeup.compare.published_results import PREFIX
from sizeup.model.machine import Machine
from sizeup.report.text import table_lines
from sizeup.session.reader import read_session
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.inputs.presets import find_preset
from sizeup.sizing.recorded_inputs import session_inputs
from sizeup.sizing.rules import shipped
from sizeup.sizing.sensitivity import tornado
from sizeup.sizing.sizing_comparison import compare_sizings
from sizeup.text import capitalized
from sizeup.tui.dialogs import PageDialog
from sizeup.tui.screens.sizing_text import WIDE, page_lines
from sizeup.views.inputs.sensitivity import FACTORS, tornado_chart, unmoved_chart
from sizeup.views.inputs.sizing_comparison import sizing_comparison_table
from sizeup.views.result.licenses import license_table


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
        return unmoved_chart("Not answered" if advice is None else advice.title)
    drawn = tornado_chart(advice, tornado(sizing.inputs, advice.id, shipped()), FACTORS)
    return replace(drawn, title=drawn.title + what_if) if what_if else drawn
