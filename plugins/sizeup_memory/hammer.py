"""Random stores by 1 to N processes, as the Silly Little Benchmark, and how they scale.

The operation is a store to a random line, independent of the previous one: it measures random-store throughput, not
load-to-use latency.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from sizeup.errors import RefusedError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Settings, Step
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, leave_cpus_or_tell
from sizeup.units import as_percent, format_bytes
from sizeup_memory import buffers, cpu_selection, durations
from sizeup_memory.binding import Allocation, Hammer, HammerResult, Pages, StepSettings, measure

NAME = "memory.hammer"
_SHARED_CPU_SHARE = 0.95
_LEAST_NS = 0.1
"""Per store: less than any machine takes."""
_STORE_NS = 50
"""For the estimate with loops that were set; 10 to 60 on one process, more on many that saturate the memory."""
_LINKED_SIZES = 2
_CALIBRATION_LOOPS = 4
_CALIBRATION_GROWTH = 16
_CALIBRATION_US = 1000
_USUAL_PAGES = 131_072
"""512 MiB, the size that published results have."""
_MIN_PAGES = 16
_SAME_MOST_BYTES = 256 << 30
"""More takes long to allocate in base pages, once for each number of processes."""
_SECONDS = 0.5
"""Duration of a run unless loops are set."""
_SLOWER = 1.5
"""The first run with more processes may take twice as long as one with fewer, which its stores are counted by."""
PAGE_BYTES = 4096
"""The page size of the original, on any machine."""
_NO_GAIN = 1.1
"""A smaller speedup is within the variation of repeated runs."""
_SCALES = 0.9


class HammerPoint(Struct, frozen=True, array_like=True):
    """A number of processes and the pages of each."""

    processes: int
    pages: int


class _HammerSettings(StepSettings, frozen=True, kw_only=True):
    pages: int
    loops: int
    replicates: int
    without_memory: tuple[int, ...]
    cpus: tuple[int, ...]
    series: tuple[HammerPoint, ...]
    caches: tuple[buffers.SharedCache, ...]


class MemoryHammer:
    """Random-store throughput of 1, 2, 4 ... N processes, each on its own CPU with its own memory."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step]:
        """Plan one step with every number of processes, interleaved."""
        cpus = cpu_selection.core_first_cpus(machine) or (0,)
        counts = cpu_selection.thread_counts(len(cpus))
        chosen = int(settings["pages"])
        if 0 < chosen < _MIN_PAGES:
            raise RefusedError(f"pages={chosen}: expected at least {_MIN_PAGES}, or 0 to exceed the L3")
        caches = buffers.shared_caches(machine, cpus)
        if chosen:
            series = [HammerPoint(count, chosen) for count in counts]
        else:
            series = _series(caches, cpus, counts, machine.memory_available_bytes)
        node_of = {cpu: node.os_id for node in machine.nodes for cpu in node.pus}
        loops = int(settings["loops"])
        once = sum(
            durations.allocating_seconds(
                [one.pages * PAGE_BYTES] * one.processes, nodes=len({node_of.get(cpu) for cpu in cpus[: one.processes]})
            )
            + durations.PROCESS_SECONDS * one.processes
            + (loops * one.pages * _STORE_NS / 1e9 if loops else _SECONDS)
            for one in series
        )
        seconds = durations.starting_seconds() + int(settings["replicates"]) * once
        if not loops:
            seconds += durations.allocating_seconds([series[0].pages * PAGE_BYTES])
            seconds += (_SLOWER - 1) * _SECONDS * len(series)
        most = max(one.processes * one.pages for one in series)
        without = cpu_selection.without_memory(machine, cpus)
        measured = _HammerSettings.of(settings, without_memory=without, cpus=cpus, series=series, caches=caches)
        touches, axes = f"{format_bytes(most * PAGE_BYTES)} of memory", {"processes": (1, len(cpus))}
        yield durations.step(
            NAME, "Random stores, 1 to N processes", measured, seconds, touches, cpus, axis_ranges=axes
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure all numbers of processes in rounds, and summarize the scaling."""
        settings = _HammerSettings.of(step.settings)
        cpus, series, loops = settings.cpus, settings.series, settings.loops
        caveats = leave_cpus_or_tell(cpus)
        runs: dict[HammerPoint, list[tuple[HammerResult, ...]]] = {one: [] for one in series}
        store_ns = 0.0 if loops else _calibrated_ns(series[0].pages, cpus[0], context)
        took_ns: dict[HammerPoint, float] = {}
        for number in range(settings.replicates):
            for one in list(runs):
                if context.canceled:
                    return
                # A store takes longer once the memory is saturated: fewer of them take as long.
                store_ns = took_ns.get(one, store_ns)
                usual_loops = max(1, round(_SECONDS * 1e9 / max(store_ns, _LEAST_NS) / one.pages))
                hammer = Hammer(one.pages, loops or usual_loops, cpus[: one.processes], Allocation(Pages.BASE))
                points = (EstimatePoint("random-store", {"processes": one.processes}),) * one.processes
                try:
                    yield from measure(hammer, points, context)
                except RefusedError as error:
                    yield Gap(f"{NAME}: {one.processes} processes", str(error))
                    del runs[one]
                    continue
                if context.canceled:
                    return
                results = hammer.results()
                if not all(result.wall_us for result in results):
                    raise RefusedError(too_short(results[0].ops))
                store_ns = took_ns[one] = max(result.ns_per_op for result in results)
                runs[one].append(results)
            yield Progress((number + 1) / settings.replicates)
        measured = {one: results for one, results in runs.items() if results}
        if not measured:
            raise RefusedError("not enough memory available, even for one process")
        # Where a number of processes ran with two sizes, the smaller one is its figure, as of the larger numbers.
        shown = {one.processes: one for one in sorted(measured, key=lambda one: (one.processes, -one.pages))}
        from_cache: dict[int, list[str]] = {}
        for count, one in sorted(shown.items()):
            memory = dict.fromkeys(cpus[:count], one.pages * PAGE_BYTES)
            cache_notes, cached = buffers.cache_caveats(settings.caches, [memory], "stores")
            if cached:
                from_cache[count] = cache_notes
                yield from buffers.cache_verdict({"processes": count}, cache_notes)
            remote = cpu_selection.remote_caveats([cpu for cpu in cpus[:count] if cpu in settings.without_memory])
            yield from _estimates(one, measured[one], (*caveats, *cache_notes, *remote))
        if 1 in from_cache:
            yield Gap(f"{NAME}: scaling", f"S(n) is relative to one process: {'; '.join(from_cache[1])}")
        elif 1 in shown:
            yield from scaling({one: _total(results) for one, results in measured.items()})


def _series(
    caches: Sequence[buffers.SharedCache], cpus: Sequence[int], counts: Sequence[int], available: int | None
) -> list[HammerPoint]:
    """Return the pages of each number of processes: 512 MiB, or what the caches need if that is more and fits.

    S(n) needs one size, as a store takes longer in more memory. If all processes cannot have that of one process,
    a number of them runs with two sizes, and links the numbers below with those above.
    """
    half = None if available is None else available // 2
    least = dict.fromkeys(counts, _USUAL_PAGES)
    for count in counts:
        each = max(buffers.bytes_per_thread(caches, cpus[:count]).values())
        if half is None or each * count <= half:
            least[count] = max(_USUAL_PAGES, each // PAGE_BYTES)
    most = max(least.values())

    def fits(some: Sequence[HammerPoint], limit: int | None) -> bool:
        return limit is None or max(one.processes * one.pages for one in some) * PAGE_BYTES <= limit

    same = [HammerPoint(count, most) for count in counts]
    if fits(same, half) and fits(same, _SAME_MOST_BYTES):
        return same
    linked = []
    for at, link in enumerate(counts):
        above = max(least[count] for count in counts[at:])
        some = [HammerPoint(count, most) for count in counts[: at + 1]] + [
            HammerPoint(count, above) for count in counts[at:]
        ]
        if above < most and link > 1 and fits(some, half):
            linked.append(some)
    if linked:
        return min(linked, key=lambda some: sum(one.processes * one.pages for one in some))
    return [HammerPoint(count, least[count]) for count in counts]


def _calibrated_ns(pages: int, cpu: int, context: Context) -> float:
    """Return the nanoseconds of a store by one process."""
    loops = _CALIBRATION_LOOPS
    while True:
        hammer = Hammer(pages, loops, [cpu], Allocation(Pages.BASE))
        for _ in measure(hammer, (EstimatePoint("random-store", {"processes": 1}),), context):
            pass
        (result,) = hammer.results()
        if result.wall_us >= _CALIBRATION_US or context.canceled:
            return result.ns_per_op
        loops *= _CALIBRATION_GROWTH


def _estimates(
    series: HammerPoint, results: Sequence[tuple[HammerResult, ...]], caveats: tuple[str, ...]
) -> Iterator[Estimate]:
    """Yield cost and throughput of a number of processes."""
    share = min(one.cpu_share for result in results for one in result)
    if share < _SHARED_CPU_SHARE:
        shared = (
            f"a process had its CPU for only {as_percent(share)} of the time: the figure includes waiting for the CPU"
        )
        caveats = (*caveats, shared)
    costs = [one.ns_per_op for result in results for one in result]
    rates, last, count = _rates(results), results[-1], len(results)
    at = {"processes": series.processes}
    extra: dict[str, str | int | float] = {
        "pages": series.pages,
        "line": output_line(last[0]),
        "start_spread_ns": max(one.start_ns for one in last) - min(one.start_ns for one in last),
        "cpu_share": share,
        "cpus": ",".join(str(one.cpu) for one in last),
    }
    cost, least = statistics.median(costs), min(costs)
    yield Estimate("random-store", at, cost, replicates=count, minimum=least, caveats=caveats, extra=extra)
    yield Estimate("throughput", at, _total(results), min(rates), max(rates), count, caveats=caveats)


def _rates(results: Iterable[tuple[HammerResult, ...]]) -> list[float]:
    """Return the throughput of all processes together in each run."""
    return [sum(one.ops_per_second for one in result) for result in results]


def _total(results: Iterable[tuple[HammerResult, ...]]) -> float:
    return statistics.median(_rates(results))


def scaling(totals: Mapping[HammerPoint, float]) -> Iterator[Estimate | Gap]:
    """Yield the speedup of each number of processes over one, with a summary at the last."""
    first = min(totals, key=lambda one: (one.processes, -one.pages))
    speedups = {one.processes: total / totals[first] for one, total in totals.items() if one.pages == first.pages}
    others = {one.processes: total for one, total in totals.items() if one.pages != first.pages}
    link = min(others, default=0)
    caveats: dict[int, tuple[str, ...]] = {}
    if others and (link not in speedups or len({one.pages for one in totals}) > _LINKED_SIZES):
        sizes = " to ".join(format_bytes(size(one.pages for one in totals) * PAGE_BYTES) for size in (min, max))
        reason = f"processes had {sizes} each, more with fewer processes, to exceed the L3; S(n) needs one size"
        yield Gap(f"{NAME}: scaling", f"{reason}: set pages")
        return
    for count, total in others.items():
        speedups[count] = speedups[link] * total / others[link]
        least = min(one.pages for one in totals)
        both = f"{format_bytes(first.pages * PAGE_BYTES)} and {format_bytes(least * PAGE_BYTES)}"
        if count > link:
            caveats[count] = (f"by way of {link} processes that ran with {both} each: not all can have as much as one",)
    most = max(speedups)
    for count, speedup in sorted(speedups.items()):
        finding = {"statement": scaling_summary(speedups)} if count == most > 1 else {}
        yield Estimate("scaling", {"processes": count}, speedup, caveats=caveats.get(count, ()), extra=finding)


def too_short(ops: int) -> str:
    """Return the error for a run that was too short for gettimeofday."""
    return f"{ops} stores took less than 1 us, too short to be timed; increase pages or loops"


def output_line(result: HammerResult) -> str:
    """Return the output line of ``memhammer``, as of the original."""
    return (
        f"Total ops {result.ops}  Avg nsec/op {result.ns_per_op:7.1f}  "
        f"gettimeofday usec {result.wall_us} TPUT ops/sec {result.ops_per_second:.1f}"
    )


def scaling_summary(speedups: Mapping[int, float]) -> str:
    """Return a one-sentence summary of S(n)."""
    most = max(speedups)
    best = max(speedups.values())
    if best < _NO_GAIN:
        return f"one process already saturates memory: S({most}) = {speedups[most]:.3f}"
    if speedups[most] >= _SCALES * most:
        return f"memory scales with the processes: S({most}) = {speedups[most]:.2f} of {most}"
    enough = min(processes for processes, gain in speedups.items() if gain >= _SCALES * best)
    return f"{enough} of {most} processes reach nine tenths of the most, S({enough}) = {speedups[enough]:.2f}"
