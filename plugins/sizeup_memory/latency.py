"""Load-to-use latency against working set."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from sizeup.errors import RefusedError
from sizeup.model.gap import Gap
from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus
from sizeup.units import format_bytes
from sizeup_memory.binding import (
    Allocation,
    ChasePoint,
    Latency,
    Pages,
    Placement,
    StopRule,
    available_bytes,
    new_job,
    tlb_reach_bytes,
)
from sizeup_memory.chase_patterns import CHASE_PATTERNS, KIB, MIB, ChasePattern, working_sets
from sizeup_memory.cpu_selection import (
    CACHE_MULTIPLE,
    last_level_cache_bytes,
    line_bytes,
    local_cpu,
    locality,
    node_of,
    sibling_of,
)
from sizeup_memory.host_load import HostLoad

NAME = "memory.latency"
_SMALLEST = 16 * KIB
_MIN_HUGE_SHARE = 0.95
_PAGE_BYTES = {
    Pages.BASE: os.sysconf("SC_PAGE_SIZE"),
    Pages.THP: 2 * MIB,  # on x86, the only architecture that reports TLB sizes
    Pages.HUGE2M: 2 * MIB,
    Pages.HUGE1G: 1024 * MIB,
}


class MemoryLatency:
    """Load-to-use latency against working set, one dependent load at a time."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan one step per access pattern."""
        for name in str(settings["patterns"]).split(","):
            yield _step(machine, settings, name.strip())

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure every working set, replicates interleaved."""
        settings = step.settings
        pattern = CHASE_PATTERNS[str(settings["pattern"])]
        cpu = int(settings["cpu"])
        caveats = [] if leave_cpus([cpu]) else [f"the console shared CPU {cpu} with the measurement"]
        planned: list[int] = json.loads(str(settings["working_sets"]))
        spans = _fitting(planned, pattern)
        most = int(settings["largest"])
        if spans[-1] < most:
            yield Gap(f"{NAME}: {pattern.name} beyond {format_bytes(spans[-1])}", _why_fewer_sizes(spans, planned))
        sibling = settings.get("sibling")
        latency = Latency(
            [
                ChasePoint(
                    span_bytes=span,
                    stride_bytes=pattern.stride_bytes or int(settings["line_bytes"]),
                    block_bytes=min(span, pattern.block_bytes),
                    cpu=cpu,
                    sibling=None if sibling is None else int(sibling),
                    memory=Allocation(pattern.pages),
                )
                for span in spans
            ],
            stop_rule(settings),
        )
        points = tuple(EstimatePoint(pattern.name, {"working_set_bytes": span}) for span in spans)
        job, load = new_job(), HostLoad()
        yield from job.follow(latency.call(job), points, context)
        caveats += load.caveats()
        yield from job.gaps(points)
        tlb_bytes = tlb_reach_bytes(_PAGE_BYTES[pattern.pages])
        reach = {"tlb_reach_bytes": tlb_bytes} if tlb_bytes else {}
        for index, point, native in job.measured(points):
            placement = latency.placement(index)
            node = settings.get("cpu_node")
            where, remote = locality(placement, cpu, None if node is None else int(node), int(settings["nodes"]))
            yield estimate_of(
                point,
                native,
                (
                    *caveats,
                    *remote,
                    *page_caveats(pattern.pages, placement),
                    *_size_caveats(spans, index, settings),
                ),
                {"huge_page_share": placement.huge_share, **reach, **where},
            )


def invalid_replicates(settings: Settings) -> str:
    """Return why the numbers of replicates contradict each other; empty if they do not."""
    fewest, most = int(settings["replicates"]), int(settings["replicates_max"])
    if most >= fewest:
        return ""
    return (
        f"replicates_max={most}: expected at least replicates={fewest}; decrease replicates or increase replicates_max"
    )


def stop_rule(settings: Settings, batch_seconds: float = 0.001) -> StopRule:
    """Return the stop rule of a step's settings."""
    return StopRule(
        batch_seconds=batch_seconds,
        replicate_seconds=float(settings["replicate"]),
        warm_up_seconds=float(settings["warm_up"]),
        budget_seconds=float(settings["budget"]),
        replicates_min=int(settings["replicates"]),
        replicates_max=int(settings["replicates_max"]),
        target=float(settings["target"]),
        seed=int(settings["seed"]),
    )


def _size_caveats(spans: list[int], index: int, settings: Settings) -> list[str]:
    """Return a caveat if the largest working set is too small for DRAM latency."""
    cache = int(settings["last_level_cache_bytes"])
    if index + 1 < len(spans) or spans[index] >= CACHE_MULTIPLE * cache:
        return []
    caveat = f"the largest working set is below {CACHE_MULTIPLE} times the last-level cache ({format_bytes(cache)})"
    if settings["guest"]:
        return [f"{caveat}; in a virtual machine that is the cache of the host, of which it may get less"]
    return [f"{caveat}: some loads hit that cache"]


