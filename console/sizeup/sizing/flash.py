"""Flash and scans: whether database, hot set or a cache fits, and what compression and pruning do to the scan rate."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.sizing.io.array import flash_drives, raw_bytes, usable_bytes
from sizeup.sizing.io.capacity import INSIDE, find_bottleneck, inside_servers
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Sheet, Term, answered, shown, term, vendor, worked
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
    gain, raw = sheet.rule(figure), " without RAID" if use == "cache" else ""
    of = "flash" if "array.drive" in sheet.inputs else "drives, if these are flash"
    by = f"{gain.value:.3g} times" if gain.value >= 2 else f"{format_in(gain.value - 1, '%')} more"
    if gain.low is not None and gain.high is not None:
        by = f"{gain.low:.3g} to {gain.high:.3g} times, by what is moved"
    share = worked(sheet, term(database, "GB") / term(capacity.value, "GB"), "%")
    verdict = f"{what} (database: {share} of the {of}{raw}); published gain, one system: {by}"
    yield answered(sheet, "flash.use", "Use of the flash", verdict, share, figure, decision=use)


def _hot_share_clause(sheet: Sheet) -> str:
    """Return which share of the reads the hot set causes, as a clause; empty where that is unknown."""
    share = sheet.optional("db.hot_percent")
    return "" if share is None else f" ({shown(share, '%')} of the reads)"


def _cache_size(sheet: Sheet) -> Iterator[Advice]:
    for name in ("least", "most") if vendor(sheet) in ("", "oracle") else ():
        sga, factor = sheet.number("sga.mb"), sheet.rule(f"flash.cache.{name}")
        size = worked(sheet, term(sga, "GiB") * term(factor, ""), "GiB")
        verdict, rule = f"flash cache for this SGA: at {name} {size}", f"flash.cache.{name}"
        yield answered(sheet, rule, f"Flash cache, {name}", verdict, size, rule)


def _bookkeeping(sheet: Sheet) -> Iterator[Advice]:
    """SGA that the block headers of the cache require."""
    cache, block = sheet.number("flash.cache_gib"), sheet.number("flash.block_kib")
    rac = sheet.optional_words("flash.rac") == "yes"
    each = sheet.rule("flash.cache.metadata-rac" if rac else "flash.cache.metadata-single")
    sga = sheet.number("sga.mb")
    blocks = worked(sheet, term(cache, "GiB") / term(block, "KiB"), "blocks")
    overhead = term(blocks.value * each.value, "GiB")
    share = overhead.value / sga.value
    sheet.line(f"x {shown(each, 'B')} = {overhead}, {format_in(share, '%')} of the SGA")
    limit = sheet.rule("flash.cache.metadata-much")
    enlarge, decision = (". Enlarge the SGA by as much", "much") if share > limit.value else ("", "little")
    sheet.caveat("a write-heavy database is limited by its writes (free buffer waits), whatever the size of the cache")
    title = "SGA overhead of the flash cache"
    verdict = f"block headers of the flash cache: {overhead}, {format_in(share, '%')} of the SGA{enlarge}"
    yield answered(sheet, "flash.cache.metadata", title, verdict, overhead, each.source, decision=decision)


def _hits(sheet: Sheet) -> Iterator[Advice]:
    """Hit ratios from V$SYSSTAT; physical reads include reads from the flash cache."""
    reads = sheet.number("sysstat.physical_reads")
    gets, consistent = sheet.number("sysstat.db_block_gets"), sheet.number("sysstat.consistent_gets")
    logical = worked(sheet, term(gets, "") + term(consistent, ""), "logical reads").value
    ratio = worked(sheet, term(1, "") - term(reads, "") / term(logical, ""), "%")
    sheet.caveat("a high buffer cache hit ratio proves nothing: a few hot blocks raise it while the system is slow")
    verdict = f"buffer cache hit ratio: {ratio} of logical reads"
    yield answered(sheet, "sysstat.hit-ratio", "Buffer cache hit ratio", verdict, ratio, "V$SYSSTAT")
    reads, hits = sheet.number("sysstat.physical_reads"), sheet.number("sysstat.flash_hits")
    inserts = sheet.optional("sysstat.flash_inserts")
    share = worked(sheet, term(hits, "") / term(reads, ""), "%")
    if inserts is not None:
        sheet.line(
            f"hits + inserts = {format_in(hits.value + inserts.value, '')}, about the physical reads: "
            "they include flash hits"
        )
    verdict = f"flash cache hit ratio: {share} of physical reads"
    yield answered(sheet, "sysstat.flash-share", "Flash cache hit ratio", verdict, share, "V$SYSSTAT")
    reads, hits = sheet.number("sysstat.physical_reads"), sheet.number("sysstat.flash_hits")
    disk = term(worked(sheet, term(reads, "") - term(hits, ""), "").value, "reads")
    yield answered(sheet, "sysstat.disk-reads", "Disk reads", f"disk reads: {disk}", disk, "V$SYSSTAT")


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
    Calculation("use of the flash", _use, ("flash.use",), about=("db.",)),
    Calculation("size of a flash cache", _cache_size, ("flash.cache.least", "flash.cache.most")),
    Calculation("SGA overhead of a flash cache", _bookkeeping, ("flash.cache.metadata",), about=("flash.",)),
    Calculation("hit ratios", _hits, ("sysstat.",), about=("sysstat.",)),
    Calculation("scan rate gains", _multipliers, ("scan.compression", "scan.partitions"), about=("scan.",)),
    Calculation("effective scan rate", _effective, ("scan.effective",)),
)
