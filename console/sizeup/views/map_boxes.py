"""A machine as boxes: sockets with their nodes, caches, cores and devices, as large as a screen has room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import Struct

from sizeup.views.map_cells import Cell, Row, change_mark, cut, device_cells, fault, meter, padded, width_of
from sizeup.views.topology_item import ItemChange, TopologyItem

_LEAST_INSIDE = 34
"""Columns that the inside of a box needs beside another."""
_BAR, _MOST_BAR = 6, 30
_METER = 4
"""Cells of the shortest bar with a figure."""
CORE, OFFLINE, NOT_ALLOWED = "■", "x", "-"
LOADS = 10
"""The number of load steps in a core's cell, 0 to 9."""


class Tile(Enum):
    """How a core is drawn."""

    FRAME = "frame"
    """With a line for each thread, and its own caches."""
    THREADS = "threads"
    """A line with a meter for each thread."""
    METER = "meter"
    """One line with a meter, or a sign where no load is known."""
    CELL = "cell"


TILE_WIDTHS = {
    Tile.FRAME: (70, 48, 36, 24, 19),
    Tile.THREADS: (36, 24, 17),
    Tile.METER: (36, 24, 17, 10),
    Tile.CELL: (1,),
}
"""Columns of a core."""


class TileSize(Struct, frozen=True):
    """A kind of tile, and how many columns it has at least."""

    tile: Tile
    width: int


class CorePart(Struct, frozen=True):
    """One core, or a CPU where cores are unknown."""

    key: str
    name: str
    cpus: tuple[int, ...]
    caches: str = ""
    """Its own caches, ``L2 1 MiB, L1d 32 KiB``."""


class CacheGroup(Struct, frozen=True):
    """Cores that share a cache; the label is empty for cores that share none."""

    key: str
    label: str
    cores: tuple[CorePart, ...]


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


class CpuStates(Struct, frozen=True):
    """What is known of CPUs at the moment."""

    states: Mapping[int, tuple[bool, bool]]
    """Online, and allowed, by CPU."""
    loads: Mapping[int, float]
    """Percent by CPU; empty on a capture."""
    role: str = "core"
    """``cpu`` where cores are unknown."""

    def problem(self, cpus: Sequence[int]) -> Cell | None:
        """Return the sign of a core that is offline or not allowed; None for any other."""
        online = [cpu for cpu in cpus if self.states.get(cpu, (True, True))[0]]
        if not online:
            return Cell(OFFLINE, "offline")
        return None if any(self.states.get(cpu, (True, True))[1] for cpu in online) else Cell(NOT_ALLOWED, "barred")

    def load(self, cpus: Sequence[int]) -> float | None:
        """Return the load of the busiest of some CPUs in percent; None where it is unknown."""
        known = [self.loads[cpu] for cpu in cpus if cpu in self.loads and self.states.get(cpu, (True, True))[0]]
        return max(known) if known else None

    def cell(self, core: CorePart) -> Cell:
        """Return the one cell of a core: its load in tenths, or a sign."""
        problem, load = self.problem(core.cpus), self.load(core.cpus)
        if problem is not None:
            return Cell(problem.text, problem.role, core.key)
        if load is None:
            return Cell(CORE, self.role, core.key)
        tenths = min(int(load / 100 * LOADS), LOADS - 1)
        return Cell(str(tenths), f"load-{tenths}", core.key)


class NodeMemory(Struct, frozen=True):
    """Memory and huge pages of a node, as they are drawn."""

    share: float | None
    words: str
    trouble: str = ""
    change: ItemChange | None = None
    pools: tuple[tuple[str, float, str, str], ...] = ()
    """Page size, share used, words and trouble of each pool."""


def grid(
    boxes: Sequence[Box], memory: Mapping[int, NodeMemory], cpus: CpuStates, size: TileSize, columns: int, width: int
) -> list[Row]:
    """Return the boxes side by side in so many columns, their frames shared."""
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
    cells = _cells(part, cpus) if tile is Tile.CELL else []
    name = "" if part.os_id is None else f"N{part.os_id} " if tile is Tile.CELL else f"Node {part.os_id} "
    inline = bool(cells) and len(cells) + len(name) <= width
    head: list[Cell] = [Cell(name, "name", part.key)] if name else []
    if inline:
        head += cells
    rows = _with_memory(head, shown, part.key, width)
    if cells and not inline:
        rows += _chunked(cells, width)
    for group in part.groups if tile is not Tile.CELL else ():
        if group.label:
            rule = "─" * (width - len(group.label) - 1)
            rows.append((Cell(f"{group.label} ", "text", group.key), Cell(rule, "frame", group.key)))
        rows += _tiles(group.cores, cpus, size, width)
    for number, item in enumerate(part.devices):
        begin = "└ " if number == len(part.devices) - 1 else "├ "
        rows += wrapped(device_cells(item), width, begin, "    ")
    return rows


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
    for size, share, words, trouble in shown.pools:
        cells = (
            Cell(f"{size} pages ", "text", key),
            *meter(share, _BAR, key),
            Cell(f" {words} used", "text", key),
            *fault(trouble),
        )
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
    short = f"mem {shown.words.replace(' of ', '/', 1)}"
    return (Cell(short, "text", key), *marks) if len(short) + width_of(marks) <= inner_width else None


