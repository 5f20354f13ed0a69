"""The share of memory that a database takes: its shared memory by what is known of it, and its sessions."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice, ShareFacts
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.io.capacity import servers
from sizeup.sizing.io.demand import fills_in
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.limits import usable_memory
from sizeup.sizing.sheet import Calculation, Sheet, brief, shown
from sizeup.sizing.verdict import (
    WORST_FIRST,
    ShareLimits,
    Shares,
    ShareStatus,
    amount_text,
    assumed_clause,
    exactly,
    judged,
    limits,
    open_card,
    server_failures,
    share_card,
    share_text,
    shares_clause,
    statement,
    without_unconfirmed_pass,
    write_later_shares,
)
from sizeup.sizing.workload import Growth, data_growth, growth, growth_of_sum
from sizeup.units import format_in

VERDICT = "verdict.memory"
"""The id of the advice."""
_SAME = 1.02
"""Sizes within 2 % are the same: an advisory is in steps of the size in use."""
_BASES = ("sga.mb", "sga.advisory_mb", "db.hot_gb", "db.gb")
"""What shared memory is worked out from, the first that is known."""


class SharedMemory(Struct, frozen=True):
    """The shared memory of a database on one server."""

    size: Quantity
    grows: bool
    """Whether it grows with the database; a size that somebody set does not."""
    assumed: str = ""
    """The rule of thumb it rests on; empty where it rests on none."""
    note: str = ""
    """Why this size counts where an advisory names another; empty where none does."""


def shared_memory(sheet: Sheet) -> SharedMemory | None:
    """Return the shared memory by a size that is given, the advisory or the hot set.

    A share of the database is a rule of thumb, which counts where the user asks for such rules.
    """
    key = next((key for key in _BASES if isinstance(sheet.inputs.get(key), Quantity)), None)
    if key is None or (key == "db.gb" and not fills_in(sheet)):
        return None
    size = sheet.number(key)
    if key in {"sga.mb", "sga.advisory_mb"}:
        _pools(sheet, "of it")
        return SharedMemory(size, grows=False, note=_advisory_prediction(sheet, size) if key == "sga.mb" else "")
    if key == "db.hot_gb":
        sheet.line(f"shared memory: the hot set, {shown(size, 'GiB')}")
        return SharedMemory(_with_pools(sheet, size), grows=True)
    share = sheet.rule("memory.buffer-share")
    value, low, high = (None if end is None else size.value * end for end in (share.value, share.low, share.high))
    assert value is not None
    sheet.line(f"shared memory: {shown(size, 'GB')} x {shown(share, '%')} = {format_in(value, 'GiB')}")
    quantity = _with_pools(sheet, sheet.answer(value, "GiB", "memory.buffer-share", low=low, high=high))
    return SharedMemory(quantity, grows=True, assumed=f"a buffer pool of {shown(share, '%')} of the database")


def _pools(sheet: Sheet, what: str) -> float:
    """Return the bytes of the KEEP and RECYCLE pools, each with a line; 0 where there are none."""
    total = 0.0
    for key, name in (("sga.keep_mb", "KEEP"), ("sga.recycle_mb", "RECYCLE")):
        pool = sheet.optional(key)
        if pool is not None:
            sheet.line(f"{what} the {name} pool: {shown(pool, 'MiB')}")
            total += pool.value
    return total


def _with_pools(sheet: Sheet, size: Quantity) -> Quantity:
    """Return the size of a buffer pool with the KEEP and RECYCLE pools, which are beside it."""
    more = _pools(sheet, "beside it")
    low, high = (None if end is None else end + more for end in (size.low, size.high))
    return replace(size, value=size.value + more, low=low, high=high)


def _advisory_prediction(sheet: Sheet, size: Quantity) -> str:
    """Return what the advisory predicts beside the size in use, which counts.

    The reads of the report were measured with the size in use: with the smaller or larger size of the advisory, their
    number would be another, and the demand of memory and that of storage would be of two different databases.
    """
    advisory = sheet.inputs.get("sga.advisory_mb")
    if size.origin is not Origin.IMPORTED or not isinstance(advisory, Quantity):
        return ""
    advised = sheet.number("sga.advisory_mb")
    sheet.cite("oracle-sga-target-advice")
    sheet.caveat("the reads were measured with the SGA in use, so its size counts, and not that of the advisory")
    gain = "no fewer reads with more"
    if advised.value > size.value * _SAME:
        gain = f"fewer reads up to {brief(advised, 'GiB')}"
    elif advised.value * _SAME < size.value:
        gain = f"as few reads with {brief(advised, 'GiB')}"
    return f"memory: the SGA in use counts; its advisory predicts {gain}"


def _memory(sheet: Sheet) -> Iterator[Advice]:
    shared, sessions = shared_memory(sheet), _sessions(sheet)
    memory, nodes = sheet.optional("machine.memory_gib"), servers(sheet)
    if shared is None:
        if memory is None or sessions <= memory.value:
            sheet.number("sga.mb")  # is missing
        note = f"memory: shared memory is not counted, because its size is unknown ({KEYS['sga.mb'].flag})"
        shared = SharedMemory(sheet.answer(0.0, "GiB", "sga.mb"), grows=False, note=note)
    needed = shared.size.value + sessions
    each = " per server" if nodes > 1 else ""
    assumed = [shared.assumed] if shared.assumed else []
    if memory is None:
        demand = amount_text(exactly(needed), "GiB")
        said = f"Memory: {demand} demand{each}, capacity unknown. Use {KEYS['machine.memory_gib'].flag}"
        yield judged(sheet, open_card("memory", said, demand, VERDICT, assumed=assumed))
        return
    load, data = growth(sheet), data_growth(sheet) if shared.grows else Growth()
    of_shared, bounds = Growth(data.per_year, load.years), limits(sheet)
    shares = _shares(shared, sessions, memory, nodes, load, of_shared)
    usable, has = usable_memory(sheet, memory), memory
    if usable is not None:
        within_limit = sessions if usable.entry.with_sessions else 0.0
        of_limit = _shares(shared, within_limit, usable.size, nodes, load, of_shared)
        if _decides(of_limit, shares, bounds):
            shares, needed, has = of_limit, shared.size.value + within_limit, usable.size
        else:
            usable = None
    _write_shares(sheet, needed, has, shares, nodes)
    failures = server_failures(shares, nodes)
    if load.per_year and load.years and not shared.grows:
        sheet.caveat("the shared memory counts as set and does not grow with the database")
    exhausted = _exhausted_node(sheet, shared.size)
    notes = _notes(sheet, shared, exhausted)
    status = bounds.status(shares)
    if exhausted and status is ShareStatus.PASS:
        status = ShareStatus.WARN
    status = without_unconfirmed_pass(status, assumed)
    facts = ShareFacts(
        exactly(needed),
        exactly(has.value),
        "GiB",
        None if usable is None else memory.value,
        per_server=nodes > 1,
    )
    limited = [exhausted] if exhausted and status is ShareStatus.WARN else []
    limited += [] if usable is None else [f"{brief(usable.size, 'GiB')} by {usable.product}"]
    limited += assumed_clause(status, assumed)
    said = statement("Memory", facts, shares_clause(shares, bounds, failures), limited=limited)
    if usable is None and shared.size.value > memory.value and not shared.assumed:  # decides alone, whatever else
        said = (
            f"Memory: {shown(shared.size, 'MiB')} of shared memory do not fit into {shown(memory, 'MiB')} "
            f"({share_text(shares.today)} of capacity)"
        )
    yield judged(
        sheet,
        share_card(
            "memory",
            status,
            said,
            shares,
            bounds,
            facts,
            advice=VERDICT,
            assumptions=[f"assumed: {text}" for text in assumed],
            notes=notes,
            failures=failures,
            assumed=assumed,
        ),
    )


def _decides(of_limit: Shares, of_memory: Shares, bounds: ShareLimits) -> bool:
    """Whether what the edition uses is judged worse than the memory, now or later; if alike, by the share of today."""
    limit, memory = (WORST_FIRST.index(bounds.status(shares)) for shares in (of_limit, of_memory))
    return of_limit.today >= of_memory.today if limit == memory else limit < memory


def _notes(sheet: Sheet, shared: SharedMemory, exhausted: str) -> list[str]:
    """Return which node runs out of memory, why this size of the shared memory counts, and what is not counted."""
    notes = [*([f"memory: {exhausted}"] if exhausted else []), *([shared.note] if shared.note else [])]
    if "memory.sessions" not in sheet.inputs:
        notes.append(f"memory: private memory of sessions is not counted ({KEYS['memory.sessions'].flag})")
    return notes


def _shares(
    shared: SharedMemory, sessions: float, memory: Quantity, nodes: float, load: Growth, of_shared: Growth
) -> Shares:
    """Return the shares of one server; after losing one, the others carry its sessions."""
    size = shared.size.value
    sessions_left = sessions * nodes / (nodes - 1) if nodes > 1 else sessions
    return Shares(
        (size + sessions) / memory.value,
        (size + sessions_left) / memory.value if nodes > 1 else None,
        growth_of_sum((size, of_shared), (sessions, load)),
        growth_after=growth_of_sum((size, of_shared), (sessions_left, load)),
    )


def _write_shares(sheet: Sheet, needed: float, memory: Quantity, shares: Shares, nodes: float) -> None:
    """Add the shares today, after losing a server and in the last year to the working."""
    sheet.line(f"{format_in(needed, 'GiB')} / {shown(memory, 'GiB')} = {share_text(shares.today)}")
    write_later_shares(sheet, shares, nodes)


def _sessions(sheet: Sheet) -> float:
    """Return the private memory of all server processes in bytes; 0 where their number is unknown."""
    count = sheet.optional("memory.sessions")
    if count is None:
        return 0.0
    each = sheet.number("memory.session_mib")
    sheet.line(f"{shown(count, 'sessions')} x {shown(each, 'MiB')} = {format_in(count.value * each.value, 'GiB')}")
    return count.value * each.value


def _exhausted_node(sheet: Sheet, shared: Quantity) -> str:
    """Return why the even share of a node does not fit; empty where it does, or where the nodes are unknown."""
    nodes = sheet.inputs.get("numa.node_mb")
    if not isinstance(nodes, tuple) or len(nodes) < 2:
        return ""
    sizes = sheet.numbers("numa.node_mb")
    smallest, each = min(sizes, key=lambda node: node.value), shared.value / len(sizes)
    sheet.line(f"{shown(shared, 'MiB')} / {len(sizes)} nodes = {format_in(each, 'MiB')} per node")
    if each <= smallest.value:
        return ""
    return (
        f"{format_in(each, 'MiB')} of shared memory per node, spread evenly, exhaust the smallest node with "
        f"{shown(smallest, 'MiB')}"
    )


CALCULATIONS = (Calculation("memory", _memory, ("verdict.memory",), about=("sga.", "db.", "memory.sessions")),)
