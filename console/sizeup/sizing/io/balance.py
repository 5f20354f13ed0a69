"""I/O capacity against demand, and what moving the data takes of queues, processors and TCP windows."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.sizing.io.capacity import find_bottleneck
from sizeup.sizing.io.demand import grown_demand, io_demand
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


def _iops_balance(sheet: Sheet) -> Iterator[Advice]:
    demand = grown_demand(sheet, "workload.iops", "IOPS")
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
    each, demand, count = sheet.number("capacity.cpu_us_mb"), io_demand(sheet), sheet.number("machine.cores")
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
    Calculation("I/O balance", _balance, ("io.balance",)),
    Calculation("requests a second", _iops_balance, ("io.balance.iops",)),
    Calculation("queue depth", _depth, ("io.queue-depth",)),
    Calculation("processors for the I/O", _cpu_cost, ("io.cpu-cost",)),
    Calculation("the TCP window", _connection, ("net.window-bound",), about=("net.",)),
)
