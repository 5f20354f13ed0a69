"""Read and write bandwidth of 1 to N cores, and of each node's cores to each node's memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from sizeup.errors import RefusedError
from sizeup.model.gap import Gap
from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.model.sample import Coordinates
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus
from sizeup.units import format_bytes
from sizeup_memory.binding import Allocation, Member, Traffic, TrafficPoint, new_job
from sizeup_memory.chase_patterns import working_sets
from sizeup_memory.cpu_selection import (
    core_count,
    core_first_cpus,
    cores_of,
    last_level_cache_bytes,
    memory_nodes,
    private_bytes,
    remote_caveat,
    without_memory,
)
from sizeup_memory.latency import invalid_replicates, page_caveats, stop_rule
from sizeup_memory.numa import COPIED, PAGES, fitting_bytes, node_memory, placement_figures

NAME = "memory.bandwidth"
_MAX_BYTES = 1 << 30
_MIXES = (("read", 0), ("write", 100))


class MemoryBandwidth:
    """Sequential reads and writes by 1 to N cores, each in its own buffer."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan the scaling over all cores, and the matrix if there are several nodes."""
        reason = invalid_replicates(settings)
        if reason:
            yield Refusal(NAME, NAME, reason)
            return
        for pages in str(settings["pages"]).split(","):
            if pages not in PAGES:
                yield Refusal(f"{NAME}.{pages}", NAME, f"expected pages among {', '.join(PAGES)}, found {pages!r}")
                continue
            yield _step(machine, settings, "scaling", pages)
            if len(memory_nodes(machine)) > 1:
                yield _step(machine, settings, "matrix", pages)

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure the scaling, or each cell of the matrix with its own thread group."""
        settings = step.settings
        cpus: list[int] = json.loads(str(settings["cpus"]))
        nodes: dict[int, list[int]] = {int(node): cpus for node, cpus in json.loads(str(settings["nodes"])).items()}
        caveats: tuple[str, ...] = ()
        if not leave_cpus(cpus):
            caveats = ("the console shared a CPU with the measurement",)
        if str(settings["part"]) == "scaling":
            memory = Allocation(PAGES[str(settings["pages"])])
            counts = [count for count in working_sets(1, len(cpus), 64) if count < len(cpus)] + [len(cpus)]
            orders = [(count, {"threads": count}) for count in counts]
            remote_cpus: list[int] = json.loads(str(settings["without_memory"]))
            caveats += (remote_caveat(remote_cpus),) if remote_cpus else ()
            yield from _stream(settings, cpus, memory, orders, "scaling-", context, caveats)
            return
        for cpu_node, node_cpus in nodes.items():
            for target in json.loads(str(settings["memory_nodes"])):
                if node_cpus and not context.canceled:
                    memory = node_memory(target, nodes, PAGES[str(settings["pages"])])
                    at: Coordinates = {"cpu_node": cpu_node, "memory_node": target}
                    yield from _stream(settings, node_cpus, memory, [(len(node_cpus), at)], "", context, caveats)


def _step(machine: Machine, settings: Settings, part: str, pages: str) -> Step:
    cpus = core_first_cpus(machine)[: core_count(machine)] or machine.allowed_cpus or (0,)
    each = private_bytes(machine, len(cpus), _MAX_BYTES)
    budget = float(settings["budget"])
    return Step(
        id=f"{NAME}.{part}.{pages}",
        probe=NAME,
        title=f"Memory bandwidth, {part}, {pages} pages",
        settings={
            **{key: settings[key] for key in COPIED},
            "part": part,
            "pages": pages,
            "cpus": json.dumps(cpus),
            "nodes": json.dumps({str(node.os_id): cores_of(machine, node) for node in machine.nodes}),
            "memory_nodes": json.dumps([node.os_id for node in memory_nodes(machine)]),
            "without_memory": json.dumps(without_memory(machine, cpus)),
            "bytes": each,
            "last_level_cache_bytes": last_level_cache_bytes(machine),
        },
        estimated_seconds=budget,
        time_limit_seconds=20 * budget + 120,
        hazards=(Hazard.CPU_LOAD, Hazard.MEMORY),
        touches=f"{format_bytes(each * len(cpus))} of memory",
        cpus=cpus,
        axis_ranges={"threads": (1, len(cpus))} if part == "scaling" else {},
    )


def _stream(
    settings: Settings,
    cpus: list[int],
    memory: Allocation,
    orders: Sequence[tuple[int, Coordinates]],
    prefix: str,
    context: Context,
    caveats: tuple[str, ...],
) -> Iterator[Emission]:
    """Measure reads and writes by some of the CPUs, all points with the same threads and memory."""
    each = min(int(settings["bytes"]), fitting_bytes(int(settings["bytes"]) * len(cpus), memory) // len(cpus))
    where = ", ".join(f"{key} {value}" for key, value in orders[-1][1].items())
    if each < 1 << 20:
        yield Gap(f"{NAME}: {where}", "not enough memory available there")
        return
    todo = [(name, mix, count, at) for name, mix in _MIXES for count, at in orders]
    points = tuple(EstimatePoint(series, at) for name, _, _, at in todo for series in ("unused", f"{prefix}{name}"))
    traffic = Traffic(
        [Member(cpu, each, memory) for cpu in cpus],
        [TrafficPoint(count, mix) for _, mix, count, _ in todo],
        stop_rule(settings, batch_seconds=0.01),
    )
    job = new_job()
    try:
        yield from job.follow(traffic.call(job), points, context)
    except RefusedError as error:
        yield Gap(f"{NAME}: {where}", str(error))
        return
    yield from job.gaps(points)
    for _, point, native in job.measured(points):
        placements = [traffic.placement(index) for index in range(len(cpus))]
        # The worst of them: the sum includes a thread whose pages are elsewhere.
        worst = min(placements, key=lambda one: one.share_on(memory.nodes))
        extra, point_caveats = placement_figures(worst, memory.nodes) if memory.nodes else ({}, [])
        point_caveats += page_caveats(memory.pages, min(placements, key=lambda one: one.huge_share))
        if each * len(cpus) < 4 * int(settings["last_level_cache_bytes"]):
            point_caveats.append(
                "all buffers together are below four times the last-level cache: some accesses hit that cache"
            )
        yield estimate_of(point, native, (*caveats, *point_caveats), {"bytes_per_thread": each, **extra})
