"""Interprets clock figures: whether the vDSO is used, and what timing I/O costs."""

from __future__ import annotations

from collections.abc import Mapping

PUBLISHED_CYCLES = {"published_core_cycles_before": 324, "published_core_cycles_with_rdtscp": 221}
"""gettimeofday on an Opteron, before its kernel used rdtscp and after: 31.8 % fewer cycles per call."""
READS_PER_IO = 2
"""A database that times an I/O reads the clock before and after it."""
_VDSO_RATIO = 3.0
_FALLBACK_RATIO = 1.5
_SYSTEM_CALL_SOURCES = ("hpet", "acpi_pm", "jiffies", "pit", "refined-jiffies")
"""Clock sources that user space cannot read: every call enters the kernel."""


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
    return f"timing I/O costs {share:.2%} of a core at {iops:,.0f} IOPS: {reads} per I/O"
