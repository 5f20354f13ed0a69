"""The pages that the Sizing mode opens: every vendor's licenses, and a published case beside this machine."""

from __future__ import annotations

from sizeup.charts.table import Table
from sizeup.report.text import table_lines
from sizeup.sizing.advise import Sizing, size
from sizeup.sizing.inputs.presets import find_preset
from sizeup.sizing.rules import shipped
from sizeup.sizing.sizing_comparison import compare_sizings
from sizeup.tui.screens.dialogs import PageDialog
from sizeup.tui.screens.sizing_text import WIDE, preset_lines
from sizeup.views.advice import comparison_table, license_table


def licenses_page(sizing: Sizing, width: int, what_if: str) -> PageDialog:
    """Return every vendor's licenses for a machine; ``what_if`` ends the title."""
    table = license_table(sizing, shipped())
    if width < WIDE:
        # The products name their vendors, too.
        rows = tuple(row[1:] for row in table.rows)
        table = Table(table.title, table.columns[1:], rows, note=table.note)
    return PageDialog(table.title + what_if, table_lines(table, width))


def preset_page(name: str, sizing: Sizing, width: int, what_if: str) -> PageDialog:
    """Return a published case beside a machine."""
    preset = find_preset(name)
    compared = compare_sizings(sizing, size(preset.values()), "this machine", name)
    return PageDialog(
        f"This machine{what_if} compared with {name}", preset_lines(preset, comparison_table(compared), width)
    )
