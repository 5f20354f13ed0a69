"""The answer of a comparison as values: faster or slower, in what, by how much, and how sure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.chart import LineChart
from sizeup.charts.table import Column, Table
from sizeup.compare.comparison import EXCLUDED_CHANGE, Comparison, Conclusion, Figure
from sizeup.compare.conditions import Decision
from sizeup.compare.digest import Digest
from sizeup.compare.headlines import NAMED
from sizeup.compare.machines import Difference
from sizeup.compare.statistics import MOST_RUNS, smallest_p
from sizeup.model.plan import Better
from sizeup.text import first_of, listed, one_line, plural, uncapitalized
from sizeup.units import as_percent, format_in, format_share, format_value
from sizeup.views.band import Band, NextStep, Number
from sizeup.views.cards.cards import TITLES
from sizeup.views.run.points import coordinate_words

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
_BASELINE = "baseline"
"""The name of the earlier side where neither host nor time tells it apart."""
_NAMED = 3
"""Figures that a sentence names."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class ChangeResult(Enum):
    """What follows for one figure, or for all of them: the word, its sign, and the token of its color."""

    FASTER = "FASTER", "▲", "ok"
    SLOWER = "SLOWER", "▼", "bad"
    HIGHER = "HIGHER", ">", "s1"
    """Different, where no direction is the better one."""
    LOWER = "LOWER", "<", "s1"
    SAME = "SAME", "=", "dim"
    CANNOT_TELL = "CANNOT TELL", "?", "warn"
    NOT_VALID = "NOT VALID", "!", "dim"

    def __init__(self, word: str, sign: str, status: str) -> None:
        self.word, self.sign, self.status = word, sign, status