def _cells(part: NodePart, cpus: CpuStates) -> list[Cell]:
    """Return a cell for each core, with a bar between those of different caches."""
    cells: list[Cell] = []
    for number, group in enumerate(part.groups):
        cells += [Cell("|", "cache")] if number else []
        cells += [cpus.cell(core) for core in group.cores]
    return cells


def _chunked(cells: Sequence[Cell], width: int) -> list[Row]:
    return [tuple(cells[first : first + width]) for first in range(0, len(cells), width)]


def _tiles(cores: Sequence[CorePart], cpus: CpuStates, size: TileSize, width: int) -> list[Row]:
    """Return a tile for each core, as many in a row as fit."""
    least = size.width
    if size.tile is Tile.METER and not any(cpus.load(core.cpus) is not None for core in cores):
        least = max((len(core.name) for core in cores), default=1) + 3
    per_row = max(min(width // least, len(cores)), 1)
    each = least if least < size.width else min(width // per_row, size.width + 10)
    draw = {Tile.FRAME: _frame, Tile.THREADS: _threads}.get(size.tile, _meter_line)
    rows: list[Row] = []
    for first in range(0, len(cores), per_row):
        tiles = [draw(core, cpus, each) for core in cores[first : first + per_row]]
        high = max(map(len, tiles))
        blank = (Cell(" " * each, "text"),)
        rows += [tuple(cell for tile in tiles for cell in (tile[y] if y < len(tile) else blank)) for y in range(high)]
    return rows


def tile_rows(tile: Tile, threads: int) -> int:
    """Return how many rows a tile takes at least."""
    return {Tile.FRAME: 3, Tile.THREADS: min(threads, 2)}.get(tile, 1)


def _meter_line(core: CorePart, cpus: CpuStates, width: int) -> list[Row]:
    """Return the name of a core with the load of its busiest thread."""
    load = None if cpus.problem(core.cpus) else cpus.load(core.cpus)
    name = Cell(f"{core.name:>3} " if width > 9 else f"{core.name:>{width - 3}} ", "text", core.key)
    if load is None:
        sign = cpus.cell(core)
        return [padded((name, sign), width)]
    return [(name, *_load_meter(load, width - len(name.text) - 1, core.key), Cell(" ", "text"))]


def _threads(core: CorePart, cpus: CpuStates, width: int) -> list[Row]:
    """Return a line with a meter for each of the first threads of a core."""
    return [(*padded(_thread(cpu, cpus, width - 1, core.key), width - 1), Cell(" ", "text")) for cpu in core.cpus[:2]]


def _load_meter(load: float, inner_width: int, key: str) -> Row:
    """Return a load as a bar, and its figure where there is room for both."""
    figure = f" {load:>3.0f} %" if inner_width >= _METER + 6 else ""
    bar = max(inner_width - len(figure), 1)
    used = min(round(load / 100 * bar), bar)
    return (Cell("█" * used, "used", key), Cell("·" * (bar - used), "free", key), Cell(figure, "text", key))


def _frame(core: CorePart, cpus: CpuStates, width: int) -> list[Row]:
    inside, key = width - 2, core.key
    title = f" {'CPU' if cpus.role == 'cpu' else 'Core'} {core.name} "
    rows: list[Row] = [(Cell(f"┌{title}{'─' * (inside - len(title))}┐", "frame", key),)]
    lines = [_thread(cpu, cpus, inside, key) for cpu in core.cpus[:2]] if cpus.load(core.cpus) is not None else []
    if not lines:
        problem = cpus.problem(core.cpus)
        words = f"CPU {', '.join(map(str, core.cpus))}"
        state = {OFFLINE: " offline", NOT_ALLOWED: " not allowed"}.get(problem.text, "") if problem else ""
        lines = [(Cell(words, "core", key), Cell(state, problem.role if problem else "text", key))]
    if core.caches:
        lines.append((Cell(core.caches, "text", key),))
    edge = Cell("│", "frame", key)
    rows += [(edge, *(Cell(cell.text, cell.role, key) for cell in padded(line, inside)), edge) for line in lines]
    return [*rows, (Cell(f"└{'─' * inside}┘", "frame", key),)]


def _thread(cpu: int, cpus: CpuStates, width: int, key: str) -> Row:
    """Return the load of one CPU as a bar and a figure."""
    problem, load = cpus.problem((cpu,)), cpus.load((cpu,))
    if problem is not None or load is None:
        words = {OFFLINE: "offline", NOT_ALLOWED: "not allowed"}.get(problem.text if problem else "", "load unknown")
        return Cell(f"{cpu:>3} ", "text", key), Cell(words, problem.role if problem else "text", key)
    return (Cell(f"{cpu:>3} ", "text", key), *_load_meter(load, width - 4, key))


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
