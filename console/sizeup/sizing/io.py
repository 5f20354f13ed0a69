"""I/O: what the processors demand, what the paths can deliver, and where the bottleneck is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec import Struct

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.sheet import Calculation, Sheet, brief, figure, shown
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


def _grown(sheet: Sheet, key: str, spelling: str) -> Quantity:
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
            demand = _grown(sheet, key, spelling)
            yield sheet.advice(
                f"io.demand.{name}",
                "I/O need of the measured workload",
                f"the workload wants {shown(demand, spelling)} with growth and headroom",
                demand,
                spelling,
            )


def _demand(sheet: Sheet) -> Quantity:
    """The need that counts: the workload's own where there is one, else the rule's; never a blend."""
    if "workload.mb_s" in sheet.inputs:
        return _grown(sheet, "workload.mb_s", "MB/s")
    return _by_clock(sheet, "io.ghz-rule.exact")


def _headline(sheet: Sheet) -> Iterator[Advice]:
    demand = _demand(sheet)
    by = "by the GHz rule" if demand.source == "io.ghz-rule.exact" else "by its measured workload"
    yield sheet.advice(
        "io.demand.headline",
        "I/O need",
        f"this machine wants {brief(demand, 'MB/s')} of I/O, {by}",
        demand,
        "MB/s",
    )


class StageCapacity(Struct, frozen=True):
    """One stage of the path to the disks."""

    name: str
    capacity: Quantity


def _parse_stages(text: str, links: tuple[str, ...], source: str) -> list[tuple[str, str, int]]:
    stages = []
    for part in text.split(","):
        name, colon, rest = part.strip().partition(":")
        link, star, count = rest.partition("*")
        number = int(count) if count.isdigit() else 0 if star else 1
        if not colon or not name or link not in links or not number:
            raise UsageError(
                f"{source}: path.stages: expected NAME:LINK*COUNT with commas between, LINK one of "
                f"{', '.join(links)}; found {part.strip()!r}"
            )
        stages.append((name, link, number))
    return stages


def payload(sheet: Sheet, link: str, source: str) -> Quantity:
    """What one link carries."""
    links = _links(sheet)
    if link not in links:
        raise UsageError(f"{source}: expected a link, one of {', '.join(links)}; found {link!r}")
    return sheet.rule(f"link.{link}.payload")


def _links(sheet: Sheet) -> tuple[str, ...]:
    return tuple(
        figure_id.removeprefix("link.").removesuffix(".payload")
        for figure_id in sheet.rules.figures
        if figure_id.startswith("link.") and figure_id.endswith(".payload")
    )


def _stages(sheet: Sheet) -> list[StageCapacity]:
    """Every stage that is known, with what it carries."""
    stages: list[StageCapacity] = []
    text = sheet.optional_words("path.stages")
    policy = sheet.optional_words("path.policy")
    for name, link, count in _parse_stages(text, _links(sheet), "path.stages") if text else ():
        each = payload(sheet, link, "path.stages")
        active = _active(count, policy)
        capacity = active * each.value
        idle = f" ({count - active} passive)" if active < count else ""
        sheet.line(f"{name}: {active} x {link} of {shown(each, 'MB/s')} = {format_in(capacity, 'MB/s')}{idle}")
        if count > 1 and policy is None:
            sheet.caveat(f"{name}: {count} paths are taken to add up; path.policy=active-passive halves them")
        stages.append(StageCapacity(name, sheet.answer(capacity, "MB/s", f"link.{link}.payload")))
    found = None if text else sheet.optional("path.bandwidth_mb_s")
    if found is not None:
        bottleneck = sheet.optional_words("path.bottleneck") or "path"
        sheet.line(f"{found.source}: {shown(found, 'MB/s')} ({found.origin.value}), limited by {bottleneck}")
        stages.append(StageCapacity(bottleneck, found))
        stages += _connections(sheet)
    storage = sheet.optional("capacity.mb_s")
    unused = sheet.unused("capacity.mb_s")
    down = None if text else sheet.optional_words("path.down")
    if down is not None:
        sheet.caveat(f"down, so that nothing is counted for it: {down}")
    linked = found is not None and found.origin is not Origin.MEASURED
    if stages and storage is None and (linked or unused is not None):
        instead = "measure with the probe io.direct" if unused is None else unused.sentence("MB/s")
        sheet.caveat(f"this is what links can carry, not what disks deliver; {instead}")
    if storage is not None:
        sheet.line(f"storage: {shown(storage, 'MB/s')} ({storage.origin.value})")
        for stage in stages:
            if storage.value > stage.capacity.value:
                sheet.caveat(
                    f"storage is said to deliver more than {stage.name} carries ({shown(stage.capacity, 'MB/s')}): "
                    "such a figure came out of a cache"
                )
        stages.append(StageCapacity("storage", storage))
    return stages


def _active(count: int, policy: str | None) -> int:
    """Paths of one stage that carry data at a time."""
    return math.ceil(count / 2) if policy == "active-passive" else count


def _line_rates(sheet: Sheet) -> Iterator[Advice]:
    """What the line of each stage carries after coding, where that differs from what its payload is rated at."""
    for name, link, count in _parse_stages(sheet.words("path.stages"), _links(sheet), "path.stages"):
        if f"link.{link}.line" not in sheet.rules.figures:
            continue
        text, policy = sheet.words("path.stages"), sheet.optional_words("path.policy")
        each, rated = sheet.rule(f"link.{link}.line"), payload(sheet, link, "path.stages")
        active = _active(count, policy)
        carried = active * each.value
        sheet.line(f"{name} of {text}: {active} x {shown(each, 'MB/s')} = {format_in(carried, 'MB/s')}")
        yield sheet.advice(
            f"io.line-rate.{name}",
            f"Line rate of {name}",
            f"{format_in(carried, 'MB/s')} on the line; data get {format_in(active * rated.value, 'MB/s')} of it",
            sheet.answer(carried, "MB/s", f"link.{link}.line"),
            "MB/s",
        )


def _connections(sheet: Sheet) -> list[StageCapacity]:
    """What the TCP connections of an NFS mount carry, where the path is NFS."""
    if sheet.optional_words("path.kind") != "NFS" or "net.connections" not in sheet.inputs:
        return []
    count, each = sheet.number("net.connections"), sheet.rule("link.nfs.one-connection")
    carried = count.value * each.value
    sheet.line(f"{shown(count, 'connections')} x {shown(each, 'MB/s')} = {format_in(carried, 'MB/s')}")
    return [StageCapacity("NFS connections (nconnect)", sheet.answer(carried, "MB/s", "link.nfs.one-connection"))]


def find_bottleneck(sheet: Sheet) -> StageCapacity | None:
    """The narrowest stage; None where no stage is known."""
    stages = _stages(sheet)
    if not stages:
        return None
    least = min(stages, key=lambda stage: stage.capacity.value)
    if len(stages) > 1:
        sheet.line(f"least of {len(stages)} stages: {least.name}, {shown(least.capacity, 'MB/s')}")
    return least


def _capacity(sheet: Sheet) -> Iterator[Advice]:
    least = find_bottleneck(sheet)
    if least is None:
        sheet.number("machine.cores")
        unused = sheet.unused("capacity.mb_s")
        said = "said as path.stages (link by link) or capacity.mb_s (in all)"
        down = sheet.optional_words("path.down")
        speed = "no path says its speed" if down is None else f"no path that is up says its speed; down: {down}"
        if unused is None:
            unknown = f"{speed}; measure with io.direct"
            sheet.line(f"measured with the probe io.direct, or {said}")
        else:
            unknown = f"{speed}; {unused.sentence('MB/s')}"
            sheet.line(f"or {said}")
        yield sheet.advice(
            "io.capacity",
            "I/O supply",
            f"capacity and bottleneck unknown: {unknown}",
            decision="unknown",
        )
        return
    yield sheet.advice(
        "io.capacity",
        "I/O supply",
        f"the paths carry {brief(least.capacity, 'MB/s')}; the bottleneck is {least.name}",
        least.capacity,
        "MB/s",
        decision=least.name,
    )


def _balance(sheet: Sheet) -> Iterator[Advice]:
    least = find_bottleneck(sheet)
    if least is None:
        return
    demand = _demand(sheet)
    ratio = least.capacity.value / demand.value
    short_below, over_above = sheet.rule("io.balance.short-below"), sheet.rule("io.balance.over-above")
    decision = "short" if ratio < short_below.value else "over" if ratio > over_above.value else "balanced"
    meaning = {
        "short": f"the processors starve behind {least.name}",
        "balanced": "paths and processors fit",
        "over": "more than the processors take in",
    }
    sheet.line(f"{shown(least.capacity, 'MB/s')} / {shown(demand, 'MB/s')} = {format_in(ratio, '')}")
    yield sheet.advice(
        "io.balance",
        "Supply over need",
        f"{decision}: capacity is {figure(ratio)} times the need; {meaning[decision]}",
        sheet.answer(ratio, "1", "io.balance"),
        "1",
        decision=decision,
    )


def _drive_iops(sheet: Sheet) -> Quantity:
    stated = sheet.optional("array.drive_iops")
    return stated if stated is not None else sheet.rule(f"drive.{sheet.words('array.drive')}.iops")


def _array(sheet: Sheet) -> Iterator[Advice]:
    """What an array of drives gives after its RAID level took its share."""
    yield from _spindles(sheet)
    if "array.disk_gb" in sheet.inputs:
        capacity = usable_bytes(sheet)
        yield sheet.advice(
            "storage.usable",
            "Usable capacity",
            f"{format_in(capacity.value, 'GB')} can be used",
            capacity,
            "GB",
        )
    each = _drive_iops(sheet)
    volumes, disks, raid = _volumes(sheet)
    penalty = sheet.rule(f"raid.{raid}.write-penalty").value
    reads = sheet.number("workload.read_percent").value
    cost = reads + (1 - reads) * penalty
    value, low, high = (
        None if end is None else volumes * disks * end / cost for end in (each.value, each.low, each.high)
    )
    assert value is not None
    sheet.line(
        f"{format_in(volumes * disks, 'drives')} x {shown(each, 'IOPS')} / ({format_in(reads, '')} + "
        f"{format_in(1 - reads, '')} x {penalty:g}) = {format_in(value, 'IOPS')}"
    )
    yield sheet.advice(
        "io.capacity.iops",
        "Small random I/O of the array",
        f"RAID {raid} of {volumes * disks:g} drives gives {format_in(value, 'IOPS')} at {format_in(reads, '%')} reads",
        sheet.answer(value, "IOPS", f"raid.{raid}.write-penalty", low=low, high=high),
        "IOPS",
    )


def _volumes(sheet: Sheet) -> tuple[float, float, str]:
    """Volumes, drives in each, RAID level."""
    count = sheet.optional("array.volumes")
    return (1 if count is None else count.value), sheet.number("array.disks").value, sheet.words("array.raid")


def _spindles(sheet: Sheet) -> Iterator[Advice]:
    volumes, disks, raid = _volumes(sheet)
    penalty = sheet.rule(f"raid.{raid}.write-penalty").value
    each = disks / penalty
    sheet.line(f"{disks:g} drives / {penalty:g} operations a write = {each:g} a volume")
    sheet.line(f"{format_in(volumes, 'volumes')} x {each:g} = {format_in(volumes * each, 'drives')}")
    yield sheet.advice(
        "storage.write-spindles",
        "Drives that writes can count on",
        f"writes get {volumes * each:g} of {volumes * disks:g} drives; random reads all of them",
        sheet.answer(volumes * each, "drives", f"raid.{raid}.write-penalty"),
        "drives",
    )


def _found_spindles(sheet: Sheet) -> Iterator[Advice]:
    """What discovery saw behind the database's device."""
    if "array.disks" in sheet.inputs:
        return
    writes, reads = sheet.number("path.write_spindles"), sheet.optional("path.read_spindles")
    sheet.line(f"{writes.source}: {shown(writes, 'drives')} for writes")
    also = "" if reads is None else f"; random reads {format_in(reads.value, 'drives')}"
    yield sheet.advice(
        "storage.write-spindles",
        "Drives that writes can count on",
        f"writes get {format_in(writes.value, 'drives')}{also}",
        Quantity(writes.value, "drives", writes.origin, writes.source),
        "drives",
    )


