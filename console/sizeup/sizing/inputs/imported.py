"""Workload files as inputs of sizing: intervals in, one percentile of each figure out.

An average hides the peaks that a server must carry, so every figure is the chosen percentile over the
intervals of the file, with the median and the largest as its range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
import tomli
from msgspec import Struct

from sizeup.errors import MalformedError, UsageError
from sizeup.importers.awr import parse_awr
from sizeup.importers.intervals import Intervals, LoadInterval
from sizeup.importers.iostat import parse_iostat
from sizeup.importers.sar import parse_sar
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.inputs.typed import parse_settings
from sizeup.sizing.keys import Value

_TOML_KEYS = ("workload.", "redo.", "db.", "sga.", "scan.", "net.", "license.users")
"""The keys that a workload file may set; the machine and the contract are set elsewhere."""

_FIGURES: tuple[tuple[str, str, Callable[[LoadInterval], float | None]], ...] = (
    ("workload.mb_s", "bytes/s", lambda interval: interval.bytes_per_second),
    ("workload.iops", "1/s", lambda interval: interval.requests_per_second),
    ("redo.mb_s", "bytes/s", lambda interval: interval.redo_bytes_per_second),
)


class _Toml(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    format: Literal["sizeup.workload/1"]
    inputs: dict[str, str | int | float]
    title: str = ""


class WorkloadFile(Struct, frozen=True):
    """One file of a workload."""

    name: str
    text: str


def read_workload(
    sources: Sequence[WorkloadFile], percentile: float, devices: tuple[str, ...] = ()
) -> dict[str, Value]:
    """Keys of sizing from files of one kind: AWR or Statspack reports, ``sar -d``, ``iostat -o JSON``, or our TOML.

    Intervals of several files count together. ``devices`` keeps those disks only; a file that names
    none of them is refused.
    """
    values: dict[str, Value] = {}
    intervals: list[LoadInterval] = []
    caveats: dict[str, None] = {}
    for source in sources:
        if source.text.lstrip().startswith("schema") or source.name.endswith(".toml"):
            values |= parse_toml(source.text, source.name)
            continue
        found = _intervals(source, devices)
        intervals += found.intervals
        caveats |= dict.fromkeys(found.caveats)
    if intervals:
        where = ", ".join(source.name for source in sources)
        try:
            values = {**_figures(intervals, percentile, where, tuple(caveats)), **values}
        except (ValueError, OverflowError) as error:
            raise MalformedError(
                f"{where}: expected finite figures, found one too large for a number: {error}"
            ) from error
    return values


def _intervals(source: WorkloadFile, devices: tuple[str, ...]) -> Intervals:
    head = source.text[:4000]
    if head.lstrip().startswith("{"):
        return parse_iostat(source.text, source.name, devices)
    if "WORKLOAD REPOSITORY" in head or "STATSPACK" in head.upper():
        return parse_awr(source.text, source.name)
    if head.startswith("Linux ") and "DEV" in head:
        return parse_sar(source.text, source.name, devices)
    raise MalformedError(
        f"{source.name}: expected an AWR or Statspack report as text, the output of sar -d or of iostat -o JSON, or a "
        'TOML file that begins with schema = "sizeup.workload/1"; '
        f"found {source.text.strip()[:40]!r}"
    )


def parse_toml(text: str, where: str) -> dict[str, Value]:
    """A workload written by hand."""
    try:
        entry = msgspec.convert(tomli.loads(text), _Toml)
    except (tomli.TOMLDecodeError, msgspec.ValidationError) as error:
        raise MalformedError(f"{where}: expected sizeup.workload/1: {error}") from error
    for key in entry.inputs:
        if not key.startswith(_TOML_KEYS):
            raise UsageError(f"{where}: expected keys of {', '.join(_TOML_KEYS)}, found {key!r}; use --set for others")
    return parse_settings([f"{key}={value}" for key, value in entry.inputs.items()], Origin.IMPORTED, where)


def _figures(
    intervals: list[LoadInterval], percentile: float, where: str, caveats: tuple[str, ...]
) -> dict[str, Value]:
    values: dict[str, Value] = {}
    if len(intervals) == 1:
        caveats = (*caveats, "a single interval is an average and hides peaks: use shorter intervals over a busy week")
    source = f"{where}: {percentile:g}th percentile of {len(intervals)}"
    for key, unit, figure in _FIGURES:
        known = sorted(value for interval in intervals if (value := figure(interval)) is not None)
        if known and at(known, percentile) > 0:
            value = at(known, percentile)
            low, high = min(at(known, 50), value), known[-1]
            values[key] = Quantity(value, unit, Origin.IMPORTED, source, low=low, high=high, caveats=caveats)
    reads = [interval for interval in intervals if interval.read_share is not None]
    if reads:
        weights = [interval.requests_per_second or 1.0 for interval in reads]
        share = sum((one.read_share or 0.0) * weight for one, weight in zip(reads, weights, strict=True)) / sum(weights)
        values["workload.read_percent"] = Quantity(share, "1", Origin.IMPORTED, f"{where}: mean by requests")
    if values:
        values["workload.percentile"] = Quantity(percentile, "1", Origin.IMPORTED, "--percentile")
    return values


def at(ascending: Sequence[float], percentile: float) -> float:
    """Return the nearest-rank percentile, which is one of the values."""
    rank = math.ceil(percentile / 100 * len(ascending))
    return ascending[max(rank, 1) - 1]
