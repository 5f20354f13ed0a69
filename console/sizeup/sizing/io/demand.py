"""I/O demand: what the workload needs, by its own figures or by rules of thumb."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.io.capacity import servers
from sizeup.sizing.sheet import Calculation, Sheet, brief, shown, term, worked
from sizeup.sizing.workload import Demand, growth, workload_demand
from sizeup.units import format_in


def cores(sheet: Sheet) -> Quantity:
    """Physical cores of one server, with a line that says how they lie in sockets."""
    total = sheet.number("machine.cores")
    sockets = sheet.optional("machine.sockets")
    if sockets is None:
        sheet.line(f"{shown(total, 'cores')} in all (machine.cores)")
    elif total.value % sockets.value:
        sheet.line(f"{shown(total, 'cores')} in all, unevenly over {shown(sockets, 'sockets')} (machine.cores)")
    else:
        each = total.value / sockets.value
        sheet.line(
            f"{shown(sockets, 'sockets')} x {format_in(each, 'cores')} = {shown(total, 'cores')}"
            " in all (machine.cores counts all sockets, machine.cores_per_socket one)"
        )
    return total


def _by_clock(sheet: Sheet, rule: str) -> Quantity:
    """I/O demand of all servers by the GHz rule with the coefficient of ``rule``."""
    count, nodes = term(cores(sheet), "cores"), servers(sheet)
    if nodes > 1:
        count = worked(sheet, term(nodes, "servers") * count, "cores")
    clock, per_hz = sheet.number("machine.ghz"), sheet.rule(rule)
    hertz = clock.scaled(count.value)
    demand = hertz.scaled(per_hz.value)
    sheet.line(f"{count} x {shown(clock, 'GHz')} = {shown(hertz, 'GHz')} over all cores")
    sheet.line(f"{shown(hertz, 'GHz')} x {shown(per_hz, 'MB/s/GHz')} = {shown(demand, 'MB/s')}")
    return sheet.answer(demand.value, "MB/s", rule, low=demand.low, high=demand.high)


def fills_in(sheet: Sheet) -> bool:
    """Whether rules of thumb fill in where no workload is given: the user asked for it, or a preset did."""
    return sheet.optional_words("workload.rules_of_thumb") == "yes"


def _rule_of_thumb(sheet: Sheet, rule: str) -> str:
    return f"rule of thumb: {shown(sheet.rule(rule), 'MB/s/GHz').replace('/GHz', ' per GHz')}"


def _ghz_rule(sheet: Sheet) -> Iterator[Advice]:
    """The GHz rule with each of its coefficients."""
    if not fills_in(sheet):
        return
    for figure in sheet.rules.figures.values():
        family, _, name = figure.id.rpartition(".")
        if family != "io.ghz-rule":
            continue
        demand = _by_clock(sheet, figure.id)
        count, clock = sheet.number("machine.cores"), sheet.number("machine.ghz")
        by = _rule_of_thumb(sheet, figure.id)
        ending, variant = (f"-{name}", f", {figure.variant}") if figure.variant else ("", "")
        of_all = f"{format_in(count.value * servers(sheet), 'cores')} at {brief(clock, 'GHz')}"
        title, verdict = f"I/O demand by the GHz rule{variant}", f"{brief(demand, 'MB/s')} for {of_all} ({by}{variant})"
        yield sheet.advice(f"io.demand.ghz-rule{ending}", title, verdict, demand, "MB/s")


def _class_demands(sheet: Sheet) -> Iterator[Advice]:
    """What saturates the same cores under each kind of workload, and what was measured on later machines."""
    wanted = sheet.optional_words("workload.class")
    if not fills_in(sheet):
        return
    for figure_id in sheet.rules.figures:
        family, _, rest = figure_id.removeprefix("io.").partition(".")
        if family not in {"class", "anchor"} or not rest.endswith(".per-core"):
            continue
        name = rest.removesuffix(".per-core")
        count, nodes = sheet.number("machine.cores"), servers(sheet)
        each = sheet.rule(figure_id)
        entry = sheet.rules.figures[figure_id]
        found = each.scaled(count.value).scaled(nodes)
        low, high, text = found.low, found.high, shown(found, entry.unit)
        times = f"{format_in(nodes, 'servers')} x " if nodes > 1 else ""
        sheet.line(f"{times}{shown(count, 'cores')} x {shown(each, entry.unit)} = {text}")
        if entry.unit == "IOPS":
            size = sheet.number("workload.io_kib")
            sheet.line(f"{text} x {shown(size, 'KiB')} = {format_in(found.value * size.value, 'MB/s')}")
        span = "" if low is None or high is None else f" ({format_in(low, '')} to {format_in(high, '')})"
        title, verdict = f"I/O demand by kind of workload: {entry.title}", f"{entry.title}: up to {text}{span}"
        demand, decision = sheet.answer(found.value, entry.unit, figure_id, low=low, high=high), wanted == name
        advice_id, said = f"io.demand.{family}.{name}", f"{verdict} for these cores"
        yield sheet.advice(advice_id, title, said, demand, entry.unit, decision="chosen" if decision else "")


def io_demand(sheet: Sheet) -> Demand | None:
    """The demand that counts: the workload's own where there is one, else the rule's if it fills in; never a blend."""
    demand = workload_demand(sheet)
    if demand is not None or not fills_in(sheet):
        return demand
    return Demand(transfer_rate=_by_clock(sheet, EXACT), growth=growth(sheet), by_rule=True)


EXACT = "io.ghz-rule.exact"
"""The GHz rule that counts."""


def _measured_demand(sheet: Sheet) -> Iterator[Advice]:
    """The workload's throughput and requests, redo included: today, and at the end of the horizon."""
    for unit, name in (("MB/s", "measured"), ("IOPS", "measured-iops")):
        demand = workload_demand(sheet)
        value = None if demand is None else demand.iops if unit == "IOPS" else demand.bytes_per_second
        if demand is None or value is None:
            continue
        parts: tuple[Quantity | None, ...] = (demand.transfer_rate, demand.redo_rate)
        if unit == "IOPS":
            parts = (demand.read_iops, demand.write_iops, demand.redo_writes)
        known = [part for part in parts if part is not None]
        if len(known) > 1:
            sheet.line(f"{' + '.join(shown(part, unit) for part in known)} = {format_in(value, unit)}")
        low = high = None
        if any(part.low is not None and part.high is not None for part in known):
            low = min(sum(part.least for part in known), value)
            high = max(sum(part.most or part.value for part in known), value)
        with_redo = ", redo included" if demand.redo_rate is not None else ""
        today = Quantity(value, known[0].unit, known[0].origin, known[0].source, low, high)
        growth = demand.growth
        verdict = f"workload: {brief(today, unit)} today{with_redo}"
        if growth.years:
            later = growth.grown(value)
            sheet.line(
                f"{format_in(value, unit)} x (1 + {format_in(growth.per_year, '%')})^{format_in(growth.years, '')} = "
                f"{format_in(later, unit)}"
            )
            verdict += f", {format_in(float(f'{later:.4g}'), unit)} in year {format_in(growth.years, '')}"
        yield sheet.advice(f"io.demand.{name}", f"Demand in {unit}", verdict, today, unit)


