"""What follows from a comparison: a conclusion in plain words, and a table of the figures that people name.

A is the baseline, B the new side.
"""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.charts.table import Column, Table
from sizeup.compare.comparison import EXCLUDED_CHANGE, Comparison, Conclusion, Figure
from sizeup.compare.digest import Digest
from sizeup.compare.statistics import MOST_RUNS, smallest_p
from sizeup.text import first_of, plural
from sizeup.units import format_in, format_value

_CARDS = {"storage": "Storage", "cpu": "CPU", "memory": "Memory", "network": "Network", "clock": "Clock", "": "Other"}
_WORDS = {
    Conclusion.BETTER: "+ better",
    Conclusion.WORSE: "- worse",
    Conclusion.HIGHER: "> higher",
    Conclusion.LOWER: "< lower",
    Conclusion.NOT_VALID: "! not valid",
    Conclusion.SAME: "= same",
    Conclusion.UNDECIDED: "? cannot tell",
    Conclusion.TOO_FEW: "? too few runs",
}
"""A sign and a word for each, so that a column can be read without color."""
_FROM_TIMES = 10.0
_NAMED = 3
"""Figures that a conclusion names of each kind."""


def plain_change(ratio: float) -> str:
    """Return a ratio as a change from the baseline: ``+60 %``, ``x 12`` from ten times on."""
    if ratio >= _FROM_TIMES:
        return f"x {format_in(float(f'{ratio:.3g}'), '')}"
    percent = (ratio - 1) * 100
    return f"{percent:+.0f} %" if abs(percent) >= 9.95 else f"{percent:+.1f} %"


def conclusion_lines(comparison: Comparison) -> list[str]:
    """Return what follows from the named figures, the most important sentence first."""
    figures = [one.figure for one in comparison.headlines]
    other = [
        f"Different workloads, not compared: {one.probe} measured "
        f"{first_of(one.baseline, _NAMED)} in A, {first_of(one.new, _NAMED)} in B"
        for one in comparison.other_workloads
    ]
    if not figures:
        unnamed = ["No named figure was measured on both sides; see the statistics."] if comparison.metrics else []
        return other or unnamed
    lines = _different(figures)
    plain = not lines
    undecided = [figure for figure in figures if figure.verdict is Conclusion.UNDECIDED]
    few = [figure for figure in figures if figure.verdict is Conclusion.TOO_FEW]
    same = [figure for figure in figures if figure.verdict is Conclusion.SAME]
    invalid = [figure for figure in figures if figure.verdict is Conclusion.NOT_VALID]
    if few:
        lines.append(_too_few(few, comparison.level))
    if undecided:
        lines.append(_undecided(undecided))
    if same and plain and not few and not undecided:
        limit = f"{EXCLUDED_CHANGE * 100:.0f} %"
        lines.append(f"No difference found: a change of {limit} or more is excluded for {_names(same)}")
    reasons: dict[str, list[Figure]] = {}
    for figure in invalid:
        reasons.setdefault(_by_letter(figure), []).append(figure)
    lines += [f"Not compared, as {reason}: {_names(found)}" for reason, found in reasons.items()]
    return [*other, *lines]


def _by_letter(figure: Figure) -> str:
    """Return why a figure is not compared as a clause about A or B: ``B is not valid (throughput was not steady)``."""
    new, baseline = figure.invalid
    if new == baseline:
        return f"A and B are not valid ({new})"
    return " and ".join(f"{side} is not valid ({why})" for side, why in (("A", baseline), ("B", new)) if why)


def headline_table(comparison: Comparison) -> Table:
    """Return the named figures by card: A, B, change, and what follows."""
    rows = []
    last = None
    for one in comparison.headlines:
        figure = one.figure
        unit = figure.series.unit if figure.series is not None else "1"
        card = _CARDS.get(one.card, one.card)
        change = "" if figure.verdict is Conclusion.NOT_VALID else plain_change(figure.ratio)
        noise = "" if figure.noise is None else f"±{_percent(figure.noise)}"
        rows.append(
            (
                card if card != last else "",
                _title(figure),
                format_value(figure.medians[1], unit),
                format_value(figure.medians[0], unit),
                change,
                noise,
                _WORDS[figure.verdict],
            )
        )
        last = card
    columns = (
        Column("Card"), Column("Quantity"), Column("A", numeric=True), Column("B", numeric=True),
        Column("Change", numeric=True), Column("Noise", numeric=True), Column("Conclusion"),
    )  # fmt: skip
    kept = [number for number in range(len(columns)) if number != _NOISE or any(row[_NOISE] for row in rows)]
    return Table(
        "Figures",
        tuple(columns[number] for number in kept),
        tuple(tuple(row[number] for number in kept) for row in rows),
    )


