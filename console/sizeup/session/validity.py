"""Whether a measured figure is valid, decided once for sizing, reports and comparisons.

A figure counts only where its step finished, its own interval met the target that was set, no verdict on it failed
or suspects a cache, and the verdict on the run as a whole did not fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from sizeup.model.checks import FAILED_CHECKS
from sizeup.model.sample import Estimate, Status
from sizeup.session.value import Point, StepRun
from sizeup.units import as_percent

_PASS_ABOVE = 0.0
"""In the unit ``verdict``: 0 is *fail*."""
_LEAST_PLACED_SHARE = 0.99
"""Of the pages of a working set: with fewer where they were asked for, the figure is of a mix of nodes."""
_LEAST_RAMPS = 3
_PART_COORDINATES = frozenset({"part", "direction", "stream"})
"""Coordinates of the parts of one measurement: a verdict on it applies to all of them."""
_ENDS = {
    Status.REFUSED: "its step was refused",
    Status.CANCELED: "its step was canceled",
    Status.FAILED: "its step failed",
    Status.CRASHED: "its step crashed",
    Status.TIMED_OUT: "its step ran into its time limit",
}
_STILL_BOUNDING = frozenset({"cache", "concurrent", "extending", "physical", "steady", "submitters"})
"""Checks whose failure moves an end of a figure, and does not make it one of something else."""
_CACHE = "cache"
"""Among the remedies of a verdict: what to do for figures that may come from a cache."""

MeasurementKey = frozenset[tuple[str, str | int | float]]
"""Coordinates that all parts of one measurement share."""


class Invalid(Struct, frozen=True):
    """Why a measured figure does not count."""

    cause: str
    """A clause without figures: ``throughput was not steady``."""
    reasons: tuple[str, ...]
    """The underlying figures, or the probe's own texts; empty where there are none."""
    remedy: str
    """What to do for a figure that counts."""
    scatter: bool = False
    """It may be off, but to no side: several runs show by how much, and a test over them takes it into account."""
    parts: tuple[str, ...] = ()
    """The names of the checks that failed; ``cache`` where a cache is suspected."""

    @property
    def still_bounds(self) -> bool:
        """Whether the figure still bounds what it is of; one of a wrong target or of the page cache does not."""
        return self.scatter or (bool(self.parts) and _STILL_BOUNDING.issuperset(self.parts))

    @property
    def detail(self) -> str:
        """The reasons in one text."""
        return "; ".join(self.reasons)

    @property
    def clause(self) -> str:
        """The cause with its reasons in brackets."""
        return f"{self.cause}{f' ({self.detail})' if self.reasons else ''}"

    def sentence(self, *, measured: bool = True) -> str:
        """Return the text that a report adds to the figure, or to a step without any (``measured`` is False)."""
        if self.scatter:
            return f"measured, but did not converge{f' ({self.detail})' if self.reasons else ''}"
        state = "measured, but not valid because" if measured else "not measured:"
        return f"{state} {self.clause}"


