"""Latency of a cache line transfer between CPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sizeup.errors import RefusedError
from sizeup.model.cpu_pairs import MIN_PAIRS, CpuPair, CpuPairs, cpu_pairs
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Settings, Step
from sizeup.model.sample import Samples
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus_or_tell
from sizeup_memory.binding import MAX_POINTS, Handoff, Pair, StopRule, new_job
from sizeup_memory.cpu_selection import memory_nodes
from sizeup_memory.durations import rounds_seconds, starting_seconds

NAME = "memory.core-to-core"
_BATCH_SECONDS = 0.0002
_STEP_SECONDS = 600.0
"""The longest time limit of the step, as in the manifest."""
_MARGIN = 2.0
"""Time limit over the estimate to which pairs are added."""
_REPLICATE_SECONDS, _REPLICATE_SECONDS_PER_CPU = 0.001, 0.00001
"""Time of a replicate beside its batches: it starts a thread, and reads /proc/stat, which is long on many CPUs."""
_MODE_RATIO = 1.5
_MIN_MODE_SHARE = 0.1


class _Line(Pair, frozen=True, array_like=True):
    """A pair of CPUs with its class."""

    shares: str = ""


class _CoreToCoreSettings(StopRule, frozen=True, kw_only=True):
    batch_seconds: float = _BATCH_SECONDS
    pairs: tuple[_Line, ...]
    pairs_by_class: dict[str, int]
    """How many there are, measured or not."""
    cpus: tuple[int, ...]


class CoreToCore:
    """Pairs of CPUs transfer a new cache line back and forth; the figure is half a round trip."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step]:
        """Plan one step with all pairs, or with a sample of each class of pairs, interleaved."""
        if len(machine.allowed_cpus) < 2:
            raise RefusedError("needs at least two CPUs")
        rule = StopRule.of(settings)
        replicate_seconds = rule.replicate_seconds + rule.warm_up_seconds + _BATCH_SECONDS
        replicate_seconds += _REPLICATE_SECONDS + _REPLICATE_SECONDS_PER_CPU * len(machine.pus)
        usual_limit = min(10 * rule.budget_seconds + 60, _STEP_SECONDS)
        fitting = int(usual_limit / _MARGIN / (rule.replicates_min * replicate_seconds))
        pairs = cpu_pairs(machine)
        lines = _sampled(machine, pairs, min(fitting, MAX_POINTS))
        estimate = starting_seconds() + rounds_seconds(len(lines) * replicate_seconds, rule)
        cpus = tuple(sorted({cpu for line in lines for cpu in (line.cpu, line.partner)}))
        totals = {shares.value: total for shares, total in pairs.totals.items()}
        yield Step(
            id=NAME,
            probe=NAME,
            title="Core-to-core latency",
            settings=_CoreToCoreSettings.of(settings, pairs=lines, pairs_by_class=totals, cpus=cpus).stored(),
            estimated_seconds=estimate,
            time_limit_seconds=usual_limit,
            touches="2 MiB of memory on each node",
            cpus=cpus,
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure all pairs, and report pairs whose samples have two modes."""
        settings = _CoreToCoreSettings.of(step.settings)
        lines = settings.pairs
        caveats = leave_cpus_or_tell(settings.cpus)
        measured = Counter(shares for _, _, shares in {(line.cpu, line.partner, line.shares) for line in lines})
        # A pair may have needed one or two more than there was room for.
        full = len(lines) > MAX_POINTS - 2
        limit = f"at most {MAX_POINTS:,} measurements fit one step"
        limit = limit if full else "all would exceed the time limit of the step"
        remedy = "" if full else ". A larger budget or fewer replicates measure more pairs"
        for shares, total in settings.pairs_by_class.items():
            if measured[shares] < total:
                yield Gap(
                    f"{NAME}: {total - measured[shares]:,} of {total:,} pairs of CPUs ({shares})",
                    f"not measured: {limit}. {measured[shares]:,} were measured, spread over the machine{remedy}",
                )
        points = tuple(
            EstimatePoint(
                "handoff",
                {"cpu": line.cpu, "partner": line.partner, **({} if line.home is None else {"home_node": line.home})},
            )
            for line in lines
        )
        job, handoff = new_job(), Handoff(lines, settings)
        seen: dict[str, list[float]] = {}
        for emission in job.follow(handoff.call(job), points, context):
            if isinstance(emission, Samples):
                seen.setdefault(str(emission.at), []).extend(emission.values)
            yield emission
        yield from job.gaps(points)
        for index, point, native in job.measured(points):
            extra: dict[str, str | int | float] = {"shares": lines[index].shares}
            modes = two_modes(seen.get(str(point.at), ()))
            if modes is None:
                yield estimate_of(point, native, caveats, extra)
                continue
            low, high = modes
            moved = f"two modes, {low:.0f} and {high:.0f} ns, as if a hypervisor migrates CPUs"
            yield estimate_of(point, native, (*caveats, moved), {**extra, "mode_low_ns": low, "mode_high_ns": high})


_Homes = tuple[CpuPair, list[int | None]]
"""A pair, and the nodes on which its line is."""


def two_modes(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the medians of two clearly separate groups of samples, each a tenth or more; None for one group.

    The groups are divided at the widest relative gap between sorted neighbors, away from both ends.
    """
    ordered = sorted(values)
    least = max(2, round(len(ordered) * _MIN_MODE_SHARE))
    if len(ordered) < 2 * least + 1:
        return None
    cut = max(range(least, len(ordered) - least + 1), key=lambda at: ordered[at] / ordered[at - 1])
    below, above = ordered[:cut], ordered[cut:]
    low, high = below[len(below) // 2], above[len(above) // 2]
    # A single wide group has a widest gap too, but a small one.
    distinct = high / low >= _MODE_RATIO and ordered[cut] / ordered[cut - 1] >= 1 + (_MODE_RATIO - 1) / 4
    return (low, high) if distinct else None


def _sampled(machine: Machine, pairs: CpuPairs, most: int) -> list[_Line]:
    """Return up to ``most`` lines, yet no class of pairs with fewer than ``MIN_PAIRS`` unless no more exist.

    With several nodes, the line of a pair is on the node of each CPU, and where there is room also on a third one.
    """
    nodes = [node.os_id for node in memory_nodes(machine)]
    node_of = {cpu: node.os_id for node in memory_nodes(machine) for cpu in node.pus}
    taken: list[_Homes] = []
    lines, of_class = 0, Counter[str]()
    for pair in pairs.in_sample_order():
        homes: list[int | None] = [*sorted({node_of[cpu] for cpu in (pair.cpu, pair.partner) if cpu in node_of})]
        if len(nodes) < 2 or not homes:
            homes = [None]
        if lines + len(homes) > most and of_class[pair.shares.value] >= MIN_PAIRS:
            break
        taken.append((pair, homes))
        lines += len(homes)
        of_class[pair.shares.value] += 1
    if len(taken) < sum(pairs.totals.values()):
        taken = _with_a_free_core(machine, taken)
        lines = sum(len(homes) for _, homes in taken)
    for index, (_, homes) in enumerate(entry for entry in taken if len(entry[1]) == 2):
        others = [node for node in nodes if node not in homes]
        if others and lines < most:
            homes.append(others[index % len(others)])
            lines += 1
    found = [
        _Line(min(pair.cpu, pair.partner), max(pair.cpu, pair.partner), home, pair.shares.value)
        for pair, homes in taken
        for home in homes
    ]
    return sorted(found, key=lambda line: (line.cpu, line.partner))


def _with_a_free_core(machine: Machine, taken: list[_Homes]) -> list[_Homes]:
    """Return a sample without the core that has the fewest pairs if no other one is free: the console runs there."""
    pairs_of = Counter(cpu for pair, _ in taken for cpu in (pair.cpu, pair.partner))
    if len(pairs_of) < len(machine.allowed_cpus):
        return taken
    rarest = min(pairs_of, key=lambda cpu: (pairs_of[cpu], -cpu))
    free = {rarest}.union(*(core.pus for core in machine.cores if rarest in core.pus))
    kept = [(pair, homes) for pair, homes in taken if free.isdisjoint((pair.cpu, pair.partner))]
    before, after = (Counter(pair.shares for pair, _ in pairs) for pairs in (taken, kept))
    return kept if all(after[shares] >= min(before[shares], MIN_PAIRS) for shares in before) else taken
