"""A machine as boxes: sockets with their nodes, caches, cores and devices, as large as a screen has room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sizeup.text import plural
from sizeup.views.machine.topology_item import ItemChange, TopologyItem
from sizeup.views.map.cells import Cell, Row, change_mark, cut, device_cells, fault, meter, padded, width_of, wrapped
from sizeup.views.map.frames import device_frames, framed
from sizeup.views.map.tiles import CorePart, CpuStates, Tile, TileSize, tiles

_LEAST_INSIDE = 34
"""Columns that the inside of a box needs beside another."""
_BAR, _MOST_BAR = 6, 30


class CacheGroup(Struct, frozen=True):
    """Cores that share a cache; its name is empty for cores that share none."""

    key: str
    cache: str
    cores: tuple[CorePart, ...]

    @property
    def label(self) -> str:
        """The cache, and how many cores share it; empty for none."""
        return f"{self.cache}, {plural(len(self.cores), 'core')}" if self.cache else ""


class NodePart(Struct, frozen=True):
    """A node with its cores and devices, or cores outside all nodes, which have no ``os_id``."""

    key: str
    os_id: int | None
    groups: tuple[CacheGroup, ...] = ()
    devices: tuple[TopologyItem, ...] = ()


class Box(Struct, frozen=True):
    """A socket, or a node that is in no socket or in several."""

    key: str
    title: tuple[str, ...]
    """Name and facts; the last ones go where there is no room."""
    parts: tuple[NodePart, ...] = ()


class NodeMemory(Struct, frozen=True):
    """Memory and huge pages of a node, as they are drawn."""

    share: float | None
    words: str
    short: str
    """The same in fewer columns."""
    trouble: str = ""
    change: ItemChange | None = None
    pools: tuple[tuple[str, float, str, str], ...] = ()
    """Page size, share used, words and trouble of each pool."""
    more: tuple[str, ...] = ()
    """What else is known of it, where there is room."""


def grid(
    boxes: Sequence[Box], memory: Mapping[int, NodeMemory], cpus: CpuStates, size: TileSize, columns: int, width: int
) -> list[Row]:
    """Return the boxes side by side in that many columns, their frames shared."""
    inside = (width - 1) // columns - 3
    extra = width - 1 - columns * (inside + 3)
    rows: list[Row] = []
    for first in range(0, len(boxes), columns):
        line = boxes[first : first + columns]
        insides = [inside + (extra if number == columns - 1 else 0) for number in range(columns)]
        bodies = [
            [row for part in box.parts for row in _part_rows(part, memory, cpus, size, inner_width)]
            for box, inner_width in zip(line, insides, strict=False)
        ]
        rows.append(_border(line, insides, ("├", "┼", "┤") if first else ("╭", "┬", "╮")))
        for y in range(max(map(len, bodies))):
            cells: list[Cell] = []
            for number, inner_width in enumerate(insides):
                body = bodies[number] if number < len(bodies) else []
                cells += [
                    Cell("│ ", "frame"),
                    *padded(body[y] if y < len(body) else (), inner_width),
                    Cell(" ", "text"),
                ]
            rows.append((*cells, Cell("│", "frame")))
    return [*rows, _border((), insides, ("╰", "┴", "╯"))] if boxes else []


def column_counts(boxes: Sequence[Box], width: int) -> list[int]:
    """Return in how many columns the boxes can stand."""
    most = max((width - 1) // (_LEAST_INSIDE + 3), 1)
    return list(range(1, min(len(boxes), most, 4) + 1))


def _border(boxes: Sequence[Box], insides: Sequence[int], corners: tuple[str, str, str]) -> Row:
    left, between, right = corners
    cells: list[Cell] = []
    for number, inner_width in enumerate(insides):
        cells.append(Cell(between if number else left, "frame"))
        title = ""
        key = ""
        if number < len(boxes):
            key, parts = boxes[number].key, boxes[number].title
            title = parts[0]
            for part in parts[1:]:
                if len(title) + len(part) + 5 > inner_width:
                    break
                title += f" · {part}"
            title = title[: max(inner_width - 2, 0)]
        if title:
            cells += [
                Cell("─ ", "frame"),
                Cell(title, "name", key),
                Cell(" " + "─" * (inner_width - len(title) - 1), "frame"),
            ]
        else:
            cells.append(Cell("─" * (inner_width + 2), "frame"))
    return (*cells, Cell(right, "frame"))


def _part_rows(
    part: NodePart, memory: Mapping[int, NodeMemory], cpus: CpuStates, size: TileSize, width: int
) -> list[Row]:
    shown, tile = None if part.os_id is None else memory.get(part.os_id), size.tile
    if size.device_lines:
        return _framed_part(part, shown, cpus, size, width)
    cells = _cells(part, cpus) if tile is Tile.CELL else []
    name = "" if part.os_id is None else f"N{part.os_id} " if tile is Tile.CELL else f"Node {part.os_id} "
    inline = bool(cells) and len(cells) + len(name) <= width
    head: list[Cell] = [Cell(name, "name", part.key)] if name else []
    if inline:
        head += cells
    rows = _with_memory(head, shown, part.key, width)
    if cells and not inline:
        rows += (tuple(cells[first : first + width]) for first in range(0, len(cells), width))
    for group in part.groups if tile is not Tile.CELL else ():
        if group.label:
            rule = "─" * (width - len(group.label) - 1)
            rows.append((Cell(f"{group.label} ", "text", group.key), Cell(rule, "frame", group.key)))
        rows += tiles(group.cores, cpus, size, width)
    for number, item in enumerate(part.devices):
        begin = "└ " if number == len(part.devices) - 1 else "├ "
        rows += wrapped(device_cells(item), width, begin, "    ")
    return rows


def _framed_part(part: NodePart, shown: NodeMemory | None, cpus: CpuStates, size: TileSize, width: int) -> list[Row]:
    """Return a node as a frame around its memory, its caches with their cores, and its devices."""
    is_node = part.os_id is not None
    inside = width - 2 if is_node else width
    rows = [] if shown is None else _memory_rows(shown, part.key, inside)
    for group in part.groups:
        if group.label:
            title = (Cell(group.label, "text", group.key),)
            rows += framed(title, tiles(group.cores, cpus, size, inside - 2), inside, group.key)
        else:
            rows += tiles(group.cores, cpus, size, inside)
    if part.devices:
        rows += device_frames(part.devices, inside, size.device_lines)
    return framed((Cell(f"Node {part.os_id}", "name", part.key),), rows, width) if is_node else rows


def _memory_rows(shown: NodeMemory, key: str, width: int) -> list[Row]:
    """Return the memory of a node with a bar as long as the row, what else is known of it, and its huge pages."""
    marks = (*change_mark(shown.change), *fault(shown.trouble))
    words = shown.words if shown.share is None else f"{shown.words} used"
    bar = width - len(words) - width_of(marks) - 3
    begin = () if shown.share is None or bar < _BAR else (*meter(shown.share, bar, key), Cell(" ", "text"))
    rows: list[Row] = [(*begin, Cell(words, "text", key), *marks)]
    for text in shown.more:
        rows += wrapped((Cell(text, "text", key),), width, "", " ")
    return [*rows, *(tuple(cut(_pool_cells(pool, key, width), width)) for pool in shown.pools)]


def _pool_cells(pool: tuple[str, float, str, str], key: str, width: int) -> Row:
    """Return huge pages with a bar, or where that is too wide without one."""
    size, share, words, trouble = pool
    with_bar = (
        Cell(f"{size} pages ", "text", key),
        *meter(share, _BAR, key),
        Cell(f" {words} used", "text", key),
        *fault(trouble),
    )
    short = (Cell(f"{size} pages {words} used", "text", key), *fault(trouble))
    return with_bar if width_of(with_bar) <= width else short


def _with_memory(head: list[Cell], shown: NodeMemory | None, key: str, width: int) -> list[Row]:
    """Return the first rows of a node: its name or cores, then its memory and its huge pages as far as they fit."""
    if shown is None:
        return [tuple(head)] if head else []
    gap = [Cell(" ", "text")] if head and not head[-1].text.endswith(" ") else []
    inner_width = width - width_of(head) - len(gap)
    entry = _memory_entry(shown, key, inner_width)
    rows: list[list[Cell]] = []
    if entry is None:
        rows = [head, [*(_memory_entry(shown, key, width) or (Cell(shown.words, "text", key),))]]
    else:
        rows = [[*head, *gap, *entry]]
    for pool in shown.pools:
        cells = _pool_cells(pool, key, width)
        used = width_of(rows[-1])
        if used + 3 + width_of(cells) <= width:
            rows[-1] += [Cell("   ", "text"), *cells]
        else:
            rows.append(cut(cells, width))
    return [tuple(row) for row in rows]


def _memory_entry(shown: NodeMemory, key: str, inner_width: int) -> Row | None:
    """Return the memory of a node with as long a bar as fits, in fewer columns without one; None where none fits."""
    marks = (*change_mark(shown.change), *fault(shown.trouble))
    words = f"{shown.words} used" if shown.share is not None else shown.words
    left = inner_width - len(words) - width_of(marks)
    if shown.share is None:
        return (Cell(words, "text", key), *marks) if left >= 0 else None
    if left >= _BAR + 3:
        bar = min(left - 3, _MOST_BAR)
        return (*meter(shown.share, bar, key), Cell(f" {words}", "text", key), *marks)
    # Behind the squares of the cores, without a bar of its own, it must not read as theirs.
    short = f"mem {shown.short}"
    return (Cell(short, "text", key), *marks) if len(short) + width_of(marks) <= inner_width else None


def _cells(part: NodePart, cpus: CpuStates) -> list[Cell]:
    """Return a cell for each core, with a bar between those of different caches."""
    cells: list[Cell] = []
    for number, group in enumerate(part.groups):
        cells += [Cell("|", "cache")] if number else []
        cells += [cpus.cell(core) for core in group.cores]
    return cells