class StepValidity:
    """Which figures of one step are valid."""

    def __init__(self, run: StepRun) -> None:
        self._run = run
        self._name = run.declaration.title or run.step.probe
        self._again = f"run {self._name} again"
        self._verdicts: dict[MeasurementKey, list[Point]] = {}
        for point in run.points.values():
            if self.is_verdict(point) and (_failed(point) or _may_be_a_cache(point)):
                self._verdicts.setdefault(measurement_key(point), []).append(point)
        self.whole = self._unfinished() or self._run_failed()
        """Why none of the step's figures is valid; None where each has to be looked at."""

    @property
    def ended(self) -> bool:
        """Whether the step is over: before that no figure is valid, and none needs to be marked."""
        return self._run.outcome is not None

    def is_verdict(self, point: Point) -> bool:
        """Whether a point is itself a verdict on others, and no figure."""
        series = self._run.series.get(point.series)
        return series is not None and series.unit == "verdict"

    def of(self, point: Point) -> Invalid | None:
        """Why a figure is not valid; None where it is, and for a verdict, which judges and is not judged."""
        if self.is_verdict(point):
            return None
        return (
            self.whole
            or self._failed_verdict(point)
            or self._disturbed(point)
            or self._on_other_nodes(point.estimate)
            or self._not_converged(point.estimate)
        )

    def seen(self, point: Point) -> tuple[float, float] | None:
        """Return the worst and the best second of a rate whose interval says less; None where that counts."""
        series = self._run.series.get(point.series)
        if not self.ended or series is None or series.unit not in ("1/s", "bytes/s") or not point.values:
            return None
        return seconds_seen(point, self.of(point))

    def summary(self) -> str:
        """One clause for the step: why none of its figures is valid, or how many are not; empty where all are."""
        figures = [point for point in self._run.points.values() if not self.is_verdict(point)]
        if self.whole is not None:
            return self.whole.sentence(measured=bool(figures))
        found = [invalid for point in figures if (invalid := self.of(point)) is not None]
        causes = Counter("not converged" if invalid.scatter else invalid.cause for invalid in found)
        if not causes:
            return ""
        some = f"{len(found)} of {len(figures)} figures"
        if all(invalid.scatter for invalid in found):
            return f"{some} did not converge"
        counted = (f"{cause} ({number})" if len(causes) > 1 else cause for cause, number in causes.most_common())
        return f"{some} {'is' if len(found) == 1 else 'are'} not valid: {'; '.join(counted)}"

    def _unfinished(self) -> Invalid | None:
        outcome = self._run.outcome
        if outcome is None:
            remedy = "wait for its end, or run it again where it was interrupted"
            return Invalid("its step has not finished", (), remedy)
        if self._run.finished:
            return None
        reasons = (outcome.reason,) if outcome.reason else ()
        return Invalid(_ENDS[outcome.status], reasons, self._again)

    def _run_failed(self) -> Invalid | None:
        """The verdict on the run as a whole, which stands for all that was worked out from its points."""
        whole = self._verdicts.get(frozenset(), [])
        for verdict in whole:
            if verdict.at.get("part") == "all" and _failed(verdict):
                recorded = "" if verdict.estimate is None else str(verdict.estimate.extra.get("reasons", ""))
                reasons = recorded.split("; ") if recorded else []
                named = {check for check, _ in check_reasons(reasons)}
                parts = [_part(one) for one in whole if _failed(one) and _part(one) in named]
                return self._failure(verdict, parts, reasons)
        return None

    def _failed_verdict(self, point: Point) -> Invalid | None:
        key = measurement_key(point)
        verdicts = self._verdicts.get(key) if key else None
        if not verdicts:
            return None
        suspecting = [one for one in verdicts if _may_be_a_cache(one)]
        told = [one.estimate for one in suspecting or verdicts if one.estimate is not None]
        reasons = [caveat for one in told for caveat in one.caveats] or ["no reason was recorded"]
        if suspecting:
            parts = (_CACHE, *(_part(one) for one in verdicts if _failed(one)))
            return Invalid("it may come from a cache", tuple(reasons), self._remedy(suspecting[0], _CACHE), parts=parts)
        return self._failure(verdicts[0], list(map(_part, verdicts)), reasons)

    def _failure(self, verdict: Point, parts: list[str], recorded: list[str]) -> Invalid:
        reasons = tuple(reason for check, reason in check_reasons(recorded) if reason and check in parts)
        remedies = dict.fromkeys(self._remedy(verdict, part) for part in parts or [""])
        cause = (
            " and ".join(FAILED_CHECKS.get(one, f"its {one} check failed") for one in parts) or "its verdict is fail"
        )
        return Invalid(cause, reasons or tuple(recorded), ", and ".join(remedies), parts=tuple(parts))

    def _remedy(self, verdict: Point, part: str) -> str:
        """What to do about one part of a verdict, as its series declares it."""
        return f"run {self._name} {self._run.series[verdict.series].remedies.get(part, 'again')}"

    def _disturbed(self, point: Point) -> Invalid | None:
        """Return what is wrong with samples of which no estimate was made because something disturbed all of them."""
        if point.estimate is not None or not point.values or point.undisturbed:
            return None
        reasons = ("every sample was disturbed",)
        return Invalid("something else used the measured CPU", reasons, f"{self._again} on an idle machine")

    def _on_other_nodes(self, estimate: Estimate | None) -> Invalid | None:
        """Memory that is not known to have lain on the nodes that a figure is of."""
        extra = {} if estimate is None else estimate.extra
        share = extra.get("share_where_asked")
        if not isinstance(share, int | float) or share >= _LEAST_PLACED_SHARE:
            return None
        if not extra.get("pages_on_nodes", "known"):
            return Invalid("where its memory lay is unknown", (), "allow move_pages or numa_maps, and run it again")
        reasons = (f"{as_percent(share, '.1f')} of the pages were where they were asked for",)
        return Invalid("its memory lay on another node", reasons, f"free memory of that node, and {self._again}")

    def _not_converged(self, estimate: Estimate | None) -> Invalid | None:
        if estimate is None or estimate.converged is not False:
            return None
        aim = self._run.step.settings.get(self._run.declaration.precision)
        target = float(aim) if isinstance(aim, int | float) else None
        reasons: tuple[str, ...] = ()
        if estimate.low is not None and estimate.high is not None and estimate.value:
            half = (estimate.high - estimate.low) / 2 / abs(estimate.value)
            if target is not None and half <= target:
                return None  # it ran out of time, not out of precision
            wanted = "" if target is None else f", target ±{as_percent(target, '.1f')}"
            reasons = (f"interval ±{as_percent(half, '.1f')}{wanted}",)
        remedy = f"{self._again} on an idle machine, with more time"
        return Invalid("it did not converge", reasons, remedy, scatter=True)


