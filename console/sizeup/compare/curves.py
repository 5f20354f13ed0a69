"""One figure per run of a metric with many points, such as a latency curve.

It is the weighted geometric mean over the points that every run of both sides has. The weights come from
all runs together and know nothing of sides, so that a rank test over these figures stays exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from sizeup.compare.digest import Digest, RunValue
from sizeup.compare.statistics import geometric_mean, squares
from sizeup.session.value import PointKey

Runs = Mapping[PointKey, Mapping[str, RunValue]]
"""The values of one metric by point and run."""

QUIETEST = 0.01
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


def per_run(runs: Runs, keys: Sequence[PointKey], weights: Sequence[float]) -> list[float]:
    """One figure per run that has all these points."""
    return [geometric_mean([runs[key][name].value for key in keys], weights) for name in _whole_runs(runs, keys)]


def run_times(runs: Runs, keys: Sequence[PointKey]) -> list[float] | None:
    """When each of these runs began the metric; None where one does not say."""
    times = []
    for name in _whole_runs(runs, keys):
        began = [runs[key][name].when for key in keys]
        known = [when for when in began if when is not None]
        if len(known) < len(began):
            return None
        times.append(min(known))
    return times


def _whole_runs(runs: Runs, keys: Sequence[PointKey]) -> list[str]:
    return [name for name in runs[keys[0]] if all(name in runs[key] for key in keys)]


def weights(ours: Runs, theirs: Runs, keys: Sequence[PointKey]) -> list[float]:
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
        shares.append(1 / (QUIETEST**2 + within))
    return shares


def _values(ours: Runs, theirs: Runs, key: PointKey) -> list[RunValue]:
    return [*ours[key].values(), *theirs[key].values()]
