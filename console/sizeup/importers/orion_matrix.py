"""ORION's CSV files, ``NAME_DATE_iops.csv``, ``_mbps.csv`` and ``_lat.csv``: a figure for each mix of loads.

Columns are small I/Os in flight, rows are large ones. Which figure a file holds follows from the sentence
above the matrix, and up to version 11.1, which writes none, by the file's name alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sizeup.errors import MalformedError
from sizeup.importers.imported import (
    IOPS,
    LARGE_BYTES,
    LATENCY_MEAN,
    RATE,
    SMALL_BYTES,
    STORAGE,
    Imported,
    ImportedStep,
    load,
    workload,
)
from sizeup.importers.orion import MEBIBYTES
from sizeup.model.plan import Series
from sizeup.model.sample import Estimate
from sizeup.text import one_line

MARK = "Large/Small,"

_MOST_LOADS = 4096
_SIZES = f"block sizes are not in ORION's matrix; its defaults are assumed: reads of {SMALL_BYTES >> 10} KiB and 1 MiB"
_MILLISECONDS = "the unit is not in ORION's matrix; milliseconds are assumed, as up to version 11.1"


class _Kind(NamedTuple):
    ending: str
    sentence: str
    """What the line above the matrix holds."""
    alone: Series
    beside: Series
    """The same beside requests of the other size."""


_KINDS = (
    _Kind("_iops.csv", "in IOPS", IOPS, STORAGE.series_giving("storage.mixed_iops")),
    _Kind("_mbps.csv", "in MBPS", RATE, STORAGE.series_giving("storage.mixed_bandwidth")),
    _Kind("_lat.csv", "latency", LATENCY_MEAN, STORAGE.series_giving("storage.mixed_latency")),
)


def parse_orion_matrix(text: str, where: str) -> Imported:
    """Every figure of the matrix; empty cells were not tested."""
    above, mark, matrix = text.partition(MARK)
    kind = next((kind for kind in _KINDS if kind.sentence in above), None)
    kind = kind or next((kind for kind in _KINDS if where.endswith(kind.ending)), None)
    if not mark or kind is None:
        endings = ", ".join(f"*{kind.ending}" for kind in _KINDS)
        raise MalformedError(f"{where}: expected a matrix of ORION, named as it names them: {endings}")
    scale, caveats = _scale(kind, above)
    estimates = tuple(_estimates(kind, matrix.splitlines(), where, scale, caveats))
    if not estimates:
        raise MalformedError(f"{where}: expected figures below {MARK!r}, found none: the run was interrupted")
    used = {estimate.series for estimate in estimates}
    series = tuple(series for series in (kind.alone, kind.beside) if series.name in used)
    version = re.search(r"ORION VERSION ([\w.]{1,40})", above)
    step = ImportedStep(
        f"{STORAGE.name}.orion-{kind.alone.name}", STORAGE.name, "Direct I/O, ORION's matrix", series, estimates, {},
        declaration=STORAGE.manifest.declaration(),
    )  # fmt: skip
    return Imported(f"ORION {version[1]}" if version else "ORION", (step,))


def _scale(kind: _Kind, above: str) -> tuple[float, tuple[str, ...]]:
    """What turns the file's figures into base units, and what is doubtful about them."""
    if kind.alone is RATE:
        return 1 << 20, (MEBIBYTES, _SIZES)
    if kind.alone is IOPS:
        return 1, (_SIZES,)
    if "microseconds" in above:
        return 1e3, (_SIZES,)
    return 1e6, (_SIZES,) if "milliseconds" in above else (_MILLISECONDS, _SIZES)


def _estimates(kind: _Kind, lines: list[str], where: str, scale: float, caveats: tuple[str, ...]) -> Iterator[Estimate]:
    smalls = [_count(cell, where) for cell in lines[0].split(",")]
    for line in lines[1 : 1 + _MOST_LOADS]:
        first, *cells = line.split(",")
        if not first.strip():
            continue
        large = _count(first, where)
        for small, cell in zip(smalls, cells, strict=False):
            if not cell.strip():
                continue
            value = _number(cell, where) * scale
            counted, other = (large, small) if kind.alone is RATE else (small, large)
            if other:
                yield Estimate(kind.beside.name, {"small": small, "large": large}, value, caveats=caveats)
            else:
                of = workload("random", LARGE_BYTES if kind.alone is RATE else SMALL_BYTES, 100)
                yield Estimate(kind.alone.name, load(of, counted), value, caveats=caveats)


def _count(cell: str, where: str) -> int:
    if re.fullmatch(r"\s*\d{1,9}\s*", cell) is None:
        raise MalformedError(f"{where}: expected a queue depth, found {one_line(cell, 40)!r}")
    return int(cell)


def _number(cell: str, where: str) -> float:
    if re.fullmatch(r"\s*\d{1,15}(\.\d{1,9})?\s*", cell) is None:
        raise MalformedError(f"{where}: expected a number, found {one_line(cell, 40)!r}")
    return float(cell)
