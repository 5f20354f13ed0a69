"""What reading the clock costs."""

from __future__ import annotations

from collections.abc import Iterable

from sizeup.errors import RefusedError
from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import Point, estimate_of, leave_cpus
from sizeup_clock.binding import cost_call, measure_rates, methods, new_job

NAME = "clock.cost"
FIRST = ("clock_gettime-monotonic", "gettimeofday", "rdtsc", "cntvct")
"""What databases call, so shown first."""
_BUDGET_SECONDS = 0.8


class ClockCost:
    """Nanoseconds, core cycles and counter ticks per call of every way to read time."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """One step with all methods, interleaved."""
        allowed = [pu.cpu for pu in machine.pus if pu.online and pu.allowed]
        cpu = int(settings["cpu"])
        if cpu < 0:
            cpu = allowed[-1] if allowed else 0
        elif allowed and cpu not in allowed:
            yield Refusal(NAME, NAME, f"CPU {cpu} is not among the CPUs this process may use: {allowed}")
            return
        yield Step(
            id=NAME,
            probe=NAME,
            title="Clock cost",
            settings={"cpu": cpu, "seconds_per_method": settings["seconds_per_method"]},
            estimated_seconds=_BUDGET_SECONDS,
            time_limit_seconds=60.0,
            hazards=(Hazard.CPU_LOAD,),
            cpus=(cpu,),
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Call each method back to back in short batches."""
        cpu = int(step.settings["cpu"])
        doubts = () if leave_cpus([cpu]) else (f"sizeup itself had to share CPU {cpu} with what it measured",)
        names = sorted(methods(), key=lambda name: name not in FIRST)
        if not names:
            raise RefusedError("no way to read time is known on this architecture")
        order = methods()
        points = tuple(Point("cost", {"method": name}) for name in names)
        job = new_job()
        seconds = float(step.settings["seconds_per_method"])
        call = cost_call(job, [order.index(name) for name in names], cpu, 5, seconds, _BUDGET_SECONDS)
        yield from job.follow(call, points, context)
        rates = measure_rates()
        for index, point in enumerate(points):
            native = job.estimate(index)
            if native.replicates:
                yield estimate_of(
                    point,
                    native,
                    doubts,
                    core_cycles=native.median * rates.core_hz / 1e9,
                    counter_ticks=native.median * rates.counter_hz / 1e9,
                    core_hz=rates.core_hz,
                    counter_hz=rates.counter_hz,
                )