def seconds_seen(point: Point, invalid: Invalid | None) -> tuple[float, float] | None:
    """Return the worst and the best second of a figure that was unsteady or taken in few ramps; None for any other.

    Fewer than three ramps give no interval of their median. The worst is 0 where the samples were not kept.
    """
    unsteady, estimate = invalid is not None and "steady" in invalid.parts, point.estimate
    if estimate is None or not (unsteady or (estimate.replicates or 0) < _LEAST_RAMPS):
        return None
    worst, best = ends_of_seconds(point)
    return (worst, max(best, estimate.value)) if unsteady or worst else None


def ends_of_seconds(point: Point) -> tuple[float, float]:
    """Return the worst and the best second of a point; zeros where its samples were not kept."""
    by_second: dict[int, list[float]] = {}
    for at_ns, value, flags in zip(point.t_ns, point.values, point.flags or bytes(len(point.values)), strict=True):
        if not flags:
            by_second.setdefault(at_ns // 1_000_000_000, []).append(value)
    means = [sum(values) / len(values) for values in by_second.values()]
    return (min(means), max(means)) if means else (0.0, 0.0)


def measurement_key(point: Point) -> MeasurementKey:
    """Return the coordinates of a measurement, without those that name a part of it."""
    return frozenset((name, value) for name, value in point.at.items() if name not in _PART_COORDINATES)


def check_reasons(recorded: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return check and reason of each text, which a session holds as ``CHECK: REASON``; no check where it has none."""
    found = (text.partition(": ") for text in recorded)
    return tuple((check, reason) if colon else ("", check) for check, colon, reason in found)


def _part(verdict: Point) -> str:
    return str(verdict.at.get("part"))


def _failed(verdict: Point) -> bool:
    return verdict.estimate is not None and verdict.estimate.value <= _PASS_ABOVE


def _may_be_a_cache(verdict: Point) -> bool:
    return verdict.estimate is not None and verdict.estimate.extra.get("sizing") == "left out"
