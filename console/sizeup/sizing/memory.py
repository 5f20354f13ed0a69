"""Memory: huge pages, placement of shared memory on NUMA nodes, and results of older memory probes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Quantity, Words
from sizeup.sizing.keys import LEAVE_TO_OTHERS
from sizeup.sizing.sheet import Calculation, Sheet, Term, answered, brief, in_seconds, shown, term, vendor, worked
from sizeup.units import format_in


def _pages(sheet: Sheet) -> Term:
    """Huge pages to reserve: those that the shared memory fills, and up to one more for each segment."""
    sga, page = sheet.number("sga.mb"), sheet.number("memory.huge_page_kib")
    sheet.cite("oracle-hugepages")
    size, (share, more) = term(sga, "MiB"), beside_buffers(sheet)
    if share or more:
        of_size = worked(sheet, Term(float(round(size.value * share)), f"{size} x {format_in(share, '%')}"), "MiB")
        size = worked(sheet, size + of_size + term(more, "MiB") if more else size + of_size, "MiB")
    filled = worked(sheet, math.ceil(size / term(page, "MiB")), "pages")
    segments = sheet.number("sga.segments")
    return worked(sheet, filled + term(segments, "segments"), "pages")


def beside_buffers(sheet: Sheet) -> tuple[float, float]:
    """Return what a database allocates beside its buffers: a share of them, and bytes whatever their size."""
    pack = sheet.inputs.get("license.pack")
    database = pack.value if isinstance(pack, Words) else ""
    if database != "postgresql":
        return sheet.rule("memory.mysql.share").value if database in ("mysql", "mariadb") else 0.0, 0.0
    share, fixed, each, admitted = (
        sheet.rule(f"memory.postgresql.{name}") for name in ("share", "fixed", "connection", "connections")
    )
    connections = max(admitted.value, getattr(sheet.optional("memory.sessions"), "value", 0.0))
    more = worked(sheet, term(fixed, "MiB") + term(connections, "connections") * term(each, "KiB"), "MiB")
    return share.value, more.value


KERNEL_SHARE = 0.03
"""What a kernel keeps of the installed memory at most, so that it reports less."""
_TRANSPARENT = ("sql-server", "sap-hana")
"""Databases that use transparent huge pages and none that were reserved."""


def _huge_pages(sheet: Sheet) -> Iterator[Advice]:
    if vendor(sheet) in _TRANSPARENT:
        return
    pages = _pages(sheet).value
    least = pages - sheet.number("sga.segments").value
    reserved = sheet.optional("memory.huge_pages")
    page, memory = sheet.number("memory.huge_page_kib"), sheet.optional("machine.memory_gib")
    decision = ""
    verdict = f"{format_in(pages, 'huge pages')} required for the shared memory"
    what, count = ("reserved", reserved.value) if reserved and reserved.value > pages else ("required", pages)
    taken, left = format_in(count, "huge pages"), math.inf if memory is None else memory.value - count * page.value
    if memory is not None and left < min(KERNEL_SHARE * memory.value, 2**30):
        decision = "does-not-fit"
        fits = f"leave {format_in(left, 'MiB')} (less than 3 % and than 1 GiB) of" if left >= 0 else "do not fit into"
        verdict = (
            f"error: {taken} {what} are {format_in(count * page.value, 'MiB')} and {fits} the {shown(memory, 'MiB')} "
            "of memory of this machine"
        )
    elif reserved is not None:
        decision = "enough" if reserved.value >= least else "short"
        enough = "enough" if reserved.value >= pages else "enough if each segment fills its last page"
        verdict += f", {shown(reserved, 'reserved')}: {enough if decision == 'enough' else 'too few'}"
        if decision == "short":
            verdict += ". The database uses none of them unless all of its shared memory fits"
    found = sheet.answer(pages, "pages", "oracle-hugepages", low=least, high=pages)
    yield sheet.advice("memory.huge-pages", "Huge pages", verdict, found, "pages", decision=decision)
    if memory is not None and decision != "does-not-fit" and (why := _too_little(memory, left)):
        title, found = "Memory beside the huge pages", sheet.answer(left, "GiB", "oracle-hugepages")
        verdict = f"{taken} leave {brief(found, 'GiB')} of the {brief(memory, 'GiB')} of memory: {why}"
        yield sheet.advice("memory.huge-pages-left", title, verdict, found, "GiB")


def _too_little(memory: Quantity, left: float) -> str:
    """Return what takes more than the huge pages leave; empty where nothing is known to."""
    if left < KERNEL_SHARE * memory.value:
        return f"leave at least {brief(memory.scaled(KERNEL_SHARE), 'GiB')} (3 %) to the kernel and other programs"
    others = (one for one in memory.uncertainties if one.action == LEAVE_TO_OTHERS)
    return next((one.reason for one in others if left < memory.value - (one.end or 0.0)), "")


def _per_node(sheet: Sheet) -> Iterator[Advice]:
    """Huge pages per node, so that the kernel spreads them."""
    nodes = sheet.number("numa.nodes")
    if nodes.value < 2 or vendor(sheet) in _TRANSPARENT:
        return
    pages = _pages(sheet)
    each = worked(sheet, math.ceil(pages / term(nodes, "nodes")), "pages")
    verdict = (
        f"{format_in(each.value, 'huge pages')} on each of {shown(nodes, 'nodes')}. Reserved at boot, they spread the "
        "shared memory over the nodes instead of filling one (Cyclops)"
    )
    yield answered(sheet, "memory.huge-pages-per-node", "Huge pages per node", verdict, each, "oracle-hugepages")


_MEMLOCK = {"": "", "enough": "; the limit is high enough", "short": "; the limit is too low"}


def _memlock(sheet: Sheet) -> Iterator[Advice]:
    if vendor(sheet) in _TRANSPARENT:
        return
    page = sheet.number("memory.huge_page_kib")
    required = worked(sheet, _pages(sheet) * term(page, "KiB"), "KiB")
    limit = sheet.optional("memory.memlock_kib")
    reserved = sheet.optional("memory.huge_pages")
    decision = "" if limit is None else "enough" if limit.value >= required.value else "short"
    if limit is not None and reserved is None:
        sheet.caveat("memlock is set but no huge pages are reserved, so the limit has no effect")
    title, verdict = "Locked-memory limit (memlock)", f"memlock: at least {required}{_MEMLOCK[decision]}"
    yield answered(sheet, "memory.memlock", title, verdict, required, "oracle-hugepages", decision=decision)


def _page_tables(sheet: Sheet) -> Iterator[Advice]:
    """Page tables per process for the shared memory, with small pages and with huge pages."""
    for pages, unit in (("small", "MiB"), ("huge", "KiB")):
        sga, entry = sheet.number("sga.mb"), sheet.rule("memory.page-table-entry")
        page = sheet.rule("memory.small-page") if pages == "small" else sheet.number("memory.huge_page_kib")
        arithmetic = term(sga, "MiB") / term(page, "KiB") * term(entry, "B")
        cost = term(arithmetic.value, unit)
        sheet.line(f"{arithmetic} = {cost} per process")
        sessions = sheet.optional("memory.sessions")
        verdict = f"page tables with {pages} pages: {cost} per process"
        if sessions is not None:
            of_all = worked(sheet, term(sessions, "sessions") * cost, "GiB")
            verdict += f", {of_all} for {shown(sessions, 'sessions')}"
        title = f"Page tables per process, {pages} pages"
        yield answered(sheet, f"memory.page-tables.{pages}", title, verdict, cost, "oracle-hugepages")


def _locality(sheet: Sheet) -> Iterator[Advice]:
    nodes = sheet.number("numa.nodes")
    if nodes.value < 2:
        return
    sheet.cite("closson-2007-numa")
    share, title = worked(sheet, term(1, "") / term(nodes, "nodes"), "%"), "Local accesses to interleaved memory"
    verdict = (
        f"interleaved over {shown(nodes, 'nodes')}: {share} of accesses are local. Private memory of the processes "
        "stays local"
    )
    yield answered(sheet, "memory.interleave-locality", title, verdict, share, "closson-2007-numa")
    local, remote, nodes = map(sheet.number, ("memory.local_ns", "memory.remote_ns", "numa.nodes"))
    count, others = Term(nodes.value, f"{nodes.value:g}"), Term(1 - 1 / nodes.value, f"(1 - 1/{nodes.value:g})")
    mean = worked(sheet, term(local, "ns") / count + term(remote, "ns") * others, "ns")
    verdict = (
        f"mean latency of interleaved memory: {mean} (local: {shown(local, 'ns')}). Interleaving by the firmware "
        "(SUMA) applies it to all memory, private memory included"
    )
    found, title = Quantity(mean.value, "ns", local.origin, local.source), "Latency of interleaved memory"
    yield sheet.advice("memory.interleave-latency", title, verdict, found, "ns")


def _one_node(sheet: Sheet) -> Iterator[Advice]:
    """What the emptiest node has left when all shared memory lands on it, without huge pages or interleaving."""
    free, sga = sheet.numbers("numa.free_mb"), sheet.number("sga.mb")
    if len(free) < 2:
        return
    sheet.cite("closson-2007-numa")
    emptiest = max(free, key=lambda node: node.value)
    if sga.value > emptiest.value:
        name, title, decision = "spill", "Shared memory beyond the emptiest node", "spills"
        found = worked(sheet, term(sga, "MiB") - term(emptiest, "MiB"), "MiB")
        verdict = (
            "allocated by one process without huge pages or interleaving, the shared memory fills one node and takes "
            f"{found} from others"
        )
    else:
        name, title, decision = "left", "Free memory of the emptiest node with all shared memory on it", "fits"
        found = worked(sheet, term(emptiest, "MiB") - term(sga, "MiB"), "MiB")
        verdict = f"{found} stay free on that node; its processes get further memory from other nodes"
    yield answered(sheet, f"memory.one-node-{name}", title, verdict, found, "closson-2007-numa", decision=decision)


def _cyclops(sheet: Sheet) -> Iterator[Advice]:
    """Share of the memory allocated at startup that came from one node."""
    before, after = sheet.numbers("numa.free_before_mb"), sheet.numbers("numa.free_after_mb")
    if len(before) != len(after):
        raise UsageError(
            f"numa.free_after_mb: expected {len(before)} numbers, one a node as in numa.free_before_mb, "
            f"found {len(after)}"
        )
    allocated = [a.value - b.value for a, b in zip(before, after, strict=True)]
    whole, most = sum(allocated), max(allocated)
    if whole <= 0:
        raise UsageError("numa.free_after_mb: expected less free memory than before, found more")
    limit = sheet.rule("memory.cyclops.share")
    for node, amount in enumerate(allocated):
        sheet.line(f"node {node}: {format_in(amount, 'MiB')} allocated")
    share = worked(sheet, term(most, "MiB") / term(whole, "MiB"), "%")
    of_node, decision = f"{share} of the memory came from node {allocated.index(most)}", "spread"
    verdict = f"balanced: {of_node}"
    if share.value >= limit.value and len(allocated) > 1:
        decision = "cyclops"
        verdict = (
            f"unbalanced (Cyclops): {of_node}. Reserve huge pages at boot, or start under numactl --interleave=all"
        )
    title = "Shared memory on one node"
    yield answered(sheet, "memory.cyclops", title, verdict, share, "memory.cyclops.share", decision=decision)


def _sga_sum(sheet: Sheet) -> Iterator[Advice]:
    parts = sheet.numbers("sga.parts_bytes")
    total = sum(part.value for part in parts)
    sheet.line(f"{' + '.join(shown(part, 'B') for part in parts)} = {format_in(total, 'B')}")
    verdict = f"SGA in total: {format_in(total, 'B')} ({format_in(total, 'MiB')})"
    yield answered(sheet, "memory.sga-sum", "Shared memory in total", verdict, term(total, "B"), "sga.parts_bytes")


def _memhammer(sheet: Sheet) -> Iterator[Advice]:
    """Results of the Silly Little Benchmark, from its arguments and its elapsed time."""
    pages = sheet.number("slb.pages")
    page = sheet.rule("slb.bytes-per-page")
    footprint = worked(sheet, term(pages, "pages") * term(page, "KiB"), "MiB")
    title, verdict = "Working set of one memhammer", f"memhammer working set: {footprint}"
    yield answered(sheet, "slb.footprint", title, verdict, footprint, "slb.bytes-per-page")
    operations = _operations(sheet)
    title, verdict = "Operations of one memhammer", f"memhammer: {operations}"
    yield answered(sheet, "slb.operations", title, verdict, operations, "slb-2007")
    operations, elapsed = _operations(sheet), sheet.number("slb.elapsed_us")
    each = worked(sheet, term(elapsed, "us") / operations, "ns")
    verdict = f"memhammer: {each} per operation"
    yield answered(sheet, "slb.latency", "Latency per operation", verdict, each, "slb-2007")
    operations, elapsed = _operations(sheet), sheet.number("slb.elapsed_us")
    rate = worked(sheet, operations / in_seconds(elapsed, "s"), "/s")
    verdict = f"memhammer: {format_in(rate.value, 'operations')} per second"
    yield answered(sheet, "slb.rate", "Operations per second", verdict, rate, "slb-2007")


def _operations(sheet: Sheet) -> Term:
    pages, loops = sheet.number("slb.pages"), sheet.number("slb.loops")
    return worked(sheet, term(pages, "pages") * term(loops, "loops"), "operations")


def _scaling(sheet: Sheet) -> Iterator[Advice]:
    for key, count in (("slb.two_ops_s", 2), ("slb.four_ops_s", 4)):
        if key not in sheet.inputs:
            continue
        each, one = sheet.numbers(key), sheet.number("slb.one_ops_s")
        limit = sheet.rule("slb.saturated-below")
        all_of_them = Term(sum(rate.value for rate in each), f"({' + '.join(shown(rate, '') for rate in each)})")
        scaling = worked(sheet, all_of_them / term(one, ""), "")
        decision = "saturated" if scaling.value < limit.value else "scales"
        verdict = f"{count} processes reach {scaling.value:.3f} times the throughput of one"
        if decision == "saturated":
            verdict += ", so one process alone saturates this memory"
        title = f"Scaling from one to {count} processes"
        yield answered(sheet, f"slb.scaling.{count}", title, verdict, scaling, "slb-2007", decision=decision)


CALCULATIONS = (
    Calculation("huge pages", _huge_pages, ("memory.huge-pages",), about=("sga.",)),
    Calculation("huge pages per node", _per_node, ("memory.huge-pages-per-node",)),
    Calculation("memlock", _memlock, ("memory.memlock",)),
    Calculation("page tables", _page_tables, ("memory.page-tables.",)),
    Calculation("interleaved memory", _locality, ("memory.interleave-",)),
    Calculation(
        "shared memory on one node",
        _one_node,
        ("memory.one-node-left", "memory.one-node-spill"),
        about=("numa.free_mb",),
    ),
    Calculation("memory placement", _cyclops, ("memory.cyclops",), about=("numa.free_before", "numa.free_after")),
    Calculation("SGA in total", _sga_sum, ("memory.sga-sum",)),
    Calculation(
        "memhammer",
        _memhammer,
        ("slb.footprint", "slb.operations", "slb.latency", "slb.rate"),
        about=("slb.pages", "slb.loops", "slb.elapsed"),
    ),
    Calculation("memhammer scaling", _scaling, ("slb.scaling.",), about=("slb.two", "slb.four")),
)
