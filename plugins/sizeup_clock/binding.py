"""The only importer of the C extension: converts plain values to and from native structures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, convert

from sizeup.probing.native import NativeJob
from sizeup_clock._native import ffi, lib


class Rates(Struct, frozen=True):
    """Frequencies that convert nanoseconds into cycles and ticks, in hertz."""

    core_hz: float
    counter_hz: float
    cpu: int
    """The CPU that they were measured on; -1: they were not measured."""


class Steps(Struct, frozen=True):
    """Resolution of a clock on one CPU; steps in ticks of a counter, else nanoseconds."""

    reads: int
    resolution_ns: int
    """-1: clock_getres does not apply to this method."""
    smallest_step: int
    backwards: int


class OrderingResult(Struct, frozen=True):
    """Order and offset of the clocks of two CPUs; ticks of a counter, else nanoseconds."""

    reads: int
    backwards: int
    worst_backwards: int
    offset: float
    offset_bound: float


def methods() -> tuple[str, ...]:
    """Return the names of the methods to read the time on this architecture, in the extension's order."""
    names: list[str] = []
    while (method := lib.sizeup_method(len(names))) != ffi.NULL:
        names.append(ffi.string(method.name).decode())
    return tuple(names)


def is_counter(index: int) -> bool:
    """Return whether a method counts ticks."""
    return bool(lib.sizeup_method(index).counter)


def readable(index: int) -> bool:
    """Return whether the values of a method can be compared."""
    return bool(lib.sizeup_method(index).read != ffi.NULL)


def vdso_has_clock_gettime() -> bool:
    """Return whether the kernel's vDSO exports clock_gettime."""
    return bool(lib.sizeup_clock_vdso_has())


def steps(index: int, reads: int) -> Steps:
    """Read a method ``reads`` times on the current CPU."""
    native = ffi.new("struct sizeup_clock_steps *")
    lib.sizeup_clock_steps_read(index, reads, native)
    return convert(native, Steps, from_attributes=True)


class OrderingJob:
    """One ``sizeup_clock_order_run`` with its result."""

    def __init__(self, index: int, cpu: int, partner: int, reads: int) -> None:
        self._arguments = index, cpu, partner, reads
        self._native = ffi.new("struct sizeup_clock_order *")

    def call(self, job: NativeJob) -> Callable[[], int]:
        """Return the blocking call, for a thread."""
        return lambda: int(lib.sizeup_clock_order_run(job.job, *self._arguments, self._native))

    def result(self) -> OrderingResult:
        """Return the result, after the call has returned."""
        return convert(self._native, OrderingResult, from_attributes=True)


def measure_rates() -> Rates:
    """Measure the clock frequencies of the current core."""
    rates = ffi.new("struct sizeup_clock_rates *")
    lib.sizeup_clock_rates_measure(rates)
    return convert(rates, Rates, from_attributes=True)


def new_job() -> NativeJob:
    """Return an idle job of this extension."""
    return NativeJob(ffi, lib)


class CostJob:
    """One ``sizeup_clock_cost_run``; ``seconds`` is the total per method."""

    def __init__(self, indexes: Sequence[int], cpu: int, replicates: int, seconds: float, budget: float) -> None:
        self._count, self._cpu = len(indexes), cpu
        self._indexes = ffi.new("uint32_t[]", list(indexes))
        self._rates = ffi.new("struct sizeup_clock_rates *", {"cpu": -1})
        self._rule = ffi.new(
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

    def call(self, job: NativeJob) -> Callable[[], int]:
        """Return the blocking call, for a thread."""
        return lambda: int(
            lib.sizeup_clock_cost_run(job.job, self._indexes, self._count, self._cpu, self._rule, self._rates)
        )

    def rates(self) -> Rates | None:
        """Return the frequencies of the measured CPU right after the measurement; None if it was canceled."""
        rates = self._rates
        return convert(rates, Rates, from_attributes=True) if rates.cpu == self._cpu else None
