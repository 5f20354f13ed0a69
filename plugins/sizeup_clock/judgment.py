"""What clock figures mean: pure arithmetic over what was measured."""

from __future__ import annotations

from collections.abc import Mapping

PUBLISHED_CYCLES = {"published_core_cycles_before": 324, "published_core_cycles_with_rdtscp": 221}
"""gettimeofday on an Opteron, before its kernel used rdtscp and after: 31.8 % fewer cycles a call."""
READS_PER_IO = 2
"""A database that times an I/O reads the clock before and after it."""
_VDSO_RATIO = 3.0
_FALLBACK_RATIO = 1.5
_SYSTEM_CALL_SOURCES = ("hpet", "acpi_pm", "jiffies", "pit", "refined-jiffies")
"""Clock sources that user space cannot read, so that every call enters the kernel."""


def vdso_status(costs_ns: Mapping[str, float], *, has_symbol: bool, clock_source: str | None) -> tuple[str, str]:
    """Whether the time is read without a system call: ``vdso``, ``system-call`` or ``unclear``, and why.

    Takes three witnesses, because each can be wrong: the symbol says that the kernel offers it, the
    clock source that it can work, and the ratio of the raw system call to the library call that it does.
    """
    ratio = vdso_ratio(costs_ns)
    source = clock_source or "unknown"
    evidence = (
        f"raw call over library call {ratio:.1f}, clock source {source}, vDSO {'' if has_symbol else 'not '}present"
    )
    if ratio < _FALLBACK_RATIO or source in _SYSTEM_CALL_SOURCES:
        return "system-call", f"every reading of the time enters the kernel: {evidence}"
    if has_symbol and ratio >= _VDSO_RATIO:
        return "vdso", f"the time is read without entering the kernel: {evidence}"
    return "unclear", f"the witnesses disagree: {evidence}"


def vdso_ratio(costs_ns: Mapping[str, float]) -> float:
    """Cost of the raw system call over that of the library's clock_gettime."""
    return costs_ns["syscall-clock_gettime"] / costs_ns["clock_gettime-monotonic"]


def io_timing_share(cost_ns: float, iops: float) -> float:
    """Share of one core that a database spends on timing so many I/Os a second; 0.01 is 1 %."""
    return READS_PER_IO * cost_ns * 1e-9 * iops


def io_timing_statement(method: str, cost_ns: float, iops: float) -> str:
    """The finding in one sentence."""
    share = io_timing_share(cost_ns, iops)
    reads = f"{READS_PER_IO} {method} of {cost_ns:.1f} ns each"
    return f"each timed I/O costs {share:.2%} of a core at {iops:,.0f} IOPS: {reads}"
