"""Scans: what compression and partition pruning do to the scan rate."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.sizing.io.capacity import find_bottleneck
from sizeup.sizing.sheet import Calculation, Sheet, Term, answered, shown, term, worked


def _compression(sheet: Sheet) -> Term:
    raw, stored = sheet.number("scan.raw_gb"), sheet.number("scan.stored_gb")
    return worked(sheet, term(raw, "GB") / term(stored, "GB"), "")


def _multipliers(sheet: Sheet) -> Iterator[Advice]:
    if "scan.raw_gb" in sheet.inputs:
        ratio = _compression(sheet)
        verdict = f"compression: {ratio.value:.3g} times the scan rate of the same disks"
        yield answered(sheet, "scan.compression", "Scan rate gain by compression", verdict, ratio, "scan.raw_gb")
    if "scan.partition_percent" in sheet.inputs:
        share = sheet.number("scan.partition_percent")
        gain = worked(sheet, term(1, "") / term(share, "%"), "")
        title, of_them = "Scan rate gain by partition pruning", f"reading {shown(share, '%')} of the partitions"
        verdict = f"partition pruning: {gain.value:.3g} times the scan rate, {of_them}"
        yield answered(sheet, "scan.partitions", title, verdict, gain, "scan.partition_percent")


def _effective(sheet: Sheet) -> Iterator[Advice]:
    """The rate at which uncompressed data of all partitions is effectively scanned."""
    least = find_bottleneck(sheet)
    if least is None or not {"scan.raw_gb", "scan.partition_percent"} & set(sheet.inputs):
        return
    factor = _compression(sheet).value if "scan.raw_gb" in sheet.inputs else 1.0
    share = sheet.optional("scan.partition_percent")
    factor /= 1.0 if share is None else share.value
    capacity = term(least[1], "MB/s")
    rate = worked(sheet, capacity * term(factor, ""), "MB/s")
    verdict = f"effective scan rate: {rate} at a storage capacity of {capacity}"
    yield answered(sheet, "scan.effective", "Effective scan rate", verdict, rate, "scan")


CALCULATIONS = (
    Calculation("scan rate gains", _multipliers, ("scan.compression", "scan.partitions"), about=("scan.",)),
    Calculation("effective scan rate", _effective, ("scan.effective",)),
)
