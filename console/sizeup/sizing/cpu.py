"""The share of the processors that a workload takes, by how busy it keeps its present server."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from sizeup.model.advice import Advice, Bounds, ShareFacts
from sizeup.quantity import Doubt, Origin, Quantity
from sizeup.sizing.core_speed import relative_speed
from sizeup.sizing.io.capacity import servers
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import shares_load
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


def _cpu(sheet: Sheet) -> Iterator[Advice]:
    busy = sheet.inputs.get("workload.cpu_cores"), sheet.inputs.get("workload.cpu_percent")
    if not any(isinstance(value, Quantity) for value in busy):
        return
    nodes, cores = servers(sheet), sheet.optional("machine.cores")
    sharing = nodes if shares_load(sheet) else 1.0
    if cores is None:
        yield _unknown(sheet)
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


def _unknown(sheet: Sheet) -> Advice:
    """Return the verdict where the cores of the machine are unknown."""
    there = sheet.optional("workload.cpu_cores")
    demand = shown(sheet.number("workload.cpu_percent"), "%") if there is None else f"{figure(there.value)} cores"
    said = f"CPU: {demand} demand, capacity unknown. Use {KEYS['machine.cores'].flag}"
    return judged(sheet, open_card("cpu", said, demand))


def _demand(sheet: Sheet, capacity: float) -> tuple[list[Quantity], bool]:
    """Return the factors of the cores of this machine that the workload needs.

    False where a processor is unknown, so that only the ends of the factors tell something.
    """
    there = None if _percent_is_chosen(sheet) else sheet.optional("workload.cpu_cores")
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


def _percent_is_chosen(sheet: Sheet) -> bool:
    """Whether somebody typed the utilization of this machine beside busy cores that a file states."""
    percent, cores = (sheet.inputs.get(f"workload.cpu_{name}") for name in ("percent", "cores"))
    typed = isinstance(percent, Quantity) and percent.origin is Origin.USER
    return typed and isinstance(cores, Quantity) and cores.origin is not Origin.USER


CALCULATIONS = (Calculation("CPU", _cpu, ("verdict.cpu",), about=("workload.cpu_cores",)),)
