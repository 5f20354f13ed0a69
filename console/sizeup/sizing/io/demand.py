"""I/O demand: what the workload needs, by its own figures or by rules of thumb."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
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
    """Need by the GHz rule with the coefficient of ``rule``."""
    count = cores(sheet)
    clock = sheet.number("machine.ghz")
    per_hz = sheet.rule(rule)
    demand = count.value * clock.value * per_hz.value
    low, high = (None if end is None else count.value * end * per_hz.value for end in (clock.low, clock.high))
    hertz = format_in(count.value * clock.value, "GHz")
    sheet.line(f"{format_in(count.value, 'cores')} x {shown(clock, 'GHz')} = {hertz} over all cores")
    sheet.line(f"{hertz} x {shown(per_hz, 'MB/s/GHz')} = {format_in(demand, 'MB/s')}")
    return sheet.answer(demand, "MB/s", rule, low=low, high=high)


def _ghz_rule(sheet: Sheet) -> Iterator[Advice]:
    for advice_id, title, rule in (
        ("io.demand.ghz-rule", "I/O need by the GHz rule", "io.ghz-rule.exact"),
        ("io.demand.ghz-rule-published", "I/O need by the GHz rule, coefficient as published", "io.ghz-rule.published"),
    ):
        demand = _by_clock(sheet, rule)
        count, clock = sheet.number("machine.cores"), sheet.number("machine.ghz")
        each = shown(sheet.rule(rule), "MB/s/GHz")
        rounded = " (the rule as its author rounds it)" if advice_id.endswith("published") else ""
        yield sheet.advice(
            advice_id,
            title,
            f"{shown(count, 'cores')} at {brief(clock, 'GHz')} and {each} want {brief(demand, 'MB/s')} of I/O "
            f"so as not to starve{rounded}",
            demand,
            "MB/s",
        )


def _ladder(sheet: Sheet) -> Iterator[Advice]:
    """What the same cores take in under each kind of work, and what later machines were seen to take in."""
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
        f"I/O that these cores take in: {entry.title}",
        f"{entry.title}: these cores take in {text}{span}",
        sheet.answer(value, entry.unit, figure_id, low=low, high=high),
        entry.unit,
        decision=decision,
    )


def grown_demand(sheet: Sheet, key: str, spelling: str) -> Quantity:
    """A workload's own figure, grown to the horizon and divided by the utilization planned for."""
    peak = sheet.number(key)
    growth, horizon = sheet.number("workload.growth_percent"), sheet.number("workload.horizon_years")
    utilization = sheet.number("workload.utilization_percent")
    years = horizon.value / _YEAR_NS
    value = peak.value * (1 + growth.value) ** years / utilization.value
    percentile = sheet.optional("workload.percentile")
    if percentile is None:
        sheet.caveat(f"which percentile {key} is was not said (workload.percentile): an average hides the peaks")
    sheet.line(
        f"{shown(peak, spelling)} x (1 + {shown(growth, '%')})^{format_in(years, '')} / {shown(utilization, '%')} = "
        f"{format_in(value, spelling)}"
    )
    factor = value / peak.value
    low, high = (None if end is None else end * factor for end in (peak.low, peak.high))
    return Quantity(value, peak.unit, peak.origin, peak.source, low=low, high=high)


def _measured_demand(sheet: Sheet) -> Iterator[Advice]:
    for key, spelling, name in (("workload.mb_s", "MB/s", "measured"), ("workload.iops", "IOPS", "measured-iops")):
        if key in sheet.inputs:
            demand = grown_demand(sheet, key, spelling)
            yield sheet.advice(
                f"io.demand.{name}",
                "I/O need of the measured workload",
                f"the workload wants {shown(demand, spelling)} with growth and headroom",
                demand,
                spelling,
            )


def io_demand(sheet: Sheet) -> Quantity:
    """The need that counts: the workload's own where there is one, else the rule's; never a blend."""
    if "workload.mb_s" in sheet.inputs:
        return grown_demand(sheet, "workload.mb_s", "MB/s")
    return _by_clock(sheet, "io.ghz-rule.exact")


def _headline(sheet: Sheet) -> Iterator[Advice]:
    demand = io_demand(sheet)
    by = "by the GHz rule" if demand.source == "io.ghz-rule.exact" else "by its measured workload"
    yield sheet.advice(
        "io.demand.headline",
        "I/O need",
        f"this machine wants {brief(demand, 'MB/s')} of I/O, {by}",
        demand,
        "MB/s",
    )


CALCULATIONS = (
    Calculation("I/O need", _headline, ("io.demand.headline",), asks=True, about=("machine.",)),
    Calculation("I/O need by the GHz rule", _ghz_rule, ("io.demand.ghz-rule",)),
    Calculation("I/O need by kind of work", _ladder, ("io.demand.class.", "io.demand.anchor.")),
    Calculation("I/O need of the workload", _measured_demand, ("io.demand.measured",)),
)
