"""Temperatures of thermal zones, ``/sys/class/thermal``; Documentation/driver-api/thermal/sysfs-api.rst."""

from __future__ import annotations

from sizeup.procfs.kernel_file import SYS, list_names, read_integer


def read_zone_celsius(sysfs: str = SYS) -> dict[str, float]:
    """Return the temperature of each thermal zone by its name; a sleeping sensor answers with an error and has none."""
    folder = f"{sysfs}/class/thermal"
    zones = {
        name: read_integer(f"{folder}/{name}/temp") for name in list_names(folder) if name.startswith("thermal_zone")
    }
    return {name: millicelsius / 1000 for name, millicelsius in zones.items() if millicelsius is not None}
