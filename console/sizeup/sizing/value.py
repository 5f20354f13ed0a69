"""Value: throughput per core, license, drive and dollar, and claims recalculated and held against their path."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.io.array import drive_count
from sizeup.sizing.io.capacity import find_bottleneck
from sizeup.sizing.licensing.contract import chosen_contract
from sizeup.sizing.licensing.cost import a_year, list_price, price_name
from sizeup.sizing.licensing.count import count_range, range_end, ranged, usd_range
from sizeup.sizing.licensing.required import licenses_required
from sizeup.sizing.sheet import Calculation, Sheet, Term, answered, in_seconds, servers, shown, term, worked
from sizeup.units import base_unit, format_in


def _effective(sheet: Sheet) -> Term:
    """Return the throughput after promised gains and lost servers."""
    stated = sheet.number("value.throughput")
    unit = sheet.optional_words("value.unit") or "units"
    rate = term(stated, unit)
    uplift = sheet.optional("value.uplift_percent")
    if uplift is not None:
        gain = 1 + uplift.value
        rate = worked(sheet, rate * Term(gain, f"(1 + {shown(uplift, '%')})"), unit)
        sheet.line(
            f"the promise is {shown(uplift, '%')} above the present; the present is "
            f"{format_in(1 - 1 / gain, '%')} below the promise"
        )
        sheet.caveat("the gain is a promise, not a measurement")
    survivors, nodes = sheet.optional("cluster.survivors"), sheet.number("cluster.nodes")
    if survivors is None:
        return rate
    if survivors.value > nodes.value:
        raise UsageError(
            f"cluster.survivors: expected at most cluster.nodes = {nodes.value:g}, found {survivors.value:g}"
        )
    share = sheet.number("cluster.degraded_percent")
    left, of = (Term(one.value, f"{one.value:g}") for one in (survivors, nodes))
    return worked(sheet, rate * left / of * term(share, "%"), unit)


def _usd(each: float) -> str:
    """A price in dollars to a tenth of a cent, or with three digits where it is less than a dollar."""
    return f"${each:,.3f}" if each >= 1 else f"${each:.3g}"


def _throughput(sheet: Sheet) -> Iterator[Advice]:
    rate = _effective(sheet)
    uplift = sheet.optional("value.uplift_percent")
    both = ""
    if uplift is not None and uplift.value:
        below = float(f"{1 - 1 / (1 + uplift.value):.4g}")
        both = f", by a promise {shown(uplift, '%')} above the present, which is {format_in(below, '%')} below it"
    yield answered(sheet, "value.throughput", "Throughput", f"throughput: {rate}{both}", rate, "value.throughput")


def _per_core(sheet: Sheet) -> Iterator[Advice]:
    rate = _effective(sheet)
    cores, nodes = sheet.number("machine.cores"), sheet.number("cluster.nodes")
    each = worked(sheet, rate / term(cores.value * nodes.value, "cores"), f"{rate.unit}/core")
    verdict = f"throughput per core: {format_in(each.value, rate.unit)}"
    yield answered(sheet, "value.per-core", "Throughput per core", verdict, each, "value.throughput")


def _cluster(sheet: Sheet) -> Iterator[Advice]:
    """Cluster throughput as a share of linear scaling; two servers never do exactly twice the work of one."""
    rate = _effective(sheet)
    alone, nodes = sheet.number("cluster.single_throughput"), sheet.number("cluster.nodes")
    linear = Term(alone.value * nodes.value, f"({nodes.value:g} x {shown(alone, rate.unit)})")
    share = worked(sheet, rate / linear, "%")
    title = "Scaling efficiency of the cluster"
    verdict = f"scaling efficiency: {share} of linear with {shown(nodes, 'servers')}"
    yield answered(sheet, "value.cluster-efficiency", title, verdict, share, "cluster.single_throughput")


def _implied_cores(sheet: Sheet) -> Iterator[Advice]:
    rate = _effective(sheet)
    each = sheet.number("value.throughput_per_core")
    cores = worked(sheet, rate / term(each, rate.unit), "cores")
    title = "Cores implied by a per-core figure"
    verdict = f"implied cores: {cores}. Compare only with machines of as many"
    yield answered(sheet, "value.implied-cores", title, verdict, cores, "value.throughput_per_core")


def _per_license(sheet: Sheet) -> Iterator[Advice]:
    rate = _effective(sheet)
    count, metric, _ = licenses_required(sheet)
    unit = f"{rate.unit}/{metric.unit.removesuffix('s')}"
    each = worked(sheet, rate / Term(count.value, count_range(count, metric.unit)), unit)
    least, most = rate.value / range_end(count, "high"), rate.value / range_end(count, "low")
    span = "" if least == most else f"{format_in(least, '')} to "
    verdict = f"throughput per license: {span}{format_in(most, rate.unit)}"
    quantity = ranged(each.value, least, most, unit, "value.throughput")
    yield sheet.advice("value.per-license", "Throughput per license", verdict, quantity, unit)


def _license_cost(sheet: Sheet) -> Iterator[Advice]:
    rate = _effective(sheet)
    price, period = list_price(sheet), a_year(chosen_contract(sheet)[1])
    least, most = (range_end(price, end) / rate.value for end in ("low", "high"))
    each = worked(sheet, Term(price.value, usd_range(price)) / rate, "USD")
    span = "" if least == most else f"{_usd(least)} to "
    yield sheet.advice(
        "value.license-usd-per-unit",
        f"License {price_name(price)} per unit of throughput",
        f"license {price_name(price)}: {span}{_usd(most)}{period} per {rate.unit.removesuffix('s')}",
        ranged(each.value, least, most, "USD", "value.throughput"),
        "USD",
    )


def _system_cost(sheet: Sheet) -> Iterator[Advice]:
    rate = _effective(sheet)
    each = worked(sheet, term(sheet.number("value.system_usd"), "USD") / rate, "USD")
    title = "System price per unit of throughput"
    verdict = f"system price: {_usd(each.value)} per {rate.unit.removesuffix('s')}"
    yield answered(sheet, "value.system-usd-per-unit", title, verdict, each, "value.system_usd")


def _baseline(sheet: Sheet) -> Iterator[Advice]:
    """Throughput against a baseline: as a factor, and how much more or less that is."""
    share = sheet.number("value.percent_of_baseline")
    more = worked(sheet, term(share, "%") - term(1, "%"), "%").value
    difference = "" if not more else f", {format_in(abs(more), '%')} {'more' if more > 0 else 'less'}"
    found, title = term(share, ""), "Throughput against the baseline"
    verdict = f"throughput: {found} times the baseline{difference}"
    yield answered(sheet, "value.of-baseline", title, verdict, found, "value.percent_of_baseline")


def _response(sheet: Sheet) -> Iterator[Advice]:
    """Response time against a baseline."""
    factor = sheet.number("value.response_factor")
    less = worked(sheet, term(1, "%") - Term(1 / factor.value, f"1 / {factor.value:g}"), "%")
    title, verdict = "Response time below the baseline", f"response time: {less} below the baseline"
    yield answered(sheet, "value.response", title, verdict, less, "value.response_factor")


def _gains(sheet: Sheet) -> Iterator[Advice]:
    """Gains in percent: some sources print 642% for 6.42 times as fast, others for 642% faster."""
    gains = [gain.value for gain in sheet.numbers("value.gains_percent")]
    for end, gain in (("least", min(gains)), ("most", max(gains))):
        of_baseline, over_it = term(gain, "times"), worked(sheet, term(gain, "%") + term(1, "%"), "times")
        verdict = f"{end} gain, {format_in(gain, '%')}: {of_baseline} as fast if of the baseline, {over_it} if over it"
        found = sheet.answer(gain, "times", "value.gains_percent", low=gain, high=over_it.value)
        yield sheet.advice(f"value.gain.{end}", f"Gain, {end}", verdict, found, "times")


def _normalized(sheet: Sheet) -> Iterator[Advice]:
    """Throughput per drive and per gigabyte, so that systems of different sizes compare."""
    for key, part_unit, name in (("value.drives", "drives", "drive"), ("value.memory_gb", "GB", "gigabyte")):
        if key not in sheet.inputs:
            continue
        rate = _effective(sheet)
        parts = sheet.number(key)
        count = Term(parts.value / base_unit(part_unit)[1], shown(parts, part_unit))
        each = worked(sheet, rate / count, f"{rate.unit}/{name}")
        verdict = f"throughput per {name}: {format_in(each.value, rate.unit)}"
        yield answered(sheet, f"value.per-{name}", f"Throughput per {name}", verdict, each, key)


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
    every = term(cores.value * nodes.value, "cores")
    each = worked(sheet, every * term(clock, "GHz") / term(count, metric.unit), "GHz")
    sheet.caveat("clock rates compare only between cores of one generation")
    _caveat_hosts(sheet)
    verdict = f"clock rate per license: {each}. Fewer cores at a higher clock give more"
    yield answered(sheet, "value.ghz-per-license", "Clock rate per license", verdict, each, "machine.ghz")


def _idle(sheet: Sheet) -> Iterator[Advice]:
    """Cores that the workload leaves idle, and the price of their licenses."""
    busy, cores = sheet.number("workload.cpu_percent"), sheet.number("machine.cores")
    nodes = sheet.number("cluster.nodes")
    utilization = sheet.number("workload.utilization_percent")
    every = term(cores.value * nodes.value, "cores")
    left = every - every * term(busy, "%") / term(utilization, "%")
    idle = worked(sheet, Term(max(0.0, left.value), left.text), "cores")
    price, period = list_price(sheet), a_year(chosen_contract(sheet)[1])
    _caveat_hosts(sheet)
    least, most = (range_end(price, end) * idle.value / every.value for end in ("low", "high"))
    cost = f"${most:,.0f}" if least == most else f"${least:,.0f} to ${most:,.0f}"
    at_list = "" if price.origin is Origin.USER else " at list price"
    sheet.line(f"{usd_range(price)} x {format_in(idle.value / every.value, '%')} = {cost}")
    number = format_in(float(f"{idle.value:.3g}"), "cores")
    verdict = f"idle cores: {number}, licensed for {cost}{period}{at_list}"
    decision = "consolidate" if idle.value >= 1 else "busy"
    yield answered(sheet, "value.idle-cores", "Idle cores", verdict, idle, "workload.cpu_percent", decision=decision)


def _observed_rate(sheet: Sheet) -> Quantity | None:
    """Return the observed throughput from the inputs about it; None where there are none."""
    stated = sheet.optional("observed.mb_s")
    if stated is not None:
        return stated
    amount, seconds = sheet.optional("observed.gib"), sheet.optional("observed.seconds")
    requests, size = sheet.optional("observed.iops"), sheet.optional("observed.io_kib")
    if amount is not None and seconds is not None:
        rate = term(amount, "GiB") / in_seconds(seconds, "s")
    elif requests is not None and size is not None:
        rate = term(requests, "IOPS") * term(size, "KiB")
    else:
        return None
    sheet.line(f"{rate} = {format_in(rate.value, 'MB/s')} = {format_in(rate.value, 'MiB/s')}")
    return sheet.answer(rate.value, "MB/s", "observed")


def _observed(sheet: Sheet) -> Iterator[Advice]:
    rate = _observed_rate(sheet)
    if rate is None:
        return
    verdict = f"observed throughput: {shown(rate, 'MB/s')} ({shown(rate, 'MiB/s')})"
    yield sheet.advice("observed.rate", "Observed throughput", verdict, rate, "MB/s")


def _claim(sheet: Sheet) -> Iterator[Advice]:
    """Whether the observed throughput fits through the path."""
    least = find_bottleneck(sheet)
    rate = _observed_rate(sheet)
    if least is None or rate is None:
        return
    capacity = term(least[1], "MB/s")
    share = worked(sheet, term(rate, "MB/s") / capacity, "%")
    above = share.value > 1
    verdict = f"within its path: {share} of {capacity} ({least[0]})"
    if above:
        verdict = (
            f"above its path: {least[0]} has {capacity}. Likely reasons: a cache, another block size, or a link rate "
            "taken for payload"
        )
    verdict = f"observed {shown(rate, 'MB/s')} is {verdict}"
    title, decision = "Observed throughput against its path", "above-path" if above else "within"
    yield answered(sheet, "observed.path-share", title, verdict, share, "observed", decision=decision)


def _observed_per_core(sheet: Sheet) -> Iterator[Advice]:
    requests, cores = sheet.number("observed.iops"), sheet.number("machine.cores")
    every = term(cores.value * servers(sheet), "cores")
    each = worked(sheet, term(requests, "IOPS") / every, "IOPS")
    verdict = f"observed: {each} per core"
    yield answered(sheet, "observed.iops-per-core", "Observed IOPS per core", verdict, each, "observed.iops")


def _per_drive(sheet: Sheet) -> Iterator[Advice]:
    requests, drives = sheet.number("observed.iops"), drive_count(sheet)
    catalog = sheet.rule(f"drive.{sheet.words('array.drive')}.iops")
    each = worked(sheet, term(requests, "IOPS") / term(drives, "drives"), "IOPS")
    low, high = catalog.low or catalog.value, catalog.high or catalog.value
    decision = "above-catalog" if each.value > high else "below-catalog" if each.value < low else "catalog"
    verdict = f"observed: {each} per drive; catalog: {low:g} to {high:g} IOPS"
    if decision == "above-catalog":
        verdict += ". Likely reasons: short strokes, deep queues, or a cache"
    title = "Observed IOPS per drive"
    yield answered(sheet, "observed.iops-per-drive", title, verdict, each, "observed.iops", decision=decision)


def _call(sheet: Sheet) -> Iterator[Advice]:
    cycles, clock = sheet.number("observed.cycles_per_call"), sheet.number("machine.ghz")
    time = worked(sheet, (term(cycles, "cycles") / term(clock, "GHz")).scaled(1e9), "ns")
    yield answered(sheet, "observed.call", "Time per call", f"time per call: {time}", time, "observed.cycles_per_call")


def _kernel_share(sheet: Sheet) -> Iterator[Advice]:
    share = sheet.number("observed.kernel_cpu_percent")
    sheet.line(f"kernel: {shown(share, '%')} of the CPU time, other code: {format_in(1 - share.value, '%')}")
    verdict = f"kernel mode: {shown(share, '%')} of the CPU time"
    yield sheet.advice("observed.kernel-share", "CPU time spent in the kernel", verdict, share, "%")


def _store_time(sheet: Sheet) -> Iterator[Advice]:
    time = sheet.number("slb.store_ns")
    sheet.line(f"{time.source}: {shown(time, 'ns')}")
    verdict = f"random store: {shown(time, 'ns')}"
    yield sheet.advice("slb.store-time", "Observed time of a random store", verdict, time, "ns")


def _served(sheet: Sheet) -> Iterator[Advice]:
    """Users within the response time limit, and the response time, as a source states them."""
    users = sheet.number("observed.users")
    sheet.line(f"{users.source}: {shown(users, 'users')}")
    title = "Users within the response time limit"
    yield sheet.advice("observed.users-served", title, f"{title}: {shown(users, '')}", users, "1")
    response = sheet.number("observed.response_ms")
    sheet.line(f"{response.source}: {shown(response, 'ms')}")
    verdict = f"response time: {shown(response, 'ms')}"
    yield sheet.advice("observed.response-time", "Response time", verdict, response, "ms")


def _device(sheet: Sheet) -> Iterator[Advice]:
    size = sheet.number("device.blocks_kib")
    sheet.line(f"{format_in(size.value / 1024, 'blocks')} x 1,024 B = {shown(size, 'B')}")
    verdict = f"device size: {shown(size, 'GB')} ({shown(size, 'GiB')})"
    yield sheet.advice("device.size", "Device size", verdict, size, "GB")


CALCULATIONS = (
    Calculation("throughput", _throughput, ("value.throughput",), about=("value.",)),
    Calculation("throughput against the baseline", _baseline, ("value.of-baseline",)),
    Calculation("response time against the baseline", _response, ("value.response",)),
    Calculation("gains of a source", _gains, ("value.gain.",)),
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
    Calculation("observed throughput", _observed, ("observed.rate",), about=("observed.gib",)),
    Calculation("observed throughput against its path", _claim, ("observed.path-share",)),
    Calculation("IOPS per core", _observed_per_core, ("observed.iops-per-core",)),
    Calculation("IOPS per drive", _per_drive, ("observed.iops-per-drive",)),
    Calculation("time per call", _call, ("observed.call",), about=("observed.cycles",)),
    Calculation("kernel's share of the CPU time", _kernel_share, ("observed.kernel-share",)),
    Calculation("observed time of a random store", _store_time, ("slb.store-time",), about=("slb.store",)),
    Calculation("users served", _served, ("observed.users-served", "observed.response-time")),
    Calculation("device size", _device, ("device.size",)),
)
