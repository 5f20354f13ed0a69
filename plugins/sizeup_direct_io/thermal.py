"""Thermal state: throttled CPUs, and temperatures of processors and drives."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from msgspec import Struct

from sizeup.procfs.kernel_file import SYS, list_names, read_integer, read_line

_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "nvme", "drivetemp")
"""Drivers of ``/sys/class/hwmon`` for processors and drives."""
_COUNTERS = ("core_throttle_count", "package_throttle_count")
_PLAUSIBLE_CELSIUS = (1.0, 150.0)
"""Firmware without a limit reports 0 K or 65,535 K."""


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


def _throttled(sysfs: str) -> Iterator[tuple[str, int]]:
    folder = f"{sysfs}/devices/system/cpu"
    for name in list_names(folder):
        if name.startswith("cpu") and name[3:].isdigit():
            counts = [read_integer(f"{folder}/{name}/thermal_throttle/{counter}") for counter in _COUNTERS]
            known = [count for count in counts if count is not None]
            if known:
                yield name, sum(known)


def _temperatures(sysfs: str) -> Iterator[tuple[str, Temperature]]:
    for name in list_names(f"{sysfs}/class/hwmon"):
        folder = f"{sysfs}/class/hwmon/{name}"
        now = read_integer(f"{folder}/temp1_input")
        if now is None or read_line(f"{folder}/name") not in _SENSORS:
            continue
        limits = [read_integer(f"{folder}/temp1_{limit}") for limit in ("max", "crit")]
        low, high = _PLAUSIBLE_CELSIUS
        known = [limit / 1000 for limit in limits if limit is not None and low < limit / 1000 < high]
        device = os.path.basename(os.path.realpath(f"{folder}/device"))
        yield device, Temperature(now / 1000, known[0] if known else None)


def read_thermal_state(sysfs: str = SYS) -> ThermalState:
    """See the kernel's Documentation/admin-guide/thermal and Documentation/hwmon/sysfs-interface.rst."""
    return ThermalState(dict(_throttled(sysfs)), dict(_temperatures(sysfs)))


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
