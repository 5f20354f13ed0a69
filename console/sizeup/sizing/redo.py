"""Redo and write-ahead logs: rate, write sizes, and whether the storage keeps up."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.io.array import drive_iops, flash_drives
from sizeup.sizing.io.capacity import payload
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Sheet, shown
from sizeup.units import format_in

_DAY_S = 86400


def _total(sheet: Sheet) -> Quantity:
    """Redo of all databases at their peaks."""
    each, count = sheet.number("redo.mb_s"), sheet.number("redo.databases")
    total = each.value * count.value
    sheet.line(f"{shown(count, 'databases')} x {shown(each, 'MB/s')} = {format_in(total, 'MB/s')}")
    return Quantity(total, "bytes/s", each.origin, each.source)


def _rate(sheet: Sheet) -> Iterator[Advice]:
    total = _total(sheet)
    yield sheet.advice("redo.rate", "Redo rate", f"redo rate: {shown(total, 'MB/s')}", total, "MB/s")


def _writes(sheet: Sheet) -> Iterator[Advice]:
    """Redo write IOPS at each size."""
    for name, size_rule in (("largest", "redo.write.largest"), ("usual", "redo.write.usual")):
        total = _total(sheet)
        size = sheet.rule(size_rule)
        yield _write_rate(sheet, f"redo.writes.{name}", total, size)
    if "redo.write_kib" in sheet.inputs:
        total = _total(sheet)
        yield _write_rate(sheet, "redo.writes.stated", total, sheet.number("redo.write_kib"))


def _drives_for(sheet: Sheet, total: Quantity, size: Quantity) -> tuple[float, int]:
    """Return the redo writes per second at a size, and the drives that they keep busy."""
    writes = total.value / size.value
    per_drive = _writes_per_drive(sheet)
    drives = math.ceil(writes / per_drive.value)
    sheet.line(f"{shown(total, 'MB/s')} / {shown(size, 'KiB')} = {format_in(writes, 'IOPS')}")
    sheet.line(
        f"ceil({format_in(writes, 'IOPS')} / {shown(per_drive, 'IOPS')} a drive) = {format_in(drives, 'drives')}"
    )
    return writes, drives


def _writes_per_drive(sheet: Sheet) -> Quantity:
    """Return the writes per second of one drive: of the array's flash drives, else small sequential ones of a disk."""
    figure = drive_iops(sheet) if "array.drive_iops" in sheet.inputs or flash_drives(sheet) else None
    return sheet.rule("redo.drive-writes") if figure is None else figure.writes


def _write_rate(sheet: Sheet, advice_id: str, total: Quantity, size: Quantity) -> Advice:
    writes, drives = _drives_for(sheet, total, size)
    return sheet.advice(
        advice_id,
        f"Redo writes of {shown(size, 'KiB')}",
        f"redo: {format_in(round(writes), 'IOPS')} of {shown(size, 'KiB')} writes, "
        f"a full load for {format_in(drives, 'drives')}",
        sheet.answer(writes, "IOPS", "redo.drive-writes"),
        "IOPS",
    )


def _drives(sheet: Sheet) -> Iterator[Advice]:
    total = _total(sheet)
    size = sheet.rule("redo.write.usual")
    _, drives = _drives_for(sheet, total, size)
    yield sheet.advice(
        "redo.drives",
        "Drives kept busy by redo alone",
        f"redo alone keeps {format_in(drives, 'drives')} busy at {shown(size, 'KiB')} writes",
        sheet.answer(drives, "drives", "redo.drive-writes"),
        "drives",
    )


def _luns(sheet: Sheet) -> Iterator[Advice]:
    count, logs = sheet.number("redo.databases"), sheet.number("redo.logs_per_database")
    if count.origin is Origin.RULE:
        return  # the user set nothing about redo
    luns = count.value * logs.value
    sheet.line(f"{shown(count, 'databases')} x {shown(logs, 'logs')} = {format_in(luns, 'LUNs')}")
    yield sheet.advice(
        "redo.luns",
        "LUNs for redo alone",
        f"redo on LUNs of its own: {luns:g} LUNs",
        sheet.answer(luns, "LUNs", "redo.logs_per_database"),
        "LUNs",
    )


def _file(sheet: Sheet) -> Iterator[Advice]:
    each, time = sheet.number("redo.mb_s"), sheet.number("redo.switch_minutes")
    sheet.cite("oracle-log-switches")
    size = each.value * time.value / 1e9
    sheet.line(f"{shown(each, 'MB/s')} x {shown(time, 'min')} = {format_in(size, 'MB')}")
    yield sheet.advice(
        "redo.file-size",
        "Size of a log file",
        f"log file size: {format_in(size, 'MB')} for a log switch every {shown(time, 'min')} at the peak",
        sheet.answer(size, "MB", "oracle-log-switches"),
        "MB",
    )
    interval, factor = sheet.rule("redo.postgresql.checkpoint"), sheet.rule("redo.postgresql.max-wal")
    each = sheet.number("redo.mb_s")
    ends = [each.value * interval.value / 1e9 * end for end in (factor.value, factor.low or 0, factor.high or 0)]
    sheet.line(f"{shown(each, 'MB/s')} x {shown(interval, 's')} x {shown(factor, '')} = {format_in(ends[0], 'MB')}")
    yield sheet.advice(
        "redo.postgresql.max-wal-size",
        "max_wal_size of PostgreSQL",
        f"max_wal_size: {format_in(ends[0], 'MB')}, so that checkpoints are timed and not forced",
        sheet.answer(ends[0], "MB", "redo.postgresql.max-wal", low=ends[1], high=ends[2]),
        "MB",
    )


