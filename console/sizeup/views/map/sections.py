"""The sections of a map: nodes with their cores, devices with their health, memory channels, figures between nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from sizeup.discovery.findings.dimms import channel_sizes
from sizeup.model.machine import Machine
from sizeup.units import format_bytes
from sizeup.views.machine.topology_item import ItemChange, TopologyItem
from sizeup.views.map.cells import (
    Cell,
    Row,
    apart,
    bar,
    beside,
    change_mark,
    device_cells,
    fault,
    flowed,
    rule,
    width_of,
    wrapped,
)
from sizeup.views.map.cores import CoreSize, CpuStates, core_rows
from sizeup.views.map.node_matrix import NodeMatrix
from sizeup.views.map.parts import NodeMemory, NodePart

_LEAST_BAR = 6
_CHANNEL_BAR = 8
_MOST_CHANNELS = 16
_HEAT = 6
"""Steps of the background of a figure between nodes."""


def node_rows(part: NodePart, shown: NodeMemory | None, cpus: CpuStates, size: CoreSize, width: int) -> list[Row]:
    """Return the memory of a node, its huge pages, and its cores."""
    memory = [] if shown is None else _memory_rows(part, shown, width)
    air: list[Row] = [()] * size.air
    return [*memory, *air, *core_rows(part.groups, cpus, width, size), *air] if part.groups else memory


def _memory_rows(part: NodePart, shown: NodeMemory, width: int) -> list[Row]:
    name = Cell(f"Node {part.os_id} ", "name", part.key)
    marks = (*change_mark(shown.change), *fault(shown.trouble))
    words = (Cell(f" {shown.words}", "text", part.key), *marks)
    room = width - len(name.text) - width_of(words)
    drawn = () if shown.share is None or room < _LEAST_BAR else bar(shown.share, room, part.key)
    rows: list[Row] = [apart((name, *drawn), words, width)]
    pools = [
        (Cell(f"{size} pages: {used} used", "dim", part.key), *fault(trouble))
        for size, _, used, trouble in shown.pools
    ]  # fmt: skip
    more = [(Cell(text, "dim", part.key),) for text in shown.more]
    return [*rows, *flowed([*pools, *more], width)]


def devices_heading(title: str, items: Sequence[TopologyItem]) -> tuple[Row, Row]:
    """Return the title of a section of devices, and how many are in order, not in service, and not in order."""
    items = [item for item in items if item.change is not ItemChange.REMOVED]
    wrong = sum(bool(item.trouble) for item in items)
    down = sum(not item.up and not item.trouble for item in items)
    counts = ((len(items) - down - wrong, "OK", "dim"), (down, "down", "dim"), (wrong, "WARN", "status-warn"))
    cells = [Cell(f" {count} {word}", role) for count, word, role in counts if count]
    basis = tuple(replace(cell, text=cell.text.strip()) if not at else cell for at, cell in enumerate(cells))
    return (Cell(title, "name"),), basis


def device_section(title: str, items: Sequence[TopologyItem], width: int, *, listed: bool) -> list[Row]:
    """Return devices below their title."""
    heading, basis = devices_heading(title, items)
    return [rule(heading, width, basis), *device_rows(items, width, listed=listed)] if items else []


def device_rows(items: Sequence[TopologyItem], width: int, *, listed: bool) -> list[Row]:
    """Return a row for each device, its health before and its link behind it; else as many in a row as fit."""
    if listed:
        names = min(max((len(item.name) for item in items), default=0), width // 3) + 1
        return [_device_row(item, names, width) for item in items]
    entries = [(_health(item), *device_cells(item)) for item in items]
    whole = [
        cells if width_of(cells) <= width else _device_row(item, len(item.name) + 1, width)
        for item, cells in zip(items, entries, strict=True)
    ]
    return flowed(whole, width, gap=2)


def _health(item: TopologyItem) -> Cell:
    if item.change is ItemChange.REMOVED:
        return Cell("  ", "text")
    if item.trouble:
        return Cell("▲ ", "status-warn", item.key)
    return Cell("● ", "status-pass", item.key) if item.up else Cell("○ ", "dim", item.key)


def _device_row(item: TopologyItem, names: int, width: int) -> Row:
    trouble = (Cell(f" WARN {item.trouble}", "status-warn", item.key),) if item.trouble else ()
    end: Row = (*change_mark(item.change), *trouble)
    link: Row = (Cell(f" {item.link}", "dim", item.key),)
    name = item.name if len(item.name) < names else item.name[: names - 2] + "…"
    room = width - 2 - names - width_of(end)
    least = item.brief[0] if item.brief else ""
    if width_of(link) + len(least) > room:
        link = ()
    words = ""
    for part in (*item.brief, *item.more):
        longer = f"{words}, {part}" if words else part
        if len(longer) + width_of(link) <= room:
            words = longer
    begin = (_health(item), Cell(f"{name:{names}}", "device", item.key), Cell(words, "text", item.key))
    return apart(begin, (*link, *end), width)


def channel_rows(machine: Machine) -> list[Row]:
    """Return the memory channels with what is in them; nothing where they are unknown or too many."""
    sizes = channel_sizes(machine)
    if not 1 < len(sizes) <= _MOST_CHANNELS:
        return []
    most = max(sizes.values()) or 1
    wide = max(map(len, sizes))
    rows: list[Row] = [(Cell("Memory channels", "name"),)]
    for name, size in sizes.items():
        words = Cell(f" {format_bytes(size)}", "text") if size else Cell(" ▲ empty", "status-warn")
        rows.append((Cell(f"{name:{wide}} ", "text"), *bar(size / most, _CHANNEL_BAR), words))
    return rows


def matrix_rows(
    matrices: Sequence[NodeMatrix], packages: Mapping[int, tuple[int, ...]], width: int, *, whole: bool
) -> list[Row]:
    """Return the figures between nodes: ``whole`` as tables side by side, else the ranges of each."""
    rows: list[Row] = []
    line: list[list[Row]] = []
    for matrix in matrices:
        table = _table(matrix) if whole else []
        if not table or max(map(width_of, table)) > width:
            text = matrix.summary(packages)
            rows += [(Cell(f"{matrix.heading}:", "name"),), *wrapped(text, width, "text")]
            continue
        if line and sum(max(map(width_of, block)) + 3 for block in line) + max(map(width_of, table)) > width:
            rows += _beside(line)
            line = []
        line.append(table)
    return rows + _beside(line)


def _beside(blocks: Sequence[Sequence[Row]]) -> list[Row]:
    return beside(blocks, [max(map(width_of, block)) for block in blocks], 3)


def _table(matrix: NodeMatrix) -> list[Row]:
    """Return one figure as a table, its largest values on the brightest background; empty for too many nodes."""
    table = matrix.table()
    if not table:
        return []
    low, high = min(matrix.values.values()), max(matrix.values.values())
    wide = max(len(cell) for row in table for cell in row) + 2
    names = max(len(row[0]) for row in table) + 1
    head = Cell("".join((" " * names, *(cell.rjust(wide) for cell in table[0][1:]))), "dim")
    rows: list[Row] = [(Cell(matrix.heading, "text"),), (head,)]
    for node, (name, *cells) in zip(matrix.nodes, table[1:], strict=True):
        drawn = [Cell(name.ljust(names), "dim")]
        for other, text in zip(matrix.nodes, cells, strict=True):
            value = matrix.values.get((node, other))
            step = 0 if value is None or high == low else int((value - low) / (high - low) * (_HEAT - 1))
            drawn.append(Cell(text.rjust(wide), "text" if value is None else f"heat-{step + 1}"))
        rows.append(tuple(drawn))
    return rows
