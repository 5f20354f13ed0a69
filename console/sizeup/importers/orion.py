"""Files of ORION 10 to 19: its summary or output, and its matrices, which have a figure for each mix of loads.

The summary, ``NAME_DATE_summary.txt``, and what ORION prints as it runs have the same lines of results. The summary
says what was tested; the output names it only where the command line was kept above it.

Columns of a matrix (``NAME_DATE_iops.csv``, ``_mbps.csv``, ``_lat.csv``) are small I/Os in flight, rows are large ones.
Which figure a file holds follows from the sentence above the matrix, and up to version 11.1, which writes none, by the
file's name alone.
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
    of_mix,
    workload,
)
from sizeup.model.plan import Series
from sizeup.model.sample import Estimate
from sizeup.text import one_line

MARKS = ("ORION VERSION", "ORacle IO Numbers -- Version")
"""How the summary and the output on the terminal name the tool."""
_VERSION = re.compile(r"(?:ORION VERSION|ORacle IO Numbers -- Version)\s+(?:RDBMS_)?(\d{1,3}(?:\.\d{1,3}){0,6})")

_BEST = re.compile(
    r"^(Maximum Large MBPS|Maximum Small IOPS|Minimum Small Latency)\s*=\s*(\d+(?:\.\d+)?)\s*(usecs|us|ms)?"
    r"\s*@\s*Small=(\d{1,9}) and Large=(\d{1,9})",
    re.MULTILINE,
)
_LATENCY = re.compile(
    r"^Small (Read|Write) Latency:\s*avg=(\d+(?:\.\d+)?) us.*?@\s*Small=(\d{1,9}) and Large=0\s*$", re.MULTILINE
)
MEBIBYTES = "ORION does not define its megabyte; 1,048,576 bytes are assumed (1,000,000 bytes would be 5 % less)"


def parse_orion(text: str, where: str) -> Imported:
    """The best figures of a summary; those of every load are in the CSV files beside it."""
    versions = _VERSION.findall(text)
    if not versions:
        raise MalformedError(
            f"{where}: expected ORION's summary or output, which names its version, found no such line"
        )
    if (runs := sum(map(text.count, MARKS))) > 1:
        raise MalformedError(f"{where}: expected the summary of one run of ORION, found {runs}: give each its own file")
    command = re.search(r"^(?:.*\borion(?:\.exe)?\s+)?(-run .*)$", text, re.MULTILINE)
    options = command[1] if command else ""
    estimates = tuple(_estimates(text, options))
    if not estimates:
        raise MalformedError(
            f"{where}: expected lines such as 'Maximum Small IOPS=… @ Small=… and Large=…', found none: "
            "the run was interrupted, or this is not the summary file"
        )
    settings = {"command": one_line(options, 200)} if options else {}
    if name := re.search(r"^Test: (\S+)", text, re.MULTILINE):
        settings["test_name"] = one_line(name[1], 80)
    tested = re.findall(r"^Name: (\S+)", text, re.MULTILINE)[:64]
    notes = tuple(f"ORION tested {one_line(target, 120)}." for target in tested)
    series, title = (IOPS, RATE, LATENCY_MEAN), "Direct I/O, ORION"
    step = ImportedStep(f"{STORAGE.name}.orion", STORAGE.name, title, series, estimates, settings)
    return Imported(f"ORION {versions[0]}", (step,), notes=notes)


_DEFAULTS = (
    "ORION's output does not say what was tested, and no command line stands above it; its defaults are assumed: "
    "random reads of 8 KiB and 1 MiB"
)


def _estimates(text: str, options: str) -> Iterator[Estimate]:
    writes = _found((r"^Write:\s*(\d{1,3})%", text), (r"-write (\d{1,3})\b", options), otherwise=0)
    small, large = (
        _found((rf"^{which} IO size:\s*(\d{{1,6}}) KB", text), (rf"-size_{which.lower()} (\d{{1,6}})\b", options),
               otherwise=size >> 10) << 10
        for which, size in (("Small", SMALL_BYTES), ("Large", LARGE_BYTES))
    )  # fmt: skip
    types = re.search(r"^I/?O Types?:.*", text, re.MULTILINE | re.IGNORECASE)
    sequential = "large sequential" in types[0].lower() if types else re.search(r"-type seq\b", options)
    assumed = () if options or re.search(r"^Write:", text, re.MULTILINE) else (_DEFAULTS,)
    small_mix = workload("random", small, 100 - writes)
    large_mix = workload("sequential" if sequential else "random", large, 100 - writes)
    for what, number, unit, small_out, large_out in _BEST.findall(text):
        value, beside = float(number), small_out if what == "Maximum Large MBPS" else large_out
        caveats = (*assumed, *((f"with {beside} I/Os of the other size in flight",) if int(beside) else ()))
        if what == "Maximum Large MBPS":
            at = load(large_mix, int(large_out))
            yield Estimate(RATE.name, at, value * (1 << 20), caveats=(*caveats, MEBIBYTES))
            continue
        at = load(small_mix, int(small_out))
        if what == "Maximum Small IOPS":
            yield Estimate(IOPS.name, at, value, caveats=caveats, extra=of_mix(small, 100 - writes))
        else:
            # Up to version 11.1 the unit is left out, and is milliseconds.
            yield Estimate(LATENCY_MEAN.name, at, value * (1e3 if unit in ("usecs", "us") else 1e6), caveats=caveats)
    known = {int(match[4]) for match in _BEST.finditer(text) if match[1] == "Minimum Small Latency"}
    mixed = 0 < writes < 100
    for kind, average, small_out in _LATENCY.findall(text):
        if mixed or int(small_out) not in known:
            at = load(f"{small_mix} {kind.lower()}s" if mixed else small_mix, int(small_out))
            yield Estimate(LATENCY_MEAN.name, at, float(average) * 1e3)


def _found(*patterns: tuple[str, str], otherwise: int) -> int:
    """The number that the first pattern finds in its text."""
    matches = (re.search(pattern, text, re.MULTILINE) for pattern, text in patterns)
    return next((int(match[1]) for match in matches if match is not None), otherwise)


MATRIX_MARK = "Large/Small,"
_MOST_LOADS = 4096
_SIZES = f"block sizes are not in ORION's matrix; its defaults are assumed: reads of {SMALL_BYTES >> 10} KiB and 1 MiB"
_MILLISECONDS = "the unit is not in ORION's matrix; milliseconds are assumed, as up to version 11.1"


class _Matrix(NamedTuple):
    ending: str
    sentence: str
    """What the line above the matrix holds."""
    alone: Series
    beside: Series
    """The same beside requests of the other size."""


_MATRICES = (
    _Matrix("_iops.csv", "in IOPS", IOPS, STORAGE.series_giving("storage.mixed_iops")),
    _Matrix("_mbps.csv", "in MBPS", RATE, STORAGE.series_giving("storage.mixed_bandwidth")),
    _Matrix("_lat.csv", "latency", LATENCY_MEAN, STORAGE.series_giving("storage.mixed_latency")),
)


def parse_orion_matrix(text: str, where: str) -> Imported:
    """Every figure of the matrix; empty cells were not tested."""
    above, mark, matrix = text.partition(MATRIX_MARK)
    kind = next((kind for kind in _MATRICES if kind.sentence in above), None)
    kind = kind or next((kind for kind in _MATRICES if where.endswith(kind.ending)), None)
    if not mark or kind is None:
        endings = ", ".join(f"*{kind.ending}" for kind in _MATRICES)
        raise MalformedError(f"{where}: expected a matrix of ORION, named as it names them: {endings}")
    scale, caveats = 1.0, [_SIZES]
    if kind.alone is RATE:
        scale, caveats = 1 << 20, [MEBIBYTES, _SIZES]
    elif kind.alone is LATENCY_MEAN:
        scale = 1e3 if "microseconds" in above else 1e6
        caveats = [_SIZES] if "microseconds" in above or "milliseconds" in above else [_MILLISECONDS, _SIZES]
    estimates = tuple(_cells(kind, matrix.splitlines(), where, scale, tuple(caveats)))
    if not estimates:
        raise MalformedError(f"{where}: expected figures below {MATRIX_MARK!r}, found none: the run was interrupted")
    used = {estimate.series for estimate in estimates}
    series = tuple(series for series in (kind.alone, kind.beside) if series.name in used)
    version = re.search(r"ORION VERSION ([\w.]{1,40})", above)
    id_ = f"{STORAGE.name}.orion-{kind.alone.name}"
    step = ImportedStep(id_, STORAGE.name, "Direct I/O, ORION's matrix", series, estimates, {})
    return Imported(f"ORION {version[1]}" if version else "ORION", (step,))


def _cells(kind: _Matrix, lines: list[str], where: str, scale: float, caveats: tuple[str, ...]) -> Iterator[Estimate]:
    smalls = [_count(cell, where) for cell in lines[0].split(",")]
    for line in lines[1 : 1 + _MOST_LOADS]:
        first, *cells = line.split(",")
        if not first.strip():
            continue
        large = _count(first, where)
        for small, cell in zip(smalls, cells, strict=False):
            if not cell.strip():
                continue
            if re.fullmatch(r"\s*\d{1,15}(\.\d{1,9})?\s*", cell) is None:
                raise MalformedError(f"{where}: expected a number, found {one_line(cell, 40)!r}")
            value = float(cell) * scale
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
