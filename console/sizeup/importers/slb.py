"""Lines of the Silly Little Benchmark, one for each process, and which of the processes were started together.

``memhammer`` prints a line when it ends and nothing about the others, so that the starts of a series, such as 1,
2 and 4 processes, are distinguished by the text that a script prints between them or by their elapsed times; where
neither decides, the user says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from statistics import median

from msgspec import Struct

from sizeup.errors import MalformedError, UsageError
from sizeup.importers.imported import Imported, ImportedStep, probe_giving
from sizeup.model.sample import Coordinates, Estimate
from sizeup.units import format_count, format_ns

MARK = "nsec/op"

_LINE = re.compile(
    r"Total ops\s+(\d{1,18})\s+Avg nsec/op\s+(\d{1,9}(?:\.\d{1,9})?)\s+(?:gettimeofday )?usec\s+(\d{1,15})"
    r"\s+(?:TPUT )?ops/sec\s+(\d{1,15}(?:\.\d{1,9})?)"
)
_EXAMPLE = "Total ops 786432000  Avg nsec/op   131.3  gettimeofday usec 103240338 TPUT ops/sec 7617487.7"
_JOB_CONTROL = re.compile(r"\s*\[\d+\]")
"""What an interactive shell says of its background jobs; it separates nothing."""

_ALIKE, _APART = 0.01, 0.03
"""Elapsed times within 1 % of the line before are of one start, 3 % away of another; between them nothing is decided.

