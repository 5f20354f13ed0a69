"""The answer of a comparison as values: faster or slower, in what, by how much, and how sure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.chart import LineChart
from sizeup.compare.comparison import EXCLUDED_CHANGE, Comparison, Conclusion, Figure
from sizeup.compare.conditions import Decision
from sizeup.compare.digest import Digest
from sizeup.compare.machines import Difference
from sizeup.compare.statistics import MOST_RUNS, smallest_p
from sizeup.model.plan import Better
from sizeup.text import listed, one_line, plural
from sizeup.units import format_in, format_value
from sizeup.views.band import Band, NextStep, Number
from sizeup.views.cards.cards import TITLES

SCALE = 0.3125
"""The change at both ends of a change bar."""
SHADED = 0.03
"""The change to either side of zero that a change bar shades."""
_TIMES_FROM = 2.0
"""From this ratio on a change is told as a factor."""
_NO_CHANGE = 0.01
"""A change below this share is told as none."""
_SENTENCE = 80
"""Characters of the sentence of a band."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class ChangeResult(Enum):
    """What follows for one figure, or for all of them."""

    FASTER = "FASTER"
    SLOWER = "SLOWER"
    HIGHER = "HIGHER"
    """Different, where no direction is the better one."""
    LOWER = "LOWER"
    SAME = "SAME"
    CANNOT_TELL = "CANNOT TELL"
    NOT_VALID = "NOT VALID"

    @property
    def sign(self) -> str:
        """A sign that says the same without color."""
        return _LOOKS[self][0]

    @property
    def status(self) -> str:
        """The token of its color."""
        return _LOOKS[self][1]


_LOOKS = {
    ChangeResult.FASTER: ("▲", "ok"),
    ChangeResult.SLOWER: ("▼", "bad"),
    ChangeResult.HIGHER: (">", "s1"),
    ChangeResult.LOWER: ("<", "s1"),
    ChangeResult.SAME: ("=", "dim"),
    ChangeResult.CANNOT_TELL: ("?", "warn"),
    ChangeResult.NOT_VALID: ("!", "warn"),
}
_RESULTS = {
    Conclusion.BETTER: ChangeResult.FASTER,
    Conclusion.WORSE: ChangeResult.SLOWER,
    Conclusion.HIGHER: ChangeResult.HIGHER,
    Conclusion.LOWER: ChangeResult.LOWER,
    Conclusion.SAME: ChangeResult.SAME,
    Conclusion.UNDECIDED: ChangeResult.CANNOT_TELL,
    Conclusion.TOO_FEW: ChangeResult.CANNOT_TELL,
    Conclusion.NOT_VALID: ChangeResult.NOT_VALID,
}
_WORDS = {"ns": ("longer", "shorter", "long"), "1/s": ("more", "less", "much"), "bytes/s": ("more", "less", "much")}
"""What a rise, a fall and a multiple are called, by unit."""


class ChangeRow(Struct, frozen=True):
    """One figure on both sides, its change, and what follows."""

    title: str
    card: str
    """``Storage``; empty for a figure of no card."""
    baseline: str
    new: str
    better: float | None
    """The share by which the new side is better, negative if it is worse; None where nothing follows from the runs."""
    low: float | None
    """The worse end of its interval; None where the runs give none."""
    high: float | None
    change: str
    """``23 % less``, ``90 % longer``, ``within 1 %``."""
    result: ChangeResult


class Trust(Struct, frozen=True):
    """One thing that decides whether two sides can be compared."""

    name: str
    status: str
    """``ok`` or ``warn``."""
    text: str
    brief: str
    """Name and answer in one."""


class Answer(Struct, frozen=True):
    """A comparison as a page or a screen begins with it."""

    band: Band
    names: tuple[str, str]
    """Of baseline and new."""
    rows: tuple[ChangeRow, ...]
    differences: tuple[Difference, ...]
    trust: tuple[Trust, ...]
    interval: str
    """``95 %``: how sure the brackets of changes are."""
    overlay: LineChart | None = None
    """The leading curve of both sides."""


def answer(comparison: Comparison, overlay: LineChart | None = None) -> Answer:
    """Return everything that a reader decides from."""
    return Answer(
        comparison_band(comparison),
        side_names(comparison),
        change_rows(comparison),
        comparison.differences,
        trust(comparison),
        f"{100 * (1 - comparison.level):.0f} %",
        overlay,
    )


