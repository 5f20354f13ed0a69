"""Cells of a matrix of CPU nodes and memory nodes: all where they fit a time, else a sample of each class."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from sizeup.model.machine import Gap, Machine
from sizeup_memory.binding import StopRule
from sizeup_memory.cpu_selection import memory_nodes

MIN_CELLS = 3
"""Cells of each class that are measured, unless fewer exist."""
_LOCAL = "local"


class MatrixCell(Struct, frozen=True, array_like=True):
    """A node whose CPUs access the memory of a node."""

    cpu_node: int
    memory_node: int | None
    """None: interleaved over all nodes."""
    kind: str
    """The class: what lies between the two."""


class MatrixSettings(StopRule, frozen=True, kw_only=True):
    """Settings of a step that measures cells of a matrix."""

    cells: tuple[MatrixCell, ...] = ()
    cells_by_class: Mapping[str, int] = {}
    """How many there are, measured or not."""
    matrix_time: float | None = None
    """None: the step measures no matrix."""

    def not_measured(self, name: str) -> Iterable[Gap]:
        """Yield a gap for each class of cells that is measured in part."""
        measured = Counter(cell.kind for cell in self.cells)
        for kind, total in self.cells_by_class.items():
            if measured[kind] < total:
                yield Gap(
                    f"{name}: {total - measured[kind]:,} of {total:,} cells of the matrix ({kind})",
                    f"not measured: all would take longer than matrix_time={self.matrix_time:g} s. "
                    f"{measured[kind]:,} were measured, spread over the nodes. A larger matrix_time measures more",
                )


def all_cells(machine: Machine, cpu_nodes: Iterable[int], *, interleaved: bool = False) -> tuple[MatrixCell, ...]:
    """Return every cell of a matrix, row by row; ``interleaved`` adds a column."""
    order = {node.os_id: at for at, node in enumerate(machine.nodes)}
    package_of = {cpu: at for at, package in enumerate(machine.packages) for cpu in package.pus}
    packages = {node.os_id: {package_of.get(cpu) for cpu in node.pus} for node in machine.nodes}
    targets = [node.os_id for node in memory_nodes(machine)]

    def kind(one: int, other: int) -> str:
        if one == other:
            return _LOCAL
        near = packages[one] & packages[other] - {None}
        name = "same package" if near else "remote" if packages[other] else "node without CPUs"
        distances = machine.nodes[order[one]].distances
        return f"{name}, distance {distances[order[other]]}" if distances else name

    return tuple(
        MatrixCell(one, other, "interleaved" if other is None else kind(one, other))
        for one in cpu_nodes
        for other in (*targets, *([None] if interleaved else []))
    )


def sampled(
    cells: Sequence[MatrixCell], seconds_of: Callable[[Sequence[MatrixCell]], float], most_seconds: float
) -> tuple[MatrixCell, ...]:
    """Return the cells that ``most_seconds`` allow, in the order of ``cells``.

    At least the local ones, one of each row and column, and ``MIN_CELLS`` of each class.
    """
    if seconds_of(cells) <= most_seconds:
        return tuple(cells)
    ordered, least = _in_sample_order(cells)
    # The time rises with the number of cells.
    more = range(least + 1, len(ordered) + 1)
    count = least + bisect_right(more, most_seconds, key=lambda number: seconds_of(ordered[:number]))
    kept = set(ordered[:count])
    return tuple(cell for cell in cells if cell in kept)


def _in_sample_order(cells: Sequence[MatrixCell]) -> tuple[list[MatrixCell], int]:
    """Return the cells so that any first part is spread over the nodes, and how many of them are the least."""
    waiting: dict[str, list[MatrixCell]] = {}
    for cell in cells:
        waiting.setdefault(cell.kind, []).append(cell)
    used: Counter[tuple[str, int | None]] = Counter()
    ordered: list[MatrixCell] = []

    def take(cell: MatrixCell) -> None:
        waiting[cell.kind].remove(cell)
        used.update((("row", cell.cpu_node), ("column", cell.memory_node)))
        ordered.append(cell)

    def least_used(some: Iterable[MatrixCell]) -> MatrixCell:
        return min(some, key=lambda cell: used["row", cell.cpu_node] + used["column", cell.memory_node])

    for cell in list(waiting.get(_LOCAL, ())):
        take(cell)
    for rare in sorted(waiting.values(), key=len):
        for _ in range(min(MIN_CELLS, len(rare)) if rare is not waiting.get(_LOCAL) else 0):
            take(least_used(rare))
    for cell in cells:
        if not (used["row", cell.cpu_node] and used["column", cell.memory_node]):
            take(cell)
    least = len(ordered)
    while any(waiting.values()):
        for some in waiting.values():
            if some:
                take(least_used(some))
    return ordered, least
