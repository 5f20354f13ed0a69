"""Rates of interfaces and disks, from two looks at psutil's counters."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import psutil
from msgspec import Struct


class Rate(Struct, frozen=True):
    """What one device moves; bytes and operations a second since the last look."""

    name: str
    read_bytes_per_second: float
    """Received, for an interface."""
    write_bytes_per_second: float
    """Sent, for an interface."""
    read_operations_per_second: float
    """Packets, for an interface."""
    write_operations_per_second: float


class Counters(Struct, frozen=True):
    """Totals of one device since boot."""

    read_bytes: int
    write_bytes: int
    reads: int
    writes: int


def interface_counters() -> dict[str, Counters]:
    """Totals by interface."""
    found = psutil.net_io_counters(pernic=True)
    return {
        name: Counters(each.bytes_recv, each.bytes_sent, each.packets_recv, each.packets_sent)
        for name, each in found.items()
    }


def disk_counters() -> dict[str, Counters]:
    """Totals by disk and partition."""
    found = psutil.disk_io_counters(perdisk=True) or {}
    return {
        name: Counters(each.read_bytes, each.write_bytes, each.read_count, each.write_count)
        for name, each in found.items()
    }


class RateMeter:
    """Rates between two calls of ``look``; the first has none to tell."""

    def __init__(
        self, counters: Callable[[], Mapping[str, Counters]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._counters = counters
        self._clock = clock
        self._before: Mapping[str, Counters] = {}
        self._at = 0.0

    def look(self) -> tuple[Rate, ...]:
        """Rates since the last look, by name; a device whose counters ran backwards was replaced and is left out."""
        now, counters = self._clock(), self._counters()
        elapsed = now - self._at
        rates = []
        for name, after in sorted(counters.items()):
            before = self._before.get(name)
            if before is None or elapsed <= 0:
                continue
            moved = (
                after.read_bytes - before.read_bytes,
                after.write_bytes - before.write_bytes,
                after.reads - before.reads,
                after.writes - before.writes,
            )
            if min(moved) >= 0:
                rates.append(Rate(name, *(amount / elapsed for amount in moved)))
        self._before, self._at = counters, now
        return tuple(rates)
