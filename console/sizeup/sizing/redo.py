"""Redo and write-ahead logs: rate, write sizes, and whether the storage keeps up."""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec.structs import replace

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.io.array import drive_iops, flash_drives
from sizeup.sizing.io.capacity import payload
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Sheet, Term, answered, in_seconds, shown, term, vendor, worked
from sizeup.units import format_in

_DAY_S = 86400


def _total(sheet: Sheet) -> Quantity:
    """Redo of all databases at their peaks."""
    each, count = sheet.number("redo.mb_s"), sheet.number("redo.databases")
    total = worked(sheet, term(count, "databases") * term(each, "MB/s"), "MB/s")
    return Quantity(total.value, "bytes/s", each.origin, each.source)


def _rate(sheet: Sheet) -> Iterator[Advice]:
    total = _total(sheet)
    yield sheet.advice("redo.rate", "Redo rate", f"redo rate: {shown(total, 'MB/s')}", total, "MB/s")


def _writes(sheet: Sheet) -> Iterator[Advice]:
    """Redo write IOPS at each size."""
    stated = ("stated",) if "redo.write_kib" in sheet.inputs else ()
    for name in ("largest", "usual", *stated):
        total = _total(sheet)
        size = sheet.number("redo.write_kib") if name in stated else sheet.rule(f"redo.write.{name}")
        writes, drives = _drives_for(sheet, total, size)
        of_size = f"{shown(size, 'KiB')} writes"
        verdict = f"redo: {format_in(round(writes.value), 'IOPS')} of {of_size}, which keep {drives} busy"
        title = f"Redo writes of {shown(size, 'KiB')}"
        yield answered(sheet, f"redo.writes.{name}", title, verdict, writes, "redo.drive-writes")


def _drives_for(sheet: Sheet, total: Quantity, size: Quantity) -> tuple[Term, Term]:
    """Return the redo writes per second at a size, and the drives that they keep busy.

    Those are the array's flash drives, else disks with small sequential writes.
    """
    figure = drive_iops(sheet) if "array.drive_iops" in sheet.inputs or flash_drives(sheet) else None
    per_drive = sheet.rule("redo.drive-writes") if figure is None else figure.writes
    writes = worked(sheet, term(total, "MB/s") / term(size, "KiB"), "IOPS")
    each = Term(per_drive.value, f"{shown(per_drive, 'IOPS')} a drive")
    return writes, worked(sheet, math.ceil(writes / each), "drives")


def _drives(sheet: Sheet) -> Iterator[Advice]:
    total = _total(sheet)
    size = sheet.rule("redo.write.usual")
    _, drives = _drives_for(sheet, total, size)
    verdict = f"redo alone keeps {drives} busy at {shown(size, 'KiB')} writes"
    yield answered(sheet, "redo.drives", "Drives kept busy by redo alone", verdict, drives, "redo.drive-writes")


def _luns(sheet: Sheet) -> Iterator[Advice]:
    count, logs = sheet.number("redo.databases"), sheet.number("redo.logs_per_database")
    if count.origin is Origin.RULE:
        return  # the user set nothing about redo
    luns = worked(sheet, term(count, "databases") * term(logs, "logs"), "LUNs")
    verdict = f"redo on LUNs of its own: {luns.value:g} LUNs"
    yield answered(sheet, "redo.luns", "LUNs for redo alone", verdict, luns, "redo.logs_per_database")


def _file(sheet: Sheet) -> Iterator[Advice]:
    if vendor(sheet) in ("", "oracle"):
        each, time = sheet.number("redo.mb_s"), sheet.number("redo.switch_minutes")
        sheet.cite("oracle-log-switches")
        size = worked(sheet, term(each, "MB/s") * in_seconds(time, "min"), "MB")
        verdict = f"log file size: {size} for a log switch every {shown(time, 'min')} at the peak"
        yield answered(sheet, "redo.file-size", "Size of a log file", verdict, size, "oracle-log-switches")
    if vendor(sheet) not in ("", "postgresql"):
        return
    interval, factor = sheet.rule("redo.postgresql.checkpoint"), sheet.rule("redo.postgresql.max-wal")
    each, least = sheet.number("redo.mb_s"), sheet.rule("redo.postgresql.max-wal-default")
    ends = [each.value * interval.value / 1e9 * end for end in (factor.value, factor.low or 0, factor.high or 0)]
    sheet.line(f"{shown(each, 'MB/s')} x {shown(interval, 's')} x {shown(factor, '')} = {format_in(ends[0], 'MB')}")
    if ends[0] < least.value:
        sheet.line(f"PostgreSQL's own default is more: {shown(least, 'MB')}")
    ends = [max(end, least.value) for end in ends]
    verdict = f"max_wal_size: {format_in(ends[0], 'MB')}, so that checkpoints are timed and not forced"
    most = sheet.answer(ends[0], "MB", "redo.postgresql.max-wal", low=ends[1], high=ends[2])
    yield sheet.advice("redo.postgresql.max-wal-size", "max_wal_size of PostgreSQL", verdict, most, "MB")


