"""Findings about memory: exhausted, uneven and missing nodes, huge pages, growth on one node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sizeup.discovery.findings.catalog import finding, memory_command
from sizeup.model.finding import Finding
from sizeup.model.machine import Machine
from sizeup.model.numa import HugePages, MemoryKind, NumaNode, pool_key
from sizeup.procfs.lists import format_list
from sizeup.text import plural
from sizeup.units import as_percent, format_bytes

EXHAUSTED_SHARE, ROOMY_SHARE = 0.05, 0.30
"""A node is exhausted below the first share free, while another is roomy above the second."""

ONE_SIDED_SHARE, GROWTH_BYTES_MINIMUM = 0.9, 64 << 20
"""Growth is one-sided from this share on one node; less growth than this in all says nothing."""

_SKEW, _SKEW_USED = 0.4, 0.4
_UNEVEN_RATIO = 1.5
_LOW_OF_USUAL = 0.25
"""A node is low below this share of the median of all."""
_NODE_SUM_TOLERANCE = 0.05
_MEMLOCK_MEANT = 1 << 30


def _memory_nodes(machine: Machine) -> list[NumaNode]:
    """Nodes with ordinary memory whose use is known; a GPU's memory is no place for a database."""
    return [
        node
        for node in machine.nodes
        if node.memory_bytes and node.free_bytes is not None and node.kind is not MemoryKind.GPU
    ]


def _share(node: NumaNode) -> float:
    return (node.free_bytes or 0) / (node.memory_bytes or 1)


def _node_line(node: NumaNode) -> str:
    """A node's free memory, and what of the rest the kernel could give back (page cache) and what not (shared)."""
    cache = "page cache unknown"
    if node.page_cache_bytes is not None:
        cache = f"page cache {format_bytes(node.page_cache_bytes)}, shared memory {format_bytes(node.shmem_bytes or 0)}"
    elif node.file_bytes is not None:
        cache = f"page cache and shared memory {format_bytes(node.file_bytes)} together"
    return (
        f"node {node.os_id}: {format_bytes(node.free_bytes or 0)} of {format_bytes(node.memory_bytes or 0)} free "
        f"({as_percent(_share(node), '.1f')}), {cache}"
    )


def exhausted_nodes(machine: Machine) -> Iterator[Finding]:
    """A node out of memory while another has plenty: the first half of Cyclops."""
    nodes = _memory_nodes(machine)
    empty = [node for node in nodes if _share(node) < EXHAUSTED_SHARE]
    roomy = [node for node in nodes if _share(node) > ROOMY_SHARE]
    if empty and roomy:
        # They would be roomy if the kernel reclaimed their page cache.
        cached = all((node.available_bytes or 0) > ROOMY_SHARE * (node.memory_bytes or 1) for node in empty)
        names = _nodes(empty)
        yield finding(
            "memory.exhausted-node/cached" if cached else "memory.exhausted-node",
            f"NUMA {names} {_have(empty)} almost no free memory, while {_nodes(roomy)} {_have(roomy)} plenty",
            (_node_line(node) for node in (*empty, *roomy)),
            (f"node:{node.os_id}" for node in empty),
            consequence=(
                f"Much of the memory of {names} is page cache, which the kernel must reclaim first. Until then, "
                f"processes that allocate on {names} get memory of another node or wait; memory latency rises."
            )
            if cached
            else f"Processes that allocate on {names} get memory of another node, or wait while the kernel reclaims "
            "pages; memory latency rises.",
            remedy=(
                "Find out which processes read or write files there (backups, copies), and spread them over the nodes. "
                if cached
                else ""
            )
            + "Reserve huge pages evenly on all nodes before the database starts, or start it with interleaved memory "
            "(numactl --interleave=all, or its own NUMA setting). If it is running, restart it.",
        )


def _nodes(nodes: Sequence[NumaNode]) -> str:
    """Return ``node 0``, or ``nodes 0, 2``."""
    return f"node{'' if len(nodes) == 1 else 's'} {', '.join(str(node.os_id) for node in nodes)}"


def _have(nodes: Sequence[NumaNode]) -> str:
    return "has" if len(nodes) == 1 else "have"


