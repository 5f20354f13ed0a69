"""What the running worker reads about itself and the host: pressure, CPU time, I/O accounting."""

from __future__ import annotations

import os
import re
import resource

from msgspec import Struct

from sizeup.procfs.block_stat import BlockStat, parse_block_stat
from sizeup.procfs.kernel_file import read_text
from sizeup.procfs.meminfo import parse_meminfo
from sizeup.procfs.mounts import MountEntry, parse_mount_id, parse_mountinfo
from sizeup.procfs.mountstats import NfsBytes, parse_nfs_bytes
from sizeup.procfs.pressure import Pressure, parse_pressure
from sizeup.procfs.process_io import ProcessIo, parse_process_io
from sizeup.procfs.stat import HostStat, parse_process_stat, parse_stat
from sizeup_direct_io import binding
from sizeup_direct_io.engines import EnginePolicy
from sizeup_direct_io.worker import Engine


def _integer(path: str) -> int | None:
    text = read_text(path)
    return int(text) if text and re.fullmatch(r"\s*-?\d{1,18}\s*", text) else None


def read_policy() -> EnginePolicy:
    """Which engines this process may use now."""
    return EnginePolicy(
        errors={engine: binding.availability(engine) for engine in Engine},
        io_uring_disabled=_integer("/proc/sys/kernel/io_uring_disabled"),
        aio_in_use=_integer("/proc/sys/fs/aio-nr"),
        aio_limit=_integer("/proc/sys/fs/aio-max-nr"),
    )


def read_pressure(resource_name: str) -> Pressure | None:
    """Pressure of ``cpu``, ``io`` or ``memory``; None without CONFIG_PSI."""
    text = read_text(f"/proc/pressure/{resource_name}")
    return parse_pressure(text) if text else None


class HostCpu(Struct, frozen=True):
    """The whole host since it started, in nanoseconds of CPU."""

    user_ns: int
    system_ns: int
    interrupt_ns: int
    """Hard and soft interrupts."""
    idle_ns: int
    """Idle and waiting for I/O."""
    stolen_ns: int
    interrupts: int
    switches: int

    @property
    def busy_ns(self) -> int:
        """All but idle; time that the hypervisor took counts as neither."""
        return self.user_ns + self.system_ns + self.interrupt_ns

    def since(self, earlier: HostCpu) -> HostCpu:
        """The difference of two readings."""
        return HostCpu(
            self.user_ns - earlier.user_ns,
            self.system_ns - earlier.system_ns,
            self.interrupt_ns - earlier.interrupt_ns,
            self.idle_ns - earlier.idle_ns,
            self.stolen_ns - earlier.stolen_ns,
            self.interrupts - earlier.interrupts,
            self.switches - earlier.switches,
        )


def host_cpu(stat: HostStat, ticks_per_second: int) -> HostCpu:
    """Ticks of the host as nanoseconds."""
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


def read_host_cpu() -> HostCpu:
    """CPU time of the whole host."""
    stat = parse_stat(read_text("/proc/stat") or "") or HostStat(0, 0, 0, 0, 0, 0, 0, 0)
    return host_cpu(stat, os.sysconf("SC_CLK_TCK"))


def process_cpu_ns() -> int:
    """User and system time of this process with all of its threads, io_uring's workers among them."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


def read_accounting() -> ProcessIo | None:
    """None without CONFIG_TASK_IO_ACCOUNTING."""
    return parse_process_io(read_text("/proc/self/io") or "")


def read_device_counters(device_number: int) -> BlockStat | None:
    """None for what is no block device, such as an NFS mount or a btrfs volume."""
    folder = f"/sys/dev/block/{os.major(device_number)}:{os.minor(device_number)}"
    return parse_block_stat(read_text(f"{folder}/stat") or "")


def read_huge_page_bytes() -> int | None:
    """Anonymous memory of this process that lies on huge pages; None where the kernel does not say."""
    return parse_meminfo(read_text("/proc/self/smaps_rollup") or "").get("AnonHugePages")


def read_mount(descriptor: int) -> MountEntry | None:
    """The mount a descriptor was opened through; None where the kernel does not say."""
    mount_id = parse_mount_id(read_text(f"/proc/self/fdinfo/{descriptor}") or "")
    if mount_id is None:
        return None
    mounts = parse_mountinfo(read_text("/proc/self/mountinfo") or "")
    return next((mount for mount in mounts if mount.mount_id == mount_id), None)


def kernel_thread_family(name: str) -> str:
    """``kworker`` of ``kworker/3:2-events``."""
    return name.partition("/")[0].partition(":")[0]


def read_kernel_threads_ns() -> dict[str, int]:
    """CPU time of kernel threads by family, such as ``kworker``, ``loop0`` or ``nfsiod``.

    Work done for a process in these is in no figure of the process itself.
    """
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    spent: dict[str, int] = {}
    for name in os.listdir("/proc"):
        text = read_text(f"/proc/{name}/stat") if name.isdigit() else None
        thread = parse_process_stat(text) if text else None
        if thread is not None and thread.kernel_thread:
            family = kernel_thread_family(thread.name)
            spent[family] = spent.get(family, 0) + thread.cpu_ticks * tick_ns
    return spent


def read_nfs_bytes(mount_point: str) -> NfsBytes | None:
    """None where it is no NFS mount."""
    text = read_text("/proc/self/mountstats")
    return parse_nfs_bytes(text, mount_point) if text else None
