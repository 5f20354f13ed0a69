"""How far nodes are from each other: the firmware's distances, and latency and bandwidth where they were measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.session.value import Session
from sizeup.sizing.inputs.measured_figures import figures
from sizeup.views.cards.measured import measured_texts

_MEASURED = (
    ("Latency", "ns", ("memory.local_latency", "memory.remote_latency")),
    ("Read bandwidth", "bytes/s", ("memory.read_bandwidth",)),
)
_MEASURED_ORIGIN = "measured"
_MOST_NODES = 16
"""Of more nodes the whole table is longer than a screen; the summary remains."""
_SCALES = {"bytes/s": (1e9, "GB/s"), "ns": (1.0, "ns")}


class NodeMatrix(Struct, frozen=True):
    """One figure from the CPUs of each node to the memory of each node."""

    title: str
    unit: str
    """``ns``, ``GB/s``; empty for distances, which have none."""
    origin: str
    """``measured``, or whose table it is."""
    nodes: tuple[int, ...]
    values: Mapping[tuple[int, int], float]
    """By the node of the CPUs and that of the memory, in ``unit``; a pair that is unknown is missing."""

    @property
    def heading(self) -> str:
        """Title, unit and origin: ``Latency, ns (measured)``."""
        return f"{self.title}{f', {self.unit}' if self.unit else ''} ({self.origin})"

    def table(self) -> list[list[str]]:
        """Return the figures as rows of cells with row and column names; empty for too many nodes."""
        if not 1 < len(self.nodes) <= _MOST_NODES:
            return []
        header = ["", *(f"N{node}" for node in self.nodes)]
        rows = [
            [f"N{one}", *("–" if (value := self.values.get((one, other))) is None else _short(value)
                          for other in self.nodes)]
            for one in self.nodes
        ]  # fmt: skip
        return [header, *rows]

    def summary(self, packages: Mapping[int, tuple[int, ...]]) -> str:
        """Return the figures by how near the nodes are: ``10 local, 12 same socket, 21 to 31 other socket``."""

        def span(wanted: Callable[[int, int], bool], name: str) -> str:
            values = [value for (one, other), value in self.values.items() if wanted(one, other)]
            if not values:
                return ""
            low, high = _short(min(values)), _short(max(values))
            return f"{low if low == high else f'{low} to {high}'} {name}"

        def same(one: int, other: int) -> bool:
            return bool(packages.get(one)) and packages.get(one) == packages.get(other)

        parts = (
            span(lambda one, other: one == other, "local"),
            span(lambda one, other: one != other and same(one, other), "same socket"),
            span(lambda one, other: one != other and not same(one, other), self._remote_name(packages)),
        )
        return ", ".join(filter(None, parts))

    def _remote_name(self, packages: Mapping[int, tuple[int, ...]]) -> str:
        return "other socket" if all(packages.get(node) for node in self.nodes) else "other node"


def node_matrices(machine: Machine, session: Session | None) -> tuple[NodeMatrix, ...]:
    """Return what was measured between nodes, and the firmware's distances; nothing on a machine with one node."""
    nodes = tuple(node.os_id for node in machine.nodes)
    if len(nodes) < 2:
        return ()
    found = [] if session is None else list(_measured(nodes, session))
    distances = {
        (node.os_id, other): float(distance)
        for node in machine.nodes
        if len(node.distances) == len(nodes)
        for other, distance in zip(nodes, node.distances, strict=True)
    }
    if distances:
        found.append(NodeMatrix("Distance", "", "firmware, not measured", nodes, distances))
    return tuple(found)


def measured_by_node(machine: Machine, session: Session | None, matrices: Sequence[NodeMatrix]) -> Mapping[int, str]:
    """Return what was measured of the memory of each node from its own CPUs: ``measured: 92 ns, read 12 GB/s``."""
    if session is None:
        return {}
    if len(machine.nodes) == 1:
        found = measured_texts(session, "memory")
        return {machine.nodes[0].os_id: f"measured: {', '.join(found.texts)}"} if found.valid else {}
    texts: dict[int, list[str]] = {}
    for matrix in matrices:
        if matrix.origin == _MEASURED_ORIGIN:
            for node in matrix.nodes:
                if (value := matrix.values.get((node, node))) is not None:
                    texts.setdefault(node, []).append(f"{matrix.title.lower()} {_short(value)} {matrix.unit}")
    return {node: f"measured: {', '.join(parts)}" for node, parts in texts.items()}


def _measured(nodes: Sequence[int], session: Session) -> Sequence[NodeMatrix]:
    matrices = []
    for title, base, names in _MEASURED:
        scale, unit = _SCALES[base]
        values: dict[tuple[int, int], float] = {}
        for figure in figures(session.steps.values(), *names):
            one, other = figure.point.at.get("cpu_node"), figure.point.at.get("memory_node")
            if figure.invalid is None and isinstance(one, int) and isinstance(other, int):
                values[one, other] = figure.value / scale
        known = {pair: value for pair, value in values.items() if pair[0] in nodes and pair[1] in nodes}
        if known:
            matrices.append(NodeMatrix(title, unit, _MEASURED_ORIGIN, tuple(nodes), known))
    return matrices


def _short(value: float) -> str:
    """A figure with three digits."""
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
