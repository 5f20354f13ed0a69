"""The sections of a map: nodes with cores, devices with health, memory channels, figures between nodes, settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sizeup.charts.drawing import heat_role
from sizeup.discovery.findings.dimms import channel_sizes
from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.text import clipped
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
    flowed,
    memory_used,
    width_of,
    wrapped,
)
from sizeup.views.map.cores import CoreSize, CpuStates, core_rows
from sizeup.views.map.node_matrix import NodeMatrix, short_figure
from sizeup.views.map.parts import MapParts, NodePart

Section = tuple[Row, Row, list[Row]]
"""Title, what stands at its right, and rows."""
_LEAST_BAR = 6
_CELL, _MEASURED, _STATED = 9, 0.79, 0.59
"""Columns of a figure between nodes at most, and how bright the largest measured and the largest stated one is."""
_LEAST_SETTINGS = 3
"""Rows of settings: fewer stay free."""
_LEAST_ADVICE = 24
"""Columns from which on what vendors recommend stands beside the settings."""
_CHANNEL_BAR = 8
_MOST_CHANNELS = 16
_MOST_NODES = 16
"""Of more nodes the whole table is longer than a screen; the ranges remain."""
_SIGNS = {
    "OK": ("● ", "status-pass"),
    "down": ("○ ", "dim"),
    "WARN": ("▲ ", "status-warn"),
    "FAIL": ("▼ ", "status-fail"),
}
"""How a device stands: sign and role by the word."""
_GRAVE = ("WARN", "FAIL")


def node_rows(
    part: NodePart, node: NumaNode | None, parts: MapParts, cpus: CpuStates, size: CoreSize, width: int, measured: str
) -> list[Row]:
    """Return the memory of a node with what was ``measured`` of it, its huge pages, and its cores."""
    memory: list[Row] = []
    if node is not None:
        key = f"node:{node.os_id}"
        share, used = memory_used(node)
        name = Cell(f"Node {node.os_id} ", "name", key)
        words = (Cell(f" {used}", "text", key), *parts.marks(key))
        room = width - len(name.text) - width_of(words)
        drawn = () if share is None or room < _LEAST_BAR else bar(share, room, key)
        kind = [(Cell(text, "dim", key),) for text in (parts.kind(node), measured) if text]
        memory = [apart((name, *drawn), words, width), *flowed([*parts.pools(node), *kind], width)]
    air: list[Row] = [()] * size.air
    return [*memory, *air, *core_rows(part.groups, cpus, width, size), *air] if part.groups else memory


def device_section(
    title: str, items: Sequence[TopologyItem], width: int, *, listed: bool, with_facts: bool = False
) -> Section:
    """Return devices, with how many are in order, not in service, and not in order.

    Those that are ``listed`` are a row each, ``with_facts`` above their short facts; else as many in a row as fit.
    """
    number_of = Counter(
        _health(one) for one in items for _ in range(one.number) if one.change is not ItemChange.REMOVED
    )
    cells = [
        Cell(f"{number_of[word]} {word} ", role if word in _GRAVE else "dim")
        for word, (_, role) in _SIGNS.items()
        if number_of[word]
    ]
    names = min(max((len(item.name) for item in items), default=0), width // 2) + 1
    rows = []
    for item in items:
        brief: Row = (_health_cell(item), *device_cells(item))
        fits = not listed and width_of(brief) <= width
        rows.append(brief if fits else _device_row(item, names if listed else len(item.name) + 1, width))
        shown = {*item.brief, *item.more, item.link, "no"}  # and what a device is not
        further = [(name, text) for name, text in item.facts if text not in shown]
        facts = [(Cell(f"{name} ", "dim", item.key), Cell(text, "text", item.key)) for name, text in further]
        short = [fact for fact in facts if width_of(fact) <= width // 2]
        rows += flowed(short, width, " " * (2 + names), gap=2) if with_facts and listed else []
    return (Cell(title, "name"),), tuple(cells), rows if listed else flowed(rows, width, gap=2)


def _health(item: TopologyItem) -> str:
    return "FAIL" if item.grave else "WARN" if item.trouble else "OK" if item.up else "down"


def _health_cell(item: TopologyItem) -> Cell:
    return Cell("  ", "text") if item.change is ItemChange.REMOVED else Cell(*_SIGNS[_health(item)], item.key)


def _device_row(item: TopologyItem, names: int, width: int) -> Row:
    word = _health(item)
    trouble = (Cell(f" {word} {item.trouble}".rstrip(), _SIGNS[word][1], item.key),) if word in _GRAVE else ()
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
    begin = (_health_cell(item), Cell(f"{name:{names}}", "device", item.key), Cell(words, "text", item.key))
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
        table = _table(matrix, (width + 3) // len(matrices) - 3) if whole and len(matrix.nodes) <= _MOST_NODES else []
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


def _table(matrix: NodeMatrix, width: int) -> list[Row]:
    """Return one figure as a table as wide as it is easy to read, its largest values on the brightest background."""
    texts = {pair: short_figure(value) for pair, value in matrix.values.items()}
    low, high = min(matrix.values.values()), max(matrix.values.values())
    names = [f"N{node}" for node in matrix.nodes]
    first = max(map(len, names)) + 1
    most = max(map(len, (*texts.values(), *names))) + 1
    wide = max(most, min(_CELL, (width - first) // len(names)))
    bright = _MEASURED if matrix.unit else _STATED
    rows: list[Row] = [
        (Cell(matrix.heading, "text"),),
        (Cell(" " * first + "".join(f"{name:^{wide - 1}} " for name in names), "dim"),),
    ]
    for node, name in zip(matrix.nodes, names, strict=True):
        cells = [Cell(name.ljust(first), "dim")]
        for other in matrix.nodes:
            value = matrix.values.get((node, other), low)
            role = heat_role(bright * (value - low) / ((high - low) or 1))
            cells += [Cell(f"{texts.get((node, other), '–'):^{wide - 1}}", role), Cell(" ", "text")]
        rows.append(tuple(cells))
    return rows


def settings_section(facts: Sequence[tuple[str, str, str]], width: int, rows: int) -> Section:
    """Return settings as ``setting_texts`` has them, in as few columns of at most so many rows as hold them or as fit.

    Beside a single column stands what vendors recommend, where there is room.
    """
    title: Row = (Cell("Settings that matter for a database", "name"),)
    names, values = (max((len(fact[part]) for fact in facts), default=0) for part in (0, 1))
    each = names + values + 2
    if rows < _LEAST_SETTINGS or not facts or each > width:
        return title, (), []
    count = min((width + 3) // (each + 3), -(-len(facts) // rows))
    high = min(-(-len(facts) // count), rows)
    room = width - each - 3 if count == 1 else 0
    if room >= _LEAST_ADVICE:
        basis = (Cell("recommended by vendors", "dim"),)
        return (
            title,
            basis,
            [
                (
                    Cell(f"{name:{names}}  ", "dim"),
                    Cell(f"{value:{values}}   ", "value"),
                    Cell(clipped(advice, room), "dim"),
                )
                for name, value, advice in facts[:high]
            ],
        )
    cells = [(Cell(f"{name:{names}}  ", "dim"), Cell(value, "value")) for name, value, _ in facts]
    columns = [cells[at : at + high] for at in range(0, high * count, high)]
    return title, (), beside(columns, [each] * count, 3)
