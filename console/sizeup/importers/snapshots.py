"""Snapshots of a database's cumulative counters: what was counted between two of them is one interval.

A snapshot is what a statement of ``sizeup help workload-of-a-database`` prints: a first line that names the kind of
server, then lines of ``PART.KEY=VALUE``, then ``end.snapshot``. The parts:

- ``same``: the server and its start, equal in all snapshots;
- ``now``: a value at this moment, ``now.time`` in seconds;
- ``since``: when the counters whose keys begin so were 0, in seconds of the same clock;
- ``sum``: a counter.

``SHOW GLOBAL STATUS`` of MySQL and MariaDB is read without such lines, too: ``Uptime`` is its clock then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from msgspec import Struct

from sizeup.errors import MalformedError

KINDS = ("postgresql", "mysql", "sqlserver")
STATUS = (
    "Binlog_cache_use",
    "Com_commit",
    "Innodb_buffer_pool_pages_total",
    "Innodb_data_read",
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_data_written",
    "Innodb_dblwr_writes",
    "Innodb_log_writes",
    "Innodb_os_log_written",
    "Innodb_page_size",
    "Innodb_pages_written",
    "Aria_pagecache_reads",
    "Uptime",
    "Uptime_since_flush_status",
)
"""The variables of ``SHOW GLOBAL STATUS`` that are read."""
_CLOCKS = ("Uptime", "Uptime_since_flush_status")
_GAUGES = ("Innodb_buffer_pool_pages_total", "Innodb_page_size")
_HELP = "run the statement that sizeup help workload-of-a-database prints"
_MARK = re.compile(rf"^[\s|\ufeff]*sizeup\.snapshot/1: ({'|'.join(KINDS)})[\s|]*$", re.MULTILINE)
_LINE = re.compile(r"(same|now|since|sum)\.([^\s=]+(?: [^\s=]+)*)=(.*)")
_VARIABLE = re.compile(r"(\w+)\s*[\t|]\s*(\S*)")
_STATUS_OUTPUT = re.compile(r"^[|\s]*Innodb_data_reads\s*[\t|]\s*\d", re.MULTILINE)
_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?", re.ASCII)
_END = "end.snapshot"
_SAME_SECONDS = 2.5
"""``Uptime`` is in whole seconds, so that what it began at is known within one on either side."""


class CounterSnapshot(Struct):
    """One snapshot while it is read, and then."""

    kind: str
    where: str
    line: int
    values: dict[str, str]
    """By part and key."""
    lines: dict[str, int]
    marked: bool

    def numbers(self, part: str) -> dict[str, float]:
        """Return the values of a part as numbers."""
        found = {}
        for name, value in self.values.items():
            if name.startswith(part + "."):
                if not _NUMBER.fullmatch(value):
                    raise MalformedError(f"{self.at(name)}: expected a number for {name}, found {value[:40]!r}")
                found[name.removeprefix(part + ".")] = float(value)
        return found

    def at(self, name: str = "") -> str:
        """Return the place of a line, for an error."""
        return f"{self.where}: line {self.lines.get(name, self.line)}"


class Span(Struct, frozen=True):
    """What was counted from one snapshot to another, or from the start of the counters to the only one."""

    where: str
    rates: Mapping[str, float]
    """Counters per second."""
    now: Mapping[str, float]
    """Values at the end."""

    def rate(self, *patterns: str) -> float | None:
        """Return the sum of the counters whose names match, per second; None where there is none."""
        found = [rate for name, rate in self.rates.items() if any(fnmatchcase(name, one) for one in patterns)]
        return sum(found) if found else None

    def at_end(self, name: str) -> float:
        """Return a value at the end; raise ``MalformedError`` where the snapshot lacks it."""
        if name not in self.now:
            raise MalformedError(f"{self.where}: expected a line now.{name}, found none; {_HELP}")
        return self.now[name]


def is_snapshot(text: str) -> bool:
    """Whether a text begins as snapshots do."""
    head = text[:100_000]
    return _MARK.search(head) is not None or _STATUS_OUTPUT.search(head) is not None


def spans(sources: Sequence[tuple[str, str]]) -> tuple[str, list[Span], Span]:
    """Return the kind of server, the span between each snapshot and the next, and the span of all.

    ``sources`` are texts and their names, in the order of time.
    """
    found = [one for text, where in sources for one in _snapshots(text, where)]
    if len(found) == 1:
        alone = _since_start(found[0])
        return found[0].kind, [alone], alone
    between = [_between(*pair) for pair in pairwise(found)]
    return found[0].kind, between, between[0] if len(between) == 1 else _between(found[0], found[-1])


def _snapshots(text: str, where: str) -> Iterator[CounterSnapshot]:
    """Yield the snapshots of one file; raise ``MalformedError`` for one that was cut."""
    current: CounterSnapshot | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip("| \t\r\ufeff")
        mark = _MARK.fullmatch(line)
        name, value = _named(line)
        if mark or (name and (current is None or (not current.marked and name in current.values))):
            if current is not None:
                yield _complete(current, f"another snapshot in line {number}")
            current = CounterSnapshot(mark[1] if mark else "mysql", where, number, {}, {}, marked=mark is not None)
        elif current is not None and line == _END:
            yield _complete(current)
            current = None
        if name and current is not None:
            if current.values.get(name, value) != value:
                expected = f"expected {name} once in a snapshot, found it in line {current.lines[name]}, too"
                raise MalformedError(f"{where}: line {number}: {expected}")
            current.values[name], current.lines[name] = value, number
    if current is not None:
        yield _complete(current, "the end of the file")


def _named(line: str) -> tuple[str, str]:
    """Return part and key of a line, and its value; empty ones for a line that is neither."""
    if found := _LINE.fullmatch(line):
        return f"{found[1]}.{found[2]}", found[3]
    variable = _VARIABLE.fullmatch(line)
    if variable is None or variable[1] not in STATUS:
        return "", ""
    part = "now" if variable[1] in (*_CLOCKS, *_GAUGES) else "sum"
    return f"{part}.status.{variable[1]}", variable[2]


def _complete(snapshot: CounterSnapshot, found: str = "") -> CounterSnapshot:
    """Return a snapshot with the clock of MySQL; raise ``MalformedError`` where its end was not there but ``found``."""
    if snapshot.marked and found:
        raise MalformedError(f"{snapshot.at()}: expected a snapshot that ends with {_END!r}, found {found}; {_HELP}")
    values = snapshot.values
    if snapshot.kind == "mysql":
        if "now.status.Uptime" not in values:
            raise MalformedError(f"{snapshot.at()}: expected a line Uptime below, found none; run SHOW GLOBAL STATUS")
        now = snapshot.numbers("now")
        time = now.setdefault("time", now["status.Uptime"])
        values["now.time"] = f"{time:.6f}"
        for name, clock in zip(("status", "flush"), _CLOCKS, strict=True):
            if f"status.{clock}" in now:
                values[f"since.{name}"] = f"{max(time - now[f'status.{clock}'], 0.0):.6f}"
    if "now.time" not in values:
        raise MalformedError(f"{snapshot.at()}: expected a line now.time below, found none; {_HELP}")
    return snapshot


def _since_start(snapshot: CounterSnapshot) -> Span:
    """Return the averages since the counters began; those whose start is unknown are left out."""
    now, since = snapshot.numbers("now"), snapshot.numbers("since")
    rates = {}
    for name, count in snapshot.numbers("sum").items():
        began = max((part for part in since if name.startswith(f"{part}.")), key=len, default=None)
        seconds = 0.0 if began is None else now["time"] - since[began]
        if seconds > 0:
            rates[name] = count / seconds
    if not rates:
        expected = "a second snapshot, because this one does not tell since when it counts, found one"
        raise MalformedError(f"{snapshot.at()}: expected {expected}")
    return Span(snapshot.at(), rates, now)


def _between(first: CounterSnapshot, second: CounterSnapshot) -> Span:
    """Return what was counted between two snapshots; raise ``MalformedError`` where they do not belong together."""
    before, after = (
        {"same.kind": one.kind} | {key: value for key, value in one.values.items() if key.startswith("same.")}
        for one in (first, second)
    )
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            raise MalformedError(
                f"{second.at(name)}: expected snapshots of one server that was not restarted in between, {name} "
                f"{before.get(name, 'missing')} as in {first.at(name)}, found {after.get(name, 'none')}"
            )
    start, end = (one.numbers("now")["time"] for one in (first, second))
    if end <= start:
        raise MalformedError(
            f"{second.at('now.time')}: expected a later snapshot than that of {first.at()} (second {start:.0f}), found "
            f"second {end:.0f}; give the snapshots in the order of time, without a restart between them"
        )
    was, since = first.numbers("since"), second.numbers("since")
    for name, began in since.items():
        if abs(was.get(name, began) - began) > _SAME_SECONDS:
            raise MalformedError(
                f"{second.at(f'since.{name}')}: expected counters that began when those of {first.at()} did, found "
                f"since.{name} {began - was[name]:+.0f} s from it; the server was restarted or its statistics were "
                "reset: take both snapshots after that"
            )
    counts, later = first.numbers("sum"), second.numbers("sum")
    for name, count in counts.items():
        if later.get(name, -1.0) < count:
            raise MalformedError(
                f"{second.at(f'sum.{name}')}: expected sum.{name} of at least {count:.0f} as in "
                f"{first.at(f'sum.{name}')}, found {f'{later[name]:.0f}' if name in later else 'none'}; a database was "
                "dropped or statistics were reset: take both snapshots after that"
            )
    seconds = end - start
    rates = {name: (count - counts.get(name, 0.0)) / seconds for name, count in later.items()}
    return Span(second.at(), rates, second.numbers("now"))
