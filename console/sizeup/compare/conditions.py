"""Conditions of an acceptance gate, ``--fail-if``: what they ask, and whether the runs decide them.

A condition is met, not met or undecided; it counts as not met only where the runs show it, never for want of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from msgspec import Struct

from sizeup.compare.digest import RunValue
from sizeup.compare.statistics import median, median_interval
from sizeup.errors import MalformedError, UsageError
from sizeup.model.plan import Series
from sizeup.model.sample import Coordinates
from sizeup.session.value import PointKey
from sizeup.text import one_line, plural
from sizeup.units import parse_amount


class Decision(Enum):
    """What became of a condition."""

    MET = "met"
    NOT_MET = "not met"
    UNDECIDED = "undecided"


class Condition(Struct, frozen=True):
    """A condition: ``memory.latency.dram-thp > +5%`` of change, or ``io.direct.iops < 100k`` of the new side."""

    text: str
    metric: str
    at: tuple[tuple[str, str], ...]
    """Coordinates of a single point, as they are written; empty for the metric as a whole."""
    above: bool
    """True for ``>`` and ``>=``: met where the figure is above the bound."""
    inclusive: bool
    """Whether the bound itself meets the condition."""
    change: float | None
    """The bound as a share of change: 0.05 for +5 %; None where it is absolute."""
    bound: str
    """The absolute bound as it is written, such as ``150ns``; empty where it is a change."""

    def beyond(self, value: float, bound: float) -> bool:
        """Whether a value meets the condition."""
        if self.inclusive and value == bound:
            return True
        return value > bound if self.above else value < bound

    def decide(self, low: float, high: float, bound: float) -> Decision:
        """What an interval says: met where all of it is beyond the bound, not met where none of it is."""
        least, most = (low, high) if self.above else (high, low)
        if self.beyond(least, bound):
            return Decision.MET
        return Decision.UNDECIDED if self.beyond(most, bound) else Decision.NOT_MET


class Reading(Struct, frozen=True):
    """One point of the new side and an absolute bound."""

    at: Coordinates
    series: Series | None
    value: float
    """The median over runs."""
    low: float | None
    high: float | None
    """None where the runs give no interval."""
    runs: int
    bound: float
    decision: Decision
    why: str
    """Why it is undecided; empty where it is decided."""

    @property
    def unit(self) -> str:
        """The baseline unit of the figures."""
        return unit_of(self.series)


def unit_of(series: Series | None) -> str:
    """The baseline unit of a series; figures of sessions that do not say what their series are have none."""
    return series.unit if series is not None else "1"


_QUESTION = re.compile(r"\s*([\w.-]+)\s*(?:\[([^\]]+)\])?\s*(>=|<=|>|<)\s*(.*?)\s*", re.ASCII)
_CHANGE = re.compile(r"([+-]?\d{1,9}(?:\.\d{1,9})?)\s*%", re.ASCII)
_ABSOLUTE = re.compile(r"[+-]?\.?\d.*", re.ASCII)
_EXAMPLES = "such as 'METRIC > +5%' or 'METRIC >= 50 ns'"


def parse_condition(text: str) -> Condition:
    """Read ``METRIC > +5%``, ``METRIC[working_set_bytes=16384] < -10%`` or ``METRIC >= 0.5 ms``."""
    match = _QUESTION.fullmatch(text)
    if match is None or not (_CHANGE.fullmatch(match[4]) or _ABSOLUTE.fullmatch(match[4])):
        raise UsageError(
            f"--fail-if {one_line(text, 80)!r}: expected METRIC, one of > >= < <=, and a change in % or a value with "
            f"its unit, {_EXAMPLES}"
        )
    at = []
    for part in match[2].split(",") if match[2] else []:
        name, equals, value = part.strip().partition("=")
        if not equals:
            raise UsageError(f"--fail-if {one_line(text, 80)!r}: expected [NAME=VALUE], found [{part.strip()}]")
        at.append((name, value))
    change = _CHANGE.fullmatch(match[4])
    return Condition(
        text=text.strip(),
        metric=match[1],
        at=tuple(at),
        above=match[3].startswith(">"),
        inclusive=match[3].endswith("="),
        change=None if change is None else float(change[1]) / 100,
        bound="" if change is not None else match[4],
    )


def read(question: Condition, points: Mapping[PointKey, Mapping[str, RunValue]]) -> Iterator[Reading]:
    """Compare each point with the absolute bound of a condition; raises where the bound is of another unit."""
    for runs in points.values():
        values = list(runs.values())
        try:
            bound = parse_amount(question.bound, unit_of(values[0].series))
        except MalformedError as error:
            raise UsageError(f"--fail-if {question.text!r}: {question.metric}: {error}") from error
        invalid = next((value.invalid for value in values if value.invalid), "")
        low, high = _interval(values)
        decision, why = Decision.UNDECIDED, ""
        if not all(math.isfinite(value.value) for value in values):
            why = "a run gave no number"
        elif invalid:
            why = f"validity: fail ({invalid})"
        elif low is None or high is None:
            why = f"{plural(len(values), 'run')} without an interval; take six (sizeup --batch --repeat 6)"
        else:
            decision = question.decide(low, high, bound)
            why = "the interval contains the limit" if decision is Decision.UNDECIDED else ""
        middle = median([value.value for value in values])
        yield Reading(values[0].at, values[0].series, middle, low, high, len(values), bound, decision, why)


def _interval(values: Sequence[RunValue]) -> tuple[float | None, float | None]:
    """Of six runs and more that of the median run; of fewer the widest that their own intervals span together."""
    of_runs = median_interval([value.value for value in values])
    if of_runs is not None:
        return of_runs
    lows = [value.low for value in values if value.low is not None and math.isfinite(value.low)]
    highs = [value.high for value in values if value.high is not None and math.isfinite(value.high)]
    if len(lows) < len(values) or len(highs) < len(values):
        return None, None
    figures = [value.value for value in values]
    return min(*lows, *figures), max(*highs, *figures)
