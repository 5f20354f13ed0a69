"""Load of other processes before the first request."""

from __future__ import annotations

import time
from collections.abc import Generator

from msgspec import Struct

from sizeup.model.sample import Progress
from sizeup.probing.api import Context, Emission
from sizeup.procfs.stat import read_pressure
from sizeup_direct_io import window_counters
from sizeup_direct_io.call_with_timeout import CanceledError
from sizeup_direct_io.disks import OtherIo, other_io, read_disks

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
            caveats.append(f"other processes used {busy:.0%} of the CPUs before the run")
        return tuple(caveats)


def measure_background(device_number: int, context: Context) -> Generator[Emission, None, BackgroundLoad]:
    """Measure the load of other processes, on the disks of a device and on the CPUs."""
    yield Progress(0.0, None, "measuring the load of other processes")
    host, own = window_counters.read_host_cpu(), window_counters.process_cpu_ns()
    pressure, disks = read_pressure("cpu"), read_disks(device_number)
    start = time.monotonic()
    while time.monotonic() - start < BACKGROUND_SECONDS:
        if context.canceled:
            raise CanceledError
        time.sleep(0.05)
    seconds = time.monotonic() - start
    host_later, own_ns = window_counters.read_host_cpu(), window_counters.process_cpu_ns() - own
    later, now = read_pressure("cpu"), read_disks(device_number)
    waited = (later.some_total_us - pressure.some_total_us) / seconds / 1e4 if later and pressure else None
    spent = None if host is None or host_later is None else host_later.since(host)
    others = None if spent is None else max(0, spent.busy_ns - own_ns) / spent.capacity_ns
    io = other_io(disks, now, seconds, own_read=0, own_written=0) if disks and now else None
    return BackgroundLoad(waited, others, io)
