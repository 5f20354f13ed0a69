"""Findings in the words of ``catalog.toml``, which holds what each says on any machine."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from sizeup.decoding import data_beside
from sizeup.discovery.findings.remedies import for_guest, on_host
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine


class _FindingWords(Struct, frozen=True, forbid_unknown_fields=True):
    severity: Severity
    title: str = ""
    consequence: str = ""
    remedy: str = ""
    remedy_in_guest: str = ""
    of_kernel: bool = False
    """Whether the remedy changes the kernel, which a container cannot."""
    command: str = ""
    quantity: str = ""
    subjects: tuple[str, ...] = ()


def finding(
    id_: str,
    title: str = "",
    evidence: Iterable[str] = (),
    subjects: Iterable[str] = (),
    *,
    machine: Machine | None = None,
    consequence: str = "",
    remedy: str = "",
    command: str = "",
) -> Finding:
    """Return a finding of the catalog; what the check states takes the place of what the catalog says.

    ``id_`` may name a case of it, ``numa.suma/off``, which the catalog has under that name. ``machine`` decides between
    the remedies of a physical machine, a guest and a container.
    """
    entry: _FindingWords = data_beside(__file__, "catalog.toml", dict[str, _FindingWords])[id_]
    remedy = remedy or entry.remedy
    if machine is not None:
        remedy = for_guest(machine, remedy, entry.remedy_in_guest or remedy)
        remedy = on_host(machine, remedy) if entry.of_kernel else remedy
    return Finding(
        id_.partition("/")[0],
        entry.severity,
        title or entry.title,
        tuple(evidence),
        consequence or entry.consequence,
        remedy,
        tuple(subjects) or entry.subjects,
        command=command or entry.command,
        quantity=entry.quantity,
    )
