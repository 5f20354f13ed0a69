"""Two sides of one or more sessions each: what differs, by how much, and whether that can be chance.

A figure counts as different when an exact rank test over runs says so at the level, after correction
for everything that was asked, and when the ratio moved by at least the minimum effect. A metric with
many points, such as a latency curve, is one figure per run (``sizeup.compare.curves``); the single points
are exploratory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from sizeup.compare.conditions import Condition, Decision, Reading, read
from sizeup.compare.curves import Runs, by_metric, per_run, shared_points, weights
from sizeup.compare.digest import Digest, RunValue
from sizeup.compare.machines import Difference, machine_differences
from sizeup.compare.statistics import (
    false_discovery,
    geometric_mean,
    holm,
    median,
    rank_sum_p,
    ratio_interval,
    share_of_pairs,
    smallest_p,
)
from sizeup.errors import UsageError
from sizeup.model.plan import Better, Series
from sizeup.model.sample import Coordinates
from sizeup.session.value import PointKey
from sizeup.text import nearest, one_line
from sizeup.units import format_verdict

LEVEL = 0.05
LEVEL_IN_BLOCKS = 0.02
"""The level where one side was measured after the other: runs that follow each other resemble each other,
and with the likeness seen on a shared machine (lag 0.2) a level of 0.05 alarms in 7.4 % of equal pairs."""
MINIMUM_EFFECT = 0.02


class Conclusion(Enum):
    """What can be said of one figure."""

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    """Different, where no direction is the better one."""
    LOWER = "lower"
    NOT_VALID = "not valid"
    """A side rests on figures that their own run calls invalid; nothing follows from them."""
    SAME = "none found"
    """The runs could have shown one; it may still be there and small."""
    TOO_FEW = "too few runs"
    """No outcome of so many runs could have decided."""


class Figure(Struct, frozen=True):
    """One metric, or one point of it, on both sides."""

    metric: str
    at: Coordinates | None
    """None for the metric as a whole."""
    points: int
    """How many points the figure stands for."""
    series: Series | None
    runs: tuple[int, int]
    """Runs of the new side and of the baseline."""
    medians: tuple[float, float]
    """Of the new side and of the baseline; for several points medians of geometric means."""
    ratio: float
    """New side over baseline."""
    low: float | None
    high: float | None
    p: float
    corrected_p: float
    share_of_pairs_lower: float
    """Share of all pairs of runs in which the new side's was the smaller."""
    verdict: Conclusion
    invalid: str = ""
    """Why a figure of either side does not count; empty where all do."""
    confirmatory: bool = False
    strict: tuple[float, float] | None = None
    """The interval where several questions are asked; None where the runs are too few for one."""

    @property
    def different(self) -> bool:
        """Whether a difference was found."""
        return self.verdict not in (Conclusion.NOT_VALID, Conclusion.SAME, Conclusion.TOO_FEW)


class ConditionResult(Struct, frozen=True):
    """What became of one question."""

    question: Condition
    decision: Decision
    why: str
    """Why it is undecided; empty where it is decided."""
    figure: Figure | None = None
    """Of a change; None where the sides have no figure in common."""
    reading: Reading | None = None
    """Of an absolute bound: the point that decided, or kept it from being decided."""


class Comparison(Struct, frozen=True):
    """Everything that was found, hardware first."""

    sides: tuple[tuple[Digest, ...], tuple[Digest, ...]]
    """The new side and the baseline, which is empty where only absolute bounds are asked about."""
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]
    metrics: tuple[Figure, ...]
    """One figure per metric that both sides have."""
    points: tuple[Figure, ...]
    """The single points of metrics with several; exploratory."""
    means: tuple[Mean, ...]
    only_new: tuple[str, ...]
    only_baseline: tuple[str, ...]
    conditions: tuple[ConditionResult, ...]
    level: float
    minimum_effect: float

    @property
    def condition_met(self) -> bool:
        """Whether a condition is met."""
        return any(answer.decision is Decision.MET for answer in self.conditions)

    @property
    def undecided(self) -> tuple[ConditionResult, ...]:
        """The conditions that could not be decided."""
        return tuple(answer for answer in self.conditions if answer.decision is Decision.UNDECIDED)


class Mean(Struct, frozen=True):
    """The geometric mean of the ratios of all metrics that share a direction."""

    better: Better
    ratio: float
    metrics: int


