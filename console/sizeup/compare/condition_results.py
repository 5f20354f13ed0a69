"""What becomes of each condition of an acceptance gate: met, not met or undecided, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from sizeup.compare.caveats import SAME_SESSION
from sizeup.compare.comparison import ConditionResult, Figure
from sizeup.compare.conditions import Condition, Decision, read
from sizeup.compare.curves import Runs, shared_points
from sizeup.compare.digest import RunValue
from sizeup.compare.figures import compared_figure, with_verdict
from sizeup.compare.statistics import holm
from sizeup.errors import UsageError
from sizeup.text import nearest, one_line


class BothSides(Struct, frozen=True):
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
            raise UsageError(
                f"--fail-if {question.text!r}: the sessions have no metric {question.metric}{hint}; they have: {there}"
            )
        if question.metric in self.verdicts:
            raise UsageError(f"--fail-if {question.text!r}: {question.metric} is a verdict, which has no limit")
        ours, theirs = self.ours.get(question.metric, {}), self.theirs.get(question.metric, {})
        if not question.at:
            return ours, theirs
        coordinates = {key: _written(runs) for side in (ours, theirs) for key, runs in side.items()}
        wanted = [key for key, at in coordinates.items() if at == dict(question.at)]
        if not wanted:
            there = "; ".join(",".join(f"{name}={value}" for name, value in at.items()) for at in coordinates.values())
            raise UsageError(
                f"--fail-if {question.text!r}: {question.metric} has no such point; it has: {one_line(there)}"
            )
        return {key: ours[key] for key in wanted if key in ours}, {key: theirs[key] for key in wanted if key in theirs}


def _written(runs: Mapping[str, RunValue]) -> dict[str, str]:
    """Where a point lies, as it is asked about."""
    at = next(iter(runs.values())).at
    return {name: value if isinstance(value, str) else f"{value:.15g}" for name, value in at.items()}


def condition_results(
    questions: Sequence[Condition], known: BothSides, level: float, minimum_effect: float, *, same: bool, turns: bool
) -> tuple[ConditionResult, ...]:
    """Decide fixed limits by the new side alone, changes by both, corrected for each other."""
    changes = [question for question in questions if question.change is not None]
    figures: dict[int, Figure] = {}
    for question in changes:
        ours, theirs = known.sides_of(question)
        shared = shared_points(ours, theirs) if ours and theirs else []
        if shared:
            at = shared[0] if question.at else None
            figures[id(question)] = compared_figure(
                question.metric, at, shared, ours, theirs, level, strict=len(changes), turns=turns
            )
    corrected = dict(zip(figures, holm([figure.p for figure in figures.values()]), strict=True))
    answers = []
    for question in questions:
        name = id(question)
        if question.change is None:
            answers.append(_by_bound(question, known))
        elif name not in figures:
            why = _nothing_to_compare(*known.sides_of(question))
            answers.append(ConditionResult(question, Decision.UNDECIDED, why))
        else:
            figure = with_verdict(figures[name], corrected[name], level, minimum_effect, confirmatory=True)
            objection = SAME_SESSION if same else figure.invalid_text
            decision, why = _by_change(question, question.change, figure, objection, minimum_effect)
            answers.append(ConditionResult(question, decision, why, figure))
    return tuple(answers)


def _nothing_to_compare(ours: Runs, theirs: Runs) -> str:
    for side, name in ((ours, "new side"), (theirs, "baseline")):
        if not side:
            return f"not measured on the {name}"
    return "no point with an amount above 0 on both sides"


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


def _by_bound(question: Condition, known: BothSides) -> ConditionResult:
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
