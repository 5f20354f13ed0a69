"""I/O demand: what the workload needs, by its own figures or by rules of thumb."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Sheet, brief, shown
from sizeup.units import format_in

_YEAR_NS = 365.25 * 86400e9


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
    """I/O demand by the GHz rule with the coefficient of ``rule``."""
    count = cores(sheet)
    clock = sheet.number("machine.ghz")
    per_hz = sheet.rule(rule)
    demand = count.value * clock.value * per_hz.value
    low, high = (None if end is None else count.value * end * per_hz.value for end in (clock.low, clock.high))
    hertz = format_in(count.value * clock.value, "GHz")
    sheet.line(f"{format_in(count.value, 'cores')} x {shown(clock, 'GHz')} = {hertz} over all cores")
    sheet.line(f"{hertz} x {shown(per_hz, 'MB/s/GHz')} = {format_in(demand, 'MB/s')}")
    return sheet.answer(demand, "MB/s", rule, low=low, high=high)


def _rule_of_thumb(sheet: Sheet, rule: str) -> str:
    return f"rule of thumb: {shown(sheet.rule(rule), 'MB/s/GHz').replace('/GHz', ' per GHz')}"


def _ghz_rule(sheet: Sheet) -> Iterator[Advice]:
    for advice_id, title, rule in (
        ("io.demand.ghz-rule", "I/O demand by the GHz rule", "io.ghz-rule.exact"),
        (
            "io.demand.ghz-rule-published",
            "I/O demand by the GHz rule, coefficient as published",
            "io.ghz-rule.published",
        ),
    ):
        demand = _by_clock(sheet, rule)
        count, clock = sheet.number("machine.cores"), sheet.number("machine.ghz")
        rounded = ", rounded as published" if advice_id.endswith("published") else ""
        by = _rule_of_thumb(sheet, rule) + rounded
        yield sheet.advice(
            advice_id,
            title,
            f"{brief(demand, 'MB/s')} for {shown(count, 'cores')} at {brief(clock, 'GHz')} ({by})",
            demand,
            "MB/s",
        )


def _ladder(sheet: Sheet) -> Iterator[Advice]:
    """What saturates the same cores under each kind of workload, and what was measured on later machines."""
    wanted = sheet.optional_words("workload.class")
    for figure_id in sheet.rules.figures:
        family, _, rest = figure_id.removeprefix("io.").partition(".")
        if family not in {"class", "anchor"} or not rest.endswith(".per-core"):
            continue
        name = rest.removesuffix(".per-core")
        yield _rung(sheet, f"io.demand.{family}.{name}", figure_id, "chosen" if wanted == name else "")


def _rung(sheet: Sheet, advice_id: str, figure_id: str, decision: str) -> Advice:
    count = sheet.number("machine.cores")
    each = sheet.rule(figure_id)
    entry = sheet.rules.figures[figure_id]
    value, low, high = (None if end is None else end * count.value for end in (each.value, each.low, each.high))
    assert value is not None
    text = format_in(value, entry.unit)
    sheet.line(f"{shown(count, 'cores')} x {shown(each, entry.unit)} = {text}")
    if entry.unit == "IOPS":
        size = sheet.number("workload.io_kib")
        sheet.line(f"{text} x {shown(size, 'KiB')} = {format_in(value * size.value, 'MB/s')}")
    span = "" if low is None or high is None else f" ({format_in(low, '')} to {format_in(high, '')})"
    return sheet.advice(
        advice_id,
        f"I/O demand by kind of workload: {entry.title}",
        f"{entry.title}: up to {text}{span} for these cores",
        sheet.answer(value, entry.unit, figure_id, low=low, high=high),
        entry.unit,
        decision=decision,
    )


def grown_demand(sheet: Sheet, key: str, unit: str) -> Quantity:
    """A workload's own figure, grown to the horizon and divided by the planned utilization."""
    peak = sheet.number(key)
    growth, horizon = sheet.number("workload.growth_percent"), sheet.number("workload.horizon_years")
    utilization = sheet.number("workload.utilization_percent")
    years = horizon.value / _YEAR_NS
    value = peak.value * (1 + growth.value) ** years / utilization.value
    percentile = sheet.optional("workload.percentile")
    if percentile is None:
        sheet.caveat(
            f"the percentile of the workload's {unit} is unknown, and an average hides peaks; "
            f"set it with {KEYS['workload.percentile'].flag}"
        )
    sheet.line(
        f"{shown(peak, unit)} x (1 + {shown(growth, '%')})^{format_in(years, '')} / {shown(utilization, '%')} = "
        f"{format_in(value, unit)}"
    )
    factor = value / peak.value
    low, high = (None if end is None else end * factor for end in (peak.low, peak.high))
    return Quantity(value, peak.unit, peak.origin, peak.source, low=low, high=high)


def _measured_demand(sheet: Sheet) -> Iterator[Advice]:
    for key, unit, name in (("workload.mb_s", "MB/s", "measured"), ("workload.iops", "IOPS", "measured-iops")):
        if key in sheet.inputs:
            demand = grown_demand(sheet, key, unit)
            yield sheet.advice(
                f"io.demand.{name}",
                "I/O demand of the workload",
                f"workload: {shown(demand, unit)} with growth and headroom",
                demand,
                unit,
            )


def io_demand(sheet: Sheet) -> Quantity:
    """The demand that counts: the workload's own where there is one, else the rule's; never a blend."""
    if "workload.mb_s" in sheet.inputs:
        return grown_demand(sheet, "workload.mb_s", "MB/s")
    return _by_clock(sheet, "io.ghz-rule.exact")


def _headline(sheet: Sheet) -> Iterator[Advice]:
    demand = io_demand(sheet)
    figure = f"{brief(demand, 'MB/s')} (given workload, with growth and headroom)"
    if demand.source == "io.ghz-rule.exact":
        figure = f"about {brief(demand, 'MB/s')} ({_rule_of_thumb(sheet, demand.source)}; no workload throughput given)"
    yield sheet.advice(
        "io.demand.headline",
        "I/O demand",
        f"I/O demand: {figure}",
        demand,
        "MB/s",
    )


CALCULATIONS = (
    Calculation("I/O demand", _headline, ("io.demand.headline",), asks=True, about=("machine.",)),
    Calculation("I/O demand by the GHz rule", _ghz_rule, ("io.demand.ghz-rule",)),
    Calculation("I/O demand by kind of workload", _ladder, ("io.demand.class.", "io.demand.anchor.")),
    Calculation("I/O demand of the workload", _measured_demand, ("io.demand.measured",)),
)
