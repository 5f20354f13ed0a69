"""Requirement profiles: limits of named figures with their sources, and which of them a machine meets.

title = "etcd"
source = "https://etcd.io/docs/v3.5/op-guide/hardware/"
date = 2026-11-23

[machine.memory]
min = "8 GB"

[storage.log_write_latency]
max = "20 ms"
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from sizeup.compare.headlines import NAMED, by_round, headlines
from sizeup.decoding import parse_toml
from sizeup.errors import MalformedError, UsageError
from sizeup.input_file import read_text
from sizeup.model.machine import Machine
from sizeup.model.plan import Better, Series
from sizeup.quantity import Origin, Quantity, Uncertainty
from sizeup.session.value import StepRun
from sizeup.sizing.input_value import UnusedMeasurement
from sizeup.sizing.io.share import MIXED_WRITES, mixed_writes
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Inputs
from sizeup.text import nearest, one_line
from sizeup.units import as_percent, format_bit_rate, format_value, parse_amount

_Table = Mapping[str, Any]
_PROFILE_LIMIT = 1 << 20
_WHAT = "a requirement profile"
_COUNTED = frozenset({"1/s", "1"})
"""Units of figures whose limits may be bare numbers, such as 100000 IOPS."""
_ABOUT = ("title", "source", "date")
"""Keys of a whole profile; the last two are those of each limit without its own."""
_LIMITS = ("min", "max", "worse_than_median", "required", "per", "source", "date")
NOT_MEASURED = "not measured"
_NETWORK = "machine.network"
_AGAIN = "Measure again when idle"
_KEPT_BY_KERNEL = 0.07
"""The largest share of the installed memory that a running kernel does not count as its own."""

INPUT_KEYS = {name: figure.input for name, figure in NAMED.items() if figure.input}
"""The inputs of sizing that figures are."""


class ProfileLimit(Struct, frozen=True):
    """What a profile demands of one figure."""

    figure: str
    """The quantity or the name of the figure: ``memory.local_latency``."""
    title: str
    unit: str
    least: float | None = None
    most: float | None = None
    worse_than_median: float | None = None
    """As a share of the median."""
    required: bool = True
    """Whether a machine without a valid figure is undecided."""
    per: str = ""
    """The figure that ``least`` and ``most`` are multiplied by: ``machine.cpus``; empty for none."""
    source: str = ""
    """The address that the limit is from; empty where the profile names none."""
    date: str = ""
    """The day on which it was read there."""
    written: Mapping[str, str] = {}
    """``min`` and ``max`` with the unit that the profile states them in; none for a bare number."""


class Profile(Struct, frozen=True):
    """Limits that belong together."""

    title: str
    limits: tuple[ProfileLimit, ...]


class AcceptanceResult(Enum):
    """What became of a limit, or of a host."""

    PASS = "PASS"  # noqa: S105  a result, and no password
    FAIL = "FAIL"
    UNDECIDED = "UNDECIDED"
    """No valid figure, or its ends lie on both sides of the limit."""


class Requirement(Struct, frozen=True):
    """One limit held against what is known of one machine."""

    limit: ProfileLimit
    kind: str
    """``min``, ``max`` or ``worse_than_median``."""
    result: AcceptanceResult
    text: str
    """The limit for people: ``at least 8 GB``."""
    bound: float | None = None
    """None where what it is relative to is unknown."""
    found: Quantity | None = None
    """None where it is unknown."""
    unknown: str = NOT_MEASURED
    """Why it is, as a clause."""

    @property
    def status(self) -> str:
        """PASS, FAIL, NOT CERTAIN where its ends lie on both sides of the limit, or unknown."""
        if self.found is None or self.bound is None:
            return "unknown"
        return "NOT CERTAIN" if self.result is AcceptanceResult.UNDECIDED else self.result.name

    @property
    def sentence(self) -> str:
        """What was found, and what is required."""
        if self.found is None or self.bound is None:
            return f"{self.limit.title}: {self.unknown}"
        open_ = f"; {self.uncertainty.reason}" if self.uncertainty is not None else ", and did not converge"
        rest = f" ({ends_text(self.found, self.limit)}{open_})" if self.status == "NOT CERTAIN" else ""
        return f"{self.limit.title}: {amount_text(self.found.value, self.limit)}; limit: {self.text}{rest}"

    @property
    def uncertainty(self) -> Uncertainty | None:
        """What moved the end of the figure that the limit is held against the farthest; None where nothing did."""
        uncertainties = () if self.found is None else self.found.uncertainties
        ends = [one for one in uncertainties if one.upper == (self.kind == "max")]
        if self.kind == "max":
            return max(ends, key=lambda one: float("inf") if one.end is None else one.end, default=None)
        return min(ends or uncertainties, key=lambda one: one.end or 0.0, default=None)


def amount_text(value: float, limit: ProfileLimit) -> str:
    """Return a value of the figure of a limit for people; links in bits per second."""
    return format_bit_rate(value * 8) if limit.figure == _NETWORK else format_value(value, limit.unit)


def ends_text(found: Quantity, limit: ProfileLimit) -> str:
    """Return both ends of a figure: ``8.46 ms to 20.7 ms``."""
    most = "any" if found.most is None else amount_text(found.most, limit)
    return f"{amount_text(found.least, limit)} to {most}"


def shipped_profiles() -> dict[str, Path]:
    """Return the files of the profiles that come with the program, by name."""
    files = Path(__file__).with_name("profiles").glob("*.toml")
    return {file.stem: file for file in sorted(files, key=lambda file: file.stem)}


def known_figures() -> dict[str, Series]:
    """Return every figure that can have limits and that sizeup knows by itself."""
    return {name: figure.series(name) for name, figure in NAMED.items()}


def read_profile(given: str, known: Mapping[str, Series]) -> Profile:
    """Return a profile by its name or file; raises with the key, what was expected and what was found."""
    shipped = shipped_profiles()
    if given not in shipped and not os.path.exists(given):
        names = ", ".join(shipped)
        raise UsageError(f"--profile: expected a file or one of {names}, found {one_line(given, 60)!r}"
                         f"{nearest(given, shipped)}; sizeup help profiles describes them")  # fmt: skip
    text = shipped[given].read_text(encoding="utf-8") if given in shipped else read_text(given, _WHAT, _PROFILE_LIMIT)
    tables = parse_toml(text, given, f"{_WHAT} in TOML")
    about = _texts(given, "", tables, _ABOUT)
    rest = {key: value for key, value in tables.items() if key not in about}
    limits = tuple(_limit(given, name, table, known, about) for name, table in _tables(given, rest, ""))
    if not limits:
        raise UsageError(f"{given}: expected a table for each figure, such as [memory.local_latency], found none")
    return Profile(about.get("title", os.path.basename(given)), limits)


def _texts(path: str, name: str, table: _Table, keys: Iterable[str]) -> dict[str, str]:
    """Return title, source and date of a table as text."""
    found = {key: table[key] for key in keys if key in table}
    for key, value in found.items():
        if not isinstance(value, str | date):
            raise UsageError(f"{path}: {name}{key}: expected text or a date, found {value!r}")
    return {key: one_line(str(value), 200) for key, value in found.items()}


def _tables(path: str, table: _Table, name: str) -> Iterator[tuple[str, _Table]]:
    """Return the innermost tables with their dotted names."""
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    if name and len(inner) < len(table):
        if inner:
            raise UsageError(f"{path}: {name}: expected limits, found the table {next(iter(inner))!r} beside them")
        yield name, table
        return
    for key, value in table.items():
        if not isinstance(value, dict):
            raise UsageError(f"{path}: {key}: expected a table such as [memory.local_latency], found {value!r}")
        yield from _tables(path, value, f"{name}.{key}" if name else key)


def _limit(path: str, name: str, table: _Table, known: Mapping[str, Series], about: Mapping[str, str]) -> ProfileLimit:
    if name not in known:
        names = ", ".join(sorted(known))
        raise UsageError(f"{path}: {one_line(name, 60)}: expected a figure{nearest(name, known)}, one of {names}")
    figure, where = known[name], f"{path}: {name}"
    for key in table:
        if key not in _LIMITS:
            raise UsageError(f"{where}.{one_line(key, 60)}: expected {', '.join(_LIMITS)}{nearest(key, _LIMITS)}")
    required = table.get("required", True)
    if not isinstance(required, bool):
        raise UsageError(f"{where}.required: expected true or false, found {required!r}")
    per = table.get("per", "")
    if per not in ("", "machine.cores", "machine.cpus"):
        raise UsageError(f"{where}.per: expected machine.cores or machine.cpus, found {per!r}")
    least, most, relative = (
        _amount(f"{where}.{key}", table.get(key), of) for key, of in
        (("min", figure.unit), ("max", figure.unit), ("worse_than_median", "share"))
    )  # fmt: skip
    if relative is not None and figure.better is Better.NEITHER:
        raise UsageError(f"{where}.worse_than_median: neither direction of this figure is better; use min or max")
    if least is not None and most is not None and least > most:
        raise UsageError(f"{where}.min: expected at most max, {table['max']!r}, found {table['min']!r}")
    if (least, most, relative) == (None, None, None):
        raise UsageError(f"{where}: expected min, max or worse_than_median, found none")
    texts = {**about, **_texts(path, f"{name}.", table, ("source", "date"))}
    written = {key: table[key] for key in ("min", "max") if isinstance(table.get(key), str)}
    return ProfileLimit(
        name, figure.title, figure.unit, least, most, relative, required, per,
        texts.get("source", ""), texts.get("date", ""), {} if figure.unit in _COUNTED else written,
    )  # fmt: skip


def _amount(where: str, value: object, unit: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{where}: expected an amount, found {value!r}")
    if unit == "share" and not str(value).rstrip().endswith("%"):
        raise UsageError(f'{where}: expected a percentage such as "15 %", found {value!r}')
    if not isinstance(value, str) and unit not in _COUNTED:
        raise UsageError(f'{where}: expected an amount with its unit such as "110 ns", found {value!r}')
    try:
        amount = parse_amount(value, unit) if isinstance(value, str) else float(value)
    except MalformedError as error:
        raise UsageError(f"{where}: {error}") from error
    if not 0 < amount < float("inf"):
        raise UsageError(f"{where}: expected an amount above 0, found {value!r}")
    return amount


def held(
    limit: ProfileLimit, kind: str, text: str, bound: float | None, found: Quantity | str, *, least: bool
) -> Requirement:
    """Judge both ends of a figure by a bound, which it must reach (``least``) or not exceed."""
    if isinstance(found, str) or bound is None:
        result = AcceptanceResult.UNDECIDED if limit.required else AcceptanceResult.PASS
        return Requirement(limit, kind, result, text, unknown=found if isinstance(found, str) else NOT_MEASURED)
    low, high = found.least, float("inf") if found.most is None else found.most
    met, missed = (low >= bound, high < bound) if least else (high <= bound, low > bound)
    result = AcceptanceResult.PASS if met else AcceptanceResult.FAIL if missed else AcceptanceResult.UNDECIDED
    return Requirement(limit, kind, result, text, bound, found)


def requirements(limit: ProfileLimit, figures: Mapping[str, Quantity | str]) -> Iterator[Requirement]:
    """Return the absolute limits of a figure held against what is known; a text says why a figure is unknown."""
    factor = figures.get(limit.per)
    for kind, each, words in (("min", limit.least, "at least"), ("max", limit.most, "at most")):
        if each is None:
            continue
        bound: float | None = each
        text = limit.written.get(kind, amount_text(each, limit))
        if isinstance(factor, Quantity):
            bound = each * factor.value
            text = amount_text(bound, limit)
        elif limit.per:
            bound, text = None, f"{text} per unit of {limit.per}"
        found = figures.get(limit.figure, NOT_MEASURED)
        yield held(limit, kind, f"{words} {text}", bound, found, least=kind == "min")


def machine_figures(
    inputs: Inputs, machine: Machine | None = None, runs: Iterable[StepRun] = ()
) -> dict[str, Quantity | str]:
    """Return what is known of a machine by the names of profiles; a text says why a figure is unknown."""
    found: dict[str, Quantity | str] = {}
    for steps in by_round(runs).values():
        for one in headlines(steps):
            name, (low, high) = one.name.partition("@")[0], one.interval or (one.value, one.value)
            low, high = min(low, one.value), max(high, one.value)
            value = Quantity(one.value, one.series.unit, Origin.MEASURED, one.run.step.id, low=low, high=high)
            if one.unsteady:
                uncertainties = (
                    Uncertainty(low, one.invalid, _AGAIN),
                    Uncertainty(high, one.invalid, _AGAIN, upper=True),
                )
                value = replace(value, uncertainties=uncertainties)
            if not one.invalid or not isinstance(found.get(name), Quantity):
                counts = one.unsteady or not one.invalid
                found[name] = value if counts else f"it was measured, but {one.invalid}"
    paths = inputs.get("path.bandwidth_mb_s")
    measured = isinstance(paths, Quantity) and paths.origin is not Origin.DETECTED  # links alone bound it from above
    known = {"capacity.mb_s": paths, **inputs} if measured else inputs
    for name, key in INPUT_KEYS.items():
        given = known.get(key)
        if isinstance(given, Quantity):
            if name == "machine.memory" and given.origin is Origin.DETECTED:
                # What the kernel counted is less than what is installed; others' use of it is no limit.
                enter = f"Enter what is installed ({KEYS['machine.memory_gib'].flag})"
                reason, most = "the kernel keeps a part of what is installed", given.value / (1 - _KEPT_BY_KERNEL)
                given = replace(given, uncertainties=(Uncertainty(most, reason, enter, upper=True),))
            found[name] = given
            if name == "storage.mixed_read_write_iops" and (written := mixed_writes(inputs)) < MIXED_WRITES:
                found[name] = f"it was measured, but with {as_percent(written)} writes, not {as_percent(MIXED_WRITES)}"
        elif isinstance(given, UnusedMeasurement):
            found[name] = f"it was measured, but {given.cause}"
    cores, threads = inputs.get("machine.cores"), inputs.get("machine.threads_per_core")
    if isinstance(cores, Quantity) and isinstance(threads, Quantity) and cores.origin is not Origin.DETECTED:
        found["machine.cpus"] = cores.scaled(threads.value)
    speeds = [nic.speed_bits_per_second or 0 for nic in machine.ports if nic.up is not False] if machine else []
    if any(speeds):
        found[_NETWORK] = Quantity(max(speeds) / 8, "bytes/s", Origin.DETECTED, "links that are up")
    return found
