"""Read and write bandwidth of 1 to N cores, and of each node's cores to each node's memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from sizeup.errors import RefusedError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Refusal, Settings, Step
from sizeup.model.sample import Coordinates
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus_or_tell
from sizeup.units import format_bytes
from sizeup_memory import buffers, cpu_selection, durations, matrix_cells
from sizeup_memory.binding import Allocation, Member, StopRule, Traffic, TrafficPoint, available_bytes, measure

NAME = "memory.bandwidth"
_MIXES = (("read", 0), ("write", 100))


class _BandwidthSettings(matrix_cells.MatrixSettings, frozen=True, kw_only=True):
    batch_seconds: float = 0.01
    part: str
    pages: str
    cpus: tuple[int, ...]
    nodes: dict[int, tuple[int, ...]]
    without_memory: tuple[int, ...]
    caches: tuple[buffers.SharedCache, ...]


class MemoryBandwidth:
    """Sequential reads and writes by 1 to N cores, each in its own buffer."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan the scaling over all cores, and the matrix if there are several nodes."""
        with_cpus = any(cpu_selection.cores_by_node(machine, machine.nodes).values())
        for pages in str(settings["pages"]).split(","):
            if reason := cpu_selection.unknown_pages(pages):
                yield Refusal(f"{NAME}.{pages}", NAME, reason)
                continue
            yield _step(machine, settings, "scaling", pages)
            if with_cpus and len(cpu_selection.memory_nodes(machine)) > 1:
                yield _step(machine, settings, "matrix", pages)

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure the scaling, or each cell of the matrix with its own thread group."""
        settings = _BandwidthSettings.of(step.settings)
        cpus, nodes, pages = settings.cpus, settings.nodes, cpu_selection.PAGES[settings.pages]
        caveats = leave_cpus_or_tell(cpus)
        if settings.part == "scaling":
            thread_points = [(count, {"threads": count}) for count in cpu_selection.thread_counts(len(cpus))]
            caveats += cpu_selection.remote_caveats(settings.without_memory)
            memory = Allocation(pages)
            yield from _stream(settings, cpus, memory, settings.caches, thread_points, "scaling-", context, caveats)
            return
        yield from settings.not_measured(NAME)
        cpu_sets = {node: set(some) for node, some in nodes.items()}
        for cell in settings.cells:
            if cell.memory_node is None or context.canceled:
                continue
            node_cpus = nodes[cell.cpu_node]
            memory = cpu_selection.node_memory(cell.memory_node, nodes, pages)
            at: Coordinates = {"cpu_node": cell.cpu_node, "memory_node": cell.memory_node}
            near = [cache for cache in settings.caches if not cpu_sets[cell.cpu_node].isdisjoint(cache.cpus)]
            yield from _stream(settings, node_cpus, memory, near, [(len(node_cpus), at)], "", context, caveats)


def _step(machine: Machine, settings: Settings, part: str, pages: str) -> Step:
    cpus = cpu_selection.core_first_cpus(machine)[: cpu_selection.core_count(machine)] or machine.allowed_cpus or (0,)
    nodes = cpu_selection.cores_by_node(machine, machine.nodes)
    caches = buffers.shared_caches(machine, cpus)
    rule, kind = StopRule.of(settings), cpu_selection.PAGES[pages]
    matrix: dict[str, Any] = {"matrix_time": None}
    if part == "scaling":
        counts = cpu_selection.thread_counts(len(cpus))
        sizes = buffers.fitted(
            buffers.bytes_for_all(caches, [cpus[:count] for count in counts]), machine.memory_available_bytes
        )
        most_bytes, used_nodes = sum(sizes.values()), max(1, sum(map(bool, nodes.values())))
        guest, seconds = bool(machine.platform.is_guest), durations.starting_seconds(len(cpus))
        seconds += durations.allocating_seconds(sizes.values(), nodes=used_nodes, pages=kind, guest=guest)
        seconds += durations.measuring_seconds(rule, len(_MIXES) * len(counts), durations.SETTLE_SECONDS)
    else:
        cells = matrix_cells.all_cells(machine, [node for node, some in nodes.items() if some])
        by_node = {
            node: buffers.fitted(buffers.bytes_for_all(caches, [some]), machine.memory_available_bytes)
            for node, some in nodes.items()
        }
        most = float(settings["matrix_time"])

        def seconds_of(some: Sequence[matrix_cells.MatrixCell], budget: float = 0.0) -> float:
            # For each cell the threads of a node allocate memory of one node.
            each = replace(rule, budget_seconds=budget)
            measuring = durations.measuring_seconds(each, len(_MIXES), durations.SETTLE_SECONDS)
            sizes = [by_node[cell.cpu_node].values() for cell in some]
            return durations.starting_seconds() + sum(
                durations.thread_seconds(len(one)) + durations.allocating_seconds(one, pages=kind) + measuring
                for one in sizes
            )

        measured = matrix_cells.sampled(cells, seconds_of, most)
        # What the minimum of replicates leaves of the time is for cells that do not converge.
        spare = max(0.0, most - seconds_of(measured)) / len(measured)
        replicate = durations.SETTLE_SECONDS + rule.warm_up_seconds + rule.replicate_seconds
        # The last round is the one in which the budget ends.
        before_last = len(_MIXES) * (rule.replicates_min - 1) * replicate
        budget = min(rule.budget_seconds, before_last + spare)
        seconds = seconds_of(measured, budget)
        most_bytes = max(sum(sizes.values()) for sizes in by_node.values())
        matrix = {"cells": measured, "cells_by_class": Counter(cell.kind for cell in cells), "budget": budget}
    without = cpu_selection.without_memory(machine, cpus)
    chosen = _BandwidthSettings.of(
        settings, part=part, pages=pages, cpus=cpus, nodes=nodes, without_memory=without, caches=caches, **matrix
    )
    title, touches = f"Memory bandwidth, {part}, {pages} pages", f"{format_bytes(most_bytes)} of memory"
    axes = {"threads": (1, len(cpus))} if part == "scaling" else {}
    return durations.step(f"{NAME}.{part}.{pages}", title, chosen, seconds, touches, cpus, axis_ranges=axes)


def _stream(
    rule: StopRule,
    cpus: Sequence[int],
    memory: Allocation,
    caches: Sequence[buffers.SharedCache],
    thread_points: Sequence[tuple[int, Coordinates]],
    prefix: str,
    context: Context,
    caveats: tuple[str, ...],
) -> Iterator[Emission]:
    """Measure reads and writes by some of the CPUs, all points with the same threads and memory."""
    sizes = buffers.fitted(
        buffers.bytes_for_all(caches, [cpus[:count] for count, _ in thread_points]), available_bytes(memory)
    )
    where = ", ".join(f"{key} {value}" for key, value in thread_points[-1][1].items())
    if not sizes:
        yield Gap(f"{NAME}: {where}", "not enough memory available there")
        return
    todo = [(name, mix, count, at) for name, mix in _MIXES for count, at in thread_points]
    points = tuple(EstimatePoint(series, at) for name, _, _, at in todo for series in ("unused", f"{prefix}{name}"))
    traffic = Traffic(
        [Member(cpu, sizes[cpu], memory) for cpu in cpus], [TrafficPoint(count, mix) for _, mix, count, _ in todo], rule
    )
    try:
        measured = yield from measure(traffic, points, context)
    except RefusedError as error:
        yield Gap(f"{NAME}: {where}", str(error))
        return
    for index, point, native in measured:
        _, _, count, _ = todo[index // 2]
        active = {cpu: sizes[cpu] for cpu in cpus[:count]}
        placements = [traffic.placement(member) for member in range(len(cpus))]
        # The worst of them: the sum includes a thread whose pages are elsewhere.
        worst = min(placements, key=lambda one: one.share_on(memory.nodes))
        extra, point_caveats = cpu_selection.placement_figures(worst, memory.nodes) if memory.nodes else ({}, [])
        point_caveats += cpu_selection.page_caveats(memory.pages, min(placements, key=lambda one: one.huge_share))
        cache_notes, cached = buffers.cache_caveats(caches, [active], "accesses")
        extra["bytes_per_thread"] = min(active.values())
        yield from buffers.cache_verdict(point.at, cache_notes, cached=cached)
        yield estimate_of(point, native, (*caveats, *point_caveats, *cache_notes), extra)
