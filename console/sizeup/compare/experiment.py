"""What the runs of an experiment say: each headline figure under both settings, paired by round.

The two runs of a round follow each other, so that slow drift of the machine falls on both. The test is Student's t over
the logarithms of the rounds' ratios, corrected (Holm) for the number of figures. Rounds with a run that is missing or
not valid are left out of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import stdev

from msgspec import Struct
from msgspec.structs import replace

from sizeup.compare.comparison import LEVEL, MINIMUM_EFFECT, PLANNED_CHANGE, Conclusion, Figure
from sizeup.compare.digest import RunValue, digest
from sizeup.compare.figures import with_verdict
from sizeup.compare.statistics import MOST_RUNS, Shift, detectable_errors, geometric_mean, holm, median, share_of_pairs
from sizeup.errors import UsageError
from sizeup.session.records import CommandRecord, ExperimentRecord
from sizeup.session.value import PointKey, Session
from sizeup.text import nearest

LEAST_ROUNDS = 3
"""Two ratios tell too little about their deviation."""

Rounds = Mapping[PointKey, Mapping[tuple[str, int], RunValue]]
"""The values of one metric by point, and by setting and round."""
LeftOut = tuple[tuple[int, str], ...]
"""Rounds that do not count, each with the reason."""


class ExperimentResult(Struct, frozen=True):
    """An experiment with what follows from it."""

    experiment: ExperimentRecord
    figures: tuple[Figure, ...]
    """One for each headline figure: setting B is the new side, setting A the baseline; ``runs`` counts the rounds."""
    left_out: Mapping[str, LeftOut]
    """By metric: which rounds do not count, and why."""
    unmeasured: tuple[str, ...]
    """Metrics of which no run has a figure."""
    runs: tuple[int, int]
    """Runs under A and under B of which some step finished."""
    commands: tuple[CommandRecord, ...]
    level: float
    minimum_effect: float

    @property
    def restored(self) -> CommandRecord | None:
        """The command that ended the experiment; None where it was not executed."""
        return next((command for command in self.commands if command.setting == "restore"), None)


def experiment_result(
    session: Session,
    path: str,
    *,
    metrics: Sequence[str] = (),
    level: float = LEVEL,
    minimum_effect: float = MINIMUM_EFFECT,
) -> ExperimentResult:
    """Return what the last experiment of a session found; of ``metrics``, or else of the headline of each step."""
    if not session.experiments:
        raise UsageError(f"{path}: expected the session of an experiment, found none; see: sizeup experiment --help")
    experiment = session.experiments[-1]
    plans = [plan for plan in session.plans if (run := plan.experiment_run) and run.experiment == experiment.id]
    by_metric: dict[str, dict[PointKey, dict[tuple[str, int], RunValue]]] = {}
    measured: dict[str, set[int]] = {"a": set(), "b": set()}
    headlines: dict[str, None] = {}
    for plan in plans:
        run = plan.experiment_run
        assert run is not None
        steps = {step.id: session.steps[step.id] for step in plan.steps if step.id in session.steps}
        for step in steps.values():
            names = (f"{step.step.probe}.{name}" for name in step.series)
            points = {f"{step.step.probe}.{point.series}" for point in step.points.values()}
            headlines |= dict.fromkeys([name for name in names if name in points][:1] if step.finished else [])
        for value in digest(replace(session, steps=steps), path).values:
            if value.series is None or value.series.unit != "verdict":
                by_metric.setdefault(value.metric, {}).setdefault(value.key, {})[run.setting, run.round] = value
                measured.setdefault(run.setting, set()).add(run.round)
    for metric in metrics:
        if by_metric and metric not in by_metric:
            known = ", ".join(by_metric)
            raise UsageError(f"--metric: unknown metric {metric!r}{nearest(metric, by_metric)}; measured here: {known}")
    wanted = list(dict.fromkeys(metrics or headlines))
    figures: dict[str, Figure] = {}
    left_out: dict[str, LeftOut] = {}
    for metric in wanted:
        if metric in by_metric:
            figures[metric], left_out[metric] = _figure(
                metric, by_metric[metric], experiment.rounds, level, len(wanted)
            )
    corrected = holm([figure.p for figure in figures.values()])
    return ExperimentResult(
        experiment=experiment,
        figures=tuple(
            with_verdict(figure, p, level, minimum_effect, confirmatory=True, paired=True)
            for figure, p in zip(figures.values(), corrected, strict=True)
        ),
        left_out=left_out,
        unmeasured=tuple(metric for metric in wanted if metric not in by_metric),
        runs=(len(measured["a"]), len(measured["b"])),
        commands=tuple(command for command in session.commands if command.experiment == experiment.id),
        level=level,
        minimum_effect=minimum_effect,
    )


def _figure(metric: str, rounds: Rounds, planned: int, level: float, together: int) -> tuple[Figure, LeftOut]:
    """Return the figure without its verdict, and the rounds that do not count."""
    keys = _headline_keys(rounds, planned)
    missing = [(number, why) for number in range(1, planned + 1) if (why := _why_left_out(rounds, keys, number))]
    valid = [number for number in range(1, planned + 1) if number not in dict(missing)]
    baseline, new = (
        [geometric_mean([rounds[key][setting, number].value for key in keys]) for number in valid]
        for setting in ("a", "b")
    )
    ratios = [math.log(b / a) for a, b in zip(baseline, new, strict=True)]
    count, shift, (low, high) = len(ratios), None, (None, None)
    mean = math.fsum(ratios) / count if ratios else 0.0
    if count >= LEAST_ROUNDS:
        scatter = stdev(ratios)
        shift = Shift(mean, scatter / math.sqrt(count), count - 1, scatter, 1.0)
        low, high = shift.interval(level)
    p = 1.0 if shift is None else shift.p
    any_value = next(iter(rounds[keys[0]].values()))
    figure = Figure(
        metric=metric,
        at=any_value.at if len(keys) == 1 else None,
        points=len(keys),
        series=any_value.series,
        runs=(count, count),
        medians=(median(new), median(baseline)) if valid else (math.nan, math.nan),
        ratio=math.exp(mean),
        low=low,
        high=high,
        p=p,
        corrected_p=p,
        share_of_pairs_lower=share_of_pairs(new, baseline) if valid else math.nan,
        verdict=Conclusion.TOO_FEW,
        confirmatory=True,
        more_runs=LEAST_ROUNDS - count if shift is None else _more_rounds(shift, count, level / together),
    )
    return figure, tuple(missing)


def _headline_keys(rounds: Rounds, count: int) -> list[PointKey]:
    """Return the point that the series names or the one farthest along its axis; all points where they have no order.

    Only points that the largest number of rounds has on both sides.
    """
    complete = {key: sum(not _why_left_out(rounds, [key], number) for number in range(1, count + 1)) for key in rounds}
    most = max(complete.values())
    keys = [key for key in rounds if complete[key] == most]
    value = next(iter(rounds[keys[0]].values()))
    series = value.series
    if series is not None and series.headline:
        named = [key for key in rounds if next(iter(rounds[key].values())).at == series.headline]
        return named or keys
    axis = None if series is None else series.axis
    along = {key: at for key in keys if isinstance(at := dict(key[1]).get(axis or ""), int | float)}
    return [max(along, key=along.__getitem__)] if along else keys


def _why_left_out(rounds: Rounds, keys: Iterable[PointKey], number: int) -> str:
    for key in keys:
        for setting in ("a", "b"):
            value = rounds[key].get((setting, number))
            name = setting.upper()
            if value is None:
                return f"not measured under {name}"
            if value.invalid:
                return f"not valid under {name}, because {value.invalid}"
            if not 0 < value.value < math.inf:
                return f"{value.value:g} under {name}, which has no ratio"
    return ""


def _more_rounds(found: Shift, count: int, level: float) -> int | None:
    """Return how many more rounds would find a change of ``PLANNED_CHANGE`` in ``POWER`` of all experiments."""
    for more in range(LEAST_ROUNDS, MOST_RUNS + 1):
        reach = detectable_errors(level, more - 1) * found.scatter / math.sqrt(more)
        if reach <= math.log(1 + PLANNED_CHANGE):
            return max(1, more - count)
    return None


def run_order(rounds: int) -> Iterator[str]:
    """Yield the settings of all runs: A first in every other round, in an order (Thue and Morse) that drift evens out.

    Four rounds are ``AB BA BA AB``.
    """
    for number in range(rounds):
        yield from "ba" if number.bit_count() % 2 else "ab"
