"""Random stores by 1 to N processes, as the Silly Little Benchmark, and how they scale."""

from __future__ import annotations

import json
import statistics
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence

from sizeup.errors import RefusedError
from sizeup.model.gap import Gap
from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, leave_cpus
from sizeup.units import format_bytes
from sizeup_memory.binding import Allocation, Hammer, HammerResult, Pages, new_job
from sizeup_memory.buffers import (
    SharedCache,
    bytes_per_thread,
    cache_caveats,
    cache_verdict,
    caches_from,
    caches_text,
    shared_caches,
)
from sizeup_memory.chase_patterns import working_sets
from sizeup_memory.cpu_selection import core_first_cpus, remote_caveat, without_memory
from sizeup_memory.durations import allocating_seconds, limit_seconds
from sizeup_memory.slb import PAGE_BYTES, ns_per_op, output_line, scaling, scaling_summary, too_short

NAME = "memory.hammer"
_SHARED_CPU_SHARE = 0.95
_CALIBRATION_LOOPS = 4
_CALIBRATION_GROWTH = 16
_CALIBRATION_US = 1000
_USUAL_PAGES = 131_072
"""512 MiB, the size that published results have."""
_MIN_PAGES = 16
_SAME_MOST_BYTES = 256 << 30
"""More takes minutes to allocate in base pages, once for each number of processes."""
_SATURATING = 16
"""Processes that may saturate the memory of a machine."""
_SECONDS = 0.5
"""Duration of a run with calibrated loops."""


