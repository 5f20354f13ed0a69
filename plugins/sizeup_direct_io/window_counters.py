"""The CPU time of the host and byte counters at each end of a window, and the load of others before the first."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Generator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import astuple

from sizeup.model.sample import Progress
from sizeup.probing.api import Context, Emission
from sizeup.procfs.block import BlockStat, find_device_folder, read_block_stat
from sizeup.procfs.kernel_file import SYS, list_names, read_integer, read_line, read_sysctl
from sizeup.procfs.mounts import NfsBytes, read_nfs_bytes
from sizeup.procfs.process import ProcessIo, read_process_io
from sizeup.procfs.stat import HostStat, Pressure, read_cpu_stats, read_pressure, read_processes, read_stat
from sizeup.units import as_percent
from sizeup_direct_io import binding
from sizeup_direct_io.binding import IoSample
from sizeup_direct_io.call_with_timeout import CanceledError
from sizeup_direct_io.disks import Disks, OtherIo, PathWatch, other_io, read_disks
from sizeup_direct_io.worker import Engine, EnginePolicy

_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "nvme", "drivetemp")
"""Drivers of ``/sys/class/hwmon`` for processors and drives."""
_COUNTERS = ("core_throttle_count", "package_throttle_count")
_PLAUSIBLE_CELSIUS = (1.0, 150.0)
"""Firmware without a limit reports 0 K or 65,535 K."""
READINGS = 5
CLOSE_SECONDS = 0.002
"""A faster reading is precise enough: a thousandth of a window of two seconds."""
TakeSamples = Callable[[], Mapping[str, IoSample]]
"""Returns the current samples of the streams of a job."""


class Temperature(Struct, frozen=True):
    """One sensor."""

    celsius: float
    limit_celsius: float | None
    """Temperature at which throttling begins (``temp1_max``, else ``temp1_crit``); None if unknown."""


class ThermalState(Struct, frozen=True):
    """One reading; empty if the system reports nothing, as most virtual machines."""

    throttled: Mapping[str, int]
    """Thermal throttling events of each CPU since boot, those of its package included."""
    temperatures: Mapping[str, Temperature]
    """By device: ``nvme0``, ``coretemp.0``."""


def read_thermal_state(sysfs: str = SYS) -> ThermalState:
    """See the kernel's Documentation/admin-guide/thermal and Documentation/hwmon/sysfs-interface.rst."""
    throttled, temperatures = dict[str, int](), dict[str, Temperature]()
    for name in list_names(f"{sysfs}/devices/system/cpu"):
        folder = f"{sysfs}/devices/system/cpu/{name}/thermal_throttle"  # that none but a CPU has
        counts = [count for one in _COUNTERS if (count := read_integer(f"{folder}/{one}")) is not None]
        if counts:
            throttled[name] = sum(counts)
    for name in list_names(f"{sysfs}/class/hwmon"):
        folder = f"{sysfs}/class/hwmon/{name}"
        now = read_integer(f"{folder}/temp1_input")
        if now is None or read_line(f"{folder}/name") not in _SENSORS:
            continue
        limits = [read_integer(f"{folder}/temp1_{limit}") for limit in ("max", "crit")]
        low, high = _PLAUSIBLE_CELSIUS
        known = [limit / 1000 for limit in limits if limit is not None and low < limit / 1000 < high]
        device = os.path.basename(os.path.realpath(f"{folder}/device"))
        temperatures[device] = Temperature(now / 1000, known[0] if known else None)
    return ThermalState(throttled, temperatures)


def thermal_caveats(before: ThermalState, after: ThermalState) -> tuple[str, ...]:
    """Return throttling events and reached temperature limits between two readings, as text."""
    caveats = []
    slowed = {cpu: count - before.throttled.get(cpu, 0) for cpu, count in after.throttled.items()}
    often = [times for times in slowed.values() if times > 0]
    if often:
        caveats.append(f"thermal throttling of {len(often)} of {len(slowed)} CPUs, up to {max(often)} times")
    for device, now in after.temperatures.items():
        if now.limit_celsius is not None and now.celsius >= now.limit_celsius:
            first = before.temperatures.get(device, now).celsius
            limit = f"its limit of {now.limit_celsius:.0f} C"
            caveats.append(f"{device} reached {limit}: {first:.0f} C before, {now.celsius:.0f} C after")
    return tuple(caveats)


