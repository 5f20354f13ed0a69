"""CPU use of other processes while memory is measured: their memory traffic adds to latency."""

from __future__ import annotations

import os
import time

from msgspec import Struct

from sizeup.procfs.stat import HostStat, read_stat
from sizeup.units import as_percent

BUSY_SHARE = 0.1
"""Of all CPU time; the kernel, the console and idle services stay below."""

MIN_SECONDS = 0.2
"""The kernel counts CPU time in ticks of 10 ms: those of a shorter time tell nothing."""


class OthersUse(Struct, frozen=True):
    """What others took of the host's CPU time, 0 to 1; None where it is not known."""

    cpu_share: float | None = None
    """Processes other than this one."""
    stolen_share: float | None = None
    """The hypervisor, for something else."""


class HostLoad:
    """The CPU time of the host and of this process since it was made."""

    def __init__(self) -> None:
        self._start_seconds = time.monotonic()
        self._host, self._own_seconds = read_stat(), time.process_time()

    def others(self) -> OthersUse:
        """Return what others used since; unknown after too short a time."""
        if time.monotonic() - self._start_seconds < MIN_SECONDS:
            return OthersUse()
        return others_use(self._host, read_stat(), time.process_time() - self._own_seconds)


def busy_caveats(others: OthersUse) -> list[str]:
    """Return a caveat if other processes used much CPU time."""
    share = others.cpu_share
    if share is None or share <= BUSY_SHARE:
        return []
    return [
        f"other processes used {as_percent(share)} of the CPUs during the measurement: their memory traffic adds to it"
    ]


def others_use(before: HostStat | None, after: HostStat | None, own_seconds: float) -> OthersUse:
    """Return what others used between two readings, while this process had ``own_seconds`` of CPU time."""
    if before is None or after is None or after.total <= before.total:
        return OthersUse()
    total, stolen = after.total - before.total, after.steal - before.steal
    busy = total - (after.idle_total - before.idle_total) - stolen
    return OthersUse(max(0.0, busy - own_seconds * os.sysconf("SC_CLK_TCK")) / total, stolen / total)
