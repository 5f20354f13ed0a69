"""The share of memory that a database takes: its shared memory by what is known of it, and its sessions."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice, ShareFacts
from sizeup.quantity import Doubt, Origin, Quantity
from sizeup.sizing.io.capacity import servers
from sizeup.sizing.io.demand import fills_in
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import shares_load
from sizeup.sizing.licensing.limits import usable_memory
from sizeup.sizing.sheet import Calculation, Sheet, brief, shown
from sizeup.sizing.verdict import (
    WORST_FIRST,
    Judgment,
    Shares,
    ShareStatus,
    amount_text,
    bounds_of,
    decide,
    decided_card,
    exactly,
    judged,
    limits,
    open_card,
    server_failures,
    share_text,
    write_later_shares,
)
from sizeup.sizing.workload import Growth, data_growth, data_rate, growth, growth_of_sum
from sizeup.units import format_in

_SAME = 1.02
"""Sizes within 2 % are the same: an advisory is in steps of the size in use."""
_BASES = ("sga.mb", "sga.advisory_mb", "db.hot_gb", "db.gb")
"""What shared memory is worked out from, the first that is known."""


class SharedMemory(Struct, frozen=True):
    """The shared memory of a database on one server."""

    size: Quantity
    grows: bool
    """Whether it grows with the database; a size that somebody set does not."""
    note: str = ""
    """Why this size counts where an advisory names a larger one; empty where none does."""


def shared_memory(sheet: Sheet) -> SharedMemory | None:
    """Return the shared memory by a size that is given, the advisory or the hot set.

    A share of the database is a rule of thumb, which counts where the user asks for such rules.
    """
    key = next((key for key in _BASES if isinstance(sheet.inputs.get(key), Quantity)), None)
    if key is None or (key == "db.gb" and not fills_in(sheet)):
        return None
    size = sheet.number(key)
    if key == "sga.mb":
        _pools(sheet, "of it")
        return _with_advisory(sheet, size)
    if key == "sga.advisory_mb":
        _pools(sheet, "of it")
        return SharedMemory(size, grows=False)
    if key == "db.hot_gb":
        sheet.line(f"shared memory: the hot set, {shown(size, 'GiB')}")
        return SharedMemory(_with_pools(sheet, size), grows=True)
    share = sheet.rule("memory.buffer-share")
    quantity = size.scaled(share.value)
    sheet.line(f"shared memory: {shown(size, 'GB')} x {shown(share, '%')} = {shown(quantity, 'GiB')}")
    named = f"a buffer pool of {shown(share, '%')} of the database"  # and of no workload: neither end is known
    doubts = tuple(Doubt(end, named, upper=end is None, default=True) for end in (0.0, None))
    return SharedMemory(replace(_with_pools(sheet, quantity), low=None, high=None, doubts=doubts), grows=True)


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


def _with_advisory(sheet: Sheet, size: Quantity) -> SharedMemory:
    """Return the size in use, which counts; less is enough where the advisory predicts as few reads with it.

    The reads of the report were measured with the size in use: with a larger size of the advisory, their number would
    be another, and the demand of memory and that of storage would be of two different databases.
    """
    advisory = sheet.inputs.get("sga.advisory_mb")
    if size.origin is not Origin.IMPORTED or not isinstance(advisory, Quantity):
        return SharedMemory(size, grows=False)
    advised = sheet.number("sga.advisory_mb")
    sheet.cite("oracle-sga-target-advice")
    sheet.caveat("the reads were measured with the SGA in use, so its size counts, and not that of the advisory")
    if advised.value * _SAME < size.value:
        less = f"the advisory of the SGA predicts as few reads with {brief(advised, 'GiB')}"
        enough = Doubt(advised.value, less, f"Use {KEYS['sga.mb'].flag}")
        return SharedMemory(replace(size, doubts=(*size.doubts, enough)), grows=False)
    gain = f"fewer reads up to {brief(advised, 'GiB')}"
    gain = gain if advised.value > size.value * _SAME else "no fewer reads with more"
    return SharedMemory(size, grows=False, note=f"memory: the SGA in use counts; its advisory predicts {gain}")


def _memory(sheet: Sheet) -> Iterator[Advice]:
    shared, sessions = shared_memory(sheet), _sessions(sheet)
    memory, nodes, sharing = sheet.optional("machine.memory_gib"), servers(sheet), shares_load(sheet)
    if shared is None:
        if memory is None or sessions.value <= memory.value:
            sheet.number("sga.mb")  # is missing
        note = f"memory: shared memory is not counted, because its size is unknown ({KEYS['sga.mb'].flag})"
        shared = SharedMemory(sheet.answer(0.0, "GiB", "sga.mb"), grows=False, note=note)
    each = " per server" if nodes > 1 else ""
    if memory is None:
        demand = amount_text(exactly(shared.size.value + sessions.value), "GiB")
        said = f"Memory: {demand} demand{each}, capacity unknown. Use {KEYS['machine.memory_gib'].flag}"
        yield judged(sheet, open_card("memory", said, demand))
        return
    load, data, bounds = growth(sheet), data_growth(sheet) if shared.grows else Growth(), limits(sheet)

    def shares(has: float, size: float, private: float, rate: float) -> Shares:
        """Return the shares of one server; after losing one, the others carry its sessions."""
        left = private * nodes / (nodes - 1) if nodes > 1 and sharing else private
        of_shared = Growth(rate, load.years)
        return Shares(
            (size + private) / has,
            (size + left) / has if nodes > 1 else None,
            growth_of_sum((size, of_shared), (private, load)),
            growth_after=growth_of_sum((size, of_shared), (left, load)),
        )

    usable, rate = usable_memory(sheet, memory), data_rate(sheet, data)
    judgment, has = decide(bounds, shares, memory, shared.size, sessions, rate), memory
    if usable is not None:
        within = sessions if usable.entry.with_sessions else sessions.scaled(0)
        of_limit = decide(bounds, shares, usable.size, shared.size, within, rate)
        if _severity(of_limit) >= _severity(judgment):
            judgment, sessions, has = of_limit, within, usable.size
        else:
            usable = None
    needed = bounds_of(shared.size, sessions)
    sheet.line(f"{format_in(needed.value, 'GiB')} / {shown(has, 'GiB')} = {share_text(judgment.shares.today)}")
    failures = server_failures(judgment.shares, nodes)
    write_later_shares(sheet, judgment.shares, failures)
    if load.per_year and load.years and not shared.grows:
        sheet.caveat("the shared memory counts as set and does not grow with the database")
    exhausted = _exhausted_node(sheet, shared.size)
    if exhausted and judgment.status is ShareStatus.PASS:
        judgment = replace(judgment, status=ShareStatus.WARN)
    whole = None if usable is None else memory.value
    facts = ShareFacts(needed, bounds_of(has), "GiB", whole, per_server=nodes > 1)
    limited = [exhausted] if exhausted and judgment.status is ShareStatus.WARN else []
    limited += [] if usable is None else [f"{brief(usable.size, 'GiB')} by {usable.product}"]
    notes = [*([f"memory: {exhausted}"] if exhausted else []), *([shared.note] if shared.note else [])]
    if "memory.sessions" not in sheet.inputs:
        notes.append(f"memory: private memory of sessions is not counted ({KEYS['memory.sessions'].flag})")
    card = decided_card("memory", judgment, bounds, facts, failures=failures, limited=limited, notes=notes)
    yield judged(sheet, card)


def _severity(judgment: Judgment) -> tuple[int, float]:
    """Return what orders judgments: the status, now or later, and if alike the share of today."""
    return -WORST_FIRST.index(judgment.status), judgment.shares.today


def _sessions(sheet: Sheet) -> Quantity:
    """Return the private memory of all server processes; 0 where their number is unknown."""
    count = sheet.optional("memory.sessions")
    if count is None:
        return Quantity(0.0, "bytes", Origin.RULE, "memory.sessions")
    each = sheet.number("memory.session_mib")
    total = each.scaled(count.value)
    sheet.line(f"{shown(count, 'sessions')} x {shown(each, 'MiB')} = {shown(total, 'GiB')}")
    if each.origin is not Origin.RULE:
        return total
    named, action = f"{shown(each, 'MiB')} a session by default", f"Use {KEYS['memory.session_mib'].flag}"
    ends = ((total.low, False), (total.high, True))
    doubts = tuple(Doubt(end, named, action, upper, default=True) for end, upper in ends)
    return replace(total, low=None, high=None, doubts=doubts)


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
