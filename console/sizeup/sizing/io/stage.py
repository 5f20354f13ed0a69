"""A stage of the paths to storage: what it can deliver, and what a failure leaves of that."""

from __future__ import annotations

from msgspec import Struct

from sizeup.quantity import Quantity


class StageCapacity(Struct, frozen=True):
    """One stage of the path to the disks, of all servers together."""

    name: str
    rate: Quantity | None
    """Bytes per second; None where it is unknown, or where only IOPS limit."""
    iops: Quantity | None = None
    left: float | None = None
    """The share of its bytes per second that the largest single failure leaves; None where that is unknown."""
    failure: str = ""
    """That failure: ``one of 2 paths``."""
    network: bool = False
    """Whether it is Ethernet."""
    drives: bool = False
    """Whether it is the drives of an array."""
    title: str = ""
    """Its name among other stages, where the narrowest link is no name for all paths together; empty for ``name``."""
    smaller: tuple[tuple[str, float], ...] = ()
    """Smaller single failures, each with the share that it leaves: of a port, where a card is the largest."""
    iops_left: float | None = None
    """The share of its IOPS that the largest single failure leaves."""
