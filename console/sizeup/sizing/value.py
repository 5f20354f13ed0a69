"""Value: throughput per core, license, drive and dollar, of one server or a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.licensing.contract import chosen_pack, chosen_product
from sizeup.sizing.licensing.cost import a_year, list_price, price_name
from sizeup.sizing.licensing.count import count_range, range_end, ranged, usd_range
from sizeup.sizing.licensing.required import licenses_required
from sizeup.sizing.sheet import Calculation, Sheet, shown
from sizeup.units import format_in


def _effective(sheet: Sheet) -> tuple[float, str]:
    """Return the throughput after promised gains and lost servers, and its unit."""
    stated = sheet.number("value.throughput")
    unit = sheet.optional_words("value.unit") or "units"
    value = stated.value
    uplift = sheet.optional("value.uplift_percent")
    if uplift is not None:
        sheet.line(
            f"{shown(stated, unit)} x (1 + {shown(uplift, '%')}) = {format_in(value * (1 + uplift.value), unit)}"
        )
        sheet.line(
            f"the promise is {shown(uplift, '%')} above the present; the present is "
            f"{format_in(1 - 1 / (1 + uplift.value), '%')} below the promise"
        )
        sheet.caveat("the gain is a promise, not a measurement")
        value *= 1 + uplift.value
    survivors, nodes = sheet.optional("cluster.survivors"), sheet.number("cluster.nodes")
    if survivors is not None:
        if survivors.value > nodes.value:
            raise UsageError(
                f"cluster.survivors: expected at most cluster.nodes = {nodes.value:g}, found {survivors.value:g}"
            )
        share = sheet.number("cluster.degraded_percent")
        left = value * survivors.value / nodes.value * share.value
        sheet.line(
            f"{format_in(value, unit)} x {survivors.value:g} / {nodes.value:g} x {shown(share, '%')} = "
            f"{format_in(left, unit)}"
        )
        value = left
    return value, unit


def _usd(each: float) -> str:
    """A price in dollars to a tenth of a cent, or with three digits where it is less than a dollar."""
    return f"${each:,.3f}" if each >= 1 else f"${each:.3g}"


def _throughput(sheet: Sheet) -> Iterator[Advice]:
    value, unit = _effective(sheet)
    uplift = sheet.optional("value.uplift_percent")
    both = ""
    if uplift is not None and uplift.value:
        below = float(f"{1 - 1 / (1 + uplift.value):.4g}")
        both = f", by a promise {shown(uplift, '%')} above the present, which is {format_in(below, '%')} below it"
    yield sheet.advice(
        "value.throughput",
        "Throughput",
        f"throughput: {format_in(value, unit)}{both}",
        sheet.answer(value, unit, "value.throughput"),
        unit,
    )


def _per_core(sheet: Sheet) -> Iterator[Advice]:
    value, unit = _effective(sheet)
    cores, nodes = sheet.number("machine.cores"), sheet.number("cluster.nodes")
    every = cores.value * nodes.value
    each = f"{unit}/core"
    sheet.line(f"{format_in(value, unit)} / {format_in(every, 'cores')} = {format_in(value / every, each)}")
    yield sheet.advice(
        "value.per-core",
        "Throughput per core",
        f"throughput per core: {format_in(value / every, unit)}",
        sheet.answer(value / every, each, "value.throughput"),
        each,
    )


def _cluster(sheet: Sheet) -> Iterator[Advice]:
    """Cluster throughput as a share of linear scaling; two servers never do exactly twice the work of one."""
    value, unit = _effective(sheet)
    alone, nodes = sheet.number("cluster.single_throughput"), sheet.number("cluster.nodes")
    share = value / (alone.value * nodes.value)
    sheet.line(f"{format_in(value, unit)} / ({nodes.value:g} x {shown(alone, unit)}) = {format_in(share, '%')}")
    yield sheet.advice(
        "value.cluster-efficiency",
        "Scaling efficiency of the cluster",
        f"scaling efficiency: {format_in(share, '%')} of linear with {shown(nodes, 'servers')}",
        sheet.answer(share, "%", "cluster.single_throughput"),
        "%",
    )


def _implied_cores(sheet: Sheet) -> Iterator[Advice]:
    value, unit = _effective(sheet)
    each = sheet.number("value.throughput_per_core")
    cores = value / each.value
    sheet.line(f"{format_in(value, unit)} / {shown(each, unit)} = {format_in(cores, 'cores')}")
    yield sheet.advice(
        "value.implied-cores",
        "Cores implied by a per-core figure",
        f"implied cores: {format_in(cores, 'cores')}. Compare only with machines of as many",
        sheet.answer(cores, "cores", "value.throughput_per_core"),
        "cores",
    )


def _per_license(sheet: Sheet) -> Iterator[Advice]:
    value, unit = _effective(sheet)
    count, metric, _ = licenses_required(sheet)
    each = f"{unit}/{metric.unit.removesuffix('s')}"
    text = format_in(value / count.value, each)
    sheet.line(f"{format_in(value, unit)} / {count_range(count, metric.unit)} = {text}")
    least, most = value / range_end(count, "high"), value / range_end(count, "low")
    span = "" if least == most else f"{format_in(least, '')} to "
    yield sheet.advice(
        "value.per-license",
        "Throughput per license",
        f"throughput per license: {span}{format_in(most, unit)}",
        ranged(value / count.value, least, most, each, "value.throughput"),
        each,
    )


def _license_cost(sheet: Sheet) -> Iterator[Advice]:
    value, unit = _effective(sheet)
    price, period = list_price(sheet), a_year(chosen_product(sheet, chosen_pack(sheet)))
    each, least, most = (range_end(price, end) / value for end in ("value", "low", "high"))
    sheet.line(f"{usd_range(price)} / {format_in(value, unit)} = {format_in(each, 'USD')}")
    span = "" if least == most else f"{_usd(least)} to "
    yield sheet.advice(
        "value.license-usd-per-unit",
        f"License {price_name(price)} per unit of throughput",
        f"license {price_name(price)}: {span}{_usd(most)}{period} per {unit.removesuffix('s')}",
        ranged(each, least, most, "USD", "value.throughput"),
        "USD",
    )


def _system_cost(sheet: Sheet) -> Iterator[Advice]:
    value, unit = _effective(sheet)
    price = sheet.number("value.system_usd")
    each = price.value / value
    sheet.line(f"{shown(price, 'USD')} / {format_in(value, unit)} = {format_in(each, 'USD')}")
    yield sheet.advice(
        "value.system-usd-per-unit",
        "System price per unit of throughput",
        f"system price: {_usd(each)} per {unit.removesuffix('s')}",
        sheet.answer(each, "USD", "value.system_usd"),
        "USD",
    )


def _baseline(sheet: Sheet) -> Iterator[Advice]:
    """Throughput against a baseline: as a factor, and how much more or less that is."""
    share = sheet.number("value.percent_of_baseline")
    more = share.value - 1
    sheet.line(f"{shown(share, '%')} - 100% = {format_in(more, '%')}")
    difference = "" if not more else f", {format_in(abs(more), '%')} {'more' if more > 0 else 'less'}"
    yield sheet.advice(
        "value.of-baseline",
        "Throughput against the baseline",
        f"throughput: {format_in(share.value, '')} times the baseline{difference}",
        sheet.answer(share.value, "1", "value.percent_of_baseline"),
        "1",
    )


def _normalized(sheet: Sheet) -> Iterator[Advice]:
    """Throughput per drive and per gigabyte, so that systems of different sizes compare."""
    for key, part_unit, name in (("value.drives", "drives", "drive"), ("value.memory_gb", "GB", "gigabyte")):
        if key not in sheet.inputs:
            continue
        value, unit = _effective(sheet)
        parts = sheet.number(key)
        count = parts.value if part_unit == "drives" else parts.value / 1e9
        each = f"{unit}/{name}"
        sheet.line(f"{format_in(value, unit)} / {shown(parts, part_unit)} = {format_in(value / count, each)}")
        yield sheet.advice(
            f"value.per-{name}",
            f"Throughput per {name}",
            f"throughput per {name}: {format_in(value / count, unit)}",
            sheet.answer(value / count, each, key),
            each,
        )


def _caveat_hosts(sheet: Sheet) -> None:
    """Add a caveat where the licenses cover more cores than the guest has."""
    hosts, cores = sheet.inputs.get("license.host_cores"), sheet.number("machine.cores")
    if sheet.has_used("license.host_cores") and isinstance(hosts, Quantity):
        sheet.caveat(f"the licenses cover {shown(hosts, 'cores')} of the hosts; this guest has {cores.value:g}")


def _clock_per_license(sheet: Sheet) -> Iterator[Advice]:
    """Clock rate per license: fewer, faster cores get more out of each license than many slow ones."""
    cores, clock, nodes = sheet.number("machine.cores"), sheet.number("machine.ghz"), sheet.number("cluster.nodes")
    count, metric, _ = licenses_required(sheet)
    if count.value == 0:
        return
    each = cores.value * nodes.value * clock.value / count.value
    sheet.line(
        f"{format_in(cores.value * nodes.value, 'cores')} x {shown(clock, 'GHz')} / {shown(count, metric.unit)} = "
        f"{format_in(each, 'GHz')}"
    )
    sheet.caveat("clock rates compare only between cores of one generation")
    _caveat_hosts(sheet)
    yield sheet.advice(
        "value.ghz-per-license",
        "Clock rate per license",
        f"clock rate per license: {format_in(each, 'GHz')}. Fewer cores at a higher clock give more",
        sheet.answer(each, "GHz", "machine.ghz"),
        "GHz",
    )


def _idle(sheet: Sheet) -> Iterator[Advice]:
    """Cores that the workload leaves idle, and the price of their licenses."""
    busy, cores, nodes = (
        sheet.number("workload.cpu_percent"),
        sheet.number("machine.cores"),
        sheet.number("cluster.nodes"),
    )
    utilization = sheet.number("workload.utilization_percent")
    every = cores.value * nodes.value
    needed = every * busy.value / utilization.value
    idle = max(0.0, every - needed)
    sheet.line(
        f"{format_in(every, 'cores')} - {format_in(every, 'cores')} x {shown(busy, '%')} / {shown(utilization, '%')} = "
        f"{format_in(idle, 'cores')}"
    )
    price, period = list_price(sheet), a_year(chosen_product(sheet, chosen_pack(sheet)))
    _caveat_hosts(sheet)
    least, most = (range_end(price, end) * idle / every for end in ("low", "high"))
    cost = f"${most:,.0f}" if least == most else f"${least:,.0f} to ${most:,.0f}"
    at_list = "" if price.origin is Origin.USER else " at list price"
    sheet.line(f"{usd_range(price)} x {format_in(idle / every, '%')} = {cost}")
    yield sheet.advice(
        "value.idle-cores",
        "Idle cores",
        f"idle cores: {format_in(float(f'{idle:.3g}'), 'cores')}, licensed for {cost}{period}{at_list}",
        sheet.answer(idle, "cores", "workload.cpu_percent"),
        "cores",
        decision="consolidate" if idle >= 1 else "busy",
    )


CALCULATIONS = (
    Calculation("throughput", _throughput, ("value.throughput",), about=("value.",)),
    Calculation("throughput against the baseline", _baseline, ("value.of-baseline",)),
    Calculation("throughput per core", _per_core, ("value.per-core",)),
    Calculation(
        "scaling efficiency of the cluster", _cluster, ("value.cluster-efficiency",), about=("cluster.single",)
    ),
    Calculation("implied cores", _implied_cores, ("value.implied-cores",)),
    Calculation("throughput per license", _per_license, ("value.per-license",)),
    Calculation("license price per unit of throughput", _license_cost, ("value.license-usd-per-unit",)),
    Calculation("system price per unit of throughput", _system_cost, ("value.system-usd-per-unit",)),
    Calculation("normalized throughput", _normalized, ("value.per-drive", "value.per-gigabyte")),
    Calculation("clock rate per license", _clock_per_license, ("value.ghz-per-license",)),
    Calculation("idle cores", _idle, ("value.idle-cores",), about=("workload.cpu",)),
)
