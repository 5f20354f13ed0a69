"""The only importer of the extension: plain values in, native structures out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sizeup.probing.native import NativeJob
from sizeup_clock._native import ffi, lib


@dataclass(frozen=True, slots=True)
class Rates:
    """What turns nanoseconds into cycles and ticks, in hertz."""

    core_hz: float
    counter_hz: float


def methods() -> tuple[str, ...]:
    """Names of the ways to read time that exist on this architecture, in the extension's order."""
    names: list[str] = []
    while (name := lib.sizeup_clock_method_name(len(names))) != ffi.NULL:
        names.append(ffi.string(name).decode())
    return tuple(names)


def measure_rates() -> Rates:
    """The clocks of the core that this thread runs on."""
    rates = ffi.new("struct sizeup_clock_rates *")
    lib.sizeup_clock_rates_measure(rates)
    return Rates(rates.core_hz, rates.counter_hz)


def new_job() -> NativeJob:
    """An idle job of this extension."""
    return NativeJob(ffi, lib)


def cost_call(
    job: NativeJob, indexes: Sequence[int], cpu: int, replicates: int, seconds: float, budget: float
) -> Callable[[], int]:
    """The blocking call that measures the cost of methods, for a thread; ``seconds`` is per method, all told."""
    native_indexes = ffi.new("uint32_t[]", list(indexes))
    rule = ffi.new(
        "struct sizeup_stop_rule *",
        {
            "batch_ns": 100_000,
            "replicate_ns": max(100_000, round(seconds / replicates * 1e9)),
            "budget_ns": round(budget * 1e9),
            "replicates_min": replicates,
            "replicates_max": 4 * replicates,
            "target": 0.02,
        },
    )
    return lambda: int(lib.sizeup_clock_cost_run(job.job, native_indexes, len(indexes), cpu, rule))
