"""ORION's summary file, ``NAME_DATE_summary.txt``, of versions 10 to 19, or what it prints as it runs.

Both have the same lines of results. The summary says what was tested; the output names it only where the command line
was kept above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
from sizeup.model.sample import Estimate
from sizeup.text import one_line

MARKS = ("ORION VERSION", "ORacle IO Numbers -- Version")
"""How the summary and the output on the terminal name the tool."""
_VERSION = re.compile(r"(?:ORION VERSION|ORacle IO Numbers -- Version)\s+(?:RDBMS_)?(\d{1,3}(?:\.\d{1,3}){1,6})")

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
    estimates = tuple(_estimates(text))
    if not estimates:
        raise MalformedError(
            f"{where}: expected lines such as 'Maximum Small IOPS=… @ Small=… and Large=…', found none: "
            "the run was interrupted, or this is not the summary file"
        )
    command = re.search(r"^(?:.*\borion(?:\.exe)?\s+)?(-run .*)$", text, re.MULTILINE)
    settings = {"command": one_line(command[1], 200)} if command else {}
    name = re.search(r"^Test: (\S+)", text, re.MULTILINE)
    if name is not None:
        settings["test_name"] = one_line(name[1], 80)
    notes = tuple(
        f"ORION tested {one_line(match[1], 120)}."
        for match in list(re.finditer(r"^Name: (\S+)", text, re.MULTILINE))[:64]
    )
    step = ImportedStep(
        f"{STORAGE.name}.orion", STORAGE.name, "Direct I/O, ORION", (IOPS, RATE, LATENCY_MEAN), estimates, settings,
        declaration=STORAGE.manifest.declaration(),
    )  # fmt: skip
    return Imported(f"ORION {versions[0]}", (step,), notes=notes)


def _estimates(text: str) -> Iterator[Estimate]:
    writes = _found(r"^Write:\s*(\d{1,3})%", text, 0)
    small = _found(r"^Small IO size:\s*(\d{1,6}) KB", text, SMALL_BYTES >> 10) << 10
    large = _found(r"^Large IO size:\s*(\d{1,6}) KB", text, LARGE_BYTES >> 10) << 10
    sequential = re.search(r"^I/?O Types?:.*Large Sequential", text, re.MULTILINE | re.IGNORECASE)
    small_mix = workload("random", small, 100 - writes)
    large_mix = workload("sequential" if sequential else "random", large, 100 - writes)
    for what, number, unit, small_out, large_out in _BEST.findall(text):
        value, beside = float(number), small_out if what == "Maximum Large MBPS" else large_out
        caveats = (f"with {beside} I/Os of the other size in flight",) if int(beside) else ()
        if what == "Maximum Large MBPS":
            at = load(large_mix, int(large_out))
            yield Estimate(RATE.name, at, value * (1 << 20), caveats=(*caveats, MEBIBYTES))
            continue
        at = load(small_mix, int(small_out))
        if what == "Maximum Small IOPS":
            yield Estimate(IOPS.name, at, value, caveats=caveats)
        else:
            # Up to version 11.1 the unit is left out, and is milliseconds.
            yield Estimate(LATENCY_MEAN.name, at, value * (1e3 if unit in ("usecs", "us") else 1e6), caveats=caveats)
    known = {int(match[4]) for match in _BEST.finditer(text) if match[1] == "Minimum Small Latency"}
    for kind, average, small_out in _LATENCY.findall(text):
        if 0 < writes < 100:
            at = load(f"{small_mix} {kind.lower()}s", int(small_out))
        elif int(small_out) in known:
            continue
        else:
            at = load(small_mix, int(small_out))
        yield Estimate(LATENCY_MEAN.name, at, float(average) * 1e3)


def _found(pattern: str, text: str, otherwise: int) -> int:
    match = re.search(pattern, text, re.MULTILINE)
    return int(match[1]) if match is not None else otherwise
