"""Processors from ``/proc/cpuinfo``, which each architecture writes in its own format."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, field

from sizeup.decoding import data_beside
from sizeup.model.topology import Cache, CacheKind
from sizeup.procfs.kernel_file import integer_in
from sizeup.units import parse_bytes, whole_number

_MODEL_KEYS = ("model name", "cpu model", "cpu", "processor", "model", "uarch", "isa", "hardware", "machine")
"""x86 and loongarch, mips, POWER and sparc, old Arm, s390, RISC-V: the first that is a name."""

_VENDOR_KEYS = ("vendor_id", "vendor", "cpu implementer", "mvendorid")
_PROCESSORS_LIMIT = 1 << 14
_COUNTS = ("physical id", "core id", "siblings", "cpu cores")

# cache3 : level=3 type=Unified scope=Shared size=65536K line_size=256 associativity=16
_S390_CACHE = re.compile(
    r"level=(\d{1,2}) type=(\w+) scope=(\w+) size=(\d{1,9}K)(?: line_size=(\d{1,9}))?(?: associativity=(\d{1,9}))?"
)
_S390_MACHINE = re.compile(r"^processor \d+: .*\bmachine = (\d{4})\b", re.MULTILINE)
_S390_PROCESSOR = re.compile(r"processor (\d+)")


class CpuInfo(Struct, frozen=True):
    """The parts of cpuinfo that sysfs lacks."""

    processors: tuple[int, ...] = ()
    model: str | None = None
    vendor: str | None = None
    models: dict[int, str] = field(default_factory=dict)
    """Model name by CPU, where it names each."""
    physical_ids: dict[int, int] = field(default_factory=dict)
    core_ids: dict[int, int] = field(default_factory=dict)
    """Unique within a package, except on processors of several dies that number each die's cores from 0."""
    package_cpus: dict[int, int] = field(default_factory=dict)
    """``siblings``: CPUs of this CPU's package, by CPU."""
    package_cores: dict[int, int] = field(default_factory=dict)
    """``cpu cores``: cores of this CPU's package, by CPU."""
    flags: frozenset[str] = frozenset()
    family: int | None = None
    """``cpu family`` and ``model`` of x86, decimal."""
    model_number: int | None = None
    is_x86: bool = False
    """It has the line ``flags``, in which x86 alone would say that there is a hypervisor."""
    is_arm: bool = False
    machine: str | None = None
    """What POWER calls the machine: ``CHRP IBM,8231-E2B``, ``PowerNV 8335-GTW``."""
    stated_clock: tuple[str, float] | None = None
    """Key and MHz of the first clock that it states: nominal on s390 and Loongson, on x86 the momentary one."""
    shared_caches: tuple[Cache, ...] = ()
    """Caches that s390 names here alone."""


def _sections(text: str) -> list[dict[str, str]]:
    sections: list[dict[str, str]] = [{}]
    keys: dict[str, str] = {}  # by what stands before the colon, as each CPU repeats them
    for line in text.replace("\0", " ").splitlines():
        before, colon, value = line.partition(":")
        if not colon:
            if not line.strip() and sections[-1]:
                sections.append({})
            continue
        key = keys.get(before, "")
        if not key:
            key = keys[before] = before.strip().lower()
        if key == "processor" and key in sections[-1]:
            sections.append({})
        # The first of a repeated key: the rest belong to devices after the CPUs.
        sections[-1].setdefault(key, value.strip())
    return sections[:_PROCESSORS_LIMIT]


def _model(section: dict[str, str]) -> str | None:
    """The name in a section of cpuinfo; an Arm core's is that of its numbers."""
    if (arm := arm_name(section.get("cpu implementer", ""), section.get("cpu part", ""))) is not None:
        return arm
    for key in _MODEL_KEYS:
        value = section.get(key, "")
        if value and not value.isdecimal():
            return " ".join(value.split())
    return None


def _stated_clock(sections: list[dict[str, str]]) -> tuple[str, float] | None:
    for section in sections:
        for key in ("cpu MHz static", "cpu MHz", "clock"):
            match = re.match(r"(\d{1,6}(?:\.\d{1,9})?)", section.get(key.lower(), ""))
            if match is not None and float(match[1]) > 0:
                return key, float(match[1])
    return None


