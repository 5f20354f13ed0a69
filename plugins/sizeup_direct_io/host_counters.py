"""Counters of the worker process and the host: which engines it may use, and CPU time."""

from __future__ import annotations

import os
import resource

from msgspec import Struct

from sizeup.procfs.stat import HostStat, read_processes, read_stat
from sizeup.procfs.sysctl import read_sysctl
from sizeup_direct_io import binding
from sizeup_direct_io.engines import EnginePolicy
from sizeup_direct_io.worker import Engine


def read_policy() -> EnginePolicy:
    """Return which engines this process may use."""
    return EnginePolicy(
        errors={engine: binding.availability(engine) for engine in Engine},
        io_uring_disabled=read_sysctl("kernel.io_uring_disabled"),
        aio_in_use=read_sysctl("fs.aio-nr"),
        aio_limit=read_sysctl("fs.aio-max-nr"),
    )


class HostCpu(Struct, frozen=True):
    """CPU time of the whole host since boot, in nanoseconds."""

    user_ns: int
    system_ns: int
    interrupt_ns: int
    """Hard and soft interrupts."""
    idle_ns: int
    """Idle and waiting for I/O."""
    stolen_ns: int
    interrupts: int | None
    switches: int | None
    """Counts; None where the kernel does not say."""

    @property
    def busy_ns(self) -> int:
        """CPU time that is not idle; steal time is in neither."""
        return self.user_ns + self.system_ns + self.interrupt_ns

    @property
    def capacity_ns(self) -> int:
        """What could have been used; never 0, so that it can be divided by."""
        return max(1, self.busy_ns + self.idle_ns)

    @property
    def busy_share(self) -> float:
        """Of the capacity."""
        return self.busy_ns / self.capacity_ns

    def since(self, earlier: HostCpu) -> HostCpu:
        """Return the difference of two readings."""
        return HostCpu(
            self.user_ns - earlier.user_ns,
            self.system_ns - earlier.system_ns,
            self.interrupt_ns - earlier.interrupt_ns,
            self.idle_ns - earlier.idle_ns,
            self.stolen_ns - earlier.stolen_ns,
            None if self.interrupts is None or earlier.interrupts is None else self.interrupts - earlier.interrupts,
            None if self.switches is None or earlier.switches is None else self.switches - earlier.switches,
        )


def host_cpu(stat: HostStat, ticks_per_second: int) -> HostCpu:
    """Return the host's ticks as nanoseconds."""
    tick_ns = 1_000_000_000 // ticks_per_second
    return HostCpu(
        (stat.user + stat.nice) * tick_ns,
        stat.system * tick_ns,
        (stat.irq + stat.softirq) * tick_ns,
        stat.idle_total * tick_ns,
        stat.steal * tick_ns,
        stat.interrupts,
        stat.switches,
    )


def read_host_cpu() -> HostCpu | None:
    """Return the CPU time of the whole host; None where it cannot be read."""
    stat = read_stat()
    return None if stat is None else host_cpu(stat, os.sysconf("SC_CLK_TCK"))


def process_cpu_ns() -> int:
    """Return user and system time of this process with all threads, io_uring workers included."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


def kernel_thread_family(name: str) -> str:
    """Return ``kworker`` for ``kworker/3:2-events``."""
    return name.partition("/")[0].partition(":")[0]


def read_kernel_threads_ns() -> dict[str, int]:
    """Return the CPU time of kernel threads by family, such as ``kworker``, ``loop0`` or ``nfsiod``.

    Their work for a process is not part of that process's CPU time.
    """
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    spent: dict[str, int] = {}
    for thread in read_processes().values():
        if thread.kernel_thread:
            family = kernel_thread_family(thread.name)
            spent[family] = spent.get(family, 0) + thread.cpu_ticks * tick_ns
    return spent
