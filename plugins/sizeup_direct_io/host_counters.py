"""What the running worker reads about itself and the host: pressure, CPU time, I/O accounting."""

from __future__ import annotations

import os
import re
import resource

from msgspec import Struct

from sizeup.procfs.kernel_file import read_text
from sizeup.procfs.mounts import MountEntry, parse_mount_id, parse_mountinfo
from sizeup.procfs.pressure import Pressure, parse_pressure
from sizeup.procfs.stat import HostStat, parse_process_stat, parse_stat
from sizeup_direct_io import binding
from sizeup_direct_io.engines import EnginePolicy
from sizeup_direct_io.worker import Engine

_SECTOR_BYTES = 512  # the unit of the block layer's counters, whatever the device's sector is


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


class Accounting(Struct, frozen=True):
    """What the kernel charged this process at the block layer (``/proc/self/io``)."""

    read_bytes: int
    written_bytes: int


def parse_accounting(text: str) -> Accounting:
    """``/proc/PID/io``; see proc_pid_io(5)."""
    values = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return Accounting(int(values["read_bytes"]), int(values["write_bytes"]))


def read_accounting() -> Accounting | None:
    """None without CONFIG_TASK_IO_ACCOUNTING."""
    text = read_text("/proc/self/io")
    return parse_accounting(text) if text else None


class DeviceCounters(Struct, frozen=True):
    """``/sys/dev/block/M:m/stat``: what all processes together moved."""

    read_bytes: int
    written_bytes: int


def parse_device_counters(text: str) -> DeviceCounters:
    """See the kernel's Documentation/block/stat.rst: sectors are 512 bytes."""
    fields = [int(field) for field in text.split()]
    return DeviceCounters(fields[2] * _SECTOR_BYTES, fields[6] * _SECTOR_BYTES)


def read_device_counters(device_number: int) -> DeviceCounters | None:
    """None for what is no block device, such as an NFS mount or a btrfs volume."""
    text = read_text(f"/sys/dev/block/{os.major(device_number)}:{os.minor(device_number)}/stat")
    return parse_device_counters(text) if text else None


def read_huge_page_bytes() -> int | None:
    """Anonymous memory of this process that lies on huge pages; None where the kernel does not say."""
    for line in (read_text("/proc/self/smaps_rollup") or "").splitlines():
        if line.startswith("AnonHugePages:"):
            return int(line.split()[1]) * 1024
    return None


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


class NfsBytes(Struct, frozen=True):
    """The ``bytes:`` line of one mount in ``/proc/self/mountstats``."""

    direct_read: int
    direct_written: int
    server_read: int
    server_written: int


def parse_nfs_bytes(text: str, mount_point: str) -> NfsBytes | None:
    """The counters of one mount; None where it is no NFS mount."""
    inside = False
    for line in text.splitlines():
        if line.startswith("device "):
            inside = f" mounted on {mount_point} with fstype nfs" in line
        elif inside and line.strip().startswith("bytes:"):
            fields = [int(field) for field in line.split()[1:]]
            return NfsBytes(fields[2], fields[3], fields[4], fields[5])
    return None


def read_nfs_bytes(mount_point: str) -> NfsBytes | None:
    """None where it is no NFS mount."""
    text = read_text("/proc/self/mountstats")
    return parse_nfs_bytes(text, mount_point) if text else None
