"""Latency of a cache line transfer between CPUs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import combinations

from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.model.sample import Samples
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus
from sizeup_memory.binding import Handoff, Pair, new_job
from sizeup_memory.cpu_selection import core_first_cpus, memory_nodes
from sizeup_memory.latency import invalid_replicates, stop_rule
from sizeup_memory.numa import COPIED

NAME = "memory.core-to-core"
_MAX_PAIRS = 780
"""All pairs of 40 CPUs; a larger machine is sampled evenly."""
_MODE_RATIO = 1.5
_MIN_MODE_SHARE = 0.1


class CoreToCore:
    """Every pair of CPUs transfers a new cache line back and forth; the figure is half a round trip."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan one step with all pairs, interleaved."""
        cpus = _sampled(core_first_cpus(machine), int(settings["max_cpus"]))
        if len(cpus) < 2:
            yield Refusal(NAME, NAME, "needs at least two CPUs")
            return
        reason = invalid_replicates(settings)
        if reason:
            yield Refusal(NAME, NAME, reason)
            return
        budget = float(settings["budget"])
        yield Step(
            id=NAME,
            probe=NAME,
            title="Core-to-core latency",
            settings={
                **{key: settings[key] for key in COPIED},
                "pairs": json.dumps(_pairs(machine, cpus)),
                "cpus": json.dumps(cpus),
            },
            estimated_seconds=budget,
            time_limit_seconds=10 * budget + 60,
            hazards=(Hazard.CPU_LOAD,),
            touches="2 MiB of memory on each node",
            cpus=cpus,
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure all pairs, and report pairs whose samples have two modes."""
        pairs = [Pair(*pair) for pair in json.loads(str(step.settings["pairs"]))]
        caveats = () if leave_cpus(json.loads(str(step.settings["cpus"]))) else ("the console shared these CPUs",)
        points = tuple(
            EstimatePoint(
                "handoff",
                {"cpu": pair.cpu, "partner": pair.partner, **({} if pair.home is None else {"home_node": pair.home})},
            )
            for pair in pairs
        )
        handoff = Handoff(pairs, stop_rule(step.settings, batch_seconds=0.0002))
        job = new_job()
        seen: dict[str, list[float]] = {}
        for emission in job.follow(handoff.call(job), points, context):
            if isinstance(emission, Samples):
                seen.setdefault(str(emission.at), []).extend(emission.values)
            yield emission
        yield from job.gaps(points)
        for _, point, native in job.measured(points):
            modes = two_modes(seen.get(str(point.at), ()))
            if modes is None:
                yield estimate_of(point, native, caveats)
                continue
            low, high = modes
            moved = f"two modes, {low:.0f} and {high:.0f} ns, as if a hypervisor migrates CPUs"
            yield estimate_of(point, native, (*caveats, moved), {"mode_low_ns": low, "mode_high_ns": high})


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


def _sampled(cpus: tuple[int, ...], most: int) -> tuple[int, ...]:
    if len(cpus) <= most:
        return cpus
    return tuple(cpus[round(index * (len(cpus) - 1) / (most - 1))] for index in range(most))


def _pairs(machine: Machine, cpus: tuple[int, ...]) -> list[tuple[int, int, int | None]]:
    """Return each pair once; on several nodes with the line on either node, and for some pairs on a third one."""
    nodes = memory_nodes(machine)
    node_of = {cpu: node.os_id for node in nodes for cpu in node.pus}
    pairs: list[tuple[int, int, int | None]] = []
    for cpu, partner in combinations(cpus, 2):
        homes = {node_of[one] for one in (cpu, partner) if one in node_of} if len(nodes) > 1 else set()
        if len(homes) == 2:
            homes |= {node.os_id for node in nodes if node.os_id not in homes and len(pairs) < _MAX_PAIRS // 2}
        pairs += [(cpu, partner, home) for home in sorted(homes)] or [(cpu, partner, None)]
    return pairs[:_MAX_PAIRS]