def _archive(sheet: Sheet) -> Iterator[Advice]:
    if vendor(sheet) in ("mysql", "mariadb"):
        return
    average = sheet.optional("redo.average_mb_s")
    each = sheet.number("redo.mb_s") if average is None else average
    if average is None:
        sheet.caveat(
            f"the peak rate is assumed for the whole day; for the average, use {KEYS['redo.average_mb_s'].flag}"
        )
    of_all = term(sheet.number("redo.databases"), "databases") * term(each, "MB/s")
    day = worked(sheet, of_all * Term(_DAY_S, f"{_DAY_S:,} s"), "GB")
    verdict = f"archived redo: {day} per day"
    yield answered(sheet, "redo.archive-day", "Archived redo per day", verdict, day, "redo.mb_s")


def _recycle(sheet: Sheet) -> Iterator[Advice]:
    cache = sheet.number("redo.cache_gb")
    total = _total(sheet)
    time = worked(sheet, (term(cache, "GB") / term(total, "MB/s")).scaled(1e9), "s")
    longest = cache.value / total.value * 1.024e9
    sheet.caveat(
        f"with the cache in GiB and the rate in MB/s it would be {format_in(longest, 's')}: "
        "the cache size does not say whether GB means 1,000 or 1,024 MB"
    )
    title = "Time for redo to fill the array's cache"
    verdict = f"redo fills the whole cache every {time} and displaces everything else"
    found = sheet.answer(time.value, "s", "redo.cache_gb", low=time.value, high=longest)
    yield sheet.advice("redo.cache-recycle", title, verdict, found, "s")


def _link(sheet: Sheet) -> Iterator[Advice]:
    name = sheet.words("redo.link")
    link = payload(sheet, name, "redo.link")
    total = _total(sheet)
    share = worked(sheet, term(total, "MB/s") / term(link, "MB/s"), "%")
    enough = share.value < 1
    verdict = f"redo uses {share} of one {name} link{'' if enough else ', which is too slow'}"
    title, decision = "Link utilization by redo", "enough" if enough else "short"
    yield answered(sheet, "redo.link-share", title, verdict, share, f"link.{name}.payload", decision=decision)


def _sync(sheet: Sheet) -> Iterator[Advice]:
    """Whether one log writer, one write at a time, keeps up at the measured latency of a synchronous write."""
    each, unused = sheet.number("redo.mb_s"), sheet.unused("redo.sync_write_us")
    title = "Capacity of synchronous redo writes"
    if unused is not None:
        verdict = f"redo capacity: unknown. {unused.sentence('us')}, or use {KEYS['redo.sync_write_us'].flag}"
        yield sheet.advice("redo.sync-write", title, verdict, decision="unknown")
        return
    latency = sheet.number("redo.sync_write_us")
    size = sheet.optional("redo.write_kib") or sheet.rule("redo.write.usual")
    of_size = f"{shown(size, 'KiB')}{'' if 'redo.write_kib' in sheet.inputs else ' (assumed)'}"
    capacity = term(size.value / (latency.value / 1e9), "MB/s")
    sheet.line(f"{shown(size, 'KiB')} / {shown(latency, 'us')} = {capacity} for one log writer")
    ratio = worked(sheet, capacity / term(each, "MB/s"), "").value
    decision = "enough" if ratio >= 1 else "short"
    subject = "redo:" if ratio >= 1 else "bottleneck: synchronous writes of the redo."
    yield sheet.advice(
        "redo.sync-write",
        title,
        f"{subject} {shown(each, 'MB/s')} demand of one database, {capacity} capacity of its log "
        f"writer ({format_in(float(f'{1 / ratio:.3g}'), '%')}) at {shown(latency, 'us')} per write of {of_size}",
        Quantity(ratio, "1", latency.origin, latency.source),
        "1",
        decision=decision,
    )


def _of_redo(calculation: Calculation) -> Calculation:
    """Return a calculation that says nothing where somebody stated that there is no redo."""

    def work(sheet: Sheet) -> Iterator[Advice]:
        stated = sheet.inputs.get("redo.mb_s")
        return iter(()) if isinstance(stated, Quantity) and not stated.value else calculation.work(sheet)

    return replace(calculation, work=work)


_ALL = (
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
CALCULATIONS = tuple(map(_of_redo, _ALL))
