"""NUMA latency: plans the matrix of CPU nodes and memory nodes and the placements of a database, and measures them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from sizeup.errors import RefusedError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Refusal, Settings, Step
from sizeup.model.sample import Estimate
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus_or_tell
from sizeup.units import as_percent, format_bytes
from sizeup_memory import binding, buffers, cpu_selection, durations, matrix_cells

NAME = "memory.numa"
SMALLEST_BYTES = 16 << 20
"""The least working set of a cell."""
_TRIAL_BYTES = 8 << 20
"""Small enough for a small node, large enough not to use the pool of small working sets."""
_LAYOUTS = 4
"""Placements that are measured; see ``_layouts``."""
_MIN_SHARE_BYTES = 2 << 20
_PLACEMENTS_BATCH_SECONDS = 0.01


class _NumaSettings(matrix_cells.MatrixSettings, frozen=True, kw_only=True):
    part: str
    nodes: dict[int, tuple[int, ...]]
    """One CPU per core of each node with CPUs."""
    memory_nodes: tuple[int, ...]
    nearest: Mapping[int, int]
    """The node whose memory is local, of each node without."""
    span: int
    """As the user set it; 0: four times the caches."""
    span_bytes: int
    line_bytes: int
    caches: tuple[buffers.SharedCache, ...]

    @property
    def pages(self) -> binding.Pages:
        """The kind of pages of a matrix."""
        return cpu_selection.PAGES[self.part.removeprefix("matrix.")]


class MemoryNuma:
    """Latency matrix of CPU node and memory node, then latency with all cores active, by placement."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan a matrix for each page size, and the placements."""
        if len(cpu_selection.memory_nodes(machine)) < 2:
            raise RefusedError("fewer than two NUMA nodes with memory: there is nothing to compare")
        if not any(cpu_selection.cores_by_node(machine, machine.nodes).values()):
            raise RefusedError("no NUMA node has a CPU that sizeup may use: local and remote cannot be told apart")
        span = int(settings["span"])
        if span and (span < SMALLEST_BYTES or span & span - 1):
            least = format_bytes(SMALLEST_BYTES)
            raise RefusedError(f"span={span}: expected a power of two of at least {least}, such as 256M, or 0")
        for pages in str(settings["pages"]).split(","):
            if reason := cpu_selection.unknown_pages(pages):
                yield Refusal(f"{NAME}.{pages}", NAME, reason)
                continue
            yield _step(machine, settings, f"matrix.{pages}", f"NUMA latency matrix, {pages} pages")
        yield _step(machine, settings, "placements", "NUMA placements, all cores active")

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure the matrix or the placements."""
        settings = _NumaSettings.of(step.settings)
        caveats = leave_cpus_or_tell(step.cpus)
        if settings.part == "placements":
            yield from measure_placements(settings, context, caveats)
        else:
            yield from measure_matrix(settings, context, caveats)


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
    targets = [node.os_id for node in with_memory]
    rule = binding.StopRule.of(settings)
    matrix: dict[str, Any] = {"matrix_time": None}
    if placements:
        each_seconds = durations.thread_seconds(len(cpus)) + durations.linking_seconds(span)
        each_seconds += durations.measuring_seconds(rule, 1, durations.SETTLE_SECONDS)
        # One of the placements has all memory on one node.
        spread = [len(targets)] * (_LAYOUTS - 1) + [1]
        seconds = durations.starting_seconds() + sum(
            each_seconds + durations.allocating_seconds([span] * len(cpus), nodes=some) for some in spread
        )
    else:
        cells = matrix_cells.all_cells(machine, [node for node, some in nodes.items() if some], interleaved=True)

        def seconds_of(some: Sequence[matrix_cells.MatrixCell], budget: float = 0.0) -> float:
            # The memory is allocated node by node.
            memories = len({cell.memory_node for cell in some})
            pages = cpu_selection.PAGES[part.removeprefix("matrix.")]
            each = replace(rule, budget_seconds=budget)
            return (
                durations.starting_seconds()
                + memories * durations.allocating_seconds([span], pages=pages)
                + durations.measuring_seconds(each, len(some), durations.linking_seconds(span))
            )

        most = float(settings["matrix_time"])
        measured = matrix_cells.sampled(cells, seconds_of, most)
        # What the minimum of replicates leaves of the time is for cells that do not converge.
        last_round = seconds_of(measured) / rule.replicates_min
        budget = min(rule.budget_seconds, max(0.0, most - last_round))
        seconds = seconds_of(measured, budget)
        matrix = {"cells": measured, "cells_by_class": Counter(cell.kind for cell in cells), "budget": budget}
    chosen = _NumaSettings.of(
        settings,
        part=part,
        nodes=nodes,
        memory_nodes=targets,
        nearest=_nearest(machine),
        span_bytes=span,
        line_bytes=cpu_selection.line_bytes(machine),
        caches=caches,
        **matrix,
    )
    touches = f"{format_bytes(span)} of memory for each {'thread' if placements else 'node'}"
    return durations.step(f"{NAME}.{part}", title, chosen, seconds, touches, cpus)


def _nearest(machine: Machine) -> dict[int, int]:
    """Return the nearest node with memory, by the firmware's distances, of each node with CPUs and no memory."""
    targets = cpu_selection.memory_nodes(machine)
    order = {node.os_id: at for at, node in enumerate(machine.nodes)}
    found = {}
    for node in machine.nodes:
        if node.pus and targets and node.os_id not in {target.os_id for target in targets}:
            far = {t.os_id: node.distances[order[t.os_id]] if node.distances else 0 for t in targets}
            found[node.os_id] = min(far, key=far.__getitem__)
    return found


