"""Findings from the health log of NVMe drives (NVM Express Base Specification 2.0, 5.16.1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.storage import NvmeController, NvmeHealth
from sizeup.text import plural

SOURCE = "NVM Express Base Specification 2.0, SMART / Health Information"

_WARNINGS = (
    "spare below its threshold",
    "temperature above or below its threshold",
    "reliability degraded by media or internal errors",
    "media read only",
    "backup of the volatile memory failed",
    "persistent memory region read only or unreliable",
)
"""The bits of the critical warning, from the lowest."""
_TEMPERATURE = 1 << 1


def warnings(health: NvmeHealth) -> tuple[str, ...]:
    """Return the critical warnings in words; bits that the specification does not name are numbered."""
    bits = [bit for bit in range(8) if health.critical_warning >> bit & 1]
    return tuple(_WARNINGS[bit] if bit < len(_WARNINGS) else f"bit {bit}" for bit in bits)


def failing_drives(machine: Machine) -> Iterator[Finding]:
    """Drives that warn, or whose spare is below their own threshold."""
    for controller in machine.nvme_controllers:
        health = controller.health
        if health is None:
            continue
        low = health.spare_percent < health.spare_threshold_percent
        found = warnings(health)
        if not found and not low:
            continue
        yield Finding(
            "nvme.failing",
            Severity.CRITICAL if low or health.critical_warning & ~_TEMPERATURE else Severity.WARNING,
            f"NVMe drive {controller.name} warns of its health",
            (
                f"{_named(controller)}: critical warning {health.critical_warning:#04x}"
                + (f" ({', '.join(found)})" if found else ""),
                f"spare {health.spare_percent} %, threshold {health.spare_threshold_percent} %",
                SOURCE,
            ),
            "The drive may lose data, refuse writes or slow down.",
            "Back up the data, find the cause by the bits of the warning (a temperature may be a matter of cooling), "
            "and replace the drive if its spare, its media or its memory is meant.",
            (f"nvme:{controller.name}",),
            command=_command(controller),
            quantity="storage.random_iops",
        )


def worn_drives(machine: Machine) -> Iterator[Finding]:
    """Drives that have used up the endurance that their maker states."""
    worn = [one for one in machine.nvme_controllers if one.health is not None and one.health.used_percent >= 100]
    if worn:
        yield Finding(
            "nvme.worn",
            Severity.WARNING,
            f"{plural(len(worn), 'NVMe drive')} with the endurance used up",
            (
                *(f"{_named(one)}: {one.health.used_percent} % used" for one in worn if one.health is not None),
                SOURCE,
            ),
            "By its maker's estimate the drive has taken the writes that it was made for. It need not fail, but "
            "warranty and retention of data without power may have ended.",
            "Plan to replace it, and check how much the database writes per day against the endurance in the drive's "
            "data sheet.",
            tuple(f"nvme:{one.name}" for one in worn),
            command=_command(worn[0]),
            quantity="storage.random_iops",
        )


def _named(controller: NvmeController) -> str:
    return " ".join(filter(None, (controller.name, controller.model)))


def _command(controller: NvmeController) -> str:
    return f"nvme smart-log /dev/{quote(controller.name)}"
