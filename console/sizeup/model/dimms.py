"""Memory modules (DIMMs): the slots that the firmware lists, and those that the memory controllers report."""

from __future__ import annotations

from msgspec import Struct


class DimmSlot(Struct, frozen=True):
    """One slot of the firmware's SMBIOS table (Memory Device, type 17), populated or empty."""

    name: str | None = None
    """Device locator, as printed on the board: ``DIMM_A1``."""
    bank: str | None = None
    """Bank locator: ``P0 CHANNEL A``."""
    size_bytes: int | None = None
    """0 for an empty slot; None where the firmware does not know."""
    kind: str | None = None
    """Memory type, such as ``DDR4``."""
    rated_transfers_per_second: int | None = None
    """The highest that the module supports."""
    configured_transfers_per_second: int | None = None
    """What the firmware set at boot."""
    manufacturer: str | None = None
    part_number: str | None = None
    channel: str | None = None
    """The locators up to the name of the channel; None where they name none."""

    @property
    def populated(self) -> bool | None:
        """Whether there is a module in the slot; None where the firmware does not know."""
        return None if self.size_bytes is None else self.size_bytes > 0


class EdacDimm(Struct, frozen=True):
    """One module, or one rank of it, as the driver of the memory controller (EDAC) reports it; empty slots are not."""

    name: str
    """``dimm0`` or ``rank0``."""
    label: str | None = None
    location: str | None = None
    """``channel 0 slot 1``, ``csrow 0 channel 1``."""
    kind: str | None = None
    """``Registered-DDR4``."""
    size_bytes: int | None = None
    correctable_errors: int | None = None
    uncorrectable_errors: int | None = None


class EdacController(Struct, frozen=True):
    """One memory controller with what it found since its counters were reset."""

    name: str
    """``mc0``."""
    driver: str | None = None
    """What the driver calls it."""
    correctable_errors: int | None = None
    """Also those that could not be traced to a module."""
    uncorrectable_errors: int | None = None
    seconds_since_reset: int | None = None
    dimms: tuple[EdacDimm, ...] = ()
