"""Flash: whether the whole schema, a tier or a cache fits, and what a cache costs in bookkeeping."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.sizing.io.array import usable_bytes
from sizeup.sizing.sheet import Calculation, Sheet, shown
from sizeup.units import format_in


def _use(sheet: Sheet) -> Iterator[Advice]:
    """Which of the three uses fits: everything on flash, the hot part, or a cache in front of disks."""
    if "array.drive" in sheet.inputs:
        return  # an array of disks
    database = sheet.number("db.gb")
    capacity = usable_bytes(sheet)
    hot = sheet.optional("db.hot_gb")
    if database.value <= capacity.value:
        use, figure = "schema", "flash.gain.schema"
        what = "the whole database fits"
    elif hot is not None and hot.value <= capacity.value:
        use, figure = "tier", "flash.gain.tier"
        what = f"the hot {shown(hot, 'GB')} fit, the whole does not"
    else:
        use, figure = "cache", "flash.gain.cache"
        what = "neither the whole nor a named hot part fits; use it as a cache"
    gain = sheet.rule(figure)
    share = database.value / capacity.value
    sheet.line(f"{shown(database, 'GB')} / {format_in(capacity.value, 'GB')} = {format_in(share, '%')}")
    yield sheet.advice(
        "flash.use",
        "What this flash is good for",
        f"{use}: {what} ({format_in(share, '%')} of the capacity); published gain {gain.value:.3g} times, one rig",
        sheet.answer(share, "%", figure),
        "%",
        decision=use,
    )


def _cache_size(sheet: Sheet) -> Iterator[Advice]:
    for name in ("least", "most"):
        sga, factor = sheet.number("sga.mb"), sheet.rule(f"flash.cache.{name}")
        size = sga.value * factor.value
        sheet.line(f"{shown(sga, 'GiB')} x {shown(factor, '')} = {format_in(size, 'GiB')}")
        yield sheet.advice(
            f"flash.cache.{name}",
            f"Flash cache, {name}",
            f"at {name} {format_in(size, 'GiB')} of flash cache for this SGA",
            sheet.answer(size, "GiB", f"flash.cache.{name}"),
            "GiB",
        )


def _bookkeeping(sheet: Sheet) -> Iterator[Advice]:
    """SGA that the cache's own block headers take."""
    cache, block = sheet.number("flash.cache_gib"), sheet.number("flash.block_kib")
    rac = sheet.optional_words("flash.rac") == "yes"
    each = sheet.rule("flash.cache.metadata-rac" if rac else "flash.cache.metadata-single")
    sga = sheet.number("sga.mb")
    taken = cache.value / block.value * each.value
    share = taken / sga.value
    sheet.line(f"{shown(cache, 'GiB')} / {shown(block, 'KiB')} = {format_in(cache.value / block.value, 'blocks')}")
    sheet.line(f"x {shown(each, 'B')} = {format_in(taken, 'GiB')}, {format_in(share, '%')} of the SGA")
    limit = sheet.rule("flash.cache.metadata-much")
    much = share > limit.value
    enlarge = ": enlarge the SGA with it" if much else ""
    sheet.caveat(
        "a cache whose database writes much is limited by those writes (free buffer waits), however large it is"
    )
    yield sheet.advice(
        "flash.cache.metadata",
        "SGA that the flash cache takes for itself",
        f"the cache's block headers take {format_in(taken, 'GiB')}, {format_in(share, '%')} of the SGA{enlarge}",
        sheet.answer(taken, "GiB", each.source),
        "GiB",
        decision="much" if much else "little",
    )


def _hits(sheet: Sheet) -> Iterator[Advice]:
    """Hit shares from V$SYSSTAT; physical reads include what the flash cache answered."""
    reads = sheet.number("sysstat.physical_reads")
    gets, consistent = sheet.number("sysstat.db_block_gets"), sheet.number("sysstat.consistent_gets")
    logical = gets.value + consistent.value
    ratio = 1 - reads.value / logical
    sheet.line(f"{shown(gets, '')} + {shown(consistent, '')} = {format_in(logical, 'logical reads')}")
    sheet.line(f"1 - {shown(reads, '')} / {format_in(logical, '')} = {format_in(ratio, '%')}")
    sheet.caveat("a buffer cache hit ratio judges nothing: a few hot blocks make it high and the system slow")
    yield sheet.advice(
        "sysstat.hit-ratio",
        "Buffer cache hit ratio",
        f"{format_in(ratio, '%')} of logical reads needed no physical one",
        sheet.answer(ratio, "%", "V$SYSSTAT"),
        "%",
    )
    reads, hits = sheet.number("sysstat.physical_reads"), sheet.number("sysstat.flash_hits")
    inserts = sheet.optional("sysstat.flash_inserts")
    share = hits.value / reads.value
    sheet.line(f"{shown(hits, '')} / {shown(reads, '')} = {format_in(share, '%')}")
    if inserts is not None:
        sheet.line(
            f"hits + inserts = {format_in(hits.value + inserts.value, '')}, about the physical reads: "
            "they include flash hits"
        )
    yield sheet.advice(
        "sysstat.flash-share",
        "Physical reads that flash answered",
        f"{format_in(share, '%')} of physical reads came from the flash cache",
        sheet.answer(share, "%", "V$SYSSTAT"),
        "%",
    )
    reads, hits = sheet.number("sysstat.physical_reads"), sheet.number("sysstat.flash_hits")
    disk = reads.value - hits.value
    sheet.line(f"{shown(reads, '')} - {shown(hits, '')} = {format_in(disk, '')}")
    yield sheet.advice(
        "sysstat.disk-reads",
        "Reads that reached the disks",
        f"{format_in(disk, 'reads')} reached the disks",
        sheet.answer(disk, "reads", "V$SYSSTAT"),
        "reads",
    )


CALCULATIONS = (
    Calculation("the use of flash", _use, ("flash.use",), about=("db.",)),
    Calculation("the size of a flash cache", _cache_size, ("flash.cache.least", "flash.cache.most")),
    Calculation("the bookkeeping of a flash cache", _bookkeeping, ("flash.cache.metadata",), about=("flash.",)),
    Calculation("hit shares", _hits, ("sysstat.",), about=("sysstat.",)),
)
