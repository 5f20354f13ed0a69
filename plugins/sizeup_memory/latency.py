"""Load-to-use latency against working set."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from sizeup.errors import RefusedError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Refusal, Settings, Step
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus_or_tell
from sizeup.units import format_bytes
from sizeup_memory import binding, chase_patterns, cpu_selection, durations
from sizeup_memory.host_load import HostLoad, OthersUse, busy_caveats

NAME = "memory.latency"
_SMALLEST = 16 * chase_patterns.KIB
_STEPS_SHARE = 0.4
"""Of the time budget: for working sets where latency steps up."""
_DEFAULT_CACHE_BYTES = 32 << 20
"""Of the last level, where the kernel reports none."""
_KEPT_RING_BYTES = 256 * chase_patterns.MIB
_SMALL_POOL_BYTES = 32 * chase_patterns.MIB
"""Both as in ``latency.c``."""
_POPULATED_PER_SECOND = 1e9
"""Bytes: what a host needs that must first find the pages of its guest; other machines are faster."""
_PASS_SECONDS = 0.05
"""What each pass takes beside its replicates: it maps a pool of 32 MiB and starts a thread."""
_START_SECONDS = 0.3
"""The start of the worker, and the way back of its memory."""
_PAGE_BYTES = {
    binding.Pages.BASE: os.sysconf("SC_PAGE_SIZE"),
    binding.Pages.THP: 2 * chase_patterns.MIB,  # on x86, the only architecture that reports TLB sizes
    binding.Pages.HUGE2M: 2 * chase_patterns.MIB,
    binding.Pages.HUGE1G: 1024 * chase_patterns.MIB,
}


class _LatencySettings(binding.StopRule, frozen=True, kw_only=True):
    points: int
    sibling: int | None = None
    pattern: str
    planned_seconds: float
    cpu_node: int | None = None
    nodes: int
    largest: int
    working_sets: tuple[int, ...]
    levels: tuple[chase_patterns.Level, ...]
    levels_left_out: tuple[str, ...]
    cpu: int
    line_bytes: int
    last_level_cache_bytes: int
    guest: bool

    @property
    def chase(self) -> chase_patterns.ChasePattern:
        """The pattern of the pointer chase."""
        return chase_patterns.CHASE_PATTERNS[self.pattern]


class MemoryLatency:
    """Load-to-use latency against working set, one dependent load at a time."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan one step per access pattern."""
        for name in str(settings["patterns"]).split(","):
            try:
                yield _step(machine, settings, name.strip())
            except RefusedError as error:
                yield Refusal(f"{NAME}.{name.strip()}", NAME, str(error))

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure the planned working sets, then others where latency steps up, then state each level."""
        settings = _LatencySettings.of(step.settings)
        pattern, planned = settings.chase, settings.working_sets
        spans = _fitting(planned, pattern)
        if spans[-1] < settings.largest:
            why = "it exceeds half of the available memory"
            if len(spans) == len(planned):
                why = "not enough free huge pages of this size"
            yield Gap(f"{NAME}: {pattern.name} beyond {format_bytes(spans[-1])}", f"not measured: {why}")
        curve, levels, budget = _Curve(settings), settings.levels, settings.planned_seconds
        first = budget - _STEPS_SHARE * settings.budget_seconds
        yield from curve.measure(spans, first, context, first / budget)
        while not context.canceled:
            latencies = {span: one.value for span, one in curve.estimates.items()}
            wanted = chase_patterns.sizes_at_steps(latencies, levels, pattern, curve.tried)
            added, seconds, left = list[int](), 0.0, budget - curve.seconds
            for span in wanted[: max(0, settings.points - len(curve.tried))]:
                if (more := _seconds_of([*added, span], settings, pattern)) <= left:
                    added.append(span)
                    seconds = more
            if not added:
                break
            yield from curve.measure(added, seconds, context, min(1.0, (curve.seconds + seconds) / budget))
        if not pattern.level_series or context.canceled:
            return
        reported, estimates = any(level.name != chase_patterns.DRAM for level in levels), list(curve.estimates.items())
        for level in levels:
            estimate = chase_patterns.level_estimate(pattern.level_series, level, estimates, curve.conditions)
            if estimate is None:
                least = f"no working set of at least {format_bytes(level.least_bytes)} was measured"
                yield Gap(f"{NAME}: {level.name} latency of {pattern.name}", f"unknown: {least}")
            elif reported or level.name != chase_patterns.DRAM:
                yield estimate
            else:
                cache = format_bytes(settings.last_level_cache_bytes)
                unknown = f"the cache sizes of this CPU are unknown: {cache} was assumed for the last-level cache"
                yield replace(estimate, caveats=(*estimate.caveats, unknown))
        for reason in settings.levels_left_out:
            yield Gap(f"{NAME}: cache level", f"left out: {reason}")


class _Curve:
    """The working sets measured so far, and what was read beside them."""

    def __init__(self, settings: _LatencySettings) -> None:
        self._settings = settings
        self._caveats = leave_cpus_or_tell([settings.cpu])
        self._load, self._start_seconds = HostLoad(), time.monotonic()
        self._done = 0.0
        self.tried: list[int] = []
        self.estimates: dict[int, Estimate] = {}
        self._huge_shares: dict[int, float] = {}
        reach = binding.tlb_reach_bytes(_PAGE_BYTES[settings.chase.pages])
        self.conditions = chase_patterns.CurveConditions(OthersUse(), reach, self._huge_shares, guest=settings.guest)
        """What was read beside the latencies."""

    @property
    def seconds(self) -> float:
        """Return the time since the start."""
        return time.monotonic() - self._start_seconds

    def measure(self, spans: Sequence[int], seconds: float, context: Context, until: float) -> Iterator[Emission]:
        """Measure working sets, replicates interleaved; ``until`` is the share of the step done afterwards."""
        settings, pattern = self._settings, self._settings.chase
        self.tried += spans
        latency = binding.Latency(
            [
                binding.ChasePoint(
                    span_bytes=span,
                    stride_bytes=pattern.stride_bytes or settings.line_bytes,
                    block_bytes=min(span, pattern.block_bytes),
                    cpu=settings.cpu,
                    sibling=settings.sibling,
                    memory=binding.Allocation(pattern.pages),
                )
                for span in spans
            ],
            replace(settings, budget_seconds=seconds),
        )
        points = tuple(EstimatePoint(pattern.name, {"working_set_bytes": span}) for span in spans)
        job = binding.new_job()
        for emission in job.follow(latency.call(job), points, context):
            if isinstance(emission, Progress):  # of this pass
                left = max(0.0, settings.planned_seconds - self.seconds)
                timed = min(self.seconds / (self.seconds + left), 0.99)  # of noisy samples precision says less
                emission = Progress(max(timed, self._done + (until - self._done) * emission.done), left)  # noqa: PLW2901
            yield emission
        yield from job.gaps(points)
        self._done = until
        core_hz = self.conditions.core_hz or latency.core_hz
        self.conditions = replace(self.conditions, others=self._load.others(), core_hz=core_hz)
        reach_bytes = self.conditions.tlb_reach_bytes
        reach = {"tlb_reach_bytes": reach_bytes} if reach_bytes else {}
        for index, point, native in job.measured(points):
            placement = latency.placement(index)
            where, remote = cpu_selection.locality(placement, settings.cpu, settings.cpu_node, settings.nodes)
            caveats = (
                *self._caveats,
                *busy_caveats(self.conditions.others),
                *remote,
                *cpu_selection.page_caveats(pattern.pages, placement),
            )
            if pattern.pages is binding.Pages.THP:
                self._huge_shares[spans[index]] = placement.huge_share
            estimate = estimate_of(point, native, caveats, {"huge_page_share": placement.huge_share, **reach, **where})
            self.estimates[spans[index]] = estimate
            yield estimate


def _seconds_of(spans: Sequence[int], rule: binding.StopRule, pattern: chase_patterns.ChasePattern) -> float:
    """Return how long the least number of replicates of these working sets takes."""
    each, replicates = rule.replicate_seconds + rule.warm_up_seconds, rule.replicates_min
    kept = _kept_ring(spans, pattern)
    linked = sum(durations.linking_seconds(span) * (1 if span == kept else replicates) for span in spans)
    populated = _memory_bytes(spans, pattern) / _POPULATED_PER_SECOND
    return len(spans) * replicates * each + linked + populated + _PASS_SECONDS


def _kept_ring(spans: Sequence[int], pattern: chase_patterns.ChasePattern) -> int:
    """Return the working set whose ring stays from one replicate to the next, as ``latency.c`` decides; 0 if none."""
    most, second = (*sorted(spans, reverse=True), 0)[:2]
    return most if most >= max(_KEPT_RING_BYTES, 2 * second) and not pattern.page_bytes else 0


def _memory_bytes(spans: Sequence[int], pattern: chase_patterns.ChasePattern) -> int:
    """Return the memory that one pass maps beside the pool of small working sets."""
    kept = _kept_ring(spans, pattern)
    return kept + max((span for span in spans if span != kept), default=0)


def _step(machine: Machine, settings: Settings, name: str) -> Step:
    pattern = chase_patterns.CHASE_PATTERNS.get(name)
    if pattern is None:
        known = ", ".join(chase_patterns.CHASE_PATTERNS)
        raise RefusedError(f"expected patterns among {known}, found {name!r}")
    rule = binding.StopRule.of(settings)
    allowed = machine.allowed_cpus
    cache_bytes = machine.last_level_cache_bytes or _DEFAULT_CACHE_BYTES
    dram = chase_patterns.dram_level(cache_bytes, pattern)
    largest = int(settings["largest"]) or dram.least_bytes
    smallest = max(_SMALLEST, pattern.block_bytes)
    if largest < 2 * smallest:
        least = f"expected at least {format_bytes(2 * smallest)}, or 0 for four times the last-level cache"
        raise RefusedError(f"largest={largest}: {least}")
    cpu = int(settings["cpu"])
    if cpu < 0:
        cpu = cpu_selection.local_cpu(machine, largest, pattern.page_bytes)
    elif allowed and cpu not in allowed:
        raise RefusedError(f"cpu={cpu}: not among the CPUs that sizeup may use: {list(allowed)}")
    pool_bytes = _pool_bytes(machine, pattern, largest) if pattern.page_bytes else largest
    fitting = chase_patterns.floor(pool_bytes, pattern)
    levels, left_out = chase_patterns.cache_levels(machine, cpu, pattern)
    if levels:
        sizes = chase_patterns.sizes_inside([*levels, dram], pattern.block_bytes, fitting)
    else:
        sizes = chase_patterns.working_sets(smallest, fitting, int(settings["points"]))
    seconds = max(rule.budget_seconds, _seconds_of(sizes, rule, pattern) + _STEPS_SHARE * rule.budget_seconds)
    chosen = _LatencySettings.of(
        settings,
        sibling=next((pu for core in machine.cores if cpu in core.pus for pu in core.pus if pu != cpu), None),
        pattern=name,
        planned_seconds=round(seconds, 3),
        cpu_node=cpu_selection.node_of(machine, cpu),
        nodes=len(machine.nodes),
        largest=chase_patterns.floor(largest, pattern),
        working_sets=sizes,
        levels=(*levels, dram),
        levels_left_out=left_out,
        cpu=cpu,
        line_bytes=cpu_selection.line_bytes(machine),
        last_level_cache_bytes=cache_bytes,
        guest=bool(machine.platform.is_guest),
    )
    return Step(
        id=f"{NAME}.{name}",
        probe=NAME,
        title=f"Memory latency, {pattern.label}",
        settings=chosen.stored(),
        estimated_seconds=seconds + _START_SECONDS,
        # Populating and linking take time beyond the budget, on a slow machine several times as much.
        time_limit_seconds=10 * seconds + 60,
        touches=f"{format_bytes(max(_memory_bytes(sizes, pattern), _SMALL_POOL_BYTES))} of memory",
        cpus=(cpu,),
        axis_ranges={"working_set_bytes": (sizes[0], sizes[-1])},
    )


def _pool_bytes(machine: Machine, pattern: chase_patterns.ChasePattern, largest: int) -> int:
    """Return the largest working set that fits the free huge pages; raise RefusedError if there is none."""
    pages = sum(
        pool.free for node in machine.nodes for pool in node.huge_pages if pool.page_bytes == pattern.page_bytes
    )
    if pages:
        # A power of two that fits the pool: the largest working set.
        return min(largest, 1 << (pages * pattern.page_bytes).bit_length() - 1)
    kilobytes = pattern.page_bytes // chase_patterns.KIB
    wanted = -(-largest // pattern.page_bytes)
    raise RefusedError(
        f"no free huge pages of {format_bytes(pattern.page_bytes)}; reserve them with: "
        f"echo {wanted} > /sys/kernel/mm/hugepages/hugepages-{kilobytes}kB/nr_hugepages"
    )


def _fitting(spans: Sequence[int], pattern: chase_patterns.ChasePattern) -> Sequence[int]:
    """Return the working sets that fit half of the available memory, which may have changed since the plan."""
    if pattern.page_bytes:
        return spans
    available = binding.available_bytes(binding.Allocation(pattern.pages)) // 2
    kept = list(spans)
    while kept and _memory_bytes(kept, pattern) > available:
        kept.pop()
    if not kept:
        raise RefusedError(f"not enough memory: {format_bytes(2 * available)} available, at most half of it is used")
    return kept
