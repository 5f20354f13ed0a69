"""NUMA latency: plans the matrix of CPU nodes and memory nodes and the placements of a database, and measures them."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

from sizeup.errors import RefusedError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.model.sample import Estimate
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus
from sizeup.units import format_bytes
from sizeup_memory import buffers, cpu_selection, durations, matrix_cells
from sizeup_memory.binding import (
    Allocation,
    ChasePoint,
    Latency,
    Member,
    Pages,
    PlacementPolicy,
    Traffic,
    TrafficPoint,
    available_bytes,
    new_job,
)

NAME = "memory.numa"
SMALLEST_BYTES = 16 << 20
"""The least working set of a cell."""
_TRIAL_BYTES = 8 << 20
"""Small enough for a small node, large enough not to use the pool of small working sets."""
_LAYOUTS = 4
"""Placements that are measured; see ``_layouts``."""
_MIN_SHARE_BYTES = 2 << 20


class MemoryNuma:
    """Latency matrix of CPU node and memory node, then latency with all cores active, by placement."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan a matrix for each page size, and the placements."""
        reason = not_numa(machine) or durations.invalid_replicates(settings) or _wrong_span(int(settings["span"]))
        if reason:
            yield Refusal(NAME, NAME, reason)
            return
        for pages in str(settings["pages"]).split(","):
            if reason := cpu_selection.unknown_pages(pages):
                yield Refusal(f"{NAME}.{pages}", NAME, reason)
                continue
            yield _step(machine, settings, f"matrix.{pages}", f"NUMA latency matrix, {pages} pages")
        yield _step(machine, settings, "placements", "NUMA placements, all cores active")

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure the matrix or the placements."""
        settings = step.settings
        nodes: dict[int, list[int]] = {int(node): cpus for node, cpus in json.loads(str(settings["nodes"])).items()}
        cpus = [cpu for node in nodes.values() for cpu in node]
        caveats = () if leave_cpus(cpus) else ("the console shared a CPU with the measurement",)
        if str(settings["part"]) == "placements":
            yield from measure_placements(step, nodes, context, caveats)
        else:
            yield from measure_matrix(step, nodes, context)


def not_numa(machine: Machine) -> str | None:
    """Return why there is nothing to compare; None if there is."""
    if len(cpu_selection.memory_nodes(machine)) < 2:
        return "fewer than two NUMA nodes with memory: there is nothing to compare"
    return None


def _wrong_span(span_bytes: int) -> str:
    """Return why a working set is invalid; empty if it is valid."""
    if span_bytes == 0 or (span_bytes >= SMALLEST_BYTES and span_bytes & span_bytes - 1 == 0):
        return ""
    least = format_bytes(SMALLEST_BYTES)
    return f"span={span_bytes}: expected a power of two of at least {least}, such as 256M, or 0"


def _step(machine: Machine, settings: Settings, part: str, title: str) -> Step:
    with_memory = cpu_selection.memory_nodes(machine)
    # A node without memory still has CPUs to measure from.
    others = [node for node in machine.nodes if node.pus and node not in with_memory]
    nodes = cpu_selection.cores_by_node(machine, (*with_memory, *others))
    cpus = tuple(cpu for node in nodes.values() for cpu in node)
    placements = part == "placements"
    caches = buffers.shared_caches(machine, cpus)
    points = [cpus] if placements else [cpus[:1] for cpus in nodes.values()]
    span = int(settings["span"]) or max([buffers.USUAL_BYTES, *buffers.bytes_for_all(caches, points).values()])
    targets = [node.os_id for node in cpu_selection.memory_nodes(machine)]
    chosen: dict[str, Any] = {}
    if placements:
        seconds = placements_seconds(settings, span, len(cpus), len(targets))
    else:
        cells = matrix_cells.all_cells(machine, [node for node, some in nodes.items() if some], interleaved=True)

        def seconds_of(some: Sequence[matrix_cells.MatrixCell], budget: float = 0.0) -> float:
            return matrix_seconds(
                {**settings, "budget": budget}, span, some, cpu_selection.PAGES[part.removeprefix("matrix.")]
            )

        most = float(settings["matrix_time"])
        measured = matrix_cells.sampled(cells, seconds_of, most)
        # What the minimum of replicates leaves of the time is for cells that do not converge.
        last_round = seconds_of(measured) / int(settings["replicates"])
        chosen["budget"] = min(float(settings["budget"]), max(0.0, most - last_round))
        seconds = seconds_of(measured, chosen["budget"])
        chosen |= {
            "cells": matrix_cells.cells_text(measured),
            "cells_by_class": matrix_cells.totals_text(cells),
            "matrix_time": most,
        }
    return Step(
        id=f"{NAME}.{part}",
        probe=NAME,
        title=title,
        settings={
            **{key: settings[key] for key in durations.STOP_SETTINGS},
            "part": part,
            "nodes": json.dumps({str(node): list(cpus) for node, cpus in nodes.items()}),
            "memory_nodes": json.dumps(targets),
            "nearest": json.dumps(_nearest(machine)),
            "span": settings["span"],
            "span_bytes": span,
            "line_bytes": cpu_selection.line_bytes(machine),
            "caches": buffers.caches_text(caches),
            **chosen,
        },
        estimated_seconds=seconds,
        time_limit_seconds=durations.limit_seconds(seconds),
        hazards=(Hazard.CPU_LOAD, Hazard.MEMORY),
        touches=f"{format_bytes(span)} of memory for each {'thread' if placements else 'node'}",
        cpus=cpus,
    )


def _nearest(machine: Machine) -> dict[str, int]:
    """Return the nearest node with memory, by the firmware's distances, of each node with CPUs and no memory."""
    targets = cpu_selection.memory_nodes(machine)
    order = {node.os_id: at for at, node in enumerate(machine.nodes)}
    found = {}
    for node in machine.nodes:
        if node.pus and targets and node.os_id not in {target.os_id for target in targets}:
            far = {t.os_id: node.distances[order[t.os_id]] if node.distances else 0 for t in targets}
            found[str(node.os_id)] = min(far, key=far.__getitem__)
    return found


