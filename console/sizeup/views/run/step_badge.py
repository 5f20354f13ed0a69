"""How a step stands, in one word with its reason, and the figure of it that a reader asks for."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from sizeup.model.plan import Series
from sizeup.model.sample import Status
from sizeup.session.validity import Invalid, StepValidity
from sizeup.session.value import Point, StepRun
from sizeup.text import capitalized, plural
from sizeup.units import format_count, format_ns, format_value, number_and_unit
from sizeup.views.band import Band, NextStep, Number
from sizeup.views.run.latency_throughput import KNEE, latency_series, throughput_series
from sizeup.views.run.points import RATES, first_series, half_width, largest, point_text, points_of
from sizeup.views.run.results import coordinates_text
from sizeup.views.run.step import headline_points, mark, point_value, standing_of

_MOST_LEVELS = 6
"""Named figures of one series that fit a line."""


class BadgeLook(Enum):
    """What a status word looks like; the word and its mark say the same."""

    PASS = "pass"  # noqa: S105  a look, and no password
    WARN = "warn"
    FAIL = "fail"
    ACTIVE = "active"
    NONE = ""


class StepBadge(Struct, frozen=True):
    """A status word and what is behind it."""

    word: str
    look: BadgeLook
    text: str
    """The figure where it counts; else what is wrong."""
    remedy: str = ""
    """What to do where something is wrong."""
    note: str = ""
    """How much of the step is."""


_ENDS = {
    Status.REFUSED: ("REFUSED", BadgeLook.FAIL, ""),
    Status.CANCELED: ("CANCELED", BadgeLook.WARN, ""),
    Status.FAILED: ("FAIL", BadgeLook.FAIL, "the step failed"),
    Status.CRASHED: ("FAIL", BadgeLook.FAIL, "the step crashed"),
    Status.TIMED_OUT: ("FAIL", BadgeLook.FAIL, "the step reached its time limit"),
}


def step_badge(run: StepRun) -> StepBadge:
    """Return how a step stands that does not go on."""
    figure, outcome = headline_text(run), run.outcome
    kept = plural(len(run.points), "figure")
    if outcome is None:
        return StepBadge("INTERRUPTED", BadgeLook.WARN, f"the run ended before this step; {kept} kept")
    if not run.finished:
        word, look, what = _ENDS[outcome.status]
        return StepBadge(word, look, ": ".join(filter(None, (what, outcome.reason))) or f"{kept} kept")
    validity = StepValidity(run)
    if validity.whole is not None:
        return StepBadge("NOT VALID", BadgeLook.FAIL, f"{validity.whole.cause}.", validity.whole.remedy)
    if marked := validity.summary():
        remedy = next((found.remedy for _, found in invalid_points(run)), "")
        return StepBadge("WARN", BadgeLook.WARN, figure or marked, remedy, marked if figure else "")
    return StepBadge("VALID", BadgeLook.PASS, figure or f"{kept} measured")


_TOKENS = {BadgeLook.PASS: "ok", BadgeLook.WARN: "warn", BadgeLook.FAIL: "bad"}


def step_band(run: StepRun, position: str, session: str, offered: NextStep) -> Band:
    """Return how a step ended, its figure, and what to do: a remedy, else what is ``offered``.

    ``session`` is which one it is of.
    """
    badge, figure = step_badge(run), headline_text(run)
    sentence = capitalized(badge.text)
    samples = sum(len(point.values) for point in run.points.values())
    counted = plural(samples, "sample") if samples else ""
    words = figure if figure != sentence else "", badge.note, session, position, counted
    step = NextStep(f"{capitalized(badge.remedy)}.", "r") if badge.remedy else offered
    if not run.finished:
        step = NextStep("The whole reason stands in Validity.", "v", "goes there")
    found, number = headline_point(run), None
    if found is not None and (value := found[1].value) is not None:
        series = found[0]
        where = coordinates_text(found[1].at, series) if series.headline else series.short_title
        number = Number(*number_and_unit(value, series.unit), name=where)
        if series.unit == "1/s":
            text = format_count(value, "")
            number = Number(text.rstrip("kM"), f"{text.lstrip('0123456789.')} {series.title}".strip())
    basis = " · ".join(filter(None, words))
    return Band(badge.word, _TOKENS[badge.look], sentence, steps=(step,), basis=basis, number=number)


def headline_point(run: StepRun, like: Point | None = None) -> tuple[Series, Point] | None:
    """Return the figure that a step is compared by: throughput at the knee, else the one that its series names.

    It is at the load of the one that it is to be ``like``, else of the same curve.
    """
    series, rate = first_series(run), throughput_series(run)
    if rate is not None and (loaded := _loaded(run, rate)):
        curve = {} if like is None else {key: value for key, value in like.at.items() if key != rate.axis}
        loaded = [point for point in loaded if curve.items() <= point.at.items()]
        if same := [point for point in loaded if like is not None and point.at == like.at]:
            return rate, same[0]
        return (rate, _at_knee(run, rate, loaded)) if loaded else None
    headlines = headline_points(run)
    return (series, headlines[0]) if series is not None and len(headlines) == 1 else None


def _loaded(run: StepRun, rate: Series) -> list[Point]:
    """Return the points of a throughput that lie at a load; none where the step is about something else."""
    first = first_series(run)
    if first is None or first.unit not in RATES:
        return []
    points = [point for point in points_of(run, rate.name) if point.value is not None]
    return [point for point in points if isinstance(point.at.get(rate.axis or ""), int | float)]


def headline_text(run: StepRun) -> str:
    """Return the figure of a step in one line: levels side by side, or throughput with its load and latency."""
    return _levels(run) or _throughput(run) or point_value(run)


def _levels(run: StepRun) -> str:
    """Return the figures of a series whose few points have names: ``L1 0.9 · L2 3.3 · DRAM 92 ns``."""
    series = first_series(run)
    points = [] if series is None else [point for point in points_of(run, series.name) if point.value is not None]
    if series is None or not series.headline or not 2 <= len(points) <= _MOST_LEVELS:
        return ""
    names = [next(iter(point.at.values())) for point in points if len(point.at) == 1]
    if len(names) != len(points) or not all(isinstance(name, str) for name in names):
        return ""
    validity = StepValidity(run)
    texts = [number_and_unit(point.value or 0.0, series.unit) for point in points]
    units = [unit for _, unit in texts]
    shown = []
    for number, (value, unit) in enumerate(texts):
        last_of_unit = number + 1 == len(units) or units[number + 1] != unit
        shown.append(f"{names[number]} {value}{f' {unit}' if last_of_unit and unit else ''}")
    if all(point.at != series.headline for point in points) and (found := largest(run, series.unit)) is not None:
        shown, names, points = [" at ".join(found[:2]), *shown], [found[1], *names], [found[2], *points]
    invalid = [validity.of(point) if validity.ended else None for point in points]
    wide = [str(name) for name, found in zip(names, invalid, strict=True) if found is not None and found.scatter]
    mark = f" ({', '.join(wide)} did not converge)" if wide else ""
    mark = " (none of these converged)" if len(wide) == len(names) else mark
    return " · ".join(shown) + mark


def _throughput(run: StepRun) -> str:
    """Return throughput at the knee or the highest, with its load, the latency there and its interval."""
    series = throughput_series(run)
    if series is None or not (loaded := _loaded(run, series)):
        return ""
    point = loaded[-1] if run.outcome is None else _at_knee(run, series, loaded)
    load = format_value(float(point.at[series.axis or ""]), series.axis_unit or "1")
    words = [f"{rate_text(point.value or 0.0, series)} at {short_axis(series)} {load}"]
    known = {one.statistic: one for one in latency_series(run, series)}
    for statistic in ("p99", "mean", "p50"):
        beside = points_of(run, known[statistic].name) if statistic in known else []
        at = next((one for one in beside if point.at.items() <= one.at.items()), None)
        if at is not None and at.value is not None:
            words.append(f"{statistic} {format_ns(at.value)}")
            break
    within = half_width(point)
    return ", ".join(words) + (f" (95 % CI ±{within})" if within else "") + mark(standing_of(run, [point]))


def _at_knee(run: StepRun, series: Series, points: list[Point]) -> Point:
    """Return the point at the knee that the probe found, or the one with most throughput."""
    for knee in run.points.values():
        declared = run.quantity(knee)
        if declared is not None and declared.name == KNEE and knee.estimate is not None:
            found = [
                point
                for point in points
                if point.at.get(series.axis or "") == knee.estimate.value and knee.at.items() <= point.at.items()
            ]
            if found:
                return found[0]
    return max(points, key=lambda point: point.value or 0.0)


def rate_text(value: float, series: Series) -> str:
    """Return a value of throughput in the field's words: ``91k IOPS``, ``708 MB/s``."""
    if series.unit == "1/s" and " " not in series.title:
        return f"{format_count(value, '')} {series.title if series.title.isupper() else f'{series.title.lower()}/s'}"
    return format_value(value, series.unit)


def value_text(value: float, series: Series) -> str:
    """Return a figure of a series: a rate in the field's words, any other with its unit."""
    return rate_text(value, series) if series.unit == "1/s" else format_value(value, series.unit)


def short_axis(series: Series) -> str:
    """Return the name of an axis as it stands before a number: ``QD``."""
    title = (series.axis_title or point_text(series.axis or "load")).lower()
    return "QD" if title == "queue depth" else title


def axis_name(series: Series) -> str:
    """Return the name of an axis as it stands above its values: ``QD``, ``Working set``."""
    short = short_axis(series)
    return short if short.isupper() else short.capitalize()


def invalid_points(run: StepRun) -> Iterable[tuple[Point, Invalid]]:
    """Yield the figures of an ended step that do not count, each with the reason."""
    validity = StepValidity(run)
    for point in run.points.values() if validity.ended else ():
        invalid = validity.of(point)
        if invalid is not None:
            yield point, invalid