def change_rows(comparison: Comparison) -> tuple[ChangeRow, ...]:
    """Return the figures that people name, by card."""
    return tuple(_row(one.card, one.figure) for one in comparison.headlines)


def _row(card: str, figure: Figure) -> ChangeRow:
    unit = figure.series.unit if figure.series is not None else "1"
    sign = -1 if figure.series is not None and figure.series.better is Better.LOWER else 1
    valid = figure.verdict is not Conclusion.NOT_VALID
    low = high = None
    if valid and figure.low is not None and figure.high is not None:
        low, high = sorted((sign * (figure.low - 1), sign * (figure.high - 1)))
    return ChangeRow(
        _title(figure),
        TITLES.get(card, ""),
        format_value(figure.medians[1], unit),
        format_value(figure.medians[0], unit),
        sign * (figure.ratio - 1) if valid else None,
        low,
        high,
        " ".join(_change(figure)) if valid else "",
        _RESULTS[figure.verdict],
    )


def _title(figure: Figure) -> str:
    return figure.metric if figure.series is None else figure.series.title


def _change(figure: Figure) -> tuple[str, ...]:
    """Return a change as number, unit and word: ``23``, ``%`` and ``less``."""
    up, down, times = _WORDS.get("1" if figure.series is None else figure.series.unit, ("higher", "lower", "high"))
    if figure.ratio >= _TIMES_FROM:
        return format_in(float(f"{figure.ratio:.2g}"), ""), "times", f"as {times}"
    share = abs(figure.ratio - 1)
    return (f"{share * 100:.0f}", "%", up if figure.ratio > 1 else down) if share >= _NO_CHANGE else ("within 1", "%")


def comparison_band(comparison: Comparison) -> Band:
    """Return badge, sentence, what to do next, basis and number; the largest change that was found decides."""
    figures = [one.figure for one in comparison.headlines]
    changed = sorted((figure for figure in figures if figure.different), key=_rank)
    few = [figure for figure in figures if figure.verdict is Conclusion.TOO_FEW]
    undecided = [figure for figure in figures if figure.verdict is Conclusion.UNDECIDED]
    result, number = ChangeResult.CANNOT_TELL, None
    steps: tuple[NextStep, ...] = ()
    if changed:
        result, steps = _RESULTS[changed[0].verdict], _steps(comparison)
        sentence = _sentence(comparison, changed[0])
        value, unit, *words = _change(changed[0])
        number = Number(value, unit, ", ".join((_title(changed[0]), *words)))
    elif few:
        new, baseline = min(figure.runs for figure in few)
        needed = next(count for count in range(1, MOST_RUNS) if smallest_p(count, count) <= comparison.level)
        sentence = f"Too few runs to tell: {plural(baseline, 'run')} before, {new} after, {needed} of each needed."
        number = Number(str(needed - min(new, baseline)), "", "more runs of each side")
        steps = (NextStep(f"Measure each side {needed} times, interleaved."),)
    elif undecided:
        noise = max(figure.noise or 0.0 for figure in undecided)
        sentence = f"The runs differ by up to ±{noise * 100:.0f} % among themselves, which is too much to tell."
        more = [figure.more_runs for figure in undecided if figure.more_runs is not None]
        number = Number(f"{max(more)}", "", "more runs of each side") if len(more) == len(undecided) else None
        steps = (NextStep("Measure each side again on an idle host, interleaved."),)
    elif any(figure.verdict is Conclusion.SAME for figure in figures):
        result, sentence = (
            ChangeResult.SAME,
            f"No difference: a change of {EXCLUDED_CHANGE * 100:.0f} % or more is excluded.",
        )
    else:
        sentence = "No valid figure was measured on both sides."
        steps = (NextStep("Measure the same steps on both sides."),)
    return Band(result.value, result.status, sentence, steps=steps, basis=_basis(comparison), number=number)


def conditions_band(comparison: Comparison, compared: Band) -> Band:
    """Return the band where conditions were asked, which decide."""
    met = sum(one.decision is Decision.MET for one in comparison.conditions)
    of, open_ = len(comparison.conditions), len(comparison.undecided)
    if met:
        word, status, said = "FAIL", "bad", f"{met} of {plural(of, 'condition')} for a failure met"
    elif open_:
        word, status, said = "NOT CERTAIN", "warn", f"{open_} of {plural(of, 'condition')} undecided"
    else:
        word, status, said = "PASS", "ok", f"None of {plural(of, 'condition')} for a failure is met"
    return replace(compared, word=word, status=status, sentence=f"{said}.")


