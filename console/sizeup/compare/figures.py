"""One metric, or one point of it, on both sides: ratio, interval, p and verdict.

Of a metric with many points, such as a latency curve, there is one figure per run: the weighted geometric mean over the
points that every run of both sides has. The weights come from all runs together and know nothing of sides, so that a
rank test over these figures stays exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from sizeup.compare.comparison import EXCLUDED_CHANGE, PLANNED_CHANGE, Conclusion, Figure
from sizeup.compare.digest import Digest, RunValue
from sizeup.compare.statistics import (
    Shift,
    false_discovery,
    geometric_mean,
    median,
    rank_sum_p,
    ratio_interval,
    runs_needed,
    scatter_of,
    share_of_pairs,
    shift_beside_trend,
    smallest_p,
    squares,
)
from sizeup.model.plan import Better
from sizeup.model.sample import Coordinates
from sizeup.session.value import PointKey

Runs = Mapping[PointKey, Mapping[str, RunValue]]
"""The values of one metric by point and run."""

_QUIETEST = 0.01
"""Scatter that every point is taken to have beside what it showed: half of the least that is called a change."""


def by_metric(side: Iterable[Digest]) -> dict[str, dict[PointKey, dict[str, RunValue]]]:
    """All values of one side."""
    metrics: dict[str, dict[PointKey, dict[str, RunValue]]] = {}
    for session in side:
        for value in session.values:
            metrics.setdefault(value.metric, {}).setdefault(value.key, {})[value.run] = value
    return metrics


def shared_points(ours: Runs, theirs: Runs) -> list[PointKey]:
    """The points that every run of both sides has, or where there is none, one that each side has in some run.

    Ratios have no meaning for zero and below, or for what is no number, which no probe should give.
    """
    both = [key for key in ours if key in theirs]
    new, baseline = (len({run for values in side.values() for run in values}) for side in (ours, theirs))
    everywhere = [key for key in both if len(ours[key]) == new and len(theirs[key]) == baseline]
    return [
        key for key in everywhere or both[:1] if all(0 < value.value < math.inf for value in _values(ours, theirs, key))
    ]


def _per_run(runs: Runs, keys: Sequence[PointKey], weights: Sequence[float]) -> list[float]:
    """One figure per run, each of which has all these points."""
    return [geometric_mean([runs[key][name].value for key in keys], weights) for name in runs[keys[0]]]


def _run_times(runs: Runs, keys: Sequence[PointKey]) -> list[float] | None:
    """When each of these runs began the metric; None where one does not say."""
    times = []
    for name in runs[keys[0]]:
        began = [runs[key][name].when for key in keys]
        known = [when for when in began if when is not None]
        if len(known) < len(began):
            return None
        times.append(min(known))
    return times


def _weights(ours: Runs, theirs: Runs, keys: Sequence[PointKey]) -> list[float]:
    """How much each point counts: by the inverse square of its scatter from run to run.

    Scatter is the variance within a lower and an upper part of the sides' sizes, whatever side a run is of. A change
    at this point alone parts the runs just so. Were it taken for scatter, the point would count the less the more it
    changed.
    """
    sizes = {len(ours[keys[0]]), len(theirs[keys[0]])}
    shares = []
    for key in keys:
        logs = sorted(math.log(value.value) for value in _values(ours, theirs, key))
        within = min(squares(logs[:size]) + squares(logs[size:]) for size in sizes) / len(logs)
        shares.append(1 / (_QUIETEST**2 + within))
    return shares


def _values(ours: Runs, theirs: Runs, key: PointKey) -> list[RunValue]:
    return [*ours[key].values(), *theirs[key].values()]


def compared_figure(
    metric: str,
    key: PointKey | None,
    keys: Sequence[PointKey],
    ours: Runs,
    theirs: Runs,
    level: float,
    *,
    strict: int = 1,
    turns: bool = True,
) -> Figure:
    """Return the figure of these points together, without its verdict; ``key`` is the point where there is one.

    ``strict`` is how many questions share the level. Without ``turns`` a difference must also stand out from the trend
    over time, where the runs say when they began.
    """
    shares = _weights(ours, theirs, keys)
    new, baseline = _per_run(ours, keys, shares), _per_run(theirs, keys, shares)
    any_value = next(iter(ours[keys[0]].values()))
    ratio, *ends = ratio_interval(new, baseline, level)
    times = (_run_times(ours, keys), _run_times(theirs, keys))
    shift = None
    if not turns and times[0] is not None and times[1] is not None:
        shift = shift_beside_trend(new, baseline, [*times[0], *times[1]])
    low, high = _hull(ends, shift, level)
    least, most = _hull(ratio_interval(new, baseline, level / strict)[1:], shift, level / strict)
    p = rank_sum_p(new, baseline)
    if shift is not None:
        opposed = (shift.log_ratio > 0) != (ratio > 1)
        p = 1.0 if opposed else max(p, shift.p)
    # More runs a side would find a change of the planned size, at the scatter of these.
    scatter = scatter_of(new, baseline) if shift is None else shift.scatter
    needed = runs_needed(scatter or 0.0, PLANNED_CHANGE, level, 1.0 if shift is None else shift.inflation)
    sides = (new, baseline)
    return Figure(
        metric=metric,
        at=None if key is None else any_value.at,
        points=len(keys),
        series=any_value.series,
        runs=(len(new), len(baseline)),
        medians=(median(new), median(baseline)),
        ratio=ratio,
        low=low,
        high=high,
        p=p,
        corrected_p=p,
        share_of_pairs_lower=share_of_pairs(new, baseline),
        invalid=(_invalid(ours, keys), _invalid(theirs, keys)),
        verdict=Conclusion.TOO_FEW,
        strict=None if least is None or most is None else (least, most),
        more_runs=None if needed is None else max(1, needed - min(len(new), len(baseline))),
        noise=max(abs(value / median(side) - 1) for side in sides for value in side)
        if min(map(len, sides)) > 1
        else None,
    )


def _hull(ends: Sequence[float | None], shift: Shift | None, level: float) -> tuple[float | None, float | None]:
    """Return the interval of the rank test, extended to that of the shift beside a trend."""
    low, high = ends
    if low is None or high is None or shift is None:
        return low, high
    least, most = shift.interval(level)
    return min(low, least), max(high, most)


def frozen(at: Coordinates | None) -> tuple[tuple[str, str | int | float], ...] | None:
    """Return coordinates as a key; None for a metric as a whole."""
    return None if at is None else tuple(sorted(at.items()))


def judged_figures(
    figures: Sequence[Figure],
    asked: set[tuple[str, tuple[tuple[str, str | int | float], ...] | None]],
    level: float,
    minimum_effect: float,
) -> tuple[Figure, ...]:
    """Verdicts of figures nobody asked about: corrected for their number, since many looks find something."""
    corrected = false_discovery([figure.p for figure in figures])
    return tuple(
        with_verdict(figure, p, level, minimum_effect, confirmatory=(figure.metric, frozen(figure.at)) in asked)
        for figure, p in zip(figures, corrected, strict=True)
    )


def with_verdict(
    figure: Figure, corrected: float, level: float, minimum_effect: float, *, confirmatory: bool, paired: bool = False
) -> Figure:
    """Return the figure with what can be said of it, by its corrected p.

    A change that an interval of ``paired`` runs shows is no absence of one, although it is not established together
    with the other figures.
    """
    small = abs(figure.ratio - 1) < minimum_effect
    shown = paired and not small and not (figure.low or 0) <= 1 <= (figure.high or math.inf)
    if any(figure.invalid):
        verdict = Conclusion.NOT_VALID
    elif figure.low is None if paired else smallest_p(*figure.runs) > level:
        verdict = Conclusion.TOO_FEW
    elif corrected > level or small:
        verdict = Conclusion.SAME if excluded_change(figure) < EXCLUDED_CHANGE and not shown else Conclusion.UNDECIDED
    else:
        verdict = direction(figure.ratio, None if figure.series is None else figure.series.better)
    left_open = verdict in (Conclusion.UNDECIDED, Conclusion.TOO_FEW)
    return replace(
        figure,
        corrected_p=corrected,
        verdict=verdict,
        confirmatory=confirmatory,
        more_runs=figure.more_runs if left_open else None,
    )


def excluded_change(figure: Figure) -> float:
    """Return the smallest change, up or down, that the interval excludes; infinite without an interval."""
    if figure.low is None or figure.high is None:
        return math.inf
    return math.exp(max(math.log(figure.high), -math.log(figure.low))) - 1


def direction(ratio: float, better: Better | None) -> Conclusion:
    """Return whether so many times as much is better or worse, or higher or lower where neither is better."""
    if better is None or better is Better.NEITHER:
        return Conclusion.HIGHER if ratio > 1 else Conclusion.LOWER
    return Conclusion.BETTER if (ratio > 1) == (better is Better.HIGHER) else Conclusion.WORSE


def _invalid(side: Runs, keys: Iterable[PointKey]) -> str:
    """Return why figures of a side are called invalid by their own runs; empty where none is."""
    return next((value.invalid for key in keys for value in side[key].values() if value.invalid), "")