def _archive(sheet: Sheet) -> Iterator[Advice]:
    average = sheet.optional("redo.average_mb_s")
    each = sheet.number("redo.mb_s") if average is None else average
    if average is None:
        sheet.caveat(
            f"the peak rate is assumed for the whole day; for the average, use {KEYS['redo.average_mb_s'].flag}"
        )
    count = sheet.number("redo.databases")
    day = each.value * count.value * _DAY_S
    sheet.line(f"{shown(count, 'databases')} x {shown(each, 'MB/s')} x {_DAY_S:,} s = {format_in(day, 'GB')}")
    yield sheet.advice(
        "redo.archive-day",
        "Archived redo per day",
        f"archived redo: {format_in(day, 'GB')} per day",
        sheet.answer(day, "GB", "redo.mb_s"),
        "GB",
    )


def _recycle(sheet: Sheet) -> Iterator[Advice]:
    cache = sheet.number("redo.cache_gb")
    total = _total(sheet)
    seconds = cache.value / total.value
    sheet.line(f"{shown(cache, 'GB')} / {shown(total, 'MB/s')} = {format_in(seconds * 1e9, 's')}")
    sheet.caveat(
        f"with the cache in GiB and the rate in MB/s it would be {format_in(seconds * 1.024e9, 's')}: "
        "the cache size does not say whether GB means 1,000 or 1,024 MB"
    )
    yield sheet.advice(
        "redo.cache-recycle",
        "Time for redo to fill the array's cache",
        f"redo fills the whole cache every {format_in(seconds * 1e9, 's')} and displaces everything else",
        sheet.answer(seconds * 1e9, "s", "redo.cache_gb", low=seconds * 1e9, high=seconds * 1.024e9),
        "s",
    )


def _link(sheet: Sheet) -> Iterator[Advice]:
    name = sheet.words("redo.link")
    link = payload(sheet, name, "redo.link")
    total = _total(sheet)
    share = total.value / link.value
    sheet.line(f"{shown(total, 'MB/s')} / {shown(link, 'MB/s')} = {format_in(share, '%')}")
    enough = share < 1
    yield sheet.advice(
        "redo.link-share",
        "Link utilization by redo",
        f"redo uses {format_in(share, '%')} of one {name} link{'' if enough else ', which is too slow'}",
        sheet.answer(share, "%", f"link.{name}.payload"),
        "%",
        decision="enough" if enough else "short",
    )


def _sync(sheet: Sheet) -> Iterator[Advice]:
    """Whether one log writer, one write at a time, keeps up at the measured latency of a synchronous write."""
    each, unused = sheet.number("redo.mb_s"), sheet.unused("redo.sync_write_us")
    if unused is not None:
        yield sheet.advice(
            "redo.sync-write",
            "Capacity of synchronous redo writes",
            f"redo capacity: unknown. {unused.sentence('us')}, or use {KEYS['redo.sync_write_us'].flag}",
            decision="unknown",
        )
        return
    latency = sheet.number("redo.sync_write_us")
    size = sheet.optional("redo.write_kib") or sheet.rule("redo.write.usual")
    of_size = f"{shown(size, 'KiB')}{'' if 'redo.write_kib' in sheet.inputs else ' (assumed)'}"
    capacity = size.value / (latency.value / 1e9)
    ratio = capacity / each.value
    sheet.line(f"{shown(size, 'KiB')} / {shown(latency, 'us')} = {format_in(capacity, 'MB/s')} for one log writer")
    sheet.line(f"{format_in(capacity, 'MB/s')} / {shown(each, 'MB/s')} = {format_in(ratio, '')}")
    decision = "enough" if ratio >= 1 else "short"
    subject = "redo:" if ratio >= 1 else "bottleneck: synchronous writes of the redo."
    yield sheet.advice(
        "redo.sync-write",
        "Capacity of synchronous redo writes",
        f"{subject} {shown(each, 'MB/s')} demand of one database, {format_in(capacity, 'MB/s')} capacity of its log "
        f"writer ({format_in(float(f'{1 / ratio:.3g}'), '%')}) at {shown(latency, 'us')} per write of {of_size}",
        Quantity(ratio, "1", latency.origin, latency.source),
        "1",
        decision=decision,
    )


CALCULATIONS = (
    Calculation("redo", _rate, ("redo.rate",), about=("redo.",)),
    Calculation("redo writes", _writes, ("redo.writes.",)),
    Calculation("drives for redo", _drives, ("redo.drives",)),
    Calculation("LUNs for redo", _luns, ("redo.luns",)),
    Calculation("log files", _file, ("redo.file-size", "redo.postgresql.")),
    Calculation("archived redo", _archive, ("redo.archive-day",)),
    Calculation("array cache", _recycle, ("redo.cache-recycle",)),
    Calculation("link utilization by redo", _link, ("redo.link-share",)),
    Calculation("synchronous redo writes", _sync, ("redo.sync-write",)),
)
