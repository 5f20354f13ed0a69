"""Claims and old measurements: recalculated, normalized, and compared with the capacity of their path."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.io.array import drive_count
from sizeup.sizing.io.capacity import find_bottleneck
from sizeup.sizing.sheet import Calculation, Sheet, answered, in_seconds, servers, shown, term, worked
from sizeup.units import format_in


def _rate(sheet: Sheet) -> Quantity | None:
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
    rate = _rate(sheet)
    if rate is None:
        return
    verdict = f"observed throughput: {shown(rate, 'MB/s')} ({shown(rate, 'MiB/s')})"
    yield sheet.advice("observed.rate", "Observed throughput", verdict, rate, "MB/s")


def _claim(sheet: Sheet) -> Iterator[Advice]:
    """Whether the observed throughput fits through the path."""
    least = find_bottleneck(sheet)
    rate = _rate(sheet)
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


def _per_core(sheet: Sheet) -> Iterator[Advice]:
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
    Calculation("observed throughput", _observed, ("observed.rate",), about=("observed.gib",)),
    Calculation("observed throughput against its path", _claim, ("observed.path-share",)),
    Calculation("IOPS per core", _per_core, ("observed.iops-per-core",)),
    Calculation("IOPS per drive", _per_drive, ("observed.iops-per-drive",)),
    Calculation("time per call", _call, ("observed.call",), about=("observed.cycles",)),
    Calculation("kernel's share of the CPU time", _kernel_share, ("observed.kernel-share",)),
    Calculation("observed time of a random store", _store_time, ("slb.store-time",), about=("slb.store",)),
    Calculation("users served", _served, ("observed.users-served", "observed.response-time")),
    Calculation("device size", _device, ("device.size",)),
)
