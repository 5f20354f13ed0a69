"""Latency with all cores active, by the memory placements of a database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from sizeup.errors import RefusedError
from sizeup.model.gap import Gap
from sizeup.model.plan import Settings, Step
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of
from sizeup_memory.binding import (
    Allocation,
    Member,
    Pages,
    PlacementPolicy,
    Traffic,
    TrafficPoint,
    available_bytes,
    new_job,
)
from sizeup_memory.buffers import cache_caveats, cache_verdict, caches_from, reduced_caveats, usable_bytes
from sizeup_memory.cpu_selection import MIN_PLACED_SHARE, remote_caveat
from sizeup_memory.durations import (
    SETTLE_SECONDS,
    allocating_seconds,
    linking_seconds,
    measuring_seconds,
    starting_seconds,
    thread_seconds,
)
from sizeup_memory.node_placement import node_memory
from sizeup_memory.stop_rule import stop_rule

_LAYOUTS = 4
"""Placements that are measured; see ``_layouts``."""
_MIN_SHARE_BYTES = 2 << 20


def placements_seconds(settings: Settings, span: int, threads: int, nodes: int) -> float:
    """Return the estimated time of all placements."""
    each = thread_seconds(threads) + linking_seconds(span) + measuring_seconds(settings, 1, SETTLE_SECONDS)
    # One of the placements has all memory on one node.
    spread = [nodes] * (_LAYOUTS - 1) + [1]
    return starting_seconds() + sum(each + allocating_seconds([span] * threads, nodes=some) for some in spread)


def measure_placements(
    step: Step, nodes: dict[int, list[int]], context: Context, caveats: tuple[str, ...]
) -> Iterator[Emission]:
    """Measure a pointer chase on every core at the same time, for each memory placement."""
    settings = step.settings
    targets: list[int] = json.loads(str(settings["memory_nodes"]))
    threads = [(cpu, node) for node, cpus in nodes.items() for cpu in cpus]
    nearest = {int(node): near for node, near in json.loads(str(settings.get("nearest", "{}"))).items()}
    layouts = _layouts(nodes, targets, nearest)
    remote_cpus = [cpu for node in nearest for cpu in nodes.get(node, ())]
    span = min(
        _fitting_share([memory_of(node) for _, node in threads], int(settings["span_bytes"]))
        for memory_of in layouts.values()
    )
    if span < _MIN_SHARE_BYTES:
        raise RefusedError("not enough memory: a node has too little available for a thread on every core")
    cache_notes, cached = cache_caveats(caches_from(str(settings["caches"])), [{cpu: span for cpu, _ in threads}])
    for name, memory_of in layouts.items():
        if context.canceled:
            return
        stride = int(settings["line_bytes"])
        members = [Member(cpu, span, memory_of(node), chases=True, stride_bytes=stride) for cpu, node in threads]
        traffic = Traffic(members, [TrafficPoint(streams=0)], stop_rule(settings, batch_seconds=0.01))
        points = (EstimatePoint("placement", {"placement": name}), EstimatePoint("unused", {}))
        job = new_job()
        try:
            yield from job.follow(traffic.call(job), points, context)
        except RefusedError as error:
            yield Gap(f"{step.probe}: placement {name}", str(error))
            continue
        yield from job.gaps(points)
        for _, point, native in job.measured(points):
            shares = [traffic.placement(index).share_on(member.memory.nodes) for index, member in enumerate(members)]
            on_node: dict[int, int] = {}
            for index in range(len(members)):
                for node, count in traffic.placement(index).on_node.items():
                    on_node[node] = on_node.get(node, 0) + count
            extra: dict[str, str | int | float] = {
                "threads": len(members),
                "bytes_per_thread": span,
                "share_where_asked": min(shares),
                "pages_on_nodes": ",".join(f"{node}:{count}" for node, count in sorted(on_node.items())),
            }
            point_caveats = [*caveats, *reduced_caveats(settings, span), *cache_notes]
            if not all(traffic.placement(index).verified for index in range(len(members))):
                point_caveats.append("page placement not verified: move_pages and numa_maps are denied")
            elif min(shares) < MIN_PLACED_SHARE:
                point_caveats.append(f"a thread had only {min(shares):.1%} of its pages on the requested node")
            if name == "local" and remote_cpus:
                point_caveats.append(remote_caveat(remote_cpus))
            if cached:
                yield cache_verdict(point.at, cache_notes)
            yield estimate_of(point, native, tuple(point_caveats), extra)


def _layouts(
    nodes: dict[int, list[int]], targets: list[int], nearest: dict[int, int]
) -> dict[str, Callable[[int], Allocation]]:
    """Return the memory of each node's threads by placement; base pages, as of a database without huge pages."""

    def local(node: int) -> Allocation:
        return node_memory(nearest.get(node, node), nodes, Pages.BASE)

    def remote(node: int) -> Allocation:
        others = [target for target in targets if target != node]
        return node_memory(others[node % len(others)], nodes, Pages.BASE)

    def interleaved(_: int) -> Allocation:
        return Allocation(Pages.BASE, PlacementPolicy.INTERLEAVE, tuple(targets))

    def cyclops(_: int) -> Allocation:
        return node_memory(targets[0], nodes, Pages.BASE)

    return {"local": local, "remote": remote, "interleaved": interleaved, "cyclops": cyclops}


def _fitting_share(memories: Sequence[Allocation], wanted: int) -> int:
    """Return the memory that each thread can have if several allocate on the same nodes."""
    each = wanted
    for memory in set(memories):
        each = min(each, usable_bytes(wanted, available_bytes(memory) // memories.count(memory)))
    return min(each, usable_bytes(wanted, available_bytes(Allocation()) // max(1, len(memories))))
