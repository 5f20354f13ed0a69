"""The cells that a map of a machine is made of: bars, faults, differences, devices, and frames around rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sizeup.model.numa import NumaNode
from sizeup.units import format_bytes, format_range
from sizeup.views.machine.topology_item import ItemChange, TopologyItem

_USED, _HALF, _FREE = "▄", "▖", "·"


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


def apart(left: Sequence[Cell], right: Sequence[Cell], width: int) -> Row:
    """Return cells at both ends of a row; where both have no room, the left ones are cut."""
    return (*padded(left, width - width_of(right)), *right)


def bar(share_used: float, cells: int, key: str = "") -> Row:
    """Return a bar whose used part is filled, to half a cell."""
    halves = min(max(round(share_used * cells * 2), 0), cells * 2)
    used = _USED * (halves // 2) + _HALF * (halves % 2)
    return Cell(used, "used", key), Cell(_FREE * (cells - len(used)), "free", key)


def memory_used(node: NumaNode) -> tuple[float | None, str]:
    """Return the share of a node's memory that is used, without page cache, and both figures as text.

    None where it is unknown.
    """
    if node.memory_bytes is None:
        return None, "memory unknown"
    if not node.memory_bytes:
        return None, "no memory"
    if node.available_bytes is None:
        return None, f"unknown of {format_bytes(node.memory_bytes)} used"
    used = max(node.memory_bytes - node.available_bytes, 0)
    return used / node.memory_bytes, f"{format_range(used, node.memory_bytes, 'bytes', ' of ')} used"


def change_mark(change: ItemChange | None) -> Row:
    """Return sign and word of a difference; nothing where there is none."""
    return () if change is None else (Cell(f" {change.sign} {change.value}", change.value),)


def fault(word: str | None) -> Row:
    """Return a fault with its sign; nothing where there is none."""
    return () if not word else (Cell(f" ! {word}", "trouble"),)


def device_cells(item: TopologyItem) -> Row:
    """Return the cells of a device: name, values, change and fault, the last two with sign and word."""
    words = ", ".join(filter(None, (*item.brief, item.link)))
    named = (Cell(item.name, "device", item.key), Cell(f" {words}".rstrip(), "text", item.key))
    return (*named, *change_mark(item.change), *fault(item.trouble))


def flowed(entries: Iterable[Sequence[Cell]], width: int, indent: str = "", gap: int = 3) -> list[Row]:
    """Return rows with as many entries as fit, all indented; one that is longer than a row is cut."""
    rows: list[list[Cell]] = []
    for cells in entries:
        if not rows or width_of(rows[-1]) + gap + width_of(cells) > width:
            rows.append([Cell(indent, "name")] if indent else [])
        elif rows[-1]:
            rows[-1].append(Cell(" " * gap, "text"))
        rows[-1] += cut(cells, width - width_of(rows[-1]))
    return [tuple(row) for row in rows]


def wrapped(text: str, width: int, role: str, key: str = "", rest: str = "") -> list[Row]:
    """Return a text in as many rows as it needs, broken at blanks; later rows begin with ``rest``."""
    lines = textwrap.wrap(text, max(width, 1), subsequent_indent=rest, break_on_hyphens=False)
    return [(Cell(line, role, key),) for line in lines]


def beside(blocks: Sequence[Sequence[Row]], widths: Sequence[int], gap: int = 1) -> list[Row]:
    """Return blocks side by side, each in its width, with blanks between them and below the shorter ones."""
    rows: list[Row] = []
    for y in range(max(map(len, blocks), default=0)):
        cells: list[Cell] = []
        for block, width in zip(blocks, widths, strict=True):
            cells += [Cell(" " * gap, "text")] if cells else []
            cells += padded(block[y] if y < len(block) else (), width)
        rows.append(tuple(cells))
    return rows


def rule(title: Sequence[Cell], width: int, basis: Sequence[Cell] = ()) -> Row:
    """Return a title in a line that parts two sections, with what it rests on at its right end."""
    end = (Cell(" ", "frame"), *basis, Cell("─", "frame")) if basis and width_of(basis) + 12 <= width else ()
    name = cut(title, width - width_of(end) - 4)
    line = "─" * (width - width_of(name) - width_of(end) - 3)
    return (Cell("─ ", "frame"), *name, Cell(f" {line}", "frame"), *end)


def panel(
    title: Sequence[Cell], body: Sequence[Row], width: int, rows: int = 0, basis: Sequence[Cell] = ()
) -> list[Row]:
    """Return a frame around rows, at least so many of them: title and basis in its upper edge."""
    edge = Cell("│", "frame")
    inside = width - 4
    lines: list[Row] = [*body, *[()] * (rows - len(body))]
    return [
        (Cell("╭", "frame"), *rule(title, width - 2, basis), Cell("╮", "frame")),
        *((edge, Cell(" ", "text"), *padded(row, inside), Cell(" ", "text"), edge) for row in lines),
        (Cell(f"╰{'─' * (width - 2)}╯", "edge"),),
    ]
