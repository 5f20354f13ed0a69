"""Response time of reads: along a measured curve where there is one, else by a queue in front of all drives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.io.array import drive_count, drive_iops
from sizeup.sizing.io.capacity import MEASURE
from sizeup.sizing.io.share import all_stages
from sizeup.sizing.sheet import Calculation, Sheet, answered, brief, figure, servers, term
from sizeup.sizing.verdict import share_text
from sizeup.sizing.workload import Demand, io_demand
from sizeup.text import capitalized
from sizeup.units import format_in

_ID, _TITLE = "io.response-time", "Response time of reads"

Curve = Sequence[tuple[float, float]]
"""IOPS and the latency at them, rising."""


def waiting_share(servers: int, utilization: float) -> float:
    """Return the share of requests that wait, of random arrivals at that many servers (Erlang's C formula)."""
    if utilization >= 1:
        return 1.0
    if servers > 10_000:  # their queue is empty until they are saturated
        return 0.0
    load, blocked = servers * utilization, 1.0
    for number in range(1, servers + 1):
        blocked = load * blocked / (number + load * blocked)
    return blocked / (1 - utilization * (1 - blocked))


def latency_at(curve: Curve, iops: float) -> float | None:
    """Return the latency at a load, between the points beside it; None above the curve, its first point below it."""
    before = curve[0]
    for point in curve:
        if iops <= point[0]:
            width = point[0] - before[0]
            return point[1] if not width else before[1] + (point[1] - before[1]) * max(iops - before[0], 0) / width
        before = point
    return None


def _response(sheet: Sheet) -> Iterator[Advice]:
    demand = io_demand(sheet)
    if demand is None or demand.by_rule or not demand.iops:
        return
    if {"capacity.curve_iops", "capacity.curve_ms"} <= sheet.inputs.keys():
        yield _measured(sheet, demand.iops)
    else:
        yield from _estimated(sheet, demand)


def _measured(sheet: Sheet, demand: float) -> Advice:
    """The latency of the measured ramp at the demanded IOPS."""
    rates, latencies = sheet.numbers("capacity.curve_iops"), sheet.numbers("capacity.curve_ms")
    if len(rates) != len(latencies) or any(two.value <= one.value for one, two in pairwise(rates)):
        raise UsageError(
            f"{rates[0].source}: capacity.curve_iops: expected rising IOPS, as many as capacity.curve_ms has latencies "
            f"({len(latencies)}), found {', '.join(brief(rate, '') for rate in rates)}"
        )
    points = list(zip(rates, latencies, strict=True))
    curve = [(rate.value, latency.value) for rate, latency in points]
    listed = ", ".join(f"{brief(rate, 'IOPS')} at {brief(latency, 'ms')}" for rate, latency in points)
    sheet.line(f"measured curve: {listed}")
    if servers(sheet) > 1:
        sheet.caveat("the curve was measured on one server; several servers at once may wait longer")
    found = latency_at(curve, demand)
    load = format_in(float(f"{demand:.4g}"), "IOPS")
    if found is None:
        most, end = curve[-1]
        last = f"{format_in(float(f'{most:.4g}'), 'IOPS')} and {figure(end / 1e6)} ms"
        return _unknown(sheet, f"unknown at {load}, above the measured curve, which ends at {last}")
    least = "at most " if demand < curve[0][0] else ""
    verdict = f"{_TITLE}: {least}{figure(found / 1e6)} ms at {load}, by the measured curve"
    quantity = Quantity(found, "ns", rates[0].origin, rates[0].source)
    return sheet.advice(_ID, _TITLE, verdict, quantity, "ms", decision="measured")


def _estimated(sheet: Sheet, demand: Demand) -> Iterator[Advice]:
    """Service time plus waiting of disks, by their number and IOPS."""
    drives = next((stage.iops for stage in all_stages(sheet, demand) if stage.drives and stage.iops), None)
    each = drive_iops(sheet)
    if drives is None or each is None or not demand.iops:
        return
    if each.reads.value > 1000:  # which no disk reaches
        why = f"because flash drives serve many requests at a time. {capitalized(MEASURE)}"
        yield _unknown(sheet, f"unknown, {why}")
        return
    share, service, count = demand.iops / drives.value, 1e9 / each.reads.value, round(drive_count(sheet))
    sheet.caveat(
        "an estimate: random arrivals, spread evenly over the drives (M/M/c). A cache answers faster, bursts slower"
    )
    if share >= 1:
        yield _unknown(sheet, f"grows without limit at {share_text(share)} of the drives")
        return
    waits = waiting_share(count, share)
    queue = waits * service / (count * (1 - share))
    sheet.line(f"service time: 1 / {format_in(each.reads.value, 'IOPS')} = {format_in(service, 'ms')}")
    sheet.line(f"{share_text(waits)} of the requests wait at {share_text(share)}, on average {format_in(queue, 'ms')}")
    whole, alone = (format_in(float(f"{time:.3g}"), "ms") for time in (service + queue, service))
    verdict = f"{_TITLE}: about {whole} at {share_text(share)} of the drives (service time: {alone})"
    yield answered(sheet, _ID, _TITLE, verdict, term(service + queue, "ms"), "M/M/c", decision="estimated")


def _unknown(sheet: Sheet, why: str) -> Advice:
    return sheet.advice(_ID, _TITLE, f"{_TITLE}: {why}", decision="unknown")


CALCULATIONS = (Calculation("response time of reads", _response, (_ID,), about=("capacity.curve",)),)
