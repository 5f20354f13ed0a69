"""An experiment as sentences and a table for people, and as plain data for programs."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.compare.comparison import PLANNED_CHANGE, Conclusion, Figure
from sizeup.compare.experiment import LEAST_ROUNDS, ExperimentResult
from sizeup.compare.figures import excluded_change
from sizeup.compare.statistics import MOST_RUNS
from sizeup.session.records import CommandRecord
from sizeup.text import one_line, plural
from sizeup.units import as_percent, format_value
from sizeup.views.comparison.comparison import change, confidence, figure_data, p_text
from sizeup.views.run.results import coordinates_text

SCHEMA = "sizeup.experiment/1"
_RECORDED = ("id", "a", "b", "restore", "rounds", "order", "user")
_OF_COMMAND = ("setting", "round", "command", "exit_status", "seconds", "output", "problem")
_WORDS = {
    Conclusion.BETTER: "B is better",
    Conclusion.WORSE: "B is worse",
    Conclusion.HIGHER: "B is higher",
    Conclusion.LOWER: "B is lower",
}


def experiment_lines(result: ExperimentResult) -> list[str]:
    """What was compared, and whether the setting was restored."""
    experiment, restored = result.experiment, result.restored
    a, b = result.runs
    measured = f"measured: {a} of {experiment.rounds} under A, {b} under B"
    lines = [
        f"Experiment: {plural(experiment.rounds, 'round')} in the order {experiment.order.upper()}; {measured}",
        f"  A:        {one_line(experiment.a)}",
        f"  B:        {one_line(experiment.b)}",
    ]
    if restored is not None and not restored.problem:
        lines.append(f"  Restored: {one_line(restored.command)}")
    for command in failed(result):
        name = "restore" if command.setting == "restore" else f"{command.setting.upper()} in round {command.round}"
        said = next((line for line in reversed(command.output) if line.strip()), "")
        ending = f"{one_line(command.problem)}{f' ({one_line(said)})' if said else ''}"
        lines.append(f"! The command of {name} failed: {ending}")
    if result.commands and (restored is None or restored.problem):
        lines.append(f"! The setting was not restored. Restore it with: {one_line(experiment.restore)}")
    return lines


def failed(result: ExperimentResult) -> list[CommandRecord]:
    """The commands that did not succeed."""
    return [command for command in result.commands if command.problem]


def conclusions(result: ExperimentResult) -> tuple[str, ...]:
    """One sentence for each headline figure, then which rounds and metrics are missing."""
    sentences = [f"{_title(figure)}: {conclusion(figure, result)}" for figure in result.figures]
    for metric, reasons in result.left_out.items():
        if reasons:
            counts = Counter(reason for _, reason in reasons)
            why = "; ".join(f"{reason} ({count})" for reason, count in counts.items())
            sentences.append(f"{metric}: {plural(len(reasons), 'round')} left out: {why}")
    sentences += [f"{metric}: not measured in any run" for metric in result.unmeasured]
    return tuple(sentences) or ("No figure was measured, so nothing can be concluded.",)


def conclusion(figure: Figure, result: ExperimentResult) -> str:
    """What follows for one figure, with its interval and p-value."""
    interval = ""
    if figure.low is not None and figure.high is not None:
        interval = f" ({confidence(result.level)} {change(figure.low)} to {change(figure.high)})"
    measured = f"{change(figure.ratio)}{interval}, p {p_text(figure.corrected_p)}"
    match figure.verdict:
        case Conclusion.SAME if figure.corrected_p <= result.level:
            return f"no difference of {as_percent(result.minimum_effect)} or more: {measured}"
        case Conclusion.SAME:
            excluded = f"a change of {as_percent(excluded_change(figure), '.1f')} or more is excluded"
            return f"no difference found; {excluded}: {measured}"
        case Conclusion.UNDECIDED if figure.more_runs is None:
            more = f"a change of {as_percent(PLANNED_CHANGE)} needs over {MOST_RUNS} rounds; measure on an idle machine"
            return f"cannot decide: {measured}; {more}"
        case Conclusion.UNDECIDED:
            more = f"{plural(figure.more_runs or 0, 'more round')} would probably find"
            return f"cannot decide: {measured}; {more} a change of {as_percent(PLANNED_CHANGE)}"
        case Conclusion.TOO_FEW:
            valid = plural(figure.runs[0], "valid round")
            return f"cannot decide: {valid} of {result.experiment.rounds}; at least {LEAST_ROUNDS} are needed"
        case _:
            return f"{_WORDS.get(figure.verdict, figure.verdict.value)}: {measured}"


def experiment_table(result: ExperimentResult) -> Table:
    """One row for each headline figure."""
    columns = (
        Column("Metric"), Column("A", numeric=True), Column("B", numeric=True), Column("Change", numeric=True),
        Column(confidence(result.level), numeric=True), Column("p", numeric=True), Column("Rounds", numeric=True),
    )  # fmt: skip
    note = (
        "A and B: medians over the rounds. Change: of B relative to A, the mean over the rounds. "
        f"p is corrected for the number of metrics ({len(result.figures)})."
    )
    return Table("Figures", columns, tuple(_row(figure) for figure in result.figures), note)


def experiment_data(result: ExperimentResult, path: str) -> dict[str, Any]:
    """Return everything in base units; each metric as ``session compare --json`` has it, with B as the new side."""
    return {
        "schema": SCHEMA,
        "path": path,
        "experiment": {name: getattr(result.experiment, name) for name in _RECORDED},
        "commands": [
            {name: getattr(one, name) for name in _OF_COMMAND} | {"round": one.round or None} for one in result.commands
        ],
        "restored": result.restored is not None and not result.restored.problem,
        "runs": {"a": result.runs[0], "b": result.runs[1]},
        "significance_level": result.level,
        "minimum_effect": result.minimum_effect,
        "metrics": [
            figure_data(figure)
            | {
                "conclusion": conclusion(figure, result),
                "left_out": [f"round {number}: {why}" for number, why in result.left_out.get(figure.metric, ())],
            }
            for figure in result.figures
        ],
        "unmeasured": list(result.unmeasured),
    }


def _row(figure: Figure) -> tuple[str, ...]:
    unit = figure.series.unit if figure.series is not None else "1"
    rounds = figure.runs[0]
    b, a = (format_value(value, unit) if rounds else UNKNOWN for value in figure.medians)
    interval = UNKNOWN
    if figure.low is not None and figure.high is not None:
        interval = f"{change(figure.low)} to {change(figure.high)}"
    decided = figure.low is not None
    return (
        _title(figure),
        a,
        b,
        change(figure.ratio) if rounds else UNKNOWN,
        interval,
        p_text(figure.corrected_p) if decided else UNKNOWN,
        str(rounds),
    )


def _title(figure: Figure) -> str:
    where = "" if figure.at is None else coordinates_text(figure.at, figure.series)
    points = f" over {figure.points} points" if figure.points > 1 else ""
    return f"{figure.metric}{f' at {where}' if where else points}"
