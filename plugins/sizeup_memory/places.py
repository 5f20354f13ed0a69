"""Which CPUs and nodes of a machine to measure on: choices made from the model alone."""

from __future__ import annotations

from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.model.topology import CacheKind
from sizeup_memory.binding import MAX_NODES, Memory, Pages, Policy

_DEFAULT_LINE_BYTES = 64
_DEFAULT_CACHE_BYTES = 32 << 20
CACHES_BEYOND = 4
"""A working set this many times the last-level cache finds almost nothing in it."""


def core_first_cpus(machine: Machine) -> tuple[int, ...]:
    """Allowed CPUs, one per core node by node, their siblings after all of them."""
    allowed = set(machine.allowed_cpus)
    node_of = {cpu: place for place, node in enumerate(machine.nodes) for cpu in node.pus}
    ranked: list[tuple[int, int, int]] = []
    seen: set[int] = set()
    for core in machine.cores:
        for rank, cpu in enumerate(cpu for cpu in sorted(core.pus) if cpu in allowed):
            ranked.append((rank, node_of.get(cpu, 0), cpu))
            seen.add(cpu)
    ranked += [(0, node_of.get(cpu, 0), cpu) for cpu in allowed - seen]
    return tuple(cpu for _, _, cpu in sorted(ranked))


def cores_of(machine: Machine, node: NumaNode) -> tuple[int, ...]:
    """One allowed CPU per core of a node; empty for a memory-only node."""
    firsts = core_first_cpus(machine)[: core_count(machine)]
    return tuple(cpu for cpu in firsts if cpu in node.pus)


def core_count(machine: Machine) -> int:
    """Cores with at least one allowed CPU."""
    allowed = set(machine.allowed_cpus)
    return sum(bool(allowed & set(core.pus)) for core in machine.cores) or len(allowed)


def sibling_of(machine: Machine, cpu: int) -> int | None:
    """The other hardware thread of a CPU's core; None where it has none."""
    return next((pu for core in machine.cores if cpu in core.pus for pu in core.pus if pu != cpu), None)


def memory_nodes(machine: Machine) -> tuple[NumaNode, ...]:
    """Nodes that have memory and a number that a mask can hold."""
    return tuple(node for node in machine.nodes if node.memory_bytes != 0 and node.os_id < MAX_NODES)


def bound(machine: Machine, node_id: int, pages: Pages) -> Memory:
    """Memory on one node, with a CPU to touch it from where mbind is forbidden."""
    node = next(node for node in machine.nodes if node.os_id == node_id)
    cpus = cores_of(machine, node)
    return Memory(pages, Policy.BIND, (node_id,), cpus[0] if cpus else None)


def line_bytes(machine: Machine) -> int:
    """The longest cache line of the machine; 64 where the kernel reports none."""
    lines = {cache.line_bytes for cache in machine.caches if cache.kind is not CacheKind.INSTRUCTION}
    return max((line for line in lines if line), default=_DEFAULT_LINE_BYTES)


def last_level_cache_bytes(machine: Machine) -> int:
    """Size of the last-level cache; 32 MiB where the kernel reports none."""
    return machine.last_level_cache_bytes or _DEFAULT_CACHE_BYTES


def private_bytes(machine: Machine, threads: int, most: int) -> int:
    """Memory for each of several threads: beyond its share of the caches, within its share of what is free.

    A power of two, so that rings of it can be built on any page size.
    """
    wanted = max(64 << 20, CACHES_BEYOND * last_level_cache_bytes(machine) // threads)
    if machine.memory_available_bytes is not None:
        wanted = min(wanted, machine.memory_available_bytes // 2 // threads)
    wanted = min(wanted, most)
    return max(2 << 20, 1 << wanted.bit_length() - 1)
