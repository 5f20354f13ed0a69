"""What becomes of each condition of an acceptance gate: met, not met or undecided, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sizeup.compare.comparison import ConditionResult, Figure
from sizeup.compare.conditions import Condition, Decision, Reading, read
from sizeup.compare.figures import Runs, compared_figure, shared_points, with_verdict
from sizeup.compare.statistics import holm
from sizeup.errors import UsageError
from sizeup.text import nearest, one_line

SAME_SESSION = "both sides hold the same session"


def _asked_about(
    question: Condition, new: Mapping[str, Runs], baseline: Mapping[str, Runs], verdicts: frozenset[str]
) -> tuple[Runs, Runs]:
    """Return the points that a question is about, on both sides; raises where no side knows them."""
    where = f"--fail-if {question.text!r}: "
    metrics = [*new, *(metric for metric in baseline if metric not in new)]
    if question.metric not in metrics:
        hint = nearest(question.metric, metrics)
        there = ", ".join(metrics) or "none"
        raise UsageError(f"{where}the sessions have no metric {question.metric}{hint}; they have: {there}")
    if question.metric in verdicts:
        raise UsageError(f"{where}{question.metric} is a verdict, which has no limit")
    ours, theirs = new.get(question.metric, {}), baseline.get(question.metric, {})
    if not question.at:
        return ours, theirs
    coordinates = {
        key: {
            name: value if isinstance(value, str) else f"{value:.15g}"
            for name, value in next(iter(runs.values())).at.items()
        }
        for key, runs in {**ours, **theirs}.items()
    }
    wanted = [key for key, at in coordinates.items() if at == dict(question.at)]
    if not wanted:
        there = "; ".join(",".join(f"{name}={value}" for name, value in at.items()) for at in coordinates.values())
        raise UsageError(f"{where}{question.metric} has no such point; it has: {one_line(there)}")
    return {key: ours[key] for key in wanted if key in ours}, {key: theirs[key] for key in wanted if key in theirs}


def condition_results(
    questions: Sequence[Condition],
    new: Mapping[str, Runs],
    baseline: Mapping[str, Runs],
    verdicts: frozenset[str],
    level: float,
    minimum_effect: float,
    *,
    same: bool,
    turns: bool,
) -> tuple[ConditionResult, ...]:
    """Decide fixed limits by the new side alone, changes by both, corrected for each other."""
    points = [_asked_about(question, new, baseline, verdicts) for question in questions]
    figures: dict[int, Figure] = {}
    changes = sum(question.change is not None for question in questions)
    for number, (question, (ours, theirs)) in enumerate(zip(questions, points, strict=True)):
        shared = shared_points(ours, theirs) if question.change is not None and ours and theirs else []
        if shared:
            at = shared[0] if question.at else None
            figures[number] = compared_figure(
                question.metric, at, shared, ours, theirs, level, strict=changes, turns=turns
            )
    corrected = dict(zip(figures, holm([figure.p for figure in figures.values()]), strict=True))
    answers = []
    for number, (question, (ours, theirs)) in enumerate(zip(questions, points, strict=True)):
        if question.change is None:
            answers.append(_by_bound(question, list(read(question, ours))))
        elif number not in figures:
            missing = "new side" if not ours else "baseline" if not theirs else ""
            why = f"not measured on the {missing}" if missing else "no point with an amount above 0 on both sides"
            answers.append(ConditionResult(question, Decision.UNDECIDED, why))
        else:
            figure = with_verdict(figures[number], corrected[number], level, minimum_effect, confirmatory=True)
            objection = SAME_SESSION if same else figure.invalid_text
            decision, why = _by_change(question, question.change, figure, objection, minimum_effect)
            answers.append(ConditionResult(question, decision, why, figure))
    return tuple(answers)


def _by_change(
    question: Condition, change: float, figure: Figure, objection: str, minimum_effect: float
) -> tuple[Decision, str]:
    """Met where the difference is established and beyond the bound; not met where its interval is not beyond.

    Nothing is decided where there is an ``objection`` to the figures.
    """
    if objection:
        return Decision.UNDECIDED, objection
    if figure.low is None or figure.high is None:
        new, baseline = figure.runs
        few = f"too few runs ({new} new, {baseline} baseline)"
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
            return Decision.UNDECIDED, "not established together with the other conditions; take more runs"
        case Decision.UNDECIDED:
            return Decision.UNDECIDED, "the interval contains the limit; take more runs"


def _by_bound(question: Condition, readings: Sequence[Reading]) -> ConditionResult:
    """Met where some point is beyond the bound, not met where none is; undecided points keep it open."""
    if not readings:
        return ConditionResult(question, Decision.UNDECIDED, "not measured on the new side")
    for decision in (Decision.MET, Decision.UNDECIDED, Decision.NOT_MET):
        found = [reading for reading in readings if reading.decision is decision]
        if found:
            break
    worst = (max if question.above else min)(found, key=lambda reading: reading.value)
    return ConditionResult(question, worst.decision, worst.why, reading=worst)