def thermal_summary(before: ThermalState, after: ThermalState) -> str:
    """Return what was monitored, with the hottest sensor."""
    if not after.throttled and not after.temperatures:
        return "no temperature sensors or throttle counters available"
    watched = [f"{len(after.throttled)} throttle counters"] if after.throttled else []
    if after.temperatures:
        device, warmest = max(after.temperatures.items(), key=lambda item: item[1].celsius)
        first = before.temperatures.get(device, warmest).celsius
        watched.append(f"hottest sensor {device}: {first:.0f} C before, {warmest.celsius:.0f} C after")
    return "; ".join(watched)


class CounterSource(Struct, frozen=True):
    """The target whose counters are read."""

    device_number: int
    nfs_mount_point: str | None = None
    paths: PathWatch = field(default_factory=lambda: PathWatch({}))
    targets: Mapping[str, int] = {}
    """Device number of each of several targets, by stream; empty for one target."""


class Counters(Struct, frozen=True):
    """The kernel's byte counters, and those of the workers at that time; None if the kernel has none."""

    accounting: ProcessIo | None
    device: BlockStat | None
    nfs: NfsBytes | None
    disks: Disks | None
    own_read_bytes: int
    own_written_bytes: int
    uncertainty_bytes: int
    """Uncertainty of the workers' counters: half of what they transferred while the kernel's were read."""
    targets: Mapping[str, Counters] = {}
    """Of each of several targets, by stream: only of its device and its workers."""
    in_flight: float = 0.0
    """Requests that the kernel had charged and the workers had not counted yet."""

    def of_targets(self, names: Collection[str]) -> Counters:
        """Return what is known of some of several targets, which share a device."""
        found = [self.targets[name] for name in names if name in self.targets]
        device = found[0].device if found else None
        own = sum(each.own_read_bytes for each in found), sum(each.own_written_bytes for each in found)
        return Counters(None, device, None, None, *own, sum(each.uncertainty_bytes for each in found))


def read_counters(counter_source: CounterSource, take_samples: TakeSamples) -> Counters:
    """Read the kernel's counters between two samples of the workers, repeatedly until they are close enough.

    Requests continue meanwhile, and on a busy host the reader may wait long for a CPU: in a guest with
    much steal time the kernel's counters had advanced by a tenth of the window more than the workers'.
    """
    found, folder = [], find_device_folder(counter_source.device_number)
    folders = {name: find_device_folder(number) for name, number in counter_source.targets.items()}
    for _ in range(READINGS):
        started, earlier = time.monotonic(), take_samples()
        read = (
            read_process_io(),
            None if folder is None else read_block_stat(folder),
            read_nfs_bytes(counter_source.nfs_mount_point) if counter_source.nfs_mount_point else None,
            read_disks(counter_source.device_number),
        )
        devices = {name: None if at is None else read_block_stat(at) for name, at in folders.items()}
        later = take_samples()
        targets = {
            name: Counters(None, device, None, None, *_moved([earlier[name]], [later[name]]))
            for name, device in devices.items()
        }
        in_flight = sum(sample.in_flight for sample in (*earlier.values(), *later.values())) / 2
        found.append(Counters(*read, *_moved(earlier.values(), later.values()), targets, in_flight))
        if time.monotonic() - started <= CLOSE_SECONDS:
            break
    return min(found, key=lambda counters: counters.uncertainty_bytes)


def _moved(before: Collection[IoSample], after: Collection[IoSample]) -> tuple[int, int, int]:
    """Return the bytes read and written in the middle of two readings, and half of those in between."""
    first, last = (
        (sum(sample.read_bytes for sample in each), sum(sample.written_bytes for sample in each))
        for each in (before, after)
    )
    return (first[0] + last[0]) // 2, (first[1] + last[1]) // 2, (sum(last) - sum(first) + 1) // 2


class WindowCounters(Struct, frozen=True):
    """All counters at one end of a window."""

    host: HostCpu | None
    """None where it cannot be read."""
    process_cpu_ns: int
    cpu_pressure: Pressure | None
    io_pressure: Pressure | None
    counters: Counters
    kernel_threads_ns: Mapping[str, int]
    thermal: ThermalState
    time_ns: int
    """When ``host`` and the two after it were read, by the monotonic clock."""
    cpus: Mapping[int, HostStat] = {}
    """CPU time of each CPU; empty where it cannot be read."""


def read_opening(counter_source: CounterSource, take_samples: TakeSamples) -> WindowCounters:
    """Read the slow counters first, so that the others are close to the sample that opens the window."""
    kernel_threads_ns, thermal = read_kernel_threads_ns(), read_thermal_state()
    counters = read_counters(counter_source, take_samples)
    time_ns = time.monotonic_ns()
    return WindowCounters(*_host(), counters, kernel_threads_ns, thermal, time_ns, read_cpu_stats())


