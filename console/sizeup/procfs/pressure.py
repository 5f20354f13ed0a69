"""Pressure stall information, ``/proc/pressure``; Documentation/accounting/psi.rst."""

from __future__ import annotations

import re

from msgspec import Struct

from sizeup.procfs.kernel_file import PROC, read_text

_SOME = re.compile(r"^some avg10=(\d{1,3}(?:\.\d{1,6})?) .*\btotal=(\d{1,18})$", re.MULTILINE)


class Pressure(Struct, frozen=True):
    """The ``some`` line: time in which at least one task waited for the resource."""

    some_avg10_percent: float
    some_total_us: int


def parse_pressure(text: str) -> Pressure | None:
    """``/proc/pressure/cpu``, ``io`` or ``memory``; None where it has no ``some`` line."""
    match = _SOME.search(text)
    return Pressure(float(match[1]), int(match[2])) if match is not None else None


def read_pressure(resource: str, proc: str = PROC) -> Pressure | None:
    """Return the pressure of ``cpu``, ``io`` or ``memory``; None before Linux 4.20 or without CONFIG_PSI."""
    return parse_pressure(read_text(f"{proc}/pressure/{resource}") or "")