def usable_bytes(sheet: Sheet) -> Quantity:
    """Capacity of the array after copies and parity."""
    volumes, disks, raid = _volumes(sheet)
    size = sheet.number("array.disk_gb")
    copies, parity = sheet.rule(f"raid.{raid}.copies").value, sheet.rule(f"raid.{raid}.parity-drives").value
    value = volumes * (disks - parity) / copies * size.value
    sheet.line(f"{volumes:g} x ({disks:g} - {parity:g}) / {copies:g} x {shown(size, 'GB')} = {format_in(value, 'GB')}")
    return sheet.answer(value, "GB", f"raid.{raid}.copies")


def _iops_balance(sheet: Sheet) -> Iterator[Advice]:
    demand = _grown(sheet, "workload.iops", "IOPS")
    unused = sheet.unused("capacity.iops")
    if unused is not None:
        yield sheet.advice(
            "io.balance.iops",
            "Requests a second, supply over need",
            f"supply unknown: {unused.sentence('IOPS')}, or set capacity.iops",
            decision="unknown",
        )
        return
    capacity = sheet.number("capacity.iops")
    ratio = capacity.value / demand.value
    decision = "short" if ratio < sheet.rule("io.balance.short-below").value else "enough"
    sheet.line(f"{shown(capacity, 'IOPS')} / {shown(demand, 'IOPS')} = {format_in(ratio, '')}")
    yield sheet.advice(
        "io.balance.iops",
        "Requests a second, supply over need",
        f"{decision}: the storage gives {figure(ratio)} times the requests that the workload wants",
        sheet.answer(ratio, "1", "io.balance"),
        "1",
        decision=decision,
    )