def page_caveats(pages: Pages, placement: Placement) -> list[str]:
    """Return a caveat if too little memory is on the requested kind of pages."""
    if pages is Pages.THP and placement.huge_share < _MIN_HUGE_SHARE:
        return [f"only {placement.huge_share:.0%} of the memory is on transparent huge pages"]
    return []


def _step(machine: Machine, settings: Settings, name: str) -> Step | Refusal:
    step = f"{NAME}.{name}"
    pattern = CHASE_PATTERNS.get(name)
    if pattern is None:
        known = ", ".join(CHASE_PATTERNS)
        return Refusal(step, NAME, f"expected patterns among {known}, found {name!r}")
    reason = invalid_replicates(settings)
    if reason:
        return Refusal(step, NAME, reason)
    allowed = machine.allowed_cpus
    cache_bytes = last_level_cache_bytes(machine)
    largest = int(settings["largest"]) or CACHE_MULTIPLE * cache_bytes
    smallest = max(_SMALLEST, pattern.block_bytes)
    if largest < 2 * smallest:
        least = format_bytes(2 * smallest)
        return Refusal(
            step, NAME, f"largest={largest}: expected at least {least}, or 0 for four times the last-level cache"
        )
    cpu = int(settings["cpu"])
    if cpu < 0:
        cpu = local_cpu(machine, largest, pattern.page_bytes)
    elif allowed and cpu not in allowed:
        return Refusal(step, NAME, f"cpu={cpu}: not among the CPUs that sizeup may use: {list(allowed)}")
    fitting = largest
    if pattern.page_bytes:
        fitting, refusal = _pool_bytes(machine, pattern, largest)
        if refusal:
            return Refusal(step, NAME, refusal)
    sizes = working_sets(smallest, max(fitting, 2 * smallest), int(settings["points"]))
    node = node_of(machine, cpu)
    budget = float(settings["budget"])
    sibling = sibling_of(machine, cpu)
    copied = ("replicate", "warm_up", "budget", "replicates", "replicates_max", "target", "seed")
    return Step(
        id=step,
        probe=NAME,
        title=f"Memory latency, {name}",
        settings={
            **{key: settings[key] for key in copied},
            **({} if sibling is None else {"sibling": sibling}),
            "pattern": name,
            **({} if node is None else {"cpu_node": node}),
            "nodes": len(machine.nodes),
            "largest": largest,
            "working_sets": json.dumps(sizes),
            "cpu": cpu,
            "line_bytes": line_bytes(machine),
            "last_level_cache_bytes": cache_bytes,
            "guest": bool(machine.platform.is_guest),
        },
        estimated_seconds=budget,
        # Populating and linking take time beyond the budget, on a slow machine several times as much.
        time_limit_seconds=10 * budget + 60,
        hazards=(Hazard.CPU_LOAD, Hazard.MEMORY),
        touches=f"{format_bytes(max(sizes[-1], 32 * MIB))} of memory",
        cpus=(cpu,),
        axis_ranges={"working_set_bytes": (sizes[0], sizes[-1])},
    )


def _pool_bytes(machine: Machine, pattern: ChasePattern, largest: int) -> tuple[int, str | None]:
    """Return the largest working set that fits the free huge pages, or why there is none."""
    pages = sum(
        pool.free for node in machine.nodes for pool in node.huge_pages if pool.page_bytes == pattern.page_bytes
    )
    if pages:
        # A power of two that fits the pool: the largest working set.
        return min(largest, 1 << (pages * pattern.page_bytes).bit_length() - 1), None
    kilobytes = pattern.page_bytes // KIB
    wanted = -(-largest // pattern.page_bytes)
    return 0, (
        f"no free huge pages of {format_bytes(pattern.page_bytes)}; reserve them with: "
        f"echo {wanted} > /sys/kernel/mm/hugepages/hugepages-{kilobytes}kB/nr_hugepages"
    )


def _why_fewer_sizes(spans: list[int], planned: list[int]) -> str:
    if len(spans) < len(planned):
        return "not measured: it exceeds half of the available memory"
    return "not measured: not enough free huge pages of this size"


def _fitting(spans: list[int], pattern: ChasePattern) -> list[int]:
    """Return the working sets that fit half of the available memory, which may have changed since the plan."""
    if pattern.page_bytes:
        return spans
    available = available_bytes(Allocation(pattern.pages)) // 2
    kept = [span for span in spans if span <= available]
    if not kept:
        raise RefusedError(f"not enough memory: {format_bytes(2 * available)} available, at most half of it is used")
    return kept
