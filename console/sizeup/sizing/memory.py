"""Memory: huge pages, placement of shared memory on NUMA nodes, and results of older memory probes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.sheet import Calculation, Sheet, shown
from sizeup.units import format_in


def _pages(sheet: Sheet) -> float:
    """Huge pages that the shared memory fills."""
    sga, page = sheet.number("sga.mb"), sheet.number("memory.huge_page_kib")
    pages = math.ceil(sga.value / page.value)
    sheet.cite("oracle-hugepages")
    sheet.line(f"ceil({shown(sga, 'MiB')} / {shown(page, 'MiB')}) = {format_in(pages, 'pages')}")
    return pages


def _huge_pages(sheet: Sheet) -> Iterator[Advice]:
    pages = _pages(sheet)
    segments = sheet.number("sga.segments")
    sheet.line(f"{shown(segments, 'segments')}: up to one more page each, {format_in(pages + segments.value, 'pages')}")
    reserved = sheet.optional("memory.huge_pages")
    page, memory = sheet.number("memory.huge_page_kib"), sheet.optional("machine.memory_gib")
    decision = ""
    verdict = f"{format_in(pages, 'huge pages')} required for the shared memory"
    if memory is not None and max(pages, 0.0 if reserved is None else reserved.value) * page.value > memory.value:
        what, count = ("reserved", reserved.value) if reserved and reserved.value > pages else ("required", pages)
        decision = "does-not-fit"
        verdict = (
            f"error: {format_in(count, 'huge pages')} {what} are {format_in(count * page.value, 'MiB')} and do not fit "
            f"into the {shown(memory, 'MiB')} of memory of this machine"
        )
    elif reserved is not None:
        decision = "enough" if reserved.value >= pages else "short"
        verdict += f", {shown(reserved, 'reserved')}: {'enough' if decision == 'enough' else 'too few'}"
        if decision == "short":
            verdict += ". The database uses none of them unless all of its shared memory fits"
    yield sheet.advice(
        "memory.huge-pages",
        "Huge pages",
        verdict,
        sheet.answer(pages, "pages", "oracle-hugepages", low=pages, high=pages + segments.value),
        "pages",
        decision=decision,
    )


def _per_node(sheet: Sheet) -> Iterator[Advice]:
    """Huge pages per node, so that the kernel spreads them."""
    nodes = sheet.number("numa.nodes")
    if nodes.value < 2:
        return
    pages = _pages(sheet)
    each = math.ceil(pages / nodes.value)
    sheet.line(f"ceil({format_in(pages, 'pages')} / {shown(nodes, 'nodes')}) = {format_in(each, 'pages')}")
    yield sheet.advice(
        "memory.huge-pages-per-node",
        "Huge pages per node",
        f"{format_in(each, 'huge pages')} on each of {shown(nodes, 'nodes')}. Reserved at boot, they spread the shared "
        "memory over the nodes instead of filling one (Cyclops)",
        sheet.answer(each, "pages", "oracle-hugepages"),
        "pages",
    )


_MEMLOCK = {"": "", "enough": "; the limit is high enough", "short": "; the limit is too low"}


def _memlock(sheet: Sheet) -> Iterator[Advice]:
    page = sheet.number("memory.huge_page_kib")
    pages = _pages(sheet)
    required = pages * page.value
    sheet.line(f"{format_in(pages, 'pages')} x {shown(page, 'KiB')} = {format_in(required, 'KiB')}")
    limit = sheet.optional("memory.memlock_kib")
    reserved = sheet.optional("memory.huge_pages")
    decision = "" if limit is None else "enough" if limit.value >= required else "short"
    if limit is not None and reserved is None:
        sheet.caveat("memlock is set but no huge pages are reserved, so the limit has no effect")
    yield sheet.advice(
        "memory.memlock",
        "Locked-memory limit (memlock)",
        f"memlock: at least {format_in(required, 'KiB')}{_MEMLOCK[decision]}",
        sheet.answer(required, "KiB", "oracle-hugepages"),
        "KiB",
        decision=decision,
    )


def _page_tables(sheet: Sheet) -> Iterator[Advice]:
    """Page tables per process for the shared memory, with small pages and with huge pages."""
    for advice_id, title, small in (
        ("memory.page-tables.small", "Page tables per process, small pages", True),
        ("memory.page-tables.huge", "Page tables per process, huge pages", False),
    ):
        sga, entry = sheet.number("sga.mb"), sheet.rule("memory.page-table-entry")
        page = sheet.rule("memory.small-page") if small else sheet.number("memory.huge_page_kib")
        cost = sga.value / page.value * entry.value
        unit = "MiB" if small else "KiB"
        sheet.line(
            f"{shown(sga, 'MiB')} / {shown(page, 'KiB')} x {shown(entry, 'B')} = {format_in(cost, unit)} per process"
        )
        sessions = sheet.optional("memory.sessions")
        pages = "small" if small else "huge"
        verdict = f"page tables with {pages} pages: {format_in(cost, unit)} per process"
        if sessions is not None:
            sheet.line(
                f"{shown(sessions, 'sessions')} x {format_in(cost, unit)} = {format_in(cost * sessions.value, 'GiB')}"
            )
            verdict += f", {format_in(cost * sessions.value, 'GiB')} for {shown(sessions, 'sessions')}"
        yield sheet.advice(advice_id, title, verdict, sheet.answer(cost, unit, "oracle-hugepages"), unit)


def _locality(sheet: Sheet) -> Iterator[Advice]:
    nodes = sheet.number("numa.nodes")
    if nodes.value < 2:
        return
    share = 1 / nodes.value
    sheet.cite("closson-2007-numa")
    sheet.line(f"1 / {shown(nodes, 'nodes')} = {format_in(share, '%')}")
    yield sheet.advice(
        "memory.interleave-locality",
        "Local accesses to interleaved memory",
        f"interleaved over {shown(nodes, 'nodes')}: {format_in(share, '%')} of accesses are local. "
        "Private memory of the processes stays local",
        sheet.answer(share, "%", "closson-2007-numa"),
        "%",
    )
    local, remote = sheet.number("memory.local_ns"), sheet.number("memory.remote_ns")
    nodes = sheet.number("numa.nodes")
    mean = local.value / nodes.value + remote.value * (1 - 1 / nodes.value)
    sheet.line(
        f"{shown(local, 'ns')} / {nodes.value:g} + {shown(remote, 'ns')} x (1 - 1/{nodes.value:g}) = "
        f"{format_in(mean, 'ns')}"
    )
    yield sheet.advice(
        "memory.interleave-latency",
        "Latency of interleaved memory",
        f"mean latency of interleaved memory: {format_in(mean, 'ns')} (local: {shown(local, 'ns')}). Interleaving by "
        "the firmware (SUMA) applies it to all memory, private memory included",
        Quantity(mean, "ns", local.origin, local.source),
        "ns",
    )


def _one_node(sheet: Sheet) -> Iterator[Advice]:
    """What the emptiest node has left when all shared memory lands on it, without huge pages or interleaving."""
    free, sga = sheet.numbers("numa.free_mb"), sheet.number("sga.mb")
    sheet.cite("closson-2007-numa")
    emptiest = max(free, key=lambda node: node.value)
    left = emptiest.value - sga.value
    sheet.line(f"{shown(emptiest, 'MiB')} - {shown(sga, 'MiB')} = {format_in(left, 'MiB')}")
    fits = left >= 0
    yield sheet.advice(
        "memory.one-node-left",
        "Free memory of the emptiest node with all shared memory on it",
        f"{format_in(left, 'MiB')} stay free on that node; its processes get further memory from other nodes"
        if fits
        else f"allocated by one process without huge pages or interleaving, the shared memory fills one node and takes "
        f"{format_in(-left, 'MiB')} from others",
        sheet.answer(left, "MiB", "closson-2007-numa"),
        "MiB",
        decision="fits" if fits else "spills",
    )


def _cyclops(sheet: Sheet) -> Iterator[Advice]:
    """Share of the memory allocated at startup that came from one node."""
    before, after = sheet.numbers("numa.free_before_mb"), sheet.numbers("numa.free_after_mb")
    if len(before) != len(after):
        raise UsageError(
            f"numa.free_after_mb: expected {len(before)} numbers, one a node as in numa.free_before_mb, "
            f"found {len(after)}"
        )
    allocated = [a.value - b.value for a, b in zip(before, after, strict=True)]
    whole = sum(allocated)
    if whole <= 0:
        raise UsageError("numa.free_after_mb: expected less free memory than before, found more")
    share = max(allocated) / whole
    most = allocated.index(max(allocated))
    limit = sheet.rule("memory.cyclops.share")
    for node, amount in enumerate(allocated):
        sheet.line(f"node {node}: {format_in(amount, 'MiB')} allocated")
    sheet.line(f"{format_in(max(allocated), 'MiB')} / {format_in(whole, 'MiB')} = {format_in(share, '%')}")
    cyclops = share >= limit.value and len(allocated) > 1
    verdict = f"{format_in(share, '%')} of the memory came from node {most}"
    yield sheet.advice(
        "memory.cyclops",
        "Shared memory on one node",
        f"unbalanced (Cyclops): {verdict}. Reserve huge pages at boot, or start under numactl --interleave=all"
        if cyclops
        else f"balanced: {verdict}",
        sheet.answer(share, "%", "memory.cyclops.share"),
        "%",
        decision="cyclops" if cyclops else "spread",
    )


def _sga_sum(sheet: Sheet) -> Iterator[Advice]:
    parts = sheet.numbers("sga.parts_bytes")
    total = sum(part.value for part in parts)
    sheet.line(f"{' + '.join(shown(part, 'B') for part in parts)} = {format_in(total, 'B')}")
    yield sheet.advice(
        "memory.sga-sum",
        "Shared memory in total",
        f"SGA in total: {format_in(total, 'B')} ({format_in(total, 'MiB')})",
        sheet.answer(total, "B", "sga.parts_bytes"),
        "B",
    )


def _memhammer(sheet: Sheet) -> Iterator[Advice]:
    """Results of the Silly Little Benchmark, from its arguments and its elapsed time."""
    pages = sheet.number("slb.pages")
    page = sheet.rule("slb.bytes-per-page")
    sheet.line(f"{shown(pages, 'pages')} x {shown(page, 'KiB')} = {format_in(pages.value * page.value, 'MiB')}")
    yield sheet.advice(
        "slb.footprint",
        "Working set of one memhammer",
        f"memhammer working set: {format_in(pages.value * page.value, 'MiB')}",
        sheet.answer(pages.value * page.value, "MiB", "slb.bytes-per-page"),
        "MiB",
    )
    operations = _operations(sheet)
    yield sheet.advice(
        "slb.operations",
        "Operations of one memhammer",
        f"memhammer: {format_in(operations, 'operations')}",
        sheet.answer(operations, "operations", "slb-2007"),
        "operations",
    )
    operations, elapsed = _operations(sheet), sheet.number("slb.elapsed_us")
    each = elapsed.value / operations
    sheet.line(f"{shown(elapsed, 'us')} / {format_in(operations, 'operations')} = {format_in(each, 'ns')}")
    yield sheet.advice(
        "slb.latency",
        "Latency per operation",
        f"memhammer: {format_in(each, 'ns')} per operation",
        sheet.answer(each, "ns", "slb-2007"),
        "ns",
    )
    operations, elapsed = _operations(sheet), sheet.number("slb.elapsed_us")
    rate = operations / (elapsed.value / 1e9)
    sheet.line(f"{format_in(operations, 'operations')} / {shown(elapsed, 's')} = {format_in(rate, '/s')}")
    yield sheet.advice(
        "slb.rate",
        "Operations per second",
        f"memhammer: {format_in(rate, 'operations')} per second",
        sheet.answer(rate, "/s", "slb-2007"),
        "/s",
    )


def _operations(sheet: Sheet) -> float:
    pages, loops = sheet.number("slb.pages"), sheet.number("slb.loops")
    operations = pages.value * loops.value
    sheet.line(f"{shown(pages, 'pages')} x {shown(loops, 'loops')} = {format_in(operations, 'operations')}")
    return operations


def _scaling(sheet: Sheet) -> Iterator[Advice]:
    for key, count in (("slb.two_ops_s", 2), ("slb.four_ops_s", 4)):
        if key not in sheet.inputs:
            continue
        each, one = sheet.numbers(key), sheet.number("slb.one_ops_s")
        limit = sheet.rule("slb.saturated-below")
        scaling = sum(rate.value for rate in each) / one.value
        sheet.line(f"({' + '.join(shown(rate, '') for rate in each)}) / {shown(one, '')} = {format_in(scaling, '')}")
        saturated = scaling < limit.value
        yield sheet.advice(
            f"slb.scaling.{count}",
            f"Scaling from one to {count} processes",
            f"{count} processes reach {scaling:.3f} times the throughput of one"
            + (", so one process alone saturates this memory" if saturated else ""),
            sheet.answer(scaling, "1", "slb-2007"),
            "1",
            decision="saturated" if saturated else "scales",
        )


CALCULATIONS = (
    Calculation("huge pages", _huge_pages, ("memory.huge-pages",), about=("sga.",)),
    Calculation("huge pages per node", _per_node, ("memory.huge-pages-per-node",)),
    Calculation("memlock", _memlock, ("memory.memlock",)),
    Calculation("page tables", _page_tables, ("memory.page-tables.",)),
    Calculation("interleaved memory", _locality, ("memory.interleave-",)),
    Calculation("shared memory on one node", _one_node, ("memory.one-node-left",), about=("numa.free_mb",)),
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
