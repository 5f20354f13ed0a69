"""The settings below a map that leaves rows free: in one column with what vendors recommend, else in several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sizeup.discovery.setting_facts import SETTING_FACTS
from sizeup.model.machine import Machine
from sizeup.views.map.cells import Cell, Row

_LEAST_ROWS = 3
"""Of settings: for fewer the rows stay free."""
_MOST_COLUMNS = 4
_GAP = 3
"""Columns between two settings side by side."""
_ADVICE = 24
"""Columns that a recommendation needs."""

Setting = tuple[str, str]


def settings_rows(machine: Machine, width: int, rows: int) -> list[Row]:
    """Return the settings that are known with their heading, in at most so many rows; nothing where few would fit."""
    facts = [(fact.name, value) for fact in SETTING_FACTS if (value := fact.value(machine)) is not None]
    columns = _columns(facts, width, rows) if facts and rows >= _LEAST_ROWS else []
    if not columns:
        return []
    return list(_beside(columns))


def _columns(facts: Sequence[Setting], width: int, high: int) -> list[Sequence[Setting]]:
    """Return all settings in the fewest columns of so many rows; where none fit, the first in as many as do."""
    widest: list[Sequence[Setting]] = []
    for count in range(1, _MOST_COLUMNS + 1):
        each = min(-(-len(facts) // count), high)
        columns = [facts[at : at + each] for at in range(0, min(len(facts), each * count), each)]
        if sum(map(_width, columns)) + _GAP * (len(columns) - 1) > width:
            break
        widest = columns
        if each * count >= len(facts):
            break
    return widest


def _width(column: Sequence[Setting]) -> int:
    return sum(max(len(fact[part]) for fact in column) for part in (0, 1)) + 2


def _beside(columns: Sequence[Sequence[Setting]]) -> Iterator[Row]:
    for y in range(len(columns[0])):
        cells: list[Cell] = []
        for number, column in enumerate(columns, start=1):
            gap = _GAP if number < len(columns) else 0
            names, values = (max(len(fact[part]) for fact in column) for part in (0, 1))
            name, value = column[y] if y < len(column) else ("", "")
            cells += [Cell(f"{name:{names}}  ", "text"), Cell(f"{value:{values + gap}}", "value")]
        yield tuple(cells)
