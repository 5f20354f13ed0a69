"""Counters read at each end of a window: the host's CPU time, and byte counters of the kernel and the workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from msgspec import Struct

from sizeup.procfs.block_stack import find_device_folder
from sizeup.procfs.block_stat import BlockStat, read_block_stat
from sizeup.procfs.mountstats import NfsBytes, read_nfs_bytes
from sizeup.procfs.pressure import Pressure, read_pressure
from sizeup.procfs.process_io import ProcessIo, read_process_io
from sizeup.procfs.stat import HostStat, read_cpu_stats
from sizeup_direct_io import host_counters
from sizeup_direct_io.binding import IoSample
from sizeup_direct_io.disks import Disks, read_disks
from sizeup_direct_io.path_states import PathWatch
from sizeup_direct_io.thermal import ThermalState, read_thermal_state

READINGS = 5
CLOSE_SECONDS = 0.002
"""A faster reading is precise enough: a thousandth of a window of two seconds."""
TakeSamples = Callable[[], Mapping[str, IoSample]]
"""Returns the current samples of the streams of a job."""


class CounterSource(Struct, frozen=True):
    """The target whose counters are read."""

    device_number: int
    nfs_mount_point: str | None = None
    paths: PathWatch | None = None
    targets: Mapping[str, int] = {}
    """Device number of each of several targets, by stream; empty for one target."""


class TargetBytes(Struct, frozen=True):
    """Bytes of one of several targets, by its device and by its workers."""

    device: BlockStat | None
    own_read_bytes: int
    own_written_bytes: int
    uncertainty_bytes: int


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
    targets: Mapping[str, TargetBytes] = {}
    """Of each of several targets, by stream."""

    def of_targets(self, names: Collection[str]) -> Counters:
        """Return what is known of some of several targets, which share a device."""
        found = [self.targets[name] for name in names if name in self.targets]
        return Counters(
            None,
            found[0].device if found else None,
            None,
            None,
            sum(each.own_read_bytes for each in found),
            sum(each.own_written_bytes for each in found),
            sum(each.uncertainty_bytes for each in found),
        )


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
        before, after = _moved(earlier), _moved(later)
        own_read, own_written = ((first + last) // 2 for first, last in zip(before, after, strict=True))
        targets = {name: _of_target(device, earlier[name], later[name]) for name, device in devices.items()}
        found.append(Counters(*read, own_read, own_written, (sum(after) - sum(before) + 1) // 2, targets))
        if time.monotonic() - started <= CLOSE_SECONDS:
            break
    return min(found, key=lambda counters: counters.uncertainty_bytes)


def _of_target(device: BlockStat | None, before: IoSample, after: IoSample) -> TargetBytes:
    read, written = before.read_bytes + after.read_bytes, before.written_bytes + after.written_bytes
    moved = read + written - 2 * (before.read_bytes + before.written_bytes)
    return TargetBytes(device, read // 2, written // 2, (moved + 1) // 2)


def _moved(samples: Mapping[str, IoSample]) -> tuple[int, int]:
    """Return the bytes read and written by all streams."""
    each = samples.values()
    return sum(sample.read_bytes for sample in each), sum(sample.written_bytes for sample in each)


class WindowCounters(Struct, frozen=True):
    """All counters at one end of a window."""

    host: host_counters.HostCpu | None
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
    kernel_threads_ns, thermal, counters = (
        host_counters.read_kernel_threads_ns(),
        read_thermal_state(),
        read_counters(counter_source, take_samples),
    )
    time_ns = time.monotonic_ns()
    return WindowCounters(*_host(), counters, kernel_threads_ns, thermal, time_ns, read_cpu_stats())


def read_closing(counter_source: CounterSource, take_samples: TakeSamples) -> WindowCounters:
    """Read the counters in reverse order, after the sample that closes the window."""
    time_ns, cpus = time.monotonic_ns(), read_cpu_stats()
    return WindowCounters(
        *_host(),
        read_counters(counter_source, take_samples),
        host_counters.read_kernel_threads_ns(),
        read_thermal_state(),
        time_ns,
        cpus,
    )


def _host() -> tuple[host_counters.HostCpu | None, int, Pressure | None, Pressure | None]:
    return (
        host_counters.read_host_cpu(),
        host_counters.process_cpu_ns(),
        read_pressure("cpu"),
        read_pressure("io"),
    )
