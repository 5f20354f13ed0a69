"""NUMA latency: plans the matrix of CPU nodes and memory nodes and the placements of a database, and measures them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import leave_cpus
from sizeup.units import format_bytes
from sizeup_memory.buffers import USUAL_BYTES, bytes_for_all, caches_text, shared_caches
from sizeup_memory.cpu_selection import cores_by_node, line_bytes, memory_nodes
from sizeup_memory.durations import limit_seconds
from sizeup_memory.matrix_cells import MatrixCell, all_cells, cells_text, sampled, totals_text
from sizeup_memory.node_placement import PAGES, unknown_pages
from sizeup_memory.numa_matrix import SMALLEST_BYTES, matrix_seconds, measure_matrix
from sizeup_memory.numa_placements import measure_placements, placements_seconds
from sizeup_memory.stop_rule import STOP_SETTINGS, invalid_replicates

NAME = "memory.numa"


class MemoryNuma:
    """Latency matrix of CPU node and memory node, then latency with all cores active, by placement."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan a matrix for each page size, and the placements."""
        reason = not_numa(machine) or invalid_replicates(settings) or _wrong_span(int(settings["span"]))
        if reason:
            yield Refusal(NAME, NAME, reason)
            return
        for pages in str(settings["pages"]).split(","):
            if reason := unknown_pages(pages):
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
    if len(memory_nodes(machine)) < 2:
        return "fewer than two NUMA nodes with memory: there is nothing to compare"
    return None


def _wrong_span(span_bytes: int) -> str:
    """Return why a working set is invalid; empty if it is valid."""
    if span_bytes == 0 or (span_bytes >= SMALLEST_BYTES and span_bytes & span_bytes - 1 == 0):
        return ""
    least = format_bytes(SMALLEST_BYTES)
    return f"span={span_bytes}: expected a power of two of at least {least}, such as 256M, or 0"


def _step(machine: Machine, settings: Settings, part: str, title: str) -> Step:
    with_memory = memory_nodes(machine)
    # A node without memory still has CPUs to measure from.
    others = [node for node in machine.nodes if node.pus and node not in with_memory]
    nodes = cores_by_node(machine, (*with_memory, *others))
    cpus = tuple(cpu for node in nodes.values() for cpu in node)
    placements = part == "placements"
    caches = shared_caches(machine, cpus)
    points = [cpus] if placements else [cpus[:1] for cpus in nodes.values()]
    span = int(settings["span"]) or max([USUAL_BYTES, *bytes_for_all(caches, points).values()])
    targets = [node.os_id for node in memory_nodes(machine)]
    chosen: dict[str, Any] = {}
    if placements:
        seconds = placements_seconds(settings, span, len(cpus), len(targets))
    else:
        cells = all_cells(machine, [node for node, some in nodes.items() if some], interleaved=True)

        def seconds_of(some: Sequence[MatrixCell], budget: float = 0.0) -> float:
            return matrix_seconds({**settings, "budget": budget}, span, some, PAGES[part.removeprefix("matrix.")])

        most = float(settings["matrix_time"])
        measured = sampled(cells, seconds_of, most)
        # What the minimum of replicates leaves of the time is for cells that do not converge.
        last_round = seconds_of(measured) / int(settings["replicates"])
        chosen["budget"] = min(float(settings["budget"]), max(0.0, most - last_round))
        seconds = seconds_of(measured, chosen["budget"])
        chosen |= {"cells": cells_text(measured), "cells_by_class": totals_text(cells), "matrix_time": most}
    return Step(
        id=f"{NAME}.{part}",
        probe=NAME,
        title=title,
        settings={
            **{key: settings[key] for key in STOP_SETTINGS},
            "part": part,
            "nodes": json.dumps({str(node): list(cpus) for node, cpus in nodes.items()}),
            "memory_nodes": json.dumps(targets),
            "nearest": json.dumps(_nearest(machine)),
            "span": settings["span"],
            "span_bytes": span,
            "line_bytes": line_bytes(machine),
            "caches": caches_text(caches),
            **chosen,
        },
        estimated_seconds=seconds,
        time_limit_seconds=limit_seconds(seconds),
        hazards=(Hazard.CPU_LOAD, Hazard.MEMORY),
        touches=f"{format_bytes(span)} of memory for each {'thread' if placements else 'node'}",
        cpus=cpus,
    )


def _nearest(machine: Machine) -> dict[str, int]:
    """Return the nearest node with memory, by the firmware's distances, of each node with CPUs and no memory."""
    targets = memory_nodes(machine)
    order = {node.os_id: at for at, node in enumerate(machine.nodes)}
    found = {}
    for node in machine.nodes:
        if node.pus and targets and node.os_id not in {target.os_id for target in targets}:
            far = {t.os_id: node.distances[order[t.os_id]] if node.distances else 0 for t in targets}
            found[str(node.os_id)] = min(far, key=far.__getitem__)
    return found
