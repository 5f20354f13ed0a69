"""The share of the processors that a workload takes, by how busy it keeps its present server."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice, Bounds, ShareFacts
from sizeup.quantity import Doubt, Origin, Quantity
from sizeup.sizing.io.capacity import servers
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.limits import usable_cores
from sizeup.sizing.sheet import Calculation, Sheet, figure, shown
from sizeup.sizing.verdict import (
    Shares,
    ShareStatus,
    assumed_clause,
    capacity_text,
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
from sizeup.sizing.workload import ONE_INSTANCE, covers_one_instance, growth
from sizeup.units import format_in

VERDICT = "verdict.cpu"
"""The id of the advice."""


def _cpu(sheet: Sheet) -> Iterator[Advice]:
    busy = sheet.inputs.get("workload.cpu_cores"), sheet.inputs.get("workload.cpu_percent")
    if not any(isinstance(value, Quantity) for value in busy):
        return
    nodes, cores = servers(sheet), sheet.optional("machine.cores")
    if cores is None:
        yield _unknown(sheet)
        return
    capacity = cores.value * nodes
    if nodes > 1:
        sheet.line(f"{format_in(nodes, 'servers')} x {shown(cores, 'cores')} = {format_in(capacity, 'cores')}")
    whole = capacity
    needed = _needed(sheet, capacity)
    if needed is None:
        yield _incomparable(sheet, format_in(capacity, "cores"))
        return
    usable = usable_cores(sheet, cores.value)
    reasons: list[str] = []
    bounds, spread = limits(sheet), _spread(sheet)
    if usable is not None:
        capacity = usable.most * nodes
        sharing = needed / (usable.least * nodes)
        if bounds.status(Shares(sharing)) is not bounds.status(Shares(needed / capacity)):
            reasons = [f"a core for each of them ({share_text(sharing)} if they share cores)"]
        if usable.threads_unknown and bounds.status(Shares(needed / capacity)) is not ShareStatus.FAIL:
            reasons = ["a core for each of them, as the threads of a core are unknown (machine.threads_per_core)"]
    share = needed / capacity
    shares, upper = (
        Shares(one, one * nodes / (nodes - 1) if nodes > 1 else None, growth(sheet)) for one in (share, share * spread)
    )
    if bounds.status(upper) is not bounds.status(shares):
        reasons.append(f"busy threads that share cores ({share_text(upper.today)} if they share none)")
    if covers_one_instance(sheet) and not _percent_is_chosen(sheet) and needed <= capacity:
        reasons.append(ONE_INSTANCE)
    status = without_unconfirmed_pass(bounds.status(shares), reasons)
    unshared = "if no busy threads share a core"
    apart = Doubt(needed * spread, unshared, upper=True)
    demand = Bounds(needed, needed, needed * spread, (apart,) if spread > 1 else ())
    facts = ShareFacts(demand, exactly(capacity), "cores", None if usable is None else whole)
    has = capacity_text(facts)
    sheet.line(f"{figure(needed)} cores / {has} = {share_text(share)}")
    if spread > 1:
        sheet.line(f"{unshared}: {figure(needed * spread)} cores / {has} = {share_text(upper.today)}")
    threads = sheet.optional("machine.threads_per_core")
    if threads is not None and threads.value > 1:
        sheet.caveat("threads of a core share it: half of all threads busy can be more than half of what the cores do")
    write_later_shares(sheet, shares, nodes)
    failures = server_failures(shares, nodes)
    limited = [*([] if usable is None else [usable.text]), *assumed_clause(status, reasons)]
    said = statement("CPU", facts, shares_clause(shares, bounds, failures), limited=limited)
    assumptions = [f"assumed: {reason}" for reason in reasons]
    yield judged(
        sheet,
        share_card(
            "cpu",
            status,
            said,
            shares,
            bounds,
            facts,
            advice=VERDICT,
            assumptions=assumptions,
            failures=failures,
            assumed=reasons,
        ),
    )


def _unknown(sheet: Sheet) -> Advice:
    """Return the verdict where the cores of the machine are unknown."""
    there = sheet.optional("workload.cpu_cores")
    demand = shown(sheet.number("workload.cpu_percent"), "%") if there is None else f"{figure(there.value)} cores"
    said = f"CPU: {demand} demand, capacity unknown. Use {KEYS['machine.cores'].flag}"
    return judged(sheet, open_card("cpu", said, demand, VERDICT))


def _incomparable(sheet: Sheet, has: str) -> Advice:
    """Return the verdict where the cores of the two servers cannot be compared."""
    there = sheet.number("workload.cpu_cores")
    busy = f"{figure(there.value)} cores"
    if (spread := _spread(sheet)) > 1:
        busy = f"{figure(there.value)} to {figure(there.value * spread)} cores"
    said = (
        f"CPU: {busy} busy on the present server; how many that is of these {has} is unknown "
        f"without the SPECrate per core of both. Use {KEYS['workload.specrate_per_core'].flag} "
        f"machine.specrate_per_core=N; if it is this same server, {KEYS['workload.cpu_percent'].flag}"
    )
    note = "CPU: not judged without the SPECrate per core of both servers (--show cpu)"
    return judged(sheet, open_card("cpu", said, busy, VERDICT, has=has, note=note))


def _needed(sheet: Sheet, capacity: float) -> float | None:
    """Return the cores of this machine that the workload needs; None where the two servers cannot be compared."""
    there = None if _percent_is_chosen(sheet) else sheet.optional("workload.cpu_cores")
    if there is None:
        busy = sheet.number("workload.cpu_percent")
        sheet.line(f"{format_in(capacity, 'cores')} x {shown(busy, '%')} = {figure(capacity * busy.value)} cores")
        return capacity * busy.value
    theirs, ours = sheet.optional("workload.specrate_per_core"), sheet.optional("machine.specrate_per_core")
    if theirs is None or ours is None:
        return None
    needed = there.value * theirs.value / ours.value
    sheet.line(f"{figure(there.value)} cores x {shown(theirs, '')} / {shown(ours, '')} = {figure(needed)} cores")
    return needed


def _spread(sheet: Sheet) -> float:
    """Return how many times its busy cores the workload keeps busy if its threads share none; 1 where unknown."""
    busy = None if _percent_is_chosen(sheet) else sheet.optional("workload.cpu_cores")
    most = None if busy is None else sheet.optional("workload.spread_cores")
    if busy is None or most is None or most.origin is not busy.origin:  # not of the same workload
        return 1.0
    return max(most.value / busy.value, 1.0) if busy.value else 1.0


def _percent_is_chosen(sheet: Sheet) -> bool:
    """Whether somebody typed the utilization of this machine beside busy cores that a file states."""
    percent, cores = (sheet.inputs.get(f"workload.cpu_{name}") for name in ("percent", "cores"))
    typed = isinstance(percent, Quantity) and percent.origin is Origin.USER
    return typed and isinstance(cores, Quantity) and cores.origin is not Origin.USER


CALCULATIONS = (Calculation("CPU", _cpu, ("verdict.cpu",), about=("workload.cpu_cores",)),)