def read_closing(counter_source: CounterSource, take_samples: TakeSamples) -> WindowCounters:
    """Read the counters in reverse order, after the sample that closes the window."""
    time_ns, cpus = time.monotonic_ns(), read_cpu_stats()
    host, counters = _host(), read_counters(counter_source, take_samples)
    return WindowCounters(*host, counters, read_kernel_threads_ns(), read_thermal_state(), time_ns, cpus)


def _host() -> tuple[HostCpu | None, int, Pressure | None, Pressure | None]:
    return read_host_cpu(), process_cpu_ns(), read_pressure("cpu"), read_pressure("io")


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

    @property
    def stolen_share(self) -> float:
        """Of the capacity and what the hypervisor took of it."""
        return self.stolen_ns / (self.capacity_ns + self.stolen_ns)

    def since(self, earlier: HostCpu) -> HostCpu:
        """Return the difference of two readings."""
        pairs = zip(astuple(self), astuple(earlier), strict=True)
        since: list[Any] = [None if now is None or before is None else now - before for now, before in pairs]
        return HostCpu(*since)


def read_host_cpu() -> HostCpu | None:
    """Return the CPU time of the whole host; None where it cannot be read."""
    stat, tick_ns = read_stat(), 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    if stat is None:
        return None
    ticks = (stat.user + stat.nice, stat.system, stat.irq + stat.softirq, stat.idle_total, stat.steal)
    user, system, interrupt, idle, stolen = (count * tick_ns for count in ticks)
    return HostCpu(user, system, interrupt, idle, stolen, stat.interrupts, stat.switches)


process_cpu_ns = time.process_time_ns
"""User and system time of this process with all threads, io_uring workers included."""


def read_kernel_threads_ns() -> dict[str, int]:
    """Return the CPU time of kernel threads by family, such as ``kworker``, ``loop0`` or ``nfsiod``.

    Their work for a process is not part of that process's CPU time.
    """
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    spent: dict[str, int] = {}
    for thread in read_processes().values():
        if thread.kernel_thread:
            family = thread.name.partition("/")[0].partition(":")[0]  # of kworker/3:2-events
            spent[family] = spent.get(family, 0) + thread.cpu_ticks * tick_ns
    return spent


BACKGROUND_SECONDS = 2.0
"""How long it is measured."""
MAX_PRESSURE_PERCENT = 25.0
MAX_BUSY_SHARE = 0.5


class BackgroundLoad(Struct, frozen=True):
    """CPU time and I/O that other processes used before the run."""

    pressure_percent: float | None
    """CPU pressure: share of time in which some task waited; None without PSI."""
    busy_share: float | None
    """None where the CPU time of the host cannot be read."""
    io: OtherIo | None = None
    """On the target's disks; None if the target is on no disk."""

    @property
    def background_caveats(self) -> tuple[str, ...]:
        """Return why other load affects the figures; empty if there is little of it."""
        pressure, busy, caveats = self.pressure_percent, self.busy_share, []
        if pressure is not None and pressure > MAX_PRESSURE_PERCENT:
            caveats.append(f"CPU pressure before the run: some task waited {pressure:.0f} % of the time")
        if busy is not None and busy > MAX_BUSY_SHARE:
            caveats.append(f"other processes used {as_percent(busy)} of the CPUs before the run")
        return tuple(caveats)


def measure_background(device_number: int, context: Context) -> Generator[Emission, None, BackgroundLoad]:
    """Measure the load of other processes, on the disks of a device and on the CPUs."""
    yield Progress(0.0, None, "measuring the load of other processes")
    host, own = read_host_cpu(), process_cpu_ns()
    pressure, disks = read_pressure("cpu"), read_disks(device_number)
    start = time.monotonic()
    while time.monotonic() - start < BACKGROUND_SECONDS:
        if context.canceled:
            raise CanceledError
        time.sleep(0.05)
    seconds = time.monotonic() - start
    host_later, own_ns = read_host_cpu(), process_cpu_ns() - own
    later, now = read_pressure("cpu"), read_disks(device_number)
    waited = (later.some_total_us - pressure.some_total_us) / seconds / 1e4 if later and pressure else None
    spent = None if host is None or host_later is None else host_later.since(host)
    others = None if spent is None else max(0, spent.busy_ns - own_ns) / spent.capacity_ns
    io = other_io(disks, now, seconds, own_read=0, own_written=0) if disks and now else None
    return BackgroundLoad(waited, others, io)