class MemoryHammer:
    """Random-store throughput of 1, 2, 4 ... N processes, each on its own CPU with its own memory."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan one step with every number of processes, interleaved."""
        cpus = core_first_cpus(machine) or (0,)
        counts = [count for count in working_sets(1, len(cpus), 64) if count < len(cpus)] + [len(cpus)]
        chosen = int(settings["pages"])
        if 0 < chosen < _MIN_PAGES:
            yield Refusal(NAME, NAME, f"pages={chosen}: expected at least {_MIN_PAGES}, or 0 to exceed the L3")
            return
        caches = shared_caches(machine, cpus)
        pages = [chosen or _pages(caches, cpus[:count], machine.memory_available_bytes) for count in counts]
        same = max(pages) * len(cpus) * PAGE_BYTES
        if same <= min(_SAME_MOST_BYTES, (machine.memory_available_bytes or 0) // 2):
            pages = [max(pages)] * len(pages)  # S(n) needs it: a store takes longer in more memory
        # The number of stores per process is fixed: they take longer once the memory is saturated.
        once = sum(
            allocating_seconds([each * PAGE_BYTES] * count) + _SECONDS * max(1, count / _SATURATING)
            for count, each in zip(counts, pages, strict=True)
        )
        seconds = 2 * _SECONDS + int(settings["replicates"]) * once
        most = max(count * each for count, each in zip(counts, pages, strict=True))
        yield Step(
            id=NAME,
            probe=NAME,
            title="Random stores, 1 to N processes",
            settings={
                **settings,
                "without_memory": json.dumps(without_memory(machine, cpus)),
                "cpus": json.dumps(cpus),
                "processes": json.dumps(counts),
                "pages_by_processes": json.dumps(pages),
                "caches": caches_text(caches),
            },
            estimated_seconds=seconds,
            time_limit_seconds=limit_seconds(seconds),
            hazards=(Hazard.CPU_LOAD, Hazard.MEMORY),
            touches=f"{format_bytes(most * PAGE_BYTES)} of memory",
            cpus=cpus,
            axis_ranges={"processes": (1, len(cpus))},
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure all numbers of processes in rounds, and summarize the scaling."""
        cpus: list[int] = json.loads(str(step.settings["cpus"]))
        counts: list[int] = json.loads(str(step.settings["processes"]))
        pages: dict[int, int] = dict(zip(counts, json.loads(str(step.settings["pages_by_processes"])), strict=True))
        caveats = () if leave_cpus(cpus) else ("the console shared a CPU with the measurement",)
        remote_cpus: list[int] = json.loads(str(step.settings["without_memory"]))
        runs: dict[int, list[tuple[HammerResult, ...]]] = {count: [] for count in counts}
        loops = int(step.settings["loops"])
        ops = 0 if loops else pages[counts[0]] * _calibrated_loops(pages[counts[0]], cpus[0], context)
        rounds = int(step.settings["replicates"])
        for number in range(rounds):
            for count in list(runs):
                if context.canceled:
                    return
                hammer = Hammer(
                    pages[count], loops or max(1, ops // pages[count]), cpus[:count], Allocation(Pages.BASE)
                )
                points = tuple(EstimatePoint("random-store", {"processes": count}) for _ in range(count))
                job = new_job()
                try:
                    yield from job.follow(hammer.call(job), points, context)
                except RefusedError as error:
                    yield Gap(f"{NAME}: {count} processes", str(error))
                    del runs[count]
                    continue
                if context.canceled:
                    return
                results = hammer.results()
                if not all(one.wall_us for one in results):
                    raise RefusedError(too_short(results[0].ops))
                runs[count].append(results)
            yield Progress((number + 1) / rounds)
        measured = {count: results for count, results in runs.items() if results}
        if not measured:
            raise RefusedError("not enough memory available, even for one process")
        caches = caches_from(str(step.settings["caches"]))
        cache_notes: dict[int, list[str]] = {}
        cached_counts: set[int] = set()
        for count in measured:
            each = pages[count] * PAGE_BYTES
            cache_notes[count], cached = cache_caveats(caches, [dict.fromkeys(cpus[:count], each)], "stores")
            if cached:
                cached_counts.add(count)
                yield cache_verdict({"processes": count}, cache_notes[count])
        totals = yield from _estimates(measured, caveats, cache_notes, {cpus.index(cpu): cpu for cpu in remote_cpus})
        if 1 in cached_counts:
            yield Gap(f"{NAME}: scaling", f"S(n) is relative to one process: {'; '.join(cache_notes[1])}")
        elif len({pages[count] for count in measured}) > 1:
            sizes = " to ".join(format_bytes(size(pages.values()) * PAGE_BYTES) for size in (min, max))
            reason = f"processes had {sizes} each, more with fewer processes, to exceed the L3; S(n) needs one size"
            yield Gap(f"{NAME}: scaling", f"{reason}: set pages")
        elif 1 in totals:
            yield from _scaling(totals)


def _pages(caches: Sequence[SharedCache], cpus: Collection[int], available: int | None) -> int:
    """Return the pages of each process: 512 MiB, or what the caches need if that is more and fits."""
    least = max(bytes_per_thread(caches, cpus).values())
    fits = available is None or least * len(cpus) <= available // 2
    return max(_USUAL_PAGES, least // PAGE_BYTES) if fits else _USUAL_PAGES


def _calibrated_loops(pages: int, cpu: int, context: Context) -> int:
    """Return the loops with which one process takes half a second."""
    loops = _CALIBRATION_LOOPS
    while True:
        job = new_job()
        hammer = Hammer(pages, loops, [cpu], Allocation(Pages.BASE))
        for _ in job.follow(hammer.call(job), (EstimatePoint("random-store", {"processes": 1}),), context):
            pass
        (result,) = hammer.results()
        if result.wall_us >= _CALIBRATION_US or context.canceled:
            return max(1, round(loops * _SECONDS * 1e6 / max(1, result.wall_us)))
        loops *= _CALIBRATION_GROWTH


def _estimates(
    runs: dict[int, list[tuple[HammerResult, ...]]],
    caveats: tuple[str, ...],
    cache_notes: Mapping[int, Sequence[str]],
    remote_cpus: dict[int, int],
) -> Generator[Estimate, None, dict[int, float]]:
    """Yield the figures of each number of processes, and return the throughput of each.

    ``remote_cpus``: CPUs without local memory, by their position.
    """
    totals: dict[int, float] = {}
    for count, results in runs.items():
        point_caveats = (*caveats, *cache_notes[count])
        remote = [cpu for place, cpu in remote_cpus.items() if place < count]
        if remote:
            point_caveats += (remote_caveat(remote),)
        share = min(one.cpu_share for result in results for one in result)
        if share < _SHARED_CPU_SHARE:
            point_caveats += (
                f"a process had its CPU for only {share:.0%} of the time: the figure includes waiting for the CPU",
            )
        costs = [ns_per_op(one.ops, one.wall_us) for result in results for one in result]
        rates = [sum(one.ops_per_second for one in result) for result in results]
        totals[count] = statistics.median(rates)
        last = results[-1]
        yield Estimate(
            "random-store",
            {"processes": count},
            statistics.median(costs),
            replicates=len(results),
            minimum=min(costs),
            caveats=point_caveats,
            extra={
                "line": output_line(last[0].ops, last[0].wall_us),
                "start_spread_ns": max(one.start_ns for one in last) - min(one.start_ns for one in last),
                "cpu_share": share,
                "cpus": ",".join(str(one.cpu) for one in last),
            },
        )
        yield Estimate(
            "throughput",
            {"processes": count},
            totals[count],
            low=min(rates),
            high=max(rates),
            replicates=len(results),
            caveats=point_caveats,
        )
    return totals


def _scaling(totals: Mapping[int, float]) -> Iterator[Estimate]:
    """Yield the speedup of each number of processes over one, with a summary at the last."""
    speedups = scaling(totals)
    most = max(speedups)
    for count, speedup in speedups.items():
        finding = {"statement": scaling_summary(speedups)} if count == most > 1 else {}
        yield Estimate("scaling", {"processes": count}, speedup, extra=finding)