def _matrix_span(wanted: int, memory: binding.Allocation, nodes: int) -> int:
    """Return ``wanted``, or the working set on one of ``nodes`` that fits half of the available memory.

    0: that is below 16 MiB. All nodes have theirs at the same time, and each holds its part of the interleaved one too.
    """
    on_node = binding.available_bytes(memory) * nodes // (nodes + 1)
    fitting = min(
        buffers.usable_bytes(wanted, on_node),
        buffers.usable_bytes(wanted, binding.available_bytes(binding.Allocation()) // (nodes + 1)),
    )
    return fitting if fitting >= SMALLEST_BYTES else 0


def measure_matrix(settings: _NumaSettings, context: Context, shared: tuple[str, ...]) -> Iterator[Emission]:
    """Measure every cell of a matrix, and compare interleaved memory with the mean of its row."""
    yield from settings.not_measured(NAME)
    cells = yield from _allocated_cells(settings, context)
    if not cells:
        raise RefusedError("the memory of no node can be measured; see the gaps for the reasons")
    latency = binding.Latency([chase for _, chase in cells], settings)
    figures = yield from binding.measure(latency, tuple(point for point, _ in cells), context)
    measured: dict[tuple[str, int, int | None], float] = {}
    for index, point, native in figures:
        chase, placement = cells[index][1], latency.placement(index)
        extra, caveats = cpu_selection.placement_figures(placement, chase.memory.nodes)
        caveats += cpu_selection.page_caveats(settings.pages, placement)
        caveats += buffers.reduced_caveats(settings.span, chase.span_bytes)
        extra["working_set_bytes"] = chase.span_bytes
        cache_notes, cached = buffers.cache_caveats(settings.caches, [{chase.cpu: chase.span_bytes}])
        yield from buffers.cache_verdict(point.at, cache_notes, cached=cached)
        yield estimate_of(point, native, (*shared, *caveats, *cache_notes), extra)
        if cached or (placement.verified and placement.share_on(chase.memory.nodes) < cpu_selection.MIN_PLACED_SHARE):
            continue  # the figure is not of memory, or not of the named node: use it for nothing else
        target_node = point.at.get("memory_node")
        key = point.series, int(point.at["cpu_node"]), None if target_node is None else int(target_node)
        measured[key] = native.median
    in_row = Counter(cpu_node for series, cpu_node, _ in measured if series == "latency")
    # The mean of a part of a row says nothing of the rest, which was not chosen, allocated or on its node.
    complete = {key: value for key, value in measured.items() if in_row[key[1]] == len(settings.memory_nodes)}
    yield from expected_interleaved(complete)


def _allocated_cells(
    settings: _NumaSettings, context: Context
) -> Generator[Emission, None, list[tuple[EstimatePoint, binding.ChasePoint]]]:
    """Return the cells whose memory can be allocated; yield why the others cannot be measured."""
    targets = settings.memory_nodes
    cells: list[tuple[EstimatePoint, binding.ChasePoint]] = []
    for target in targets:
        memory = cpu_selection.node_memory(target, settings.nodes, settings.pages)
        # A bound range is allocated on that node only: size it by what is available there.
        span = _matrix_span(settings.span_bytes, memory, len(targets))
        reason = "not enough memory: less than 32 MiB available, at most half of it is used"
        if span:
            reason = _allocation_error(memory, span, settings, context)
        if reason:
            yield Gap(f"{NAME}: memory of node {target}", reason)
            continue
        cells += _cells(settings, target, memory, span)
    shared = binding.Allocation(settings.pages, binding.PlacementPolicy.INTERLEAVE, targets)
    # The nodes have kept memory for a working set no larger than theirs.
    span = min((_matrix_span(settings.span_bytes, shared, len(targets)), *(one.span_bytes for _, one in cells)))
    if span and not _allocation_error(shared, span, settings, context):
        cells += _cells(settings, None, shared, span)
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
    settings: _NumaSettings, target: int | None, memory: binding.Allocation, span: int
) -> Iterator[tuple[EstimatePoint, binding.ChasePoint]]:
    """Yield the cells of the memory of one node, or of the interleaved memory."""
    for cell in settings.cells:
        if cell.memory_node == target and (cpus := settings.nodes[cell.cpu_node]):
            at = {"cpu_node": cell.cpu_node} | ({} if target is None else {"memory_node": target})
            point = EstimatePoint("interleaved" if target is None else "latency", at)
            yield point, binding.ChasePoint(span, settings.line_bytes, cpus[0], memory=memory)


