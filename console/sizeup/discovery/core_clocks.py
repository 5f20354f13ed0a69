"""Base and highest clock of each core, from cpufreq (Documentation/admin-guide/pm/cpufreq.rst).

``cpuinfo_max_freq`` is the highest clock as the driver knows it. acpi-cpufreq and powernow-k8 know the firmware's
table of states, in which boost is none: without a boost ratio from CPPC (Linux 5.11) they report the nominal clock
there. It is the highest clock only where boost is off.
"""

from __future__ import annotations

from sizeup.discovery.sysroot import Sysroot

_CPUS = "/sys/devices/system/cpu"

NOMINAL_TABLES = ("acpi-cpufreq", "powernow-k8")
"""Drivers whose table of frequencies is the firmware's, in which boost is no state of its own."""

_TURBO_STEP = 1000
"""Intel's firmware lists the turbo as a state of 1 MHz above the nominal clock."""

_PLAUSIBLE_MHZ = range(100, 20_000)


def kilohertz(sysroot: Sysroot, path: str) -> int | None:
    """Return the clock in a file of cpufreq in Hertz; None where it is missing, 0, or that of no processor."""
    value = sysroot.integer(path)
    return value * 1000 if value is not None and 0 < value < _PLAUSIBLE_MHZ.stop * 1000 else None


def firmware_table(sysroot: Sysroot, cpufreq: str) -> int | None:
    """Return Hertz of the highest state in the firmware's table, which is the nominal clock; boost is above it."""
    if sysroot.line(f"{cpufreq}/scaling_driver") not in NOMINAL_TABLES:
        return None
    words = (sysroot.line(f"{cpufreq}/scaling_available_frequencies") or "").split()
    states = sorted({int(word) for word in words if word.isdecimal() and len(word) < 10}, reverse=True)
    if len(states) > 1 and states[0] - states[1] == _TURBO_STEP:
        del states[0]
    return states[0] * 1000 if states and states[0] else None


class CoreClocks:
    """The clocks of the cores of one machine; what they have in common is read once."""

    def __init__(self, sysroot: Sysroot, first: int | None) -> None:
        self._sysroot = sysroot
        cpufreq = f"{_CPUS}/cpu{first}/cpufreq"
        self._names = frozenset(sysroot.names(cpufreq)) if first is not None else frozenset[str]()
        known = "cpuinfo_max_freq" in self._names
        self._nominal = firmware_table(sysroot, cpufreq) if known else None
        self._boost_off = self._nominal is not None and sysroot.integer(f"{_CPUS}/cpufreq/boost") == 0
        self._by_kind: dict[str, int | None] = {}

    def base(self, cpu: int, kind: str | None) -> int | None:
        """Return the base clock of a core in Hertz; of a kind of core without a file for it, that of CPPC."""
        if "base_frequency" in self._names:
            return kilohertz(self._sysroot, f"{_CPUS}/cpu{cpu}/cpufreq/base_frequency")
        if kind is None:
            return None
        if kind not in self._by_kind:
            megahertz = self._sysroot.integer(f"{_CPUS}/cpu{cpu}/acpi_cppc/nominal_freq")
            plausible = megahertz if megahertz in _PLAUSIBLE_MHZ else None
            self._by_kind[kind] = None if plausible is None else plausible * 1_000_000
        return self._by_kind[kind]

    def highest(self, cpu: int) -> int | None:
        """Return the highest clock of a core in Hertz; None where boost may go above what the driver knows."""
        if "cpuinfo_max_freq" not in self._names:
            return None
        highest = kilohertz(self._sysroot, f"{_CPUS}/cpu{cpu}/cpufreq/cpuinfo_max_freq")
        if highest is None or self._nominal is None or highest > self._nominal + _TURBO_STEP * 1000:
            return highest
        return min(highest, self._nominal) if self._boost_off else None
