"""Claims and old measurements: recalculated, normalized, and compared with the capacity of their path."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.io.array import drive_count
from sizeup.sizing.io.capacity import find_bottleneck, servers
from sizeup.sizing.sheet import Calculation, Sheet, shown
from sizeup.units import format_in


def _rate(sheet: Sheet) -> Quantity | None:
    """Return the observed throughput from the inputs about it; None where there are none."""
    stated = sheet.optional("observed.mb_s")
    if stated is not None:
        return stated
    rate = None
    amount, seconds = sheet.optional("observed.gib"), sheet.optional("observed.seconds")
    requests, size = sheet.optional("observed.iops"), sheet.optional("observed.io_kib")
    if amount is not None and seconds is not None:
        rate = amount.value / (seconds.value / 1e9)
        sheet.line(
            f"{shown(amount, 'GiB')} / {shown(seconds, 's')} = {format_in(rate, 'MB/s')} = {format_in(rate, 'MiB/s')}"
        )
    elif requests is not None and size is not None:
        rate = requests.value * size.value
        sheet.line(
            f"{shown(requests, 'IOPS')} x {shown(size, 'KiB')} = {format_in(rate, 'MB/s')} = {format_in(rate, 'MiB/s')}"
        )
    return None if rate is None else sheet.answer(rate, "MB/s", "observed")


def _observed(sheet: Sheet) -> Iterator[Advice]:
    rate = _rate(sheet)
    if rate is None:
        return
    yield sheet.advice(
        "observed.rate",
        "Observed throughput",
        f"observed throughput: {shown(rate, 'MB/s')} ({shown(rate, 'MiB/s')})",
        rate,
        "MB/s",
    )


def _claim(sheet: Sheet) -> Iterator[Advice]:
    """Whether the observed throughput fits through the path."""
    least = find_bottleneck(sheet)
    rate = _rate(sheet)
    if least is None or rate is None:
        return
    share = rate.value / least.capacity.value
    sheet.line(f"{shown(rate, 'MB/s')} / {shown(least.capacity, 'MB/s')} = {format_in(share, '%')}")
    above = share > 1
    yield sheet.advice(
        "observed.path-share",
        "Observed throughput against its path",
        f"observed {shown(rate, 'MB/s')} is above its path: {least.name} has {shown(least.capacity, 'MB/s')}. Likely "
        "reasons: a cache, another block size, or a link rate taken for payload"
        if above
        else f"observed {shown(rate, 'MB/s')} is within its path: {format_in(share, '%')} of "
        f"{shown(least.capacity, 'MB/s')} ({least.name})",
        sheet.answer(share, "%", "observed"),
        "%",
        decision="above-path" if above else "within",
    )


def _per_core(sheet: Sheet) -> Iterator[Advice]:
    requests, cores = sheet.number("observed.iops"), sheet.number("machine.cores")
    every = cores.value * servers(sheet)
    each = requests.value / every
    sheet.line(f"{shown(requests, 'IOPS')} / {format_in(every, 'cores')} = {format_in(each, 'IOPS')}")
    yield sheet.advice(
        "observed.iops-per-core",
        "Observed IOPS per core",
        f"observed: {format_in(each, 'IOPS')} per core",
        sheet.answer(each, "IOPS", "observed.iops"),
        "IOPS",
    )


def _per_drive(sheet: Sheet) -> Iterator[Advice]:
    requests, drives = sheet.number("observed.iops"), drive_count(sheet)
    catalog = sheet.rule(f"drive.{sheet.words('array.drive')}.iops")
    each = requests.value / drives
    sheet.line(f"{shown(requests, 'IOPS')} / {format_in(drives, 'drives')} = {format_in(each, 'IOPS')}")
    low, high = catalog.low or catalog.value, catalog.high or catalog.value
    decision = "above-catalog" if each > high else "below-catalog" if each < low else "catalog"
    verdict = f"observed: {format_in(each, 'IOPS')} per drive; catalog: {low:g} to {high:g} IOPS"
    if decision == "above-catalog":
        verdict += ". Likely reasons: short strokes, deep queues, or a cache"
    yield sheet.advice(
        "observed.iops-per-drive",
        "Observed IOPS per drive",
        verdict,
        sheet.answer(each, "IOPS", "observed.iops"),
        "IOPS",
        decision=decision,
    )


def _call(sheet: Sheet) -> Iterator[Advice]:
    cycles, clock = sheet.number("observed.cycles_per_call"), sheet.number("machine.ghz")
    time = cycles.value / clock.value * 1e9
    sheet.line(f"{shown(cycles, 'cycles')} / {shown(clock, 'GHz')} = {format_in(time, 'ns')}")
    yield sheet.advice(
        "observed.call",
        "Time per call",
        f"time per call: {format_in(time, 'ns')}",
        sheet.answer(time, "ns", "observed.cycles_per_call"),
        "ns",
    )


def _kernel_share(sheet: Sheet) -> Iterator[Advice]:
    share = sheet.number("observed.kernel_cpu_percent")
    sheet.line(f"kernel: {shown(share, '%')} of the CPU time, other code: {format_in(1 - share.value, '%')}")
    yield sheet.advice(
        "observed.kernel-share",
        "CPU time spent in the kernel",
        f"kernel mode: {shown(share, '%')} of the CPU time",
        share,
        "%",
    )


def _store_time(sheet: Sheet) -> Iterator[Advice]:
    time = sheet.number("slb.store_ns")
    sheet.line(f"{time.source}: {shown(time, 'ns')}")
    yield sheet.advice(
        "slb.store-time", "Observed time of a random store", f"random store: {shown(time, 'ns')}", time, "ns"
    )


def _served(sheet: Sheet) -> Iterator[Advice]:
    """Users within the response time limit, and the response time, as a source states them."""
    users = sheet.number("observed.users")
    sheet.line(f"{users.source}: {shown(users, 'users')}")
    yield sheet.advice(
        "observed.users-served",
        "Users within the response time limit",
        f"users within the response time limit: {shown(users, '')}",
        users,
        "1",
    )
    response = sheet.number("observed.response_ms")
    sheet.line(f"{response.source}: {shown(response, 'ms')}")
    yield sheet.advice(
        "observed.response-time", "Response time", f"response time: {shown(response, 'ms')}", response, "ms"
    )


def _device(sheet: Sheet) -> Iterator[Advice]:
    size = sheet.number("device.blocks_kib")
    sheet.line(f"{format_in(size.value / 1024, 'blocks')} x 1,024 B = {shown(size, 'B')}")
    yield sheet.advice(
        "device.size",
        "Device size",
        f"device size: {shown(size, 'GB')} ({shown(size, 'GiB')})",
        size,
        "GB",
    )


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
