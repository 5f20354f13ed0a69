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
from sizeup.text import one_line
from sizeup.units import whole_number

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
    idle: int
    steal: int
    total: int
    processes: dict[int, tuple[str, int]]
    """Name and CPU ticks by process id."""


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
        total = now.total - before.total
        if total > 0:
            facts["cpu_busy_percent"] = round(100 * (1 - (now.idle - before.idle) / total), 1)
            facts["steal_percent"] = round(100 * (now.steal - before.steal) / total, 2)
        facts |= self._others(before, now)
        celsius = self._temperature()
        if celsius is not None:
            facts["temperature_celsius"] = celsius
        facts["sizeup_cpu_seconds"] = round(time.process_time(), 3)
        return facts

    def _pressure(self) -> Iterator[tuple[str, Fact]]:
        for resource in ("cpu", "memory", "io"):
            for field in self._read(f"pressure/{resource}").partition("\n")[0].split():
                name, _, value = field.partition("=")
                if name == "avg10" and (percent := _number(value)) is not None:
                    yield f"psi_{resource}_some_avg10_percent", percent

    def _others(self, before: _Snapshot, now: _Snapshot) -> dict[str, Fact]:
        if not now.processes:
            return {}  # not even this one: processes cannot be seen here
        seconds = max(now.at - before.at, 1e-3)
        busy = []
        for process, (name, ticks) in now.processes.items():
            earlier = before.processes.get(process)
            if earlier is None or process == os.getpid():
                continue
            percent = 100 * (ticks - earlier[1]) / self._ticks / seconds
            if percent >= BUSY_PERCENT:
                busy.append((percent, name))
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
        # user nice system idle iowait irq softirq steal guest guest_nice; guest time is in user time already.
        read = [whole_number(field) for field in self._read("stat").partition("\n")[0].split()[1:9]]
        fields = [field for field in read if field is not None]
        fields = [*fields, *([0] * (8 - len(fields)))] if len(fields) == len(read) else [0] * 8
        processes = {}
        for entry in self._entries():
            if not entry.isdecimal():
                continue
            # pid (name) state ...: the name may hold blanks and parentheses; utime and stime are fields 14 and 15.
            head, _, tail = self._read(f"{entry}/stat").rpartition(")")
            values = tail.split()
            ticks = [whole_number(value) for value in values[11:13]]
            if len(ticks) == 2 and None not in ticks:
                processes[int(entry)] = (head.partition("(")[2], sum(filter(None, ticks)))
        return _Snapshot(time.monotonic(), fields[3] + fields[4], fields[7], sum(fields), processes)
