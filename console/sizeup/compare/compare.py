"""Two sides of one or more sessions each: what differs, by how much, and whether that can be chance.

A figure counts as different when an exact rank test over runs says so at the level, after correction
for everything that was asked, and when the ratio moved by at least the minimum effect. Where one side was
measured after the other, it must also stand out from the trend over time. A metric with
many points, such as a latency curve, is one figure per run (``sizeup.compare.figures``); the single points
are exploratory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from msgspec.structs import replace

from sizeup.compare.comparison import (
    LEVEL,
    LEVEL_WITHOUT_TIMES,
    MINIMUM_EFFECT,
    Comparison,
    Conclusion,
    Figure,
    Mean,
    OtherWorkloads,
)
from sizeup.compare.condition_results import SAME_SESSION, condition_results
from sizeup.compare.conditions import Condition
from sizeup.compare.digest import WORKLOAD, Digest, RunValue
from sizeup.compare.figures import Runs, by_metric, compared_figure, frozen, judged_figures, shared_points
from sizeup.compare.headlines import CARDS
from sizeup.compare.machines import machine_differences
from sizeup.compare.statistics import geometric_mean
from sizeup.model.plan import Better
from sizeup.session.value import PointKey
from sizeup.units import format_verdict

_BUSY_PERCENT = 20.0
_VERDICTS_NAMED = 3


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
    ours, judged = _amounts_and_verdicts(by_metric(new))
    theirs, judged_before = _amounts_and_verdicts(by_metric(baseline))
    turns = interleaved(new, baseline)
    timed = all(value.when is not None for session in (*new, *baseline) for value in session.values)
    level = level or (LEVEL if turns or timed else LEVEL_WITHOUT_TIMES)
    figure = partial(compared_figure, level=level, turns=turns)
    shared = {name: shared_points(ours[name], theirs[name]) for name in ours if name in theirs}
    wholes = [figure(name, None, keys, ours[name], theirs[name]) for name, keys in shared.items() if keys]
    points = [
        figure(name, key, [key], ours[name], theirs[name])
        for name, keys in shared.items()
        if len(keys) > 1
        for key in keys
    ]
    answers = condition_results(
        questions,
        {**ours, **judged},
        {**theirs, **judged_before},
        frozenset((*judged, *judged_before)),
        level,
        minimum_effect,
        same=bool({session.id for session in new} & {session.id for session in baseline}),
        turns=turns,
    )
    asked = {(answer.figure.metric, frozen(answer.figure.at)) for answer in answers if answer.figure is not None}
    metrics = judged_figures(wholes, asked, level, minimum_effect)
    only_published = any(all(digest.source for digest in side) for side in (new, baseline))
    settings = () if only_published else tuple(_settings_caveats(ours, theirs, shared))
    none_valid = tuple(one for one in metrics if one.verdict is Conclusion.NOT_VALID)
    order = []
    if baseline and not only_published and not turns:
        remedy = (
            "a difference must stand out from the trend over the runs, which takes more of them"
            if timed
            else f"significance level lowered from {LEVEL:g} to {LEVEL_WITHOUT_TIMES:g}"
        )
        order = [f"runs were not interleaved on one host, so drift can look like a difference ({remedy})"]
    workloads, others = _workloads(new), _workloads(baseline)
    return Comparison(
        sides=(tuple(new), tuple(baseline)),
        differences=machine_differences([d.machine for d in new], [d.machine for d in baseline]),
        warnings=(*order, *_caveats(new, baseline), *settings, *_verdict_changes(judged, judged_before)),
        metrics=metrics,
        points=judged_figures(points, asked, level, minimum_effect),
        means=tuple(_means(metrics)),
        only_new=tuple(metric for metric in ours if not shared.get(metric)),
        only_baseline=tuple(metric for metric in theirs if not shared.get(metric)),
        conditions=answers,
        level=level,
        minimum_effect=minimum_effect,
        headlines=_headlines(new, baseline, figure, level, minimum_effect) or none_valid,
        other_workloads=tuple(
            OtherWorkloads(probe, tuple(measured), tuple(others[probe]))
            for probe, measured in workloads.items()
            if probe in others and not measured.keys() & others[probe].keys()
        ),
        interleaved=turns,
        other_settings=bool(settings),
    )


def _workloads(side: Sequence[Digest]) -> dict[str, dict[str, None]]:
    """Return the workloads of each probe whose points name one."""
    found: dict[str, dict[str, None]] = {}
    for value in (value for digest in side for value in digest.values if WORKLOAD in value.at):
        found.setdefault(value.metric.rpartition(".")[0], {})[str(value.at[WORKLOAD])] = None
    return found


def _headlines(
    new: Sequence[Digest],
    baseline: Sequence[Digest],
    compared: Callable[..., Figure],
    level: float,
    minimum_effect: float,
) -> tuple[Figure, ...]:
    """Return the named figures of both sides, corrected for their number."""
    ours, theirs = (by_metric([replace(one, values=one.headlines) for one in side]) for side in (new, baseline))
    cards = {one.metric: one.card for digest in new for one in digest.headlines}
    found = [
        compared(name, None, shared, ours[name], theirs[name])
        for name in ours
        if name in theirs and (shared := shared_points(ours[name], theirs[name]))
    ]
    judged = judged_figures(found, set(), level, minimum_effect)
    order = list(dict.fromkeys((*CARDS, *cards.values())))
    named = (replace(figure, card=cards[figure.metric]) for figure in judged)
    return tuple(sorted(named, key=lambda one: order.index(one.card)))


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


def _amounts_and_verdicts(metrics: Mapping[str, Runs]) -> tuple[dict[str, Runs], dict[str, Runs]]:
    """Metrics that are amounts, and those that are verdicts: of words there is no mean and no ratio."""
    parts: tuple[dict[str, Runs], dict[str, Runs]] = ({}, {})
    for metric, runs in metrics.items():
        any_value = next(iter(next(iter(runs.values())).values()))
        parts[any_value.series is not None and any_value.series.unit == "verdict"][metric] = runs
    return parts


def _means(metrics: Iterable[Figure]) -> Iterable[Mean]:
    """Ratios of one direction only: a mean over latencies and rates together would mean nothing."""
    for better in (Better.LOWER, Better.HIGHER):
        ratios = [f.ratio for f in metrics if f.series is not None and f.series.better is better and not any(f.invalid)]
        if len(ratios) > 1:
            yield Mean(better, geometric_mean(ratios), len(ratios))


def _caveats(new: Sequence[Digest], baseline: Sequence[Digest]) -> Iterable[str]:
    """Why the comparison as a whole may mislead."""
    if {d.id for d in new} & {d.id for d in baseline}:
        yield SAME_SESSION
    for digests, name in ((new, "new side"), (baseline, "baseline")):
        if len({d.host for d in digests if not d.source}) > 1:
            yield f"the {name} mixes hosts: {', '.join(sorted({d.host for d in digests}))}"
        for session in digests:
            for sentence in (*session.damage, *session.invalid_results):
                yield f"{session.path}: {sentence}"
    for fact in ("kernel", "governor", "transparent_huge_pages", "clock_source", "load"):
        seen = [
            sorted({str(d.facts.get(fact)) for d in side if d.facts.get(fact) is not None}) for side in (new, baseline)
        ]
        if seen[0] != seen[1] and all(seen):
            yield f"{fact.replace('_', ' ')} differs: {', '.join(seen[0])} (baseline: {', '.join(seen[1])})"
    for session in (*new, *baseline):
        busy = session.facts.get("others_busy_percent")
        if isinstance(busy, int | float) and busy >= _BUSY_PERCENT:
            names = session.facts.get("others_busy")
            yield f"{session.path}: other processes used {busy:.0f} % of a CPU at its end: {names}"


def _settings_caveats(
    ours: Mapping[str, Runs], theirs: Mapping[str, Runs], shared: Mapping[str, Sequence[PointKey]]
) -> Iterable[str]:
    """Return which parameters and versions of what is compared differ, once for the metrics of a probe."""
    picks: dict[str, Callable[[RunValue], set[str]]] = {
        "parameters": lambda run: {f"{name}={value}" for name, value in run.settings.items()},
        "versions": lambda run: {run.distribution},
    }
    found: dict[tuple[str, str], list[str]] = {}
    for metric, keys in shared.items():
        sides = [
            [run for key in (keys if any(shared.values()) else side[metric]) for run in side[metric][key].values()]
            for side in (ours, theirs)
        ]
        for what, pick in picks.items():
            left, right = (set[str]().union(*map(pick, side)) for side in sides)
            if left != right:
                lists = (", ".join(sorted(only)[:3]) or "none" for only in (left - right, right - left))
                words = "{} differ: {} (baseline: {})".format(what, *lists)
                found.setdefault((metric.rpartition(".")[0], words), []).append(metric)
    for (probe, words), metrics in found.items():
        yield f"{metrics[0] if len(metrics) == 1 else probe}: {words}"


def _verdict_changes(ours: Mapping[str, Runs], theirs: Mapping[str, Runs]) -> Iterable[str]:
    """Return which verdicts differ from those of the baseline."""
    for metric in (metric for metric in ours if metric in theirs):
        shared = [key for key in ours[metric] if key in theirs[metric]]
        texts = [
            f"{', '.join(f'{name} {value}' for name, value in key[1]) or 'in all'}: {left} (baseline: {right})"
            for key in shared
            if (left := _verdicts_text(ours[metric][key])) != (right := _verdicts_text(theirs[metric][key]))
        ]
        if texts:
            more = "" if len(texts) <= _VERDICTS_NAMED else f"; and {len(texts) - _VERDICTS_NAMED} more"
            yield f"{metric}: {len(texts)} of {len(shared)} verdicts differ: {'; '.join(texts[:_VERDICTS_NAMED])}{more}"


def _verdicts_text(runs: Mapping[str, RunValue]) -> str:
    return " and ".join(sorted({format_verdict(value.value) for value in runs.values()}))
