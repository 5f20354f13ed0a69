"""A comparison as tables for people and as plain data for programs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from sizeup.charts.table import Column, Table
from sizeup.compare.comparison import Comparison, Conclusion, Figure, Mean
from sizeup.compare.conditions import Decision
from sizeup.compare.statistics import MOST_RUNS
from sizeup.model.plan import Better
from sizeup.text import plural
from sizeup.units import as_percent, format_in, format_value
from sizeup.views.comparison.answer import RESULTS, conclusion_lines
from sizeup.views.run.results import coordinates_text

SCHEMA = "sizeup.compare/1"
_COMPUTED = ("runs", "medians", "ratio", "low", "high", "p", "corrected_p", "share_of_pairs_lower")
_OF_SESSION = ("path", "id", "host", "started", "tool", "damage", "source", "note")
_OF_READING = ("at", "unit", "value", "low", "high", "runs", "bound")
"""Fields of a figure, a session and a measurement that are written as they are."""
_INTERVAL = 4
"""The place of the interval in a row of figures."""


def change(ratio: float) -> str:
    """A ratio as a change from the baseline: ``+12.3 %``, ``x 3.1`` where it more than doubled."""
    if ratio >= 2 or ratio <= 0.5:
        return f"x {format_in(float(f'{ratio:.3g}'), '')}"
    return f"{(ratio - 1) * 100:+.1f} %"


def differences_table(comparison: Comparison) -> Table:
    """What is not the same on the two machines."""
    rows = tuple((entry.what, entry.baseline, entry.new) for entry in comparison.differences)
    return Table("Machines", (Column("What"), Column("A (baseline)"), Column("B (new)")), rows)


def machines_sentence(comparison: Comparison) -> str:
    """What to say where no difference is listed."""
    for side, name in zip(comparison.sides, ("B (new)", "A (baseline)"), strict=True):
        if all(digest.machine is None for digest in side):
            return f"Machines: not compared, because {name} contains no machine"
    return "Machines: no difference found"


def sources_table(comparison: Comparison) -> Table:
    """Where the published cases on either side were printed."""
    cases = [digest for side in comparison.sides for digest in side if digest.source]
    rows = tuple((case.host, " ".join(filter(None, (f"{case.title}.", case.note))), case.source) for case in cases)
    return Table("Sources", (Column("Case"), Column("What"), Column("Published in")), rows)


def figure_notes(comparison: Comparison) -> tuple[str, ...]:
    """What a headline figure was measured as, where it stands beside a printed one."""
    values = (value for side in comparison.sides for digest in side if not digest.source for value in digest.values)
    shared = {figure.metric for figure in comparison.metrics}
    measured = {value.metric: value.distribution for value in values if value.metric in shared}
    if not sources_table(comparison).rows:
        return ()
    return tuple(f"{metric} was measured as {what}" for metric, what in measured.items())


def nothing_shared(comparison: Comparison) -> str:
    """Why there is no figure to compare, where there is none."""
    if comparison.other_workloads:
        return f"nothing measured on both sides: {conclusion_lines(comparison)[0]}"
    new, baseline = (
        ", ".join(metrics) or "no finished step" for metrics in (comparison.only_new, comparison.only_baseline)
    )
    return f"nothing measured on both sides: B (new) has {new}, A (baseline) {baseline}"


def metrics_table(comparison: Comparison) -> Table:
    """One row per metric."""
    runs = ", ".join(sorted({f"{baseline} of A, {new} of B" for new, baseline in (f.runs for f in comparison.metrics)}))
    note = (
        f"Runs: {runs}. A curve is the geometric mean over its points. Changes are relative to the baseline; a "
        f"difference needs p <= {comparison.level:g}, corrected for the number of metrics ({len(comparison.metrics)}), "
        f"and a change of at least {as_percent(comparison.minimum_effect)}. Metrics without a --fail-if condition are "
        "exploratory: confirm a difference with new runs."
    )
    columns, rows = _columns("Metric", comparison.level), [_row(one.metric, one) for one in comparison.metrics]
    if not any(row[_INTERVAL] for row in rows):  # as of single runs: a column of blanks takes the room of the names
        columns = (*columns[:_INTERVAL], *columns[_INTERVAL + 1 :])
        rows = [(*row[:_INTERVAL], *row[_INTERVAL + 1 :]) for row in rows]
    return Table("Metrics", columns, tuple(rows), note)


def figure_sentences(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    """Each metric with what its row of the table says, for a place where no table fits."""
    found = []
    for figure in comparison.metrics:
        metric, baseline, new, ratio, interval, p, verdict = _row(figure.metric, figure)
        spread = f" ({confidence(comparison.level)} {interval})" if interval else ""
        found.append((metric, f"A {baseline}, B {new}: {ratio}{spread}, p {p}; {verdict}"))
    return tuple(found)


def only_lines(comparison: Comparison) -> list[str]:
    """Return the probes with figures that the other side lacks, with how many, by side; and those at other loads."""
    new, baseline = set(comparison.only_new), set(comparison.only_baseline)
    found = []
    for where, metrics in (
        ("Only in B (new)", new - baseline),
        ("Only in A (baseline)", baseline - new),
        ("On both sides, at different loads", new & baseline),
    ):
        counts = Counter(metric.partition("@")[0].rpartition(".")[0] for metric in metrics)
        texts = [f"{probe} ({plural(count, 'figure')})" for probe, count in sorted(counts.items())]
        found += [f"{where}: {', '.join(texts)}"] if texts else []
    return found


def points_tables(comparison: Comparison) -> tuple[Table, ...]:
    """One table per metric that has several points, one row per point; exploratory."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    for figure in comparison.points:
        row = _row(coordinates_text(figure.at or {}, figure.series), figure)
        rows.setdefault(figure.metric, []).append(row)
    columns, note = _columns("At", comparison.level), "Exploratory, corrected for their number."
    return tuple(Table(metric, columns, tuple(found), note) for metric, found in rows.items())


