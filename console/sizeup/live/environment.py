"""What else goes on while a run measures: load, pressure, steal and the processes that are busy.

Read at the borders of steps and never inside one. Sources: ``/proc/loadavg``, ``/proc/pressure``
(Documentation/accounting/psi.rst), ``/proc/stat`` and ``/proc/PID/stat`` (proc(5)).
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator

from msgspec import Struct

from sizeup.procfs.kernel_file import read_text
from sizeup.procfs.pressure import parse_pressure
from sizeup.procfs.stat import HostStat, ProcessStat, parse_process_stat, parse_stat
from sizeup.text import one_line

BUSY_PERCENT = 5.0
"""Share of one CPU from which a process is named."""
_NAMED = 5

Fact = str | int | float | bool | None


def _number(text: str) -> float | None:
    """A finite number; None for what is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class _Snapshot(Struct, frozen=True):
    at: float
    host: HostStat | None
    processes: dict[int, ProcessStat]


class EnvironmentWatch:
    """Facts about the time since it was last asked; the first answer covers the time since it was made."""

    def __init__(self, proc: str = "/proc", sys: str = "/sys") -> None:
        self._proc, self._sys = proc, sys
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._before = self._snapshot()

    def facts(self) -> dict[str, Fact]:
        """The figures, unit last in each name; what this kernel does not say is absent."""
        before, now = self._before, self._snapshot()
        self._before = now
        facts: dict[str, Fact] = {}
        load = self._read("loadavg").split()
        if load and (one := _number(load[0])) is not None:
            facts["load_1min"] = one
        facts |= self._pressure()
        facts |= _cpu(before.host, now.host)
        facts |= self._others(before, now)
        celsius = self._temperature()
        if celsius is not None:
            facts["temperature_celsius"] = celsius
        facts["sizeup_cpu_seconds"] = round(time.process_time(), 3)
        return facts

    def _pressure(self) -> Iterator[tuple[str, Fact]]:
        for resource in ("cpu", "memory", "io"):
            pressure = parse_pressure(self._read(f"pressure/{resource}"))
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

    def _temperature(self) -> float | None:
        """The hottest thermal zone; None in most guests, which see no sensor."""
        zones = os.path.join(self._sys, "class/thermal")
        try:
            names = [name for name in os.listdir(zones) if name.startswith("thermal_zone")]
        except OSError:
            return None
        readings = []
        for name in names:
            # A sleeping sensor answers with an error.
            millicelsius = _number((read_text(os.path.join(zones, name, "temp")) or "").strip())
            if millicelsius is not None:
                readings.append(millicelsius / 1000)
        return max(readings, default=None)

    def _read(self, name: str) -> str:
        # No /proc, or a kernel before 4.20 or without CONFIG_PSI, which has no pressure files.
        return read_text(os.path.join(self._proc, name)) or ""

    def _entries(self) -> list[str]:
        try:
            return os.listdir(self._proc)
        except OSError:
            return []

    def _snapshot(self) -> _Snapshot:
        processes = {}
        for entry in self._entries():
            process = parse_process_stat(self._read(f"{entry}/stat")) if entry.isdecimal() else None
            if process is not None:
                processes[int(entry)] = process
        return _Snapshot(time.monotonic(), parse_stat(self._read("stat")), processes)


def _cpu(before: HostStat | None, now: HostStat | None) -> Iterator[tuple[str, Fact]]:
    """Shares of the CPU time between two readings."""
    if now is not None and before is not None and (total := now.total - before.total) > 0:
        yield "cpu_busy_percent", round(100 * (1 - (now.idle_total - before.idle_total) / total), 1)
        yield "steal_percent", round(100 * (now.steal - before.steal) / total, 2)