def compare(
    new: Sequence[Digest],
    baseline: Sequence[Digest],
    *,
    questions: Sequence[Condition] = (),
    level: float | None = None,
    minimum_effect: float = MINIMUM_EFFECT,
) -> Comparison:
    """Compare the new side with the baseline; the level, unless given, is that of the way they were measured.

    Without a baseline only questions with an absolute bound can be answered.
    """
    ours, judged = _parted(by_metric(new))
    theirs, judged_before = _parted(by_metric(baseline))
    turns = interleaved(new, baseline)
    level = level or (LEVEL if turns else LEVEL_IN_BLOCKS)
    common = [metric for metric in ours if metric in theirs]
    wholes: dict[str, Figure] = {}
    points: dict[tuple[str, PointKey], Figure] = {}
    for metric in common:
        shared = shared_points(ours[metric], theirs[metric])
        if not shared:
            continue
        wholes[metric] = _figure(metric, None, shared, ours[metric], theirs[metric], level)
        if len(shared) > 1:
            for key in shared:
                points[metric, key] = _figure(metric, key, [key], ours[metric], theirs[metric], level)
    known = _Known({**ours, **judged}, {**theirs, **judged_before}, frozenset((*judged, *judged_before)))
    same = bool({session.id for session in new} & {session.id for session in baseline})
    answers = _answer(questions, known, level, minimum_effect, same=same)
    asked = {(answer.figure.metric, _frozen(answer.figure.at)) for answer in answers if answer.figure is not None}
    metrics = _judge(list(wholes.values()), asked, level, minimum_effect)
    return Comparison(
        sides=(tuple(new), tuple(baseline)),
        differences=machine_differences([d.machine for d in new], [d.machine for d in baseline]),
        warnings=(
            *(_order_warnings(turns=turns) if baseline and not _published(new, baseline) else ()),
            *_warnings(new, baseline, ours, theirs, common),
            *_verdicts(judged, judged_before),
        ),
        metrics=metrics,
        points=_judge(list(points.values()), asked, level, minimum_effect),
        means=tuple(_means(metrics)),
        only_new=tuple(metric for metric in ours if metric not in wholes),
        only_baseline=tuple(metric for metric in theirs if metric not in wholes),
        conditions=answers,
        level=level,
        minimum_effect=minimum_effect,
    )


def _figure(
    metric: str,
    key: PointKey | None,
    keys: Sequence[PointKey],
    ours: Runs,
    theirs: Runs,
    level: float,
    *,
    strict: int = 1,
) -> Figure:
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


def _frozen(at: Coordinates | None) -> tuple[tuple[str, str | int | float], ...] | None:
    return None if at is None else tuple(sorted(at.items()))


def _judge(
    figures: Sequence[Figure],
    asked: set[tuple[str, tuple[tuple[str, str | int | float], ...] | None]],
    level: float,
    minimum_effect: float,
) -> tuple[Figure, ...]:
    """Verdicts of figures nobody asked about: corrected for their number, since many looks find something."""
    corrected = false_discovery([figure.p for figure in figures])
    return tuple(
        _with_verdict(figure, p, level, minimum_effect, confirmatory=(figure.metric, _frozen(figure.at)) in asked)
        for figure, p in zip(figures, corrected, strict=True)
    )


def _with_verdict(
    figure: Figure, corrected: float, level: float, minimum_effect: float, *, confirmatory: bool
) -> Figure:
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


class _Known(Struct, frozen=True):
    """The metrics of both sides."""

    ours: Mapping[str, Runs]
    theirs: Mapping[str, Runs]
    verdicts: frozenset[str]

    def sides_of(self, question: Condition) -> tuple[Runs, Runs]:
        """The points that a question is about, on both sides; raises where no side knows them."""
        metrics = [*self.ours, *(metric for metric in self.theirs if metric not in self.ours)]
        if question.metric not in metrics:
            hint = nearest(question.metric, metrics)
            there = ", ".join(metrics) or "none"
            raise UsageError(f"--fail-if {question.text!r}: no metric {question.metric}{hint}; there are: {there}")
        if question.metric in self.verdicts:
            raise UsageError(f"--fail-if {question.text!r}: {question.metric} is a verdict, which no bound applies to")
        ours, theirs = self.ours.get(question.metric, {}), self.theirs.get(question.metric, {})
        if not question.at:
            return ours, theirs
        places = {key: _written(runs) for side in (ours, theirs) for key, runs in side.items()}
        wanted = [key for key, place in places.items() if place == dict(question.at)]
        if not wanted:
            there = "; ".join(",".join(f"{name}={value}" for name, value in place.items()) for place in places.values())
            raise UsageError(f"--fail-if {question.text!r}: no such point; there are: {one_line(there)}")
        return {key: ours[key] for key in wanted if key in ours}, {key: theirs[key] for key in wanted if key in theirs}


def _written(runs: Mapping[str, RunValue]) -> dict[str, str]:
    """Where a point lies, as it is asked about."""
    return {name: _spelled(value) for name, value in next(iter(runs.values())).at.items()}


