"""I/O capacity against demand, and what moving the data takes of queues, processors and TCP windows."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.io.capacity import find_bottleneck
from sizeup.sizing.io.demand import grown_demand, io_demand
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Sheet, brief, figure, shown
from sizeup.units import format_in


def _balance(sheet: Sheet) -> Iterator[Advice]:
    least = find_bottleneck(sheet)
    if least is None:
        return
    demand = io_demand(sheet)
    ratio = least.capacity.value / demand.value
    short_below, over_above = sheet.rule("io.balance.short-below"), sheet.rule("io.balance.over-above")
    decision = "short" if ratio < short_below.value else "over" if ratio > over_above.value else "balanced"
    subject = f"bottleneck: {least.name}." if decision == "short" else "storage:"
    by = " by rule of thumb" if demand.source == "io.ghz-rule.exact" else ""
    sheet.line(f"{shown(least.capacity, 'MB/s')} / {shown(demand, 'MB/s')} = {format_in(ratio, '')}")
    yield sheet.advice(
        "io.balance",
        "Storage capacity over demand",
        f"{subject} {_utilization_text(demand, least.capacity, 'MB/s', by)}",
        sheet.answer(ratio, "1", "io.balance"),
        "1",
        decision=decision,
    )


def _utilization_text(demand: Quantity, capacity: Quantity, unit: str, by: str = "") -> str:
    """Return demand, capacity, and the demand as a share of the capacity."""
    share = format_in(float(f"{demand.value / capacity.value:.3g}"), "%")
    return f"{brief(demand, unit)} demand{by}, {brief(capacity, unit)} capacity ({share})"


def _iops_balance(sheet: Sheet) -> Iterator[Advice]:
    demand = grown_demand(sheet, "workload.iops", "IOPS")
    unused = sheet.unused("capacity.iops")
    if unused is not None:
        yield sheet.advice(
            "io.balance.iops",
            "IOPS capacity over demand",
            f"IOPS capacity: unknown. {unused.sentence('IOPS')}, or use {KEYS['capacity.iops'].flag}",
            decision="unknown",
        )
        return
    capacity = sheet.number("capacity.iops")
    ratio = capacity.value / demand.value
    decision = "short" if ratio < sheet.rule("io.balance.short-below").value else "enough"
    subject = "bottleneck: IOPS of the storage." if decision == "short" else "storage:"
    sheet.line(f"{shown(capacity, 'IOPS')} / {shown(demand, 'IOPS')} = {format_in(ratio, '')}")
    yield sheet.advice(
        "io.balance.iops",
        "IOPS capacity over demand",
        f"{subject} {_utilization_text(demand, capacity, 'IOPS')}",
        sheet.answer(ratio, "1", "io.balance"),
        "1",
        decision=decision,
    )


def _depth(sheet: Sheet) -> Iterator[Advice]:
    """Queue depth at a rate and a mean latency, by Little's law."""
    rate, latency = sheet.number("capacity.iops"), sheet.number("capacity.latency_ms")
    depth = rate.value * latency.value / 1e9
    sheet.line(f"{shown(rate, 'IOPS')} x {shown(latency, 'ms')} = {format_in(depth, '')}")
    yield sheet.advice(
        "io.queue-depth",
        "Queue depth",
        f"{brief(rate, 'IOPS')} at QD {figure(depth)}, mean latency {brief(latency, 'ms')}",
        sheet.answer(depth, "1", "little"),
    )


def _cpu_cost(sheet: Sheet) -> Iterator[Advice]:
    """Cores that the I/O alone keeps busy, before any work on the data."""
    each, demand, count = sheet.number("capacity.cpu_us_mb"), io_demand(sheet), sheet.number("machine.cores")
    used = demand.value / 1e6 * each.value / 1e9
    share = used / count.value
    sheet.line(
        f"{shown(demand, 'MB/s')} x {shown(each, 'us')} a MB = {format_in(used, 'cores')}; "
        f"/ {shown(count, 'cores')} = {share:.1%}"
    )
    published = [sheet.rule(f"io.kernel-share.{name}") for name in ("nfs-scan", "nfs-oltp", "fc-oltp")]
    sheet.line(
        "published shares of CPU time spent in the kernel: " + ", ".join(shown(figure, "%") for figure in published)
    )
    yield sheet.advice(
        "io.cpu-cost",
        "CPU cost of the I/O",
        f"I/O costs {figure(used)} of {shown(count, 'cores')} ({share:.1%}) at {brief(demand, 'MB/s')}",
        sheet.answer(used, "cores", "capacity.cpu_us_mb"),
        "cores",
    )


def _connection(sheet: Sheet) -> Iterator[Advice]:
    """Bandwidth limit of TCP connections: one window per round trip each."""
    window, trip = sheet.number("net.window_bytes"), sheet.number("net.rtt_ms")
    count = sheet.optional("net.connections")
    connections = 1 if count is None else count.value
    bound = connections * window.value / (trip.value / 1e9)
    sheet.line(f"{connections:g} x {shown(window, 'B')} / {shown(trip, 'ms')} = {format_in(bound, 'MB/s')}")
    yield sheet.advice(
        "net.window-bound",
        "Bandwidth limit of the TCP windows",
        f"TCP window limit: {format_in(bound, 'MB/s')} over {format_in(connections, 'connections')}. "
        "More connections (nconnect) or a larger window raise it",
        sheet.answer(bound, "MB/s", "window / round trip"),
        "MB/s",
    )


CALCULATIONS = (
    Calculation("I/O balance", _balance, ("io.balance",)),
    Calculation("IOPS balance", _iops_balance, ("io.balance.iops",)),
    Calculation("queue depth", _depth, ("io.queue-depth",)),
    Calculation("CPU cost of the I/O", _cpu_cost, ("io.cpu-cost",)),
    Calculation("TCP window", _connection, ("net.window-bound",), about=("net.",)),
)
