"""The share of the processors that a workload takes, by how busy it keeps its present server and how fast cores are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice, Bounds, ShareFacts
from sizeup.quantity import Doubt, Origin, Quantity
from sizeup.sizing.io.capacity import servers
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import is_named, shares_load
from sizeup.sizing.licensing.limits import usable_cores
from sizeup.sizing.sheet import Calculation, Sheet, figure, shown
from sizeup.sizing.verdict import (
    Judgment,
    Shares,
    ShareStatus,
    bounds_of,
    capacity_text,
    decide,
    decided_card,
    judged,
    later_clauses,
    limits,
    open_card,
    server_failures,
    share_text,
    write_later_shares,
)
from sizeup.sizing.workload import covers_one_instance, growth
from sizeup.units import format_in

_RATES = "workload.specrate_per_core", "machine.specrate_per_core"
_MODELS = "workload.cpu_model", "machine.cpu_model"
_USE_RATES = f"Use {KEYS[_RATES[0]].flag} {KEYS[_RATES[1]].assignment}"
_CLOCK = re.compile(r"@\s*(\d+(?:\.\d+)?)\s*GHz", re.IGNORECASE)
"""The nominal clock in the name of a processor."""


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
    if there and there.casefold() == here.casefold():
        return [Quantity(1.0, "1", Origin.RULE, "the same processor")], True
    theirs, ours = (
        _speed(sheet, _MODELS[0], there, None),
        _speed(sheet, _MODELS[1], here, sheet.optional("machine.ghz")),
    )
    one, other = theirs.beside(ours), ours.beside(theirs)
    known = theirs.value is not None and ours.value is not None
    if known:
        sheet.line(f"SPECrate per core: {figure(one)} / {figure(other)} = {figure(one / other)}")
    return [
        _factor(theirs, theirs.low / other, one / other, theirs.high / other),
        _factor(ours, other / ours.high, 1.0, other / ours.low),
    ], known


def _factor(speed: _Speed, low: float, value: float, high: float) -> Quantity:
    doubts = (Doubt(low, speed.reason, speed.action), Doubt(high, speed.reason, speed.action, upper=True))
    return Quantity(value, "1", Origin.RULE, "cpu", doubts=doubts)


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
    usable = usable_cores(sheet, cores.value)
    if usable is not None:
        limited = [usable.text, *limited]
        action = f"Use {KEYS['machine.threads_per_core'].flag}"
        if "machine.threads_per_core" in sheet.inputs:
            action = "Turn off the second thread of each core (machine.threads_per_core=1)"
        shared = Doubt(usable.least * sharing, "threads that the edition uses may share cores", action)
        capacity = Quantity(usable.most * sharing, "1", Origin.RULE, "license", doubts=(shared,))
    bounds, grows = limits(sheet), growth(sheet)

    def shares_of(available: float, *parts: float) -> Shares:
        today = math.prod(parts) / available
        lost = today * sharing / (sharing - 1) if sharing > 1 else today if nodes > 1 else None
        return Shares(today, lost, grows)

    found = decide(bounds, shares_of, capacity, *sorted(factors, key=_width))
    whole = None if usable is None else cores.value * sharing
    facts = ShareFacts(_product(factors), bounds_of(capacity), "cores", whole)
    open_end = found.status is ShareStatus.UNCERTAIN
    end = shares_of(1.0, found.best if open_end or found.status is ShareStatus.FAIL else found.worst)
    shares, why = found.shares if known else end, None
    if bounds.status(found.shares) is not found.status:
        why = found.doubts[0]
    if known:
        sheet.line(f"{figure(facts.demand.value)} cores / {capacity_text(facts)} = {share_text(shares.today)}")
    for one in (*factors, capacity):
        for doubt in one.doubts:
            sheet.line(f"{doubt.reason}: x {'any' if doubt.end is None else figure(doubt.end / one.value)}")
    threads = sheet.optional("machine.threads_per_core")
    if threads is not None and threads.value > 1:
        sheet.caveat("threads of a core share it: half of all threads busy can be more than half of what the cores do")
    text = share_text(end.today)
    if open_end:
        text += " or more" if math.isinf(found.worst) else f" to {share_text(found.worst)}"
    elif found.best < found.worst:
        text = f"at {'least' if found.status is ShareStatus.FAIL else 'most'} {text}"
    because = "" if why is None else f", because {why.reason}"
    later = later_clauses(end, bounds, server_failures(end, nodes))
    assumed = [why.reason] if why is not None and found.status is ShareStatus.WARN else []
    notes = [f"CPU: {why.reason} (--show cpu)"] if why is not None and open_end else []
    failures = server_failures(shares, nodes)
    card = decided_card(
        "cpu",
        Judgment(found.status, shares, shares.today, shares.today, () if why is None else (why,)),  # text has the ends
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
        yield judged(sheet, replace(unjudged, status=found.status.value, facts=facts))
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
    doubts, most = list[Doubt](), sheet.optional("workload.spread_cores")
    if most is not None and most.origin is there.origin and most.value > there.value:  # of the same workload
        action = f"Use {KEYS['workload.cpu_cores'].flag}"
        doubts.append(Doubt(most.value, "busy threads may share no core", action, upper=True))
    if covers_one_instance(sheet):
        action = f"Add the reports of the others, or use {KEYS['workload.scope'].name}=whole"
        doubts.append(Doubt(None, "the report covers one instance of the cluster", action, upper=True))
    if known:
        times = math.prod(one.value for one in speeds)
        sheet.line(f"{figure(there.value)} cores x {figure(times)} = {figure(there.value * times)} cores")
    return [Quantity(there.value, "1", there.origin, there.source, doubts=tuple(doubts)), *speeds], known


CALCULATIONS = (Calculation("CPU", _cpu, ("verdict.cpu",), about=("workload.cpu_cores",)),)
