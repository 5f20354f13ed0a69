"""Kernel, hypervisor, clock source: what the machine runs on and under."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Platform:
    """What is true of the machine as a whole; None where it could not be read."""

    architecture: str | None = None
    kernel: str | None = None
    hostname: str | None = None
    hypervisor: str | None = None
    """``kvm``, ``vmware``, ``xen``, ``hyperv`` ...; None on bare metal or where nothing tells (see ``is_guest``)."""
    is_guest: bool | None = None
    """True under a hypervisor, False where the CPU says there is none, None where nothing tells."""
    container: str | None = None
    clock_source: str | None = None
    clock_sources: tuple[str, ...] = ()
    command_line: str | None = None
    governor: str | None = None
    transparent_huge_pages: str | None = None
    numa_balancing: bool | None = None
    model: str | None = None
    """What DMI calls the product."""
