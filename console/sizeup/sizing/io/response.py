"""Response time of drives near saturation, by a queue in front of all of them."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.sizing.io.array import drive_iops
from sizeup.sizing.io.demand import io_demand
from sizeup.sizing.io.share import stage_shares
from sizeup.sizing.sheet import Calculation, Sheet
from sizeup.sizing.verdict import share_text
from sizeup.units import format_in

_MOST_DRIVES = 10_000
"""Beyond so many drives the queue in front of them is empty until they are saturated."""


def waiting_share(servers: int, utilization: float) -> float:
    """Return the share of requests that wait, of random arrivals at so many servers (Erlang's C formula)."""
    if utilization >= 1:
        return 1.0
    if servers > _MOST_DRIVES:
        return 0.0
    load, blocked = servers * utilization, 1.0
    for number in range(1, servers + 1):
        blocked = load * blocked / (number + load * blocked)
    return blocked / (1 - utilization * (1 - blocked))


def _response(sheet: Sheet) -> Iterator[Advice]:
    demand = io_demand(sheet)
    if demand is None or demand.by_rule:
        return
    drives = next((one for one in stage_shares(sheet, demand) if one.capacity.source.startswith("raid.")), None)
    if drives is None:
        return
    each, disks, volumes = drive_iops(sheet), sheet.number("array.disks"), sheet.optional("array.volumes")
    count = round(disks.value * (1 if volumes is None else volumes.value))
    service = 1e9 / each.value
    sheet.caveat(
        "an estimate: random arrivals, spread evenly over the drives (M/M/c). A cache answers faster, bursts slower"
    )
    if drives.share >= 1:
        yield sheet.advice(
            "io.response-time",
            "Response time of reads",
            f"response time of reads: grows without limit at {share_text(drives.share)} of the drives",
            decision="unknown",
        )
        return
    waits = waiting_share(count, drives.share)
    queue = waits * service / (count * (1 - drives.share))
    sheet.line(f"service time: 1 / {format_in(each.value, 'IOPS')} = {format_in(service, 'ms')}")
    sheet.line(
        f"{share_text(waits)} of the requests wait at {share_text(drives.share)}, on average {format_in(queue, 'ms')}"
    )
    response = service + queue
    yield sheet.advice(
        "io.response-time",
        "Response time of reads",
        f"response time of reads: about {format_in(float(f'{response:.3g}'), 'ms')} at {share_text(drives.share)} of "
        f"the drives (service time: {format_in(float(f'{service:.3g}'), 'ms')})",
        sheet.answer(response, "ms", "M/M/c"),
        "ms",
    )


CALCULATIONS = (Calculation("response time of reads", _response, ("io.response-time",)),)
