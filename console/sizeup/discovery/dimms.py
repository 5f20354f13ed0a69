"""Memory modules: slots from the firmware's SMBIOS table, modules and error counts from the memory controllers.

- ``/sys/firmware/dmi/tables/DMI`` (Documentation/ABI/testing/sysfs-firmware-dmi-tables) can be read by root alone.
- EDAC (Documentation/ABI/testing/sysfs-devices-edac) is for everybody, where a driver knows the memory controller. It
  lists no empty slot and no speed.
"""

from __future__ import annotations

import errno
import re

from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import DimmSlot, EdacController, EdacDimm
from sizeup.procfs.kernel_file import Unreadable
from sizeup.procfs.smbios import parse_memory_devices

SMBIOS_TABLE = "/sys/firmware/dmi/tables/DMI"
NEEDS_ROOT = "permission denied: needs root"
_EDAC = "/sys/devices/system/edac/mc"
_CONTROLLER = re.compile(r"mc\d{1,4}")
_MODULE = re.compile(r"(dimm|rank)(\d{1,4})")
_MEGABYTES_LIMIT = 1 << 32


def read_dimm_slots(sysroot: Sysroot) -> tuple[DimmSlot, ...]:
    """Return the slots that the firmware lists; empty where it lists none or only root may read them (a gap)."""
    table = sysroot.answer(SMBIOS_TABLE)
    if isinstance(table, Unreadable):
        if not table.missing:
            sysroot.note(SMBIOS_TABLE, NEEDS_ROOT if table.errno in (errno.EACCES, errno.EPERM) else table.reason)
        return ()
    slots, fault = parse_memory_devices(table)
    if fault is not None:
        sysroot.note(SMBIOS_TABLE, f"malformed: {fault}")
    return slots


def _count(sysroot: Sysroot, path: str) -> int | None:
    """Return a counter; None where it is unknown or negative."""
    number = sysroot.integer(path)
    return None if number is None or number < 0 else number


def _dimm(sysroot: Sysroot, base: str, name: str) -> EdacDimm:
    megabytes = _count(sysroot, f"{base}/size")
    return EdacDimm(
        name=name,
        label=sysroot.line(f"{base}/dimm_label"),
        location=sysroot.line(f"{base}/dimm_location"),
        kind=sysroot.line(f"{base}/dimm_mem_type"),
        size_bytes=None if megabytes is None or megabytes > _MEGABYTES_LIMIT else megabytes << 20,
        correctable_errors=_count(sysroot, f"{base}/dimm_ce_count"),
        uncorrectable_errors=_count(sysroot, f"{base}/dimm_ue_count"),
    )


def read_edac(sysroot: Sysroot) -> tuple[EdacController, ...]:
    """Return the memory controllers that have an EDAC driver, with their modules."""
    controllers = []
    for name in sysroot.names(_EDAC):
        if _CONTROLLER.fullmatch(name) is None:
            continue
        base = f"{_EDAC}/{name}"
        modules = [match for entry in sysroot.names(base) if (match := _MODULE.fullmatch(entry)) is not None]
        controllers.append(
            EdacController(
                name=name,
                driver=sysroot.line(f"{base}/mc_name"),
                correctable_errors=_count(sysroot, f"{base}/ce_count"),
                uncorrectable_errors=_count(sysroot, f"{base}/ue_count"),
                seconds_since_reset=_count(sysroot, f"{base}/seconds_since_reset"),
                dimms=tuple(
                    _dimm(sysroot, f"{base}/{match[0]}", match[0])
                    for match in sorted(modules, key=lambda match: (match[1], int(match[2])))
                ),
            )
        )
    return tuple(controllers)
