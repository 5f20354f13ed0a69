"""Resolution of clocks, backward steps, and offsets between CPUs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice

from sizeup.errors import RefusedError
from sizeup.model.cpu_pairs import PairClass, cpu_pairs_with
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Settings, Step
from sizeup.model.sample import Coordinates, Estimate, Progress
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, leave_cpus
from sizeup_clock.binding import OrderingJob, Rates, is_counter, measure_rates, methods, new_job, readable, steps

NAME = "clock.skew"
_COMPARED = ("rdtsc", "cntvct", "lfence-rdtsc", "isb-cntvct", "rdtscp", "clock_gettime-monotonic")
"""Compared between CPUs; the first two may step backwards without a defect."""
_ALONE_READS, _PAIR_READS = 200_000, 20_000
"""Maximum reads of a clock on one CPU, and on each further pair of CPUs."""
_SECONDS_PER_READ = {PairClass.REMOTE: 2e-7, PairClass.SAME_PACKAGE: 1e-7}
_SECONDS_PER_NEAR_READ, _SECONDS_PER_PARTNER = 2e-8, 0.02
"""For the estimate: a read of a line that the other CPU has just written, and a pair with its exchanges."""
_START_SECONDS, _SECONDS_PER_READ_ALONE = 0.15, 5e-8
"""Until the worker measures, and a read on one CPU, on average of all clocks."""
_UNFENCED = ("rdtsc", "cntvct")
_SKEW_METHODS = ("lfence-rdtsc", "isb-cntvct", "clock_gettime-monotonic")
"""The first of these that exists is compared on every pair."""


class ClockSkew:
    """Resolution and smallest step on one CPU; order and offset between CPUs."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step]:
        """Plan one step; with a single CPU it measures only what one CPU can."""
        allowed = machine.allowed_cpus or (0,)
        # The first one shares least with the CPU: an offset is most likely there, so most reads are of that pair.
        order = cpu_pairs_with(machine, allowed[0]).in_sample_order() if machine.allowed_cpus else ()
        pairs = tuple(islice(order, int(settings["partners"])))
        partners = tuple(pair.partner for pair in pairs)
        reads = int(settings["reads"])
        names = methods()
        estimate = _START_SECONDS + len(names) * min(reads, _ALONE_READS) * _SECONDS_PER_READ_ALONE
        seconds_per_read = [_SECONDS_PER_READ.get(pair.shares, _SECONDS_PER_NEAR_READ) for pair in pairs]
        if seconds_per_read:
            estimate += sum(name in names for name in _COMPARED) * reads * seconds_per_read[0]
        estimate += sum(_SECONDS_PER_PARTNER + min(reads, _PAIR_READS) * each for each in seconds_per_read)
        cpus, allowed_set = {allowed[0], *partners}, set(machine.allowed_cpus)
        groups = [(f"node {node.os_id}", allowed_set.intersection(node.pus)) for node in machine.nodes]
        groups += [(f"package {at}", allowed_set.intersection(one.pus)) for at, one in enumerate(machine.packages)]
        missed = [name for name, members in groups if members and not cpus & members]
        yield Step(
            id=NAME,
            probe=NAME,
            title="Clock resolution and skew",
            settings={
                "cpu": allowed[0],
                "partners": json.dumps(partners),
                "reads": reads,
                "not_compared": json.dumps(missed),
            },
            estimated_seconds=estimate,
            time_limit_seconds=60.0 + 2.0 * estimate,
            cpus=(allowed[0], *partners),
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Read each clock on one CPU, then on two CPUs against each other."""
        cpu = int(step.settings["cpu"])
        partners: list[int] = json.loads(str(step.settings["partners"]))
        reads = int(step.settings["reads"])
        leave_cpus((cpu, *partners))
        if partners and (missing := json.loads(str(step.settings["not_compared"]))):
            yield Gap(
                f"{NAME}: {', '.join(missing)}",
                f"not compared: partners={len(partners)} is too few for every node and package. Raise it",
            )
        rates = measure_rates()
        names = methods()
        for index in (index for index in range(len(names)) if readable(index)):
            if context.canceled:
                return
            result = steps(index, min(reads, _ALONE_READS))
            smallest = _in_ns(result.smallest_step, index, rates)
            extra: dict[str, str | int | float] = {"reads": result.reads, "backwards": result.backwards}
            if result.resolution_ns >= 0:
                extra["resolution_ns"] = result.resolution_ns
            yield Estimate("smallest-step", {"method": names[index]}, smallest, extra=extra)
        compared = [name for name in _COMPARED if name in names]
        if partners:
            for number, name in enumerate(compared):
                yield from _order(names.index(name), name, cpu, partners[0], reads, rates, context)
                yield Progress((number + 1) / (len(compared) + len(partners)))
        method = next(name for name in _SKEW_METHODS if name in names)
        for number, partner in enumerate(partners[1:]):
            yield from _order(names.index(method), method, cpu, partner, min(reads, _PAIR_READS), rates, context)
            yield Progress((len(compared) + number + 1) / (len(compared) + len(partners)))


def _order(
    index: int, name: str, cpu: int, partner: int, reads: int, rates: Rates, context: Context
) -> Iterable[Emission]:
    if context.canceled:
        return
    job, order = new_job(), OrderingJob(index, cpu, partner, reads)
    at: Coordinates = {"method": name, "cpu": cpu, "partner": partner}
    yield from job.follow(order.call(job), (EstimatePoint("backwards", at),), context)
    if context.canceled:
        return
    result = order.result()
    if not result.reads:
        raise RefusedError(f"{name}: no reads succeeded on CPUs {cpu} and {partner}")
    caveats: tuple[str, ...] = ()
    if result.backwards and name in _UNFENCED:
        caveats = ("without a fence the CPU may read the counter early: this is not a defect",)
    elif result.backwards:
        caveats = (
            f"{name} steps backwards between CPUs {cpu} and {partner}: timestamps of these CPUs cannot be ordered",
        )
    extra = {"reads": result.reads, "worst_ns": _in_ns(result.worst_backwards, index, rates)}
    yield Estimate("backwards", at, float(result.backwards), caveats=caveats, extra=extra)
    offset, bound = _in_ns(result.offset, index, rates), _in_ns(result.offset_bound, index, rates)
    if name not in _UNFENCED:
        yield Estimate("skew", at, offset, low=offset - bound, high=offset + bound, extra={"bound_ns": bound})


def _in_ns(value: float, index: int, rates: Rates) -> float:
    return value * 1e9 / rates.counter_hz if is_counter(index) else float(value)
