"""``vmstat`` of procps: the utilization of all CPUs in each interval. The first line is the mean since boot.

``bi`` and ``bo`` are not read: they count page cache traffic of all block devices, and no requests.
"""

from __future__ import annotations

import re

from sizeup.errors import MalformedError
from sizeup.importers.columns import row, utilization
from sizeup.importers.intervals import Intervals, LoadInterval

HEADING = re.compile(r"^\s*-*procs-*\s+-+memory-+", re.MULTILINE)
"""The line above the names of the columns, narrow or wide."""


def parse_vmstat(text: str, where: str) -> Intervals:
    """Every line but the first of several."""
    header: list[str] = []
    shares: list[float] = []
    for line_number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if {"r", "us", "id"} <= set(words):
            header = words[: words.index("id") + 1 + _after_idle(words)]
        elif header and words and words[0].isdecimal():
            location = f"{where}: line {line_number}"
            shares.append(utilization(row(header, words[: len(header)], location), location))
    if not shares:
        raise MalformedError(
            f"{where}: expected lines of vmstat below the names of its columns (r b swpd … us sy id wa st), found "
            "none; run vmstat 60 without -d, -p or -s"
        )
    if len(shares) > 1:
        shares = shares[1:]
        caveat = "the first line was left out: it is the mean since boot"
    else:
        caveat = "the only line is the mean since boot: run vmstat 60"
    return Intervals(tuple(LoadInterval(cpu_utilization=share) for share in shares), (caveat,))


def _after_idle(words: list[str]) -> int:
    """How many columns of the CPUs follow ``id``: waiting and stolen time, time of guests; then a time zone."""
    return sum(word in ("wa", "st", "gu") for word in words[words.index("id") + 1 :])
