"""How far nodes are from each other: the firmware's distances, and latency and bandwidth where they were measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.session.value import Session
from sizeup.sizing.inputs.measured_figures import figures

_MEASURED = (
    ("Latency", "ns", ("memory.local_latency", "memory.remote_latency")),
    ("Read bandwidth", "bytes/s", ("memory.read_bandwidth",)),
)
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

    def summary(self, packages: Mapping[int, tuple[int, ...]]) -> str:
        """Return the figures by how near the nodes are: ``10 local, 12 same socket, 21 to 31 other socket``."""

        def span(wanted: Callable[[int, int], bool], name: str) -> str:
            values = [value for (one, other), value in self.values.items() if wanted(one, other)]
            if not values:
                return ""
            low, high = short_figure(min(values)), short_figure(max(values))
            return f"{low if low == high else f'{low} to {high}'} {name}"

        def same(one: int, other: int) -> bool:
            return bool(packages.get(one)) and packages.get(one) == packages.get(other)

        other = "other socket" if all(packages.get(node) for node in self.nodes) else "other node"
        parts = (
            span(lambda one, other: one == other, "local"),
            span(lambda one, other: one != other and same(one, other), "same socket"),
            span(lambda one, far: one != far and not same(one, far), other),
        )
        return ", ".join(filter(None, parts))


def node_matrices(machine: Machine, session: Session | None) -> tuple[NodeMatrix, ...]:
    """Return what was measured between nodes, and the firmware's distances; nothing on a machine with one node."""
    nodes = tuple(node.os_id for node in machine.nodes)
    if len(nodes) < 2:
        return ()
    found = []
    runs = () if session is None else session.steps.values()
    for title, base, names in _MEASURED:
        scale, unit = _SCALES[base]
        values: dict[tuple[int, int], float] = {}
        for figure in figures(runs, *names):
            one, other = figure.point.at.get("cpu_node"), figure.point.at.get("memory_node")
            if figure.invalid is None and one in nodes and other in nodes:
                values[int(one), int(other)] = figure.value / scale
        if values:
            found.append(NodeMatrix(title, unit, "measured", nodes, values))
    distances = {
        (node.os_id, other): float(distance)
        for node in machine.nodes
        if len(node.distances) == len(nodes)
        for other, distance in zip(nodes, node.distances, strict=True)
    }
    if distances:
        found.append(NodeMatrix("Distance", "", "firmware, not measured", nodes, distances))
    return tuple(found)


def short_figure(value: float) -> str:
    """A figure with three digits."""
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
