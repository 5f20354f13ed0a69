"""Lines of the Silly Little Benchmark: one for each process that ``memhammer`` was started with at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

from sizeup.errors import MalformedError
from sizeup.interop.imported import Imported, Measured
from sizeup.model.plan import Better, Series
from sizeup.model.sample import Estimate

MARK = "nsec/op"

_LINE = re.compile(
    r"Total ops\s+(\d{1,18})\s+Avg nsec/op\s+(\d{1,9}(?:\.\d+)?)\s+(?:gettimeofday )?usec\s+(\d{1,15})"
    r"\s+(?:TPUT )?ops/sec\s+(\d{1,15}(?:\.\d+)?)"
)
_PROCESSES = ("processes", "1", "Processes")
STORE = Series("random-store", "One store, per process", "ns", Better.LOWER, *_PROCESSES)
THROUGHPUT = Series("throughput", "Stores of all processes", "1/s", Better.HIGHER, *_PROCESSES)
SCALING = Series("scaling", "S(n): all over one", "ratio", Better.HIGHER, *_PROCESSES)
"""Named as the probe ``memory.hammer`` names them."""


def parse_slb(text: str, where: str) -> Imported:
    """Lines that follow each other without another between are the processes of one start."""
    starts: list[list[tuple[float, float]]] = [[]]
    for line in text.splitlines():
        match = _LINE.search(line)
        if match is not None:
            starts[-1].append((float(match[2]), float(match[4])))
        elif starts[-1]:
            starts.append([])
    starts = [start for start in starts if start]
    if not starts:
        raise MalformedError(
            f"{where}: expected lines of memhammer such as "
            "'Total ops 786432000  Avg nsec/op   131.3  gettimeofday usec 103240338 TPUT ops/sec 7617487.7', found none"
        )
    step = Measured(
        "memory.hammer", "memory.hammer", "Random stores, Silly Little Benchmark", (STORE, THROUGHPUT, SCALING),
        tuple(_estimates(starts)), {}, "scaling",
    )  # fmt: skip
    note = "Lines of memhammer that follow each other were taken as processes started together."
    return Imported("SLB memhammer", (step,), notes=(note,))


def _estimates(starts: list[list[tuple[float, float]]]) -> Iterator[Estimate]:
    by_count: dict[int, list[list[tuple[float, float]]]] = {}
    for start in starts:
        by_count.setdefault(len(start), []).append(start)
    totals = {count: median(sum(rate for _, rate in start) for start in repeats) for count, repeats in by_count.items()}
    for count, repeats in sorted(by_count.items()):
        at = {"processes": count}
        costs = median(median(cost for cost, _ in start) for start in repeats)
        yield Estimate("random-store", at, costs, replicates=len(repeats))
        yield Estimate("throughput", at, totals[count], replicates=len(repeats))
        if totals.get(1):
            yield Estimate("scaling", at, totals[count] / totals[1], replicates=len(repeats))