def _depth(sheet: Sheet) -> Iterator[Advice]:
    """Little's law: I/Os in flight at a rate and a response time."""
    rate, latency = sheet.number("capacity.iops"), sheet.number("capacity.latency_ms")
    depth = rate.value * latency.value / 1e9
    sheet.line(f"{shown(rate, 'IOPS')} x {shown(latency, 'ms')} = {format_in(depth, '')}")
    yield sheet.advice(
        "io.queue-depth",
        "Requests that must be under way",
        f"{figure(depth)} I/Os in flight keep {brief(rate, 'IOPS')} going at {brief(latency, 'ms')} each",
        sheet.answer(depth, "1", "little"),
    )


def _cpu_cost(sheet: Sheet) -> Iterator[Advice]:
    """Cores that moving the needed data takes, before anything looks at it."""
    each, demand, count = sheet.number("capacity.cpu_us_mb"), _demand(sheet), sheet.number("machine.cores")
    used = demand.value / 1e6 * each.value / 1e9
    share = used / count.value
    sheet.line(
        f"{shown(demand, 'MB/s')} x {shown(each, 'us')} a MB = {format_in(used, 'cores')}; "
        f"/ {shown(count, 'cores')} = {share:.1%}"
    )
    published = [sheet.rule(f"io.kernel-share.{name}") for name in ("nfs-scan", "nfs-oltp", "fc-oltp")]
    sheet.line("published kernel shares of all CPU time: " + ", ".join(shown(figure, "%") for figure in published))
    yield sheet.advice(
        "io.cpu-cost",
        "Processors that the I/O itself takes",
        f"moving {brief(demand, 'MB/s')} takes {figure(used)} of {shown(count, 'cores')} ({share:.1%}), before "
        "anything looks at the data",
        sheet.answer(used, "cores", "capacity.cpu_us_mb"),
        "cores",
    )