RESULTS = {
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
    short: str
    """The title where there is little room."""
    more_runs: int | None = None
    """How many more runs of each side would tell; None where nothing is left open, or for too many."""
    noise: str = ""
    """``±1.2 %``: the furthest that a run lies from the median of its side."""


class Trust(Struct, frozen=True):
    """One thing that decides whether two sides can be compared."""

    name: str
    status: str
    """``ok`` or ``warn``."""
    text: str


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
    likely: tuple[str, ...] = ()
    """Those of the differences that are about the resource of the first change: its likely causes."""


def answer(comparison: Comparison, overlay: LineChart | None = None) -> Answer:
    """Return everything that a reader decides from, likely causes before what else is different."""
    rows = change_rows(comparison)
    likely = tuple(one.what for one in comparison.differences if changed_card(rows) in fact_cards(one.what))
    differences = tuple(sorted(comparison.differences, key=lambda one: one.what not in likely))
    comparison, interval = replace(comparison, differences=differences), as_percent(1 - comparison.level)
    names, trusted = side_names(comparison), trust(comparison)
    return Answer(comparison_band(comparison), names, rows, differences, trusted, interval, overlay, likely)


def changed_card(rows: Sequence[ChangeRow]) -> str:
    """Return the resource of the first figure of which a change was found; empty where none was."""
    unchanged = (ChangeResult.SAME, ChangeResult.CANNOT_TELL, ChangeResult.NOT_VALID)
    return next((row.card.lower() for row in rows if row.result not in unchanged), "")


_MEMORY = ("memory", "numa", "distances", "huge", "thp", "cxl", "caches")
_PROCESSOR = (
    "cpu", "governor", "smt", "boost", "idle", "mitigation", "clock", "hypervisor", "energy", "min_perf", "microcode",
    "cores", "packages", "pus", "kernel", "tuned", "lpar", "container",
)  # fmt: skip


def fact_cards(fact: str) -> tuple[str, ...]:
    """Return the cards that a fact of no part is about."""
    lowered = fact.lower()
    if any(word in lowered for word in _MEMORY):
        return ("memory",)
    if lowered.startswith("vm."):
        return ("storage",)
    return ("cpu", "clock") if any(word in lowered for word in _PROCESSOR) else ()


def change_rows(comparison: Comparison) -> tuple[ChangeRow, ...]:
    """Return the figures that people name, by card."""
    return tuple(_row(figure, _least_runs(comparison.level)) for figure in comparison.headlines)


def missing_runs(rows: Sequence[ChangeRow]) -> int | None:
    """Return how many more runs of each side would tell all changes that are open; None for too many."""
    needed = [row.more_runs for row in rows if row.result is ChangeResult.CANNOT_TELL]
    return None if None in needed else max(filter(None, needed), default=None)


def _least_runs(level: float) -> int:
    """Return how many runs of each side can show a difference at this level at all."""
    return next(count for count in range(1, MOST_RUNS) if smallest_p(count, count) <= level)


def _row(figure: Figure, least_runs: int) -> ChangeRow:
    unit = figure.series.unit if figure.series is not None else "1"
    sign = -1 if figure.series is not None and figure.series.better is Better.LOWER else 1
    valid = figure.verdict is not Conclusion.NOT_VALID
    low = high = None
    if valid and figure.low is not None and figure.high is not None:
        low, high = sorted((sign * (figure.low - 1), sign * (figure.high - 1)))
    more, named = figure.more_runs, NAMED.get(figure.metric.partition("@")[0])
    if figure.verdict is Conclusion.TOO_FEW:
        more = max(more or 1, least_runs - min(figure.runs))
    return ChangeRow(
        _title(figure),
        TITLES.get(figure.card, ""),
        format_value(figure.medians[1], unit),
        format_value(figure.medians[0], unit),
        sign * (figure.ratio - 1) if valid else None,
        low,
        high,
        " ".join(_change(figure)) if valid else "",
        RESULTS[figure.verdict],
        named.short if named is not None and named.short else _title(figure),
        more,
        "" if figure.noise is None else f"±{format_share(figure.noise)}",
    )


def _title(figure: Figure) -> str:
    return figure.metric if figure.series is None else figure.series.title


def _change(figure: Figure) -> tuple[str, ...]:
    return change_words(figure.ratio, "1" if figure.series is None else figure.series.unit)


def change_words(ratio: float, unit: str) -> tuple[str, ...]:
    """Return a change as number, unit and word: ``23``, ``%`` and ``less``."""
    up, down, times = _WORDS.get(unit, ("higher", "lower", "high"))
    if ratio >= _TIMES_FROM:
        return format_in(float(f"{ratio:.2g}"), ""), "times", f"as {times}"
    share = abs(ratio - 1)
    return (f"{share * 100:.0f}", "%", up if ratio > 1 else down) if share >= _NO_CHANGE else ("within 1", "%")


def comparison_band(comparison: Comparison) -> Band:
    """Return badge, sentence, what to do next, basis and number; the largest change that was found decides."""
    figures = comparison.headlines
    changed = sorted((figure for figure in figures if figure.different), key=_rank)
    few = [figure for figure in figures if figure.verdict is Conclusion.TOO_FEW]
    undecided = [figure for figure in figures if figure.verdict is Conclusion.UNDECIDED]
    result, number = ChangeResult.CANNOT_TELL, None
    steps: tuple[NextStep, ...] = ()
    if comparison.sides[0] == comparison.sides[1]:
        result, sentence = ChangeResult.SAME, "Both sides are the same session."
        steps = (NextStep("A second session would show what changed."),)
    elif changed:
        result, text = RESULTS[changed[0].verdict], "Find out what else changed: the machine is the same."
        if comparison.differences:
            first = comparison.differences[0]
            text = f"Check {first.what}: {one_line(first.baseline, 24)} before, {one_line(first.new, 24)} now."
        elif not comparison.interleaved:
            text = "Measure both sides again, interleaved: nothing else changed, drift is possible."
        steps = (NextStep(text),)
        sentence = _sentence(comparison, changed[0])
        value, unit, *words = _change(changed[0])
        number = Number(value, unit, ", ".join((_title(changed[0]), *words)))
    elif few or undecided:
        more = missing_runs(change_rows(comparison))
        noise = max(figure.noise or 0.0 for figure in (*few, *undecided))
        sentence = f"The runs differ by up to ±{format_share(noise)} among themselves, too much to tell."
        if few:
            (new, baseline), least = min(figure.runs for figure in few), _least_runs(comparison.level)
            why = f"{least} of each is the least" if more == least - min(new, baseline) else "they scatter"
            sentence = f"Too few runs: {baseline} before, {new} after; {why}."
        steps = (NextStep(f"Measure on an idle host: as they scatter, over {MOST_RUNS} more runs are needed."),)
        if more is not None:
            number = Number(str(more), "", "more runs of each side")
            idle = "" if few else ", on an idle host"
            steps = (NextStep(f"Measure each side {plural(more, 'more time')}, interleaved{idle}."),)
    elif any(figure.verdict is Conclusion.SAME for figure in figures):
        result = ChangeResult.SAME
        sentence = f"No difference: a change of {EXCLUDED_CHANGE * 100:.0f} % or more is excluded."
    else:
        sentence = "No valid figure was measured on both sides."
        again = next((f"both again: {one_line(why, 60)}" for one in figures for why in one.invalid if why), "")
        steps = (NextStep(f"Measure {again or 'the same steps on both sides'}."),)
    basis = []
    for name, told, side in zip((_BASELINE, "new"), side_names(comparison), comparison.sides[::-1], strict=True):
        runs = _run_count(side)
        basis += [f"{told if told == name else f'{name} {told}'}, {plural(runs, 'run')}"] if side else []
    basis += [f"{'' if one.status == 'ok' else 'not '}{uncapitalized(one.name)}" for one in trust(comparison)]
    return Band(result.word, result.status, sentence, steps=steps, basis=" · ".join(basis), number=number)


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
    """Return the change that decides, then what became of other resources, as far as a line has room."""
    names, hosts = side_names(comparison), {digest.host for side in comparison.sides for digest in side}
    since = (
        f"since {'the ' * (names[0] == _BASELINE)}{names[0]}"
        if len(hosts) == 1
        else f"on {names[1]} than on {names[0]}"
    )
    text = f"{_title(lead)}: {' '.join(_change(lead))} {since}"
    rows = change_rows(comparison)
    cards = {row.card for row in rows} - {row.card for row in rows if row.title == _title(lead)}
    for result in (ChangeResult.SLOWER, ChangeResult.FASTER, ChangeResult.SAME):
        others = [card for card in sorted(cards) if {row.result for row in rows if row.card == card} == {result}]
        more = f"; {listed(others)} {'the same' if result is ChangeResult.SAME else result.word.lower()}"
        if others and len(text) + len(more) < _SENTENCE:
            text += more
    return f"{text}."


def leading_card(comparison: Comparison) -> str:
    """Return the card of the change that decides, else of the first figure; empty for none."""
    found = sorted(comparison.headlines, key=lambda one: (not one.different, _rank(one)))
    return found[0].card if found else ""


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
        return _BASELINE, "new"
    if new.host != baseline.host:
        return baseline.host, new.host
    (day, time), (new_day, new_time) = _moment(baseline), _moment(new)
    if day != new_day:
        return day, new_day
    return (f"{day} {time}", f"{new_day} {new_time}") if time != new_time else (_BASELINE, "new")


def compared_hosts(comparison: Comparison) -> str:
    """Return the host that was measured twice, or all hosts."""
    return listed(list(dict.fromkeys(digest.host for side in reversed(comparison.sides) for digest in side)))


def trust(comparison: Comparison) -> tuple[Trust, ...]:
    """Return what decides whether both sides can be compared."""
    figures = comparison.headlines
    invalid = sum(any(one.invalid) for one in figures)
    wide = {one.metric for side in comparison.sides for digest in side for one in digest.headlines if one.scatter}
    scattered = sum(one.metric in wide and not any(one.invalid) for one in figures)
    counted = ((invalid, "are not"), (scattered, "did not converge"))
    counts = [f"{count} of {len(figures)} {what}" for count, what in counted if count]
    asked = (
        ("Same settings", not comparison.other_settings, "see the notes"),
        ("All figures valid", bool(figures) and not counts, ", ".join(counts) or "none is on both sides"),
        ("Interleaved", comparison.interleaved, "drift is possible"),
    )
    return tuple(Trust(name, "ok" if good else "warn", "yes" if good else f"no, {why}") for name, good, why in asked)


def conclusion_lines(comparison: Comparison) -> list[str]:
    """Return the answer in sentences: what was found, what to do, and what was not compared for which reason."""
    other = []
    for one in comparison.other_workloads:
        sides = ([coordinate_words("workload", load) for load in side] for side in (one.baseline, one.new))
        a, b = (first_of(side, _NAMED) for side in sides)
        other.append(f"Different workloads, not compared: {one.probe} measured {a} in A, {b} in B")
    if not comparison.headlines:
        unnamed = ["No named figure was measured on both sides; see the statistics."] if comparison.metrics else []
        return other or unnamed
    reasons: dict[str, list[str]] = {}
    for figure in (one for one in comparison.headlines if one.verdict is Conclusion.NOT_VALID):
        new, baseline = figure.invalid
        clauses = (f"{side} is not valid ({why})" for side, why in (("A", baseline), ("B", new)) if why)
        clause = f"A and B are not valid ({new})" if new == baseline else " and ".join(clauses)
        reasons.setdefault(clause, []).append(_title(figure))
    invalid = [f"Not compared, as {reason}: {first_of(names, _NAMED)}" for reason, names in reasons.items()]
    band = comparison_band(comparison)
    return [*other, band.sentence, *(step.text for step in band.steps), *invalid]


def headline_table(comparison: Comparison) -> Table:
    """Return the named figures by card: A, B, change, and what follows; noise where several runs show some."""
    rows = change_rows(comparison)
    noisy = any(row.noise for row in rows)
    cards = ["", *(row.card for row in rows)]
    cells = []
    for before, row in zip(cards, rows, strict=False):
        card = "" if row.card == before else row.card or "Other"
        noise, result = (row.noise,) if noisy else (), f"{row.result.sign} {row.result.word}"
        cells.append((card, row.title, row.baseline, row.new, row.change, *noise, result))
    numbers = ("A", "B", "Change", *(("Noise",) if noisy else ()))
    columns = (Column("Card"), Column("Quantity"), *(Column(name, numeric=True) for name in numbers), Column("Result"))
    return Table("Figures", columns, tuple(cells))


def _run_count(side: Sequence[Digest]) -> int:
    return len({one.run for digest in side for one in digest.headlines or digest.values if not digest.source})


def side_lines(comparison: Comparison) -> list[str]:
    """Return which sessions A and B are."""
    lines = []
    for name, digests in zip(("B (new)", "A (baseline)"), comparison.sides, strict=True):
        more = f" and {plural(len(digests) - 1, 'more session')}" if len(digests) > 1 else ""
        hosts = ", ".join(dict.fromkeys(digest.host for digest in digests))
        runs, notes = _run_count(digests), [one.note for one in digests if one.note and not one.source]
        counted, noted = f", {plural(runs, 'run')}" if runs else "", "".join(f"; note: {note}" for note in notes)
        lines += [f"{name:<12}  {digests[0].path}{more} ({hosts}{counted}){noted}"] if digests else []
    return lines[::-1]