def numbering(machine: Machine) -> tuple[str, ...]:
    """Return a line about the numbers that no node has; empty where nodes are numbered from 0 without a gap."""
    numbers = {node.os_id for node in machine.nodes}
    missing = tuple(number for number in range(max(numbers, default=0)) if number not in numbers)
    if not missing:
        return ()
    return (f"the kernel lists no node{'' if len(missing) == 1 else 's'} {format_list(missing)}",)


def exhausted_pools(machine: Machine) -> Iterator[Finding]:
    """A node out of huge pages while another has plenty."""
    sizes = sorted({pool.page_bytes for node in machine.nodes for pool in node.huge_pages if pool.total})
    for size in sizes:
        pools = [
            (node, pool) for node in machine.nodes for pool in node.huge_pages if pool.page_bytes == size and pool.total
        ]
        empty = [node for node, pool in pools if pool.free == 0]
        roomy = [node for node, pool in pools if pool.free > ROOMY_SHARE * pool.total]
        if empty and roomy:
            yield finding(
                "memory.exhausted-node/pool",
                f"NUMA {_nodes(empty)} {_have(empty)} no free {format_bytes(size)} huge pages, "
                f"while {_nodes(roomy)} {_have(roomy)} plenty",
                (f"node {node.os_id}: {pool.free} of {pool.total} huge pages free" for node, pool in pools),
                (pool_key(node.os_id, size) for node in empty),
                consequence=f"Shared memory allocated on {_nodes(empty)} gets its huge pages from another node, or "
                "none.",
                command=_pool_command(size, "free_hugepages"),
            )


def _pool_command(size: int, file: str) -> str:
    return f"grep . /sys/devices/system/node/node*/hugepages/hugepages-{size >> 10}kB/{file}"


def skewed_memory(machine: Machine) -> Iterator[Finding]:
    """Use far from capacity; it also fires on idle machines, so it is only information."""
    nodes = _memory_nodes(machine)
    capacity = sum(node.memory_bytes or 0 for node in nodes)
    used = sum((node.memory_bytes or 0) - (node.free_bytes or 0) for node in nodes)
    if len(nodes) < 2 or not capacity or used < _SKEW_USED * capacity:
        return
    for node in nodes:
        share_used = ((node.memory_bytes or 0) - (node.free_bytes or 0)) / used
        share = (node.memory_bytes or 0) / capacity
        if share_used - share > _SKEW:
            yield finding(
                "memory.skewed-use",
                f"NUMA node {node.os_id} has {as_percent(share)} of total memory, but {as_percent(share_used)} of the "
                "memory in use",
                (_node_line(other) for other in nodes),
                (f"node:{node.os_id}",),
            )


