"""The base clock of the processors: the sources in which it is stated or can be inferred, the surest first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from sizeup.discovery.cpuinfo import CpuInfo
from sizeup.discovery.cpus import CPU, firmware_table, kilohertz
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.topology import Core
from sizeup.quantity import Origin, Quantity
from sizeup.units import format_hz

_NAMED_CLOCK = re.compile(r"@\s*(\d{1,3}(?:\.\d{1,4})?)\s*([GM])Hz")


def parse_named_clock(model: str) -> int | None:
    """Hertz of ``Intel(R) Xeon(R) CPU X7550 @ 2.00GHz``; None where the name carries no clock."""
    match = _NAMED_CLOCK.search(model)
    return None if match is None else round(float(match[1]) * {"G": 1e9, "M": 1e6}[match[2]])


def parse_dmi_clock(data: bytes) -> int | None:
    """Hertz of ``Current Speed`` in a type 4 record (SMBIOS 7.5, offset 16h, MHz); 0 means unknown."""
    if len(data) < 0x18 or data[0] != 4:
        return None
    megahertz = int.from_bytes(data[0x16:0x18], "little")
    return megahertz * 1_000_000 if 0 < megahertz < 20_000 else None


def _dmi_clock(sysroot: Sysroot) -> tuple[int, str] | None:
    entries = "/sys/firmware/dmi/entries"
    for name in sorted(sysroot.names(entries)):
        if name.startswith("4-"):
            data = sysroot.answer(f"{entries}/{name}/raw")
            clock = parse_dmi_clock(data) if isinstance(data, bytes) else None
            if clock is not None:
                return clock, f"{entries}/{name}/raw"
    return None


_PLAUSIBLE_MHZ = 100

_ROUNDED = 0.02
"""A name rounds the clock by less than this share."""
_CAPPED = 0.99
"""The firmware caps the clock where its limit is below this share of it."""


def _stated(sysroot: Sysroot, cpuinfo: CpuInfo, cpufreq: str) -> tuple[int, str, tuple[str, ...]] | None:
    """The clock in cpuinfo of s390, POWER, ia64, Loongson and others but x86, which has the momentary one there."""
    found = cpuinfo.stated_clock
    if cpuinfo.is_x86 or found is None:
        return None
    key, megahertz = found
    if megahertz < _PLAUSIBLE_MHZ:
        sysroot.note("/proc/cpuinfo", f"{key}: {megahertz:g} MHz is no clock of a processor; ignored")
        return None
    # Without a hypervisor the kernel of POWER sets the clock itself, and prints the momentary one.
    changing = (cpuinfo.machine or "").startswith("PowerNV") or sysroot.line(f"{cpufreq}/scaling_driver") is not None
    momentary = changing and key != "cpu MHz static"
    caveats = ("the clock at this moment, which the kernel may have lowered",) if momentary else ()
    return round(megahertz * 1e6), f"/proc/cpuinfo: {key}", caveats


def read_base_clock(sysroot: Sysroot, cpuinfo: CpuInfo, cpu: int) -> Quantity | None:
    """The base clock with its origin, the surest source first; None when the user must say."""
    cpufreq, cppc = f"{CPU}/cpu{cpu}/cpufreq", f"{CPU}/cpu{cpu}/acpi_cppc/nominal_freq"
    caveats: tuple[str, ...] = ()
    if (base := kilohertz(sysroot, f"{cpufreq}/base_frequency")) is not None:
        hertz, source = base, f"{cpufreq}/base_frequency"
    elif (nominal := kilohertz(sysroot, f"{cpufreq}/cpuinfo_nominal_freq")) is not None:  # POWER without a hypervisor
        hertz, source = nominal, f"{cpufreq}/cpuinfo_nominal_freq"
    elif named := parse_named_clock(cpuinfo.model or ""):
        hertz, source = named, "/proc/cpuinfo: model name"
    elif (table := firmware_table(sysroot, cpufreq)) is not None:
        hertz, source = table, f"{cpufreq}/scaling_available_frequencies"
    elif (megahertz := sysroot.integer(cppc)) is not None and _PLAUSIBLE_MHZ <= megahertz < 20_000:
        hertz, source = megahertz * 1_000_000, cppc
    elif (stated := _stated(sysroot, cpuinfo, cpufreq)) is not None:
        hertz, source, caveats = stated
    elif (highest := kilohertz(sysroot, f"{cpufreq}/cpuinfo_max_freq")) is not None:
        hertz, source = highest, f"{cpufreq}/cpuinfo_max_freq"
        caveats = ("this is the maximum clock; the base may be lower",)
    elif (dmi := _dmi_clock(sysroot)) is not None:
        hertz, source = dmi
        caveats = ("what the firmware set at boot, which may not be the base clock",)
    elif cpuinfo.megahertz and "tsc" in cpuinfo.flags and "aperfmperf" not in cpuinfo.flags:
        # Without cpufreq and the counters that tell the momentary clock, the kernel prints the TSC's rate
        # as cpu MHz, and that is the nominal clock or near it.
        hertz, source = round(cpuinfo.megahertz * 1e6), "/proc/cpuinfo: cpu MHz"
        caveats = ("inferred from the rate of the TSC, not stated",)
    else:
        return None
    named = parse_named_clock(cpuinfo.model or "")
    if named and abs(hertz - named) > _ROUNDED * named:
        caveats = (*caveats, f"the model's name says {format_hz(named)}")
    limit = kilohertz(sysroot, f"{cpufreq}/bios_limit")
    if limit is not None and limit < _CAPPED * hertz:
        caveats = (*caveats, f"the firmware limits the clock to {format_hz(limit)} at present (bios_limit)")
    return Quantity(float(hertz), "Hz", Origin.DETECTED, source, caveats=caveats)


def of_one_kind(clock: Quantity | None, cores: Sequence[Core], cpu: int) -> Quantity | None:
    """The base clock, with a caveat where it is that of one kind of core of several."""
    kind = next((core.kind for core in cores if cpu in core.pus), None)
    if clock is None or kind is None or len({core.kind for core in cores}) < 2:
        return clock
    return replace(clock, caveats=(f"of the {kind} cores; the other kinds have clocks of their own", *clock.caveats))