def _answer(
    questions: Sequence[Condition], known: _Known, level: float, minimum_effect: float, *, same: bool
) -> tuple[ConditionResult, ...]:
    """Absolute bounds by the new side alone, changes by both, corrected for each other."""
    changes = [question for question in questions if question.change is not None]
    figures: dict[int, Figure] = {}
    for question in changes:
        ours, theirs = known.sides_of(question)
        shared = shared_points(ours, theirs) if ours and theirs else []
        if shared:
            at = shared[0] if question.at else None
            figures[id(question)] = _figure(question.metric, at, shared, ours, theirs, level, strict=len(changes))
    corrected = dict(zip(figures, holm([figure.p for figure in figures.values()]), strict=True))
    answers = []
    for question in questions:
        name = id(question)
        if question.change is None:
            answers.append(_by_bound(question, known))
        elif name not in figures:
            answers.append(
                ConditionResult(question, Decision.UNDECIDED, _nothing_to_compare(*known.sides_of(question)))
            )
        else:
            figure = _with_verdict(figures[name], corrected[name], level, minimum_effect, confirmatory=True)
            against = _SAME_SESSION if same else figure.invalid
            decision, why = _by_change(question, question.change, figure, against, minimum_effect)
            answers.append(ConditionResult(question, decision, why, figure))
    return tuple(answers)


def _nothing_to_compare(ours: Runs, theirs: Runs) -> str:
    for side, name in ((ours, "new side"), (theirs, "baseline")):
        if not side:
            return f"not measured on the {name}"
    return "no point with an amount above 0 on both sides"


def _by_change(
    question: Condition, change: float, figure: Figure, against: str, minimum_effect: float
) -> tuple[Decision, str]:
    """Met where the difference is established and beyond the bound; not met where its interval is not beyond.

    Nothing is decided where something speaks ``against`` the figures.
    """
    if against:
        return Decision.UNDECIDED, against
    if figure.low is None or figure.high is None:
        new, baseline = figure.runs
        few = f"too few runs ({new} against {baseline})"
        return Decision.UNDECIDED, f"{few}; take at least five a side (sizeup --batch --repeat 5)"
    # A bound that asks for a change at all is never nearer than the change that counts as one.
    toward = change >= 0 if question.above else change <= 0
    least = max(abs(change), minimum_effect) if toward else abs(change)
    bound = 1 + math.copysign(least, change or (1 if question.above else -1))
    if toward:
        met = figure.different and question.beyond(figure.ratio, bound)
    else:
        met = figure.strict is not None and question.decide(*figure.strict, bound) is Decision.MET
    if met:
        return Decision.MET, ""
    match question.decide(figure.low, figure.high, bound):
        case Decision.NOT_MET:
            return Decision.NOT_MET, ""
        case Decision.MET:
            return Decision.UNDECIDED, "not established beside the other conditions; take more runs"
        case Decision.UNDECIDED:
            return Decision.UNDECIDED, "the interval holds the bound; take more runs"


def _invalid(ours: Runs, theirs: Runs, keys: Iterable[PointKey]) -> str:
    """Which side has a figure that its own run calls invalid, and why."""
    for key in keys:
        for side, name in ((ours, "new side"), (theirs, "baseline")):
            why = next((value.invalid for value in side[key].values() if value.invalid), "")
            if why:
                return f"validity on the {name}: fail ({why})"
    return ""


def _by_bound(question: Condition, known: _Known) -> ConditionResult:
    """Met where some point is beyond the bound, not met where none is; undecided points keep it open."""
    ours, _ = known.sides_of(question)
    if not ours:
        return ConditionResult(question, Decision.UNDECIDED, "not measured on the new side")
    readings = list(read(question, ours))
    for decision in (Decision.MET, Decision.UNDECIDED, Decision.NOT_MET):
        found = [reading for reading in readings if reading.decision is decision]
        if found:
            break
    worst = (max if question.above else min)(found, key=lambda reading: reading.value)
    return ConditionResult(question, worst.decision, worst.why, reading=worst)


def _spelled(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.15g}"


def _means(metrics: Iterable[Figure]) -> Iterable[Mean]:
    """Ratios of one direction only: a mean over latencies and rates together would mean nothing."""
    for better in (Better.LOWER, Better.HIGHER):
        ratios = [f.ratio for f in metrics if f.series is not None and f.series.better is better and not f.invalid]
        if len(ratios) > 1:
            yield Mean(better, geometric_mean(ratios), len(ratios))