Published processes of one start differ by 0.4 % at most, and of starts that follow each other by 4 % at least.
"""
_AGREEMENT = 0.02
"""How far the figures of one line may contradict each other: more is another unit, or another tool."""

PROBE = probe_giving("memory.random_stores")
STORE = PROBE.series_giving("memory.random_store_time")
THROUGHPUT = PROBE.series_giving("memory.random_stores")
SCALING = PROBE.series_giving("memory.random_store_scaling")
_PROCESSES = SCALING.axis or "processes"


class _Process(Struct, frozen=True):
    """One line."""

    stores: int
    nanoseconds: float
    """Of one store."""
    elapsed_us: int
    per_second: float


_Start = Sequence[_Process]
"""The processes that were started together."""


def parse_slb(text: str, where: str, groups: Sequence[int] = ()) -> Imported:
    """One step; ``groups`` are the numbers of processes of the starts, in the order of the file."""
    blocks = _blocks(text, where)
    if not groups:
        starts, how = _starts(blocks, where)
    else:
        lines, listed = [process for block in blocks for process in block], ",".join(map(str, groups))
        if sum(groups) != len(lines):
            raise UsageError(
                f"--groups {listed}: expected numbers of processes that add up to the {len(lines)} lines of memhammer "
                f"in {where}, found {sum(groups)}"
            )
        ends = [*accumulate(groups)]
        starts = [lines[end - count : end] for count, end in zip(groups, ends, strict=True)]
        how = "as --groups says"
    by_work: dict[tuple[int, ...], list[_Start]] = {}
    for start in starts:
        by_work.setdefault(tuple(sorted({process.stores for process in start})), []).append(start)
    estimates = tuple(
        estimate
        for work, same in by_work.items()
        for estimate in _estimates(same, " or ".join(map(str, work)), several=len(by_work) > 1)
    )
    series, title = (STORE, THROUGHPUT, SCALING), "Random stores, Silly Little Benchmark"
    step = ImportedStep(PROBE.name, PROBE.name, title, series, estimates, {}, "scaling")
    counts = ", ".join(str(len(start)) for start in starts)
    notes = [f"Processes started together: {counts}, {how}; use --groups to set it."]
    if not any(estimate.series == SCALING.name for estimate in estimates):
        notes.append("S(n) is unknown: it requires a run of one process with as many stores as each of several.")
    points: dict[tuple[int, str], dict[str, float]] = {}
    for estimate in estimates:
        group = int(estimate.at[_PROCESSES]), str(estimate.at.get("stores", ""))
        points.setdefault(group, {})[estimate.series] = estimate.value
    summary = []
    for (count, stores), values in points.items():
        which = f"{count} {'process' if count == 1 else 'processes'}{f' of {stores} stores' if stores else ''}"
        cost, total = format_ns(values[STORE.name]), format_count(values[THROUGHPUT.name])
        scaling = values.get(SCALING.name)
        scales = "" if scaling is None else f", S({count}) = {scaling:.3f}"
        summary.append(f"{which}: {cost} a store, {total} stores/s in all{scales}")
    return Imported("SLB memhammer", (step,), notes=tuple(notes), summary=tuple(summary))


def _blocks(text: str, where: str) -> list[_Start]:
    """Lines that only job control stands between; empty lines separate where that leaves lines together."""
    by_text: list[list[_Process]] = [[]]
    by_gap: list[list[_Process]] = [[]]
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.search(line)
        if match is not None:
            process = _process(match, f"{where}: line {number}")
            by_text[-1].append(process)
            by_gap[-1].append(process)
        elif not _JOB_CONTROL.match(line):
            by_gap.append([])
            if line.strip():
                by_text.append([])
    texts, gaps = ([block for block in blocks if block] for blocks in (by_text, by_gap))
    if not texts:
        raise MalformedError(f"{where}: expected lines of memhammer such as {_EXAMPLE!r}, found none")
    if len(texts) == 1 and max(map(len, gaps)) > 1:
        return list(gaps)
    return list(texts)


def _process(match: re.Match[str], where: str) -> _Process:
    process = _Process(int(match[1]), float(match[2]), int(match[3]), float(match[4]))
    seconds = process.elapsed_us / 1e6
    for name, printed, worked_out in (
        ("ops/sec", process.per_second, process.stores / seconds if seconds else 0.0),
        ("nsec/op", process.nanoseconds, seconds / process.stores * 1e9 if process.stores else 0.0),
    ):
        # One decimal is printed.
        if not worked_out or abs(printed - worked_out) > _AGREEMENT * worked_out + 0.1:
            raise MalformedError(
                f"{where}: expected {name} {worked_out:.1f}, which Total ops and usec amount to, found {printed:.1f}: "
                "the units of this file are unknown"
            )
    return process


def _starts(blocks: Sequence[_Start], where: str) -> tuple[Sequence[_Start], str]:
    """What text and elapsed times say; raises where they say nothing, or contradict each other."""
    if len(blocks) == len(blocks[0]) == 1:
        return blocks, "as there is one line"
    if len(blocks) > 1:
        within = next((block for block in blocks if _series(block)), None)
        if within is None:
            return blocks, "as the text between their lines separates them"
        why = f"no text separates {len(within)} of them whose elapsed times show several starts"
    elif series := _series(blocks[0]):
        return series, "as their elapsed times show"
    else:
        why = "no text separates them, and their elapsed times do not show a series of ever more processes"
    count = sum(map(len, blocks))
    raise MalformedError(
        f"{where}: which of its {count} memhammer lines were started together is unknown: {why}. Use "
        f"--groups {count} for one start, or --groups 1,2,4 for starts of 1, 2 and 4 processes"
    )


def _series(block: _Start) -> Sequence[_Start]:
    """The starts of a series with ever more processes, told apart by elapsed time; empty where none shows."""
    starts: list[list[_Process]] = [[block[0]]]
    for before, after in pairwise(block):
        change = abs(after.elapsed_us / before.elapsed_us - 1)
        if after.stores != before.stores or change >= _APART:
            starts.append([after])
        elif change <= _ALIKE:
            starts[-1].append(after)
        else:
            return ()
    growing = all(len(before) < len(after) for before, after in pairwise(starts))
    return starts if growing and len(starts) > 1 else ()


def _estimates(starts: Sequence[_Start], stores: str, *, several: bool) -> Iterator[Estimate]:
    """Of starts whose processes all did the same number of stores: only these say how throughput scales."""
    work: Coordinates = {"stores": stores} if several else {}
    by_count: dict[int, list[_Start]] = {}
    for start in starts:
        by_count.setdefault(len(start), []).append(start)
    totals = {
        count: median(sum(process.per_second for process in start) for start in repeats)
        for count, repeats in by_count.items()
    }
    for count, repeats in sorted(by_count.items()):
        at = {_PROCESSES: count, **work}
        cost = median(median(process.nanoseconds for process in start) for start in repeats)
        yield Estimate(STORE.name, at, cost, replicates=len(repeats), extra={"stores": stores})
        yield Estimate(THROUGHPUT.name, at, totals[count], replicates=len(repeats))
        if totals.get(1) and len(by_count) > 1:
            yield Estimate(SCALING.name, at, totals[count] / totals[1], replicates=len(repeats))
