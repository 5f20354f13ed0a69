"""What moving the data takes: queues, processors, and the windows and buffers of TCP connections to storage."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.io.capacity import path_stages
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import (
    Calculation,
    Sheet,
    Term,
    answered,
    brief,
    figure,
    in_seconds,
    servers,
    shown,
    term,
    worked,
)
from sizeup.sizing.workload import io_demand
from sizeup.units import as_percent, format_in


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
        f"/ {format_in(cores, 'cores')} = {as_percent(share, '.1f')}"
    )
    published = [sheet.rule(f"io.kernel-share.{name}") for name in ("nfs-scan", "nfs-oltp", "fc-oltp")]
    sheet.line(
        "published shares of CPU time spent in the kernel: " + ", ".join(shown(figure, "%") for figure in published)
    )
    load = format_in(float(f"{rate:.4g}"), "MB/s")
    verdict = f"I/O costs {figure(used)} of {format_in(cores, 'cores')} ({as_percent(share, '.1f')}) at {load}"
    yield answered(sheet, "io.cpu-cost", "CPU cost of the I/O", verdict, term(used, "cores"), "capacity.cpu_us_mb")


_BUFFERS = (("tcp_rmem", "receive", "reads"), ("tcp_wmem", "send", "writes"))
"""Setting of the kernel, what it is called, and what of NFS it carries."""


_LARGEST_BYTES = (1 << 31) - 1
"""The kernel takes no larger size."""


def _sizes(sheet: Sheet, name: str) -> tuple[Quantity, ...]:
    """The three sizes of a setting; none where it is unknown."""
    key = f"net.{name}"
    if key not in sheet.inputs:
        return ()
    sizes = sheet.numbers(key)
    if len(sizes) != 3:
        raise UsageError(
            f"{sizes[0].source}: {key}: expected three sizes (least, first and largest), as sysctl net.ipv4.{name} "
            f"prints them, found {len(sizes)}"
        )
    return sizes


def _window(sheet: Sheet) -> Quantity | None:
    """The window of one connection: as stated, else what the smaller of the two largest buffers holds."""
    stated = sheet.optional("net.window_bytes")
    if stated is not None:
        return stated
    known = [sizes[-1] for name, _, _ in _BUFFERS if (sizes := _sizes(sheet, name))]
    if not known:
        return None
    least, per_window = min(known, key=lambda size: size.value), sheet.rule("tcp.buffer-per-window")
    window = least.value / per_window.value
    sheet.line(f"{least.source}: {shown(least, 'B')} / {per_window.value:g} = {format_in(window, 'B')}")
    return Quantity(window, "bytes", least.origin, least.source)


def _bound(sheet: Sheet) -> Iterator[Advice]:
    """Bandwidth limit of TCP connections: one window per round trip each."""
    window = _window(sheet)
    if window is None:
        sheet.number("net.window_bytes")
        return
    trip = sheet.number("net.rtt_ms")
    connections = _connections(sheet)
    windows = Term(connections.value, f"{connections.value:g}") * term(window, "B")
    bound = worked(sheet, windows / in_seconds(trip, "ms"), "MB/s")
    least = "at least " if trip.origin is Origin.DETECTED else ""
    rate, title = format_in(float(f"{bound.value:.6g}"), "MB/s"), "Bandwidth limit of the TCP windows"
    more = "More connections (nconnect) or a larger window raise it"
    verdict = f"TCP window limit: {least}{rate} over {connections}. {more}"
    yield answered(sheet, "net.window-bound", title, verdict, bound, "window / round trip")


def _connections(sheet: Sheet) -> Term:
    """Return the TCP connections of a mount: one, unless more are known."""
    count = sheet.optional("net.connections")
    return term(1 if count is None else count.value, "connections")


def _buffers(sheet: Sheet) -> Iterator[Advice]:
    """The largest buffers of the running kernel against what the bandwidth of the network requires."""
    known = [(name, what, carries, sizes) for name, what, carries in _BUFFERS if (sizes := _sizes(sheet, name))]
    if not known:
        return
    stages = path_stages(Sheet(sheet.inputs, sheet.rules))  # what they say of disks is not of buffers
    rates = [(stage.rate.value, stage) for stage in stages if stage.network and stage.rate is not None]
    if not rates:
        return
    rate, slowest = min(rates, key=lambda one: one[0])
    assert slowest.rate is not None
    sheet.given(slowest.name, slowest.rate, "MB/s")
    trip = sheet.optional("net.rtt_ms")
    largest = ", ".join(f"{what} {brief(sizes[-1], 'MiB')}" for _, what, _, sizes in known)
    title = "TCP buffers"
    if trip is None:
        unknown = f"enough or not is unknown without the round-trip time. Use {KEYS['net.rtt_ms'].flag}"
        verdict = f"TCP buffers: {largest} at most; {unknown}"
        yield sheet.advice("net.tcp-buffers", title, verdict, decision="unknown")
        return
    connections = _connections(sheet)
    rate /= servers(sheet)
    per_window = sheet.rule("tcp.buffer-per-window")
    needed = math.ceil(rate / connections.value * trip.value / 1e9 * per_window.value)
    sheet.line(
        f"{format_in(rate, 'MB/s')} / {connections} x {shown(trip, 'ms')} x "
        f"{per_window.value:g} = {format_in(float(needed), 'B')}"
    )
    small = [one for one in known if one[3][-1].value < needed]
    load = f"{format_in(float(f'{rate:.4g}'), 'MB/s')} over {connections}"
    at_most = "at most " if trip.origin is Origin.DETECTED else ""
    wanted = f"{at_most}{format_in(float(f'{needed / 2**20:.3g}') * 2**20, 'MiB')}"
    condition = f"{wanted} needed for {load} at a round trip of {at_most}{brief(trip, 'ms')}"
    if not small:
        statement = f"TCP buffers: {largest} at most; {condition}"
    else:
        may = "may be" if at_most else "are"
        what = " and ".join(f"{carries} ({what} buffer)" for _, what, carries, _ in small)
        commands = [_commands(name, sizes, needed) for name, _, _, sizes in small]
        statement = (
            f"TCP buffers {may} too small for {what}: {largest} at most, {condition}. "
            f"Change: {'; '.join(change for change, _ in commands)}. Undo: {'; '.join(undo for _, undo in commands)}"
        )
        if needed > _LARGEST_BYTES:
            statement += ". More is needed than the kernel allows: use more connections (nconnect)"
        sheet.line("a change lasts until the next boot, and for a mount from when it is mounted again")
        sheet.line("to keep it, write the setting into a file of /etc/sysctl.d")
    decision = ("may be short" if at_most else "short") if small else "enough"
    size = term(needed, "B")
    yield answered(sheet, "net.tcp-buffers", title, statement, size, "bandwidth x round trip", decision=decision)


def raised_sizes(sizes: Sequence[Quantity], needed: float) -> list[int]:
    """Return the three sizes of a buffer, the largest raised to the next power of two, in bytes."""
    least_and_first = [round(size.value) for size in sizes[:-1]]
    return [*least_and_first, min(1 << (math.ceil(needed) - 1).bit_length(), _LARGEST_BYTES)]


def _commands(name: str, sizes: Sequence[Quantity], needed: int) -> tuple[str, str]:
    """What raises the largest size to the next power of two, and what restores it."""
    present, raised = [round(size.value) for size in sizes], raised_sizes(sizes, needed)
    change, undo = (f"sysctl net.ipv4.{name}='{' '.join(map(str, each))}'" for each in (raised, present))
    return change, undo


CALCULATIONS = (
    Calculation("queue depth", _depth, ("io.queue-depth",)),
    Calculation("CPU cost of the I/O", _cpu_cost, ("io.cpu-cost",)),
    Calculation("TCP window", _bound, ("net.window-bound",), about=("net.",)),
    Calculation("TCP buffers", _buffers, ("net.tcp-buffers",), about=("net.tcp_",)),
)
