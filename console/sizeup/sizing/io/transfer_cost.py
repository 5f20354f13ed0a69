"""What moving the data takes of queues and processors."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.sizing.io.capacity import servers
from sizeup.sizing.io.demand import io_demand
from sizeup.sizing.sheet import Calculation, Sheet, answered, brief, figure, in_seconds, shown, term, worked
from sizeup.units import format_in


def _depth(sheet: Sheet) -> Iterator[Advice]:
    """Queue depth at a rate and a mean latency, by Little's law."""
    rate, latency = sheet.number("capacity.iops"), sheet.number("capacity.latency_ms")
    depth = worked(sheet, term(rate, "IOPS") * in_seconds(latency, "ms"), "").value
    verdict = f"{brief(rate, 'IOPS')} at QD {figure(depth)}, mean latency {brief(latency, 'ms')}"
    yield sheet.advice("io.queue-depth", "Queue depth", verdict, sheet.answer(depth, "1", "little"))


def _cpu_cost(sheet: Sheet) -> Iterator[Advice]:
    """Cores that the I/O alone keeps busy, before any work on the data."""
    each, demand = sheet.number("capacity.cpu_us_mb"), io_demand(sheet)
    rate = None if demand is None else demand.bytes_per_second
    if rate is None:
        return
    cores = sheet.number("machine.cores").value * servers(sheet)
    used = rate / 1e6 * each.value / 1e9
    share = used / cores
    sheet.line(
        f"{format_in(rate, 'MB/s')} x {shown(each, 'us')} a MB = {format_in(used, 'cores')}; "
        f"/ {format_in(cores, 'cores')} = {share:.1%}"
    )
    published = [sheet.rule(f"io.kernel-share.{name}") for name in ("nfs-scan", "nfs-oltp", "fc-oltp")]
    sheet.line(
        "published shares of CPU time spent in the kernel: " + ", ".join(shown(figure, "%") for figure in published)
    )
    load = format_in(float(f"{rate:.4g}"), "MB/s")
    verdict = f"I/O costs {figure(used)} of {format_in(cores, 'cores')} ({share:.1%}) at {load}"
    yield answered(sheet, "io.cpu-cost", "CPU cost of the I/O", verdict, term(used, "cores"), "capacity.cpu_us_mb")


CALCULATIONS = (
    Calculation("queue depth", _depth, ("io.queue-depth",)),
    Calculation("CPU cost of the I/O", _cpu_cost, ("io.cpu-cost",)),
)