def _rank(figure: Figure) -> tuple[bool, float]:
    """Return what sorts the figure that decides first: one with a better direction, then the largest change."""
    size = abs(math.log(figure.ratio)) if figure.ratio > 0 else math.inf
    return figure.verdict in (Conclusion.HIGHER, Conclusion.LOWER), -size


def _sentence(comparison: Comparison, lead: Figure) -> str:
    """Return the change that decides, then what else changed or stayed, as far as a line has room."""
    names, hosts = side_names(comparison), {digest.host for side in comparison.sides for digest in side}
    since = f"since {names[0]}" if len(hosts) == 1 else f"on {names[1]} than on {names[0]}"
    text = f"{_title(lead)}: {' '.join(_change(lead))} {since}"
    rows = [row for row in change_rows(comparison) if row.title != _title(lead)]
    for result in (ChangeResult.SLOWER, ChangeResult.FASTER, ChangeResult.SAME):
        others = list(dict.fromkeys(row.card or row.title for row in rows if row.result is result))
        alone = [name for name in others if all(row.result is result for row in rows if row.card == name)]
        more = f"; {listed(alone)} {'the same' if result is ChangeResult.SAME else result.value.lower()}"
        if alone and len(text) + len(more) < _SENTENCE:
            text += more
    return f"{text}."


def _steps(comparison: Comparison) -> tuple[NextStep, ...]:
    """Return what to look at after a change: what else is different, else whether it happens again."""
    if comparison.differences:
        first = comparison.differences[0]
        return (NextStep(f"Check {first.what}: {one_line(first.baseline, 24)} before, {one_line(first.new, 24)} now."),)
    if not comparison.interleaved:
        return (NextStep("Measure both sides again, interleaved: nothing else changed, drift is possible."),)
    return (NextStep("Find out what else changed: the machine is the same."),)


def _basis(comparison: Comparison) -> str:
    new, baseline = comparison.sides
    sides = [f"{name} {_runs(side)}" for name, side in (("baseline", baseline), ("new", new)) if side]
    return " · ".join((*sides, *(one.brief for one in trust(comparison))))


def _runs(side: Sequence[Digest]) -> str:
    runs = len({one.value.run for digest in side for one in digest.headlines})
    return " ".join((*_moment(side[0]), f"({plural(runs, 'run')})"))


def _moment(digest: Digest) -> tuple[str, str]:
    """Return day and time of a session; as it is where it has no known form."""
    try:
        when = datetime.fromisoformat(digest.started)
    except ValueError:
        return digest.started, ""
    return f"{when.day} {_MONTHS[when.month - 1]}", f"{when:%H:%M}"


def side_names(comparison: Comparison) -> tuple[str, str]:
    """Return how to tell baseline and new apart: by host, by day, or else by day and time."""
    new, baseline = (side[0] if side else None for side in comparison.sides)
    if new is None or baseline is None:
        return "baseline", "new"
    if new.host != baseline.host:
        return baseline.host, new.host
    (day, time), (new_day, new_time) = _moment(baseline), _moment(new)
    if day != new_day:
        return day, new_day
    return (f"{day} {time}", f"{new_day} {new_time}") if time != new_time else ("baseline", "new")


def compared_hosts(comparison: Comparison) -> str:
    """Return the host that was measured twice, or all hosts."""
    return listed(list(dict.fromkeys(digest.host for side in reversed(comparison.sides) for digest in side)))


def trust(comparison: Comparison) -> tuple[Trust, ...]:
    """Return what decides whether both sides can be compared."""
    found = [
        Trust("Same settings", "ok", "yes", "same settings")
        if not comparison.other_settings
        else Trust("Same settings", "warn", "no, see the notes", "other settings"),
        Trust("All figures valid", "ok", "yes", "all valid")
        if not (invalid := sum(any(one.figure.invalid) for one in comparison.headlines))
        else Trust("All figures valid", "warn", f"no, {invalid} of {len(comparison.headlines)} not", "not all valid"),
        Trust("Interleaved", "ok", "yes", "interleaved")
        if comparison.interleaved
        else Trust("Interleaved", "warn", "no, drift is possible", "not interleaved"),
    ]
    return tuple(found)