def matrix_seconds(settings: Settings, span: int, cells: Sequence[matrix_cells.MatrixCell], pages: Pages) -> float:
    """Return the estimated time of a matrix, whose memory is allocated node by node."""
    memories = len({cell.memory_node for cell in cells})
    allocating = memories * durations.allocating_seconds([span], pages=pages)
    return (
        durations.starting_seconds()
        + allocating
        + durations.measuring_seconds(settings, len(cells), durations.linking_seconds(span))
    )


def _matrix_span(wanted: int, memory: Allocation, nodes: int) -> int:
    """Return ``wanted``, or the working set on one of ``nodes`` that fits half of the available memory.

    0: that is below 16 MiB. All nodes have theirs at the same time, and each holds its part of the interleaved one too.
    """
    on_node = available_bytes(memory) * nodes // (nodes + 1)
    fitting = min(
        buffers.usable_bytes(wanted, on_node),
        buffers.usable_bytes(wanted, available_bytes(Allocation()) // (nodes + 1)),
    )
    return fitting if fitting >= SMALLEST_BYTES else 0


def measure_matrix(step: Step, nodes: dict[int, list[int]], context: Context) -> Iterator[Emission]:
    """Measure every cell of a matrix, and compare interleaved memory with the mean of its row."""
    settings = step.settings
    pages, caches = _pages(settings), buffers.caches_from(str(settings["caches"]))
    yield from matrix_cells.not_measured(step.probe, settings)
    cells = yield from _allocated_cells(step, nodes, context)
    if not cells:
        raise RefusedError("the memory of no node can be measured; see the gaps for the reasons")
    latency = Latency([chase for _, chase in cells], durations.stop_rule(settings))
    points = tuple(point for point, _ in cells)
    job = new_job()
    yield from job.follow(latency.call(job), points, context)
    yield from job.gaps(points)
    measured: dict[tuple[str, int, int | None], float] = {}
    for index, point, native in job.measured(points):
        chase, placement = cells[index][1], latency.placement(index)
        extra, caveats = cpu_selection.placement_figures(placement, chase.memory.nodes)
        caveats += cpu_selection.page_caveats(pages, placement)
        caveats += buffers.reduced_caveats(settings, chase.span_bytes)
        extra["working_set_bytes"] = chase.span_bytes
        cache_notes, cached = buffers.cache_caveats(caches, [{chase.cpu: chase.span_bytes}])
        caveats += cache_notes
        if cached:
            yield buffers.cache_verdict(point.at, cache_notes)
        yield estimate_of(point, native, tuple(caveats), extra)
        if cached or (placement.verified and placement.share_on(chase.memory.nodes) < cpu_selection.MIN_PLACED_SHARE):
            continue  # the figure is not of memory, or not of the named node: use it for nothing else
        target_node = point.at.get("memory_node")
        key = point.series, int(point.at["cpu_node"]), None if target_node is None else int(target_node)
        measured[key] = native.median
    targets = json.loads(str(settings["memory_nodes"]))
    in_row = Counter(
        cell.cpu_node for cell in matrix_cells.cells_from(str(settings["cells"])) if cell.memory_node is not None
    )
    # The mean of a row that was measured in part says nothing of the rest.
    yield from expected_interleaved({key: value for key, value in measured.items() if in_row[key[1]] == len(targets)})


def _pages(settings: Settings) -> Pages:
    return cpu_selection.PAGES[str(settings["part"]).removeprefix("matrix.")]


def _allocated_cells(
    step: Step, nodes: dict[int, list[int]], context: Context
) -> Generator[Emission, None, list[tuple[EstimatePoint, ChasePoint]]]:
    """Return the cells whose memory can be allocated; yield why the others cannot be measured."""
    settings = step.settings
    pages = _pages(settings)
    targets: list[int] = json.loads(str(settings["memory_nodes"]))
    chosen = matrix_cells.cells_from(str(settings["cells"]))
    cells: list[tuple[EstimatePoint, ChasePoint]] = []
    for target in targets:
        rows = {cell.cpu_node: nodes[cell.cpu_node] for cell in chosen if cell.memory_node == target}
        memory = cpu_selection.node_memory(target, nodes, pages)
        # A bound range is allocated on that node only: size it by what is available there.
        span = _matrix_span(int(settings["span_bytes"]), memory, len(targets))
        if not span:
            yield Gap(
                f"{step.probe}: memory of node {target}",
                "not enough memory: less than 32 MiB available, at most half of it is used",
            )
            continue
        reason = _allocation_error(memory, span, settings, context)
        if reason:
            yield Gap(f"{step.probe}: memory of node {target}", reason)
            continue
        cells += _cells("latency", rows, memory, span, settings, {"memory_node": target})
    shared = Allocation(pages, PlacementPolicy.INTERLEAVE, tuple(targets))
    rows = {cell.cpu_node: nodes[cell.cpu_node] for cell in chosen if cell.memory_node is None}
    # The nodes have kept memory for a working set no larger than theirs.
    span = min((_matrix_span(int(settings["span_bytes"]), shared, len(targets)), *(one.span_bytes for _, one in cells)))
    if span and not _allocation_error(shared, span, settings, context):
        cells += _cells("interleaved", rows, shared, span, settings, {})
    return cells


def expected_interleaved(measured: dict[tuple[str, int, int | None], float]) -> Iterator[Estimate]:
    """Yield the interleaved latency expected from the matrix, with the measured one.

    Pages alternate over N nodes: the mean of each row. Firmware interleaving (SUMA) is the same arithmetic.
    """
    for node in sorted({cpu_node for _, cpu_node, _ in measured}):
        row = [value for (series, cpu_node, _), value in measured.items() if series == "latency" and cpu_node == node]
        interleaved = measured.get(("interleaved", node, None))
        if len(row) < 2:
            continue
        expected = statistics.fmean(row)
        extra: dict[str, str | int | float] = {}
        if ("latency", node, node) in measured:
            extra["local_ns"] = measured["latency", node, node]
        else:
            extra["nearest_ns"] = min(row)
        if interleaved is not None:
            extra |= {"measured_ns": interleaved, "measured_over_expected": interleaved / expected}
        yield Estimate("expected-interleaved", {"cpu_node": node}, expected, extra=extra)


def _cells(
    series: str,
    nodes: dict[int, list[int]],
    memory: Allocation,
    span: int,
    settings: Settings,
    at: dict[str, str | int | float],
) -> list[tuple[EstimatePoint, ChasePoint]]:
    return [
        (
            EstimatePoint(series, {"cpu_node": node, **at}),
            ChasePoint(span, int(settings["line_bytes"]), cpus[0], memory=memory),
        )
        for node, cpus in nodes.items()
        if cpus
    ]


def _allocation_error(memory: Allocation, span: int, settings: Settings, context: Context) -> str | None:
    """Return why memory cannot be allocated there; None if it can. One small measurement tries it."""
    any_cpu = next(cpu for cpus in json.loads(str(settings["nodes"])).values() for cpu in cpus)
    trial = Latency(
        [ChasePoint(min(span, _TRIAL_BYTES), int(settings["line_bytes"]), any_cpu, memory=memory)],
        durations.stop_rule({**settings, "replicates": 1, "replicates_max": 1, "replicate": 0.001, "warm_up": 0.0}),
    )
    job = new_job()
    try:
        for _ in job.follow(trial.call(job), (EstimatePoint("trial", {}),), context):
            pass
    except RefusedError as error:
        return str(error)
    return None


def placements_seconds(settings: Settings, span: int, threads: int, nodes: int) -> float:
    """Return the estimated time of all placements."""
    each = (
        durations.thread_seconds(threads)
        + durations.linking_seconds(span)
        + durations.measuring_seconds(settings, 1, durations.SETTLE_SECONDS)
    )
    # One of the placements has all memory on one node.
    spread = [nodes] * (_LAYOUTS - 1) + [1]
    return durations.starting_seconds() + sum(
        each + durations.allocating_seconds([span] * threads, nodes=some) for some in spread
    )


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
    cache_notes, cached = buffers.cache_caveats(
        buffers.caches_from(str(settings["caches"])), [{cpu: span for cpu, _ in threads}]
    )
    for name, memory_of in layouts.items():
        if context.canceled:
            return
        stride = int(settings["line_bytes"])
        members = [Member(cpu, span, memory_of(node), chases=True, stride_bytes=stride) for cpu, node in threads]
        traffic = Traffic(members, [TrafficPoint(streams=0)], durations.stop_rule(settings, batch_seconds=0.01))
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
            point_caveats = [*caveats, *buffers.reduced_caveats(settings, span), *cache_notes]
            if not all(traffic.placement(index).verified for index in range(len(members))):
                point_caveats.append("page placement not verified: move_pages and numa_maps are denied")
            elif min(shares) < cpu_selection.MIN_PLACED_SHARE:
                point_caveats.append(f"a thread had only {min(shares):.1%} of its pages on the requested node")
            if name == "local" and remote_cpus:
                point_caveats.append(cpu_selection.remote_caveat(remote_cpus))
            if cached:
                yield buffers.cache_verdict(point.at, cache_notes)
            yield estimate_of(point, native, tuple(point_caveats), extra)


def _layouts(
    nodes: dict[int, list[int]], targets: list[int], nearest: dict[int, int]
) -> dict[str, Callable[[int], Allocation]]:
    """Return the memory of each node's threads by placement; base pages, as of a database without huge pages."""

    def local(node: int) -> Allocation:
        return cpu_selection.node_memory(nearest.get(node, node), nodes, Pages.BASE)

    def remote(node: int) -> Allocation:
        others = [target for target in targets if target != node]
        return cpu_selection.node_memory(others[node % len(others)], nodes, Pages.BASE)

    def interleaved(_: int) -> Allocation:
        return Allocation(Pages.BASE, PlacementPolicy.INTERLEAVE, tuple(targets))

    def cyclops(_: int) -> Allocation:
        return cpu_selection.node_memory(targets[0], nodes, Pages.BASE)

    return {"local": local, "remote": remote, "interleaved": interleaved, "cyclops": cyclops}


def _fitting_share(memories: Sequence[Allocation], wanted: int) -> int:
    """Return the memory that each thread can have if several allocate on the same nodes."""
    each = wanted
    for memory in set(memories):
        each = min(each, buffers.usable_bytes(wanted, available_bytes(memory) // memories.count(memory)))
    return min(each, buffers.usable_bytes(wanted, available_bytes(Allocation()) // max(1, len(memories))))
