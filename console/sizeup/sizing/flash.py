"""Flash: whether the whole database, its hot set or only a cache fits, and the SGA that a cache requires."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.io.array import flash_drives, raw_bytes, usable_bytes
from sizeup.sizing.io.capacity import INSIDE, inside_servers
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Sheet, shown
from sizeup.units import format_in


def _use(sheet: Sheet) -> Iterator[Advice]:
    """Which of three uses fits: the whole database on flash, the hot set, or a cache in front of disks."""
    if not flash_drives(sheet):
        return
    database, inside = sheet.number("db.gb"), inside_servers(sheet)
    capacity = raw_bytes(sheet) if inside else usable_bytes(sheet)
    hot, moved = sheet.optional("db.hot_gb"), sheet.optional_words("flash.moved")
    if inside:
        use, figure = "cache", "flash.gain.cache"
        what = (
            f"{INSIDE}, so use them as a cache of each (for drives that all servers reach: {KEYS['path.stages'].flag})"
        )
    elif database.value <= capacity.value:
        use, figure = "schema", "flash.gain.schema"
        what = "the whole database fits"
    elif hot is not None and hot.value <= capacity.value:
        use, figure = "tier", f"flash.gain.{moved or 'tier'}"
        what = f"the hot set of {shown(hot, 'GB')}{_hot_share_clause(sheet)} fits, the whole database does not"
    elif hot is None and moved is not None:
        use, figure = "tier", f"flash.gain.{moved}"
        what = f"the whole database does not fit, so move {moved.replace('-', ' ')}"
    else:
        use, figure, capacity = "cache", "flash.gain.cache", raw_bytes(sheet)
        what = "neither the database nor a known hot set fits, so use it as a cache"
        if hot is None and (known := _hot_share_clause(sheet)):
            what += f". The size of the hot set{known} is unknown. Use {KEYS['db.hot_gb'].flag}"
    gain = sheet.rule(figure)
    share, raw = database.value / capacity.value, " without RAID" if use == "cache" else ""
    sheet.line(f"{shown(database, 'GB')} / {format_in(capacity.value, 'GB')} = {format_in(share, '%')}")
    yield sheet.advice(
        "flash.use",
        "Use of the flash",
        f"{what} (database: {format_in(share, '%')} of the flash{raw}); published gain, one system: {_gain(gain)}",
        sheet.answer(share, "%", figure),
        "%",
        decision=use,
    )


def _hot_share_clause(sheet: Sheet) -> str:
    """Return which share of the reads the hot set causes, as a clause; empty where that is unknown."""
    share = sheet.optional("db.hot_percent")
    return "" if share is None else f" ({shown(share, '%')} of the reads)"


def _gain(gain: Quantity) -> str:
    """Return a published gain in throughput: as a factor, a small one in percent, a range as a range."""
    if gain.low is not None and gain.high is not None:
        return f"{gain.low:.3g} to {gain.high:.3g} times, by what is moved"
    return f"{gain.value:.3g} times" if gain.value >= _TIMES_FROM else f"{format_in(gain.value - 1, '%')} more"


_TIMES_FROM = 2.0
"""A gain below this is a percentage."""


def _cache_size(sheet: Sheet) -> Iterator[Advice]:
    for name in ("least", "most"):
        sga, factor = sheet.number("sga.mb"), sheet.rule(f"flash.cache.{name}")
        size = sga.value * factor.value
        sheet.line(f"{shown(sga, 'GiB')} x {shown(factor, '')} = {format_in(size, 'GiB')}")
        yield sheet.advice(
            f"flash.cache.{name}",
            f"Flash cache, {name}",
            f"flash cache for this SGA: at {name} {format_in(size, 'GiB')}",
            sheet.answer(size, "GiB", f"flash.cache.{name}"),
            "GiB",
        )


def _bookkeeping(sheet: Sheet) -> Iterator[Advice]:
    """SGA that the block headers of the cache require."""
    cache, block = sheet.number("flash.cache_gib"), sheet.number("flash.block_kib")
    rac = sheet.optional_words("flash.rac") == "yes"
    each = sheet.rule("flash.cache.metadata-rac" if rac else "flash.cache.metadata-single")
    sga = sheet.number("sga.mb")
    overhead = cache.value / block.value * each.value
    share = overhead / sga.value
    sheet.line(f"{shown(cache, 'GiB')} / {shown(block, 'KiB')} = {format_in(cache.value / block.value, 'blocks')}")
    sheet.line(f"x {shown(each, 'B')} = {format_in(overhead, 'GiB')}, {format_in(share, '%')} of the SGA")
    limit = sheet.rule("flash.cache.metadata-much")
    much = share > limit.value
    enlarge = ". Enlarge the SGA by as much" if much else ""
    sheet.caveat("a write-heavy database is limited by its writes (free buffer waits), whatever the size of the cache")
    yield sheet.advice(
        "flash.cache.metadata",
        "SGA overhead of the flash cache",
        f"block headers of the flash cache: {format_in(overhead, 'GiB')}, {format_in(share, '%')} of the SGA{enlarge}",
        sheet.answer(overhead, "GiB", each.source),
        "GiB",
        decision="much" if much else "little",
    )


def _hits(sheet: Sheet) -> Iterator[Advice]:
    """Hit ratios from V$SYSSTAT; physical reads include reads from the flash cache."""
    reads = sheet.number("sysstat.physical_reads")
    gets, consistent = sheet.number("sysstat.db_block_gets"), sheet.number("sysstat.consistent_gets")
    logical = gets.value + consistent.value
    ratio = 1 - reads.value / logical
    sheet.line(f"{shown(gets, '')} + {shown(consistent, '')} = {format_in(logical, 'logical reads')}")
    sheet.line(f"1 - {shown(reads, '')} / {format_in(logical, '')} = {format_in(ratio, '%')}")
    sheet.caveat("a high buffer cache hit ratio proves nothing: a few hot blocks raise it while the system is slow")
    yield sheet.advice(
        "sysstat.hit-ratio",
        "Buffer cache hit ratio",
        f"buffer cache hit ratio: {format_in(ratio, '%')} of logical reads",
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
        "Flash cache hit ratio",
        f"flash cache hit ratio: {format_in(share, '%')} of physical reads",
        sheet.answer(share, "%", "V$SYSSTAT"),
        "%",
    )
    reads, hits = sheet.number("sysstat.physical_reads"), sheet.number("sysstat.flash_hits")
    disk = reads.value - hits.value
    sheet.line(f"{shown(reads, '')} - {shown(hits, '')} = {format_in(disk, '')}")
    yield sheet.advice(
        "sysstat.disk-reads",
        "Disk reads",
        f"disk reads: {format_in(disk, 'reads')}",
        sheet.answer(disk, "reads", "V$SYSSTAT"),
        "reads",
    )


CALCULATIONS = (
    Calculation("use of the flash", _use, ("flash.use",), about=("db.",)),
    Calculation("size of a flash cache", _cache_size, ("flash.cache.least", "flash.cache.most")),
    Calculation("SGA overhead of a flash cache", _bookkeeping, ("flash.cache.metadata",), about=("flash.",)),
    Calculation("hit ratios", _hits, ("sysstat.",), about=("sysstat.",)),
)
