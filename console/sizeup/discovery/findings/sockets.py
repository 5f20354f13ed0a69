"""Over which sockets paths and links are spread."""

from __future__ import annotations

from collections.abc import Iterable

from sizeup.model.machine import Machine


def packages_of(machine: Machine, nodes: Iterable[int | None]) -> set[int]:
    """Return the packages that these nodes belong to; a node that is unknown adds none."""
    by_node = {node.os_id: node.packages for node in machine.nodes}
    return {package for node in nodes if node is not None for package in by_node.get(node, ())}
