"""The distances between NUMA nodes as a matrix, as ``numactl --hardware`` shows them; letters where it is large."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.procfs.lists import format_list
from sizeup.views.machine.section import Section

_MOST_NUMBERS = 16
"""Nodes whose distances fit as numbers into 80 columns."""
_MOST_LETTERS = 64
"""Nodes whose distances fit as letters into 80 columns."""
_WIDTH = 4
_ORIGIN = "the firmware's table (SLIT), not measured"


def distances_section(machine: Machine) -> Section | None:
    """Return the matrix, a row for each node; None without a table, or where its rows do not fit the nodes."""
    nodes = [node for node in machine.nodes if node.distances]
    if len(nodes) < 2 or any(len(node.distances) != len(machine.nodes) for node in nodes):
        return None
    values = sorted({value for node in nodes for value in node.distances})
    if len(machine.nodes) <= _MOST_NUMBERS:
        facts = _numbers(machine, nodes)
    elif len(machine.nodes) <= _MOST_LETTERS and len(values) <= len(ascii_letters):
        facts = _letters(nodes, values)
    else:
        facts = _classes(machine, nodes)
    return Section("Distances between NUMA nodes", (("source", _ORIGIN), *facts))


def _numbers(machine: Machine, nodes: Sequence[NumaNode]) -> tuple[tuple[str, str], ...]:
    heading = "".join(f"{node.os_id:>{_WIDTH}}" for node in machine.nodes)
    rows = ((f"node {node.os_id}", "".join(f"{value:>{_WIDTH}}" for value in node.distances)) for node in nodes)
    return (("to node", heading), *rows)


def _letters(nodes: Sequence[NumaNode], values: Sequence[int]) -> tuple[tuple[str, str], ...]:
    letters = dict(zip(values, ascii_letters, strict=False))
    key = ", ".join(f"{letter} {value}" for value, letter in letters.items())
    rows = ((f"node {node.os_id}", "".join(letters[value] for value in node.distances)) for node in nodes)
    return (("letters", f"{key}; columns in the order of the rows"), *rows)


def _classes(machine: Machine, nodes: Sequence[NumaNode]) -> tuple[tuple[str, str], ...]:
    """A text for each node: ``10 to 0, 12 to 1-3, 21 to 4-99``."""
    facts = []
    for node in nodes:
        far: dict[int, list[int]] = {}
        for other, value in zip(machine.nodes, node.distances, strict=True):
            far.setdefault(value, []).append(other.os_id)
        text = ", ".join(f"{value} to {format_list(tuple(sorted(ids)))}" for value, ids in sorted(far.items()))
        facts.append((f"node {node.os_id}", text))
    return tuple(facts)
