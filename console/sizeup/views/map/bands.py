"""A machine as bands: one per node, with its cores, its memory and its huge pages; devices below them."""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.model.numa import NumaNode
from sizeup.views.map.cells import (
    Cell,
    Row,
    bar,
    beside,
    device_cells,
    flowed,
    memory_used,
    padded,
    width_of,
)
from sizeup.views.map.cores import CpuStates, core_line
from sizeup.views.map.parts import MapParts, node_name

_WIDE, _NARROW = 110, 44
"""From the first width on bars are twice as long, below the second they are shorter."""
_BAR_CELLS, _SHORT_BAR_CELLS = 10, 5
_LEAST_CORES = 8
_BETWEEN = 2
"""Blanks between columns, and between bands side by side."""


class Bands:
    """The bands of one machine."""

    def __init__(self, parts: MapParts) -> None:
        self._parts = parts
        self._names = max(map(len, parts.nodes), default=0) + 1
        self._most = max((len(core_line(part.groups, CpuStates({}, {}))) for part in parts.nodes.values()), default=0)

    def in_columns(self, nodes: Sequence[NumaNode], cpus: CpuStates, width: int, height: int) -> list[Row]:
        """Return the bands in the fewest columns whose rows fit, or in the most."""
        rows = [row for band in self._draw(nodes, cpus, width) for row in band]
        for count in (2, 3, 4):
            room = (width - (count - 1) * _BETWEEN) // count
            if len(rows) <= height or room < self._least(nodes, room):
                break
            columns = _split(self._draw(nodes, cpus, room), count)
            rows = beside(columns, [room] * len(columns), _BETWEEN)
        return rows

    def _least(self, nodes: Sequence[NumaNode], width: int) -> int:
        """Return the columns that a band takes with its memory in its first row."""
        memory = self._memory(nodes, _bar_cells(width))
        cores = min(self._most, _LEAST_CORES)
        return self._names + cores + _BETWEEN + max(map(width_of, memory.values()), default=0)

    def _draw(self, nodes: Sequence[NumaNode], cpus: CpuStates, width: int) -> list[list[Row]]:
        """Return the rows of each band."""
        by_name = {node_name(node): node for node in nodes}
        memory = self._memory(nodes, _bar_cells(width))
        memory_width = max(map(width_of, memory.values()), default=0)
        cores_width = min(self._most, max(width - self._names - memory_width - _BETWEEN, _LEAST_CORES))
        rest = " " * self._names
        bands = []
        for name, part in self._parts.nodes.items():
            cells = core_line(part.groups, cpus)
            lines = [cells[at : at + cores_width] for at in range(0, len(cells), cores_width)] or [[]]
            pools = [] if name not in by_name else self._parts.pools(by_name[name])
            begin = (Cell(name.ljust(self._names), "name", part.key), *padded(lines[0], cores_width + _BETWEEN))
            first: Row = (*begin, *padded(memory.get(name, ()), memory_width))
            lines = [[Cell(rest, "text"), *line] for line in lines[1:]]
            if width_of(first) > width:
                first, lines = begin, [[Cell(rest, "text"), *memory.get(name, ())], *lines]
            elif pools and width_of(first) + sum(width_of(pool) + _BETWEEN for pool in pools) <= width:
                first = (*first, *(cell for pool in pools for cell in (Cell(" " * _BETWEEN, "text"), *pool)))
                pools = []
            if pools:
                pools = self._parts.pools(by_name[name], idle=False)
            bands.append([
                first,
                *map(tuple, lines),
                *flowed([*pools, *map(device_cells, part.devices)], width, rest),
            ])  # fmt: skip
        return bands

    def _memory(self, nodes: Sequence[NumaNode], length: int) -> dict[str, Row]:
        """Return bar and text by node."""
        found: dict[str, Row] = {}
        for node in nodes:
            key = f"node:{node.os_id}"
            share, words = memory_used(node)
            cells = () if share is None else (*bar(share, length, key), Cell(" ", "text"))
            found[node_name(node)] = (*cells, Cell(words, "text", key), *self._parts.marks(key))
        return found


def _bar_cells(width: int) -> int:
    return _SHORT_BAR_CELLS if width < _NARROW else _BAR_CELLS * (2 if width >= _WIDE else 1)


def _split(bands: Sequence[list[Row]], count: int) -> list[list[Row]]:
    """Return bands in that many columns of about the same height, none of them torn apart."""
    total = sum(map(len, bands))
    for high in range(-(-total // count), total + 1):
        columns: list[list[Row]] = [[]]
        for band in bands:
            if columns[-1] and len(columns[-1]) + len(band) > high:
                columns.append([])
            columns[-1] += band
        if len(columns) <= count:
            return columns
    return [[row for band in bands for row in band]]
