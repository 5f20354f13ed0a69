"""A machine as a map: sockets as boxes where there is room, else one band per node.

A cell or a frame per core, memory and huge pages as bars, the devices of each node, and below them how far nodes are
from each other and what belongs to no node. Where cores are unknown each CPU has a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.views.machine.difference import MachineComparison
from sizeup.views.machine.facts import machine_line
from sizeup.views.map.bands import Bands, split_bands
from sizeup.views.map.boxes import Box, column_counts, grid
from sizeup.views.map.cells import Cell, Row, device_cells, flowed, padded, width_of, wrapped
from sizeup.views.map.frames import device_frames
from sizeup.views.map.node_matrix import NodeMatrix
from sizeup.views.map.parts import LOOSE, MapParts
from sizeup.views.map.settings import settings_rows
from sizeup.views.map.tiles import (
    CORE,
    DEVICE_LINES,
    LOADS,
    NOT_ALLOWED,
    OFFLINE,
    OTHER_DEVICE_LINES,
    TILE_WIDTHS,
    CpuStates,
    Tile,
    TileSize,
    tile_rows,
)

__all__ = ["LOADS", "Cell", "Map", "MapMaker", "Row"]

_SIGNS = (
    ("core", f"{CORE} core"),
    ("cpu", f"{CORE} CPU, cores unknown"),
    ("load", "0-9 tenths of load"),
    ("offline", f"{OFFLINE} offline"),
    ("barred", f"{NOT_ALLOWED} not allowed"),
    ("cache", "| between caches"),
    ("used", "█ used, · free"),
)
"""Roles of cells, and the legend of their signs."""
_FIXED_ROWS = 2
"""Title and legend."""
_BETWEEN = 2
"""Blanks between bands side by side."""
_HEADINGS = {"Across": "Across the machine", LOOSE: "Devices, node unknown", "NFS": "NFS mounts"}
"""What stands above the devices that belong to no node, by the name of their row."""
_LONGEST_CACHES = 36
"""Columns that the caches of a core take with its frame."""
_WIDTHS_WITHOUT_LOAD = {
    Tile.METER: TILE_WIDTHS[Tile.METER][-1:],
    Tile.FRAME: tuple(width for width in TILE_WIDTHS[Tile.FRAME] if width <= _LONGEST_CACHES),
}
"""Columns of a core whose frame has no meters to fill it."""


class Map(Struct, frozen=True):
    """Rows of cells with their title, the heading of their columns and their legend."""

    heading: Row
    rows: tuple[Row, ...]
    legend: str
    title: Row = ()


class _Layout(Struct, frozen=True):
    """How the boxes are drawn."""

    size: TileSize
    columns: int
    unused: bool
    """With huge pages of which none is used."""
    whole: bool = False
    """With every figure between nodes, and not only the least and the greatest."""


class MapMaker:
    """The constant part of a machine's map, so that refreshing load and memory is cheap."""

    def __init__(
        self,
        machine: Machine,
        comparison: MachineComparison | None = None,
        matrices: Sequence[NodeMatrix] = (),
        measured: Mapping[int, str] | None = None,
        *,
        live: bool = False,
    ) -> None:
        """With a ``comparison``, differences are marked and removed parts are listed.

        ``measured`` says of nodes what their memory does for their own CPUs; ``live`` is whether loads will be known.
        """
        self._live = live
        self._machine = machine
        self._matrices = matrices
        self._parts = MapParts(machine, comparison, measured or {})
        self._bands = Bands(self._parts)
        self._layouts: dict[tuple[int, int, bool], _Layout | None] = {}

    def draw(self, nodes: Sequence[NumaNode], loads: Mapping[int, float], width: int, height: int | None = None) -> Map:
        """The map with the memory of ``nodes``; ``loads`` are percent by CPU and may be empty, as on a recording.

        It fills ``height`` rows as well as it can; without a height it has one band per node.
        """
        layout = None if height is None else self._layout(nodes, loads, width, height)
        if layout is not None:
            drawn = self._boxed(nodes, loads, width, layout)
            left = (height or 0) - _FIXED_ROWS - len(drawn.rows)
            return replace(drawn, rows=(*drawn.rows, *settings_rows(self._machine, width, left)))
        heading, rows = self._bands.draw(nodes, loads, width)
        legend = _legend(self._parts.nodes, rows, width)
        if height is None:
            return Map(heading, tuple(rows), legend)
        between = self._between(width, whole=False)
        if len(rows) + len(between) + _FIXED_ROWS > height:
            heading, rows = self._in_columns(nodes, loads, width, height - len(between) - _FIXED_ROWS, heading, rows)
        rows += between
        fits = len(rows) + _FIXED_ROWS + 1 <= height
        return Map(heading, tuple(rows), legend, self._title(width) if fits else ())

    def _in_columns(
        self,
        nodes: Sequence[NumaNode],
        loads: Mapping[int, float],
        width: int,
        height: int,
        heading: Row,
        rows: list[Row],
    ) -> tuple[Row, list[Row]]:
        """Return the bands side by side, in the fewest columns that need no more rows than there are, or in the most.

        They stay below one another, ``heading`` and ``rows``, where there is no room for two columns.
        """
        for count in (2, 3, 4):
            room = (width - (count - 1) * _BETWEEN) // count
            titles, narrow = self._bands.draw(nodes, loads, room)
            if max(map(width_of, (titles, *narrow))) > room:
                break
            columns = split_bands(narrow, count)
            gap = Cell(" " * _BETWEEN, "text")
            heading = tuple(cell for _ in columns for cell in (*padded(titles, room), gap))
            high = max(map(len, columns))
            rows = [
                tuple(cell for column in columns for cell in (*padded(column[y] if y < len(column) else (), room), gap))
                for y in range(high)
            ]
            if high <= height:
                break
        return heading, rows

    def _layout(self, nodes: Sequence[NumaNode], loads: Mapping[int, float], width: int, height: int) -> _Layout | None:
        size = (width, height, self._loads_known(loads))
        if size not in self._layouts:
            self._layouts[size] = self._best(nodes, loads, width, height)
        return self._layouts[size]

    def _best(self, nodes: Sequence[NumaNode], loads: Mapping[int, float], width: int, height: int) -> _Layout | None:
        """Return the layout that fits and draws most, cores in the frames of their caches first; None for none."""
        for unused in (True, False):
            for tiles in ((Tile.NEST,), (Tile.FRAME, Tile.THREADS, Tile.METER, Tile.CELL)):
                found = [
                    (rank, layout)
                    for columns in column_counts(self._parts.boxes, width)
                    for tile in tiles
                    for rank, layout in self._fitting(
                        nodes, loads, width, height, _Layout(TileSize(tile, 0), columns, unused)
                    )
                ]
                if found:
                    return max(found, key=lambda entry: entry[0])[1]
        return None

    def _fitting(
        self, nodes: Sequence[NumaNode], loads: Mapping[int, float], width: int, height: int, wanted: _Layout
    ) -> Iterator[tuple[tuple[int, bool, int], _Layout]]:
        """Return the layouts with tiles of this kind that fit, each with its rank.

        What fills most cells without frames around nodes and devices is best, with all figures, then with most frames.

        Wider tiles and more lines about devices take no fewer rows: behind what does not fit nothing is tried.
        """
        tile, known = wanted.size.tile, self._loads_known(loads)
        if tile is Tile.THREADS and not known:
            return
        widths = TILE_WIDTHS[tile] if known else _WIDTHS_WITHOUT_LOAD.get(tile, TILE_WIDTHS[tile])
        for least in sorted(widths):
            plain = 0
            for lines in sorted(DEVICE_LINES.get(tile, OTHER_DEVICE_LINES)):
                layout = replace(wanted, size=TileSize(tile, least, lines))
                left = height - _FIXED_ROWS - self._least_rows(layout, width)
                rows: list[Row] = []
                if left >= 0:
                    rows = self._grid(nodes, loads, width, layout) + self._loose_devices(layout.size, width)
                    left = height - _FIXED_ROWS - len(rows)
                # Frames in frames are drawn where everything else is shown whole.
                kinds = [
                    whole
                    for whole in ((True,) if tile is Tile.NEST else (True, False))
                    if left >= len(self._between(width, whole=whole))
                ]
                if not kinds:
                    break
                ink = sum(len(cell.text) - cell.text.count(" ") for row in rows for cell in row)
                plain = plain or ink
                yield from (((plain, whole, ink), replace(layout, whole=whole)) for whole in kinds)
            if not plain:
                return

    def _least_rows(self, layout: _Layout, width: int) -> int:
        """Return how many rows the boxes take at least."""
        columns = layout.columns
        inside = (width - 1) // columns - 3
        high = [self._core_rows(box, layout.size, inside) for box in self._parts.boxes]
        return sum(max(high[at : at + columns]) for at in range(0, len(high), columns))

    def _loads_known(self, loads: Mapping[int, float]) -> bool:
        return self._live or bool(loads)

    def _core_rows(self, box: Box, size: TileSize, inside: int) -> int:
        """Return how many rows the cores of a box take at least."""
        groups = [group for part in box.parts for group in part.groups]
        threads = max((len(core.cpus) for group in groups for core in group.cores), default=1)
        per_row = max(inside // size.width, 1)
        frames = sum(3 + bool(part.devices) * 3 for part in box.parts) if size.device_lines else 0
        return sum(-(-len(group.cores) // per_row) for group in groups) * tile_rows(size.tile, threads) + 1 + frames

    def _boxed(self, nodes: Sequence[NumaNode], loads: Mapping[int, float], width: int, layout: _Layout) -> Map:
        boxes = self._grid(nodes, loads, width, layout)
        rows = [*boxes, *self._between(width, whole=layout.whole), *self._loose_devices(layout.size, width)]
        return Map((), tuple(rows), _legend((), rows, width), self._title(width))

    def _grid(self, nodes: Sequence[NumaNode], loads: Mapping[int, float], width: int, layout: _Layout) -> list[Row]:
        parts = self._parts
        memory = {node.os_id: parts.memory_of(node, unused=layout.unused) for node in nodes}
        cpus = CpuStates(parts.states, loads, parts.cell_role, known=self._loads_known(loads))
        return grid(parts.boxes, memory, cpus, layout.size, layout.columns, width)

    def _loose_devices(self, size: TileSize, width: int) -> list[Row]:
        """Return what belongs to no node."""
        rows: list[Row] = []
        names = max((len(name) for name, items in self._parts.below if items), default=0) + 1
        for name, items in self._parts.below:
            if items and size.device_lines:
                heading = "Devices" if name == LOOSE and len(self._machine.nodes) < 2 else _HEADINGS.get(name, name)
                rows += [(Cell(heading, "name"),), *device_frames(items, width, size.device_lines)]
            else:
                rows += flowed(map(device_cells, items), width, name.ljust(names), " " * names)
        return rows

    def _title(self, width: int) -> Row:
        """Return the machine in one line, with its model as far as there is room."""
        machine = self._machine
        parts = [machine_line(machine)]
        for more in (machine.cpu_model, machine.platform.model):
            if more and len(" · ".join((*parts, more))) <= width:
                parts.append(more)
        return (Cell(" · ".join(parts)[:width], "name", "machine"),)

    def _between(self, width: int, *, whole: bool) -> list[Row]:
        """Return what is known between nodes: all figures, tables side by side as far as they fit, or their ranges."""
        packages = {node.os_id: node.packages for node in self._machine.nodes}
        tables = [(matrix, table) for matrix in self._matrices if (table := matrix.table())] if whole else []
        rows: list[Row] = []
        line: list[list[str]] = []
        for matrix, table in tables:
            column_width = max(len(cell) for row in table for cell in row) + 1
            block = [matrix.heading, *("".join(cell.rjust(column_width) for cell in row) for row in table)]
            wide = max(map(len, block))
            if line and sum(max(map(len, one)) + 3 for one in line) + wide > width:
                rows += _side_by_side(line, width)
                line = []
            line.append([text.ljust(wide) for text in block])
        rows += _side_by_side(line, width) if line else []
        told = {id(matrix) for matrix, _ in tables}
        for matrix in self._matrices:
            if id(matrix) not in told:
                text = f"{matrix.heading}: "
                rows += wrapped((Cell(text, "name"), Cell(matrix.summary(packages), "text")), width, "", "  ")
        return rows


def _side_by_side(blocks: Sequence[Sequence[str]], width: int) -> list[Row]:
    """Return blocks of text side by side, their first lines as names."""
    rows: list[Row] = []
    for y in range(max(map(len, blocks))):
        text = "   ".join(block[y] if y < len(block) else " " * len(block[0]) for block in blocks)[:width]
        rows.append((Cell(text, "text" if y else "name"),))
    return rows


def _legend(names: Iterable[str], rows: Iterable[Row], width: int) -> str:
    """Return the legend of the signs that are on the map, as many as fit."""
    cells = [cell for row in rows for cell in row]
    roles = {cell.role.partition("-")[0] for cell in cells}
    there = [
        "S socket" if any(name.startswith("S") for name in names) else "",
        "N node" if any("N" in name for name in names) else "",
        *(words for role, words in _SIGNS if role in roles),
        "PCIe: GT/s of a lane x lanes" if any("GT/s" in cell.text for cell in cells) else "",
    ]
    legend = ""
    for words in filter(None, there):
        longer = f"{legend}, {words}" if legend else words
        legend = longer if len(longer) <= width else legend
    return legend
