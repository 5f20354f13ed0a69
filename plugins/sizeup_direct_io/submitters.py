"""The CPU use of each submitting thread: one that is full limits the figure, however many other CPUs are idle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sizeup.procfs.stat import HostStat
from sizeup_direct_io.binding import WorkerUsage
from sizeup_direct_io.check_result import Part, Validity, VerdictBuilder

FULL_SHARE = 0.95
"""A thread that uses this much of its CPU cannot submit more."""
OWN_SHARE = 0.5
"""A CPU counts as that of a thread which uses at least this much of it; the rest are interrupts and other threads."""


def busiest_share(
    before: Sequence[WorkerUsage],
    after: Sequence[WorkerUsage],
    cpus_before: Mapping[int, HostStat],
    cpus_after: Mapping[int, HostStat],
) -> float | None:
    """Return the share of time that the CPU of the busiest submitting thread was busy; None if it is unknown.

    Interrupts on a CPU are not part of the thread's time, so the use of the whole CPU counts where the thread stayed.
    """
    shares = []
    for first, last in zip(before, after, strict=True):
        if not first.time_ns or last.time_ns <= first.time_ns:
            continue
        own = (last.cpu_ns - first.cpu_ns) / (last.time_ns - first.time_ns)
        shares.append(own)
        cpu = last.cpu
        if own >= OWN_SHARE and first.cpu == cpu and cpu in cpus_before and cpu in cpus_after:
            shares.append(_busy_share(cpus_before[cpu], cpus_after[cpu]))
    return min(1.0, max(shares)) if shares else None


def _busy_share(before: HostStat, after: HostStat) -> float:
    total = after.total - before.total - (after.steal - before.steal)
    return 1 - (after.idle_total - before.idle_total) / total if total > 0 else 0.0


def check_submitters(share: float | None, threads: int) -> Part:
    """Check whether a submitting thread, rather than the device, limited the figure."""
    builder = VerdictBuilder("submitters")
    if share is None:
        builder.add(Validity.UNKNOWN, "the CPU time of the submitting threads is unknown: the window was too short")
    elif share >= FULL_SHARE:
        builder.add(
            Validity.WARN,
            f"the submitting CPU was {share:.0%} busy: the figure is a lower limit of the device; increase threads",
        )
    else:
        of = "the submitting thread" if threads == 1 else f"the busiest of {threads} submitting threads"
        builder.add(Validity.PASS, f"the CPU of {of} was {share:.0%} busy")
    return builder.part()