def _connection(sheet: Sheet) -> Iterator[Advice]:
    """One TCP connection carries at most a window in each round trip."""
    window, trip = sheet.number("net.window_bytes"), sheet.number("net.rtt_ms")
    count = sheet.optional("net.connections")
    connections = 1 if count is None else count.value
    bound = connections * window.value / (trip.value / 1e9)
    sheet.line(f"{connections:g} x {shown(window, 'B')} / {shown(trip, 'ms')} = {format_in(bound, 'MB/s')}")
    yield sheet.advice(
        "net.window-bound",
        "Most that the TCP windows allow",
        f"{connections:g} connections carry at most {format_in(bound, 'MB/s')}; more connections (nconnect) "
        "or a larger window raise it",
        sheet.answer(bound, "MB/s", "window / round trip"),
        "MB/s",
    )


CALCULATIONS = (
    Calculation("I/O need", _headline, ("io.demand.headline",), asks=True, about=("machine.",)),
    Calculation("I/O need by the GHz rule", _ghz_rule, ("io.demand.ghz-rule",)),
    Calculation("I/O need by kind of work", _ladder, ("io.demand.class.", "io.demand.anchor.")),
    Calculation("I/O need of the workload", _measured_demand, ("io.demand.measured",)),
    Calculation("I/O supply", _capacity, ("io.capacity",)),
    Calculation("line rates of the stages", _line_rates, ("io.line-rate.",)),
    Calculation("I/O balance", _balance, ("io.balance",)),
    Calculation("the array", _array, ("storage.", "io.capacity.iops"), about=("array.",)),
    Calculation("drives behind the device", _found_spindles, ("storage.write-spindles",)),
    Calculation("requests a second", _iops_balance, ("io.balance.iops",)),
    Calculation("queue depth", _depth, ("io.queue-depth",)),
    Calculation("processors for the I/O", _cpu_cost, ("io.cpu-cost",)),
    Calculation("the TCP window", _connection, ("net.window-bound",), about=("net.",)),
)
