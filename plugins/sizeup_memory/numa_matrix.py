"""Latency from every node's CPUs to every node's memory, and what interleaving should have."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Generator, Iterator, Sequence

from sizeup.errors import RefusedError
from sizeup.model.gap import Gap
from sizeup.model.plan import Settings, Step
from sizeup.model.sample import Estimate
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of
from sizeup_memory.binding import (
    Allocation,
    ChasePoint,
    Latency,
    Pages,
    PlacementPolicy,
    available_bytes,
    new_job,
)
from sizeup_memory.buffers import cache_caveats, cache_verdict, caches_from, reduced_caveats, usable_bytes
from sizeup_memory.cpu_selection import MIN_PLACED_SHARE
from sizeup_memory.durations import allocating_seconds, linking_seconds, measuring_seconds, starting_seconds
from sizeup_memory.matrix_cells import MatrixCell, cells_from, not_measured
from sizeup_memory.node_placement import PAGES, node_memory, page_caveats, placement_figures
from sizeup_memory.stop_rule import stop_rule

SMALLEST_BYTES = 16 << 20
"""The least working set of a cell."""
_TRIAL_BYTES = 8 << 20
"""Small enough for a small node, large enough not to use the pool of small working sets."""


def matrix_seconds(settings: Settings, span: int, cells: Sequence[MatrixCell], pages: Pages) -> float:
    """Return the estimated time of a matrix, whose memory is allocated node by node."""
    memories = len({cell.memory_node for cell in cells})
    allocating = memories * allocating_seconds([span], pages=pages)
    return starting_seconds() + allocating + measuring_seconds(settings, len(cells), linking_seconds(span))


def _matrix_span(wanted: int, memory: Allocation, nodes: int) -> int:
    """Return ``wanted``, or the working set on one of ``nodes`` that fits half of the available memory.

    0: that is below 16 MiB. All nodes have theirs at the same time, and each holds its part of the interleaved one too.
    """
    on_node = available_bytes(memory) * nodes // (nodes + 1)
    fitting = min(usable_bytes(wanted, on_node), usable_bytes(wanted, available_bytes(Allocation()) // (nodes + 1)))
    return fitting if fitting >= SMALLEST_BYTES else 0


def measure_matrix(step: Step, nodes: dict[int, list[int]], context: Context) -> Iterator[Emission]:
    """Measure every cell of a matrix, and compare interleaved memory with the mean of its row."""
    settings = step.settings
    pages, caches = _pages(settings), caches_from(str(settings["caches"]))
    yield from not_measured(step.probe, settings)
    cells = yield from _allocated_cells(step, nodes, context)
    if not cells:
        raise RefusedError("the memory of no node can be measured; see the gaps for the reasons")
    latency = Latency([chase for _, chase in cells], stop_rule(settings))
    points = tuple(point for point, _ in cells)
    job = new_job()
    yield from job.follow(latency.call(job), points, context)
    yield from job.gaps(points)
    measured: dict[tuple[str, int, int | None], float] = {}
    for index, point, native in job.measured(points):
        chase, placement = cells[index][1], latency.placement(index)
        extra, caveats = placement_figures(placement, chase.memory.nodes)
        caveats += page_caveats(pages, placement)
        caveats += reduced_caveats(settings, chase.span_bytes)
        extra["working_set_bytes"] = chase.span_bytes
        cache_notes, cached = cache_caveats(caches, [{chase.cpu: chase.span_bytes}])
        caveats += cache_notes
        if cached:
            yield cache_verdict(point.at, cache_notes)
        yield estimate_of(point, native, tuple(caveats), extra)
        if cached or (placement.verified and placement.share_on(chase.memory.nodes) < MIN_PLACED_SHARE):
            continue  # the figure is not of memory, or not of the named node: use it for nothing else
        target_node = point.at.get("memory_node")
        key = point.series, int(point.at["cpu_node"]), None if target_node is None else int(target_node)
        measured[key] = native.median
    targets = json.loads(str(settings["memory_nodes"]))
    in_row = Counter(cell.cpu_node for cell in cells_from(str(settings["cells"])) if cell.memory_node is not None)
    # The mean of a row that was measured in part says nothing of the rest.
    yield from expected_interleaved({key: value for key, value in measured.items() if in_row[key[1]] == len(targets)})


def _pages(settings: Settings) -> Pages:
    return PAGES[str(settings["part"]).removeprefix("matrix.")]


def _allocated_cells(
    step: Step, nodes: dict[int, list[int]], context: Context
) -> Generator[Emission, None, list[tuple[EstimatePoint, ChasePoint]]]:
    """Return the cells whose memory can be allocated; yield why the others cannot be measured."""
    settings = step.settings
    pages = _pages(settings)
    targets: list[int] = json.loads(str(settings["memory_nodes"]))
    chosen = cells_from(str(settings["cells"]))
    cells: list[tuple[EstimatePoint, ChasePoint]] = []
    for target in targets:
        rows = {cell.cpu_node: nodes[cell.cpu_node] for cell in chosen if cell.memory_node == target}
        memory = node_memory(target, nodes, pages)
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
    trial = Latency(
        [ChasePoint(min(span, _TRIAL_BYTES), int(settings["line_bytes"]), _any_cpu(settings), memory=memory)],
        stop_rule({**settings, "replicates": 1, "replicates_max": 1, "replicate": 0.001, "warm_up": 0.0}),
    )
    job = new_job()
    try:
        for _ in job.follow(trial.call(job), (EstimatePoint("trial", {}),), context):
            pass
    except RefusedError as error:
        return str(error)
    return None


def _any_cpu(settings: Settings) -> int:
    nodes: dict[str, list[int]] = json.loads(str(settings["nodes"]))
    return next(cpu for cpus in nodes.values() for cpu in cpus)
