"""Cost of reading the clock, whether the vDSO is used, and what timing I/O costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sizeup.errors import RefusedError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Refusal, Settings, Step
from sizeup.model.sample import Estimate
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus_or_tell
from sizeup.units import as_percent
from sizeup_clock.binding import CostJob, methods, new_job, vdso_has_clock_gettime

NAME = "clock.cost"
FIRST = ("clock_gettime-monotonic", "gettimeofday", "rdtsc", "cntvct")
"""Used by databases, so shown first."""
_BUDGET_SECONDS = 0.8
_START_SECONDS, _LEAST_SECONDS = 0.15, 0.1
"""For the estimate: until the worker measures, and what all methods take with their calibration and the frequencies."""
PUBLISHED_CYCLES = {"published_core_cycles_before": 324, "published_core_cycles_with_rdtscp": 221}
"""gettimeofday on an Opteron, before its kernel used rdtscp and after: 31.8 % fewer cycles per call."""
READS_PER_IO = 2
"""A database that times an I/O reads the clock before and after it."""
_VDSO_RATIO = 3.0
_FALLBACK_RATIO = 1.5
_SYSTEM_CALL_SOURCES = ("hpet", "acpi_pm", "jiffies", "pit", "refined-jiffies")
"""Clock sources that user space cannot read: every call enters the kernel."""


class ClockCost:
    """Nanoseconds, core cycles and counter ticks per call, for every method to read the time."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan one step with all methods, interleaved."""
        allowed = list(machine.allowed_cpus)
        cpu = int(settings["cpu"])
        if cpu < 0:
            cpu = allowed[-1] if allowed else 0
        elif allowed and cpu not in allowed:
            yield Refusal(NAME, NAME, f"cpu={cpu}: not among the CPUs that sizeup may use: {allowed}")
            return
        measuring = len(methods()) * float(settings["seconds_per_method"])
        yield Step(
            id=NAME,
            probe=NAME,
            title="Clock read cost",
            settings={
                "cpu": cpu,
                "seconds_per_method": settings["seconds_per_method"],
                "iops": settings["iops"],
                "clock_source": machine.platform.clock_source or "",
                "clock_sources": ",".join(machine.platform.clock_sources),
            },
            estimated_seconds=_START_SECONDS + max(_LEAST_SECONDS, measuring),
            time_limit_seconds=60.0,
            cpus=(cpu,),
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure each method with back-to-back calls in short batches."""
        cpu = int(step.settings["cpu"])
        caveats = leave_cpus_or_tell([cpu])
        names = sorted(methods(), key=lambda name: name not in FIRST)
        if not names:
            raise RefusedError("no method to read the time is known on this architecture")
        order = methods()
        points = tuple(EstimatePoint("cost", {"method": name}) for name in names)
        job = new_job()
        seconds = float(step.settings["seconds_per_method"])
        cost = CostJob([order.index(name) for name in names], cpu, 5, seconds, _BUDGET_SECONDS)
        yield from job.follow(cost.call(job), points, context)
        yield from job.gaps(points)
        rates = cost.rates()
        if rates is None and not context.canceled:
            yield Gap(
                f"{NAME}: core cycles and counter ticks", f"the frequency of CPU {cpu} could not be measured there"
            )
        costs = {str(point.at["method"]): float(native.median) for _, point, native in job.measured(points)}
        for _, point, native in job.measured(points):
            extra: dict[str, str | int | float] = {}
            if rates is not None:
                extra |= {"core_cycles": native.median * rates.core_hz / 1e9, "core_hz": rates.core_hz}
                extra |= {"counter_ticks": native.median * rates.counter_hz / 1e9, "counter_hz": rates.counter_hz}
            extra |= PUBLISHED_CYCLES if point.at["method"] == "gettimeofday" else {}
            yield estimate_of(point, native, caveats, extra)
        if "clock_gettime-monotonic" in costs and "syscall-clock_gettime" in costs:
            yield from _interpret(costs, step.settings)


_FALLBACK: dict[str, str | int | float] = {
    "statement": "reading the clock is a system call: the vDSO is not used",
    "severity": "warning",
    "consequence": "a database that times its waits makes a system call for each clock read",
    "remedy": "check the available clock sources; a virtual machine may need a clock source from its host",
}


def _interpret(costs: dict[str, float], settings: Settings) -> Iterator[Estimate]:
    source = str(settings["clock_source"]) or None
    status, reason = vdso_status(costs, has_symbol=vdso_has_clock_gettime(), clock_source=source)
    extra = {
        "verdict": status,
        "why": reason,
        "clock_source": source or "unknown",
        "clock_sources": str(settings["clock_sources"]),
        **(_FALLBACK if status == "system-call" else {}),
    }
    yield Estimate("vdso-ratio", {}, vdso_ratio(costs), caveats=() if status == "vdso" else (reason,), extra=extra)
    iops = float(settings["iops"])
    # A program that asks the library gets the vDSO, or the system call where there is none.
    for method in ("clock_gettime-monotonic", "gettimeofday", "syscall-clock_gettime"):
        statement = io_timing_statement(method, costs[method], iops)
        at, share = {"method": method, "iops": iops}, io_timing_share(costs[method], iops)
        finding = {"statement": statement} if method == "clock_gettime-monotonic" else {}
        yield Estimate("io-timing", at, share, extra={"reads_per_io": READS_PER_IO, **finding})


def vdso_status(costs_ns: Mapping[str, float], *, has_symbol: bool, clock_source: str | None) -> tuple[str, str]:
    """Return whether the time is read without a system call (``vdso``, ``system-call`` or ``unclear``), and why.

    Uses three indications, because each can be wrong: the symbol (the kernel offers it), the clock source
    (it can work), and the cost ratio of the raw system call to the library call (it does).
    """
    ratio = vdso_ratio(costs_ns)
    source = clock_source or "unknown"
    vdso = "present" if has_symbol else "missing"
    evidence = f"a raw system call costs {ratio:.1f} times as much, clock source {source}, vDSO {vdso}"
    if ratio < _FALLBACK_RATIO or source in _SYSTEM_CALL_SOURCES:
        return "system-call", f"every clock read is a system call: {evidence}"
    if has_symbol and ratio >= _VDSO_RATIO:
        return "vdso", f"the clock is read without a system call: {evidence}"
    return "unclear", f"unclear whether a clock read is a system call: {evidence}"


def vdso_ratio(costs_ns: Mapping[str, float]) -> float:
    """Return the cost of the raw system call over that of the library's clock_gettime."""
    return costs_ns["syscall-clock_gettime"] / costs_ns["clock_gettime-monotonic"]


def io_timing_share(cost_ns: float, iops: float) -> float:
    """Return the share of one core that a database spends on timing I/O at these IOPS; 0.01 is 1 %."""
    return READS_PER_IO * cost_ns * 1e-9 * iops


def io_timing_statement(method: str, cost_ns: float, iops: float) -> str:
    """Return the result as a sentence."""
    share = io_timing_share(cost_ns, iops)
    reads = f"{READS_PER_IO} calls of {method}, {cost_ns:.1f} ns each"
    return f"timing I/O costs {as_percent(share, '.2f')} of a core at {iops:,.0f} IOPS: {reads} per I/O"