def interleaved(new: Iterable[Digest], baseline: Iterable[Digest]) -> bool:
    """Whether the runs of both sides alternated in time on one host, so that its drift fell on both alike."""
    hosts = {session.host for session in (*new, *baseline)}
    order: dict[tuple[str, int], float] = {}
    for side, sessions in enumerate((new, baseline)):
        for session in sessions:
            for value in session.values:
                if value.when is None:
                    return False
                order[value.run, side] = min(value.when, order.get((value.run, side), value.when))
    sides = [side for (_, side), _ in sorted(order.items(), key=lambda entry: entry[1])]
    switches = sum(left != right for left, right in pairwise(sides))
    return len(hosts) == 1 and switches >= min(sides.count(0), sides.count(1)) > 1


def _published(*sides: Sequence[Digest]) -> bool:
    """Whether a side holds nothing but published cases."""
    return any(all(digest.source for digest in side) for side in sides)


def _order_warnings(*, turns: bool) -> Iterable[str]:
    if not turns:
        yield (
            "the sides were not measured in turns on one host: what drifted in between counts as a difference, "
            f"and the level is {LEVEL_IN_BLOCKS:g} instead of {LEVEL:g}"
        )


def _warnings(
    new: Sequence[Digest],
    baseline: Sequence[Digest],
    ours: Mapping[str, Runs],
    theirs: Mapping[str, Runs],
    common: Sequence[str],
) -> Iterable[str]:
    """Why the comparison as a whole may mislead."""
    if {d.id for d in new} & {d.id for d in baseline}:
        yield _SAME_SESSION
    for digests, name in ((new, "new side"), (baseline, "baseline")):
        if len({d.host for d in digests if not d.source}) > 1:
            yield f"the {name} mixes hosts: {', '.join(sorted({d.host for d in digests}))}"
        for session in digests:
            for sentence in (*session.damage, *session.invalid_results):
                yield f"{session.path}: {sentence}"
    for fact in ("kernel", "governor", "transparent_huge_pages", "clock_source"):
        seen = [
            sorted({str(d.facts.get(fact)) for d in side if d.facts.get(fact) is not None}) for side in (new, baseline)
        ]
        if seen[0] != seen[1] and all(seen):
            yield f"{fact.replace('_', ' ')} differs: {', '.join(seen[0])} against {', '.join(seen[1])}"
    for session in (*new, *baseline):
        busy = session.facts.get("others_busy_percent")
        if isinstance(busy, int | float) and busy >= _BUSY_PERCENT:
            yield f"{session.path}: others used {busy:.0f} % of a CPU at its end: {session.facts.get('others_busy')}"
    for metric in common if not _published(new, baseline) else ():
        for what, pick in (("parameters", _parameters), ("versions", _versions)):
            left, right = pick(ours[metric]), pick(theirs[metric])
            if left != right:
                yield f"{metric}: {what} differ: {_differing(left, right)}"


_SAME_SESSION = "the same session stands on both sides"
_BUSY_PERCENT = 20.0
_VERDICTS_NAMED = 3


def _parted(metrics: Mapping[str, Runs]) -> tuple[dict[str, Runs], dict[str, Runs]]:
    """Metrics that are amounts, and those that are verdicts: of words there is no mean and no ratio."""
    parts: tuple[dict[str, Runs], dict[str, Runs]] = ({}, {})
    for metric, runs in metrics.items():
        any_value = next(iter(next(iter(runs.values())).values()))
        parts[any_value.series is not None and any_value.series.unit == "verdict"][metric] = runs
    return parts


def _verdicts(ours: Mapping[str, Runs], theirs: Mapping[str, Runs]) -> Iterable[str]:
    """Which verdicts are others than they were in the baseline."""
    for metric in (metric for metric in ours if metric in theirs):
        shared = [key for key in ours[metric] if key in theirs[metric]]
        said = [
            f"{', '.join(f'{name} {value}' for name, value in key[1]) or 'in all'}: {left} against {right}"
            for key in shared
            if (left := _spoken(ours[metric][key])) != (right := _spoken(theirs[metric][key]))
        ]
        if said:
            more = "" if len(said) <= _VERDICTS_NAMED else f"; and {len(said) - _VERDICTS_NAMED} more"
            yield f"{metric}: {len(said)} of {len(shared)} verdicts differ: {'; '.join(said[:_VERDICTS_NAMED])}{more}"


def _spoken(runs: Mapping[str, RunValue]) -> str:
    return " and ".join(sorted({format_verdict(value.value) for value in runs.values()}))


def _parameters(runs: Runs) -> set[str]:
    return {
        f"{name}={value}" for values in runs.values() for run in values.values() for name, value in run.settings.items()
    }


def _versions(runs: Runs) -> set[str]:
    return {run.distribution for values in runs.values() for run in values.values()}


def _differing(left: set[str], right: set[str]) -> str:
    only_left, only_right = sorted(left - right)[:3], sorted(right - left)[:3]
    return f"{', '.join(only_left) or 'none'} against {', '.join(only_right) or 'none'}"
