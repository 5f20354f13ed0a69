"""A machine as bands: one per node, with columns for its cores, its memory and its huge pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sizeup.model.numa import NumaNode, pool_key
from sizeup.units import format_bytes
from sizeup.views.map.boxes import NodePart
from sizeup.views.map.cells import Cell, Row, change_mark, device_cells, fault, flowed, memory_used, meter, width_of
from sizeup.views.map.parts import MapParts, node_name
from sizeup.views.map.tiles import CORE, CpuStates

_WIDE, _NARROW = 110, 44
"""From the first width on bars are twice as long, below the second they are shorter."""
_BAR_CELLS, _SHORT_BAR_CELLS = 10, 6
_LEAST_CORES = 8
_HEADING = len("Cores")


class _Column(Struct, frozen=True):
    """A column to the right of the cores, by node name."""

    heading: str
    entries: Mapping[str, Row]

    @property
    def width(self) -> int:
        return max([len(self.heading), *map(width_of, self.entries.values())]) if self.entries else 0

    def cells(self, name: str) -> Row:
        own = self.entries.get(name, ())
        return (*own, Cell(" " * (self.width - width_of(own)), "text"))


class Bands:
    """The bands of one machine."""

    def __init__(self, parts: MapParts) -> None:
        self._parts = parts
        self._names = max(map(len, [*parts.nodes, *(name for name, items in parts.below if items)]), default=0) + 1
        self._most = max((len(_band_cells(part, None)) for part in parts.nodes.values()), default=0)

    def draw(self, nodes: Sequence[NumaNode], loads: Mapping[int, float], width: int) -> tuple[Row, list[Row]]:
        """Return the heading of the columns, and the rows."""
        bar = _SHORT_BAR_CELLS if width < _NARROW else _BAR_CELLS * (2 if width >= _WIDE else 1)
        by_name = {node_name(node): node for node in nodes}
        columns = [_Column("Memory used", self._memory(by_name, bar))]
        pools = self._pools(by_name, bar // 2)
        least = min(max(self._most, _HEADING), _LEAST_CORES) if width < _NARROW else _LEAST_CORES
        cores_width = max(min(self._most, width - self._names - columns[0].width - 2), least)
        inline = self._names + cores_width + sum(2 + column.width for column in (*columns, *pools)) <= width
        columns += pools if inline else []
        rows: list[Row] = []
        rest = " " * self._names
        cpus = CpuStates(self._parts.states, loads, self._parts.cell_role)
        for name, part in self._parts.nodes.items():
            rows += self._band(
                name, _band_cells(part, cpus), part.key, cores_width, [column.cells(name) for column in columns]
            )
            if not inline:
                pool_rows = [
                    (Cell(f"{pool.heading} ", "text"), *pool.entries[name]) for pool in pools if name in pool.entries
                ]
                rows += flowed(pool_rows, width, rest, rest)
            rows += flowed(map(device_cells, part.devices), width, rest, rest)
        for name, items in self._parts.below:
            rows += flowed(map(device_cells, items), width, name.ljust(self._names), rest)
        heading = (
            Cell("Node".ljust(self._names), "name"),
            Cell(("Cores" if self._parts.cell_role == "core" else "CPUs").ljust(cores_width), "name"),
            *(Cell(f"  {column.heading.ljust(column.width)}", "name") for column in columns if column.entries),
        )
        return heading, rows

    def _band(self, name: str, cells: Sequence[Cell], key: str, cores_width: int, beside: Sequence[Row]) -> list[Row]:
        """Return the cores of a node in as many rows as needed, with ``beside`` at the end of the first row."""
        rows: list[list[Cell]] = [[Cell(name.ljust(self._names), "name", key)]]
        for number, cell in enumerate(cells):
            if number and number % cores_width == 0:
                rows.append([Cell(" " * self._names, "text")])
            rows[-1].append(cell)
        first = rows[0]
        first.append(Cell(" " * (cores_width - (len(first) - 1)), "text"))
        for entry in beside:
            first += [Cell("  ", "text"), *entry]
        return [tuple(row) for row in rows]

    def _memory(self, nodes: Mapping[str, NumaNode], bar: int) -> dict[str, Row]:
        """Return bar and text by node, aligned so that the values form a column."""
        known = {name: memory_used(node) for name, node in nodes.items()}
        text_width = max((len(words) for _, words in known.values()), default=0)
        found: dict[str, Row] = {}
        for name, node in nodes.items():
            key = f"node:{node.os_id}"
            share, words = known[name]
            cells: Row = (Cell(words, "text", key),)
            if share is not None:
                cells = (*meter(share, bar, key), Cell(f" {words:>{text_width}}", "text", key))
            found[name] = (*cells, *fault(self._parts.troubles.get(key)), *change_mark(self._parts.changes.get(key)))
        return found

    def _pools(self, nodes: Mapping[str, NumaNode], bar: int) -> list[_Column]:
        """Return a column for each huge page size of any node."""
        found: dict[int, dict[str, Row]] = {}
        for name, node in nodes.items():
            for pool in node.huge_pages:
                if pool.total:
                    cells: Row = (
                        *meter(1 - pool.free / pool.total, bar),
                        Cell(f" {pool.total - pool.free} of {pool.total}", "text"),
                        *fault(self._parts.troubles.get(pool_key(node.os_id, pool.page_bytes))),
                    )
                    found.setdefault(pool.page_bytes, {})[name] = cells
        return [_Column(f"{format_bytes(size)} pages used", entries) for size, entries in sorted(found.items())]


def split_bands(rows: Sequence[Row], count: int) -> list[list[Row]]:
    """Return bands in that many columns of about the same height, none of them torn apart."""
    bands: list[list[Row]] = []
    for row in rows:
        if not bands or (row and row[0].role == "name" and row[0].text.strip()):
            bands.append([])
        bands[-1].append(row)
    least = -(-len(rows) // count)
    for high in range(least, len(rows) + 1):
        columns: list[list[Row]] = [[]]
        for band in bands:
            if columns[-1] and len(columns[-1]) + len(band) > high:
                columns.append([])
            columns[-1] += band
        if len(columns) <= count:
            return columns
    return [list(rows)]


def _band_cells(part: NodePart, cpus: CpuStates | None) -> list[Cell]:
    """Return a cell for each core, with a bar between those of different caches."""
    cells: list[Cell] = []
    for number, group in enumerate(part.groups):
        cells += [Cell("|", "cache")] if number else []
        cells += [Cell(CORE, "core", core.key) if cpus is None else cpus.cell(core) for core in group.cores]
    return cells
