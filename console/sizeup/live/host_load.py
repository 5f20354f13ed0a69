"""How busy others keep this host, in a short window: pressure (PSI), or the use of CPUs and disks where it is off.

Totals of the window count, and not the averages of the kernel, which would still hold the run before.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Mapping

from msgspec import Struct

from sizeup.procfs.kernel_file import PROC, read_text
from sizeup.procfs.stat import read_cpu_stats, read_pressure

WINDOW_SECONDS = 1.0
PRESSURE_LIMITS = {"CPU pressure": 20.0, "I/O pressure": 10.0, "memory pressure": 5.0}
"""Percent of the time in which some task waited, above which a host is busy: on any host in use tasks wait briefly for
a CPU, but seldom for a disk that has reserves, and for memory only where little is left."""
USE_LIMIT = 50.0
"""Percent of the time of all CPUs, or of one disk, where pressure is not reported."""
_DISK = re.compile(r"^ *\d+ +\d+ (\S+)(?: \d+){9} (\d{1,18})", re.MULTILINE)


class LoadWindow(Struct, frozen=True):
    """The load of a window."""

    percent: Mapping[str, float]
    """By what is loaded, such as ``I/O pressure``; empty where the kernel reports neither pressure nor use."""
    cpu_percent: Mapping[int, float]

    def excess(self, before: LoadWindow | None = None) -> str:
        """Return what is above its limit, or above ``before`` by more than that; empty where nothing is."""
        known = {} if before is None else before.percent
        limits = {name: PRESSURE_LIMITS.get(name, USE_LIMIT) + known.get(name, 0.0) for name in self.percent}
        above = ((name, value, limits[name]) for name, value in self.percent.items() if value > limits[name])
        return ", ".join(f"{name} {value:.0f} % (limit {limit:.0f} %)" for name, value, limit in above)

    def quietest_cpu(self, allowed: Collection[int]) -> int:
        """Return the allowed CPU that was used least; of several the last, as interrupts often go to the first."""
        return min(sorted(allowed, reverse=True), key=lambda cpu: self.cpu_percent.get(cpu, 0.0))


def _wait(seconds: float) -> float:
    start = time.monotonic()
    time.sleep(seconds)
    return time.monotonic() - start


def measure_load(proc: str = PROC, wait: Callable[[float], float] = _wait) -> LoadWindow:
    """Measure the load of a window; ``wait`` lets it pass and returns its length in seconds."""
    spent, cpus = _spent_seconds(proc), _cpu_seconds(proc)
    seconds = wait(WINDOW_SECONDS)  # less than passes between both readings, of which each takes time
    later, cpus_later = _spent_seconds(proc), _cpu_seconds(proc)
    return LoadWindow(
        {name: min(100 * (later[name] - spent[name]) / seconds, 100.0) for name in spent if name in later},
        {cpu: min(100 * (cpus_later[cpu] - cpus[cpu]) / seconds, 100.0) for cpu in cpus if cpu in cpus_later},
    )


def _spent_seconds(proc: str) -> dict[str, float]:
    """Return the seconds since boot in which tasks waited, or in which CPUs and disks were busy."""
    pressures = {name: read_pressure(name.split()[0].replace("/", "").lower(), proc) for name in PRESSURE_LIMITS}
    if waited := {name: found.some_total_us / 1e6 for name, found in pressures.items() if found is not None}:
        return waited
    cpus = _cpu_seconds(proc)
    used = {"CPU use": sum(cpus.values()) / len(cpus)} if cpus else {}
    disks = _DISK.findall(read_text(f"{proc}/diskstats") or "")
    return used | {f"use of {name}": int(milliseconds) / 1e3 for name, milliseconds in disks}


def _cpu_seconds(proc: str) -> dict[int, float]:
    ticks = os.sysconf("SC_CLK_TCK")
    return {cpu: (stat.total - stat.idle_total) / ticks for cpu, stat in read_cpu_stats(proc).items()}
