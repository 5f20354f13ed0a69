"""Two sides of one or more sessions each: what differs, by how much, and whether that can be chance.

A figure counts as different when an exact rank test over runs says so at the level, after correction
for everything that was asked, and when the ratio moved by at least the minimum effect. Where one side was
measured after the other, it must also stand out from the trend over time. A metric with
many points, such as a latency curve, is one figure per run (``sizeup.compare.curves``); the single points
are exploratory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from sizeup.compare.caveats import comparison_caveats, only_published, order_caveats, settings_caveats, verdict_changes
from sizeup.compare.comparison import (
    LEVEL,
    LEVEL_WITHOUT_TIMES,
    MINIMUM_EFFECT,
    Comparison,
    Figure,
    Mean,
    OtherWorkloads,
)
from sizeup.compare.condition_results import BothSides, condition_results
from sizeup.compare.conditions import Condition
from sizeup.compare.curves import Runs, by_metric, shared_points
from sizeup.compare.digest import WORKLOAD, Digest
from sizeup.compare.figures import compared_figure, frozen, judged_figures
from sizeup.compare.headlines import CARDS
from sizeup.compare.machines import machine_differences
from sizeup.compare.statistics import geometric_mean
from sizeup.model.plan import Better
from sizeup.session.value import PointKey


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
    common = [metric for metric in ours if metric in theirs]
    wholes: dict[str, Figure] = {}
    points: dict[tuple[str, PointKey], Figure] = {}
    for metric in common:
        shared = shared_points(ours[metric], theirs[metric])
        if not shared:
            continue
        wholes[metric] = compared_figure(metric, None, shared, ours[metric], theirs[metric], level, turns=turns)
        if len(shared) > 1:
            for key in shared:
                points[metric, key] = compared_figure(
                    metric, key, [key], ours[metric], theirs[metric], level, turns=turns
                )
    known = BothSides({**ours, **judged}, {**theirs, **judged_before}, frozenset((*judged, *judged_before)))
    same = bool({session.id for session in new} & {session.id for session in baseline})
    answers = condition_results(questions, known, level, minimum_effect, same=same, turns=turns)
    asked = {(answer.figure.metric, frozen(answer.figure.at)) for answer in answers if answer.figure is not None}
    metrics = judged_figures(list(wholes.values()), asked, level, minimum_effect)
    settings = () if only_published(new, baseline) else tuple(settings_caveats(ours, theirs, common))
    return Comparison(
        sides=(tuple(new), tuple(baseline)),
        differences=machine_differences([d.machine for d in new], [d.machine for d in baseline]),
        warnings=(
            *(order_caveats(turns=turns, timed=timed) if baseline and not only_published(new, baseline) else ()),
            *comparison_caveats(new, baseline),
            *settings,
            *verdict_changes(judged, judged_before),
        ),
        metrics=metrics,
        points=judged_figures(list(points.values()), asked, level, minimum_effect),
        means=tuple(_means(metrics)),
        only_new=tuple(metric for metric in ours if metric not in wholes),
        only_baseline=tuple(metric for metric in theirs if metric not in wholes),
        conditions=answers,
        level=level,
        minimum_effect=minimum_effect,
        headlines=_headlines(new, baseline, level, minimum_effect, turns=turns),
        other_workloads=tuple(_other_workloads(new, baseline)),
        interleaved=turns,
        other_settings=bool(settings),
    )


def _other_workloads(new: Sequence[Digest], baseline: Sequence[Digest]) -> Iterable[OtherWorkloads]:
    ours, theirs = _workloads(new), _workloads(baseline)
    for probe in (probe for probe in ours if probe in theirs):
        if not set(ours[probe]) & set(theirs[probe]):
            yield OtherWorkloads(probe, tuple(ours[probe]), tuple(theirs[probe]))


def _workloads(side: Sequence[Digest]) -> dict[str, dict[str, None]]:
    """Return the workloads of each probe whose points name one."""
    found: dict[str, dict[str, None]] = {}
    for value in (value for digest in side for value in digest.values if WORKLOAD in value.at):
        found.setdefault(value.metric.rpartition(".")[0], {})[str(value.at[WORKLOAD])] = None
    return found


def _headlines(
    new: Sequence[Digest], baseline: Sequence[Digest], level: float, minimum_effect: float, *, turns: bool
) -> tuple[Figure, ...]:
    """Return the named figures of both sides, corrected for their number."""
    ours, theirs = _named(new), _named(baseline)
    cards = {one.metric: one.card for digest in new for one in digest.headlines}
    found = [
        compared_figure(name, None, shared, ours[name], theirs[name], level, turns=turns)
        for name in ours
        if name in theirs and (shared := shared_points(ours[name], theirs[name]))
    ]
    judged = judged_figures(found, set(), level, minimum_effect)
    order = list(dict.fromkeys((*CARDS, *cards.values())))
    named = (replace(figure, card=cards[figure.metric]) for figure in judged)
    return tuple(sorted(named, key=lambda one: order.index(one.card)))


def _named(side: Sequence[Digest]) -> Mapping[str, Runs]:
    return by_metric([replace(digest, values=digest.headlines) for digest in side])


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
