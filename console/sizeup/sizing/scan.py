"""Scans: what compression and partition pruning do to the scan rate."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.io.capacity import find_bottleneck
from sizeup.sizing.sheet import Calculation, Sheet, shown
from sizeup.units import format_in


def _compression(sheet: Sheet) -> Quantity:
    raw, stored = sheet.number("scan.raw_gb"), sheet.number("scan.stored_gb")
    ratio = raw.value / stored.value
    sheet.line(f"{shown(raw, 'GB')} / {shown(stored, 'GB')} = {format_in(ratio, '')}")
    return sheet.answer(ratio, "1", "scan.raw_gb")


def _multipliers(sheet: Sheet) -> Iterator[Advice]:
    if "scan.raw_gb" in sheet.inputs:
        ratio = _compression(sheet)
        yield sheet.advice(
            "scan.compression",
            "Scan rate gain by compression",
            f"compression: {ratio.value:.3g} times the scan rate of the same disks",
            ratio,
            "1",
        )
    if "scan.partition_percent" in sheet.inputs:
        share = sheet.number("scan.partition_percent")
        gain = 1 / share.value
        sheet.line(f"1 / {shown(share, '%')} = {format_in(gain, '')}")
        yield sheet.advice(
            "scan.partitions",
            "Scan rate gain by partition pruning",
            f"partition pruning: {gain:.3g} times the scan rate, reading {shown(share, '%')} of the partitions",
            sheet.answer(gain, "1", "scan.partition_percent"),
            "1",
        )


def _effective(sheet: Sheet) -> Iterator[Advice]:
    """The rate at which uncompressed data of all partitions is effectively scanned."""
    least = find_bottleneck(sheet)
    if least is None or not {"scan.raw_gb", "scan.partition_percent"} & set(sheet.inputs):
        return
    factor = _compression(sheet).value if "scan.raw_gb" in sheet.inputs else 1.0
    share = sheet.optional("scan.partition_percent")
    factor /= 1.0 if share is None else share.value
    rate = least.capacity.value * factor
    sheet.line(f"{shown(least.capacity, 'MB/s')} x {format_in(factor, '')} = {format_in(rate, 'MB/s')}")
    yield sheet.advice(
        "scan.effective",
        "Effective scan rate",
        f"effective scan rate: {format_in(rate, 'MB/s')} at a storage capacity of {shown(least.capacity, 'MB/s')}",
        sheet.answer(rate, "MB/s", "scan"),
        "MB/s",
    )


CALCULATIONS = (
    Calculation("scan rate gains", _multipliers, ("scan.compression", "scan.partitions"), about=("scan.",)),
    Calculation("effective scan rate", _effective, ("scan.effective",)),
)
