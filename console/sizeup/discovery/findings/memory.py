"""Findings about memory: exhausted and uneven nodes, huge pages, growth on one node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sizeup.discovery.findings.remedies import for_guest, memory_command, on_host
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.numa import HugePages, MemoryKind, NumaNode, pool_key
from sizeup.units import format_bytes

EXHAUSTED_SHARE, ROOMY_SHARE = 0.05, 0.30
"""A node is exhausted below the first share free, while another is roomy above the second."""

ONE_SIDED_SHARE, GROWTH_BYTES_MINIMUM = 0.9, 64 << 20
"""Growth is one-sided from this share on one node; less growth than this in all says nothing."""

_SKEW, _SKEW_USED = 0.4, 0.4
_UNEVEN_RATIO = 1.5
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
    return (
        f"node {node.os_id}: {format_bytes(node.free_bytes or 0)} of {format_bytes(node.memory_bytes or 0)} free "
        f"({_share(node):.1%}), {_page_cache(node)}"
    )


def _page_cache(node: NumaNode) -> str:
    """What of the memory in use the kernel could give back, and the shared memory, which it could not."""
    if node.page_cache_bytes is not None:
        return f"page cache {format_bytes(node.page_cache_bytes)}, shared memory {format_bytes(node.shmem_bytes or 0)}"
    if node.file_bytes is None:
        return "page cache unknown"
    return f"page cache and shared memory {format_bytes(node.file_bytes)} together"


def exhausted_nodes(machine: Machine) -> Iterator[Finding]:
    """A node out of memory or of huge pages while another has plenty: the first half of Cyclops."""
    nodes = _memory_nodes(machine)
    empty = [node for node in nodes if _share(node) < EXHAUSTED_SHARE]
    roomy = [node for node in nodes if _share(node) > ROOMY_SHARE]
    if empty and roomy:
        yield Finding(
            "memory.exhausted-node",
            Severity.CRITICAL,
            f"{_node_names(empty)} nearly out of memory, with plenty free on {_node_names(roomy)}",
            tuple(_node_line(node) for node in (*empty, *roomy)),
            "What runs there gets its memory from a remote node or by reclaim, and its latency rises.",
            "Interleave the large shared segment (numactl --interleave=all, or the database's own NUMA setting), "
            "or place huge pages evenly over the nodes before it starts.",
            tuple(f"node:{node.os_id}" for node in empty),
            command="numactl --hardware",
            quantity="memory.remote_latency",
        )
    yield from _exhausted_pools(machine)


def _node_names(nodes: Iterable[NumaNode]) -> str:
    numbers = [str(node.os_id) for node in nodes]
    return f"node {numbers[0]}" if len(numbers) == 1 else f"nodes {', '.join(numbers)}"


def _exhausted_pools(machine: Machine) -> Iterator[Finding]:
    sizes = sorted({pool.page_bytes for node in machine.nodes for pool in node.huge_pages if pool.total})
    for size in sizes:
        pools = [
            (node, pool) for node in machine.nodes for pool in node.huge_pages if pool.page_bytes == size and pool.total
        ]
        empty = [(node, pool) for node, pool in pools if pool.free == 0]
        roomy = [(node, pool) for node, pool in pools if pool.free > ROOMY_SHARE * pool.total]
        if empty and roomy:
            yield Finding(
                "memory.exhausted-node",
                Severity.CRITICAL,
                f"{_node_names(node for node, _ in empty)} without a free huge page of {format_bytes(size)}, "
                f"with plenty on {_node_names(node for node, _ in roomy)}",
                tuple(f"node {node.os_id}: {pool.free} of {pool.total} free" for node, pool in pools),
                "A segment that wants huge pages there gets them from a remote node, or none.",
                "Interleave the segment over the nodes, or reserve the pages where it runs "
                "(/sys/devices/system/node/node*/hugepages).",
                tuple(pool_key(node.os_id, size) for node, _ in empty),
                command="numactl --hardware",
                quantity="memory.remote_latency",
            )


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
            yield Finding(
                "memory.skewed-use",
                Severity.INFO,
                f"node {node.os_id} holds {share_used:.0%} of the memory in use and {share:.0%} of the memory",
                tuple(_node_line(other) for other in nodes),
                "The next large allocation may exhaust it; a second look shows whether it grows.",
                "Look again under load: sizeup detect --since FILE.",
                (f"node:{node.os_id}",),
                command="sizeup detect --json > before.json; sizeup detect --since before.json",
                quantity="memory.remote_latency",
            )


def _in_use(node: NumaNode) -> int:
    """Bytes taken: free pages and free huge pages are not."""
    idle = sum(pool.free * pool.page_bytes for pool in node.huge_pages)
    return max((node.memory_bytes or 0) - (node.free_bytes or 0) - idle, 0)


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
        Finding(
            "memory.one-sided-growth",
            Severity.WARNING,
            f"{share:.1%} of the growth in memory in use fell on node {node}",
            tuple(f"node {number}: {'+' if size >= 0 else '-'}{format_bytes(abs(size))}" for number, size in growth),
            "What was started between the two looks has its memory on one node: that node's controllers serve it all, "
            "the rest of the machine reaches it remotely, and the node runs out first.",
            "Start it with numactl --interleave=all or the database's NUMA setting, "
            "and reserve huge pages evenly over the nodes.",
            (f"node:{node}",),
            command="numactl --interleave=all COMMAND",
            quantity="memory.remote_latency",
        ),
    )


def suma(machine: Machine) -> Iterator[Finding]:
    """Several sockets behind one node: interleaved by the firmware, or NUMA switched off."""
    virtual = machine.platform.is_guest or machine.platform.hypervisor is not None
    off = "numa=off" in machine.platform.kernel_settings
    if virtual or (machine.platform.is_guest is None and not off):
        return  # a hypervisor invents the sockets it shows
    if off or (len(machine.packages) > 1 and len(machine.nodes) == 1):
        why = "numa=off on the kernel's command line" if off else "the firmware interleaves memory over the sockets"
        yield Finding(
            "numa.suma",
            Severity.WARNING,
            f"{len(machine.packages)} sockets show as one memory node",
            (why, f"{len(machine.packages)} sockets, {len(machine.nodes)} nodes"),
            "Nothing can be placed: on average every access but one in so many sockets is remote.",
            f"{'Drop numa=off' if off else 'Switch node interleaving off in the firmware'}, then measure both ways.",
            ("machine",),
            command="cat /proc/cmdline" if off else memory_command(machine),
            quantity="memory.local_latency",
        )


def uneven_memory(machine: Machine) -> Iterator[Finding]:
    """Nodes with CPUs that differ in memory or in huge pages."""
    nodes = [node for node in machine.nodes if node.pus and node.kind is not MemoryKind.GPU]
    sized = [node for node in nodes if node.memory_bytes is not None]
    sizes = [node.memory_bytes or 0 for node in sized]
    if len(sizes) > 1 and max(sizes) > _UNEVEN_RATIO * min(sizes):
        yield Finding(
            "memory.uneven-nodes",
            Severity.WARNING,
            "the nodes differ in memory",
            tuple(f"node {node.os_id}: {format_bytes(node.memory_bytes or 0)}" for node in sized),
            "Work spread evenly over the CPUs exhausts the smaller node first; channels may be left empty.",
            for_guest(
                machine,
                "Fill the memory slots of all sockets alike.",
                "Give the virtual nodes equal memory in the hypervisor's settings of this machine.",
            ),
            tuple(f"node:{node.os_id}" for node in sized if node.memory_bytes == min(sizes)),
            command=memory_command(machine),
            quantity="memory.remote_latency",
        )
    pools: dict[int, list[tuple[NumaNode, HugePages]]] = {}
    for node in nodes:
        for pool in node.huge_pages:
            pools.setdefault(pool.page_bytes, []).append((node, pool))
    for size, found in pools.items():
        totals = [pool.total for _, pool in found]
        if len(totals) > 1 and max(totals) > _UNEVEN_RATIO * min(totals):
            yield Finding(
                "memory.uneven-huge-pages",
                Severity.WARNING,
                f"huge pages of {format_bytes(size)} are not spread evenly",
                tuple(f"node {node.os_id}: {pool.total}" for node, pool in found),
                "A segment in huge pages lies where the pages are, whatever runs where.",
                on_host(machine, "Reserve per node: /sys/devices/system/node/nodeN/hugepages/*/nr_hugepages."),
                tuple(pool_key(node.os_id, size) for node, _ in found),
                command=f"grep . /sys/devices/system/node/node*/hugepages/hugepages-{size >> 10}kB/nr_hugepages",
                quantity="memory.remote_latency",
            )


def node_sum(machine: Machine) -> Iterator[Finding]:
    """Nodes whose memory does not add up to the machine's: onlined late, or hidden by the firmware."""
    sizes = [node.memory_bytes for node in machine.nodes if node.memory_bytes is not None]
    total, added = machine.memory_bytes, sum(sizes)
    if total is None or len(sizes) != len(machine.nodes) or not added:
        return
    if abs(total - added) > _NODE_SUM_TOLERANCE * total:
        yield Finding(
            "memory.node-sum",
            Severity.WARNING,
            f"the nodes have {format_bytes(added)} of memory, the machine {format_bytes(total)}",
            (
                f"/proc/meminfo MemTotal: {format_bytes(total)}",
                *(f"node {node.os_id} MemTotal: {format_bytes(node.memory_bytes or 0)}" for node in machine.nodes),
            ),
            "Memory was onlined late or is counted twice; what is placed by node uses the smaller figure.",
            "Check again after boot has settled; trust neither figure for sizing before they agree.",
            ("memory",),
            command="lsmem --summary; numactl --hardware",
        )


def memlock_without_huge_pages(machine: Machine) -> Iterator[Finding]:
    """A limit raised for huge pages, and no huge pages."""
    platform = machine.platform
    meant = platform.memlock_unlimited or (platform.memlock_bytes or 0) >= _MEMLOCK_MEANT
    if meant and machine.huge_pages and not any(pool.total for pool in machine.huge_pages):
        limit = "unlimited" if platform.memlock_unlimited else format_bytes(platform.memlock_bytes or 0)
        yield Finding(
            "memory.memlock-without-huge-pages",
            Severity.INFO,
            "memlock is raised but there is no huge page",
            (f"memlock: {limit}", "huge pages: 0"),
            "Half of the usual preparation for a large SGA is missing: it will run on small pages.",
            on_host(machine, "Reserve huge pages (vm.nr_hugepages), or take the limit back."),
            ("machine",),
            command="sysctl -w vm.nr_hugepages=N",
            quantity="memory.local_latency",
        )
