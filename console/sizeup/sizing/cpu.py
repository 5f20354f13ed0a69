"""The share of the processors that a workload takes, by how busy it keeps its present server."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice, Bounds, ShareFacts
from sizeup.quantity import Doubt, Origin, Quantity
from sizeup.sizing.core_speed import independent, relative_speed
from sizeup.sizing.io.capacity import servers
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.limits import usable_cores
from sizeup.sizing.sheet import Calculation, Sheet, figure, shown
from sizeup.sizing.verdict import (
    ShareLimits,
    Shares,
    ShareStatus,
    capacity_text,
    demand_text,
    exactly,
    judged,
    later_clauses,
    limits,
    open_card,
    server_failures,
    share_card,
    share_text,
    statement,
    write_later_shares,
)
from sizeup.sizing.workload import Growth, covers_one_instance, growth
from sizeup.units import format_in

VERDICT = "verdict.cpu"
"""The id of the advice."""


class _Use(Struct, frozen=True):
    """The cores that a workload needs, against those that there are."""

    demand: Bounds
    capacity: Bounds
    nodes: float
    growth: Growth
    limits: ShareLimits

    @property
    def ends(self) -> tuple[float, float]:
        """Today's share at best and at worst; infinite where nothing bounds it."""
        most = math.inf if self.demand.high is None else self.demand.high
        return self.demand.low / self.capacity.value, most / self.capacity.low

    def shares(self, today: float) -> Shares:
        """Return the shares that follow from one of today."""
        return Shares(today, today * self.nodes / (self.nodes - 1) if self.nodes > 1 else None, self.growth)

    @property
    def status(self) -> ShareStatus:
        """What both ends mean."""
        best, worst = self.ends
        return self.limits.decided(self.shares(best), None if math.isinf(worst) else self.shares(worst))

    @property
    def decides(self) -> Doubt | None:
        """The largest doubt without which the status is another one; None where all of them change nothing."""
        sizes = [(_factor(one, part.value), one) for part in (self.demand, self.capacity) for one in part.reasons]
        doubts = [one for _, one in sorted(sizes, key=lambda each: round(each[0], 6), reverse=True)]
        if self._without(doubts).status is self.status:
            return None
        return next((one for one in doubts if self._without([one]).status is not self.status), doubts[0])

    def _without(self, settled: Sequence[Doubt]) -> _Use:
        demand, capacity = (
            independent(part.value, [one for one in part.reasons if one not in settled])
            for part in (self.demand, self.capacity)
        )
        return _Use(demand, capacity, self.nodes, self.growth, self.limits)

    @property
    def end(self) -> float:
        """Today's share at the end that decides."""
        best, worst = self.ends
        return best if self.status in (ShareStatus.FAIL, ShareStatus.UNCERTAIN) else worst

    def clause(self) -> str:
        """Return today's share at the end that decides, why, and what failures and growth make of it."""
        (best, worst), status, decides, end = self.ends, self.status, self.decides, self.end
        text = share_text(end)
        if status is ShareStatus.UNCERTAIN:
            text += " or more" if math.isinf(worst) else f" to {share_text(worst)}"
        elif best < worst:
            text = f"at {'least' if status is ShareStatus.FAIL else 'most'} {text}"
        because = "" if decides is None else f", because {decides.reason}"
        later = self.shares(end)
        return ", ".join((f"{text}{because}", *later_clauses(later, self.limits, server_failures(later, self.nodes))))


def _factor(doubt: Doubt, value: float) -> float:
    """Return by which factor a doubt moves its end; infinite where that is open."""
    return math.inf if doubt.end is None else max(doubt.end / value, value / doubt.end)


