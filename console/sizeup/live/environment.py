"""What else goes on while a run measures: load, pressure, steal and the processes that are busy.

Read at the borders of steps and never inside one. Sources: ``/proc/loadavg``, ``/proc/pressure``
(Documentation/accounting/psi.rst), ``/proc/stat`` and ``/proc/PID/stat`` (proc(5)).
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable

from msgspec import Struct

from sizeup.procfs.kernel_file import PROC, SYS, read_zone_celsius
from sizeup.procfs.process import read_process_io
from sizeup.procfs.stat import HostStat, ProcessStat, read_load_average, read_pressure, read_processes, read_stat
from sizeup.text import one_line

BUSY_PERCENT = 5.0
"""Share of one CPU from which a process is named."""
_NAMED = 5

Fact = str | int | float | bool | None
_STA_UNSYNC = 0x0040
_TIME_ERROR = 5
_MARK = "systemd/timesync/synchronized"
try:
    import psutil
except ImportError:  # a viewer is installed without it
    psutil = None


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
        self.latest: dict[str, Fact] = {}
        """The last answer."""

    def facts(self) -> dict[str, Fact]:
        """The figures, unit last in each name; what this kernel does not say is absent."""
        before, now = self._before, self._snapshot()
        self._before = now
        facts: dict[str, Fact] = {}
        load = read_load_average(self._proc)
        if load is not None:
            facts["load_1min"] = load
        for resource in ("cpu", "memory", "io"):
            if (pressure := read_pressure(resource, self._proc)) is not None:
                facts[f"psi_{resource}_some_avg10_percent"] = pressure.some_avg10_percent
        host, earlier = now.host, before.host
        if host is not None and earlier is not None and (total := host.total - earlier.total) > 0:
            facts["cpu_busy_percent"] = round(100 * (1 - (host.idle_total - earlier.idle_total) / total), 1)
            facts["steal_percent"] = round(100 * (host.steal - earlier.steal) / total, 2)
        facts |= self._others(before, now)
        if zones := read_zone_celsius(self._sysfs):  # most guests see no sensor
            facts["temperature_celsius"] = max(zones.values())
        self.latest = facts | own_use(self._proc)
        return self.latest

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


def own_use(proc: str = PROC) -> dict[str, Fact]:
    """Return what this process and its workers that have ended took since it began; their I/O is added at their end."""
    from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage  # no viewer has it

    used = [getrusage(whose) for whose in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    facts: dict[str, Fact] = {
        "sizeup_cpu_seconds": round(time.process_time(), 3),
        "run_cpu_seconds": round(sum(one.ru_utime + one.ru_stime for one in used), 3),
        "run_peak_memory_bytes": max(one.ru_maxrss for one in used) << 10,
    }
    if (moved := read_process_io("self", proc)) is not None:
        facts |= {"run_read_bytes": moved.read_bytes, "run_written_bytes": moved.written_bytes}
    return facts


class Timex(ctypes.Structure):
    """``struct timex`` of <linux/timex.h>, whose tail is 11 integers of room."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        *((name, ctypes.c_long) for name in ("offset", "freq", "maxerror", "esterror")),
        ("status", ctypes.c_int),
        *((name, ctypes.c_long) for name in ("constant", "precision", "tolerance")),
        ("time", ctypes.c_long * 2),
        *((name, ctypes.c_long) for name in ("tick", "ppsfreq", "jitter")),
        ("shift", ctypes.c_int),
        *((name, ctypes.c_long) for name in ("stabil", "jitcnt", "calcnt", "errcnt", "stbcnt")),
        ("tai", ctypes.c_int),
        ("room", ctypes.c_int * 11),
    )


class ClockSync(Struct, frozen=True):
    """What is known of the clock's discipline."""

    synchronized: bool | None
    """None where nobody says."""
    reason: str
    """Who says so, or why nobody does."""
    max_error_us: int | None = None
    """The kernel's bound; None where it gives none."""

    def sentence(self) -> str:
        """Return what it means for a start together with other hosts, as a clause."""
        if self.synchronized is None:
            return f"clock synchronization is unknown: {self.reason}"
        if not self.synchronized:
            return f"this clock is not synchronized ({self.reason}); this host may start before or after the others"
        bound = "" if self.max_error_us is None else f", with an error of at most {self.max_error_us:,} us"
        return f"this clock is synchronized ({self.reason}){bound}"

    def facts(self) -> dict[str, Fact]:
        """For the environment of a session."""
        facts: dict[str, Fact] = {"clock_synchronized": self.synchronized, "clock_synchronized_source": self.reason}
        return facts if self.max_error_us is None else facts | {"clock_max_error_us": self.max_error_us}


def ask_kernel() -> tuple[int, Timex]:
    """The state of the clock and its figures; raises ``OSError`` where the kernel gives none."""
    timex = Timex()
    libc = ctypes.CDLL(None, use_errno=True)
    state = libc.adjtimex(ctypes.byref(timex))
    if state < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return state, timex


def clock_sync(run: str = "/run", ask: Callable[[], tuple[int, Timex]] = ask_kernel) -> ClockSync:
    """Ask the kernel, and where it may not be asked the mark of the time service."""
    try:
        state, timex = ask()
    except OSError as error:
        if os.path.exists(os.path.join(run, _MARK)):
            return ClockSync(synchronized=True, reason="systemd-timesyncd")
        return ClockSync(None, f"adjtimex: {error.strerror}")
    if state == _TIME_ERROR or timex.status & _STA_UNSYNC:
        return ClockSync(synchronized=False, reason="adjtimex")
    return ClockSync(synchronized=True, reason="adjtimex", max_error_us=timex.maxerror)


def cpu_loads() -> dict[int, float]:
    """Percent of the time since the last call that each online CPU was busy; 0 for all at the first.

    Empty where there is no /proc to read it from.
    """
    if psutil is None:
        return {}
    try:
        return dict(enumerate(psutil.cpu_percent(percpu=True)))
    except (OSError, psutil.Error):
        return {}
