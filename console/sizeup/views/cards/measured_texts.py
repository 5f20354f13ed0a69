"""What was measured of a resource, as a card has it."""

from __future__ import annotations

from msgspec import Struct


class MeasuredTexts(Struct, frozen=True):
    """What was measured of one resource."""

    texts: tuple[str, ...] = ()
    """The most important figure first; one that says why there is none where no figure is valid."""
    notes: tuple[str, ...] = ()
    """Why figures do not count, in sentences."""
    steps: tuple[str, ...] = ()
    """Ids of the steps that the figures are of, in the order of the texts."""
    valid: bool = False
    """Whether the texts are figures that count."""
    void: bool = False
    """Whether steps were measured to their end and none of their figures is valid."""
    open: bool = False
    """Whether the text is of a step whose figures only scatter more than was asked for."""
    brief: str = ""
    """The local latency or the highest IOPS alone, for a list: ``91k``; ``91k?`` where it did not converge."""
    rate: float = 0.0
    """The same IOPS as a number, 0 where there is none."""
    further: tuple[str, ...] = ()
    """Those of the texts that workloads are judged by, too, which are shown wherever there is room."""
