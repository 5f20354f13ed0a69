"""The settings that matter to databases, in the rows that a map leaves free."""

from __future__ import annotations

from sizeup.discovery.setting_facts import SETTING_FACTS
from sizeup.model.machine import Machine
from sizeup.views.map.cells import Cell, Row, beside

_LEAST_ROWS = 3
"""Of settings: for fewer the rows stay free."""
_GAP = 3


def settings_rows(machine: Machine, width: int, rows: int) -> list[Row]:
    """Return the settings that are known, in as few columns of at most so many rows as hold them or as fit."""
    facts = [(fact.name, value) for fact in SETTING_FACTS if (value := fact.value(machine)) is not None]
    names, values = (max((len(fact[part]) for fact in facts), default=0) for part in (0, 1))
    each = names + values + 2
    if rows < _LEAST_ROWS or not facts or each > width:
        return []
    count = min((width + _GAP) // (each + _GAP), -(-len(facts) // rows))
    high = min(-(-len(facts) // count), rows)
    cells = [(Cell(f"{name:{names}}  ", "dim"), Cell(value, "value")) for name, value in facts]
    columns = [cells[at : at + high] for at in range(0, high * count, high)]
    return beside(columns, [each] * count, _GAP)
