"""Names of processors that state only numbers.

Arm: implementer and part in the main ID register, as lscpu of util-linux names them (sys-utils/lscpu-arm.c). IBM Z: the
machine types that the kernel groups by generation (arch/s390/kernel/processor.c), with the models' usual names. A
number that is not here is shown as it is.
"""

from __future__ import annotations

_IMPLEMENTERS = {
    0x41: "Arm",
    0x42: "Broadcom",
    0x43: "Cavium",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x50: "APM",
    0x51: "Qualcomm",
    0x53: "Samsung",
    0x56: "Marvell",
    0x61: "Apple",
    0x6D: "Microsoft",
    0x70: "Phytium",
    0xC0: "Ampere",
}

_PARTS = {
    0x41: {
        0xC05: "Cortex-A5",
        0xC07: "Cortex-A7",
        0xC08: "Cortex-A8",
        0xC09: "Cortex-A9",
        0xC0E: "Cortex-A17",
        0xC0F: "Cortex-A15",
        0xD03: "Cortex-A53",
        0xD04: "Cortex-A35",
        0xD05: "Cortex-A55",
        0xD07: "Cortex-A57",
        0xD08: "Cortex-A72",
        0xD09: "Cortex-A73",
        0xD0A: "Cortex-A75",
        0xD0B: "Cortex-A76",
        0xD0C: "Neoverse-N1",
        0xD0D: "Cortex-A77",
        0xD40: "Neoverse-V1",
        0xD41: "Cortex-A78",
        0xD44: "Cortex-X1",
        0xD46: "Cortex-A510",
        0xD47: "Cortex-A710",
        0xD48: "Cortex-X2",
        0xD49: "Neoverse-N2",
        0xD4A: "Neoverse-E1",
        0xD4D: "Cortex-A715",
        0xD4E: "Cortex-X3",
        0xD4F: "Neoverse-V2",
        0xD80: "Cortex-A520",
        0xD81: "Cortex-A720",
        0xD82: "Cortex-X4",
        0xD84: "Neoverse-V3",
        0xD85: "Cortex-X925",
        0xD87: "Cortex-A725",
        0xD8E: "Neoverse-N3",
    },
    0x42: {0x516: "ThunderX2"},
    0x43: {0x0A1: "ThunderX 88XX", 0x0A2: "ThunderX 81XX", 0x0A3: "ThunderX 83XX", 0x0AF: "ThunderX2 99xx"},
    0x46: {0x001: "A64FX"},
    0x48: {0xD01: "Kunpeng 920 (TaiShan v110)"},
    0x4E: {0x000: "Denver", 0x003: "Denver 2", 0x004: "Carmel"},
    0x50: {0x000: "X-Gene"},
    0x51: {0xC00: "Falkor", 0xC01: "Saphira"},
    0x61: {
        0x022: "M1 Icestorm",
        0x023: "M1 Firestorm",
        0x024: "M1 Pro Icestorm",
        0x025: "M1 Pro Firestorm",
        0x028: "M1 Max Icestorm",
        0x029: "M1 Max Firestorm",
        0x032: "M2 Blizzard",
        0x033: "M2 Avalanche",
    },
    0x6D: {0xD49: "Azure Cobalt 100"},
    0x70: {0x660: "FTC660", 0x661: "FTC661", 0x662: "FTC662", 0x663: "FTC663"},
    0xC0: {0xAC3: "AmpereOne", 0xAC4: "Ampere-1a"},
}

_Z_MACHINES = {
    "2064": "z900",
    "2066": "z800",
    "2084": "z990",
    "2086": "z890",
    "2094": "z9 EC",
    "2096": "z9 BC",
    "2097": "z10 EC",
    "2098": "z10 BC",
    "2817": "z196",
    "2818": "z114",
    "2827": "zEC12",
    "2828": "zBC12",
    "2964": "z13",
    "2965": "z13s",
    "3906": "z14",
    "3907": "z14 ZR1",
    "8561": "z15",
    "8562": "z15 T02",
    "3931": "z16",
    "3932": "z16 A02",
    "9175": "z17",
}


def _number(text: str) -> int | None:
    try:
        return int(text, 0) if len(text) < 12 else None
    except ValueError:
        return None


def arm_name(implementer: str, part: str) -> str | None:
    """Return the name of an Arm core, such as ``Arm Neoverse-N1``, by the two numbers as cpuinfo writes them."""
    maker, number = _number(implementer), _number(part)
    if maker is None or number is None:
        return None
    name = _PARTS.get(maker, {}).get(number)
    vendor = _IMPLEMENTERS.get(maker, f"Arm implementer {maker:#04x}")
    return f"{vendor} {name}" if name else f"{vendor} part {number:#05x}"


def z_name(machine_type: str) -> str | None:
    """Return ``IBM z13 (type 2964)`` by the machine type; None where it is no number of four digits."""
    if not machine_type.isdecimal() or len(machine_type) != 4:
        return None
    name = _Z_MACHINES.get(machine_type)
    return f"IBM {name} (type {machine_type})" if name else f"IBM Z (type {machine_type})"