def low_nodes(machine: Machine) -> Iterator[Finding]:
    """A node with a fraction of the others' free memory that is not exhausted: one look, without ``--since``.

    What the kernel can give back counts as free, and so do free huge pages, which a database takes by itself.
    """
    nodes = [node for node in _memory_nodes(machine) if node.pus and node.file_bytes is not None]
    if len(nodes) < 2 or len(nodes) != sum(bool(node.pus and node.memory_bytes) for node in machine.nodes):
        return  # of a node that is unknown nothing can be compared
    available = {}
    for node in nodes:
        cached = node.page_cache_bytes if node.page_cache_bytes is not None else node.file_bytes
        free = (node.free_bytes or 0) + (cached or 0) + _idle_pools(node)
        available[node.os_id] = free / (node.memory_bytes or 1)
    usual = sorted(available.values())[len(nodes) // 2]
    low = [
        node
        for node in nodes
        if available[node.os_id] < _LOW_OF_USUAL * usual
        and usual > ROOMY_SHARE
        and not (_share(node) < EXHAUSTED_SHARE and any(_share(other) > ROOMY_SHARE for other in nodes))
    ]
    if low:
        yield finding(
            "memory.low-node",
            f"NUMA {_nodes(low)} {_have(low)} much less free memory than the other nodes",
            (f"node {node.os_id}: {as_percent(available[node.os_id])} free or page cache" for node in nodes),
            (f"node:{node.os_id}" for node in low),
            consequence=f"Memory that is allocated there next may come from another node, and {_nodes(low)} may run "
            "out first.",
        )


def _idle_pools(node: NumaNode) -> int:
    return sum(pool.free * pool.page_bytes for pool in node.huge_pages)


def _in_use(node: NumaNode) -> int:
    """Bytes taken: free pages and free huge pages are not."""
    return max((node.memory_bytes or 0) - (node.free_bytes or 0) - _idle_pools(node), 0)


def growth_by_node(before: Machine, after: Machine) -> tuple[tuple[int, int], ...]:
    """Node and bytes by which its use grew (less than 0: shrank) between two looks; huge pages in use count."""
    earlier = {node.os_id: node for node in _memory_nodes(before)}
    return tuple(
        (node.os_id, _in_use(node) - _in_use(earlier[node.os_id]))
        for node in _memory_nodes(after)
        if node.os_id in earlier
    )


def growth_findings(before: Machine, after: Machine) -> tuple[Finding, ...]:
    """Memory in use that grew on one node alone between two looks: the second half of Cyclops."""
    growth = growth_by_node(before, after)
    grown = sum(max(size, 0) for _, size in growth)
    if len(growth) < 2 or grown < GROWTH_BYTES_MINIMUM:
        return ()
    node, most = max(growth, key=lambda pair: pair[1])
    share = most / grown
    if share < ONE_SIDED_SHARE:
        return ()
    return (
        finding(
            "memory.one-sided-growth",
            f"{as_percent(share, '.1f')} of newly used memory is on NUMA node {node}",
            (f"node {number}: {'+' if size >= 0 else '-'}{format_bytes(abs(size))}" for number, size in growth),
            (f"node:{node}",),
        ),
    )


def suma(machine: Machine) -> Iterator[Finding]:
    """Several sockets that appear as one node, or NUMA switched off.

    Sockets that share one memory controller are one node, and nothing is wrong with them.
    """
    platform = machine.platform
    virtual = platform.is_guest or platform.hypervisor is not None
    off = "numa=off" in platform.kernel_settings
    if virtual or (platform.is_guest is None and not off):
        return  # a hypervisor invents the sockets it shows
    if off:
        yield finding("numa.suma/off", evidence=(_socket_counts(machine), "kernel command line: numa=off"))
    elif len(machine.nodes) == 1 and len(machine.nodes[0].packages) > 1 and not platform.shared_memory_controller:
        own = platform.shared_memory_controller is False
        yield finding(
            "numa.suma" if own else "numa.suma/perhaps",
            f"{len(machine.packages)} sockets appear as 1 NUMA node",
            (
                _socket_counts(machine),
                "memory controllers: one or more in each socket, by CPU family and model"
                if own
                else "memory controllers: unknown",
            ),
        )


def _socket_counts(machine: Machine) -> str:
    return f"{plural(len(machine.packages), 'socket')}, {plural(len(machine.nodes), 'NUMA node')}"


def uneven_memory(machine: Machine) -> Iterator[Finding]:
    """Nodes with CPUs that differ in memory or in huge pages."""
    nodes = [node for node in machine.nodes if node.pus and node.kind is not MemoryKind.GPU]
    sized = [node for node in nodes if node.memory_bytes is not None]
    sizes = [node.memory_bytes or 0 for node in sized]
    if len(sizes) > 1 and max(sizes) > _UNEVEN_RATIO * min(sizes):
        yield finding(
            "memory.uneven-nodes",
            f"NUMA nodes differ in memory size: {format_bytes(min(sizes))} to {format_bytes(max(sizes))}",
            (*(f"node {node.os_id}: {format_bytes(node.memory_bytes or 0)}" for node in sized), *numbering(machine)),
            (f"node:{node.os_id}" for node in sized if node.memory_bytes == min(sizes)),
            command=memory_command(machine),
            machine=machine,
        )
    pools: dict[int, list[tuple[NumaNode, HugePages]]] = {}
    for node in nodes:
        for pool in node.huge_pages:
            pools.setdefault(pool.page_bytes, []).append((node, pool))
    for size, found in pools.items():
        totals = [pool.total for _, pool in found]
        if len(totals) > 1 and max(totals) > _UNEVEN_RATIO * min(totals):
            yield finding(
                "memory.uneven-huge-pages",
                f"{format_bytes(size)} huge pages are unevenly reserved: {min(totals)} to {max(totals)} per NUMA node",
                (f"node {node.os_id}: {pool.total}" for node, pool in found),
                (pool_key(node.os_id, size) for node, _ in found),
                command=_pool_command(size, "nr_hugepages"),
                machine=machine,
            )


def node_sum(machine: Machine) -> Iterator[Finding]:
    """Nodes whose memory does not add up to the machine's: onlined late, or hidden by the firmware."""
    sizes = [node.memory_bytes for node in machine.nodes if node.memory_bytes is not None]
    total, added = machine.memory_bytes, sum(sizes)
    if total is None or len(sizes) != len(machine.nodes) or not added:
        return
    if abs(total - added) > _NODE_SUM_TOLERANCE * total:
        yield finding(
            "memory.node-sum",
            f"All NUMA nodes together have {format_bytes(added)}, but total memory is {format_bytes(total)}",
            (
                f"/proc/meminfo MemTotal: {format_bytes(total)}",
                *(f"node {node.os_id} MemTotal: {format_bytes(node.memory_bytes or 0)}" for node in machine.nodes),
                *numbering(machine),
            ),
            command=f"{memory_command(machine)}; lsmem --summary",
            machine=machine,
        )


def memlock_without_huge_pages(machine: Machine) -> Iterator[Finding]:
    """A limit raised for huge pages, and no huge pages."""
    platform = machine.platform
    meant = platform.memlock_unlimited or (platform.memlock_bytes or 0) >= _MEMLOCK_MEANT
    if meant and machine.huge_pages and not any(pool.total for pool in machine.huge_pages):
        limit = "unlimited" if platform.memlock_unlimited else format_bytes(platform.memlock_bytes or 0)
        yield finding(
            "memory.memlock-without-huge-pages",
            f"The memlock limit is {limit}, but no huge pages are reserved",
            (f"memlock: {limit}", "huge pages: 0"),
            machine=machine,
        )


def unassigned_cpus(machine: Machine) -> Iterator[Finding]:
    """Nodes that do not hold all CPUs.

    Numbers that no node has are evidence beside that, and no finding: POWER numbers its nodes with gaps.
    """
    listed = {cpu for node in machine.nodes for cpu in node.pus}
    unassigned = tuple(pu.cpu for pu in machine.pus if pu.online and pu.cpu not in listed)
    if not unassigned or not listed:
        return
    yield finding(
        "numa.missing-node",
        f"{plural(len(unassigned), 'online CPU')} in no NUMA node",
        (f"in no node: CPUs {format_list(unassigned)}", *_node_lines(machine), *numbering(machine)),
        machine=machine,
    )


def shared_nodes(machine: Machine) -> Iterator[Finding]:
    """One node of several sockets beside nodes of one socket; a hypervisor may invent that."""
    if machine.platform.is_guest:
        return
    nodes = [node for node in machine.nodes if node.packages]
    shared = [node for node in nodes if len(node.packages) > 1]
    if not shared or not any(len(node.packages) == 1 for node in nodes):
        return
    sockets = sum(len(node.packages) for node in shared)
    yield finding(
        "numa.missing-node/shared",
        f"NUMA node{'' if len(shared) == 1 else 's'} {format_list(tuple(node.os_id for node in shared))} with the CPUs "
        "of several sockets, while other nodes have one each",
        (
            f"{plural(len(machine.packages), 'socket')}, {plural(len(nodes), 'NUMA node')} with CPUs",
            *_node_lines(machine),
            *numbering(machine),
        ),
        (f"node:{node.os_id}" for node in shared),
        consequence=(
            f"The kernel takes the memory of such a node for local to all CPUs of {plural(sockets, 'socket')}; of some "
            "of them, each access may go to another socket."
        ),
    )


def _node_lines(machine: Machine) -> Iterator[str]:
    for node in machine.nodes:
        sockets = f" of {plural(len(node.packages), 'socket')}" if node.packages else ""
        yield f"node {node.os_id}: " + (f"CPUs {format_list(node.pus)}{sockets}" if node.pus else "no CPUs")
