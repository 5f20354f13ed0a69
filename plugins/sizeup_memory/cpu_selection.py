"""The CPUs and nodes to measure on, from the machine model alone, and where the measured memory was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.model.topology import CacheKind
from sizeup.units import as_percent
from sizeup_memory.binding import MAX_NODES, Allocation, Pages, Placement, PlacementPolicy

_DEFAULT_LINE_BYTES = 64
MIN_PLACED_SHARE = 0.99
"""Minimum share of the pages on the requested node."""
CACHE_MULTIPLE = 4
"""A working set this many times the last-level cache has almost no hits in it."""
_MIN_HUGE_SHARE = 0.95
PAGES = {"thp": Pages.THP, "4k": Pages.BASE, "hugetlb-2m": Pages.HUGE2M}
"""The kinds of pages by their names in settings."""


def core_first_cpus(machine: Machine) -> tuple[int, ...]:
    """Return the allowed CPUs: one per core, node by node, then their siblings."""
    allowed = set(machine.allowed_cpus)
    node_of = {cpu: index for index, node in enumerate(machine.nodes) for cpu in node.pus}
    ranked: list[tuple[int, int, int]] = []
    seen: set[int] = set()
    for core in machine.cores:
        for rank, cpu in enumerate(cpu for cpu in sorted(core.pus) if cpu in allowed):
            ranked.append((rank, node_of.get(cpu, 0), cpu))
            seen.add(cpu)
    ranked += [(0, node_of.get(cpu, 0), cpu) for cpu in allowed - seen]
    return tuple(cpu for _, _, cpu in sorted(ranked))


def cores_by_node(machine: Machine, nodes: Iterable[NumaNode]) -> dict[int, tuple[int, ...]]:
    """Return one allowed CPU per core of each node, by node; none of a memory-only node."""
    firsts = core_first_cpus(machine)[: core_count(machine)]
    return {node.os_id: tuple(cpu for cpu in firsts if cpu in pus) for node in nodes for pus in (set(node.pus),)}


def core_count(machine: Machine) -> int:
    """Return the number of cores with at least one allowed CPU."""
    allowed = set(machine.allowed_cpus)
    return sum(bool(allowed & set(core.pus)) for core in machine.cores) or len(allowed)


def thread_counts(most: int) -> list[int]:
    """Return the numbers of threads to measure: powers of two below ``most``, and ``most``."""
    return [1 << power for power in range((most - 1).bit_length())] + [most]


def memory_nodes(machine: Machine) -> tuple[NumaNode, ...]:
    """Return the nodes with memory that this process may use, and with a number that fits a node mask."""
    return tuple(node for node in machine.nodes if node.memory_bytes != 0 and node.allowed and node.os_id < MAX_NODES)


def node_of(machine: Machine, cpu: int) -> int | None:
    """Return the node of a CPU; None if the kernel lists none."""
    return next((node.os_id for node in machine.nodes if cpu in node.pus), None)


def local_cpu(machine: Machine, wanted_bytes: int, page_bytes: int = 0) -> int:
    """Return the CPU to measure local memory from: the last allowed one whose node has ``wanted_bytes`` available.

    If no node has, a CPU of the node with the most available; if no allowed CPU has memory on its node, the
    last allowed one, and its figure is not local. ``page_bytes`` selects a pool of huge pages.
    """
    spare: dict[int, int] = {}
    for node in memory_nodes(machine):
        pools = sum(pool.free * pool.page_bytes for pool in node.huge_pages if pool.page_bytes == page_bytes)
        # At most half of the available memory is used; unknown counts as enough.
        available = 2 * wanted_bytes if node.available_bytes is None else node.available_bytes
        spare |= dict.fromkeys(node.pus, pools if page_bytes else available // 2)
    allowed = machine.allowed_cpus or (0,)
    near = [cpu for cpu in reversed(allowed) if cpu in spare]
    if not near:
        return allowed[-1]
    return next((cpu for cpu in near if spare[cpu] >= wanted_bytes), max(near, key=spare.__getitem__))


def without_memory(machine: Machine, cpus: Iterable[int]) -> tuple[int, ...]:
    """Return the CPUs whose node has no memory for this process: all their memory is remote."""
    near = {cpu for node in memory_nodes(machine) for cpu in node.pus}
    return tuple(cpu for cpu in cpus if near and cpu not in near)


def remote_caveats(cpus: Sequence[int]) -> tuple[str, ...]:
    """Return the caveat of CPUs without memory on their node, if there are any."""
    if not cpus:
        return ()
    names = ", ".join(map(str, cpus[:8])) + (", ..." if len(cpus) > 8 else "")
    has, their = ("CPU {} has", "its") if len(cpus) == 1 else ("CPUs {} have", "their")
    return (f"{has.format(names)} no memory on {their} own node: {their} accesses were remote",)


def locality(
    placement: Placement, cpu: int, cpu_node: int | None, nodes: int
) -> tuple[dict[str, str | int | float], list[str]]:
    """Return whether pages are on the node of their CPU, as extra figures, and the caveats about it.

    A latency is local only if ``placement`` is ``local``.
    """
    if nodes < 2:
        return {"placement": "local"}, []
    extra: dict[str, str | int | float] = {"cpu": cpu}
    if cpu_node is None or not placement.verified:
        unknown = "which node CPU {} is on" if cpu_node is None else "which node the pages are on"
        return {**extra, "placement": "unknown"}, [f"not known to be local: it is unknown {unknown.format(cpu)}"]
    share = placement.share_on((cpu_node,))
    extra |= {"cpu_node": cpu_node, "share_local": share, "pages_on_nodes": placement.nodes_text}
    if share >= MIN_PLACED_SHARE:
        return {**extra, "placement": "local"}, []
    others = ", ".join(str(node) for node in sorted(placement.on_node) if node != cpu_node)
    if not others:
        caveat = f"not known to be local: the node of {as_percent(1 - share)} of the pages is unknown"
        return {**extra, "placement": "unknown"}, [caveat]
    caveat = f"not local: {as_percent(1 - share)} of the pages are on node {others}, CPU {cpu} is on node {cpu_node}"
    return {**extra, "placement": "remote"}, [caveat]


def line_bytes(machine: Machine) -> int:
    """Return the longest cache line of the machine; 64 if the kernel reports none."""
    lines = {cache.line_bytes for cache in machine.caches if cache.kind is not CacheKind.INSTRUCTION}
    return max((line for line in lines if line), default=_DEFAULT_LINE_BYTES)


def unknown_pages(name: str) -> str:
    """Return why a setting names no kind of pages; empty if it does."""
    return "" if name in PAGES else f"expected pages among {', '.join(PAGES)}, found {name!r}"


def node_memory(node: int, nodes: Mapping[int, Sequence[int]], pages: Pages) -> Allocation:
    """Return memory bound to one node, with a CPU to touch it from if mbind is forbidden."""
    cpus = nodes.get(node)
    return Allocation(pages, PlacementPolicy.BIND, (node,), cpus[0] if cpus else None)


def placement_figures(placement: Placement, nodes: Iterable[int]) -> tuple[dict[str, str | int | float], list[str]]:
    """Return where the pages were, as extra figures, and the caveats about it."""
    requested = tuple(nodes)
    share = placement.share_on(requested)
    extra: dict[str, str | int | float] = {
        "pages": placement.pages,
        "share_where_asked": share,
        "pages_on_nodes": placement.nodes_text,
        "huge_page_share": placement.huge_share,
    }
    if not placement.verified:
        return extra, ["page placement not verified: move_pages and numa_maps are denied"]
    there = as_percent(share, ".1f")
    caveats = [] if share >= MIN_PLACED_SHARE else [f"only {there} of the pages are on the requested node"]
    if not placement.bound:
        caveats.append("placed by first touch: mbind is forbidden")
    return extra, caveats


def page_caveats(pages: Pages, placement: Placement) -> list[str]:
    """Return a caveat if too little memory is on the requested kind of pages."""
    if pages is Pages.THP and placement.huge_share < _MIN_HUGE_SHARE:
        return [f"only {as_percent(placement.huge_share)} of the memory is on transparent huge pages"]
    return []