def _s390_caches(text: str) -> tuple[Cache, ...]:
    kinds = {"Data": CacheKind.DATA, "Instruction": CacheKind.INSTRUCTION}
    return tuple(
        Cache(
            level=int(level),
            kind=kinds.get(kind, CacheKind.UNIFIED),
            size_bytes=parse_bytes(size),
            line_bytes=int(line) if line else None,
            shared_by=(),
            ways=int(ways) if ways else None,
        )
        for level, kind, scope, size, line, ways in _S390_CACHE.findall(text)
        if scope == "Shared"
    )


def parse_cpuinfo(text: str) -> CpuInfo:
    """Parse cpuinfo; what an architecture does not report is None, as is everything in an empty text."""
    sections = _sections(text)
    names = [_model(section) for section in sections]
    processors: list[int] = []
    models: dict[int, str] = {}
    counts: dict[str, dict[int, int]] = {key: {} for key in _COUNTS}
    for section, model in zip(sections, names, strict=True):
        number = section.get("processor", "")
        if not number.isdecimal() or len(number) > 6:
            continue
        cpu = int(number)
        processors.append(cpu)
        if model is not None:
            models[cpu] = model
        for key, found in counts.items():
            number = section.get(key, "")
            if number.isdecimal() and len(number) < 10:
                found[cpu] = int(number)
    if not processors:
        processors = [int(cpu) for cpu in _S390_PROCESSOR.findall(text) if len(cpu) < 6]
    first = sections[0]
    arm = dict.fromkeys(name for section, name in zip(sections, names, strict=True) if "cpu part" in section)
    # The expression tries every line, of thousands on a large x86 machine.
    z_machine = _S390_MACHINE.search(text) if "machine = " in text else None
    named = next(filter(None, names), None)
    flags = next((s[key] for s in sections for key in ("flags", "features") if key in s), "")
    return CpuInfo(
        processors=tuple(sorted(set(processors))),
        model=" and ".join(filter(None, arm)) or (z_name(z_machine[1]) if z_machine is not None else named),
        vendor=next((s[key] for s in sections for key in _VENDOR_KEYS if s.get(key)), None),
        models=models,
        physical_ids=counts["physical id"],
        core_ids=counts["core id"],
        package_cpus=counts["siblings"],
        package_cores=counts["cpu cores"],
        flags=frozenset(flags.split()),
        family=whole_number(first.get("cpu family", "")),
        model_number=whole_number(first.get("model", "")),
        is_x86=any("flags" in section for section in sections),
        is_arm=any("cpu implementer" in section for section in sections),
        machine=next((s["machine"] for s in sections if s.get("machine")), None),
        stated_clock=_stated_clock(sections),
        shared_caches=_s390_caches(text) if "scope=" in text else (),
    )


def _names() -> dict[str, Any]:
    """Return names by number: of Arm's implementers and their parts, and of the machines of IBM Z."""
    return data_beside(__file__, "cpu_names.toml")  # type: ignore[no-any-return]


def arm_name(implementer: str, part: str) -> str | None:
    """Return the name of an Arm core, such as ``Arm Neoverse-N1``, by the two numbers as cpuinfo writes them."""
    maker, number = integer_in(implementer), integer_in(part)
    if maker is None or number is None:
        return None
    parts = _names()["arm"].get(f"{maker:#04x}", {})
    name, vendor = parts.get(f"{number:#05x}"), parts.get("name", f"Arm implementer {maker:#04x}")
    return f"{vendor} {name}" if name else f"{vendor} part {number:#05x}"


def z_name(machine_type: str) -> str | None:
    """Return ``IBM z13 (type 2964)`` by the machine type; None where it is no number of four digits."""
    if not machine_type.isdecimal() or len(machine_type) != 4:
        return None
    name = _names()["z"].get(machine_type)
    return f"IBM {name} (type {machine_type})" if name else f"IBM Z (type {machine_type})"