_NOISE = 5
"""The place of the noise in a row."""


def side_lines(comparison: Comparison) -> list[str]:
    """Return which sessions A and B are."""
    new, baseline = comparison.sides
    return [
        f"{name:<12}  {_side(digests)}" for name, digests in (("A (baseline)", baseline), ("B (new)", new)) if digests
    ]


def _side(digests: Sequence[Digest]) -> str:
    more = f" and {plural(len(digests) - 1, 'more session')}" if len(digests) > 1 else ""
    hosts = ", ".join(dict.fromkeys(digest.host for digest in digests))
    runs = len({one.value.run for digest in digests for one in digest.headlines})
    counted = f", {plural(runs, 'run')}" if runs else ""
    return f"{digests[0].path}{more} ({hosts}{counted})"


def _different(figures: Sequence[Figure]) -> list[str]:
    worse = [figure for figure in figures if figure.verdict is Conclusion.WORSE]
    better = [figure for figure in figures if figure.verdict is Conclusion.BETTER]
    other = [figure for figure in figures if figure.verdict in (Conclusion.HIGHER, Conclusion.LOWER)]
    lines = []
    if worse and better:
        lines += [f"B is slower in {_changes(worse)}", f"B is faster in {_changes(better)}"]
    elif worse or better:
        lines.append(f"B is {'slower' if worse else 'faster'}: {_changes(worse or better)}")
    if other:
        lines.append(f"B differs: {_changes(other)}")
    return lines


def _changes(figures: Sequence[Figure]) -> str:
    largest = sorted(figures, key=lambda figure: -max(figure.ratio, 1 / figure.ratio))
    named = [
        f"{_title(figure)} {plain_change(figure.ratio)}"
        + (f" (beyond ±{_percent(figure.noise)} noise)" if figure.noise is not None else "")
        for figure in largest[:_NAMED]
    ]
    more = len(figures) - _NAMED
    return ", ".join(named) + (f", and {more} more" if more > 0 else "")


def _too_few(figures: Sequence[Figure], level: float) -> str:
    new, baseline = min(figure.runs for figure in figures)
    needed = next(count for count in range(1, MOST_RUNS) if smallest_p(count, count) <= level)
    runs = f"{plural(new, 'run')} per side" if new == baseline else f"{baseline} and {plural(new, 'run')}"
    seen = _largest(figures)
    return f"Cannot tell: {runs}, {needed} or more needed: sizeup --batch --repeat {needed}. Seen: {seen}"


def _undecided(figures: Sequence[Figure]) -> str:
    counts = [figure.more_runs for figure in figures]
    known = [count for count in counts if count is not None]
    more = f"{max(known)} more runs per side" if len(known) == len(counts) else f"more than {MOST_RUNS} runs per side"
    noise = max((figure.noise or 0.0 for figure in figures), default=0.0)
    return (
        f"Cannot tell for {_names(figures)}: runs differ by up to ±{_percent(noise)}; "
        f"{more} would show a change of 10 %"
    )


def _largest(figures: Sequence[Figure]) -> str:
    largest = sorted(figures, key=lambda figure: -max(figure.ratio, 1 / figure.ratio))
    return ", ".join(f"{_title(figure)} {plain_change(figure.ratio)}" for figure in largest[:_NAMED])


def _names(figures: Sequence[Figure]) -> str:
    return first_of([_title(figure) for figure in figures], _NAMED)


def _title(figure: Figure) -> str:
    return figure.metric if figure.series is None else figure.series.title


def _percent(share: float) -> str:
    percent = share * 100
    return f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.1f} %"