def answers_table(comparison: Comparison) -> Table:
    """Each condition, and what became of it."""
    rows = []
    for answer in comparison.conditions:
        word, found, reading = answer.decision.value, answer.figure, answer.reading
        parts = [word.upper() if answer.decision is Decision.MET else word]
        if found is not None:
            interval = f" ({change(found.low)} to {change(found.high)})" if found.low and found.high else ""
            decided = f", p {p_text(found.corrected_p)}" if interval else ""
            parts.append(f"{change(found.ratio)}{interval}{decided}")
        elif reading is not None:
            value = format_value(reading.value, reading.unit)
            if reading.low is not None and reading.high is not None:
                value += f" ({format_value(reading.low, reading.unit)} to {format_value(reading.high, reading.unit)})"
            where = coordinates_text(reading.at, reading.series)
            parts.append(f"{value}{f' at {where}' if where else ''}, {plural(reading.runs, 'run')}")
        rows.append((answer.question.text, ": ".join(parts) + (f"; {answer.why}" if answer.why else "")))
    return Table("Conditions", (Column("Fail if"), Column("Result")), tuple(rows))


def undecided_sentence(comparison: Comparison) -> str:
    """How many conditions could not be decided; empty where none is left open."""
    count, of = len(comparison.undecided), plural(len(comparison.conditions), "condition")
    return f"{count} of {of} could not be decided; --allow-undecided accepts that" if count else ""


def mean_sentence(mean: Mean) -> str:
    """The geometric mean of one direction, in words."""
    direction = "lower" if mean.better is Better.LOWER else "higher"
    return f"{mean.metrics} metrics where {direction} is better: {change(mean.ratio)} on (geometric) average"


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """Everything in base units, for ``--json``."""
    new, baseline = ([{name: getattr(one, name) for name in _OF_SESSION} for one in side] for side in comparison.sides)
    return {
        "schema": SCHEMA,
        "new": new,
        "baseline": baseline,
        "significance_level": comparison.level,
        "minimum_effect": comparison.minimum_effect,
        "machine_differences": msgspec.to_builtins(comparison.differences),
        "warnings": list(comparison.warnings),
        "conclusion": conclusion_lines(comparison),
        "figures": [{"card": one.card or None, **figure_data(one)} for one in comparison.headlines],
        "metrics": [figure_data(figure) for figure in comparison.metrics],
        "points": [figure_data(figure) for figure in comparison.points],
        "means": msgspec.to_builtins(comparison.means),
        "only_new": list(comparison.only_new),
        "only_baseline": list(comparison.only_baseline),
        "conditions": [
            {
                "condition": answer.question.text,
                "decision": answer.decision.value,
                "reason": answer.why or None,
                "met": answer.decision is Decision.MET,
                "figure": None if answer.figure is None else figure_data(answer.figure),
                "measurement": answer.reading and {name: getattr(answer.reading, name) for name in _OF_READING},
            }
            for answer in comparison.conditions
        ],
        "condition_met": comparison.condition_met,
        "undecided": len(comparison.undecided),
    }


def _columns(what: str, level: float) -> tuple[Column, ...]:
    return (
        Column(what), Column("A", numeric=True), Column("B", numeric=True), Column("Change", numeric=True),
        Column(confidence(level), numeric=True), Column("p", numeric=True), Column("Verdict"),
    )  # fmt: skip


def _row(name: str, figure: Figure) -> tuple[str, ...]:
    unit = figure.series.unit if figure.series is not None else "1"
    interval = "" if figure.low is None or figure.high is None else f"{change(figure.low)} to {change(figure.high)}"
    return (
        name,
        format_value(figure.medians[1], unit),
        format_value(figure.medians[0], unit),
        change(figure.ratio),
        interval,
        p_text(figure.corrected_p),
        verdict_text(figure),
    )


def verdict_text(figure: Figure) -> str:
    """Return the verdict with its mark; where the runs cannot decide, with how many more would."""
    text = f"{RESULTS[figure.verdict].sign} {figure.verdict.value}"
    if figure.verdict is not Conclusion.UNDECIDED:
        return text
    return f"{text}; {f'over {MOST_RUNS}' if figure.more_runs is None else figure.more_runs} more runs"


def confidence(level: float) -> str:
    """The name of an interval: ``95 % CI``."""
    return f"{as_percent(1 - level)} CI"


def p_text(value: float) -> str:
    """A p-value with three decimals."""
    return f"{value:.3f}" if value >= 0.001 else "<0.001"


def figure_data(figure: Figure) -> dict[str, Any]:
    """One figure in base units."""
    return {
        "metric": figure.metric,
        "title": figure.series.title if figure.series is not None else None,
        "at": None if figure.at is None else dict(figure.at),
        "points": figure.points,
        "unit": figure.series.unit if figure.series is not None else "1",
        "better": figure.series.better.value if figure.series is not None else "neither",
        **{name: getattr(figure, name) for name in _COMPUTED},
        "verdict": figure.verdict.value,
        "more_runs": figure.more_runs,
        "noise": figure.noise,
        "invalid_reason": figure.invalid_text,
        "confirmatory": figure.confirmatory,
    }
