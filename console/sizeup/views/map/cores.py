"""How the cores of a node are drawn: a cell for each thread or core by its load, or a column for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.topology import Pu
from sizeup.procfs.lists import format_list
from sizeup.views.map.cells import Cell, Row, beside, padded, width_of

CORE, OFFLINE, NOT_ALLOWED = "■", "x", "-"
LOADS = 10
"""The number of load steps of a cell, 0 to 9."""
FULL = "▆"
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_MOST_WIDTH, _MOST_COLUMN = 8, 96
"""Columns of a cell, and of the load of a thread, at most."""
_LABELED = 16
"""Columns of a core from which on its load stands in figures below it."""
_GROUP_GAP = 2


class CorePart(Struct, frozen=True):
    """One core, or a CPU where cores are unknown."""

    key: str
    name: str
    cpus: tuple[int, ...]


class CacheGroup(Struct, frozen=True):
    """Cores that share a cache; its key is empty for cores that share none."""

    key: str
    cores: tuple[CorePart, ...]


class CoreSize(Struct, frozen=True):
    """How large a core is drawn."""

    width: int
    """Columns of a cell at least; 0 draws the cores of all groups in one line of single cells."""
    gap: int = 1
    threads: bool = True
    """With a row for each thread, and not one for the busiest."""
    height: int = 1
    """Rows of a cell."""
    air: bool = False
    """With blank rows between groups of cores."""
    listed: bool = True
    """With a row for each device."""
    rows: int = 0
    """Rows of a column for the load of each thread, in place of cells."""


CORE_SIZES = (CoreSize(2), CoreSize(2, threads=False), CoreSize(1, 0, threads=False), CoreSize(0))
"""From the largest down."""


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

    def cell(self, cpus: Sequence[int], key: str, width: int = 1) -> Cell:
        """Return the cell of some CPUs: their load as a step of the ramp, or a sign."""
        problem, load = self.problem(cpus), self.load(cpus)
        if problem is not None:
            return Cell(problem.text * width, problem.role, key)
        if load is None:
            return Cell((FULL if width > 1 else CORE) * width, self.role, key)
        return Cell(FULL * width, f"load-{load_step(load)}", key)


def legend(pus: Sequence[Pu], width: int) -> Row:
    """Return what the steps of the ramp mean, and the signs of CPUs that are not drawn by their load, as they fit."""
    signs = (
        (OFFLINE, "offline", any(not pu.online for pu in pus)),
        (NOT_ALLOWED, "not allowed", any(pu.online and not pu.allowed for pu in pus)),
    )
    words = "".join(f"{sign} {word}  " for sign, word, there in signs if there)
    steps = [Cell(FULL, f"load-{step}") for step in range(LOADS)]
    rows = [
        (Cell(before, "dim"), *steps[::each], Cell(" 100 % ", "dim"))
        for before, each in ((f"{words}Core load 0 ", 1), (f"{words}0 ", 2), ("0 ", 2))
    ]
    return next((row for row in rows if width_of(row) <= width), ())


def load_step(load: float) -> int:
    """Return the step of a load in percent."""
    return min(int(load / 100 * LOADS), LOADS - 1)


def core_rows(groups: Sequence[CacheGroup], cpus: CpuStates, width: int, size: CoreSize) -> list[Row]:
    """Return the cores of a node as cells, those that share a cache together below their numbers."""
    if size.rows:
        return _load_columns(groups, cpus, width, size.rows)
    if not size.width:
        cells = core_line(groups, cpus)
        return [tuple(cells[first : first + width]) for first in range(0, len(cells), width)]
    most = max(len(group.cores) for group in groups)
    per_row = evenly(len(groups), (width + _GROUP_GAP) // (most * (size.width + size.gap) + _GROUP_GAP))
    # As wide as a cell with its gap can be without a row more than the narrowest ones need.
    widest = ((width + _GROUP_GAP) // per_row - _GROUP_GAP) // most
    size = replace(size, gap=size.gap or int(widest > 1))  # cells without a gap would look like one
    size = replace(size, width=max(size.width, min(widest - size.gap, _MOST_WIDTH)))
    blocks = [_group_rows(group, cpus, width, size, named=len(groups) > 1) for group in groups]
    each = max(width_of(row) for block in blocks for row in block)
    per_row = evenly(len(blocks), (width + _GROUP_GAP) // (each + _GROUP_GAP))
    rows: list[Row] = []
    for first in range(0, len(blocks), per_row):
        rows += [()] * (size.air and first > 0)
        line = blocks[first : first + per_row]
        rows += beside(line, [each] * len(line), _GROUP_GAP)
    return rows


def evenly(count: int, most: int) -> int:
    """Return how many of ``count`` stand in a row, of which ``most`` have room, so that rows are about equally long."""
    rows = -(-count // max(most, 1))
    return -(-count // max(rows, 1)) or 1


def core_line(groups: Sequence[CacheGroup], cpus: CpuStates, width: int = 1) -> list[Cell]:
    """Return one cell for each core, blank but for its first column, with a bar between those of different caches."""
    cells: list[Cell] = []
    for number, group in enumerate(groups):
        cells += [Cell("|".ljust(width), "cache")] if number else []
        cells += [
            replace(cell, text=cell.text.ljust(width)) for cell in (cpus.cell(c.cpus, c.key) for c in group.cores)
        ]
    return cells


def _group_rows(group: CacheGroup, cpus: CpuStates, width: int, size: CoreSize, *, named: bool) -> list[Row]:
    per_row = evenly(len(group.cores), (width + size.gap) // (size.width + size.gap))
    rows: list[Row] = []
    if named:
        numbers = format_list(tuple(int(core.name) for core in group.cores))
        words = f"cores {numbers}" if len(numbers) + 6 <= len(group.cores) * (size.width + size.gap) else numbers
        rows.append((Cell(words, "dim", group.key or group.cores[0].key),))
    threads = max((len(core.cpus) for core in group.cores), default=1) if size.threads else 1
    for first in range(0, len(group.cores), per_row):
        line = group.cores[first : first + per_row]
        for thread in range(threads):
            cells: list[Cell] = []
            for core in line:
                own = core.cpus[thread : thread + 1] if size.threads else core.cpus
                cell = cpus.cell(own, core.key, size.width) if own else Cell(" " * size.width, "text")
                cells += [Cell(" " * size.gap, "text"), cell] if cells else [cell]
            solid = tuple(replace(cell, text=cell.text.replace(FULL, "█")) for cell in cells)
            rows += [tuple(cells), *[solid] * (size.height - 1)]
    return rows


def _load_columns(groups: Sequence[CacheGroup], cpus: CpuStates, width: int, rows: int) -> list[Row]:
    """Return the load of each thread as a column of so many rows, above the numbers of the cores.

    Cores without room for all their threads show the busiest; where there are more than columns, they go on below.
    """
    cores = [core for group in groups for core in group.cores]
    threads = max((len(core.cpus) for core in cores), default=1)
    bar = next((bar for bar in range(_MOST_COLUMN, 0, -1) if len(cores) * (threads * (bar + 1) + 1) <= width + 2), 0)
    each = threads * (bar + 1) + 1 if bar else 2 if len(cores) * 2 <= width + 1 else 1
    lines: list[Row] = []
    per_row = evenly(len(cores), (width + 2) // each)
    for first in range(0, len(cores), per_row):
        line = cores[first : first + per_row]
        for level in range(rows, 0, -1):
            cells: list[Cell] = []
            for core in line:
                bars: list[Cell] = []
                for own in [(cpu,) for cpu in core.cpus] if bar else [core.cpus]:
                    bars += [_piece(own, cpus, level, rows, max(bar, 1), core.key), Cell(" " * bool(bar), "text")]
                cells += padded(bars, each)
            lines.append(tuple(cells))
        step = -(-(len(line[-1].name) + 1) // each)  # cores of which one is named
        names = [f"{_label(core, cpus, each):^{max(each - 2, 1)}}".ljust(each * step) for core in line[::step]]
        lines.append(tuple(Cell(name, "dim", core.key) for name, core in zip(names, line[::step], strict=True)))
    return lines


def _label(core: CorePart, cpus: CpuStates, width: int) -> str:
    load = cpus.load(core.cpus)
    return core.name if width < _LABELED or load is None else f"core {core.name}  {load:.0f} %"


def _piece(own: Sequence[int], cpus: CpuStates, level: int, rows: int, bar: int, key: str) -> Cell:
    """Return the part of a column in one row, the lowest of which is 1."""
    problem, load = cpus.problem(own), cpus.load(own)
    if problem is not None:
        return Cell((problem.text if level == 1 else " ") * bar, problem.role, key)
    eighths = round((load or 0) / 100 * rows * 8) - (level - 1) * 8
    if load is None or (level > 1 and eighths <= 0):  # an idle thread has a place of its own, too
        return Cell("·" * bar, "free", key)
    step = max(load_step((level - 0.5) / rows * 100), 2)  # the two below are hardly seen
    return Cell(_EIGHTHS[min(max(eighths, 1), 8)] * bar, f"load-{step}", key)
