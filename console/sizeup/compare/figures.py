"""One metric, or one point of it, on both sides: ratio, interval, p and verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from sizeup.compare.comparison import Conclusion, Figure
from sizeup.compare.curves import Runs, per_run, weights
from sizeup.compare.statistics import (
    false_discovery,
    median,
    rank_sum_p,
    ratio_interval,
    share_of_pairs,
    smallest_p,
)
from sizeup.model.plan import Better
from sizeup.model.sample import Coordinates
from sizeup.session.value import PointKey


def compared_figure(
    metric: str,
    key: PointKey | None,
    keys: Sequence[PointKey],
    ours: Runs,
    theirs: Runs,
    level: float,
    *,
    strict: int = 1,
) -> Figure:
    """Return the figure of these points together, without its verdict; ``key`` is the point where there is one.

    ``strict`` is how many questions share the level.
    """
    shares = weights(ours, theirs, keys)
    new, baseline = per_run(ours, keys, shares), per_run(theirs, keys, shares)
    any_value = next(iter(ours[keys[0]].values()))
    ratio, low, high = ratio_interval(new, baseline, level)
    _, least, most = ratio_interval(new, baseline, level / strict)
    p = rank_sum_p(new, baseline)
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
        invalid=_invalid(ours, theirs, keys),
        verdict=Conclusion.TOO_FEW,
        strict=None if least is None or most is None else (least, most),
    )


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
    figure: Figure, corrected: float, level: float, minimum_effect: float, *, confirmatory: bool
) -> Figure:
    """Return the figure with what can be said of it, by its corrected p."""
    if figure.invalid:
        verdict = Conclusion.NOT_VALID
    elif smallest_p(*figure.runs) > level:
        verdict = Conclusion.TOO_FEW
    elif corrected > level or abs(figure.ratio - 1) < minimum_effect:
        verdict = Conclusion.SAME
    else:
        verdict = _direction(figure)
    return replace(figure, corrected_p=corrected, verdict=verdict, confirmatory=confirmatory)


def _direction(figure: Figure) -> Conclusion:
    higher = figure.ratio > 1
    better = figure.series.better if figure.series is not None else Better.NEITHER
    if better is Better.NEITHER:
        return Conclusion.HIGHER if higher else Conclusion.LOWER
    return Conclusion.BETTER if higher == (better is Better.HIGHER) else Conclusion.WORSE


def _invalid(ours: Runs, theirs: Runs, keys: Iterable[PointKey]) -> str:
    """Which side has a figure that its own run calls invalid, and why."""
    for key in keys:
        for side, name in ((ours, "new side"), (theirs, "baseline")):
            why = next((value.invalid for value in side[key].values() if value.invalid), "")
            if why:
                return f"validity of the {name}: fail ({why})"
    return ""
