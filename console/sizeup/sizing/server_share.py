"""The shares of the processors and of the memory of a server that a workload takes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice, Bounds, ShareFacts
from sizeup.quantity import Origin, Quantity, Uncertainty
from sizeup.sizing.keys import KEYS, LEAVE_TO_OTHERS
from sizeup.sizing.licensing.contract import is_named, shares_load
from sizeup.sizing.licensing.limits import pinned_cores, usable_cores, usable_memory
from sizeup.sizing.memory import beside_buffers
from sizeup.sizing.sheet import Calculation, Sheet, brief, figure, servers, shown, vendor
from sizeup.sizing.verdict import (
    WORST_FIRST,
    Judgment,
    Shares,
    ShareStatus,
    amount_text,
    bounds_of,
    capacity_text,
    decide,
    decided_card,
    exactly,
    judged,
    later_clauses,
    limits,
    open_card,
    server_failures,
    share_text,
    write_later_shares,
)
from sizeup.sizing.workload import Growth, covers_one_instance, data_growth, data_rate, fills_in, growth, growth_of_sum
from sizeup.units import format_in

_RATES = "workload.specrate_per_core", "machine.specrate_per_core"
_MODELS = "workload.cpu_model", "machine.cpu_model"
_USE_RATES = f"Use {KEYS[_RATES[0]].flag} {KEYS[_RATES[1]].assignment}"
PRESENT_PROCESSOR = "that of the present server"
"""The processor of an order whose cores are those of the present server, whatever that is."""
_CLOCK = re.compile(r"@\s*(\d+(?:\.\d+)?)\s*GHz", re.IGNORECASE)
"""The nominal clock in the name of a processor."""

_MAXIMUM_CLOCK = "/cpuinfo_max_freq"
"""The source of a clock that turbo or boost alone may reach."""


class _Speed(Struct, frozen=True):
    """The SPECrate of one core between its ends."""

    low: float
    high: float
    value: float | None
    """None where the processor is unknown, and the ends are those of all processors."""
    reason: str
    action: str = _USE_RATES

    def beside(self, other: _Speed) -> float:
        """Return the value; where it is unknown that of the other server, as far as the ends permit."""
        like = math.sqrt(self.low * self.high) if other.value is None else other.value
        return min(max(like, self.low), self.high) if self.value is None else self.value


def relative_speed(sheet: Sheet) -> tuple[list[Quantity], bool]:
    """Return how many cores of this machine do the work of one of the present server, as independent factors.

    By the SPECrate of both where both are given; else by their processors and published results. False where one of
    the processors is unknown, so that only the ends of the factors tell something.
    """
    if all(key in sheet.inputs for key in _RATES):
        rates = [sheet.number(key) for key in _RATES]
        times = rates[0].value / rates[1].value
        sheet.line(f"SPECrate per core: {shown(rates[0], '')} / {shown(rates[1], '')} = {figure(times)}")
        return [Quantity(times, "1", rates[0].origin, rates[0].source)], True
    for key in _RATES:
        if key in sheet.inputs:
            sheet.caveat(f"{key} counts only with that of the other server, of the same suite")
    there, here = (" ".join((sheet.optional_words(key) or "").split()) for key in _MODELS)
    if there and here.casefold() in (there.casefold(), PRESENT_PROCESSOR):
        return [Quantity(1.0, "1", Origin.RULE, "the same processor")], True
    clock = sheet.optional("machine.ghz")
    if clock is not None and clock.source.endswith(_MAXIMUM_CLOCK):
        clock = None  # published results are compared per GHz of the base clock
    theirs, ours = _speed(sheet, _MODELS[0], there, None), _speed(sheet, _MODELS[1], here, clock)
    one, other = theirs.beside(ours), ours.beside(theirs)
    known = theirs.value is not None and ours.value is not None
    if known:
        sheet.line(f"SPECrate per core: {figure(one)} / {figure(other)} = {figure(one / other)}")
    return [
        _factor(theirs, theirs.low / other, one / other, theirs.high / other),
        _factor(ours, other / ours.high, 1.0, other / ours.low),
    ], known


def _factor(speed: _Speed, low: float, value: float, high: float) -> Quantity:
    uncertainties = (
        Uncertainty(low, speed.reason, speed.action),
        Uncertainty(high, speed.reason, speed.action, upper=True),
    )
    return Quantity(value, "1", Origin.RULE, "cpu", uncertainties=uncertainties)


def _speed(sheet: Sheet, key: str, name: str, clock: Quantity | None) -> _Speed:
    """Return the SPECrate of a core by the results of its generation, per GHz where its clock is known."""
    in_name = _CLOCK.search(name)
    ghz = clock.value / 1e9 if clock is not None else None if in_name is None else float(in_name[1])
    table, times = ("cpu.core", 1.0) if ghz is None else ("cpu.ghz", ghz)
    entries = [one for pack in sheet.rules.packs for one in pack.factor if one.table == table]
    found = [one for one in entries if name and one.model and is_named(one.model, name)][:1]
    low, high = (
        pick(end for one in found or entries for end in (one.low, one.high) if end is not None) * times
        for pick in (min, max)
    )
    whose = "the present server" if key == _MODELS[0] else "this machine"
    for one in found:
        value = Quantity(one.value, "1", Origin.RULE, one.id, low=one.low, high=one.high)
        sheet.given(one.id, sheet.rules.marked(value, f"factor.{one.id}"))
        sheet.cite(one.source)
        if one.note:
            sheet.caveat(one.note)
        range_text = f"results of {one.title} range from {figure(low)} to {figure(high)} per core"
        sheet.line(f"SPECrate of {whose}: {figure(one.value * times)} per core; {range_text}")
        return _Speed(low, high, one.value * times, range_text)
    sheet.line(f"SPECrate of {whose}: {figure(low)} to {figure(high)} per core, those of all processors")
    if name:
        return _Speed(low, high, None, f"no result of the processor of {whose} is known")
    return _Speed(low, high, None, f"the processor of {whose} is unknown", f"Use {KEYS[key].flag}")


def _cpu(sheet: Sheet) -> Iterator[Advice]:
    busy = sheet.inputs.get("workload.cpu_cores"), sheet.inputs.get("workload.cpu_percent")
    if not any(isinstance(value, Quantity) for value in busy):
        return
    nodes, cores = servers(sheet), sheet.optional("machine.cores")
    sharing = nodes if shares_load(sheet) else 1.0
    if cores is None:
        there = sheet.optional("workload.cpu_cores")
        demand = shown(sheet.number("workload.cpu_percent"), "%") if there is None else f"{figure(there.value)} cores"
        said = f"CPU: {demand} demand, capacity unknown. Use {KEYS['machine.cores'].flag}"
        yield judged(sheet, open_card("cpu", said, demand))
        return
    capacity, limited = cores.scaled(sharing), list[str]()
    if sharing > 1:
        sheet.line(f"{format_in(nodes, 'servers')} x {shown(cores, 'cores')} = {shown(capacity, 'cores')}")
    elif nodes > 1:
        limited.append(f"one of {format_in(nodes, 'servers')} carries the load at a time with this product")
    factors, known = _demand(sheet, capacity.value)
    pinned = pinned_cores(sheet)
    if pinned is not None and pinned.value < cores.value:
        limited.append(f"the partition has {shown(pinned, '')} of {shown(cores, 'cores')}")
        cores, capacity = pinned, pinned.scaled(sharing)
    usable = usable_cores(sheet, cores.value)
    if usable is not None:
        limited = [usable.text, *limited]
        action = f"Use {KEYS['machine.threads_per_core'].flag}"
        if "machine.threads_per_core" in sheet.inputs:
            action = "Turn off the second thread of each core (machine.threads_per_core=1)"
        shared = Uncertainty(usable.least * sharing, "threads that the edition uses may share cores", action)
        uncertain = (shared,) if usable.least < usable.most else ()
        capacity = Quantity(usable.most * sharing, "1", Origin.RULE, "license", uncertainties=uncertain)
    bounds, grows = limits(sheet), growth(sheet)
    degraded = sheet.optional("cluster.degraded_percent") if nodes > 1 else None
    left = 1.0 if degraded is None else degraded.value

    def shares_of(available: float, *parts: float) -> Shares:
        today = math.prod(parts) / available
        lost = today * sharing / max(sharing - 1, 1) / left
        return Shares(today, lost if nodes > 1 else None, grows)

    found = decide(bounds, shares_of, capacity, *sorted(factors, key=_width))
    whole = None if usable is None else cores.value * sharing
    facts = ShareFacts(_product(factors), bounds_of(capacity), "cores", whole)
    open_end = found.status is ShareStatus.UNCERTAIN
    end = shares_of(1.0, found.best if open_end or found.status is ShareStatus.FAIL else found.worst)
    shares, why = found.shares if known else end, None
    if bounds.status(found.shares) is not found.status:
        why = found.uncertainties[0]
    if known:
        sheet.line(f"{figure(facts.demand.value)} cores / {capacity_text(facts)} = {share_text(shares.today)}")
    for one in (*factors, capacity):
        above = False
        for uncertainty in one.uncertainties:
            times = "any" if uncertainty.end is None else figure(uncertainty.end / one.value)
            sheet.line(f"{uncertainty.reason}: x {times}{' in all' if above and uncertainty.upper else ''}")
            above |= uncertainty.upper
    threads = sheet.optional("machine.threads_per_core")
    if threads is not None and threads.value > 1:
        sheet.caveat("threads of a core share it: half of all threads busy can be more than half of what the cores do")
    text = share_text(end.today)
    if open_end:
        text += " or more" if math.isinf(found.worst) else f" to {share_text(found.worst)}"
    elif found.best < found.worst:
        text = f"at {'least' if found.status is ShareStatus.FAIL else 'most'} {text}"
    because = "" if why is None else f", because {why.reason}"
    text = ", ".join((text, *found.later(bounds)))
    later = later_clauses(end, bounds, server_failures(end, nodes))
    assumed = [why.reason] if why is not None and found.status is ShareStatus.WARN else []
    notes = [f"CPU: {why.reason} (--show cpu)"] if why is not None and open_end else []
    failures = server_failures(shares, nodes)
    card = decided_card(
        "cpu",
        replace(
            found, shares=shares, best=shares.today, worst=shares.today, uncertainties=() if why is None else (why,)
        ),
        bounds,
        facts,
        clause=", ".join((f"{text}{because}", *later)),
        limited=limited,
        notes=notes,
        failures=failures,
        assumed=assumed,
    )
    if open_end and not known:
        unjudged = open_card("cpu", card.statement, card.demand, has=capacity_text(facts), note=notes[0])
        yield judged(sheet, replace(unjudged, status=found.status.value, facts=facts, decides=card.decides))
        return
    write_later_shares(sheet, shares, failures)
    yield judged(sheet, card)


def _width(factor: Quantity) -> float:
    """Return the ratio of both ends, which is less the wider they lie apart; 0 where the upper one is open."""
    if factor.most is None:
        return 0.0
    return round(factor.least / factor.most, 6) if factor.most else 1.0


def _product(factors: Sequence[Quantity]) -> Bounds:
    """Return the product of figures that are independent of each other: their ends multiply."""
    highs = [one.most for one in factors]
    high = None if None in highs else math.prod(one for one in highs if one is not None)
    return Bounds(math.prod(one.value for one in factors), math.prod(one.least for one in factors), high)


def _demand(sheet: Sheet, capacity: float) -> tuple[list[Quantity], bool]:
    """Return the factors of the cores of this machine that the workload needs.

    False where a processor is unknown, so that only the ends of the factors tell something.
    """
    percent, stated = (sheet.inputs.get(f"workload.cpu_{name}") for name in ("percent", "cores"))
    typed = isinstance(percent, Quantity) and percent.origin is Origin.USER
    # A utilization of this machine that somebody typed counts beside busy cores that a file states.
    chosen = typed and isinstance(stated, Quantity) and stated.origin is not Origin.USER
    there = None if chosen else sheet.optional("workload.cpu_cores")
    if there is None:
        busy = sheet.number("workload.cpu_percent")
        sheet.line(f"{format_in(capacity, 'cores')} x {shown(busy, '%')} = {figure(capacity * busy.value)} cores")
        return [Quantity(capacity * busy.value, "1", busy.origin, busy.source)], True
    speeds, known = relative_speed(sheet)
    action, most = f"Use {KEYS['workload.cpu_cores'].flag}", sheet.optional("workload.spread_cores")
    ranged = ((there.low, False), (there.high, True)) if there.origin is Origin.USER else ()
    uncertainties = [Uncertainty(end, "busy cores are a range", action, upper) for end, upper in ranged if end]
    if most is not None and most.origin is there.origin and most.value > there.value:  # of the same workload
        uncertainties.append(Uncertainty(most.value, "busy threads may share no core", action, upper=True))
    percentile = sheet.inputs.get("workload.percentile")
    given = isinstance(percentile, Quantity) and percentile.origin is Origin.USER
    if there.origin is Origin.IMPORTED and there.low == there.value and there.high is not None and not given:
        end = min(there.high, there.value * sheet.rule("workload.peak-factor").value)
        action = "Use shorter intervals over a busy week"
        uncertainties.append(Uncertainty(end, "no peaks above the average", action, upper=True, default=True))
    if covers_one_instance(sheet):
        action = f"Add the reports of the others, or use {KEYS['workload.scope'].name}=whole"
        uncertainties.append(Uncertainty(None, "the report covers one instance of the cluster", action, upper=True))
    if known:
        times = math.prod(one.value for one in speeds)
        sheet.line(f"{figure(there.value)} cores x {figure(times)} = {figure(there.value * times)} cores")
    return [Quantity(there.value, "1", there.origin, there.source, uncertainties=tuple(uncertainties)), *speeds], known


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
    uncertainties = tuple(Uncertainty(end, named, upper=end is None, default=True) for end in (0.0, None))
    return SharedMemory(
        replace(_with_pools(sheet, quantity), low=None, high=None, uncertainties=uncertainties), grows=True
    )


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
    return size.scaled(1.0, _pools(sheet, "beside it"))


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
        enough = Uncertainty(advised.value, less, f"Use {KEYS['sga.mb'].flag}")
        return SharedMemory(replace(size, uncertainties=(*size.uncertainties, enough)), grows=False)
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
    buffers = shared.size
    if shared.size.value and any(beside := beside_buffers(sheet)):
        size = shared.size.scaled(1 + beside[0], beside[1])
        more = brief(replace(shared.size, value=size.value - shared.size.value), "GiB")
        part = f"{more} that {sheet.words('license.pack')} allocates beside it"
        sheet.line(f"shared memory: {shown(shared.size, 'GiB')} + {part} = {shown(size, 'GiB')}")
        shared = replace(shared, size=size)
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
    if usable is not None:  # a limit of the edition, which needs no headroom: nothing else takes of it
        within = sessions if usable.entry.with_sessions else sessions.scaled(0)
        whole_limit = replace(bounds, passes=bounds.fails)
        of_limit = decide(whole_limit, shares, usable.size, shared.size, within, rate)
        if of_limit.status is not ShareStatus.PASS and _severity(of_limit) >= _severity(judgment):
            judgment, sessions, has = of_limit, within, usable.size
        else:
            usable = None
    needed = bounds_of(shared.size, sessions)
    sheet.line(f"{format_in(needed.value, 'GiB')} / {shown(has, 'GiB')} = {share_text(judgment.shares.today)}")
    failures = server_failures(judgment.shares, nodes)
    write_later_shares(sheet, judgment.shares, failures)
    if load.per_year and load.years and not shared.grows:
        sheet.caveat("the shared memory counts as set and does not grow with the database")
    exhausted = _exhausted_node(sheet, shared.size) or _little_page_cache(sheet, buffers, memory)
    if exhausted and judgment.status is ShareStatus.PASS:
        judgment = replace(judgment, status=ShareStatus.WARN)
    whole = None if usable is None else memory.value
    facts = ShareFacts(needed, bounds_of(has), "GiB", whole, per_server=nodes > 1)
    limited = [exhausted] if exhausted and judgment.status is ShareStatus.WARN else []
    limited += [] if usable is None else [f"{brief(usable.size, 'GiB')} by {usable.product}"]
    notes = [*([f"memory: {exhausted}"] if exhausted else []), *([shared.note] if shared.note else [])]
    if "memory.sessions" not in sheet.inputs:
        notes.append(f"memory: private memory of sessions is not counted ({KEYS['memory.sessions'].flag})")
    kept = sum(has.value - (one.end or 0.0) for one in has.uncertainties if one.action == LEAVE_TO_OTHERS)
    card = decided_card("memory", judgment, bounds, facts, failures=failures, limited=limited, notes=notes, kept=kept)
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
    uncertainties = tuple(Uncertainty(end, named, action, upper, default=True) for end, upper in ends)
    return replace(total, low=None, high=None, uncertainties=uncertainties)


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


def _little_page_cache(sheet: Sheet, buffers: Quantity, memory: Quantity) -> str:
    """Return that buffers of PostgreSQL leave less page cache than its manual advises; empty where they do not."""
    if vendor(sheet) != "postgresql":
        return ""
    advised = sheet.rule("memory.postgresql.buffers")
    most = advised.value if memory.origin is Origin.USER else advised.most
    if most is None or buffers.value <= most * memory.value:
        return ""
    least = format_in(math.ceil(buffers.value / advised.value / 2**30) * 2**30, "GiB")
    part = f"{brief(buffers, 'GiB')} of shared_buffers, at most {shown(advised, '%')}"
    return f"the manual of PostgreSQL advises {least} for {part}"


CALCULATIONS = (
    Calculation("CPU", _cpu, ("verdict.cpu",), about=("workload.cpu_cores",)),
    Calculation("memory", _memory, ("verdict.memory",), about=("sga.", "db.", "memory.sessions")),
)
