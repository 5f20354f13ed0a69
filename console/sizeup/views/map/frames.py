"""Frames on a map: rows inside a frame, frames side by side, and a frame for each device."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from sizeup.text import plural
from sizeup.views.machine.topology_item import TopologyItem
from sizeup.views.map.cells import Cell, Row, change_mark, cut, padded, width_of

_DEVICE, _WIDEST_DEVICE = 26, 48
"""Columns of the frame of a device."""
_IDENTITIES = frozenset({"MAC", "Serial", "WWN", "Port", "Subsystem", "Up", "Link"})
"""Facts that tell a device apart, or that its label tells in other words."""
_CHILDREN_NAMED = 2


def framed(title: Sequence[Cell], body: Sequence[Row], width: int, key: str = "", rows: int = 0) -> list[Row]:
    """Return a frame around rows, at least so many of them; its edges belong to the part with the ``key``."""
    inside = width - 2
    name = cut(title, inside - 2)
    edge = Cell("│", "frame", key)
    head: Row = (Cell(f"┌{'─' * inside}┐", "frame", key),)
    if name:
        rule = "─" * (inside - width_of(name) - 2)
        head = (Cell("┌ ", "frame", key), *name, Cell(f" {rule}┐", "frame", key))
    blank: list[Row] = [()] * (rows - len(body))
    return [
        head,
        *((edge, *padded(row, inside), edge) for row in (*body, *blank)),
        (Cell(f"└{'─' * inside}┘", "frame", key),),
    ]


def spread(count: int, width: int, least: int) -> tuple[int, int]:
    """Return how many of ``count`` stand in a row, about the same number in each, and how wide each then is."""
    per_row = max(min(width // least, count), 1)
    rows = -(-count // per_row)
    per_row = -(-count // max(rows, 1)) or 1
    return per_row, width // per_row


def beside(blocks: Sequence[Sequence[Row]], each: int, per_row: int) -> list[Row]:
    """Return blocks of one width side by side, so many in a row."""
    blank = (Cell(" " * each, "text"),)
    rows: list[Row] = []
    for first in range(0, len(blocks), per_row):
        line = blocks[first : first + per_row]
        high = max(map(len, line))
        rows += [tuple(cell for block in line for cell in (block[y] if y < len(block) else blank)) for y in range(high)]
    return rows


def device_frames(items: Sequence[TopologyItem], width: int, most_lines: int) -> list[Row]:
    """Return a frame for each device with up to so many lines about it."""
    per_row, each = spread(len(items), width, _DEVICE)
    each = min(each, _WIDEST_DEVICE)
    bodies = [_device_lines(item, each - 2, most_lines) for item in items]
    blocks = []
    for number, item in enumerate(items):
        first = number - number % per_row
        high = max(map(len, bodies[first : first + per_row]))
        title = (Cell(item.name, "device", item.key), *change_mark(item.change))
        blocks.append(framed(title, bodies[number], each, item.key, high))
    return beside(blocks, each, per_row)


def _device_lines(item: TopologyItem, width: int, most_lines: int) -> list[Row]:
    """Return the faults of a device, then what it is, what is connected to it, and other facts as far as they fit."""
    known = [
        f"{name} {value}"
        for name, value in item.facts
        if name not in _IDENTITIES and value != "no" and value.casefold() not in item.about.casefold()
    ]
    lines = [(f"! {item.trouble}", "trouble")] if item.trouble else []
    lines += [(text, "text") for text in (item.about, *_children(item), *known)]
    rows = [
        (Cell(text, role, item.key),)
        for words, role in lines
        for text in textwrap.wrap(words, width, subsequent_indent=" ", break_on_hyphens=False)
    ]
    return [*rows[:most_lines]]


def _children(item: TopologyItem) -> list[str]:
    """Return the disks or partitions of a device; of many the first ones and how many others there are."""
    labels = [child.label for child in item.children]
    more = len(labels) - _CHILDREN_NAMED
    return labels if more <= 1 else [*labels[:_CHILDREN_NAMED], f"and {plural(more, 'other')}"]
