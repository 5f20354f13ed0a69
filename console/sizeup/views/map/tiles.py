"""How a core is drawn on a map: with the caches around it, in a frame, on a line, or as one cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import Struct

from sizeup.views.map.cells import Cell, Row, padded
from sizeup.views.map.frames import beside, framed, spread

_METER = 4
"""Cells of the shortest bar with a figure."""
CORE, OFFLINE, NOT_ALLOWED = "■", "x", "-"
LOADS = 10
"""The number of load steps in a core's cell, 0 to 9."""


class Tile(Enum):
    """How a core is drawn."""

    NEST = "nest"
    """A frame inside those of its caches."""
    FRAME = "frame"
    """With a line for each thread, and its own caches."""
    THREADS = "threads"
    """A line with a meter for each thread."""
    METER = "meter"
    """One line with a meter, or a sign where no load is known."""
    CELL = "cell"


TILE_WIDTHS = {
    Tile.NEST: (26,),
    Tile.FRAME: (70, 48, 36, 24, 19),
    Tile.THREADS: (36, 24, 17),
    Tile.METER: (36, 24, 17, 10),
    Tile.CELL: (1,),
}
"""Columns of a core."""
DEVICE_LINES = {Tile.NEST: (9, 5, 2), Tile.CELL: (0,)}
"""Lines about a device in its frame; 0: no frame, and none around nodes and caches."""
OTHER_DEVICE_LINES = (4, 2, 0)


class TileSize(Struct, frozen=True):
    """A kind of tile, how many columns it has at least, and how large the devices beside it are."""

    tile: Tile
    width: int
    device_lines: int = 0


class CorePart(Struct, frozen=True):
    """One core, or a CPU where cores are unknown."""

    key: str
    name: str
    cpus: tuple[int, ...]
    caches: tuple[tuple[int, str], ...] = ()
    """Level and name of its own caches, the largest first: ``(2, "L2 1 MiB")``."""


class CpuStates(Struct, frozen=True):
    """What is known of CPUs at the moment."""

    states: Mapping[int, tuple[bool, bool]]
    """Online, and allowed, by CPU."""
    loads: Mapping[int, float]
    """Percent by CPU; empty on a capture."""
    role: str = "core"
    """``cpu`` where cores are unknown."""
    known: bool = False
    """Whether loads are known, or will be once they were looked at twice."""

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


def tiles(cores: Sequence[CorePart], cpus: CpuStates, size: TileSize, width: int) -> list[Row]:
    """Return a tile for each core, as many in a row as fit."""
    least = size.width
    if size.tile is Tile.NEST:
        per_row, each = spread(len(cores), width, least)
        return beside([_nest(core, cpus, each) for core in cores], each, per_row)
    if size.tile is Tile.METER and not cpus.known:
        least = max((len(core.name) for core in cores), default=1) + 3
    per_row = max(min(width // least, len(cores)), 1)
    each = least if least < size.width else min(width // per_row, size.width + 10)
    draw = {Tile.FRAME: _frame, Tile.THREADS: _threads}.get(size.tile, _meter_line)
    return beside([draw(core, cpus, each) for core in cores], each, per_row)


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
    lines = _core_lines(core, cpus, width - 2, _THREADS)
    if core.caches:
        lines.append((Cell(_whole_names(core, width - 2), "text"),))
    return _of_core(core, cpus, lines, width)


def _whole_names(core: CorePart, width: int) -> str:
    """Return the names of caches that fit, the largest first: half a size would be a wrong one."""
    words = ""
    for _, name in core.caches:
        longer = f"{words} {name}".strip()
        if len(longer) > width:
            break
        words = longer
    return words


def _nest(core: CorePart, cpus: CpuStates, width: int) -> list[Row]:
    """Return a core below its first caches, all of it in a frame for each larger cache that it alone has."""
    larger = [name for level, name in core.caches if level > 1]
    first = [name for level, name in core.caches if level == 1]
    inside = width - 2 * len(larger)
    rows = _of_core(core, cpus, _core_lines(core, cpus, inside - 2, _MOST_THREADS), inside)
    if first:
        each = inside // len(first)
        widths = [each] * (len(first) - 1) + [inside - each * (len(first) - 1)]
        parts = [
            framed((Cell(_whole(name, wide), "text"),), (), wide) for name, wide in zip(first, widths, strict=True)
        ]
        rows = [*(tuple(cell for part in parts for cell in part[y]) for y in range(len(parts[0]))), *rows]
    for name in reversed(larger):
        inside += 2
        rows = framed((Cell(name, "text"),), rows, inside)
    return rows


def _whole(name: str, width: int) -> str:
    """Return the name of a cache for a frame, without its size where that would be cut: half of one is a wrong one."""
    return name if len(name) <= width - _FRAME_COLUMNS else name.partition(" ")[0]


_FRAME_COLUMNS = 4
"""Of a frame beside its title, with blanks."""
_THREADS, _MOST_THREADS = 2, 8
"""Threads of a core that have lines of their own."""


def _of_core(core: CorePart, cpus: CpuStates, lines: Sequence[Row], width: int) -> list[Row]:
    """Return the frame of a core; a click anywhere in it selects the core."""
    key = core.key
    title = (Cell(f"{'CPU' if cpus.role == 'cpu' else 'Core'} {core.name}", "text", key),)
    body = [tuple(Cell(cell.text, cell.role, key) for cell in padded(line, width - 2)) for line in lines]
    return framed(title, body, width, key)


def _core_lines(core: CorePart, cpus: CpuStates, width: int, most: int) -> list[Row]:
    """Return the load of the first threads of a core, or which CPUs it has and whether they work."""
    key = core.key
    if cpus.load(core.cpus) is not None or (cpus.known and not cpus.loads):
        return [_thread(cpu, cpus, width, key) for cpu in core.cpus[:most]]
    problem = cpus.problem(core.cpus)
    words = f"CPU {', '.join(map(str, core.cpus))}"
    state = {OFFLINE: " offline", NOT_ALLOWED: " not allowed"}.get(problem.text, "") if problem else ""
    return [(Cell(words, "core", key), Cell(state, problem.role if problem else "text", key))]


def _thread(cpu: int, cpus: CpuStates, width: int, key: str) -> Row:
    """Return the load of one CPU as a bar and a figure."""
    problem, load = cpus.problem((cpu,)), cpus.load((cpu,))
    if problem is None and not cpus.loads:
        return (Cell(f"{cpu:>3}", "text", key),)
    if problem is not None or load is None:
        words = {OFFLINE: "offline", NOT_ALLOWED: "not allowed"}.get(problem.text if problem else "", "load unknown")
        return Cell(f"{cpu:>3} ", "text", key), Cell(words, problem.role if problem else "text", key)
    return (Cell(f"{cpu:>3} ", "text", key), *_load_meter(load, width - 4, key))
