"""How busy the host is: CPU time (proc_stat(5), proc_pid_stat(5)), load, pressure (PSI), and which CPUs are online."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from msgspec import Struct

from sizeup.procfs.kernel_file import PROC, SYS, list_names, read_line, read_text
from sizeup.units import whole_number

_CPU = re.compile(r"^cpu +" + " ".join([r"(\d{1,18})"] * 8) + r"(?: |$)", re.MULTILINE)
_ONE_CPU = re.compile(r"^cpu(\d{1,6}) " + " ".join([r"(\d{1,18})"] * 8) + r"(?: |$)", re.MULTILINE)
_INTERRUPTS = re.compile(r"^intr (\d{1,18})\b", re.MULTILINE)
_SWITCHES = re.compile(r"^ctxt (\d{1,18})$", re.MULTILINE)
_KERNEL_THREAD_FLAG = 0x00200000  # PF_KTHREAD
_FIRST = re.compile(r"(\d{1,9}\.\d{1,6}) ")
_SOME = re.compile(r"^some avg10=(\d{1,3}(?:\.\d{1,6})?) .*\btotal=(\d{1,18})$", re.MULTILINE)


class HostStat(Struct, frozen=True):
    """Since boot, in ticks of ``sysconf(_SC_CLK_TCK)`` summed over all CPUs; guest time is in user time already."""

    user: int
    nice: int
    system: int
    idle: int
    iowait: int
    irq: int
    softirq: int
    steal: int
    interrupts: int | None = None
    """A count, as that of the switches; None where the file has none."""
    switches: int | None = None

    @property
    def idle_total(self) -> int:
        """Idle, with or without outstanding I/O."""
        return self.idle + self.iowait

    @property
    def total(self) -> int:
        """All states together."""
        return self.user + self.nice + self.system + self.idle_total + self.irq + self.softirq + self.steal


def parse_stat(text: str) -> HostStat | None:
    """``/proc/stat``; None where its ``cpu`` line lacks one of the eight states that kernels print since 2.6.11."""
    cpu = _CPU.search(text)
    if cpu is None:
        return None
    counts = (pattern.search(text) for pattern in (_INTERRUPTS, _SWITCHES))
    return HostStat(*map(int, cpu.groups()), *(None if count is None else int(count[1]) for count in counts))


def read_stat(proc: str = PROC) -> HostStat | None:
    """Return the CPU time of the host; None where it cannot be read."""
    return parse_stat(read_text(f"{proc}/stat") or "")


def parse_cpu_stats(text: str) -> dict[int, HostStat]:
    """``/proc/stat``: the CPU time of each CPU that is online, by its number."""
    return {int(found[1]): HostStat(*map(int, found.groups()[1:])) for found in _ONE_CPU.finditer(text)}


def read_cpu_stats(proc: str = PROC) -> dict[int, HostStat]:
    """Return the CPU time of each CPU; empty where it cannot be read."""
    return parse_cpu_stats(read_text(f"{proc}/stat") or "")


class ProcessStat(Struct, frozen=True):
    """One process or kernel thread."""

    name: str
    flags: int
    cpu_ticks: int
    """User and system time."""
    start_ticks: int
    """When it started, since boot."""

    @property
    def kernel_thread(self) -> bool:
        """Whether it runs in the kernel only."""
        return bool(self.flags & _KERNEL_THREAD_FLAG)


def parse_process_stat(text: str) -> ProcessStat | None:
    """``/proc/PID/stat``; the name may hold blanks and parentheses. None where a figure is missing or none."""
    head, _, tail = text.rpartition(")")
    fields = tail.split()
    if len(fields) < 20:
        return None
    flags, user, system, start = (whole_number(fields[index]) for index in (6, 11, 12, 19))
    if flags is None or user is None or system is None or start is None:
        return None
    return ProcessStat(head.partition("(")[2], flags, user + system, start)


def read_process_stat(pid: int | str, proc: str = PROC) -> ProcessStat | None:
    """Return name and CPU time of a process; None where it has ended or cannot be seen."""
    return parse_process_stat(read_text(f"{proc}/{pid}/stat") or "")


def read_processes(proc: str = PROC) -> dict[int, ProcessStat]:
    """Return every process and kernel thread that can be seen here, by its id."""
    found = {int(name): read_process_stat(name, proc) for name in list_names(proc) if name.isdecimal()}
    return {pid: process for pid, process in found.items() if process is not None}


def parse_load_average(text: str) -> float | None:
    """Return the mean over the last minute; None where the file does not begin with a number."""
    match = _FIRST.match(text)
    return float(match[1]) if match is not None else None


def read_load_average(proc: str = PROC) -> float | None:
    """Return the load of the last minute; None where it cannot be read."""
    return parse_load_average(read_text(f"{proc}/loadavg") or "")


class Pressure(Struct, frozen=True):
    """The ``some`` line: time in which at least one task waited for the resource."""

    some_avg10_percent: float
    some_total_us: int


def parse_pressure(text: str) -> Pressure | None:
    """``/proc/pressure/cpu``, ``io`` or ``memory``; None where it has no ``some`` line."""
    match = _SOME.search(text)
    return Pressure(float(match[1]), int(match[2])) if match is not None else None


def read_pressure(resource: str, proc: str = PROC) -> Pressure | None:
    """Return the pressure of ``cpu``, ``io`` or ``memory``; None before Linux 4.20 or without CONFIG_PSI."""
    return parse_pressure(read_text(f"{proc}/pressure/{resource}") or "")


def find_offline(cpus: Iterable[int], root: str = SYS) -> tuple[int, ...]:
    """Return which of these CPUs are offline or were removed; none where the kernel does not say."""
    folder = f"{root}/devices/system/cpu"
    if not any(re.fullmatch(r"cpu\d+", name) for name in list_names(folder)):  # some containers hide the CPUs
        return ()
    return tuple(
        cpu for cpu in cpus if read_line(f"{folder}/cpu{cpu}/online") == "0" or not os.path.isdir(f"{folder}/cpu{cpu}")
    )
