"""Processors of a PowerVM partition, ``/proc/ppc64/lparcfg``; arch/powerpc/platforms/pseries/lparcfg.c."""

from __future__ import annotations

from sizeup.model.machine import LogicalPartition
from sizeup.procfs.kernel_file import integer_in

LPARCFG = "/proc/ppc64/lparcfg"
LPARCFG_KEYS = (
    "shared_processor_mode",
    "capped",
    "partition_entitled_capacity",
    "partition_max_entitled_capacity",
    "system_active_processors",
)
"""What is read of the file; it has serial numbers, too."""
_UNITS = 100
"""Capacity is in hundredths of a processor."""
_MOST_PROCESSORS = 1 << 16


def parse_lparcfg(text: str) -> LogicalPartition | None:
    """Return what the file says of the partition's processors; None where that is nothing.

    ``capped`` is missing where the firmware has no shared processors, as all are the partition's own then.
    """
    found: dict[str, int] = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        number = integer_in(value.strip()) if equals and key in LPARCFG_KEYS else None
        if number is not None and 0 <= number <= _MOST_PROCESSORS * _UNITS:
            found.setdefault(key, number)
    if not found:
        return None
    shared, capped, entitled, most, active = (found.get(key) for key in LPARCFG_KEYS)
    return LogicalPartition(
        bool(shared) if shared in (0, 1) else None,
        bool(capped) if capped in (0, 1) else None,
        entitled / _UNITS if entitled else None,
        most / _UNITS if most else None,
        active or None,
    )


def reduced_lparcfg(data: bytes) -> bytes:
    """Return the file with those lines alone that are read."""
    kept = (line for line in data.splitlines(keepends=True) if line.split(b"=")[0].decode("latin-1") in LPARCFG_KEYS)
    return b"".join(kept)
