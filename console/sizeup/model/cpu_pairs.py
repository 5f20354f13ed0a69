"""Pairs of CPUs by what the two share, and samples of them that leave no class, node or package out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import combinations, islice, product

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.topology import CacheKind

MIN_PAIRS = 3
"""Pairs of each class that a sample has at least, unless fewer exist."""
_SHARED_LEVEL = 3
"""Level of the cache that several cores share; clusters that share a smaller one are in the same node."""


class PairClass(Enum):
    """What two CPUs share, from the least to the most."""

    REMOTE = "remote"
    """Nothing: different packages, or different nodes where packages are unknown."""
    SAME_PACKAGE = "same package"
    """The package; their nodes differ."""
    SAME_NODE = "same node"
    """The NUMA node; their L3 caches differ, or are unknown."""
    SAME_L3 = "same L3"
    SMT_SIBLING = "SMT sibling"
    """The core."""


class CpuPair(Struct, frozen=True):
    """Two different CPUs and what they share."""

    cpu: int
    partner: int
    shares: PairClass


class _Cell(Struct, frozen=True):
    """The allowed CPUs of one core; where the core is unknown, one CPU."""

    cpus: tuple[int, ...]
    core: int
    package: int | None
    node: int | None
    cache: int | None
    stratum: _Stratum
    """What a sample has to cover: package, node and kind of core, as text."""


_Stratum = tuple[str, str, str]
_Cells = tuple[_Cell, _Cell]


class CpuPairs:
    """Pairs of CPUs, by what they share."""

    def __init__(self, cells: Iterable[_Cells]) -> None:
        # By the text of the class: hashing a member of an Enum for each of many pairs takes most of the time.
        groups: dict[str, dict[tuple[_Stratum, _Stratum], list[_Cells]]] = {shares.value: {} for shares in PairClass}
        totals = dict.fromkeys(groups, 0)
        for one, other in cells:
            size = len(one.cpus)
            pairs = size * (size - 1) // 2 if one is other else size * len(other.cpus)
            if pairs:
                shares = _shared(one, other).value
                totals[shares] += pairs
                strata = (one.stratum, other.stratum) if one.stratum <= other.stratum else (other.stratum, one.stratum)
                groups[shares].setdefault(strata, []).append((one, other))
        self._groups = {shares: groups[shares.value] for shares in PairClass}
        self.totals: Mapping[PairClass, int] = {
            shares: totals[shares.value] for shares in PairClass if totals[shares.value]
        }
        """Number of pairs of each class that exists."""

    def in_sample_order(self) -> Iterator[CpuPair]:
        """Yield every pair once, in an order of which any first part is a fair sample.

        First come ``MIN_PAIRS`` of each class, then one of each class between any two nodes and kinds of cores;
        after that the classes take turns.
        """
        queues = {
            shares: _take_turns(_take_turns(_pairs(*two) for two in cells) for cells in self._groups[shares].values())
            for shares in self.totals
        }
        for queue in queues.values():
            yield from islice(queue, MIN_PAIRS)
        for shares, queue in queues.items():
            yield from islice(queue, max(0, len(self._groups[shares]) - MIN_PAIRS))
        yield from _take_turns(queues.values())


def cpu_pairs(machine: Machine) -> CpuPairs:
    """Return all pairs of allowed CPUs."""
    cells = _cells(machine)
    return CpuPairs((one, other) for at, other in enumerate(cells) for one in cells[: at + 1])


def cpu_pairs_with(machine: Machine, cpu: int) -> CpuPairs:
    """Return the pairs of one allowed CPU with every other; it is the first of each."""
    cells = _cells(machine)
    own = next(cell for cell in cells if cpu in cell.cpus)
    alone = replace(own, cpus=(cpu,))
    siblings = replace(own, cpus=tuple(one for one in own.cpus if one != cpu))
    return CpuPairs((alone, siblings if cell is own else cell) for cell in cells)


def _shared(one: _Cell, other: _Cell) -> PairClass:
    """Return what two cores share; a cache that spans two nodes does not make them one."""
    if one.core == other.core:
        return PairClass.SMT_SIBLING
    if one.package != other.package or (one.package is None and one.node != other.node):
        return PairClass.REMOTE
    if one.node != other.node:
        return PairClass.SAME_PACKAGE
    return PairClass.SAME_L3 if one.cache is not None and one.cache == other.cache else PairClass.SAME_NODE


def _cells(machine: Machine) -> list[_Cell]:
    """Return the cores in an order of which any first part is spread over the whole machine."""
    allowed = set(machine.allowed_cpus)
    known = [(core.pus, core.package, core.kind) for core in machine.cores]
    package_of = {cpu: at for at, package in enumerate(machine.packages) for cpu in package.pus}
    unknown = sorted(allowed.difference(*(core.pus for core in machine.cores)))
    node_of = {cpu: at for at, node in enumerate(machine.nodes) for cpu in node.pus}
    caches = [cache for cache in machine.caches if cache.kind is not CacheKind.INSTRUCTION]
    cache_of = {cpu: at for at, cache in enumerate(caches) if cache.level == _SHARED_LEVEL for cpu in cache.shared_by}
    found: list[_Cell] = []
    for pus, package, kind in (*known, *(((cpu,), package_of.get(cpu), None) for cpu in unknown)):
        if cpus := tuple(sorted(allowed.intersection(pus))):
            node, cache = node_of.get(cpus[0]), cache_of.get(cpus[0])
            found.append(_Cell(cpus, len(found), package, node, cache, (str(package), str(node), str(kind))))
    # Reversed bits: each part of twice the length halves the distances.
    width = len(found).bit_length()
    return sorted(found, key=lambda cell: f"{cell.core:0{width}b}"[::-1])


def _pairs(one: _Cell, other: _Cell) -> Iterator[CpuPair]:
    shares = _shared(one, other)
    both = combinations(one.cpus, 2) if one is other else product(one.cpus, other.cpus)
    return (CpuPair(cpu, partner, shares) for cpu, partner in both)


def _take_turns(queues: Iterable[Iterator[CpuPair]]) -> Iterator[CpuPair]:
    """Yield the first of each queue, then the second of each, until all are empty; no queue is made before its turn."""
    waiting = queues
    while waiting:
        left = []
        for queue in waiting:
            if (pair := next(queue, None)) is not None:
                yield pair
                left.append(queue)
        waiting = left
