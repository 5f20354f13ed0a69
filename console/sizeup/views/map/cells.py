"""The cells that a map of a machine is made of: meters, values, faults, differences and devices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sizeup.model.numa import NumaNode
from sizeup.units import format_bytes, format_range
from sizeup.views.machine.topology_item import ItemChange, TopologyItem

_USED, _FREE = "█", "·"


class Cell(Struct, frozen=True):
    """Text with its role: ``core``, ``load-7``, ``offline``, ``used``, ``trouble``, ``added``."""

    text: str
    role: str
    key: str = ""
    """The part of the machine that it shows; empty for none."""


Row = tuple[Cell, ...]


def width_of(cells: Iterable[Cell]) -> int:
    """Return the columns that cells take."""
    return sum(len(cell.text) for cell in cells)


def padded(cells: Sequence[Cell], width: int) -> Row:
    """Return the cells with blanks up to a width; what is beyond it is cut."""
    missing = width - width_of(cells)
    if missing < 0:
        return tuple(cut(cells, width))
    return (*cells, Cell(" " * missing, "text")) if missing else tuple(cells)


def cut(cells: Sequence[Cell], width: int) -> list[Cell]:
    """Return the cells that fit; a fault, which comes last, is never cut."""
    if not cells:
        return []
    *sound, last = cells
    kept: list[Cell] = []
    width -= len(last.text) if last.role == "trouble" else 0
    for cell in sound if last.role == "trouble" else cells:
        kept.append(Cell(cell.text[: max(width, 0)], cell.role, cell.key))
        width -= len(cell.text)
    return [*kept, last] if last.role == "trouble" else kept


def meter(share_used: float, cells: int, key: str = "") -> Row:
    """Return a bar in brackets, its used part filled."""
    used = min(max(round(share_used * cells), 0), cells)
    return (
        Cell("[", "free", key),
        Cell(_USED * used, "used", key),
        Cell(_FREE * (cells - used) + "]", "free", key),
    )


def memory_used(node: NumaNode, of: str = " of ") -> tuple[float | None, str]:
    """Return the share of a node's memory that is used, and both figures as text; None where it is unknown."""
    if node.memory_bytes is None:
        return None, "memory unknown"
    if not node.memory_bytes:
        return None, "no memory"
    if node.free_bytes is None:
        return None, f"unknown of {format_bytes(node.memory_bytes)}"
    used = max(node.memory_bytes - node.free_bytes, 0)
    return used / node.memory_bytes, format_range(used, node.memory_bytes, "bytes", of)


def change_mark(change: ItemChange | None) -> Row:
    """Return sign and word of a difference; nothing where there is none."""
    return () if change is None else (Cell(f" {change.sign} {change.value}", change.value),)


def fault(word: str | None) -> Row:
    """Return a fault with its sign; nothing where there is none."""
    return () if not word else (Cell(f" ! {word}", "trouble"),)


def device_cells(item: TopologyItem) -> Row:
    """Return the cells of a device: name, values, change and fault, the last two with sign and word."""
    cells = (Cell(item.name, "device", item.key), Cell(item.brief, "text", item.key), *change_mark(item.change))
    return (*cells, *fault(item.trouble))


def flowed(entries: Iterable[Sequence[Cell]], width: int, first: str = "", rest: str = "", gap: int = 3) -> list[Row]:
    """Return rows with as many entries as fit, after ``first`` or ``rest``; one that is longer than a row is cut."""
    rows: list[list[Cell]] = []
    used = width
    for cells in entries:
        between = gap if rows and used > len(rest) else 0
        if not rows or used + between + width_of(cells) > width:
            begin = rest if rows else first
            rows.append([Cell(begin, "name")] if begin else [])
            used, between = len(begin), 0
        if between:
            rows[-1].append(Cell(" " * between, "text"))
        rows[-1] += cut(cells, width - used - between)
        used += between + width_of(cells)
    return [tuple(row) for row in rows]


def wrapped(cells: Sequence[Cell], width: int, first: str, rest: str) -> list[Row]:
    """Return cells in as many rows as they need, broken at blanks."""
    rows: list[list[Cell]] = [[Cell(first, "frame")]]
    for cell in cells:
        words = cell.text.split(" ")
        for number, word in enumerate(words):
            text = f" {word}" if number else word
            if width_of(rows[-1]) + len(text) > width and len(rows[-1]) > 1:
                rows.append([Cell(rest, "frame")])
                text = word
            rows[-1].append(Cell(text[: max(width - width_of(rows[-1]), 0)], cell.role, cell.key))
    return [tuple(row) for row in rows]
