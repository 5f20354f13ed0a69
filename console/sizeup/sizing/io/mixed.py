"""What was measured of reads, or of one mix, as a capacity for the mix of a demand."""

from __future__ import annotations

from msgspec.structs import replace

from sizeup.quantity import Doubt, Origin, Quantity
from sizeup.sizing.io.array import StageCapacity
from sizeup.sizing.sheet import Sheet
from sizeup.sizing.verdict import share_text

MIXED_WRITES = 0.3
"""The share of writes of the mix that is measured."""
_WRITE_COST, _ARRAY_WRITE_COST = 40.0, 10.0
"""Reads that a write costs at most where none was measured: of a device, and of an array, whose cache takes writes."""


def mix_cost(written: float, *, shared: bool) -> float:
    """Return how many reads a request of a mix costs at most; ``shared``: on an array or a filer."""
    return 1 - written + written * (_ARRAY_WRITE_COST if shared else _WRITE_COST)


_SAME_MIX = 0.05
"""Shares of writes that differ by less are one mix; redo adds to those of the workload."""


def of_mix(sheet: Sheet, stage: StageCapacity, reads: float) -> StageCapacity:
    """Return a measured stage at the demand's share of reads: reads alone bound what a mix gets, a mix says more."""
    iops, written, kind = stage.iops, 1 - reads, sheet.optional_words("path.kind")
    if iops is None or iops.origin is not Origin.MEASURED or written <= 0:
        return stage
    shared = kind in ("HBA", "NFS")
    mixed = sheet.optional("capacity.mixed_iops")
    if mixed is None:
        text = f"reads alone were measured, and {share_text(written)} are writes"
        action = "Measure the mix (preset oltp-7030)"
        return replace(stage, iops=_converted(iops, mix_cost(written, shared=shared), text, action))
    if written > MIXED_WRITES + _SAME_MIX:
        factor = mix_cost(written, shared=shared) / mix_cost(MIXED_WRITES, shared=shared)
        text = f"30% writes were measured, and {share_text(written)} are wanted"
        action = "Measure that mix (preset custom, read_percent)"
        return replace(stage, iops=_converted(mixed, factor, text, action))
    part = min(written / MIXED_WRITES, 1.0)
    between = 1 / ((1 - part) / iops.value + part / mixed.value)
    least, source = min(iops.least, mixed.least), iops.source if part < 1 else mixed.source
    low, high = min(least, between), None if iops.most is None else max(iops.most, between)
    doubts = tuple(one for one in (*mixed.doubts, *iops.doubts) if one.upper or one.end == least)
    return replace(stage, iops=Quantity(between, iops.unit, iops.origin, source, low, high, doubts=doubts))


def of_other_mix(found: Quantity, had: Quantity | None, reads: float) -> Quantity:
    """Return what holds a p99 at one share of reads for another one: it does with no more reads, and no more writes."""
    if had is None or found.origin is not Origin.MEASURED or abs(reads - had.value) <= _SAME_MIX:
        return found
    part = min(known / wanted for known, wanted in ((had.value, reads), (1 - had.value, 1 - reads)) if wanted)
    why = f"{share_text(had.value)} reads were measured, and {share_text(reads)} are wanted"
    doubt = Doubt(found.least * part, why, "Measure that mix (preset slo, read_percent)")
    return replace(found, doubts=(*found.doubts, doubt, replace(doubt, end=None, upper=True)))


def _converted(measured: Quantity, factor: float, reason: str, action: str) -> Quantity:
    """Return what was measured of another mix: its upper end as it is, its lower ends a part of what they are."""
    doubts = [replace(one, end=one.end / factor) if one.end and not one.upper else one for one in measured.doubts]
    own = measured.value if measured.low is None else measured.low
    return replace(measured, low=None, doubts=(*doubts, Doubt(own / factor, reason, action)))
