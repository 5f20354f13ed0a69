"""Finding: something about this machine that its user should know."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Severity(Enum):
    """How much it matters; the words are shown, so color is never the only carrier."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


class Finding(Struct, frozen=True):
    """One observation with its evidence, its consequence and what to do."""

    id: str
    """Stable and dotted, such as ``memory.exhausted-node``."""
    severity: Severity
    title: str
    evidence: tuple[str, ...]
    consequence: str
    remedy: str
    """What to do, as a sentence."""
    subjects: tuple[str, ...] = ()
    """The parts of the machine it is about: ``node:0``, ``pool:0:2048kB``, ``nic:eth0``, ``pci:0000:3b:00.0``.

    Together with the id they identify a finding: two of one kind in one look are about different parts.
    """
    command: str = ""
    """The command that looks closer and changes nothing; shown, never run. A command that changes the system stands in
    ``remedy``."""
    probe: str = ""
    """Name of the probe that stated it; empty where discovery did."""
    quantity: str = ""
    """The quantity that would confirm it if it were measured, such as ``storage.bandwidth``; empty where none would."""


def gravity(finding: Finding) -> int:
    """Sort key that puts the gravest finding first."""
    return list(Severity).index(finding.severity)
