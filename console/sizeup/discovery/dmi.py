"""The fields of the firmware's DMI table that the kernel shows as files."""

from __future__ import annotations

from sizeup.discovery.sysroot import Sysroot


def dmi_path(field: str) -> str:
    """Return the path of a field such as ``product_name``."""
    return f"/sys/class/dmi/id/{field}"


def dmi_line(sysroot: Sysroot, field: str) -> str | None:
    """Return the text of a field; None where it is missing or cannot be read."""
    return sysroot.line(dmi_path(field))
