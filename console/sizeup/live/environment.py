"""What else goes on while a run measures: load, pressure, steal and the processes that are busy.

Read at the borders of steps and never inside one. Sources: ``/proc/loadavg``, ``/proc/pressure``
(Documentation/accounting/psi.rst), ``/proc/stat`` and ``/proc/PID/stat`` (proc(5)).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from msgspec import Struct

from sizeup.procfs.kernel_file import PROC, SYS
from sizeup.procfs.loadavg import read_load_average
from sizeup.procfs.pressure import read_pressure
from sizeup.procfs.stat import HostStat, ProcessStat, read_processes, read_stat
from sizeup.procfs.thermal import read_zone_celsius
from sizeup.text import one_line

BUSY_PERCENT = 5.0
"""Share of one CPU from which a process is named."""
_NAMED = 5

Fact = str | int | float | bool | None


class _Snapshot(Struct, frozen=True):
    at: float
    host: HostStat | None
    processes: dict[int, ProcessStat]


class EnvironmentWatch:
    """Facts about the time since it was last asked; the first answer covers the time since it was made."""

    def __init__(self, proc: str = PROC, sysfs: str = SYS) -> None:
        self._proc, self._sysfs = proc, sysfs
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._before = self._snapshot()

    def facts(self) -> dict[str, Fact]:
        """The figures, unit last in each name; what this kernel does not say is absent."""
        before, now = self._before, self._snapshot()
        self._before = now
        facts: dict[str, Fact] = {}
        load = read_load_average(self._proc)
        if load is not None:
            facts["load_1min"] = load
        facts |= self._pressure()
        facts |= _cpu(before.host, now.host)
        facts |= self._others(before, now)
        if zones := read_zone_celsius(self._sysfs):  # most guests see no sensor
            facts["temperature_celsius"] = max(zones.values())
        facts["sizeup_cpu_seconds"] = round(time.process_time(), 3)
        return facts

    def _pressure(self) -> Iterator[tuple[str, Fact]]:
        for resource in ("cpu", "memory", "io"):
            pressure = read_pressure(resource, self._proc)
            if pressure is not None:
                yield f"psi_{resource}_some_avg10_percent", pressure.some_avg10_percent

    def _others(self, before: _Snapshot, now: _Snapshot) -> dict[str, Fact]:
        if not now.processes:
            return {}  # not even this one: processes cannot be seen here
        seconds = max(now.at - before.at, 1e-3)
        busy = []
        for pid, process in now.processes.items():
            earlier = before.processes.get(pid)
            if earlier is None or pid == os.getpid():
                continue
            percent = 100 * (process.cpu_ticks - earlier.cpu_ticks) / self._ticks / seconds
            if percent >= BUSY_PERCENT:
                busy.append((percent, process.name))
        busy.sort(reverse=True)
        named = ", ".join(f"{one_line(name, 20)} {percent:.0f} %" for percent, name in busy[:_NAMED])
        return {"others_busy_percent": round(sum(percent for percent, _ in busy), 1), "others_busy": named}

    def _snapshot(self) -> _Snapshot:
        return _Snapshot(time.monotonic(), read_stat(self._proc), read_processes(self._proc))


def _cpu(before: HostStat | None, now: HostStat | None) -> Iterator[tuple[str, Fact]]:
    """Shares of the CPU time between two readings."""
    if now is not None and before is not None and (total := now.total - before.total) > 0:
        yield "cpu_busy_percent", round(100 * (1 - (now.idle_total - before.idle_total) / total), 1)
        yield "steal_percent", round(100 * (now.steal - before.steal) / total, 2)