def _headline(sheet: Sheet) -> Iterator[Advice]:
    demand = io_demand(sheet)
    if demand is None:
        verdict = "I/O demand: unknown, because no workload is given"
        yield sheet.advice("io.demand.headline", "I/O demand", verdict, decision="unknown")
        return
    parts = (demand.transfer_rate, demand.redo_rate)
    known = [part for part in parts if part is not None]
    if not known:
        return
    total = sum(part.value for part in known)
    if len(known) > 1:
        sheet.line(f"{' + '.join(shown(part, 'MB/s') for part in known)} redo = {format_in(total, 'MB/s')}")
    rate = known[0] if len(known) == 1 else Quantity(total, known[0].unit, known[0].origin, known[0].source)
    about, by = "", "given workload" if demand.redo_rate is None else "given workload, redo included"
    if demand.by_rule:
        about, by = "about ", f"{_rule_of_thumb(sheet, EXACT)}; no workload given"
    verdict = f"I/O demand: {about}{brief(rate, 'MB/s')} ({by})"
    yield sheet.advice("io.demand.headline", "I/O demand", verdict, rate, "MB/s")


CALCULATIONS = (
    Calculation("I/O demand", _headline, ("io.demand.headline",), about=("machine.",)),
    Calculation("I/O demand by the GHz rule", _ghz_rule, ("io.demand.ghz-rule",)),
    Calculation("I/O demand by kind of workload", _class_demands, ("io.demand.class.", "io.demand.anchor.")),
    Calculation("I/O demand of the workload", _measured_demand, ("io.demand.measured",)),
)