def _allocation_error(memory: binding.Allocation, span: int, settings: _NumaSettings, context: Context) -> str:
    """Return why memory cannot be allocated there; empty if it can. One small measurement tries it."""
    any_cpu = next(cpu for cpus in settings.nodes.values() for cpu in cpus)
    chase = binding.ChasePoint(min(span, _TRIAL_BYTES), settings.line_bytes, any_cpu, memory=memory)
    rule = replace(settings, replicates_min=1, replicates_max=1, replicate_seconds=0.001, warm_up_seconds=0.0)
    try:
        for _ in binding.measure(binding.Latency([chase], rule), (EstimatePoint("trial", {}),), context):
            pass
    except RefusedError as error:
        return str(error)
    return ""


def measure_placements(settings: _NumaSettings, context: Context, caveats: tuple[str, ...]) -> Iterator[Emission]:
    """Measure a pointer chase on every core at the same time, for each memory placement."""
    nodes, nearest = settings.nodes, settings.nearest
    threads = [(cpu, node) for node, cpus in nodes.items() for cpu in cpus]
    layouts = _layouts(nodes, settings.memory_nodes, nearest)
    span = buffers.usable_bytes(settings.span_bytes, binding.available_bytes(binding.Allocation()) // len(threads))
    for memory_of in layouts.values():  # several threads may allocate on the same nodes
        memories = [memory_of(node) for _, node in threads]
        for memory in set(memories):
            share = binding.available_bytes(memory) // memories.count(memory)
            span = min(span, buffers.usable_bytes(settings.span_bytes, share))
    if span < _MIN_SHARE_BYTES:
        raise RefusedError("not enough memory: a node has too little available for a thread on every core")
    cache_notes, cached = buffers.cache_caveats(settings.caches, [{cpu: span for cpu, _ in threads}])
    caveats += (*buffers.reduced_caveats(settings.span, span), *cache_notes)
    rule = replace(settings, batch_seconds=_PLACEMENTS_BATCH_SECONDS)
    for name, memory_of in layouts.items():
        if context.canceled:
            return
        members = [
            binding.Member(cpu, span, memory_of(node), chases=True, stride_bytes=settings.line_bytes)
            for cpu, node in threads
        ]
        traffic = binding.Traffic(members, [binding.TrafficPoint(streams=0)], rule)
        points = (EstimatePoint("placement", {"placement": name}), EstimatePoint("unused", {}))
        try:
            figures = yield from binding.measure(traffic, points, context)
        except RefusedError as error:
            yield Gap(f"{NAME}: placement {name}", str(error))
            continue
        remote = [cpu for node in nearest for cpu in nodes.get(node, ())] if name == "local" else []
        for _, point, native in figures:
            placements = [traffic.placement(index) for index in range(len(members))]
            shares = [one.share_on(member.memory.nodes) for one, member in zip(placements, members, strict=True)]
            on_node = sum((Counter(one.on_node) for one in placements), Counter[int]())
            extra: dict[str, str | int | float] = {
                "threads": len(members),
                "bytes_per_thread": span,
                "share_where_asked": min(shares),
                "pages_on_nodes": ",".join(f"{node}:{count}" for node, count in sorted(on_node.items())),
            }
            elsewhere: tuple[str, ...] = ()
            if not all(one.verified for one in placements):
                elsewhere = ("page placement not verified: move_pages and numa_maps are denied",)
            elif min(shares) < cpu_selection.MIN_PLACED_SHARE:
                elsewhere = (f"a thread had only {as_percent(min(shares), '.1f')} of its pages on the requested node",)
            yield from buffers.cache_verdict(point.at, cache_notes, cached=cached)
            all_caveats = (*caveats, *elsewhere, *cpu_selection.remote_caveats(remote))
            yield estimate_of(point, native, all_caveats, extra)


def _layouts(
    nodes: Mapping[int, Sequence[int]], targets: Sequence[int], nearest: Mapping[int, int]
) -> dict[str, Callable[[int], binding.Allocation]]:
    """Return the memory of each node's threads by placement; base pages, as of a database without huge pages."""
    interleaved = binding.Allocation(binding.Pages.BASE, binding.PlacementPolicy.INTERLEAVE, tuple(targets))

    def bound(target: int) -> binding.Allocation:
        return cpu_selection.node_memory(target, nodes, binding.Pages.BASE)

    def remote(node: int) -> binding.Allocation:
        others = [target for target in targets if target != node]
        return bound(others[node % len(others)])

    return {
        "local": lambda node: bound(nearest.get(node, node)),
        "remote": remote,
        "interleaved": lambda _: interleaved,
        "cyclops": lambda _: bound(targets[0]),
    }