def _cpu(sheet: Sheet) -> Iterator[Advice]:
    busy = sheet.inputs.get("workload.cpu_cores"), sheet.inputs.get("workload.cpu_percent")
    if not any(isinstance(value, Quantity) for value in busy):
        return
    nodes, cores = servers(sheet), sheet.optional("machine.cores")
    if cores is None:
        yield _unknown(sheet)
        return
    whole = cores.value * nodes
    if nodes > 1:
        sheet.line(f"{format_in(nodes, 'servers')} x {shown(cores, 'cores')} = {format_in(whole, 'cores')}")
    (demand, known), usable, capacity = _demand(sheet, whole), usable_cores(sheet, cores.value), exactly(whole)
    if usable is not None:
        action = f"Use {KEYS['machine.threads_per_core'].flag}"
        shared = Doubt(usable.least * nodes, "threads that the edition uses may share cores", action)
        capacity = independent(usable.most * nodes, [shared] if usable.least < usable.most else [])
    use = _Use(demand, capacity, nodes, growth(sheet), limits(sheet))
    shares, status, decides = use.shares(demand.value / capacity.value if known else use.end), use.status, use.decides
    facts = ShareFacts(demand, capacity, "cores", None if usable is None else whole)
    if known:
        sheet.line(f"{figure(demand.value)} cores / {capacity_text(facts)} = {share_text(shares.today)}")
    for one in (*demand.reasons, *capacity.reasons):
        end = "open" if one.end is None else f"{figure(one.end)} cores"
        sheet.line(f"{one.reason}: {'demand' if one in demand.reasons else 'capacity'} {end}")
    threads = sheet.optional("machine.threads_per_core")
    if threads is not None and threads.value > 1:
        sheet.caveat("threads of a core share it: half of all threads busy can be more than half of what the cores do")
    said = statement("CPU", facts, use.clause(), limited=[] if usable is None else [usable.text])
    note = ""
    if decides is not None and status is ShareStatus.UNCERTAIN:
        said, note = f"{said}. {decides.action} to decide", f"CPU: {decides.reason} (--show cpu)"
    if note and not known:
        card = open_card("cpu", said, demand_text(facts), VERDICT, has=capacity_text(facts), note=note)
        yield judged(sheet, replace(card, status=status.value, facts=facts))
        return
    write_later_shares(sheet, shares, nodes)
    assumed = [decides.reason] if decides is not None and status is ShareStatus.WARN else []
    yield judged(
        sheet,
        share_card(
            "cpu",
            status,
            said,
            shares,
            use.limits,
            facts,
            advice=VERDICT,
            assumptions=[f"assumed: {reason}" for reason in assumed],
            notes=[note] if note else [],
            failures=server_failures(shares, nodes),
            assumed=assumed,
        ),
    )


def _unknown(sheet: Sheet) -> Advice:
    """Return the verdict where the cores of the machine are unknown."""
    there = sheet.optional("workload.cpu_cores")
    demand = shown(sheet.number("workload.cpu_percent"), "%") if there is None else f"{figure(there.value)} cores"
    said = f"CPU: {demand} demand, capacity unknown. Use {KEYS['machine.cores'].flag}"
    return judged(sheet, open_card("cpu", said, demand, VERDICT))


def _demand(sheet: Sheet, capacity: float) -> tuple[Bounds, bool]:
    """Return the cores of this machine that the workload needs; False where its ends alone tell something."""
    there = None if _percent_is_chosen(sheet) else sheet.optional("workload.cpu_cores")
    if there is None:
        busy = sheet.number("workload.cpu_percent")
        sheet.line(f"{format_in(capacity, 'cores')} x {shown(busy, '%')} = {figure(capacity * busy.value)} cores")
        return exactly(capacity * busy.value), True
    needed, doubts, known = relative_speed(sheet, there.value)
    most = sheet.optional("workload.spread_cores")
    if most is not None and most.origin is there.origin and most.value > there.value > 0:  # of the same workload
        end, action = needed * most.value / there.value, f"Use {KEYS['workload.cpu_cores'].flag}"
        doubts.append(Doubt(end, "busy threads may share no core", action, upper=True))
    if covers_one_instance(sheet):
        action = f"Add the reports of the others, or use {KEYS['workload.scope'].name}=whole"
        doubts.append(Doubt(None, "the report covers one instance of the cluster", action, upper=True))
    return independent(needed, doubts), known


def _percent_is_chosen(sheet: Sheet) -> bool:
    """Whether somebody typed the utilization of this machine beside busy cores that a file states."""
    percent, cores = (sheet.inputs.get(f"workload.cpu_{name}") for name in ("percent", "cores"))
    typed = isinstance(percent, Quantity) and percent.origin is Origin.USER
    return typed and isinstance(cores, Quantity) and cores.origin is not Origin.USER


CALCULATIONS = (Calculation("CPU", _cpu, ("verdict.cpu",), about=("workload.cpu_cores",)),)
